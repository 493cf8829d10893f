"""Names that hold another name: 林凡尘 is somebody else than 林凡, though every letter of 林凡 stands in it."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable

from novelgen.language.language import CJK_RANGES, has_cjk

_LEAST = 2
"""A longer name stands in the text so many times."""

_READ_ON = 8
"""So many characters after a name tell with what word the sentence goes on."""

# Parts of speech with which a sentence goes on after a name: verbs, particles, prepositions, adverbs, …
_GOES_ON = tuple("vupdcrfymqateokliz")


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
