"""The names that somebody probably meant."""

from collections.abc import Iterable
from difflib import get_close_matches

SAME_LETTERS = 0.75
"""Share of letters in common from which one name counts as another one misspelt."""

ALIKE = 0.6
"""A name that is refused anyway may be told one that is less like it."""


def nearest_names(given: str, known: Iterable[str], *, at_most: int, likeness: float = ALIKE) -> list[str]:
    """Return the known names that are most like a given one, the likeliest first."""
    by_letters = {name.casefold(): name for name in reversed(list(known))}
    found = get_close_matches(given.casefold(), by_letters, n=at_most, cutoff=likeness)
    return [by_letters[each] for each in found]


def nearest_name(given: str, known: Iterable[str], *, likeness: float = SAME_LETTERS) -> str | None:
    """Return the known name that is most like a given one, or None when none is like it."""
    return next(iter(nearest_names(given, known, at_most=1, likeness=likeness)), None)


def did_you_mean(given: str, known: Iterable[str], *, likeness: float = SAME_LETTERS) -> str:
    """Return the end of an error message that names the nearest name, or an empty text."""
    nearest = nearest_name(given, known, likeness=likeness)
    return f"; did you mean {nearest!r}?" if nearest is not None else ""
