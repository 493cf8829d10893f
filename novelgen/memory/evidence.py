"""Finding a quote in the scene that it is said to come from."""

import re
import unicodedata
from dataclasses import dataclass
from functools import cached_property

from novelgen.language.language import count_cjk
from novelgen.language.sentences import Span

SHORTEST_QUOTE_CHARACTERS = 8
SHORTEST_CHINESE_QUOTE_CHARACTERS = 3
"""A quote of fewer characters (white space not counted) proves nothing: it stands in any scene."""

LONGEST_OMISSION_CHARACTERS = 400
"""How much of the scene an ellipsis in a quote may stand for."""

_ELLIPSIS = re.compile(r"\.{3,}|…+|\[[^\]\w]*\]")
_AROUND_A_QUOTE = " \t\n\"'“”‘’「」『』.,;:!?。，；：！？、"
_SAME_MARKS = str.maketrans(
    {
        **dict.fromkeys("“”„‟«»「」『』〝〞＂", '"'),
        **dict.fromkeys("‘’‚‛ʼ′`´＇", "'"),
        **dict.fromkeys("‐‑‒–—―−－", "-"),
        **dict.fromkeys("，、", ","),
        "。": ".",
    }
)


@dataclass(frozen=True, slots=True)
class _FoldedText:
    """A text as it is compared, and the place in the original of each of its characters."""

    characters: str
    places: list[int]


class QuoteFinder:
    """Finds quotes in one scene, exactly, else with spelling that does not count folded.

    White space, case, full and half width, and the kinds of quotation marks, dashes and commas do not count; an
    ellipsis in a quote may stand for up to `LONGEST_OMISSION_CHARACTERS`.
    """

    def __init__(self, text: str, *, min_characters: tuple[int, int] | None = None) -> None:
        self._text = text
        self._min_characters = min_characters or (SHORTEST_QUOTE_CHARACTERS, SHORTEST_CHINESE_QUOTE_CHARACTERS)

    def find(self, quote: str | None, *, start: int = 0) -> Span | None:
        """Find a quote."""
        bare = (quote or "").strip(_AROUND_A_QUOTE)
        shortest, shortest_chinese = self._min_characters
        if len("".join(bare.split())) < (shortest_chinese if count_cjk(bare) else shortest):
            return None
        found = self._find_from(bare, start)
        return found if found is not None or start == 0 else self._find_from(bare, 0)

    @cached_property
    def _folded(self) -> _FoldedText:
        return _folded(self._text)

    def _find_from(self, quote: str, start: int) -> Span | None:
        exact = self._text.find(quote, start)
        if exact >= 0:
            return Span(exact, exact + len(quote))
        pieces = [folded for piece in _ELLIPSIS.split(quote) if (folded := _folded(piece).characters)]
        spans = self._find_pieces(pieces, self._folded_index(start))
        return Span(spans[0].start, spans[-1].end) if spans else None

    def _find_pieces(self, pieces: list[str], index: int) -> list[Span]:
        """Find the pieces one after the other; empty unless all are there, none too far from the one before."""
        spans: list[Span] = []
        for piece in pieces:
            at = self._folded.characters.find(piece, index)
            if at < 0:
                return []
            span = Span(self._folded.places[at], self._folded.places[at + len(piece) - 1] + 1)
            if spans and span.start - spans[-1].end > LONGEST_OMISSION_CHARACTERS:
                return []
            spans.append(span)
            index = at + len(piece)
        return spans

    def _folded_index(self, start: int) -> int:
        places = self._folded.places
        return next((index for index, place in enumerate(places) if place >= start), len(places)) if start else 0


def _folded(text: str) -> _FoldedText:
    characters: list[str] = []
    places: list[int] = []
    for place, character in enumerate(text):
        same = unicodedata.normalize("NFKC", character.translate(_SAME_MARKS)).casefold()
        for each in same.translate(_SAME_MARKS):
            if not each.isspace():
                characters.append(each)
                places.append(place)
    return _FoldedText("".join(characters), places)
