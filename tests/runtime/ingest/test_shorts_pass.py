"""Writing the short forms of stored memories anew, with a scripted model, in real stores."""

import json
from typing import Any

import pytest

from novelgen.errors import UserInputError
from novelgen.models.position import StoryPosition
from novelgen.models.record import SceneRecord
from runtime.ingest.entities import store_entities
from runtime.ingest.ingest import ingest_scene
from runtime.ingest.scene_input import RecordOrigin, SceneInput
from runtime.ingest.scene_passes import SceneChoice, ShortsReport, estimate_shorts, rewrite_shorts
from runtime.stores import MemoryStores
from runtime.story.undo import StoryUndo
from tests.runtime.ingest.made_up_story import ENTITIES
from tests.support.scripted_chat_model import ScriptedChatModel

TEXT = "Mary Grey lent Tom Hale the lamp until Friday. He broke his left thumb on the gate and swore to bring it back."
LENT = "Mary Grey lent Tom Hale the lamp until Friday."
THUMB = "Tom Hale broke his left thumb on the gate."
NEW = {"M1": "Mary lent Tom the lamp until Friday", "M2": "Tom Hale broke his left thumb"}


def supply(
    stores: MemoryStores,
    project: str,
    scene_index: int,
    origin: RecordOrigin = "extracted",
    *,
    second: str = "Tom: hurt",
) -> None:
    """Store a scene whose two memories have labels for short forms."""
    memories = [
        {
            "memory_id": f"a{scene_index}",
            "content": LENT,
            "short": "Tom: the lamp",
            "evidence": "lent Tom Hale the lamp",
        },
        {"memory_id": f"b{scene_index}", "content": THUMB, "short": second, "evidence": "broke his left thumb"},
    ]
    record = SceneRecord.model_validate({"chapter_index": 1, "scene_index": scene_index, "memories": memories})
    scene = SceneInput(chapter_index=1, scene_index=scene_index, text=TEXT, record=record, record_origin=origin)
    ingest_scene(stores, project, scene)


@pytest.fixture
def story(stores: MemoryStores, project: str) -> str:
    """Two scenes that a model read, and one whose record was supplied."""
    store_entities(stores, project, ENTITIES)
    supply(stores, project, 1)
    supply(stores, project, 2)
    supply(stores, project, 3, "supplied")
    return project


def saying(shorts: dict[str, str]) -> ScriptedChatModel:
    """Return a model that gives these short forms for every scene."""
    told = json.dumps({"shorts": [{"id": number, "short": short} for number, short in shorts.items()]})
    return ScriptedChatModel(answer=lambda _: told)


def shorts_of(stores: MemoryStores, project: str) -> dict[str, str | None]:
    """Return the short form of every memory, as readers find it."""
    with stores.database(project).read() as unit:
        chunks = unit.memories.of_scenes([(1, 1), (1, 2), (1, 3)], content_types=["memory"])
        records = [scene.record for scene in unit.scenes.list_as_of()]
    told = {each.source_id or "": each.short for each in chunks}
    assert told == {memory.memory_id: memory.short for record in records if record for memory in record.memories}
    return told


def rewritten(stores: MemoryStores, project: str, model: Any = None, **choice: Any) -> ShortsReport:
    """Write the short forms anew."""
    return rewrite_shorts(stores, project, model or saying(NEW), choice=SceneChoice(**choice))


OLD = {"a1": "Tom: the lamp", "b1": "Tom: hurt", "a2": "Tom: the lamp", "b2": "Tom: hurt"}
SUPPLIED = {"a3": "Tom: the lamp", "b3": "Tom: hurt"}


@pytest.mark.slow
def test_what_a_model_read_gets_new_short_forms(stores: MemoryStores, story: str) -> None:
    """Memories and records have them; those of a supplied record stay, and a second run finds nothing to do."""
    report = rewritten(stores, story)
    assert [(each.outcome, each.memories, each.model_calls) for each in report.scenes] == [("done", 2, 1)] * 2
    assert report.waiting == 0
    new = {"a1": NEW["M1"], "b1": NEW["M2"], "a2": NEW["M1"], "b2": NEW["M2"]}
    assert shorts_of(stores, story) == {**new, **SUPPLIED}
    assert rewritten(stores, story).scenes == []
    assert len(rewritten(stores, story, again=True).scenes) == 2
    with pytest.raises(UserInputError, match="no record that a model made"):
        rewritten(stores, story, scenes=(StoryPosition(1, 3),))


def test_one_undo_takes_a_whole_run_back(stores: MemoryStores, story: str) -> None:
    """All short forms are as they were, those of a scene that was stored anew since left alone; all wait again."""
    report = rewritten(stores, story)
    supply(stores, story, 2, second="Tom broke it.")
    StoryUndo(stores, story).undo(report.change_id)
    assert shorts_of(stores, story) == {**OLD, "b2": "Tom broke it.", **SUPPLIED}
    assert len(rewritten(stores, story).scenes) == 2


def test_what_names_somebody_else_is_not_taken(stores: MemoryStores, story: str) -> None:
    """A short form that is too long, that names whom its memory does not, or whose number is unknown, is left out."""
    bad = {"M1": "Mary lent Tom the lamp in Baker Street", "M2": NEW["M2"], "M9": "Tom fled"}
    report = rewritten(stores, story, saying(bad), scenes=(StoryPosition(1, 1),))
    assert [each.memories for each in report.scenes] == [1]
    assert shorts_of(stores, story) == {**OLD, "b1": NEW["M2"], **SUPPLIED}


def test_a_scene_without_a_usable_answer_is_as_it_was(stores: MemoryStores, story: str) -> None:
    """It failed with the reason after one repair, and waits for the next run."""
    report = rewritten(stores, story, saying({"M1": "x" * 200}))
    assert [(each.outcome, each.model_calls) for each in report.scenes] == [("failed", 2)] * 2
    assert "no short form fits" in (report.scenes[0].reason or "")
    assert report.waiting == 2
    assert shorts_of(stores, story) == {**OLD, **SUPPLIED}


def test_the_estimate_counts_prompts_and_asks_nobody(stores: MemoryStores, story: str) -> None:
    """One call for each scene; the tokens of the prompts are those that the run sends, as far as characters tell."""
    estimate = estimate_shorts(stores, story)
    model = saying(NEW)
    rewritten(stores, story, model)
    sent = sum(len(message.text) for prompt in model.prompts for message in prompt)
    assert (estimate.scenes, estimate.calls) == (2, 2)
    assert estimate.input_tokens == pytest.approx(sent / 4, rel=0.05)
    assert estimate_shorts(stores, story).scenes == 0
