"""Comparing the states of contexts with the fold of the records."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from novelgen.models.state import EntityStateSnapshot
from runtime.bench.book import BenchBook
from runtime.bench.scoring import StateKey, measure_states


def snapshot(entity_id: str, **state: Any) -> EntityStateSnapshot:
    """Return a snapshot with a state."""
    return EntityStateSnapshot(
        project_id="p",
        entity_type="item",
        entity_id=entity_id,
        timestamp=datetime(2020, 1, 1, tzinfo=UTC),
        state_data=state,
    )


def test_the_fold_ends_strictly_before_the_scene(book: BenchBook) -> None:
    """The key lies in the lighthouse, is then held by Cornelius, and cleared attributes are gone."""
    key = StateKey(book.book.records.values())
    assert key.fold("I0", (2, 2)) == {"location_id": "L0", "hidden": True}
    assert key.fold("I0", (4, 1)) == {"holder": "C2"}
    assert key.fold("C9", (4, 1)) == {}


def test_true_states_are_accurate_and_presence_is_no_attribute(book: BenchBook) -> None:
    """States equal to the fold score 1, whatever presence stands beside them."""
    states = [snapshot("I0", holder="C2", presence={"location_id": "L0"}), snapshot("C1", goals=[])]
    found = measure_states(book, [(book.plans[0], states)])
    assert (found.accuracy, found.coverage, found.attributes, found.wrong) == (1, 1, 2, 0)


@pytest.mark.parametrize(
    ("state", "fault"),
    [
        ({"holder": "C2", "hidden": True}, "stale"),
        ({"holder": "C2", "location_id": "L0"}, "stale"),
        ({"holder": "C0"}, "wrong"),
        ({}, "wrong"),
    ],
)
def test_a_false_state_is_told_by_its_kind(book: BenchBook, state: dict[str, Any], fault: str) -> None:
    """A value that was cleared is stale; an invented or a missing one is wrong."""
    found = measure_states(book, [(book.plans[0], [snapshot("I0", **state)])])
    assert found.wrong == 1
    assert found.stale == (fault == "stale")
    assert found.later == 0


def test_a_value_of_the_planned_scene_is_from_later(book: BenchBook) -> None:
    """Ada's oath is sworn in the planned scene itself."""
    states = [snapshot("C0", goals=["find who let the lamp die"])]
    found = measure_states(book, [(book.plans[0], states)])
    assert (found.later, found.stale, found.accuracy) == (1, 0, 0)


def test_entities_that_no_context_returned_lower_coverage_alone(book: BenchBook) -> None:
    """Of the key and Ben only the key came back, as it stood."""
    found = measure_states(book, [(book.plans[0], [snapshot("I0", holder="C2")])])
    assert (found.coverage, found.accuracy) == (0.5, 1)


def test_entities_of_which_nothing_is_recorded_yet_are_told_apart(book: BenchBook) -> None:
    """On entering the first scene nobody has a state, so there is none that could be missed."""
    early = book.plans[0].model_copy(update={"chapter_index": 1, "scene_index": 1})
    found = measure_states(book, [(early, [])])
    assert (found.coverage, found.coverage_of_known, found.known_wanted) == (0, 1, 0)


def test_no_contexts_are_no_faults(book: BenchBook) -> None:
    """Shares of nothing are 1."""
    found = measure_states(book, [])
    assert (found.accuracy, found.coverage, found.snapshots) == (1, 1, 0)
