"""The fold of state changes over story time."""

from datetime import UTC, datetime, timedelta, timezone
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from novelgen.models.folds import fold_state_changes, snapshot_of
from novelgen.models.position import END_OF_STORY, StoryPosition
from novelgen.models.state import EntityStateSnapshot, StateChange

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


@given(many_changes, st.integers(0, 5), st.integers(0, 4))
def test_later_changes_never_show(changes: list[StateChange], chapter: int, scene: int) -> None:
    """The fold at a position is the same whether or not later scenes exist."""
    here = StoryPosition(chapter, scene)
    before = [each for each in changes if here.admits(each.chapter_index, each.scene_index)]
    assert fold_state_changes(changes, here) == fold_state_changes(before, END_OF_STORY)
