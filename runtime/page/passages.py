"""Text with marked passages: where passages overlap, each piece knows all that it belongs to."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import pairwise
from typing import Literal

from novelgen.language.sentences import split_sentences


@dataclass(frozen=True, slots=True)
class Piece:
    """A stretch of text within one paragraph."""

    text: str
    numbers: tuple[int, ...] = ()
    begins: tuple[int, ...] = ()
    ends: tuple[int, ...] = ()


def marked_paragraphs(text: str, passages: Mapping[int, tuple[int, int]]) -> list[list[Piece]]:
    """Return the lines of a text that are not empty, cut where marked passages begin and end."""
    within = {
        number: (max(0, start), min(len(text), end))
        for number, (start, end) in passages.items()
        if max(0, start) < min(len(text), end)
    }
    borders = sorted({border for span in within.values() for border in span})
    paragraphs: list[list[_Stretch]] = []
    first: dict[int, int] = {}
    last: dict[int, int] = {}
    for start, end in _lines(text):
        cuts = [start, *(border for border in borders if start < border < end), end]
        stretches = [_stretch(begin, stop, within) for begin, stop in pairwise(cuts)]
        for stretch in stretches:
            for number in stretch.numbers:
                first.setdefault(number, stretch.start)
                last[number] = stretch.start
        paragraphs.append(stretches)
    return [[each.piece(text, first, last) for each in stretches] for stretches in paragraphs]


@dataclass(frozen=True, slots=True)
class ChangedPassage:
    """A stretch of two versions of a text."""

    change: Literal["same", "out", "in"]
    text: str


def changed_passages(was: str, now: str) -> list[ChangedPassage]:
    """Return two versions of a text as one: what stands in both, and sentence by sentence what went and came."""
    old, new = _sentences(was), _sentences(now)
    passages: list[ChangedPassage] = []
    for tag, old_start, old_end, new_start, new_end in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if tag == "equal":
            passages.append(ChangedPassage("same", "".join(old[old_start:old_end])))
            continue
        if old_start < old_end:
            passages.append(ChangedPassage("out", "".join(old[old_start:old_end])))
        if new_start < new_end:
            passages.append(ChangedPassage("in", "".join(new[new_start:new_end])))
    return passages


def _sentences(text: str) -> list[str]:
    """Return the sentences of a text, each with what stands between it and the next one."""
    starts = [start for start, _ in split_sentences(text)]
    borders = sorted({0, *starts, len(text)})
    return [text[start:end] for start, end in pairwise(borders)]


@dataclass(frozen=True, slots=True)
class _Stretch:
    start: int
    end: int
    numbers: tuple[int, ...]

    def piece(self, text: str, first: Mapping[int, int], last: Mapping[int, int]) -> Piece:
        """Return it with its text; a passage over several paragraphs begins in one and ends in another."""
        return Piece(
            text=text[self.start : self.end],
            numbers=self.numbers,
            begins=tuple(number for number in self.numbers if first[number] == self.start),
            ends=tuple(number for number in self.numbers if last[number] == self.start),
        )


def _stretch(start: int, end: int, passages: Mapping[int, tuple[int, int]]) -> _Stretch:
    held = (number for number, (begin, stop) in passages.items() if begin < end and start < stop)
    return _Stretch(start, end, tuple(held))


def _lines(text: str) -> Iterable[tuple[int, int]]:
    start = 0
    for line in text.splitlines(keepends=True):
        bare = line.rstrip("\r\n\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029")
        if bare.strip():
            yield start, start + len(bare)
        start += len(line)
