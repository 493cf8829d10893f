"""Raising the importance of memories by what a record says for certain.

`BASE_IMPORTANCE` plus the weights of the signals that a memory shows is what it should weigh. The model's own estimate,
which knows the scene, rises towards that by no more than `MAX_RAISE`; a higher one stays. Without that bound half of a
story would come to 7 and more, whatever the model chose.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Literal

from novelgen.memory.attributes import is_death
from novelgen.models.record import RecordedMemory, RecordedRelationshipChange, SceneRecord
from novelgen.models.state import Relationship

Signal = Literal[
    "death", "injury", "secret_revealed", "promise", "obligation", "relationship_shift", "goal_change", "identity"
]
RecordMaker = Literal["author", "supplied", "extracted"]

BASE_IMPORTANCE = 5
HIGHEST_IMPORTANCE = 10
MAX_RAISE = 2
"""How far the signals may lift a memory above what the model said."""

SIGNAL_WEIGHTS: dict[Signal, int] = {
    "death": 4,
    "injury": 3,
    "secret_revealed": 3,
    "promise": 2,
    "obligation": 2,
    "relationship_shift": 2,
    "goal_change": 2,
    "identity": 2,
}
EVENT_SIGNALS: dict[str, Signal] = {
    "death": "death",
    "injury": "injury",
    "secret_revealed": "secret_revealed",
    "promise_made": "promise",
    "promise_kept": "promise",
    "promise_broken": "promise",
    "obligation": "obligation",
    "debt": "obligation",
    "goal_change": "goal_change",
    "identity_revealed": "identity",
}
"""Event types that are a signal by themselves."""

ATTRIBUTE_SIGNALS: dict[str, Signal] = {"goals": "goal_change", "identity": "identity", "true_name": "identity"}
"""Attributes whose change is a signal for the memory that tells it."""

RELATIONSHIP_SHIFT_THRESHOLD = 15
INTENSITY_STEP_WEIGHT = 5
NEUTRAL_INTENSITY = 5
"""A relationship shifts when its dimensions and five times its intensity together move by the threshold."""

MAKERS_WHOSE_IMPORTANCE_STANDS: frozenset[RecordMaker] = frozenset({"author", "supplied"})
"""What a person wrote outranks the rules."""

_INJURY = re.compile(
    r"\b(?:wound|injur|broken|bleed|blind|crippl|burn|maim|lame\b|poison)|伤|断|瘸|瞎|流血|中毒|烧", re.IGNORECASE
)


def with_raised_importances(
    record: SceneRecord,
    *,
    made_by: RecordMaker,
    relationships_before: Sequence[Relationship] = (),
    kept_as_given: Collection[str] = (),
) -> SceneRecord:
    """Return a record whose memories weigh what their signals call for, as far as `MAX_RAISE` lets them."""
    if made_by in MAKERS_WHOSE_IMPORTANCE_STANDS:
        return record
    signals = importance_signals(record, relationships_before=relationships_before)
    memories = [
        memory.model_copy(update={"importance": _raised(memory.importance, signals.get(memory.memory_id, ()))})
        if memory.memory_id not in kept_as_given
        else memory
        for memory in record.memories
    ]
    return record.model_copy(update={"memories": memories})


def importance_signals(
    record: SceneRecord, *, relationships_before: Sequence[Relationship] = ()
) -> dict[str, list[Signal]]:
    """Return the signals of each memory, each once, by memory id; memories without any are left out.

    A change of state or relationship is a signal for the one memory that tells it: the one of its slot, else
    the weightiest that names all its entities.
    """
    found: defaultdict[str, dict[Signal, None]] = defaultdict(dict)
    for memory in record.memories:
        if memory.event_type in EVENT_SIGNALS:
            found[memory.memory_id][EVENT_SIGNALS[memory.event_type]] = None
    for signal, entity_ids, slot in _changes(record, relationships_before):
        teller = _teller(record.memories, entity_ids, slot)
        if teller is not None:
            found[teller.memory_id][signal] = None
    return {memory_id: list(signals) for memory_id, signals in found.items()}


def relationship_shift(change: RecordedRelationshipChange, before: Relationship | None) -> int:
    """Return how far a change moves two characters: its dimensions' steps and five times that of its intensity."""
    change = change.in_order()
    earlier = before.dimensions if before else {}
    own_earlier = (before.dimensions_a, before.dimensions_b) if before else ({}, {})
    moves = [(change.dimensions, earlier)]
    for side, own in zip((change.dimensions_a, change.dimensions_b), own_earlier, strict=True):
        moves.append((side, {**earlier, **own}))
    steps = sum(abs(value - was.get(name, 0)) for values, was in moves for name, value in values.items())
    intensity_before = before.intensity if before else NEUTRAL_INTENSITY
    return steps + INTENSITY_STEP_WEIGHT * abs(change.intensity - intensity_before)


def _raised(importance: int, signals: Iterable[Signal]) -> int:
    weights = [SIGNAL_WEIGHTS[signal] for signal in signals]
    called_for = BASE_IMPORTANCE + sum(weights) if weights else 1
    return max(importance, min(HIGHEST_IMPORTANCE, called_for, importance + MAX_RAISE))


def _changes(
    record: SceneRecord, relationships_before: Sequence[Relationship]
) -> Iterator[tuple[Signal, frozenset[str], str | None]]:
    for change in record.state_changes:
        for attribute, value in change.changes.items():
            signal = _state_signal(attribute, value)
            if signal is not None:
                yield signal, frozenset({change.entity_id}), f"{change.entity_id}.{attribute}"
    before = _by_pair(relationships_before)
    for shift in record.relationship_changes:
        pair = frozenset({shift.character_a, shift.character_b})
        if relationship_shift(shift, before.get(pair)) >= RELATIONSHIP_SHIFT_THRESHOLD:
            yield "relationship_shift", pair, None


def _state_signal(attribute: str, value: object) -> Signal | None:
    if is_death(attribute, value):
        return "death"
    if attribute == "physical_state" and isinstance(value, str) and _INJURY.search(value):
        return "injury"
    return ATTRIBUTE_SIGNALS.get(attribute)


def _by_pair(relationships: Sequence[Relationship]) -> Mapping[frozenset[str], Relationship]:
    return {frozenset({each.character_a, each.character_b}): each for each in relationships}


def _teller(memories: Sequence[RecordedMemory], entity_ids: frozenset[str], slot: str | None) -> RecordedMemory | None:
    in_slot = [memory for memory in memories if slot is not None and memory.slot_type == slot]
    naming = [memory for memory in memories if entity_ids.issubset(memory.entities)]
    return max(in_slot or naming, key=lambda memory: memory.importance, default=None)
