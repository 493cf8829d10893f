"""Which open loops of a scene that was read anew are those that it had before."""

from __future__ import annotations

from collections.abc import Sequence

from novelgen.models.record import RecordedLoop
from novelgen.text.significant import significant_words

SHARED_WORDS_OF_ONE_LOOP = 0.5
"""Share of the significant words, of the description that has fewer, that two tellings of one loop have in common."""

FEWEST_SHARED_WORDS = 2
"""One common word never makes two loops one."""


def known_loop_ids(before: Sequence[RecordedLoop], now: Sequence[RecordedLoop]) -> dict[str, str]:
    """Match the loops of two readings of one scene, so that later scenes that move a loop still find it.

    Args:
        before: Loops of the reading that is replaced.
        now: Loops of the new reading.

    Returns:
        Id in the new reading to id in the old one, for loops that tell the same; the likest are matched first,
        each at most once.
    """
    likely = sorted(
        ((likeness, old.id, new.id) for old in before for new in now if (likeness := _likeness(old, new))),
        reverse=True,
    )
    matched: dict[str, str] = {}
    for _, old_id, new_id in likely:
        if new_id not in matched and old_id not in matched.values():
            matched[new_id] = old_id
    return matched


def _likeness(one: RecordedLoop, other: RecordedLoop) -> float:
    """The share of words in common; 0 where it is too small to be the same loop."""
    if one.description.casefold().split() == other.description.casefold().split():
        return 1.0
    words, other_words = significant_words(one.description), significant_words(other.description)
    shared, fewer = len(words & other_words), min(len(words), len(other_words))
    return shared / fewer if shared >= max(FEWEST_SHARED_WORDS, SHARED_WORDS_OF_ONE_LOOP * fewer) else 0.0
