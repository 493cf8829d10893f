"""Words that an author wants to avoid, such as those that a platform refuses."""

import re
from collections.abc import Iterable, Iterator, Sequence

from novelgen.language.language import has_cjk
from novelgen.language.normalise import simplified
from novelgen.models.continuity import AvoidedWord

MAX_QUOTES = 20
_AROUND = 15
"""So many characters on both sides of a word are quoted."""


def avoided_words(text: str, words: Iterable[str]) -> list[AvoidedWord]:
    """Return which of the words stand in a text, the most frequent first."""
    plain = _plain(text)
    matching_avoided_words = [
        AvoidedWord(word=word, quotes=_quotes(text, spans), spans=spans)
        for word in dict.fromkeys(words)
        if (spans := list(_spans(plain, _plain(word))))
    ]
    return sorted(matching_avoided_words, key=lambda avoided_word: -len(avoided_word.spans))


def _plain(text: str) -> str:
    """Fold a text, each character for itself."""
    return "".join(low if len(low := other_text.lower()) == 1 else other_text for other_text in simplified(text))


def _spans(text: str, word: str) -> Iterator[tuple[int, int]]:
    if word and word in text:
        edge = "" if has_cjk(word) else r"\b"
        yield from (match.span() for match in re.finditer(f"{edge}{re.escape(word)}{edge}", text))


def _quotes(text: str, spans: Sequence[tuple[int, int]]) -> list[str]:
    """Quote the surroundings of the first places, joining adjacent ones."""
    quoted_texts: list[str] = []
    until = 0
    for start, end in spans:
        if end > until and len(quoted_texts) < MAX_QUOTES:
            until = end + _AROUND
            quoted_texts.append(" ".join(text[max(0, start - _AROUND) : until].split()))
    return quoted_texts
