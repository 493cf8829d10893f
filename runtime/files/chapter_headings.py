"""Lines that begin something in a book: chapters with or without numbers, and volumes."""

import re
from bisect import bisect
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise, takewhile
from statistics import median
from typing import Literal, NamedTuple

from pydantic import BaseModel, Field

from novelgen.language.language import CJK_RANGES
from novelgen.language.normalise import without_invisible
from novelgen.language.numerals import HEADING_NUMERAL, chinese_number
from runtime.files.chapter_text import (
    AFTER_WORD,
    CHAPTER_WORDS,
    ENDS_OF_SENTENCES,
    LONGEST_HEADING,
    NUMBER_WORDS,
    TO,
    bare_heading,
    chapter_number,
    chapter_numbers,
)

HeadingKind = Literal["chapter", "named", "volume"]
"""`named` is a chapter without a number, such as a prologue."""

_ROMAN = r"(?:[IVXLC]+|[ivxlc]+)"
_WORD = f"(?i:{'|'.join(sorted((re.sub('-', '[ -]', word) for word in NUMBER_WORDS), key=len, reverse=True))})"
_COUNT = rf"(?:\d{{1,5}}[.．]\d{{1,2}}|{HEADING_NUMERAL}(?:{TO}{HEADING_NUMERAL})?)"
"""The number of a chapter, those of several, or that of one between two: 第三章, 第1-2章, 第1.5章."""
_SECTION = r"(?:\s*[：:]?\s*(?:[（(][^（()）\n]{1,10}[）)]|[上中下]))?"
"""第十二章上, 第十二章（二）: a chapter that its author posted in pieces; 第三章（补更）: a word to readers."""
_TITLE = r"(?:$|[\s:：、.．·—-](?!\s*(?:完|结束|結束)\s*$).{0,60}?)"
_CHINESE_CHAPTER = re.compile(rf"^(?P<title>第\s*{_COUNT}\s*[章回]{_SECTION}{_TITLE})\s*$")
# Many sites print 第一章陨落 without a gap; a sentence that begins so ends in a stop.
_CLOSE_CHAPTER = re.compile(rf"^(?P<title>第\s*{_COUNT}\s*章(?!完$)[^\s，。；,;:：“”「」]{{1,20}})\s*$")
_LESSER_CHAPTER = re.compile(rf"^(?P<title>第\s*{_COUNT}\s*[节節话話集]{_TITLE})\s*$")
# A title may follow the number, a sentence not: "Chapter 2 The Storm", but not "Chapter two was over".
_ENGLISH_NUMBER = (
    rf"(?:(?i:the)\s+)?(?:\d+|{_ROMAN}|{_WORD})"
    rf"(?:\s*$|\s*[.:—–-].{{0,300}}|\s+[A-Z\d\"'“‘].{{0,80}}|\s+[^a-z]{{0,300}})\s*$"
)
_ENGLISH_CHAPTER = re.compile(rf"^(?P<title>(?i:{CHAPTER_WORDS}){AFTER_WORD}{_ENGLISH_NUMBER})")
_LONG_HEADING = re.compile(rf"^(?i:{CHAPTER_WORDS}){AFTER_WORD}(?:\d+|{_ROMAN})[.:—–-].{{40,}}")
"""A title so long that it may go on in the next lines, and may break after a comma."""
MOST_TITLE_LINES = 5
_ENGLISH_VOLUME = re.compile(rf"^(?P<title>(?i:volume|vol\.|book|part|act)\s+{_ENGLISH_NUMBER})")
_NAMED_CHAPTER = re.compile(
    rf"^(?P<title>(?i:prologue|epilogue|interlude|foreword|preface|afterword)(?:\s*$|\s+{_ROMAN}\s*$|\s+\d+\s*$|\s*[.:—–-].{{0,60}})"
    rf"|(?:楔子|序章|序幕|序言|序篇|引子|引言|前言|自序|终章|終章|最终章|最終章|大结局|大結局|尾声|尾聲|后记|後記|后序|间章|間章|幕间|幕間|完本感言"
    rf"|番外|外传|外傳)(?:篇)?(?:{HEADING_NUMERAL})?{_TITLE}"
    rf"|(?:序|终|終)\s*$)\s*$"
)
_CHINESE_VOLUME_NAME = rf"(?:第\s*{HEADING_NUMERAL}\s*[卷部]|卷\s*{HEADING_NUMERAL})"
_CHINESE_VOLUME = re.compile(rf"^(?P<title>{_CHINESE_VOLUME_NAME}{_TITLE})\s*$")
_VOLUME_AND_CHAPTER = re.compile(
    rf"^(?P<volume>{_CHINESE_VOLUME_NAME}[^第]{{0,30}}?)\s*(?P<title>第\s*{_COUNT}\s*[章回]{_SECTION}{_TITLE})\s*$"
)
_MARKDOWN_HEADING = re.compile(r"^ {0,3}(?P<level>#{1,6})\s+(?P<title>.+?)\s*#*\s*$")

