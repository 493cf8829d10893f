"""Matching of names in a text and of quotes in a scene."""

from __future__ import annotations

import math
import re
import unicodedata
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import islice, pairwise
from typing import NamedTuple

from novelgen.language.language import CJK_RANGES, count_cjk, has_cjk, is_cjk
from novelgen.language.normalise import ARTICLES, same_characters, visible_places, without_invisible
from novelgen.language.sentences import Span

_LETTER = rf"[^\W_{CJK_RANGES}]"
_WORD = re.compile(f"{_LETTER}+")
_GAP_NOISE = re.compile(r"[.\s]+")
_JOINERS = "'-"
_SHORTEST_NAME_IN_CAPITALS = 3


class Word(NamedTuple):
    """A word of a text, at the characters [start, end)."""

    text: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class LatinName:
    """A name as its words, their variants and the gaps between them."""

    name: str
    length: int
    forms: frozenset[tuple[str, ...]]
    gaps: tuple[str, ...]
    in_any_case: bool

    @classmethod
    def parse(cls, name: str, spelled: str, words: Sequence[Word]) -> LatinName:
        """Take a name apart: how far the case of its letters counts, its words decide."""
        own = tuple(word.text for word in words)
        has_capital = any(text[0].isupper() for text in own)
        in_any_case = has_capital and sum(text.casefold() not in ARTICLES for text in own) > 1
        if in_any_case:
            forms = {tuple(map(str.casefold, own))}
        elif has_capital and len(own) == 1:
            forms = {own} | ({(own[0].upper(),)} if len(name) >= _SHORTEST_NAME_IN_CAPITALS else set())
        else:
            first, *rest = own
            forms = {(letter + first[1:], *rest) for letter in (first[0].lower(), first[0].upper())}
        return cls(name, len(own), frozenset(forms), _gaps(spelled, words), in_any_case)

    def matches(self, text: str, words: Sequence[Word]) -> bool:
        """Tell whether these words of a text are the name, and no part of a longer compound."""
        written_words = tuple(word.text.casefold() if self.in_any_case else word.text for word in words)
        if written_words not in self.forms:
            return False
        return _gaps(text, words) == self.gaps and not _is_in_compound(text, words[0].start, words[-1].end)


def words_of(text: str) -> list[Word]:
    """Return the words in spaced scripts in order, without Chinese characters."""
    return [Word(match.group(), match.start(), match.end()) for match in _WORD.finditer(text)]


def _gaps(text: str, words: Sequence[Word]) -> tuple[str, ...]:
    between = (text[word.end : right.start] for word, right in pairwise(words))
    return tuple(_GAP_NOISE.sub(" ", gap).strip() for gap in between)


def _is_in_compound(text: str, start: int, end: int) -> bool:
    """An apostrophe or hyphen binds the name to a letter before it or a capital after it."""
    joined_before = start > 1 and text[start - 1] in _JOINERS and text[start - 2].isalnum()
    return joined_before or (text[end : end + 1] in _JOINERS and text[end + 1 : end + 2].isupper())


@dataclass(frozen=True, slots=True)
class NameMatch:
    """A name found in a text, at the characters [start, end)."""

    name: str
    start: int
    end: int


