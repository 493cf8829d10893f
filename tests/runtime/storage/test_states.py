"""States over story time."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from novelgen.errors import UnknownProjectError
from novelgen.models.folds import fold_state_changes
from novelgen.models.state import StateChange
from runtime.storage.database import DatabaseManager
from tests.runtime.storage.stories import at, change, scene, store


@pytest.fixture
def told(database: DatabaseManager) -> DatabaseManager:
    """C0 moves and changes over three chapters, C1 is only seen."""
    store(
        database,
        scene(1, 1, states=[change("C0", "mood", "calm"), change("C0", "bag", ["rope", "绳"])]),
        scene(2, 1, states=[change("C0", "mood", "grim"), change("C1", "presence", "L1", kind="presence")]),
        scene(2, 2, states=[change("C0", "bag", None)]),
        scene(4, 1, states=[change("C0", "mood", "merry")]),
    )
    return database


def test_a_state_is_the_fold_before_the_position(told: DatabaseManager) -> None:
    """For an early position the early state answers, though a later one is stored."""
    with told.project("demo").read() as unit:
        (early,) = unit.states.snapshots(["C0"], as_of=at(2, 1))
        (late,) = unit.states.snapshots(["C0"], as_of=at(4, 1))
        assert (early.state_data, early.chapter_index) == ({"mood": "calm", "bag": ["rope", "绳"]}, 1)
        assert (late.state_data, late.chapter_index, late.scene_index) == ({"mood": "grim"}, 2, 2)
        assert early.timestamp.tzinfo is UTC
        assert unit.states.snapshots(["C0"], as_of=at(1, 1)) == []


def test_states_come_in_the_order_asked(told: DatabaseManager) -> None:
    """Unknown entities are left out, repeated ones come once."""
    with told.project("demo").read() as unit:
        found = unit.states.snapshots(["C1", "C7", "C0", "C1"])

    assert [snapshot.entity_id for snapshot in found] == ["C1", "C0"]


def test_a_timeline_has_one_snapshot_per_chapter_of_change(told: DatabaseManager) -> None:
    """Folded to the end of the chapter, in story order, the window's ends included."""
    with told.project("demo").read() as unit:
        found = unit.states.timeline(1, 3)
        cut = unit.states.timeline(1, 9, as_of=at(2, 2))

    assert [(one.entity_id, one.chapter_index, one.scene_index) for one in found] == [
        ("C0", 1, 1),
        ("C1", 2, 1),
        ("C0", 2, 2),
    ]
    assert [(one.entity_id, one.chapter_index, one.scene_index) for one in cut] == [
        ("C0", 1, 1),
        ("C0", 2, 1),
        ("C1", 2, 1),
    ]


def test_the_authors_word_outranks_the_record_at_the_same_position(told: DatabaseManager) -> None:
    """Even when the scene is ingested again afterwards; a change without a position holds from the start."""
    with told.project("demo").write() as unit:
        unit.states.append([change("C0", "mood", "numb", chapter_index=2, scene_index=1)])
        unit.states.append([change("C0", "height", "tall")])
    store(told, scene(2, 1, states=[change("C0", "mood", "grim")]))
    with told.project("demo").read() as unit:
        assert unit.states.snapshots(["C0"], as_of=at(3))[0].state_data["mood"] == "numb"
        (start,) = unit.states.snapshots(["C0"], as_of=at(1, 1))
        assert (start.state_data, start.chapter_index) == ({"height": "tall"}, None)


def test_states_of_an_unknown_project_are_refused(database: DatabaseManager) -> None:
    """Nothing is written for a project that is not there."""
    with pytest.raises(UnknownProjectError, match="'nobody'"), database.project("nobody").write() as unit:
        unit.states.append([change("C0", "mood", "calm")])


PLACE = st.one_of(st.tuples(st.none(), st.none()), st.tuples(st.integers(0, 3), st.integers(0, 3)))
CHANGES = st.lists(st.tuples(PLACE, st.sampled_from("ab"), st.sampled_from(["x", "y", None, ["z"]])), max_size=10)


def test_what_a_scene_states_and_what_stood_before_it(told: DatabaseManager) -> None:
    """The scene alone is read, and before it the last word on each attribute, that it is cleared among them."""
    with told.project("demo").read() as unit:
        stated = unit.states.stated_in(at(2, 1), entity_ids=["C0", "C1"])
        before = unit.states.standing_before(at(2, 1), attributes=["mood", "bag"], entity_ids=["C0"])
        later = unit.states.standing_before(at(4, 1), attributes=["mood", "bag"])
        history = unit.states.stated_of("C0", as_of=at(2, 2))

    assert [(each.entity_id, each.value) for each in stated] == [("C0", "grim")]
    assert {each.attribute: each.value for each in before} == {"mood": "calm", "bag": ["rope", "绳"]}
    assert {each.attribute: each.value for each in later} == {"mood": "grim", "bag": None}
    assert [each.value for each in history] == ["calm", ["rope", "绳"], "grim"]


def test_texts_are_read_as_they_were_written(database: DatabaseManager) -> None:
    """Quotes, backslashes, breaks and characters beyond the first plane come back."""
    values = ["", '"', "\\", '\\"', "a\nb\u2028", "绳🪢", "[]", "null", ["x"], None, 7, True]
    store(database, scene(1, 1, states=[change("C0", f"v{index}", each) for index, each in enumerate(values)]))
    with database.project("demo").read() as unit:
        assert [each.value for each in unit.states.stated_of("C0")] == values


@settings(deadline=None, max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(changes=CHANGES, cut=PLACE)
def test_storage_folds_as_the_model_does(
    sqlite_database: DatabaseManager, changes: list, cut: tuple[int | None, int | None]
) -> None:
    """Whatever is appended, the snapshot is the fold of exactly the changes before the position."""
    entity_id = f"C{datetime.now(UTC).timestamp()}"
    written = [
        StateChange(entity_id=entity_id, attribute=name, value=value, chapter_index=place[0], scene_index=place[1])
        for place, name, value in changes
    ]
    with sqlite_database.project("demo").write() as unit:
        unit.states.append(written)
        found = unit.states.snapshots([entity_id], as_of=at(*cut))  # type: ignore[arg-type]
        stated = unit.states.stated_of(entity_id, as_of=at(*cut))  # type: ignore[arg-type]
        standing = unit.states.standing_before(
            at(*cut),  # type: ignore[arg-type]
            attributes="ab",
            entity_ids=[entity_id],
        )
    assert {each.attribute: each for each in standing} == {each.attribute: each for each in stated}
    assert len(standing) == len({each.attribute for each in stated})
    expected, chapter, scene_index = fold_state_changes(written, at(*cut))  # type: ignore[arg-type]

    assert [(one.state_data, one.chapter_index, one.scene_index) for one in found] in (
        [(expected, chapter, scene_index)],
        [],
    )
    assert bool(found) == any(at(*cut).admits(*place) for place, _, _ in changes)  # type: ignore[arg-type]