_NOT_A_SENTENCE = r"[^。，；,;…]"
_IN_SEQUENCE = (
    # 第一章师父，您怎么了; a title of more characters than a heading has elsewhere.
    re.compile(rf"^(?P<title>第\s*{_COUNT}\s*章.{{0,120}}{_NOT_A_SENTENCE})$"),
    # 001章 雪夜, 12章雪夜, 三十章.
    re.compile(rf"^(?P<title>\d{{1,5}}\s*[章回节節话話]{_SECTION}(?:{_TITLE}|[^\s，。；,;:：“”「」]{{1,20}}))$"),
    re.compile(rf"^(?P<title>{HEADING_NUMERAL}\s*章{_SECTION}{_TITLE}|章\s*节?\s*{HEADING_NUMERAL}{_TITLE})$"),
    # Chapter 2 the key.
    re.compile(rf"^(?P<title>(?i:{CHAPTER_WORDS}){AFTER_WORD}\d+\s+[a-z].{{0,60}}[\w)’'])$"),
)
"""What is a heading where its number follows that of the heading before it, and would often be a sentence elsewhere."""

_CHINESE_COUNT = r"[〇零一二两三四五六七八九十百]{1,5}"
_BARE_NUMERAL = re.compile(
    rf"^\s*(?:(?P<title>{_ROMAN}|\d{{1,3}})[.．、]?|(?P<chinese>[（(]?{_CHINESE_COUNT}[）)]?|[（(]\d{{1,3}}[）)]))\s*$",
    re.IGNORECASE,
)
_TITLED_NUMERAL = re.compile(
    rf"^\s*(?:(?P<title>(?:{_ROMAN}|\d{{1,3}})(?:[.．、:—–-]+\s*|\s{{2,}})[A-Z\"'“‘{CJK_RANGES}].{{0,70}}?)"
    rf"|(?P<chinese>(?:{_CHINESE_COUNT}[、.．]|[（(](?:{_CHINESE_COUNT}|\d{{1,3}})[）)]|\d{{1,3}}\s+(?=[{CJK_RANGES}]))\s*[^\s，。；][^，。；]{{0,40}}?))\s*$"
)
_COUNTED_UNIT = re.compile(
    rf"^\s*(?P<title>(?i:day|night|week|letter|entry|section|log)\s+(?:\d{{1,3}}|{_ROMAN}|{_WORD})(?:\s*$|\s*[.:—–-].{{0,80}}))\s*$"
)


_MAY_BEGIN = re.compile(
    rf"^(?:[第卷章序楔引前自终終最大尾后後间間幕完番外]|{HEADING_NUMERAL}"
    r"|(?i:ch|stave|canto|ep|vol|book|part|act|prologue|interlude|foreword|preface|afterword))"
)
"""What every pattern of a heading with a word begins with, so that few lines are held against them all."""


class _BareLines(NamedTuple):
    """The lines of a book as headings are told by, and which of them may be one."""

    texts: list[str]
    likely: list[int]

    @classmethod
    def of(cls, lines: Sequence[str]) -> "_BareLines":
        texts = [bare_heading(line) for line in lines]
        return cls(texts, [index for index, text in enumerate(texts) if _MAY_BEGIN.match(text)])


class Heading(NamedTuple):
    """A line that begins something."""

    line: int
    title: str
    kind: HeadingKind = "chapter"
    end: int | None = None
    """The line after it, where its title takes more than one line."""
    number: int | None = None
    """Its own number; None where it has none, as 番外 and 第1.5章."""
    last_number: int | None = None
    """The last of its numbers: 2 of 第1-2章."""

    @property
    def text_from(self) -> int:
        """Its first line of text."""
        return self.end or self.line + 1


