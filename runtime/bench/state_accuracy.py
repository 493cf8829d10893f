"""Whether the entity states of contexts equal the fold of the records strictly before the scene."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, Field

from novelgen.models.record import SceneRecord
from novelgen.models.state import PRESENCE_ATTRIBUTE, EntityStateSnapshot
from runtime.bench.book import BenchBook, BenchPlan, Place


class StateAccuracy(BaseModel):
    """How true the states of all contexts were."""

    accuracy: float = Field(description="Share of attributes, returned or due, that equal the fold.")
    coverage: float = Field(description="Share of the plans' entities whose state was returned.")
    coverage_of_known: float = Field(
        description="The same among those with a recorded state before the scene."
    )
    attributes: int
    snapshots: int
    wrong: int = Field(description="Attributes that differ from the fold, stale and later ones included.")
    stale: int = Field(description="Attributes with a value that was replaced or cleared before the scene.")
    later: int = Field(description="Attributes with a value that only the scene itself or a later one sets.")
    entities_wanted: int
    entities_returned: int
    known_wanted: int
    known_returned: int


@dataclass(frozen=True, slots=True)
class _Change:
    place: Place
    value: Any


class StateKey:
    """The records' state changes, per entity and attribute in story order.

    Args:
        records: Of the whole book, in any order; values are compared as they stand there.
    """

    def __init__(self, records: Iterable[SceneRecord]) -> None:
        self._changes: dict[str, dict[str, list[_Change]]] = {}
        for record in sorted(records, key=lambda each: (each.chapter_index, each.scene_index)):
            place = (record.chapter_index, record.scene_index)
            for change in record.state_changes:
                history = self._changes.setdefault(change.entity_id, {})
                for attribute, value in change.changes.items():
                    history.setdefault(attribute, []).append(_Change(place, value))

    def fold(self, entity_id: str, before: Place) -> dict[str, Any]:
        """Return an entity's state on entering a scene; cleared attributes are absent."""
        last: dict[str, Any] = {}
        for attribute, history in self._changes.get(entity_id, {}).items():
            values = [change.value for change in history if change.place < before]
            if values and values[-1] is not None:
                last[attribute] = values[-1]
        return last

    def fault(self, entity_id: str, attribute: str, value: Any, before: Place) -> str:
        """Say what kind of wrong a value is: `stale`, `later` or `wrong`."""
        history = self._changes.get(entity_id, {}).get(attribute, [])
        if any(change.place < before and change.value == value for change in history):
            return "stale"
        return "later" if any(change.value == value for change in history) else "wrong"


def measure_states(
    book: BenchBook, contexts: Iterable[tuple[BenchPlan, Sequence[EntityStateSnapshot]]]
) -> StateAccuracy:
    """Compare the states of contexts with the records.

    Args:
        book: The book.
        contexts: Per plan, the states of its context.

    Returns:
        The figures over all plans; shares of nothing are 1.
    """
    key = StateKey(book.book.records.values())
    names = ("right", "wrong", "stale", "later", "snapshots", "wanted", "returned", "known", "known_returned")
    counts = dict.fromkeys(names, 0)
    for plan, states in contexts:
        data = {each.entity_id: _without_presence(each.state_data) for each in states}
        wanted = {each.entity_id for each in plan.states}
        counts["wanted"] += len(wanted)
        counts["returned"] += len(wanted & data.keys())
        known = {entity_id for entity_id in wanted if key.fold(entity_id, plan.place)}
        counts["known"] += len(known)
        counts["known_returned"] += len(known & data.keys())
        counts["snapshots"] += len(data)
        for entity_id, state in data.items():
            for outcome in _outcomes(key, entity_id, state, plan.place):
                counts[outcome] += 1
    return _figures(counts)


def _outcomes(key: StateKey, entity_id: str, state: Mapping[str, Any], before: Place) -> list[str]:
    """Judge each attribute that was returned or is due; one that is due and missing is wrong."""
    due = key.fold(entity_id, before)
    return [
        "right"
        if state.get(attribute) == due.get(attribute)
        else key.fault(entity_id, attribute, state[attribute], before)
        if attribute in state
        else "wrong"
        for attribute in sorted(due.keys() | state.keys())
    ]


def _figures(counts: Mapping[str, int]) -> StateAccuracy:
    faults = counts["wrong"] + counts["stale"] + counts["later"]
    attributes = counts["right"] + faults
    return StateAccuracy(
        accuracy=_share(counts["right"], attributes),
        coverage=_share(counts["returned"], counts["wanted"]),
        coverage_of_known=_share(counts["known_returned"], counts["known"]),
        attributes=attributes,
        snapshots=counts["snapshots"],
        wrong=faults,
        stale=counts["stale"],
        later=counts["later"],
        entities_wanted=counts["wanted"],
        entities_returned=counts["returned"],
        known_wanted=counts["known"],
        known_returned=counts["known_returned"],
    )


def _share(part: int, whole: int) -> float:
    return part / whole if whole else 1.0


def _without_presence(state: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in state.items() if name != PRESENCE_ATTRIBUTE}
