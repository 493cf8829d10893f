"""Filling a token budget by gain per token."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from heapq import heapify, heappop, heappush
from types import MappingProxyType

from novelgen.selection.forms import ChosenForm
from novelgen.selection.weights import SelectionWeights


@dataclass(frozen=True)
class Priced:
    """One candidate ready to be packed.

    Args:
        chunk_id: Its id.
        gain: Priority, greater first.
        tokens: Cost of its chosen form.
        is_passage: Whether it is verbatim text of a scene.
    """

    chunk_id: str
    gain: float
    tokens: int
    is_passage: bool = False


def gain_per_token(score: float, chosen: ChosenForm, weights: SelectionWeights) -> float:
    """Weigh a score against the cost of its form.

    Args:
        score: Log-odds that the scene needs it.
        chosen: The form with its tokens.
        weights: `short_form_worth`, and `length_discount` as the exponent of tokens (0: cost is ignored).

    Returns:
        Logarithm of worth / tokens ** discount.
    """
    worth = 0.0 if chosen.form == "full" else math.log(weights.short_form_worth)
    return score + worth - weights.length_discount * math.log(max(1, chosen.tokens))


@dataclass(frozen=True)
class Filling:
    """How a budget was filled.

    Args:
        taken: Chunk ids, best gain first.
        no_room: Chunk ids that did not fit, best gain first.
        over_quota: Those of them that waited until all others had their turn.
        duplicates: Chunk id of what was passed over to the chunk id that stands for it.
        lifted: Chunk id of what was taken to the gain that it had from passages beside it.
    """

    taken: tuple[str, ...]
    no_room: tuple[str, ...]
    duplicates: dict[str, str]
    over_quota: frozenset[str] = frozenset()
    lifted: Mapping[str, float] = field(default_factory=dict)


def fill(
    priced: Iterable[Priced],
    budget_tokens: int,
    stand_in: Callable[[str], str | None],
    *,
    passage_tokens: int | None = None,
    beside: Mapping[str, Sequence[str]] = MappingProxyType({}),
    beside_points: float = 0.0,
) -> Filling:
    """Pack greedily, best gain per token first; what does not fit is passed over for what does.

    Args:
        priced: The candidates in any order; ties go by id.
        budget_tokens: Tokens to spend; 0 or less takes nothing.
        stand_in: Asked once for each candidate that fits: what stands for it, None to take it.
        passage_tokens: Passages beyond so many wait until all else had its turn; None knows no such bound.
        beside: Chunk id to the ids of the passages that stand beside it in the text.
        beside_points: Added to the gain of those when it is taken: a fact is often told across two passages.

    Returns:
        What was taken and what was not.
    """
    taken: list[Priced] = []
    no_room: list[Priced] = []
    waiting: list[Priced] = []
    duplicates: dict[str, str] = {}
    left = budget_tokens
    left_for_passages = budget_tokens if passage_tokens is None else passage_tokens

    def offer(entry: Priced) -> bool:
        nonlocal left
        if not 0 < entry.tokens <= left:
            no_room.append(entry)
            return False
        twin = stand_in(entry.chunk_id)
        if twin is not None:
            duplicates[entry.chunk_id] = twin
            return False
        taken.append(entry)
        left -= entry.tokens
        return True

    queue = _Queue(priced)
    while (entry := queue.pop()) is not None:
        if entry.is_passage and entry.tokens > left_for_passages:
            waiting.append(entry)
        elif offer(entry):
            left_for_passages -= entry.tokens if entry.is_passage else 0
            queue.lift(beside.get(entry.chunk_id, ()), beside_points)
    for entry in waiting:
        offer(entry)
    return Filling(
        taken=tuple(entry.chunk_id for entry in sorted(taken, key=_best_first)),
        no_room=tuple(entry.chunk_id for entry in sorted(no_room, key=_best_first)),
        duplicates=duplicates,
        over_quota=frozenset(entry.chunk_id for entry in waiting).intersection(
            entry.chunk_id for entry in no_room
        ),
        lifted={
            each.chunk_id: queue.lifted[each.chunk_id] for each in taken if each.chunk_id in queue.lifted
        },
    )


class _Queue:
    """Gives out entries best first, while the gain of those that still wait may rise."""

    def __init__(self, priced: Iterable[Priced]) -> None:
        self._waiting = {entry.chunk_id: entry for entry in priced}
        self.lifted: dict[str, float] = {}
        self._heap = [_best_first(entry) for entry in self._waiting.values()]
        heapify(self._heap)

    def pop(self) -> Priced | None:
        """Give out the best that waits; None when all are out."""
        while self._heap:
            place = heappop(self._heap)
            entry = self._waiting.get(place[1])
            # A raised entry also has its old place, which comes later; by then it is out.
            if entry is not None:
                del self._waiting[entry.chunk_id]
                return entry
        return None

    def lift(self, chunk_ids: Iterable[str], points: float) -> None:
        """Raise the gain of those that still wait; `points` are not negative."""
        for chunk_id in chunk_ids:
            if chunk_id in self._waiting:
                entry = self._waiting[chunk_id]
                self.lifted[chunk_id] = self.lifted.get(chunk_id, 0.0) + points
                self._waiting[chunk_id] = replace(entry, gain=entry.gain + points)
                heappush(self._heap, _best_first(self._waiting[chunk_id]))


def _best_first(entry: Priced) -> tuple[float, str]:
    return (-entry.gain, entry.chunk_id)
