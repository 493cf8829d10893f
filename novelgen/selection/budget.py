"""Filling a token budget by gain per token."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from novelgen.selection.forms import ChosenForm
from novelgen.selection.weights import SelectionWeights


@dataclass(frozen=True)
class Priced:
    """One candidate ready to be packed.

    Args:
        chunk_id: Its id.
        gain: Priority, greater first.
        tokens: Cost of its chosen form.
    """

    chunk_id: str
    gain: float
    tokens: int


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
        duplicates: Chunk id of what was passed over to the chunk id that stands for it.
    """

    taken: tuple[str, ...]
    no_room: tuple[str, ...]
    duplicates: dict[str, str]


def fill(priced: Iterable[Priced], budget_tokens: int, stand_in: Callable[[str], str | None]) -> Filling:
    """Pack greedily, best gain per token first; what does not fit is passed over for what does.

    Args:
        priced: The candidates in any order; ties go by id.
        budget_tokens: Tokens to spend; 0 or less takes nothing.
        stand_in: Asked once for each candidate that fits: what stands for it, None to take it.

    Returns:
        What was taken and what was not.
    """
    taken: list[str] = []
    no_room: list[str] = []
    duplicates: dict[str, str] = {}
    left = budget_tokens
    for entry in sorted(priced, key=lambda p: (-p.gain, p.chunk_id)):
        if not 0 < entry.tokens <= left:
            no_room.append(entry.chunk_id)
            continue
        twin = stand_in(entry.chunk_id)
        if twin is not None:
            duplicates[entry.chunk_id] = twin
            continue
        taken.append(entry.chunk_id)
        left -= entry.tokens
    return Filling(tuple(taken), tuple(no_room), duplicates)