class NameFinder:
    """Finds every occurrence of known names in texts.

    A Latin name matches whole words only: "Jones" is found in "Jones's" but not in "Joneses" or
    "Smith-Jones". A single capitalised word matches as written or in capitals; a name of two and more words
    that holds a capital matches in any case; a name without capitals matches as written or with a capital
    first letter. A Chinese name matches wherever it is neither part of a longer known name nor made of the ends of
    two words (林晚 in 树林晚上); one of a single character only where no Chinese character stands beside it, unless it
    is among `within_words`. Width, apostrophes, white space, full stops after abbreviations and traditional or
    simplified characters do not count.
    """

    def __init__(self, names: Iterable[str], *, within_words: Collection[str] = ()) -> None:
        self._last: tuple[str, Sequence[NameMatch]] = ("", ())
        self._within_words = within_words
        self._chinese: dict[str, list[tuple[str, str]]] = {}
        self._latin: dict[str, dict[str, list[LatinName]]] = {}
        self._most_words = 0
        for name in sorted(set(names)):
            self._add(name)
        first_characters = "".join(map(re.escape, self._chinese))
        self._chinese_start = re.compile(f"[{first_characters}]") if first_characters else None
        first_letters = "".join({letter for first in self._latin for letter in (first[0], first[0].upper())})
        self._latin_start = (
            re.compile(rf"(?<!{_LETTER})[{re.escape(first_letters)}]{_LETTER}*") if first_letters else None
        )

    def find(self, text: str) -> list[NameMatch]:
        """Find the names in a text, caching the last one."""
        last, name_matches = self._last
        if last != text:
            spelled = same_characters(without_invisible(text))
            matches = self._find_chinese(spelled) + self._find_latin(spelled)
            taken_numbers: set[int] = set()
            kept_name_matches = []
            for match in sorted(
                matches, key=lambda name_match: (name_match.start - name_match.end, name_match.start, name_match.name)
            ):
                span = range(match.start, match.end)
                if taken_numbers.isdisjoint(span):
                    taken_numbers.update(span)
                    kept_name_matches.append(match)
            name_matches = sorted(kept_name_matches, key=lambda other_name_match: other_name_match.start)
            if len(spelled) != len(text):
                # A text that was stored before invisible characters were taken out of what comes in.
                places = visible_places(text)[1]
                name_matches = [
                    NameMatch(name_match.name, places[name_match.start], places[name_match.end - 1] + 1)
                    for name_match in name_matches
                ]
            self._last = (text, name_matches)
        return list(name_matches)

    def _add(self, name: str) -> None:
        spelled = " ".join(same_characters(without_invisible(name)).split())
        if spelled and is_cjk(spelled[0]):
            self._chinese.setdefault(spelled[0], []).append((spelled, name))
        elif words := words_of(spelled):
            first, second = ([word.text.casefold() for word in words] + [""])[:2]
            latin = LatinName.parse(name, spelled, words)
            self._latin.setdefault(first, {}).setdefault(second, []).append(latin)
            self._most_words = max(self._most_words, len(words))

    def _find_chinese(self, text: str) -> list[NameMatch]:
        if self._chinese_start is None:
            return []
        return [
            NameMatch(name, hit.start(), hit.start() + len(form))
            for hit in self._chinese_start.finditer(text)
            for form, name in self._chinese[hit.group()]
            if text.startswith(form, hit.start()) and self._is_name_here(text, hit.start(), form, name)
        ]

    def _is_name_here(self, text: str, start: int, form: str, name: str) -> bool:
        if len(form) == 1:
            return name in self._within_words or _stands_alone(text, start, start + 1)
        end = start + len(form)
        return not _is_of_two_words(text, start, end) and not (
            _DIRECTION.fullmatch(form) and _is_direction_here(text, start, end)
        )

    def _find_latin(self, text: str) -> list[NameMatch]:
        if self._latin_start is None:
            return []
        name_matches = []
        # Few words of a text begin a name, so only what follows those is taken apart.
        for hit in self._latin_start.finditer(text):
            beginning = self._latin.get(hit.group().casefold())
            if beginning is None:
                continue
            following = islice(_WORD.finditer(text, hit.start()), self._most_words)
            words = [Word(match.group(), match.start(), match.end()) for match in following]
            seconds = ["", *(word.text.casefold() for word in words[1:2])]
            for latin in (latin_name for second in seconds for latin_name in beginning.get(second, ())):
                part = words[: latin.length]
                if latin.matches(text, part):
                    name_matches.append(NameMatch(latin.name, part[0].start, part[-1].end))
        return name_matches


@lru_cache(maxsize=4)
def name_finder(names: frozenset[str], *, within_words: frozenset[str] = frozenset()) -> NameFinder:
    """Return a cached finder for a set of names."""
    return NameFinder(names, within_words=within_words)


_DIRECTION = re.compile("[向往朝面][东西南北前后左右]")
"""A name that may say whither: 向北."""