class UnreadHeading(BaseModel):
    """A line that looks like a heading and was not read as one."""

    line: int = Field(description="Of the file, from 1.")
    text: str


def find_headings(
    lines: Sequence[str], *, forms: Sequence[str] = (), known_headings: Sequence[Heading] = ()
) -> list[Heading]:
    """Return the headings of a book in the order of their lines.

    Chapters are `第三回 …`, `第12章`, `Chapter IV. …`, `Ch. 4`, `Episode 4`, `Chapter the First`, `Prologue`, `楔子`,
    `番外`; where none of these has a number, `第3节`, `第3话`. Marks, emphasis and 正文 around them do not count.
    `001章`, `章一`, `Chapter 4 the key` and a 第三章 with a sentence for its title are headings where their numbers
    follow. Volumes are `第一卷 …`, `卷二`, `Volume II`, `Book One`, `Part 3`, `Act I`. Where no chapter says so, the
    Markdown headings of the highest level that occurs more than once are the chapters, else lines with nothing but
    numerals that count up from 1, or with numerals and titles that do, or `Day 1`; else the volumes are. A table of
    contents is none of it.

    Args:
        lines: Those of the book.
        forms: Headings of the book as an example each, for those that are not found so; see `heading_form`.
        known_headings: Headings that the book gives by itself, such as those of an EPUB's table of contents.
    """
    return _without_contents(lines, _all_headings(lines, forms, known_headings))


def _all_headings(
    lines: Sequence[str], forms: Sequence[str] = (), known_headings: Sequence[Heading] = ()
) -> list[Heading]:
    bare = _BareLines.of(lines)
    shaped = [*_of_forms(lines, forms), *(heading for heading in known_headings if heading.kind != "volume")]
    lines = [without_invisible(line) for line in lines]
    volumes = [*_matching(bare, _CHINESE_VOLUME, "volume"), *_matching(bare, _ENGLISH_VOLUME, "volume")]
    own = {heading.line: heading for heading in known_headings if heading.kind == "volume"}
    volumes = [*own.values(), *(volume for volume in volumes if volume.line not in own)]
    numbered_headings = _numbered_headings(bare)
    named_headings = _matching(bare, _NAMED_CHAPTER, "named")
    if shaped or numbered_headings or (named_headings and not volumes):
        chapters = {heading.line: heading for heading in (*named_headings, *numbered_headings, *shaped)}
        apart = [volume for volume in volumes if volume.line in own or volume.line not in chapters]
        chapters = {line: heading for line, heading in chapters.items() if line not in own}
        together = _volumes_beside_chapters(bare)
        return sorted(
            [*chapters.values(), *apart, *together], key=lambda heading: (heading.line, heading.kind != "volume")
        )
    if not volumes:
        marked = [(index, match) for index, line in enumerate(lines) if (match := _MARKDOWN_HEADING.match(line))]
        for level, count in sorted(Counter(match["level"] for _, match in marked).items()):
            if count > 1:
                return [
                    Heading(index, match["title"], number=chapter_number(match["title"]))
                    for index, match in marked
                    if match["level"] == level
                ]
    for pattern, fewest in (
        (_BARE_NUMERAL, max(2, len(volumes))),
        (_TITLED_NUMERAL, max(3, len(volumes))),
        (_COUNTED_UNIT, max(2, len(volumes))),
    ):
        counted_headings = _counting_up(lines, _counted_headings(lines, pattern), volumes)
        if len(counted_headings) >= fewest:
            return sorted([*named_headings, *counted_headings, *volumes])
    return sorted(
        [*named_headings, *(volume._replace(kind="chapter", number=chapter_number(volume.title)) for volume in volumes)]
    )


def numbered_headings(lines: Sequence[str]) -> list[Heading]:
    """Return the headings of chapters that have numbers, in the order of their lines."""
    return _numbered_headings(_BareLines.of(lines))


