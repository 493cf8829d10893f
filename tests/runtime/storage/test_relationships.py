"""Relationships over story time."""

from __future__ import annotations

import pytest

from novelgen.errors import UserInputError
from novelgen.models.record import RecordedRelationshipChange
from runtime.storage.database import DatabaseManager
from tests.runtime.storage.stories import at, record, scene, store


@pytest.fixture
def told(database: DatabaseManager) -> DatabaseManager:
    """C0 and C1 fall out; C1 and C2 are friends."""
    first = {
        "character_a": "C1", "character_b": "C0", "relationship_type": "siblings", "status": "close",
        "perspective_a": "C1 adores", "perspective_b": "C0 bears it", "intensity": 8, "event": "childhood",
        "dimensions": {"trust": 60},
    }  # fmt: skip
    second = {
        "character_a": "C0", "character_b": "C1", "status": "broken", "perspective_a": "C0 hates",
        "event": "the will", "dimensions": {"fear": 20},
    }  # fmt: skip
    friends = {"character_a": "C1", "character_b": "C2", "status": "close"}
    store(
        database,
        scene(1, 1, record=record(1, 1, relationship_changes=[first])),
        scene(3, 1, record=record(3, 1, relationship_changes=[second, friends])),
    )
    return database


def test_a_pair_is_found_in_either_order_as_of_a_position(told: DatabaseManager) -> None:
    """What the second scene did not say stays from the first."""
    with told.project("demo").read() as unit:
        early = unit.relationships.between("C0", "C1", as_of=at(2))
        late = unit.relationships.between("C1", "C0")
        assert unit.relationships.between("C0", "C1", as_of=at(1, 1)) is None

    assert early is not None
    assert late is not None
    assert (early.relationship_id, early.character_a, early.character_b) == ("R0", "C0", "C1")
    assert (early.perspective_a, early.perspective_b, early.status) == ("C0 bears it", "C1 adores", "close")
    assert (late.perspective_a, late.perspective_b, late.status) == ("C0 hates", "C1 adores", "broken")
    assert (late.relationship_type, late.intensity, late.dimensions) == ("siblings", 8, {"trust": 60, "fear": 20})
    assert [(event.event, event.chapter_index) for event in late.history] == [("childhood", 1), ("the will", 3)]
    assert (late.chapter_index, late.scene_index) == (3, 1)


def test_relationships_are_listed_by_character_and_status(told: DatabaseManager) -> None:
    """The status is that of the position, not an earlier one."""
    with told.project("demo").read() as unit:

        def ids(**filters: object) -> list[str]:
            return [one.relationship_id for one in unit.relationships.list_as_of(**filters)]  # type: ignore[arg-type]

        assert ids() == ["R0", "R1"]
        assert ids(character_id="C2") == ["R1"]
        assert ids(status="close") == ["R1"]
        assert ids(status="close", as_of=at(3, 1)) == ["R0"]
        assert ids(character_id="C9") == []


def test_an_author_changes_only_what_is_said(told: DatabaseManager) -> None:
    """The id is that of the pair, and unset fields keep their values."""
    with told.project("demo").write() as unit:
        healed = RecordedRelationshipChange(character_a="C1", character_b="C0", status="healed", event="peace")
        assert unit.relationships.append(healed, at=at(4, 2)) == "R0"
        relation = unit.relationships.between("C0", "C1")

    assert relation is not None
    assert (relation.status, relation.intensity, relation.perspective_a) == ("healed", 8, "C0 hates")


def test_nobody_has_a_relationship_with_themselves(told: DatabaseManager) -> None:
    """The character is named."""
    alone = RecordedRelationshipChange(character_a="C1", character_b="C1")
    with pytest.raises(UserInputError, match="both are 'C1'"), told.project("demo").write() as unit:
        unit.relationships.append(alone, at=at(1, 1))


def test_feelings_of_a_side_are_kept_in_story_time(database: DatabaseManager) -> None:
    """What one feels is stored on that side, in whichever order the pair was named, and not before its scene."""
    fear = {"character_a": "C1", "character_b": "C0", "dimensions": {"trust": 5}, "dimensions_a": {"fear": 30}}
    both = {"character_a": "C0", "character_b": "C1", "dimensions": {"fear": 10}}
    store(
        database,
        scene(1, 1, record=record(1, 1, relationship_changes=[fear])),
        scene(2, 1, record=record(2, 1, relationship_changes=[both])),
    )
    with database.project("demo").read() as unit:
        early = unit.relationships.between("C0", "C1", as_of=at(2))
        late = unit.relationships.between("C0", "C1")
        assert unit.relationships.between("C0", "C1", as_of=at(1, 1)) is None
    assert early is not None
    assert late is not None
    assert (early.dimensions, early.dimensions_a, early.dimensions_b) == ({"trust": 5}, {}, {"fear": 30})
    assert (late.dimensions, late.dimensions_a, late.dimensions_b) == ({"trust": 5, "fear": 10}, {}, {})
