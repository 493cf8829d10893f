"""The words of a text as the lexical index and its queries see them, in English and Chinese.

The index holds what `index_tokens` gives and leaves it by the same tokens: a change of it needs a migration
that rebuilds the index. Words are not stemmed: measured on sign_of_four, far@1000 by words alone was .519
without, .518 with plural endings cut and .537 with Porter's stemmer, and .247, .240 and .221 on its long form.
"""

from __future__ import annotations

import re
import unicodedata

from novelgen.text.language import CJK_RANGES, is_cjk

LONGEST_CHINESE_TERM = 4
_TOKEN = re.compile(rf"[{CJK_RANGES}]|[^\W_{CJK_RANGES}]+")
_RUN = re.compile(rf"[{CJK_RANGES}]+|[^\W_{CJK_RANGES}]+")
_POSSESSIVE = re.compile(r"(?<=\w)['’]s\b")
_STOP_WORDS = frozenset(
    "a about after all an and any are as at be been before but by can could did do does for from had has have"
    " he her him his how i if in into is it its me my no not of off on or our out over s she so some such t than"
    " that the their them then there these they this those to under up us was we were what when where which who"
    " why will with would you your 的 了 着 过 吗 呢 吧 啊 和 与 及 在 是 有 我 你 他 她 它".split()
)


def index_tokens(text: str) -> list[str]:
    """Return the tokens of a stored text in order: folded words, and single Chinese characters.

    A Chinese word of any length is then a phrase of neighbouring tokens, so that no segmentation has to
    guess and words of one or two characters are found.

    Args:
        text: Any text.

    Returns:
        Tokens without case, width and accents; empty for a text without words.
    """
    return _TOKEN.findall(_folded(text))


def lexical_terms(text: str) -> list[str]:
    """Return the terms to search for a query text.

    Args:
        text: A question, a plan or a name, in English or Chinese, whatever marks it holds.

    Returns:
        Distinct terms in order: each English word but the most common ones; each run of Chinese characters
        of at most `LONGEST_CHINESE_TERM`, and every two neighbouring characters of a run.
    """
    terms: dict[str, None] = {}
    for run in _RUN.findall(_folded(text)):
        for term in _chinese_terms(run) if is_cjk(run[0]) else [run]:
            if term not in _STOP_WORDS:
                terms[term] = None
    return list(terms)


def term_tokens(term: str) -> list[str]:
    """Return the tokens whose direct succession a term stands for."""
    return list(term) if term and is_cjk(term[0]) else [term]


def _folded(text: str) -> str:
    folded = unicodedata.normalize("NFKC", text).casefold()
    if not folded.isascii():
        decomposed = unicodedata.normalize("NFD", folded)
        folded = "".join(mark for mark in decomposed if unicodedata.category(mark) != "Mn")
    return _POSSESSIVE.sub("", folded)


def _chinese_terms(run: str) -> list[str]:
    pairs = [run[start : start + 2] for start in range(len(run) - 1)]
    return [run, *pairs] if len(run) <= LONGEST_CHINESE_TERM else pairs
