"""The name that somebody probably meant."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

SAME_LETTERS = 0.75
"""Share of letters in common from which one name counts as another one misspelt."""


def nearest_name(given: str, known: Iterable[str], *, likeness: float = SAME_LETTERS) -> str | None:
    """Return the known name that is most like a given one, or None when none is like it.

    Args:
        given: What somebody wrote.
        known: The names that there are.
        likeness: From 0 to 1; what is less alike does not count.
    """
    by_letters = {name.casefold(): name for name in reversed(list(known))}
    found = get_close_matches(given.casefold(), by_letters, n=1, cutoff=likeness)
    return by_letters[found[0]] if found else None


def did_you_mean(given: str, known: Iterable[str], *, likeness: float = SAME_LETTERS) -> str:
    """Return the end of an error message that names the nearest name, or an empty text."""
    nearest = nearest_name(given, known, likeness=likeness)
    return f"; did you mean {nearest!r}?" if nearest is not None else ""
