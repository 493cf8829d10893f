"""Raising importance by what a record says for certain."""

from typing import get_args

import pytest

from novelgen.models.memory import EVENT_TYPES
from novelgen.models.record import RecordedRelationshipChange
from novelgen.models.state import Relationship
from novelgen.reading.conclusion import (
    EVENT_SIGNALS,
    SIGNAL_WEIGHTS,
    RecordMaker,
    Signal,
    importance_signals,
    with_raised_importances,
)
from tests.novelgen.memory.record_parts import changed, memory, record


def test_the_tables_fit_the_closed_lists() -> None:
    """Every signal has a weight, and every event type of the table exists."""
    assert set(SIGNAL_WEIGHTS) == set(get_args(Signal))
    assert set(EVENT_SIGNALS) <= EVENT_TYPES


@pytest.mark.parametrize(
    ("event_type", "given", "raised"),
    [
        ("death", 3, 5),
        ("death", 7, 9),
        ("death", 8, 9),
        ("injury", 3, 5),
        ("secret_revealed", 1, 3),
        ("promise_made", 4, 6),
        ("promise_broken", 5, 7),
        ("promise_kept", 6, 7),
        ("debt", 2, 4),
        ("identity_revealed", 5, 7),
        ("goal_change", 5, 7),
        ("promise_made", 9, 9),
        ("conversation", 2, 2),
    ],
)
def test_event_types_lift_what_the_model_said(event_type: str, given: int, raised: int) -> None:
    """A memory rises to what its event calls for, by at most two, and never falls."""
    only = record(memories=[memory("m", event_type=event_type, importance=given)])
    [after] = with_raised_importances(only, made_by="extracted").memories
    assert after.importance == raised


@pytest.mark.parametrize("made_by", ["author", "supplied"])
def test_what_a_person_wrote_stands(made_by: RecordMaker) -> None:
    """An author's or a supplied record keeps its importances."""
    only = record(memories=[memory("m", event_type="death", importance=2)])
    assert with_raised_importances(only, made_by=made_by) == only


@pytest.mark.parametrize(
    ("change", "signal"),
    [
        (changed("C1", status="dead, shot at the bridge"), "death"),
        (changed("C1", status="死亡"), "death"),
        (changed("C1", physical_state="right arm broken"), "injury"),
        (changed("C1", physical_state="左臂受伤"), "injury"),
        (changed("C1", goals=["find the key"]), "goal_change"),
        (changed("C1", identity="the auditor"), "identity"),
    ],
)
def test_a_change_of_state_weighs_on_the_memory_that_tells_it(change, signal: Signal) -> None:  # type: ignore[no-untyped-def]
    """Of the memories that name the entity the weightiest bears the signal, the others do not."""
    told = record(
        state_changes=[change],
        memories=[
            memory("other", entities=["C2"], importance=9),
            memory("minor", entities=["C1"], importance=3),
            memory("teller", entities=["C1", "C2"], importance=4),
        ],
    )
    assert importance_signals(told) == {"teller": [signal]}


def test_the_memory_of_the_slot_tells_the_change() -> None:
    """A memory that holds the changed slot bears the signal, though another weighs more."""
    told = record(
        state_changes=[changed("C1", identity="the auditor")],
        memories=[
            memory("weighty", entities=["C1"], importance=9),
            memory("slot", entities=["C1"], slot_type="C1.identity"),
        ],
    )
    assert importance_signals(told) == {"slot": ["identity"]}


def test_signals_add_up_once_each_and_stop_at_ten() -> None:
    """A death that is event and state counts once; a change that no memory tells raises nothing."""
    told = record(
        state_changes=[changed("C1", status="dead", goals=["revenge"])],
        memories=[memory("m", event_type="death", entities=["C1"], importance=9)],
    )
    assert importance_signals(told) == {"m": ["death", "goal_change"]}
    assert with_raised_importances(told, made_by="extracted").memories[0].importance == 10
    assert importance_signals(record(state_changes=[changed("C1", status="dead")])) == {}


@pytest.mark.parametrize(
    ("dimensions", "intensity", "is_signal"),
    [
        ({"trust": 20}, 5, False),
        ({"trust": 25}, 5, True),
        ({"trust": 5, "fear": 10}, 5, True),
        ({}, 8, True),
        ({}, 7, False),
    ],
)
def test_a_relationship_counts_when_it_shifts_far(dimensions, intensity: int, is_signal: bool) -> None:  # type: ignore[no-untyped-def]
    """The steps of all dimensions and of the intensity together must reach the threshold."""
    before = Relationship(relationship_id="R0", character_a="C0", character_b="C1", dimensions={"trust": 10})
    change = RecordedRelationshipChange(
        character_a="C1", character_b="C0", dimensions={"trust": 10, **dimensions}, intensity=intensity
    )
    told = record(relationship_changes=[change], memories=[memory("m", entities=["C0", "C1"])])
    expected = {"m": ["relationship_shift"]} if is_signal else {}
    assert importance_signals(told, relationships_before=[before]) == expected
