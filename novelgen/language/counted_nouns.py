"""Numbers with a counted noun: seven councillors, 12 lamps, 七个议员."""

import re
from collections.abc import Iterator

from novelgen.language.language import CJK_RANGES, StoryLanguage, word_list, wording
from novelgen.language.normalise import simplified
from novelgen.language.numerals import (
    CHINESE_DIGITS,
    DENIED,
    ENGLISH_NUMBER,
    ENGLISH_UNITS,
    Quantity,
    chinese_numbers,
    english_amount,
)

_UNCOUNTED = frozenset(word_list("counted_nouns_never"))
"""English words on -s that are no plural, and plurals of which another number tells nothing: two steps."""

_IRREGULAR = dict(entry.split("=") for entry in word_list("counted_nouns_irregular"))
_ENGLISH = re.compile(
    rf"(?<![\w-])(?P<low>{ENGLISH_NUMBER})(?:\s+(?:or|to)\s+(?P<high>{ENGLISH_NUMBER}))?"
    rf"(?P<between>(?:\s+[a-z][a-z’'-]+){{0,2}}?)\s+(?P<noun>[a-z-]{{2,}}[^s\W]s|{'|'.join(_IRREGULAR)})\b(?![’'-])",
    re.IGNORECASE,
)
_CHINESE = re.compile(
    rf"(?<![{CHINESE_DIGITS}第数几初每\d])(?P<low>\d+|[{CHINESE_DIGITS}]+)(?:{wording('counted_nouns_classifier')})"
    rf"(?=(?P<phrase>[{CJK_RANGES}]{{1,8}}))"
)


_CHINESE_LOAD = re.compile(
    rf"(?<![{CHINESE_DIGITS}第数几\d])(?P<low>\d+|[{CHINESE_DIGITS}]+)(?P<measure>[担筐捆篓石包])"
    rf"(?:[陈新旧老春秋湿干粗细])?(?P<stuff>[茶米粮谷盐炭柴煤糖棉布药])"
)
"""Loads of a stuff, whose noun has one character: 四十二担陈茶."""
_CHINESE_VOTES = re.compile(
    rf"(?<![{CHINESE_DIGITS}第数几每\d])(?P<low>\d+|[{CHINESE_DIGITS}]+)票(?P<against>反对|弃权)?"
    rf"(?=$|[^{CJK_RANGES}]|赞成|同意|通过|当选|支持|对|比)"
)
"""Votes that were counted; those against and those withheld are others."""


def find_counts(text: str, language: StoryLanguage) -> list[Quantity]:
    """Find the numbers of things in a text, whose unit is the counted noun.

    One of a thing is left out, and so are what is denied and what `find_quantities` measures.
    """
    text = simplified(text)
    return [
        quantity
        for quantity in (_chinese(text) if language == "zh" else _english(text))
        if not quantity.low == quantity.high == 1
        and not DENIED.search(text[max(0, quantity.start - 20) : quantity.start])
    ]


def _english(text: str) -> Iterator[Quantity]:
    for match in _ENGLISH.finditer(text):
        low = english_amount(match["low"])
        high = english_amount(match["high"]) if match["high"] else low
        noun = match["noun"].casefold()
        between = match["between"].casefold().split()
        if low is None or high is None or noun in _UNCOUNTED or not _UNCOUNTED.isdisjoint(between):
            continue
        unit = _IRREGULAR.get(noun) or (f"{noun[:-3]}y" if noun.endswith("ies") else noun.removesuffix("s"))
        if unit not in ENGLISH_UNITS:
            yield Quantity(match.start(), match.end(), "count", low, high, unit)


def _chinese(text: str) -> Iterator[Quantity]:
    for load in _CHINESE_LOAD.finditer(text):
        numbers = chinese_numbers(load["low"])
        if numbers is not None:
            yield Quantity(load.start(), load.end(), "count", *numbers, load["measure"] + load["stuff"])
    for votes in _CHINESE_VOTES.finditer(text):
        numbers = chinese_numbers(votes["low"])
        if numbers is not None:
            yield Quantity(votes.start(), votes.end(), "count", *numbers, "票" + (votes["against"] or ""))
    matches = list(_CHINESE.finditer(text))
    if not matches:
        return
    import rjieba  # noqa: PLC0415

    for match in matches:
        values = chinese_numbers(match["low"])
        noun, end = "", match.start("phrase")
        for word, tag in rjieba.tag(match["phrase"]):
            is_noun = tag.startswith("n")
            if noun and not is_noun:
                break
            if not is_noun and not tag.startswith(("a", "b", "z")) and word != "的":
                break
            noun, end = word if is_noun else "", end + len(word)
        if values is not None and len(noun) > 1:
            yield Quantity(match.start(), end, "count", *values, noun)
