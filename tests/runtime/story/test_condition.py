"""What a project holds now, what to do next, and what the doctor makes of it."""

import pytest

from novelgen.language.language import count_words
from runtime.ingest.indexing import drain_outbox
from runtime.ingest.ingest import ingest_scenes
from runtime.ingest.scene_input import SceneInput
from runtime.stores import MemoryStores
from runtime.story.base import as_part
from runtime.story.condition import StoryCondition, check_reading
from runtime.story.scene_reading import StorySceneStates
from runtime.story.story import Story


def _kinds(condition: StoryCondition) -> list[str]:
    return [step.kind for step in condition.next_steps]


def _told(condition: StoryCondition) -> dict[str, tuple[str, str]]:
    return {each.what: (each.level, each.fix) for each in check_reading(condition)}


def test_a_story_with_records_is_counted_and_waits_for_its_index(
    guild: Story, stores: MemoryStores, project: str
) -> None:
    """Every count is of what is stored; only indexing and the next context are left to do."""
    condition = guild.project.condition()
    assert (condition.chapters, condition.scenes, condition.scenes_with_record) == (2, 3, 3)
    assert (condition.people, condition.entities, condition.threads) == (3, 5, 1)
    with stores.database(project).read() as unit:
        texts = [each.text or "" for each in unit.scenes.list_as_of(with_text=True)]
    assert condition.characters_of_text == sum(map(len, texts))
    assert condition.words_of_text == sum(map(count_words, texts)) == sum(each.words for each in guild.scenes.list())
    assert [each.words for each in as_part(guild, StorySceneStates).list_states()] == [
        each.words for each in guild.scenes.list()
    ]
    assert condition.unindexed > 0
    assert _kinds(condition) == ["index", "context"]
    assert _told(condition) == {"waiting for the index": ("degraded", f"run `novelgen index {project}`")}
    drain_outbox(stores, project)
    indexed = guild.project.condition()
    assert (indexed.unindexed, _kinds(indexed)) == (0, ["context"])
    assert _told(indexed) == {}


def test_a_chinese_story_of_text_alone_is_told_in_chinese(stores: MemoryStores) -> None:
    """Without a model the page and the cards come first, and nobody is told to let a model read."""
    stores.create_project("古灯")
    ingest_scenes(stores, "古灯", [SceneInput(chapter_index=1, scene_index=1, text="沈砚提灯入山。")])
    condition = Story(stores, "古灯").project.condition()
    assert condition.language == "zh"
    assert (condition.characters_of_text, condition.words_of_text, condition.scenes_waiting) == (7, 6, 1)
    assert [(step.kind, step.command) for step in condition.next_steps] == [
        ("page", "novelgen serve"),
        ("people", "novelgen entity candidates 古灯"),
        ("context", 'novelgen context 古灯 --purpose "下一场要写什么"'),
    ]
    assert "scene records" not in _told(condition)
    assert _told(condition)["people"][1] == "run `novelgen entity candidates 古灯`"


@pytest.mark.slow
def test_a_half_read_story_names_what_failed_and_what_waits(guild: Story, stores: MemoryStores, project: str) -> None:
    """Scenes that failed want a retry, scenes that wait a plain run where a model is set."""
    failed = SceneInput(
        chapter_index=3, scene_index=1, text="Snow.", extraction_status="failed", failure_reason="no answer"
    )
    waiting = SceneInput(chapter_index=3, scene_index=2, text="Thaw.")
    ingest_scenes(stores, project, [failed, waiting])
    condition = guild.project.condition()
    assert (condition.scenes_failed, condition.scenes_waiting) == (1, 1)
    assert _kinds(condition) == ["retry", "context"]
    [failure] = [each for each in check_reading(condition) if each.what == "scene records"]
    assert (failure.level, "--retry" in failure.fix) == ("degraded", True)
    stores.settings = stores.settings.model_copy(update={"model": "openai:any"})
    condition = guild.project.condition()
    assert _kinds(condition) == ["retry", "read", "context"]
    found = [each for each in check_reading(condition) if each.what == "scene records"]
    assert [each.level for each in found] == ["degraded", "hint"]