def _numbered_headings(bare: _BareLines) -> list[Heading]:
    sure = {
        heading.line: heading
        for pattern in (_CLOSE_CHAPTER, _CHINESE_CHAPTER, _ENGLISH_CHAPTER, _VOLUME_AND_CHAPTER)
        for heading in _matching(bare, pattern, "chapter")
    }
    likely = {
        heading.line: heading
        for pattern in _IN_SEQUENCE
        for heading in _matching(bare, pattern, "chapter")
        if heading.line not in sure and heading.number is not None
    }
    headings = {**sure, **{heading.line: heading for heading in _in_sequence(sure, likely)}}
    if not sure and len(headings) == 1 and any(bare.texts[: next(iter(headings))]):
        headings = {}
    return [headings[line] for line in sorted(headings)] or _matching(bare, _LESSER_CHAPTER, "chapter")


def _in_sequence(sure: dict[int, Heading], likely: dict[int, Heading]) -> list[Heading]:
    """Return likely headings with numbers between their neighbours."""
    candidates = [heading for _, heading in sorted({**likely, **sure}.items())]
    next_sure: list[int | None] = [None] * len(candidates)
    following: int | None = None
    for index in range(len(candidates) - 1, -1, -1):
        next_sure[index] = following
        if candidates[index].line in sure and candidates[index].number is not None:
            following = candidates[index].number
    accepted: list[Heading] = []
    before: int | None = None
    for index, heading in enumerate(candidates):
        number, last = heading.number, heading.last_number
        if heading.line in sure:
            before = last if number is not None else before
            continue
        nearest = candidates[index + 1].number if index + 1 < len(candidates) else None
        goes_on = nearest is not None and last is not None and nearest == last + 1
        begins = (before is None and (number in (0, 1) or goes_on)) or (number == 1 and goes_on)
        after = next_sure[index]
        is_before = after is None or number is None or after > number or after in (0, 1)
        if (begins or (before is not None and number == before + 1)) and is_before:
            accepted.append(heading)
            before = last
    return accepted


def contents_lines(lines: Sequence[str], *, known_headings: Sequence[Heading] = ()) -> frozenset[int]:
    """Return which lines before the first chapter are headings or entries of a table of contents, by their index."""
    headings = _all_headings(lines, known_headings=[heading for heading in known_headings if heading.line < len(lines)])
    entries = {line for heading in headings for line in range(heading.line, heading.text_from)}
    if len(headings) < FEWEST_OF_A_SHAPE:
        return frozenset(entries)
    # What stands between two entries is told of the first one.
    return frozenset(range(min(entries), max(entries) + 1))


def unread_headings(
    lines: Sequence[str], *, forms: Sequence[str] = (), known_headings: Sequence[Heading] = ()
) -> list[UnreadHeading]:
    """Return the lines that look like headings, and are none of those that were found.

    In a book with chapters these are lines that begin with 第…章 or `Chapter 3`; in one without, whatever is short,
    stands alone and counts, and lines of one shape that come again.
    """
    headings = _all_headings(lines, forms, known_headings)
    read_numbers = {line for heading in headings for line in range(heading.line, heading.text_from)}
    is_cut = len({heading.title for heading in headings if heading.kind == "chapter"}) > 1
    bare = {
        index: text
        for index, line in enumerate(lines)
        if index not in read_numbers and 0 < len(text := bare_heading(line)) <= MAX_UNREAD_CHARACTERS
    }
    alike = [index for index, text in bare.items() if _LIKE_A_CHAPTER.match(text) and not _ENDS_SENTENCE.search(text)]
    if not is_cut and not alike:
        short = [index for index, text in bare.items() if not _ENDS_SENTENCE.search(text) and not _SPEECH.search(text)]
        shapes = {
            index: shape
            for index in short
            if (shape := _shape(without_invisible(lines[index]).strip(), is_alone=_is_alone(lines, index)))
        }
        alike = [index for index in shapes if _part_a_text(lines, [at for at in shapes if shapes[at] == shapes[index]])]
    return [UnreadHeading(line=index + 1, text=lines[index].strip()) for index in alike]


def _part_a_text(lines: Sequence[str], places: Sequence[int]) -> bool:
    """Tell whether lines come often enough, with enough between them, to be headings."""
    gaps = [sum(map(len, lines[start + 1 : end])) for start, end in pairwise([*places, len(lines)])]
    return len(places) >= FEWEST_OF_A_SHAPE and median(gaps) >= LEAST_BETWEEN_HEADINGS


