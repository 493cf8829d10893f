"""What pictures of a story are drawn from: the course of a pair, what a stretch stated, and who is named where."""

import pytest

from novelgen.errors import UnknownEntityError, UserInputError
from novelgen.models.position import StoryPosition
from novelgen.models.state import StateChange
from runtime.stores import MemoryStores
from runtime.story.base import as_part
from runtime.story.states import StoryStateHistories
from runtime.story.story import Story
from tests.runtime.agents.guild_story import ENTITIES


def test_a_course_has_every_step_as_it_stood_then(guild: Story) -> None:
    """Each step holds what was known after it; what both feel counts for each, and nothing comes from later."""
    guild.relationships.edit(
        character_a="C0", character_b="C1", intensity=3, mutual_dimensions={"trust": 20}, start=StoryPosition(2, 1)
    )
    guild.relationships.edit(
        character_a="C1", character_b="C0", status="hurt", intensity=9, dimensions={"trust": -40, "fear": 10}
    )
    course = guild.relationships.course(character_a="C1", character_b="C0")
    assert (course.character_a, course.character_b) == ("C0", "C1")
    assert [
        (each.chapter_index, each.status, each.intensity, each.dimensions_a, each.dimensions_b) for each in course.steps
    ] == [
        (1, "strained", 7, {}, {}),
        (1, "strained", 3, {"trust": 20}, {"trust": 20}),
        (2, "hostile", 5, {"trust": 20}, {"trust": 20}),
        (2, "hurt", 9, {"trust": 20}, {"trust": -40, "fear": 10}),
    ]
    stands = guild.relationships.get(character_a="C0", character_b="C1")
    assert course.steps[-1].dimensions_b == {**stands.dimensions, **stands.dimensions_b}
    earlier = guild.relationships.course(character_a="C0", character_b="C1", as_of=StoryPosition(2, 1))
    assert earlier.steps == course.steps[:2]


def test_a_course_of_nothing_is_refused(guild: Story) -> None:
    """Two of whom nothing is known together, and somebody unknown, have no course."""
    with pytest.raises(UserInputError, match="nothing is known"):
        guild.relationships.course(character_a="C1", character_b="C2")
    with pytest.raises(UnknownEntityError):
        guild.relationships.course(character_a="C0", character_b="C1", as_of=StoryPosition(1, 2))


def test_a_stretch_states_what_lies_in_it_alone(stores: MemoryStores, project: str, guild: Story) -> None:
    """What is stated before a stretch tells who held what on entering it; what comes behind it is not told."""

    def change(entity_id: str, attribute: str, value: str, chapter: int, scene: int) -> StateChange:
        return StateChange(
            entity_id=entity_id, attribute=attribute, value=value, chapter_index=chapter, scene_index=scene
        )

    with stores.database(project).write() as unit:
        unit.states.append(
            [
                change("I9", "holder", "C0", 1, 1),
                change("I9", "holder", "C1", 1, 2),
                change("C0", "mood", "glad", 1, 2),
                change("C0", "mood", "sad", 2, 1),
            ]
        )
    stretch = as_part(guild, StoryStateHistories).stated_within(since=StoryPosition(1, 2), until=StoryPosition(2, 1))
    said = [(each.entity_id, each.attribute, each.value) for each in stretch.changes]
    assert ("I9", "holder", "C1") in said
    assert ("C0", "mood", "glad") in said
    assert ("C0", "mood", "sad") not in said
    assert stretch.holders["I9"] == "C0"
    assert all(each.kind == "explicit" for each in stretch.changes)
    to_the_end = as_part(guild, StoryStateHistories).stated_within(since=StoryPosition(1, 2))
    assert ("C0", "mood", "sad") in [(each.entity_id, each.attribute, each.value) for each in to_the_end.changes]


def test_scenes_name_characters_by_names_known_by_then(guild: Story) -> None:
    """Every place is a stored scene before the position whose text has a name of the character."""
    whole = as_part(guild, StoryStateHistories).scenes_naming_characters().places
    assert whole
    known = {each.entity_id: each for each in ENTITIES}
    for who, places in whole.items():
        assert known[who].entity_type == "character"
        assert places == sorted(set(places))
    earlier = as_part(guild, StoryStateHistories).scenes_naming_characters(as_of=StoryPosition(1, 2)).places
    assert earlier == {
        who: kept for who, places in whole.items() if (kept := [place for place in places if place < (1, 2)])
    }