_BEFORE_A_NAME = frozenset("对与跟和同给让叫被把问是名姓找见替为请等像")
_MOVES = re.compile("(?:[走行飞驶漂流转挪移爬游骑延而去]|[跑看望开]去)(?!过?来|进|出)")


def _is_direction_here(text: str, start: int, end: int) -> bool:
    """Tell whether a name that may say whither does: 窗子向北, 向北走去; not 老向大名向北, 向北说."""
    before = text[max(0, start - 1) : start]
    if before and is_cjk(before):
        return before not in _BEFORE_A_NAME
    return _MOVES.match(text, end) is not None


def _stands_alone(text: str, start: int, end: int) -> bool:
    beside = text[max(0, start - 1) : start] + text[end : end + 1]
    return not any(is_cjk(character) for character in beside)


_WORDS_AROUND = 6
"""So many characters on either side of a name are cut into words."""

_COMMON_WORDS = 1_000_000
"""Two words are a likelier reading than the name between them when the product of their frequencies is greater."""


def _is_of_two_words(text: str, start: int, end: int) -> bool:
    """Tell whether what looks like a name is the end of one common word and the beginning of another."""
    if not (start > 0 and end < len(text) and is_cjk(text[start - 1]) and is_cjk(text[end])):
        return False
    import rjieba  # noqa: PLC0415

    at = max(0, start - _WORDS_AROUND)
    words: list[str] = []
    for word in rjieba.cut(text[at : end + _WORDS_AROUND], False):
        if at < start < at + len(word) or at < end < at + len(word):
            words.append(word)
        elif at in (start, end):
            return False
        at += len(word)
    # A word that the dictionary lacks would be rarer than any.
    return len(words) == 2 and math.prod(map(rjieba.suggest_freq, words)) > _COMMON_WORDS


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
        """Return the new position of a character after replacements."""
        before = [match for match in self.hits(text) if match.end <= at]
        return at + sum(len(self._new(text, match)) - (match.end - match.start) for match in before)

    def others_in(self, text: str, names: Iterable[str]) -> list[str]:
        """Return each place of some of the other names, by the name."""
        wanted_names = set(names)
        return [match.name for match in self._finder.find(text) if match.name in wanted_names]

    def _new(self, text: str, match: NameMatch) -> str:
        result, new = text[match.start : match.end], self._names[match.name]
        return new.upper() if result.isupper() and not match.name.isupper() else new


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
        span = self._find_from(bare, start)
        return span if span is not None or start == 0 else self._find_from(bare, 0)

    @cached_property
    def _fold(self) -> _FoldedText:
        return _fold(self._text)

    def _find_from(self, quote: str, start: int) -> Span | None:
        exact = self._text.find(quote, start)
        if exact >= 0:
            return Span(exact, exact + len(quote))
        pieces = [folded_text for piece in _ELLIPSIS.split(quote) if (folded_text := _fold(piece).characters)]
        places = self._fold.places
        after = (index for index, place in enumerate(places) if place >= start)
        spans = self._find_pieces(pieces, next(after, len(places)) if start else 0)
        return Span(spans[0].start, spans[-1].end) if spans else None

    def _find_pieces(self, pieces: list[str], index: int) -> list[Span]:
        """Find the pieces in order, empty if one is missing or far away."""
        spans: list[Span] = []
        for piece in pieces:
            at = self._fold.characters.find(piece, index)
            if at < 0:
                return []
            span = Span(self._fold.places[at], self._fold.places[at + len(piece) - 1] + 1)
            if spans and span.start - spans[-1].end > LONGEST_OMISSION_CHARACTERS:
                return []
            spans.append(span)
            index = at + len(piece)
        return spans


def _fold(text: str) -> _FoldedText:
    characters: list[str] = []
    places: list[int] = []
    for place, character in enumerate(text):
        same = unicodedata.normalize("NFKC", without_invisible(character).translate(_SAME_MARKS)).casefold()
        for other_text in same.translate(_SAME_MARKS):
            if not other_text.isspace():
                characters.append(other_text)
                places.append(place)
    return _FoldedText("".join(characters), places)
