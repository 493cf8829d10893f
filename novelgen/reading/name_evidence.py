"""Whether a scene gives a name: as such, in parts, or in a quote."""

from __future__ import annotations

import re
from typing import Literal

from novelgen.language.language import has_cjk
from novelgen.language.matching import NameFinder
from novelgen.language.normalise import ARTICLES, TITLES, fold_width, name_key
from novelgen.memory.evidence import QuoteFinder

NameEvidence = Literal["verbatim", "parts", "quote", "garbled", "none"]
"""`garbled`: only some of the name's words or characters stand in the scene."""

NEAR_CHARACTERS = 160
"""Within how many characters of an English text the words of one name stand."""

NEAR_CHINESE_CHARACTERS = 8
"""How many characters may stand between a Chinese surname and the given name: 姓金，名翠莲."""

GARBLED_SHARE = 0.5
"""Share of a name's words or characters that a scene must hold for the name to be a spelling of its own."""

SHORTEST_QUOTE_OF_A_NAME = (3, 2)
"""Characters of an English and of a Chinese quote: "said I" is all that a text has of its narrator."""

_WORD = re.compile(r"[^\W_]+(?:['-][^\W_]+)*")


def name_evidence(name: str, text: str, *, quote: str = "") -> NameEvidence:
    """Tell how a scene gives a name."""
    if NameFinder([name]).find(text):
        return "verbatim"
    if has_cjk(name):
        held = [character for character in name_key(name) if character in text]
        share = len(held) / max(1, len(name_key(name)))
        stands_in_parts = _chinese_parts_stand(name_key(name), text)
    else:
        words = _words_of(name)
        places = [_places(word, text) for word in words]
        share = sum(map(bool, places)) / max(1, len(words))
        stands_in_parts = bool(words) and _stand_near(places)
    if stands_in_parts:
        return "parts"
    if QuoteFinder(text, min_characters=SHORTEST_QUOTE_OF_A_NAME).find(quote) is not None:
        return "quote"
    return "garbled" if share >= GARBLED_SHARE else "none"


def _words_of(name: str) -> list[str]:
    """The words of an English name that are its own; all of a name of titles alone."""
    words = [word.casefold() for word in _WORD.findall(fold_width(name))]
    return [word for word in words if word not in TITLES | ARTICLES] or words


def _places(word: str, text: str) -> list[int]:
    return [found.start() for found in re.finditer(rf"(?<!\w){re.escape(word)}(?!\w)", text, re.IGNORECASE)]


def _stand_near(places: list[list[int]]) -> bool:
    """Tell whether every word has a place within reach of one of the first word's."""
    return any(
        all(any(abs(place - start) <= NEAR_CHARACTERS for place in others) for others in places[1:])
        for start in places[0]
    )


def _chinese_parts_stand(key: str, text: str) -> bool:
    """Tell whether surname and given name stand near one another; a lone character only after 姓 or 名."""
    for at in range(1, min(3, len(key))):
        surname, given = (re.escape(part) for part in (key[:at], key[at:]))
        between = rf"[^。！？\n]{{0,{NEAR_CHINESE_CHARACTERS}}}?"
        if len(key) - at >= 2:
            pattern = rf"{surname}{between}{given}"
        else:
            pattern = rf"姓{surname}{between}{given}|{surname}{between}[名叫唤]{given}"
        if re.search(pattern, text):
            return True
    return False
