"""A scene read beside what it established: facts with their words, as of a position."""

import pytest

from novelgen.errors import UnknownEntityError, UnknownSceneError
from novelgen.models.position import StoryPosition
from novelgen.models.record import SceneRecord
from runtime.ingest.ingest import ingest_scene
from runtime.ingest.scene_input import SceneInput
from runtime.stores import MemoryStores
from runtime.story.base import as_part
from runtime.story.states import StoryStateHistories
from runtime.story.story import Story

FIRST = "Ada came in from the rain. The lamp went out at noon, and nobody lit it again."
SECOND = "Bo lit the lamp. It burned all night."


@pytest.fixture
def lamp(demo_stores: MemoryStores) -> Story:
    """Two more scenes at the end of a demo: a fact with its quote, replaced in the scene after it."""
    told = (
        (1, FIRST, {"memory_id": "MX1", "content": "The lamp is out.", "evidence": "The lamp went out at noon"}),
        (
            2,
            SECOND,
            {
                "memory_id": "MX2",
                "content": "The lamp burns.",
                "supersedes": "MX1",
                "evidence": "a quote that nobody wrote",
            },
        ),
    )
    for number, text, memory in told:
        record = {
            "chapter_index": 90,
            "scene_index": number,
            "characters_present": ["C0"],
            "memories": [memory],
            "state_changes": [
                {
                    "entity_id": "C0",
                    "changes": {"mood": "weary", "goals": None},
                    "evidence": "Ada came in from the rain",
                }
            ],
            "open_loops_created": [{"id": f"OLX{number}", "description": "Who put it out?"}],
        }
        scene = SceneInput(chapter_index=90, scene_index=number, text=text, record=SceneRecord.model_validate(record))
        ingest_scene(demo_stores, "demo", scene)
    return Story(demo_stores, "demo")


@pytest.mark.slow
def test_facts_come_in_the_order_of_their_words(lamp: Story) -> None:
    """Without a quote last, cleared states and lost quotes say so; what replaced a fact later is told from there on."""
    read = lamp.scenes.read(position=StoryPosition(90, 1))
    quoted = [(each.kind, FIRST[slice(*each.span)]) for each in read.facts if each.span]
    assert ("memory", "The lamp went out at noon") in quoted
    assert [each.span for each in read.facts if each.span] == sorted(each.span for each in read.facts if each.span)
    assert [each.kind for each in read.facts][-1] == "thread_planted"
    assert read.on_stage == ["Ines Marrow"]
    states = {each.source_id: each.text for each in read.facts if each.kind == "state"}
    assert states.keys() == {"C0.mood", "C0.goals"}
    assert states["C0.goals"].endswith("—")
    assert "weary" in states["C0.mood"]
    place = StoryPosition(90, 1)
    then = lamp.scenes.read(position=place, as_of=StoryPosition(90, 2))
    now = lamp.scenes.read(position=place)
    assert [each.replaced_by for each in then.facts if each.source_id == "MX1"] == [""]
    assert [each.replaced_by for each in now.facts if each.source_id == "MX1"] == ["MX2"]
    read = lamp.scenes.read(position=StoryPosition(90, 2))
    fact = next(each for each in read.facts if each.source_id == "MX2")
    assert (fact.span, fact.is_verified) == (None, False)


def test_a_scene_that_does_not_lie_before_the_position_is_refused(read_demo_stores: MemoryStores) -> None:
    """Neither the scene at the position nor a later one is read, stored or not."""
    for place in (StoryPosition(3, 1), StoryPosition(5, 1), StoryPosition(77, 1)):
        with pytest.raises(UnknownSceneError):
            Story(read_demo_stores, "demo").scenes.read(position=place, as_of=StoryPosition(3, 1))


@pytest.mark.slow
def test_the_history_of_a_state_ends_at_the_position(lamp: Story) -> None:
    """Every stated change of an entity before a position is told in its order, and none of anybody else."""
    whole = as_part(lamp, StoryStateHistories).state_history(entity_id="Ines")
    assert {each.entity_id for each in whole} == {"C0"}
    moods = [(each.value, each.scene_index) for each in whole if each.attribute == "mood"]
    assert moods == [("weary", 1), ("weary", 2)]
    then = as_part(lamp, StoryStateHistories).state_history(entity_id="Ines", as_of=StoryPosition(2, 1))
    assert then
    assert all((each.chapter_index or 0) < 2 for each in then)
    with pytest.raises(UnknownEntityError):
        as_part(lamp, StoryStateHistories).state_history(entity_id="Nobody at all")