def _is_alone(lines: Sequence[str], index: int) -> bool:
    around = (*lines[max(0, index - 1) : index], *lines[index + 1 : index + 2])
    return not any(line.strip() for line in around)


def _shape(line: str, *, is_alone: bool) -> str:
    """Return a line's form: prefix, marks and isolation."""
    counted_match = _HEADING_SHAPE.search(line)
    if counted_match is not None and counted_match.start() <= MOST_BEFORE_A_NUMBER:
        return f"{line[: counted_match.start()]}0"
    marks = re.match(r"^(?P<before>[^\w\s(（]+)\s*\w.*\w\s*(?P<after>[^\w\s]*)$", line)
    if marks is not None and is_alone:
        return f"{marks['before']} {marks['after']}"
    return "alone" if is_alone and re.match(r"[A-Z]", line) and len(line.split()) <= MOST_WORDS_ALONE else ""


MOST_BEFORE_A_NUMBER = 12
MOST_WORDS_ALONE = 8
MAX_UNREAD_CHARACTERS = 60
FEWEST_OF_A_SHAPE = 3
LEAST_BETWEEN_HEADINGS = 300
"""So many characters stand between most headings of one form."""
_LIKE_A_CHAPTER = re.compile(
    rf"^(?:第\s*{_COUNT}\s*[章回]|章\s*节?\s*{HEADING_NUMERAL}\b|{HEADING_NUMERAL}\s*章"
    rf"|(?i:{CHAPTER_WORDS}){AFTER_WORD}(?:\d+|{_ROMAN}\b|{_WORD}\b)(?!\s+(?i:was|is|of|and|in|had|has|were|to)\b))"
)
_HEADING_SHAPE = re.compile(rf"\d+|{HEADING_NUMERAL}|\b(?:[IVXLC]+|{_WORD})\b")
_ENDS_SENTENCE = re.compile(r"[。，；,;.!?…：:”\"」』]$")


def heading_form(example: str) -> re.Pattern[str]:
    """Return a parser of lines in the form of an example heading.

    Of `Log 17 – The Sea` or `夜·三更 雪` the number and what follows it may differ, of `== Snow ==` what stands between
    the marks. Any other example is itself alone.
    """
    text = " ".join(without_invisible(example).split())[:LONGEST_HEADING]
    number = (
        re.search(r"\d+", text) or re.search(HEADING_NUMERAL, text) or re.search(rf"\b(?:[IVXLC]+|{_WORD})\b", text)
    )
    if number is not None:
        kind = (
            r"\d+" if number[0].isdigit() else HEADING_NUMERAL if not number[0].isascii() else rf"(?:{_ROMAN}|{_WORD})"
        )
        unit = re.match(rf"[{CJK_RANGES}](?![{CJK_RANGES}])", text[number.end() :])
        before, after = (_spaced(part) for part in (text[: number.start()], unit[0] if unit else ""))
        return re.compile(rf"^(?P<title>{before}\s*(?P<number>{kind}){after}(?:$|\W.*|[{CJK_RANGES}].*))$")
    marks = re.match(r"^(?P<before>[^\w\s]+)\s*\w.*?(?P<after>[^\w\s]*)$", text)
    if marks is not None:
        before, after = re.escape(marks["before"]), re.escape(marks["after"])
        return re.compile(rf"^{before}\s*(?P<title>\w.{{0,{MAX_UNREAD_CHARACTERS}}}?)\s*{after}$")
    return re.compile(rf"^(?P<title>{_spaced(text)})$", re.IGNORECASE)


def _spaced(text: str) -> str:
    return r"\s*".join(map(re.escape, text.split(" "))) if text.strip() else ""


def _of_forms(lines: Sequence[str], forms: Sequence[str]) -> list[Heading]:
    headings: dict[int, Heading] = {}
    for form in forms:
        pattern = heading_form(form)
        for index, line in enumerate(lines):
            text = without_invisible(line).strip()
            match = pattern.match(text) if 0 < len(text) <= LONGEST_HEADING else None
            if match is not None:
                number = _form_number(match.groupdict().get("number"))
                headings[index] = Heading(index, match["title"], number=number, last_number=number)
    return [headings[index] for index in sorted(headings)]


def _form_number(text: str | None) -> int | None:
    if not text:
        return None
    return chapter_number(text) if text.isascii() else chinese_number(text)


