"""Texts that tell an identity."""

import re
from collections.abc import Iterable, Sequence

from novelgen.language.language import word_pattern
from novelgen.language.normalise import has_cjk
from novelgen.memory.kept_from import KIN, without_knowers

_IDENTITY = word_pattern("told_identity")
_NAMING = word_pattern("told_identity_naming")
_JOINING = word_pattern("told_identity_joining")
_POINTING = word_pattern("told_identity_pointing")
"""What is left of a clause of who knows it."""

_OF_NAME = re.compile(f"{KIN}(?:['’]s\\s*|的)")
_REST = re.compile(r"\w|[\x01-\x03]")
"""Words, and signs of other people."""

LEAST_CARDS = 2
"""Enough without a naming word."""


def names_cards(text: str, cards: Sequence[Sequence[str]]) -> int:
    """Return how many cards a text names."""
    text_key = text.casefold()
    return sum(any(name.casefold() in text_key for name in names) for names in cards)


def tells_identity(text: str, cards: Sequence[Sequence[str]]) -> bool:
    """Tell whether a text joins cards."""
    name_matches = names_cards(text, cards)
    is_naming = name_matches >= LEAST_CARDS or (name_matches and _NAMING.search(text) is not None)
    return bool(is_naming) and _IDENTITY.search(text) is not None


def tells_only_identity(text: str, cards: Sequence[Sequence[str]], others: Iterable[str] = ()) -> bool:
    """Tell whether a text joins cards and says nothing else, but who knows it.

    Args:
        text: The text.
        cards: The names of each card.
        others: The names of other people.
    """
    if not tells_identity(text, cards):
        return False
    signed = _signed(text, cards)
    if _is_of_identity(signed):
        return True
    rest = without_knowers(signed, others)
    return rest != signed and _IDENTITY.search(rest) is not None and _is_of_identity(_POINTING.sub(" ", rest))


def _signed(text: str, cards: Sequence[Sequence[str]]) -> str:
    """Return a text with a sign in place of each name of the cards."""
    names = {name for own in cards for name in own}
    names |= {part for name in names if not has_cjk(name) for part in name.split() if part[:1].isupper()}
    for name in sorted(names, key=len, reverse=True):
        bounds = ("", "") if has_cjk(name) else (r"(?<!\w)", r"(?!\w)")
        text = re.sub(f"{bounds[0]}{re.escape(name)}{bounds[1]}", KIN, text, flags=re.IGNORECASE)
    return text


def _is_of_identity(signed: str) -> bool:
    """Tell whether a text has names and words of being and naming alone."""
    # Somebody's man is another man; somebody's real name is their own.
    if any(
        not (_NAMING.match(signed, of.end()) or _IDENTITY.match(signed, of.end())) for of in _OF_NAME.finditer(signed)
    ):
        return False
    rest = _OF_NAME.sub(" ", signed)
    for words in (_NAMING, _IDENTITY, _JOINING):
        rest = words.sub(" ", rest)
    return KIN in signed and _REST.search(rest) is None
