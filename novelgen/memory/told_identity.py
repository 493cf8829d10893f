"""Texts that tell an identity."""

import re
from collections.abc import Sequence

from novelgen.language.language import word_pattern
from novelgen.language.normalise import has_cjk

_IDENTITY = word_pattern("told_identity")
_NAMING = word_pattern("told_identity_naming")
_JOINING = word_pattern("told_identity_joining")
_OF_NAME = re.compile("\x00(?:['’]s\\s*|的)")

LEAST_CARDS = 2
"""Enough without a naming word."""


def names_cards(text: str, cards: Sequence[Sequence[str]]) -> int:
    """Return how many cards a text names."""
    folded = text.casefold()
    return sum(any(name.casefold() in folded for name in names) for names in cards)


def tells_identity(text: str, cards: Sequence[Sequence[str]]) -> bool:
    """Tell whether a text joins cards."""
    named = names_cards(text, cards)
    is_naming = named >= LEAST_CARDS or (named and _NAMING.search(text) is not None)
    return bool(is_naming) and _IDENTITY.search(text) is not None


def tells_only_identity(text: str, cards: Sequence[Sequence[str]]) -> bool:
    """Tell whether a text joins cards and says nothing else."""
    if not tells_identity(text, cards):
        return False
    names = {name for own in cards for name in own}
    names |= {part for name in names if not has_cjk(name) for part in name.split() if part[:1].isupper()}
    rest = text
    for name in sorted(names, key=len, reverse=True):
        bounds = ("", "") if has_cjk(name) else (r"(?<!\w)", r"(?!\w)")
        rest = re.sub(f"{bounds[0]}{re.escape(name)}{bounds[1]}", "\x00", rest, flags=re.IGNORECASE)
    # Somebody's man is another man; somebody's real name is their own.
    if any(not (_NAMING.match(rest, of.end()) or _IDENTITY.match(rest, of.end())) for of in _OF_NAME.finditer(rest)):
        return False
    rest = _OF_NAME.sub(" ", rest)
    for words in (_NAMING, _IDENTITY, _JOINING):
        rest = words.sub(" ", rest)
    return re.search(r"\w", rest) is None