def heading_of(line: str) -> Heading | None:
    """Return the heading that a single line is, such as the name of a file, or None."""
    headings = [heading for heading in find_headings([line]) if heading.kind != "volume"]
    return headings[0] if headings else None


def titled_heading(title: str) -> Heading:
    """Return a heading from a table of contents, with kind and number."""
    text = " ".join(title.split())
    bare = _BareLines.of([text])
    if _matching(bare, _CHINESE_VOLUME, "volume") or _matching(bare, _ENGLISH_VOLUME, "volume"):
        return Heading(0, text, "volume")
    if _matching(bare, _NAMED_CHAPTER, "named"):
        return Heading(0, text, "named")
    return Heading(0, text, "chapter", None, *(chapter_numbers(bare.texts[0]) or (None, None)))


def _volumes_beside_chapters(bare: _BareLines) -> list[Heading]:
    """Find the volume in lines such as 第一卷 风起 第三章 雪夜, where it changes."""
    volumes: list[Heading] = []
    for index in bare.likely:
        match = _matched(bare.texts[index], _VOLUME_AND_CHAPTER)
        if match is not None and (not volumes or volumes[-1].title != match["volume"].strip()):
            volumes.append(Heading(index, match["volume"].strip(), "volume"))
    return volumes


def _matching(bare: _BareLines, pattern: re.Pattern[str], kind: HeadingKind) -> list[Heading]:
    return [
        _whole_title(bare.texts, index, match["title"].strip(), kind)
        for index in bare.likely
        if (match := _matched(bare.texts[index], pattern))
    ]


def _matched(line: str, pattern: re.Pattern[str]) -> re.Match[str] | None:
    is_sentence = line.rstrip().endswith(ENDS_OF_SENTENCES) and not _LONG_HEADING.match(line)
    return None if is_sentence else pattern.match(line)


def _whole_title(lines: Sequence[str], index: int, title: str, kind: HeadingKind) -> Heading:
    """Extend a long title to the next empty line."""
    numbers = chapter_numbers(title) if kind == "chapter" else None
    first, last = numbers or (None, None)
    heading = Heading(index, title, kind, None, first, last)
    if not _LONG_HEADING.match(lines[index]) or (index and lines[index - 1].strip()):
        return heading
    further = list(takewhile(str.strip, lines[index + 1 : index + 1 + MOST_TITLE_LINES]))
    if not further or len(further) == MOST_TITLE_LINES:
        return heading
    whole = " ".join([title, *(line.strip() for line in further)])
    return heading._replace(title=whole, end=index + 1 + len(further))


def _counted_headings(lines: Sequence[str], pattern: re.Pattern[str]) -> list[Heading]:
    """Return the lines that a pattern of numerals matches, each with its number."""
    headings = []
    for index, line in enumerate(lines):
        match = _matched(line, pattern)
        if match is None:
            continue
        title = (match["title"] or match.groupdict().get("chinese") or "").strip()
        counted_match = _LISTED_NUMBER.match(title)
        number = _form_number(counted_match["number"]) if counted_match else None
        headings.append(Heading(index, title, number=number, last_number=number))
    return headings


_LISTED_NUMBER = re.compile(
    rf"^(?:(?i:day|night|week|letter|entry|section|log)\s+)?[（(]?"
    rf"(?P<number>\d+|{HEADING_NUMERAL}|[A-Za-z]+(?:[ -][a-z]+)?)"
)


def _counting_up(lines: Sequence[str], candidates: Sequence[Heading], volumes: Sequence[Heading]) -> list[Heading]:
    """Return headings that count up from 1, without those of a table of contents."""
    counted_headings: list[Heading] = []
    numbers = [heading.number or 0 for heading in candidates]
    breaks = [volume.line for volume in volumes]
    next_number = 1
    for index, (heading, number) in enumerate(zip(candidates, numbers, strict=True)):
        begins_anew = (
            number == 1
            and counted_headings
            and bisect(breaks, counted_headings[-1].line) < bisect(breaks, heading.line)
        )
        if number != next_number and not begins_anew:
            continue
        after = (candidates[at].line for at in range(index + 1, len(candidates)) if numbers[at] in (1, number + 1))
        volume = bisect(breaks, heading.line)
        end = min(next(after, len(lines)), breaks[volume] if volume < len(breaks) else len(lines))
        if any(line.strip() for line in lines[heading.text_from : end]):
            counted_headings.append(heading)
            next_number = number + 1
    return counted_headings


