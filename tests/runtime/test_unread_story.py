"""Contexts of a story that no model has read, or has read in part: they say so, and use the whole page for its text."""

import pytest

from novelgen.chains.memory_context_chain import MemoryContextChain
from novelgen.models.context import SceneMemoryContext
from novelgen.models.record import RecordedMemory, SceneRecord
from novelgen.settings import ContextSettings
from runtime.doors.cli.labels import view_labels_for
from runtime.doors.cli.views import print_context, print_first_screen
from runtime.ingest.ingest import ingest_scenes
from runtime.ingest.scene_input import SceneInput
from tests.support.stored_story import StoredStory, patient

pytestmark = pytest.mark.slow

SENTENCES = {
    "en": "Mara carried lantern {0} up the stair and left it by door {0} for the keeper. ",
    "zh": "沈砚把第{0}盏灯提上楼梯，放在第{0}扇门边，留给守灯人。",
}


def story_of(language: str, *, read: int, scenes: int = 9) -> StoredStory:
    """Return a story of long scenes, of which the first `read` have a record."""
    story = StoredStory("lamps", language=language)
    inputs = [
        SceneInput(
            chapter_index=number,
            scene_index=1,
            text="".join(SENTENCES[language].format(100 * number + line) for line in range(30)),
            record=SceneRecord(
                chapter_index=number,
                scene_index=1,
                memories=[
                    RecordedMemory(memory_id=f"M{number}", event_type="event", content=f"Lamp {number}.", importance=5)
                ],
            )
            if number <= read
            else None,
        )
        for number in range(1, scenes + 1)
    ]
    assert ingest_scenes(story._stores, "lamps", inputs).issues == []
    return story


def context_of(story: StoredStory, **settings: int) -> SceneMemoryContext:
    """Return the context of the scene after all."""
    chain = MemoryContextChain(story, settings=patient(ContextSettings(**settings)))
    plan = {"purpose": "Mara looks for lantern 105. 沈砚寻找第105盏灯。"}
    return chain.invoke({"project_id": "lamps", "chapter_index": 10, "scene_index": 1, "scene_plan": plan})


@pytest.mark.parametrize(("language", "told"), [("en", "7 of the 9 scenes"), ("zh", "共 9 场，其中 7 场尚未读过")])
def test_a_context_says_how_much_is_unread_and_what_to_do(
    language: str, told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """In its report, its prompt, and both views of the command line; one whose scenes are all read says nothing."""
    context = context_of(story_of(language, read=2))
    assert (context.report.unread_scenes, context.report.scenes_before) == (7, 9)
    assert told in context.as_prompt()
    labels = view_labels_for(language)
    for show in (lambda: print_context(context, labels, None), lambda: print_first_screen(context, labels)):
        show()
        shown = capsys.readouterr().out.replace("\n", " ")
        assert "novelgen extract lamps" in shown
        assert "novelgen note lamps" in shown
    whole = context_of(story_of(language, read=9))
    assert whole.report.unread_scenes == 0
    assert "unread" not in whole.report.model_dump_json()
    assert told not in whole.as_prompt()


@pytest.mark.parametrize("language", ["en", "zh"])
def test_text_takes_what_states_and_timeline_leave(language: str) -> None:
    """Of unread scenes alone, within the three budgets together; without them nothing goes beyond its own."""
    budgets = {"memory_budget": 400, "state_budget": 300, "timeline_budget": 300}
    for read in (0, 1):
        report = context_of(story_of(language, read=read), **budgets).report
        assert 700 < sum(report.tokens.values()) <= 1000
    report = context_of(story_of(language, read=9), **budgets).report
    assert report.tokens["memories"] + report.tokens.get("story_so_far", 0) + report.tokens.get("left_off", 0) <= 400
    report = context_of(story_of(language, read=0), **{**budgets, "state_budget": 0, "timeline_budget": 0}).report
    assert sum(report.tokens.values()) <= 400
