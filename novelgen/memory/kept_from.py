"""Words of a note that say that somebody does not know, or is not told, what it tells."""

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache

from novelgen.language.language import has_cjk, phrases, word_pattern
from novelgen.language.normalise import CHINESE_TITLES_AFTER, TITLES

_WHOM, _OTHER = "\x02", "\x03"
"""Signs of the person in question, and of anybody and anything else."""

_TITLE_BEFORE = rf"(?:(?:the|old|young|little|poor|{'|'.join(map(re.escape, sorted(TITLES)))})\.? )?"
_TITLE_AFTER = f"(?:{'|'.join(map(re.escape, CHINESE_TITLES_AFTER))})?"

_LIST = re.compile(
    f"(?:[{_WHOM}{_OTHER}](?:, [{_WHOM}{_OTHER}])+,?|[{_WHOM}{_OTHER}])"
    rf" (?:(?:or|nor) [{_WHOM}{_OTHER}]|and [{_WHOM}{_OTHER}](?! (?:does|has|is|was|knows)\b))"
    f"|[{_WHOM}{_OTHER}](?:(?:、|和|与|跟|及|以及|或|或者)[{_WHOM}{_OTHER}])+"
)
"""People in a row: what is said of all of them is said of each."""


def _patterns(name: str) -> list[re.Pattern[str]]:
    return [
        re.compile(text.replace("\n", "").replace("<N>", _WHOM).replace("<O>", _OTHER), re.IGNORECASE)
        for text in phrases(name)
    ]


_WORDS = word_pattern("kept_from_words")
"""Words of which a text has at least one that keeps anything from anybody."""

_UNTOLD = _patterns("kept_from_untold")
_KEPT = _patterns("kept_from_kept")
"""Words of keeping: a negation before them in their clause takes them back."""

_DENIED = word_pattern("kept_from_denied")
_OVER = _patterns("kept_from_over")
"""Words that tell that somebody did not know by then, and does now."""

_CLAUSE_START = re.compile("[,;.:，。；：！？]")


def is_kept_from(content: str, names: Sequence[str], names_of_others: Iterable[str]) -> bool:
    """Tell whether a text says of somebody that they do not know it or are not told."""
    own_names = frozenset(name for name in names if name and name in content)
    if not own_names or not _WORDS.search(content):
        return False
    other_names = frozenset(name for name in names_of_others if name and name in content) - own_names
    return _keeps(_signed(content, own_names, other_names))


def without_keeping(clause: str, names: Iterable[str], names_of_things: Iterable[str]) -> str | None:
    """Return a clause, people and things as signs, without its words that keep something from a person.

    None: it has no such words.
    """
    own_names = frozenset(name for name in names if name and name in clause)
    if not own_names or not _WORDS.search(clause):
        return None
    signed = _signed(clause, own_names, frozenset(name for name in names_of_things if name and name in clause))
    rest = signed
    for pattern in (*_UNTOLD, *_KEPT):
        rest = pattern.sub("", rest)
    return None if rest == signed else rest


def without_secrecy(text: str, names: Iterable[str]) -> str:
    """Return a text without its words of keeping, such as "behind Nell's back" and 瞒着顾晚."""
    own_names = frozenset(name for name in names if name and name in text)
    if not own_names or not _WORDS.search(text):
        return text
    for pattern in _kept_patterns(own_names):
        text = pattern.sub(
            lambda match: match[0] if _DENIED.search(_CLAUSE_START.split(match.string[: match.start()])[-1]) else "",
            text,
        )
    return " ".join(text.split()) if text.isascii() else text


@lru_cache(maxsize=256)
def _kept_patterns(names: frozenset[str]) -> list[re.Pattern[str]]:
    """Return the patterns of keeping with names in place of the sign of a person."""
    longest_first = "|".join(re.escape(name) for name in sorted(names, key=len, reverse=True))
    whom = f"(?:{_TITLE_BEFORE}(?:{longest_first}){_TITLE_AFTER})"
    return [re.compile(pattern.pattern.replace(_WHOM, whom), re.IGNORECASE) for pattern in _KEPT]


@lru_cache(maxsize=4096)
def _keeps(signed: str) -> bool:
    """Tell whether a text with signs keeps itself from the person in question."""
    if any(pattern.search(signed) for pattern in _OVER):
        return False
    return any(pattern.search(signed) for pattern in _UNTOLD) or any(
        _DENIED.search(_CLAUSE_START.split(signed[: match.start()])[-1]) is None
        for pattern in _KEPT
        for match in pattern.finditer(signed)
    )


@lru_cache(maxsize=4096)
def _signed(content: str, own_names: frozenset[str], other_names: frozenset[str]) -> str:
    """Return a text with signs in place of names, the longest first, and of people in a row."""
    names = sorted(own_names | other_names, key=len, reverse=True)
    forms = [
        f"({re.escape(name)}){_TITLE_AFTER}" if has_cjk(name) else rf"\b{_TITLE_BEFORE}({re.escape(name)})(?!\w)"
        for name in names
    ]

    def sign(match: re.Match[str]) -> str:
        return _WHOM if names[(match.lastindex or 1) - 1] in own_names else _OTHER

    def joined(match: re.Match[str]) -> str:
        return _WHOM if _WHOM in match[0] else _OTHER

    signed = _LIST.sub(joined, re.sub("|".join(forms), sign, " ".join(content.split())))
    return re.sub(f"{_WHOM},? who ", f"{_WHOM} ", signed)