SHORT_ENTRY = 400
"""So many characters are told of a chapter in a table of contents at most, on average."""


def _without_contents(lines: Sequence[str], headings: Sequence[Heading]) -> list[Heading]:
    """Take the entries of a table of contents out: chapters with hardly a text, of which longer ones follow.

    What follows its last entry, a title page or a preface, begins no chapter either.
    """
    if not headings:
        return []
    ends = [heading.line for heading in headings[1:]] + [len(lines)]
    sizes = [
        sum(len(line.strip()) for line in lines[heading.text_from : end])
        for heading, end in zip(headings, ends, strict=True)
    ]
    numbered_numbers = [index for index, heading in enumerate(headings) if heading.kind == "chapter"]
    numbers = [(index, number) for index in numbered_numbers if (number := headings[index].number) is not None]
    starts = numbered_numbers[:1] + [index for (_, before), (index, number) in pairwise(numbers) if number <= before]
    begin = 0
    for start, following in pairwise(starts):
        entries = [sizes[index] for index in numbered_numbers if start <= index < following][:-1]
        rest = [sizes[index] for index in numbered_numbers if index >= following]
        is_contents = bool(entries) and median(entries) <= min(SHORT_ENTRY, median(rest) / 4)
        if not is_contents:
            break
        begin = following
    kept_headings = list(headings[begin:])
    # What stands between the contents and the first chapter and is not told of again is a preface or a volume's name.
    later = {heading.title.casefold() for heading in kept_headings}
    last = max((index for index in numbered_numbers if index < begin), default=-1)
    apart = [heading for heading in headings[last + 1 : begin] if heading.title.casefold() not in later]
    return [*apart, *kept_headings]


MAX_REMARK_CHARACTERS = 150
"""A line longer than this is a paragraph of the story."""
MAX_CLOSING_CHARACTERS = 1_500
"""So much may follow the line 作者有话说 at the end of a chapter."""

_VOTES = r"(?:月票|推荐票|推薦票|首订|首訂|追读|追讀)"
_WISH = r"(?:推荐|推薦|收藏|订阅|訂閱|打赏|打賞|鲜花|鮮花|票票|五星|好评|支持|票)"
_HOW = r"[求跪]{1,3}(?:一下|个|点|波|张|下)?"
_ANYWHERE = re.compile(
    rf"{_HOW}{_VOTES}|^[（(【\[].{{0,60}}{_HOW}{_WISH}.{{0,60}}[）)】\]]$"
    rf"|(?:投|砸)(?:个|点|张|几张|一下|出|下)?.{{0,4}}{_VOTES}"
    r"|感谢.{0,80}(?:打赏|月票|推荐票|盟主|舵主|订阅)|感謝.{0,80}(?:打賞|月票|推薦票|訂閱)"
    r"|手机用户请|手機用戶請|请记住本站|請記住本站|一秒记住|无弹窗|無彈窗|最新章节|最新章節|本书首发|本書首發|最快更新"
    r"|章未完.{0,6}(?:点击|點擊|请|請|翻页)|喜欢.{0,30}请大家收藏"
    r"|^\W*(?:[本全][章卷书書文]?完|正文完|未完待续|未完待續|第[\d零〇一二三四五六七八九十百千]+[章回卷部节節]\s*(?:完|结束|結束)|[上中下]卷\s*完)\W*$"
    r"|^\W*(?:https?://|www\.)\S+\W*$"
    r"|(?i:patreon\.com)"
    # The bars of a web page: 首页|原创书库|现代, 上一页 返回目录 下一页, Previous Chapter | Next Chapter.
    r"|^[^|｜]{1,8}(?:\s*[|｜]\s*[^|｜]{1,8}){3,}[|｜]?$"
    r"|^\W*(?:(?:[上下前后後][一1]?[页頁章]|(?:返回)?(?:目录|目錄|书页|書頁|首页|首頁)|加入[书書][签籤签]|章节目录|章節目錄|投推荐票|举报错误)\W*)+$"
    r"|^\W*(?i:(?:prev(?:ious)?(?: chapter)?|table of contents|index|home)\W+)+(?i:next(?: chapter)?)\W*$"
    r"|^\W*本站.{0,12}(?:招收|招聘|管理员|管理員|首发|首發|网址|網址|域名)"
)
_AT_THE_EDGE = re.compile(
    r"^\W*(?:[Pp][Ss]|[Pp]\.[Ss]\.?)\s*\d?\s*[:：.．、，].*[\u3400-\u9fff]"
    r"|^\W*(?:求票|加更|更新(?:说明|預告|预告)|请假|請假|上架感言|第[一二三四五六七八九十]+更)(?:\W|$)"
    r"|^\W*(?:今天|今日|明天|明日|晚上|稍后).{0,12}(?:还有一更|還有一更|加更|两更|三更)"
    rf"|{_HOW}{_WISH}|^\W*新书.{{0,20}}(?:支持|收藏)"
    r"|(?i:(?:please|don['’]t forget to) (?:vote|rate|review|comment|follow)|^\W*thank(?:s| you) for reading)"
)
_NOTE = re.compile(
    r"^\W*(?:作者有话(?:要)?说|作者有話(?:要)?說|作者的话|作者的話|作者按|作者说|author['’]?s?\s+notes?|a/n)\W*(?P<said>.*)$",
    re.IGNORECASE,
)
_SPEECH = re.compile('["“”「」『』＂]')
_READER_NAME_PATTERN = re.compile(r"(?<=[友主者丝粉大神谢謝])\s*[“「『\"][^“”「」『』\"。！？!?]{1,20}[”」』\"]")
"""The name of a reader: 书友“夜雨声烦”."""


