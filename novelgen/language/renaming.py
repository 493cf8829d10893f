"""A name in the place of another in a text, and the names that hold another: 林凡尘 is somebody else than 林凡."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping

from novelgen.language.language import CJK_RANGES, has_cjk
from novelgen.language.matching import NameFinder, NameMatch

_LEAST = 2
"""A longer name stands in the text so many times."""

_READ_ON = 8
"""So many characters after a name tell with what word the sentence goes on."""

# Parts of speech with which a sentence goes on after a name: verbs, particles, prepositions, adverbs, …
_GOES_ON = tuple("vupdcrfymqateokliz")


class NameSwap:
    """Puts names in the place of others."""

    def __init__(self, names: Mapping[str, str], others: Iterable[str] = ()) -> None:
        self._names = dict(names)
        self._finder = NameFinder([*names, *others])

    def hits(self, text: str) -> list[NameMatch]:
        """Return where a text says one of the names."""
        return [match for match in self._finder.find(text) if match.name in self._names]

    def said(self, text: str) -> str:
        """Return a text with the new names."""
        parts, start = [], 0
        for match in self.hits(text):
            parts += [text[start : match.start], self._new(text, match)]
            start = match.end
        return "".join([*parts, text[start:]])

    def moved(self, text: str, at: int) -> int:
        """Return where in the new text stands what stood at a character of the old one."""
        before = [match for match in self.hits(text) if match.end <= at]
        return at + sum(len(self._new(text, match)) - (match.end - match.start) for match in before)

    def others_in(self, text: str, names: Iterable[str]) -> list[str]:
        """Return each place of some of the other names, by the name."""
        wanted = set(names)
        return [match.name for match in self._finder.find(text) if match.name in wanted]

    def _new(self, text: str, match: NameMatch) -> str:
        found, new = text[match.start : match.end], self._names[match.name]
        return new.upper() if found.isupper() and not match.name.isupper() else new


def longer_names(texts: Iterable[str], name: str) -> list[str]:
    """Return names that a text has with one more character than a Chinese name, told by rules.

    That character comes again, is no word with which a sentence goes on, and the longer name ends a phrase somewhere.
    """
    if not has_cjk(name):
        return []
    import rjieba  # noqa: PLC0415

    after = re.compile(rf"{re.escape(name)}(?=(([{CJK_RANGES}])[{CJK_RANGES}]{{0,{_READ_ON}}}))")
    count: dict[str, int] = defaultdict(int)
    ends_a_phrase: set[str] = set()
    for text in texts:
        for rest, first in after.findall(text):
            word, tag = rjieba.tag(rest)[0]
            if len(word) == 1 and not tag.startswith(_GOES_ON):
                count[first] += 1
                if len(rest) == 1:
                    ends_a_phrase.add(first)
    return [name + first for first, times in count.items() if times >= _LEAST and first in ends_a_phrase]
