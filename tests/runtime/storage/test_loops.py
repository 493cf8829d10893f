"""Open loops over story time."""

from __future__ import annotations

import pytest

from novelgen.errors import UserInputError
from novelgen.models.record import RecordedLoop, RecordedLoopAdvance, RecordedLoopResolution
from runtime.storage.database import DatabaseManager
from tests.runtime.storage.stories import at, record, scene, store


@pytest.fixture
def told(database: DatabaseManager) -> DatabaseManager:
    """OL0 is planted, moved and resolved; OL1 is planted and dropped; OL2 stays open."""
    planted = [
        {"id": "OL0", "description": "Who stole it?", "importance": "high", "related_characters": ["C0"],
         "related_locations": ["L1"], "category": "mystery"},
        {"id": "OL1", "description": "The cat.", "importance": "low"},
    ]  # fmt: skip
    later = record(3, 1, open_loops_created=[{"id": "OL2", "description": "The war.", "importance": "critical"}])
    ended = record(
        4,
        1,
        open_loops_resolved=[
            {"id": "OL0", "resolution_summary": "The butler."},
            {"id": "OL1", "abandoned": True, "resolution_summary": "Forgotten."},
        ],
    )
    store(
        database,
        scene(1, 1, record=record(1, 1, open_loops_created=planted)),
        scene(2, 1, record=record(2, 1, open_loops_advanced=[{"id": "OL0", "note": "A glove."}])),
        scene(3, 1, record=later),
        scene(4, 1, record=ended),
    )
    return database


def test_a_loop_has_the_status_of_its_position(told: DatabaseManager) -> None:
    """Open, advanced, resolved: the same loop at three positions."""
    with told.project("demo").read() as unit:
        assert unit.threads.get("OL0", as_of=at(1, 1)) is None
        seen = [unit.threads.get("OL0", as_of=at(chapter)) for chapter in (2, 3, 5)]

    assert [one.status for one in seen if one] == ["open", "advanced", "resolved"]
    assert [one.resolution_summary for one in seen if one] == [None, None, "The butler."]
    assert [one.age_scenes for one in seen if one] == [0, 1, 3]
    assert seen[1] is not None
    assert (seen[1].related_entities, seen[1].category, seen[1].last_chapter_index) == (["C0", "L1"], "mystery", 2)


def test_loops_are_listed_by_status(told: DatabaseManager) -> None:
    """Unresolved ones by default, in the order in which they were planted."""
    with told.project("demo").read() as unit:
        assert [loop.loop_id for loop in unit.threads.list_as_of(as_of=at(4, 1))] == ["OL0", "OL1", "OL2"]
        assert [loop.loop_id for loop in unit.threads.list_as_of()] == ["OL2"]
        assert [loop.loop_id for loop in unit.threads.list_as_of(statuses=["abandoned"])] == ["OL1"]
        some = unit.threads.list_as_of(as_of=at(4, 1), loop_ids=["OL2", "OL0", "OL9"])
        assert [loop.loop_id for loop in some] == ["OL0", "OL2"]
        places = [at(1, 1), at(2), at(4, 1), at(5)]
        assert [unit.threads.count_waiting(as_of=each) for each in places] == [0, 2, 3, 1]


def test_old_and_weighty_loops_are_due_first(told: DatabaseManager) -> None:
    """Weight times age decides."""
    with told.project("demo").read() as unit:
        due = unit.threads.due(as_of=at(4, 1), limit=2)

    assert [(loop.loop_id, loop.age_scenes) for loop in due] == [("OL0", 2), ("OL2", 0)]


def test_a_withdrawn_planting_takes_the_loop_from_sight_and_brings_it_back(told: DatabaseManager) -> None:
    """Without its planting a loop is not told; planted again it has its later history."""
    store(told, scene(1, 1))
    with told.project("demo").read() as unit:
        assert unit.threads.get("OL0") is None
    planted = record(1, 1, open_loops_created=[{"id": "OL0", "description": "Who took it?"}])
    store(told, scene(1, 1, record=planted))
    with told.project("demo").read() as unit:
        loop = unit.threads.get("OL0")

    assert loop is not None
    assert (loop.description, loop.status) == ("Who took it?", "resolved")


def test_an_author_plants_moves_and_ends_loops(told: DatabaseManager) -> None:
    """With ids that no record has, and only loops that exist can be moved."""
    with told.project("demo").write() as unit:
        loop_id = unit.threads.next_id()
        unit.threads.append(RecordedLoop(id=loop_id, description="Mine."), at=at(2, 1))
        unit.threads.append(RecordedLoopAdvance(id=loop_id), at=at(3, 1))
        unit.threads.append(RecordedLoopResolution(id=loop_id, abandoned=True), at=at(9))
        statuses = [unit.threads.get(loop_id, as_of=at(chapter)) for chapter in (3, 4, 9, 10)]
        with pytest.raises(UserInputError, match="no open loop 'OL77'"):
            unit.threads.append(RecordedLoopAdvance(id="OL77"), at=at(1, 1))

    assert loop_id == "OL3"
    assert [one.status for one in statuses if one] == ["open", "advanced", "advanced", "abandoned"]
