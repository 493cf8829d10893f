"""Lines that begin something in a book: chapters with or without numbers, and volumes."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple

from novelgen.language.numerals import CHINESE_NUMERAL
from runtime.files.chapter_text import ENDS_OF_SENTENCES, NUMBER_WORDS, chapter_number

HeadingKind = Literal["chapter", "named", "volume"]
"""`named` is a chapter without a number, such as a prologue."""

_ROMAN = r"(?:[IVXLC]+|[ivxlc]+)"
_WORD = f"(?i:{'|'.join(NUMBER_WORDS)})"
_MARK = r"^\s{0,3}(?:#{1,6}\s*)?[【\[]?"
_END = r"[】\]]?\s*$"
_SECTION = r"(?:\s*[（(]?[上中下][）)]?|\s*[（(][一二三四五六七八九十\d]+[）)])?"
"""第十二章上, 第十二章（二）: a chapter that its author posted in pieces."""
_TITLE = r"(?:$|[】\]\s:：、.．·—-].{0,60}?)"
_CHINESE_CHAPTER = re.compile(rf"{_MARK}(?P<title>第\s*{CHINESE_NUMERAL}\s*[章回]{_SECTION}{_TITLE}){_END}")
# Many sites print 第一章陨落 without a gap; a sentence that begins so ends in a stop.
_CLOSE_CHAPTER = re.compile(rf"{_MARK}(?P<title>第\s*{CHINESE_NUMERAL}\s*章[^\s，。；,;：:“”「」]{{1,20}}){_END}")
_LESSER_CHAPTER = re.compile(rf"{_MARK}(?P<title>第\s*{CHINESE_NUMERAL}\s*[节節话話集]{_TITLE}){_END}")
# A title may follow the number, a sentence not: "Chapter 2 The Storm", but not "Chapter two was over".
_ENGLISH_NUMBER = rf"\s+(?:\d+|{_ROMAN}|{_WORD})(?:\s*$|\s*[.:—–-].{{0,80}}|\s+[A-Z\d\"'“‘].{{0,80}})\s*$"
_ENGLISH_CHAPTER = re.compile(rf"{_MARK}(?P<title>(?i:chapter){_ENGLISH_NUMBER})")
_ENGLISH_VOLUME = re.compile(rf"{_MARK}(?P<title>(?i:volume|vol\.|book|part){_ENGLISH_NUMBER})")
_NAMED_CHAPTER = re.compile(
    rf"{_MARK}(?P<title>(?i:prologue|epilogue|interlude|foreword|preface|afterword)(?:\s*$|\s+{_ROMAN}\s*$|\s+\d+\s*$|\s*[.:—–-].{{0,60}})"
    rf"|(?:楔子|序章|序幕|序言|引子|引言|终章|終章|尾声|尾聲|后记|後記|后序|完本感言|番外|外传|外傳)(?:篇)?(?:{CHINESE_NUMERAL})?{_TITLE}"
    rf"|(?:序|终|終){_END}){_END}"
)
_CHINESE_VOLUME_NAME = rf"(?:第\s*{CHINESE_NUMERAL}\s*[卷部]|卷\s*{CHINESE_NUMERAL})"
_CHINESE_VOLUME = re.compile(rf"{_MARK}(?P<title>{_CHINESE_VOLUME_NAME}{_TITLE}){_END}")
_VOLUME_AND_CHAPTER = re.compile(
    rf"{_MARK}(?P<volume>{_CHINESE_VOLUME_NAME}[^第]{{0,30}}?)\s*(?P<title>第\s*{CHINESE_NUMERAL}\s*[章回]{_SECTION}{_TITLE}){_END}"
)
_MARKDOWN_HEADING = re.compile(r"^ {0,3}(?P<level>#{1,2})\s+(?P<title>.+?)\s*#*\s*$")
_BARE_NUMERAL = re.compile(rf"^\s*(?P<title>{_ROMAN}|\d{{1,3}})[.．、]?\s*$", re.IGNORECASE)


class Heading(NamedTuple):
    """A line that begins something."""

    line: int
    title: str
    kind: HeadingKind = "chapter"


def find_headings(lines: Sequence[str]) -> list[Heading]:
    """Return the headings of a book in the order of their lines.

    Chapters are `第三回 …`, `第12章`, `Chapter IV. …`, `Prologue`, `楔子`, `番外`; where none of these has a
    number, `第3节`, `第3话`. Volumes are `第一卷 …`, `卷二`, `Volume II`, `Book One`, `Part 3`; where there are
    only volumes, they are the chapters. Without any of these the Markdown headings of the highest level that
    occurs more than once are the chapters, else lines with nothing but numerals that count up from 1.
    """
    volumes = [*_matching(lines, _CHINESE_VOLUME, "volume"), *_matching(lines, _ENGLISH_VOLUME, "volume")]
    numbered = numbered_headings(lines)
    named = _matching(lines, _NAMED_CHAPTER, "named")
    if numbered or (named and not volumes):
        taken = {heading.line for heading in (*numbered, *named)}
        apart = [each for each in volumes if each.line not in taken]
        together = _volumes_beside_chapters(lines)
        return sorted([*numbered, *named, *apart, *together], key=lambda each: (each.line, each.kind != "volume"))
    if volumes:
        return sorted([*named, *(each._replace(kind="chapter") for each in volumes)])
    for level in ("#", "##"):
        marked = [
            Heading(index, match["title"])
            for index, line in enumerate(lines)
            if (match := _MARKDOWN_HEADING.match(line)) and match["level"] == level
        ]
        if len(marked) > 1:
            return marked
    bare = list(_counting_up(_matching(lines, _BARE_NUMERAL, "chapter")))
    return bare if len(bare) > 1 else []


def numbered_headings(lines: Sequence[str]) -> list[Heading]:
    """Return the headings of chapters that have numbers, in the order of their lines."""
    found = {
        heading.line: heading
        for pattern in (_CLOSE_CHAPTER, _CHINESE_CHAPTER, _ENGLISH_CHAPTER, _VOLUME_AND_CHAPTER)
        for heading in _matching(lines, pattern, "chapter")
    }
    return [found[line] for line in sorted(found)] or _matching(lines, _LESSER_CHAPTER, "chapter")


def heading_of(line: str) -> Heading | None:
    """Return the heading that a single line is, such as the name of a file, or None."""
    found = [each for each in find_headings([line]) if each.kind != "volume"]
    return found[0] if found else None


def _volumes_beside_chapters(lines: Sequence[str]) -> list[Heading]:
    """Find the volume in lines such as 第一卷 风起 第三章 雪夜, where it changes."""
    found: list[Heading] = []
    for index, line in enumerate(lines):
        match = _matched(line, _VOLUME_AND_CHAPTER)
        if match is not None and (not found or found[-1].title != match["volume"].strip()):
            found.append(Heading(index, match["volume"].strip(), "volume"))
    return found


def _matching(lines: Sequence[str], pattern: re.Pattern[str], kind: HeadingKind) -> list[Heading]:
    return [
        Heading(index, match["title"].strip(), kind)
        for index, line in enumerate(lines)
        if (match := _matched(line, pattern))
    ]


def _matched(line: str, pattern: re.Pattern[str]) -> re.Match[str] | None:
    return None if line.rstrip().endswith(ENDS_OF_SENTENCES) else pattern.match(line)


def _counting_up(headings: Sequence[Heading]) -> Iterator[Heading]:
    wanted = 1
    for heading in headings:
        if chapter_number(heading.title) == wanted:
            yield heading
            wanted += 1
