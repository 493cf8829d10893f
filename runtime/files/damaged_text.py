"""Lines of a story that look damaged: characters that were lost, or were read in an encoding that was not theirs."""

import re
from collections.abc import Iterable
from itertools import chain, repeat

from runtime.files.chapter_headings import Remark

_LOST = "[\N{REPLACEMENT CHARACTER}\ue000-\uf8ff]|锟斤|烫烫烫|屯屯屯"
"""What programs put for bytes that they cannot read, and what that looks like read once more as GBK."""

_FOREIGN = re.compile(r"[^\x00-\x7f]{2,}")
_READ_AS = ("cp1252", "gb18030")
_TOLD = re.compile(r"[\x80-\xff\u2000-\ufffc\U00010000-\U0010ffff]")
"""What such bytes tell: letters with marks, signs, Chinese. A capital before a quotation mark (`CAFÉ”`) is none."""
_MOST_UNREADABLE_SHARE = 0.2
_SHOWN_BEFORE, _SHOWN = 20, 60
_QUESTION = re.compile(r"(?<=[\u3400-\u9fff])\?")
_FULL_WIDTH_PER_PLAIN = 20
"""A text that asks with so many `？` for a `?` lost a character where a `?` stands."""


def damaged_lines(chapters: Iterable[tuple[int, str]]) -> list[Remark]:
    """Return the lines of chapters, given by number and text, that look damaged, each from shortly before where."""
    listed = list(chapters)
    plain = sum(len(_QUESTION.findall(text)) for _, text in listed)
    is_lost = 0 < plain * _FULL_WIDTH_PER_PLAIN <= sum(text.count("？") for _, text in listed)
    lost = re.compile(f"{_LOST}|{_QUESTION.pattern}" if is_lost else _LOST)
    return [
        Remark(chapter_number=number, line=index, text=line[max(0, place - _SHOWN_BEFORE) :][:_SHOWN].strip())
        for number, text in listed
        for index, line in enumerate(text.split("\n"), start=1)
        for place in _places(line, lost)
    ]


def _places(line: str, lost: re.Pattern[str]) -> list[int]:
    """Return where a line looks damaged first: a list of one, or empty."""
    wrong = (run for run in _FOREIGN.finditer(line) if any(map(_is_wrongly_read, repeat(run[0]), _READ_AS)))
    return sorted(found.start() for found in chain(wrong, lost.finditer(line)))[:1]


def _is_wrongly_read(run: str, encoding: str) -> bool:
    """Tell whether the bytes of foreign characters are UTF-8: those of a text in another encoding hardly ever are."""
    read = run.encode(encoding, "ignore").decode("utf-8", "replace")
    untold = len(_TOLD.sub("", read))
    return untold < len(read) and untold <= len(read) * _MOST_UNREADABLE_SHARE
