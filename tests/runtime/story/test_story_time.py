"""When the scenes of a stored story play, in real stores: strictly before a position, by character, as conflicts."""

import itertools

import pytest

from novelgen.errors import UnknownEntityError, UnknownProjectError
from novelgen.models.entity import Entity
from novelgen.models.position import StoryPosition
from novelgen.models.record import SceneRecord
from novelgen.models.story_time import DaySpan
from runtime.ingest.entities import store_entities
from runtime.ingest.ingest import ingest_scenes
from runtime.ingest.scene_input import SceneInput
from runtime.stores import MemoryStores
from runtime.story.draft_checker import story_before
from runtime.story.story import Story

_numbers = itertools.count(1)
ENTITIES = [
    Entity(entity_id="C0", entity_type="character", name="Wren"),
    Entity(entity_id="C1", entity_type="character", name="Odo"),
    Entity(entity_id="L0", entity_type="location", name="the ferry house"),
]


def scene(chapter: int, story_time: str | None, *present: str, text: str = "", flashback: bool = False) -> SceneInput:
    """Return the first scene of a chapter that plays at a time."""
    record = SceneRecord(
        chapter_index=chapter,
        scene_index=1,
        story_time=story_time,
        location_id="L0",
        characters_present=list(present),
        is_flashback=flashback,
    )
    return SceneInput(chapter_index=chapter, scene_index=1, text=text or "The river rose.", record=record)


@pytest.fixture
def project(stores: MemoryStores) -> str:
    """A story of two people at a ferry, with a flashback and a day that does not fit."""
    project_id = f"ferry-{next(_numbers)}"
    stores.create_project(project_id)
    store_entities(stores, project_id, ENTITIES)
    scenes = [
        scene(1, "July 7th, 1905, evening", "C0", "C1"),
        scene(2, "spring 1890", "C1", flashback=True),
        scene(3, None, "C1", text="The next morning the rope had been cut."),
        scene(4, "two days later", "C0"),
        scene(5, "the next day, July 30th, 1905", "C0", "C1"),
    ]
    ingest_scenes(stores, project_id, scenes, index=False)
    return project_id


def test_scenes_have_days_and_an_order_lived(stores: MemoryStores, project: str) -> None:
    """Records speak, then first words; of before a position only, and what is unsaid is left out."""
    found = Story(stores, project).scenes.times()
    assert [each.story_day for each in found.scenes[:4]] == [1, None, 2, 4]
    assert [each.lived_order for each in found.scenes[:4]] == [2, 1, 3, 4]
    assert [each.said_in for each in found.scenes[:3]] == ["record", "record", "text"]
    assert [each.is_flashback for each in found.scenes] == [False, True, False, False, False]
    assert found.names == {"C0": "Wren", "C1": "Odo", "L0": "the ferry house"}
    early = Story(stores, project).scenes.times(as_of=StoryPosition(3, 1))
    assert [each.chapter_index for each in early.scenes] == [1, 2]
    assert early.scenes == Story(stores, project).scenes.times().scenes[:2]
    before = story_before(stores, project, as_of=StoryPosition(3, 1))
    assert list(before.story_times) == early.scenes
    assert Story(stores, project).scenes.times(as_of=StoryPosition(1, 1)).scenes == []
    flashback = Story(stores, project).scenes.times().scenes[1].model_dump(mode="json")
    assert not {"story_day", "until_day", "since_previous"} & flashback.keys()


def test_scenes_of_one_character_count_from_the_last_one_with_them(stores: MemoryStores, project: str) -> None:
    """Days are those of the whole story; the time between is since the character was there last."""
    found = Story(stores, project).scenes.times(character_id="Wren", as_of=StoryPosition(5, 1))
    assert [(each.chapter_index, each.story_day) for each in found.scenes] == [(1, 1), (4, 4)]
    assert found.scenes[1].since_previous == DaySpan(min_days=3, max_days=3)
    with pytest.raises(UnknownEntityError):
        Story(stores, project).scenes.times(character_id="Nobody")
    with pytest.raises(UnknownProjectError):
        Story(stores, "no-such-project").scenes.times()


def test_a_date_that_cannot_be_is_a_conflict_until_it_is_waived(stores: MemoryStores, project: str) -> None:
    """The next day after the ninth or later is not the thirtieth."""
    [listed] = Story(stores, project).conflicts.list()
    assert (listed.conflict.kind, listed.conflict.second.chapter_index) == ("story_time", 5)
    Story(stores, project).conflicts.waive(conflict_id=listed.conflict.conflict_id, note="an error of the almanac")
    assert Story(stores, project).conflicts.list() == []
