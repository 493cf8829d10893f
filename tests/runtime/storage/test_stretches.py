"""What is stored between two positions: the first belongs to it, the second does not."""

from __future__ import annotations

import pytest

from novelgen.models.position import END_OF_STORY, StoryPosition
from runtime.storage.database import DatabaseManager
from runtime.storage.records import StoredKnowledge
from tests.runtime.storage.stories import at, change, memory, scene, store


@pytest.fixture
def told(database: DatabaseManager) -> DatabaseManager:
    """Three scenes, each with a memory, a state and what somebody learns; a state of a chapter, and one of always."""
    for number, place in enumerate(((1, 1), (1, 2), (2, 1))):
        learnt = StoredKnowledge(character_id=f"C{number}", source_id="M0")
        store(
            database,
            scene(
                *place,
                memory(f"M{number}"),
                states=[change(f"C{number}", "mood", "grim"), change("C8", "presence", "L0", kind="presence")],
                knowledge=[learnt],
            ),
        )
    with database.project("demo").write() as unit:
        unit.states.append([change("C6", "height", "tall"), change("C7", "mood", "calm", chapter_index=1)])
    return database


@pytest.mark.parametrize(
    ("since", "until", "places", "changed", "learners"),
    [
        (at(1, 2), at(2, 1), [(1, 2)], ["C1", "C7"], ["C1"]),
        (at(1, 2), at(1, 3), [(1, 2)], ["C1"], ["C1"]),
        (at(1), at(2), [(1, 1), (1, 2)], ["C0", "C1", "C7"], ["C0", "C1"]),
        (at(1, 2), END_OF_STORY, [(1, 2), (2, 1)], ["C1", "C2", "C7"], ["C1", "C2"]),
        (at(2, 1), at(2, 1), [], [], []),
        (END_OF_STORY, END_OF_STORY, [], [], []),
    ],
)
def test_a_stretch_has_its_beginning_and_not_its_end(
    told: DatabaseManager,
    since: StoryPosition,
    until: StoryPosition,
    places: list[tuple[int, int]],
    changed: list[str],
    learners: list[str],
) -> None:
    """What has always held lies in none, a chapter's own at its end, and who was only seen did not change."""
    with told.project("demo").read() as unit:
        scenes = unit.scenes.list_as_of(as_of=until, since=since)
        assert [(each.chapter_index, each.scene_index) for each in scenes] == places
        assert unit.states.changed_between(since, until) == changed
        assert [each.character_id for each in unit.knowledge.said_between(since, until)] == learners


def test_memories_are_found_by_their_source_ids(told: DatabaseManager) -> None:
    """Only before the position, only active ones, and of two with one id the first in the story."""
    store(told, scene(3, 1, memory("later", source_id="M0"), memory("M9")))
    with told.project("demo").write() as unit:
        unit.memories.ban("M1")
    with told.project("demo").read() as unit:
        found = unit.memories.by_source_ids(["M0", "M1", "M9", "M7"], as_of=END_OF_STORY)
        assert {source_id: each.chunk_id for source_id, each in found.items()} == {"M0": "M0", "M9": "M9"}
        assert list(unit.memories.by_source_ids(["M0", "M9"], as_of=at(3, 1))) == ["M0"]
        assert unit.memories.by_source_ids([]) == {}
