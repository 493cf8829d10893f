"""The fold of state changes over story time, and how two characters stand, from either side."""

from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from novelgen.models.folds import fold_state_changes, snapshot_of
from novelgen.models.position import END_OF_STORY, StoryPosition
from novelgen.models.record import RecordedRelationshipChange
from novelgen.models.state import EntityStateSnapshot, Relationship, StateChange

NOW = datetime(2026, 1, 1, tzinfo=UTC)


def change(attribute: str, value: Any, chapter: int | None, scene: int | None = 1, **more: Any) -> StateChange:
    """Return a change of C0."""
    return StateChange(
        entity_id="C0", attribute=attribute, value=value, chapter_index=chapter, scene_index=scene, **more
    )


def test_the_last_value_before_the_position_wins() -> None:
    """Chapter 3 is answered as of chapter 3, the position itself does not count, what has none holds from the start."""
    changes = [change("status", "alive", 1), change("status", "dead", 80)]
    assert fold_state_changes(changes, StoryPosition(3))[0] == {"status": "alive"}
    assert fold_state_changes(changes, END_OF_STORY) == ({"status": "dead"}, 80, 1)
    assert fold_state_changes([change("status", "dead", 3, 2)], StoryPosition(3, 2)) == ({}, None, None)
    changes = [change("status", "in the story", 1), change("status", "from the start", None, None)]
    assert fold_state_changes(changes, END_OF_STORY)[0] == {"status": "in the story"}
    assert snapshot_of("p", [change("status", "x", 4)], as_of=StoryPosition(2), timestamp=NOW) is None


def test_lists_are_replaced_whole_and_null_clears_the_key() -> None:
    """A later list takes the place of the earlier one, and a null value takes the attribute away altogether."""
    changes = [change("inventory", ["key", "lamp"], 1), change("inventory", ["rope"], 2)]
    assert fold_state_changes(changes, END_OF_STORY)[0] == {"inventory": ["rope"]}
    changes = [change("disguise", "monk", 1), change("disguise", None, 2)]
    assert fold_state_changes(changes, END_OF_STORY) == ({}, 2, 1)


def test_presence_is_kept_apart_from_the_explicit_place() -> None:
    """It never overwrites location_id, and carries the snapshot's position only where nothing explicit is known."""
    changes = [change("location_id", "L0", 1), change("presence", {"location_id": "L9"}, 5, kind="presence")]
    state, chapter, scene = fold_state_changes(changes, END_OF_STORY)
    assert state == {"location_id": "L0", "presence": {"location_id": "L9"}}
    assert (chapter, scene) == (1, 1)
    changes = [change("presence", {"location_id": "L9"}, 5, 2, kind="presence")]
    assert fold_state_changes(changes, END_OF_STORY)[1:] == (5, 2)


def test_a_snapshot_tells_which_values_no_quote_proves() -> None:
    """Only the change that gives an attribute its value counts; what is cleared or proven later is not listed."""
    changes = [
        change("status", "alive", 1, verified=False),
        change("mood", "calm", 1, verified=False),
        change("disguise", "monk", 1, verified=False),
        change("mood", "angry", 2),
        change("disguise", None, 2),
        change("goals", ["sea"], 2),
        change("goals", ["home"], 3, verified=False),
    ]

    def unverified(at: StoryPosition) -> list[str]:
        snapshot = snapshot_of("p", changes, as_of=at, timestamp=NOW)
        assert snapshot is not None
        return snapshot.unverified

    assert unverified(StoryPosition(2)) == ["status", "mood", "disguise"]
    assert unverified(StoryPosition(3)) == ["status"]
    assert unverified(END_OF_STORY) == ["status", "goals"]


def test_naive_and_foreign_times_become_utc() -> None:
    """Timestamps are aware and in UTC whatever came in."""
    foreign = datetime(2026, 1, 1, 8, tzinfo=timezone(timedelta(hours=8)))
    for moment in (foreign, datetime(2026, 1, 1)):  # noqa: DTZ001
        snapshot = EntityStateSnapshot(project_id="p", entity_type="item", entity_id="I0", timestamp=moment)
        assert snapshot.timestamp == NOW
        assert snapshot.timestamp.tzinfo is UTC


values = st.one_of(st.none(), st.text(max_size=3), st.lists(st.integers(), max_size=2))
many_changes = st.lists(
    st.builds(
        lambda attribute, value, chapter, scene: change(attribute, value, chapter, scene),
        st.sampled_from("ab"),
        values,
        st.integers(0, 4),
        st.integers(0, 3),
    ),
    max_size=20,
)


@pytest.mark.slow
@given(many_changes, st.integers(0, 5), st.integers(0, 4))
def test_later_changes_never_show(changes: list[StateChange], chapter: int, scene: int) -> None:
    """The fold at a position is the same whether or not later scenes exist."""
    here = StoryPosition(chapter, scene)
    before = [each for each in changes if here.admits(each.chapter_index, each.scene_index)]
    assert fold_state_changes(changes, here) == fold_state_changes(before, END_OF_STORY)


def test_each_side_has_its_own_view() -> None:
    """What one thinks of the other is not what the other thinks of the one."""
    relation = Relationship(
        relationship_id="R0",
        character_a="C0",
        character_b="C1",
        perspective_a="he hides something",
        perspective_b="she asks too much",
        dimensions={"trust": -20},
    )
    elena, marcus = relation.seen_by("C0"), relation.seen_by("C1")
    assert (elena.character_id, elena.your_view, elena.their_view) == ("C1", "he hides something", "she asks too much")
    assert (marcus.character_id, marcus.your_view, marcus.their_view) == (
        "C0",
        "she asks too much",
        "he hides something",
    )
    assert marcus.dimensions == {"trust": -20}


@pytest.mark.parametrize(("name", "value"), [("trust", 101), ("fear", -101), ("familiarity", -1), ("familiarity", 101)])
def test_dimensions_have_bounds(name: str, value: int) -> None:
    """Nobody trusts by more than a hundred, and nobody is less than a stranger."""
    with pytest.raises(ValidationError, match=f"{name}={value} is not from"):
        RecordedRelationshipChange.model_validate(
            {"character_a": "C0", "character_b": "C1", "dimensions": {name: value}}
        )


def test_the_ends_of_the_ranges_are_allowed() -> None:
    """The bounds belong to the range."""
    change = RecordedRelationshipChange.model_validate(
        {"character_a": "C0", "character_b": "C1", "dimensions": {"trust": -100, "familiarity": 100}}
    )
    assert change.dimensions == {"trust": -100, "familiarity": 100}