class Remark(BaseModel):
    """A remark that is no part of the story."""

    chapter_number: int
    line: int = Field(description="Of the chapter's text, from 1.")
    text: str


def without_remarks(text: str, *, chapter_number: int) -> tuple[str, list[Remark]]:
    """Remove remarks to readers from a chapter."""
    lines = text.split("\n")
    found_numbers = {index for index, line in enumerate(lines) if _is_remark(line, _ANYWHERE)}
    found_numbers |= _notes(lines)
    found_numbers |= _edge(lines, found_numbers, range(len(lines)))
    found_numbers |= _edge(lines, found_numbers, range(len(lines) - 1, -1, -1))
    if all(index in found_numbers or not line.strip() for index, line in enumerate(lines)):
        # A chapter of nothing but words to readers is the author's to judge.
        return text, []
    remarks = [
        Remark(chapter_number=chapter_number, line=index + 1, text=lines[index].strip())
        for index in sorted(found_numbers)
        if lines[index].strip()
    ]
    return "\n".join(line for index, line in enumerate(lines) if index not in found_numbers), remarks


def _is_remark(line: str, pattern: re.Pattern[str]) -> bool:
    """Return whether a line addresses readers, ignoring quoted sentences."""
    text = _READER_NAME_PATTERN.sub("", line.strip())
    return (
        0 < len(line.strip()) <= MAX_REMARK_CHARACTERS
        and pattern.search(text) is not None
        and _SPEECH.search(text) is None
    )


def _edge(lines: Sequence[str], found_numbers: set[int], order: range) -> set[int]:
    """Find the remarks that stand before all story, or, in reverse order, after it."""
    edge: set[int] = set()
    for index in order:
        if _is_remark(lines[index], _AT_THE_EDGE):
            edge.add(index)
        elif lines[index].strip() and index not in found_numbers:
            break
    return edge


def _notes(lines: Sequence[str]) -> set[int]:
    """Find the author's notes: their own paragraph at the beginning, all that follows at the end."""
    found_numbers: set[int] = set()
    for index, line in enumerate(lines):
        match = _NOTE.match(line)
        if match is None or len(line.strip()) > MAX_REMARK_CHARACTERS + MAX_CLOSING_CHARACTERS:
            continue
        rest = sum(len(text.strip()) for text in lines[index + 1 :])
        if rest <= MAX_CLOSING_CHARACTERS and rest <= sum(len(text.strip()) for text in lines[:index]):
            return found_numbers | set(range(index, len(lines)))
        found_numbers.add(index)
        if not match["said"].strip():
            following = next((at for at in range(index + 1, len(lines)) if lines[at].strip()), None)
            if following is not None and len(lines[following]) <= MAX_REMARK_CHARACTERS:
                found_numbers.add(following)
    return found_numbers
