"""Plain manuscripts, a whole book in one file, split into chapters and scenes."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from pydantic import BaseModel, Field

from novelgen.errors import InvalidFileError
from novelgen.models.plan import GeneratedChapter
from runtime.files.book_formats import docx_text, epub_text
from runtime.files.chapter_text import CHINESE_NUMERAL, NUMBER_WORDS, chapter_from_text, chapter_number
from runtime.files.file_reading import read_text_file

_READERS: dict[str, Callable[[Path], str]] = {
    ".txt": read_text_file,
    ".md": read_text_file,
    ".markdown": read_text_file,
    ".epub": epub_text,
    ".docx": docx_text,
}
_ROMAN = r"(?:[IVXLC]+|[ivxlc]+)"
_WORD = f"(?i:{'|'.join(NUMBER_WORDS)})"
_MARK = r"^\s{0,3}(?:#{1,6}\s*)?"
# A title may follow the number, a sentence not: "Chapter 2 The Storm", but not "Chapter two was over".
_NUMBERED_HEADING = re.compile(
    rf"{_MARK}(?P<title>第\s*{CHINESE_NUMERAL}\s*[章回](?:$|[\s:：、.．].{{0,60}})"
    rf"|(?i:chapter|part)\s+(?:\d+|{_ROMAN}|{_WORD})(?:\s*$|\s*[.:—–-].{{0,80}}|\s+[A-Z\d\"'“‘].{{0,80}}))\s*$"
)
_NAMED_HEADING = re.compile(
    rf"{_MARK}(?P<title>(?i:prologue|epilogue|interlude|foreword|preface)(?:\s*$|\s*[.:—–-].{{0,60}})"
    r"|(?:楔子|序章|序言|引子|尾声|后记|番外)(?:$|[\s:：].{0,60}))\s*$"
)
_MARKDOWN_HEADING = re.compile(r"^ {0,3}(?P<level>#{1,2})\s+(?P<title>.+?)\s*#*\s*$")
_BARE_NUMERAL = re.compile(rf"^\s*(?P<title>{_ROMAN}|\d{{1,3}})[.．、]?\s*$", re.IGNORECASE)
_LONGEST_SENTENCE_END = ("。", "，", "；", ",", ";")


class ManuscriptChapter(BaseModel):
    """A chapter as the preview shows it."""

    chapter_number: int
    title: str
    scenes: int
    words: int
    opening: str = Field(description="Its first words.")


class Manuscript(BaseModel):
    """A manuscript that was split."""

    title: str
    chapters: list[GeneratedChapter] = Field(default_factory=list)
    left_out: str = Field(
        default="", description="What stands before the first chapter: title page, contents."
    )

    def preview(self) -> list[ManuscriptChapter]:
        """Return one line per chapter, for a person to check the splitting."""
        return [
            ManuscriptChapter(
                chapter_number=chapter.chapter_number,
                title=chapter.chapter_title,
                scenes=len(chapter.scenes),
                words=chapter.total_words,
                opening=" ".join(chapter.scenes[0].content.split())[:60],
            )
            for chapter in self.chapters
        ]


class _Heading(NamedTuple):
    line: int
    title: str


def is_manuscript(file: Path) -> bool:
    """Tell whether a file is of a kind that can be read as a manuscript."""
    return file.suffix.lower() in _READERS


def read_manuscript(file: Path) -> Manuscript:
    """Read a manuscript and split it.

    Args:
        file: A .txt, .md, .epub or .docx file (the last one needs the extra `docx`).

    Raises:
        InvalidFileError: When the file is of another kind, cannot be read, or holds no text.
        ConfigurationError: When the extra that reads it is not installed.
    """
    reader = _READERS.get(file.suffix.lower())
    if reader is None:
        kinds = ", ".join(sorted(_READERS))
        raise InvalidFileError(f"{str(file)!r} is of no kind that can be read; convert it to one of {kinds}")
    manuscript = split_manuscript(reader(file), title=file.stem)
    if not manuscript.chapters:
        raise InvalidFileError(f"{str(file)!r} holds no text; check the file")
    return manuscript


def split_manuscript(text: str, *, title: str = "") -> Manuscript:
    """Split a whole book into chapters and these into scenes.

    Chapters begin at lines such as `第三回 …`, `第12章`, `Chapter IV. …`, `Prologue`, `楔子`; where there is none,
    at Markdown headings of the highest level that occurs more than once, else at lines with nothing but
    numerals that count up from 1. Without any of these the book is one chapter. Headings without text, such as
    those of a table of contents, are passed over. Scenes are split as `chapter_text.chapter_from_text` does.

    Args:
        text: The book; line ends are `\\n`.
        title: Title of the book.

    Returns:
        The manuscript. Chapters have the numbers of their headings where these count up, else they are counted
        from 1; what comes before the first numbered one, such as a prologue, is chapter 0.
    """
    lines = text.split("\n")
    headings = _headings(lines)
    if not headings:
        whole = chapter_from_text(text, chapter_number=1)
        return Manuscript(title=title, chapters=[whole] if whole.scenes else [])
    ends = [heading.line for heading in headings[1:]] + [len(lines)]
    bodies = [
        (heading.title, "\n".join(lines[heading.line + 1 : end]))
        for heading, end in zip(headings, ends, strict=True)
    ]
    told = [(name, body) for name, body in bodies if body.strip()]
    numbers = _numbers([name for name, _ in told])
    chapters = [_chapter(name, body, number) for (name, body), number in zip(told, numbers, strict=True)]
    front = "\n".join(lines[: headings[0].line]).strip()
    return Manuscript(
        title=title, chapters=[chapter for chapter in chapters if chapter.scenes], left_out=front
    )


def _chapter(title: str, body: str, number: int) -> GeneratedChapter:
    chapter = chapter_from_text(body, chapter_number=number)
    inner = chapter.chapter_title
    return chapter.model_copy(update={"chapter_title": f"{title} {inner}".strip() if inner else title})


def _headings(lines: Sequence[str]) -> list[_Heading]:
    found = [*_matching(lines, _NUMBERED_HEADING), *_matching(lines, _NAMED_HEADING)]
    if found:
        return sorted(found)
    for level in ("#", "##"):
        marked = [
            _Heading(index, match["title"])
            for index, line in enumerate(lines)
            if (match := _MARKDOWN_HEADING.match(line)) and match["level"] == level
        ]
        if len(marked) > 1:
            return marked
    bare = list(_counting_up(_matching(lines, _BARE_NUMERAL)))
    return bare if len(bare) > 1 else []


def _matching(lines: Sequence[str], pattern: re.Pattern[str]) -> list[_Heading]:
    return [
        _Heading(index, match["title"].strip())
        for index, line in enumerate(lines)
        if (match := pattern.match(line)) and not line.rstrip().endswith(_LONGEST_SENTENCE_END)
    ]


def _counting_up(headings: Sequence[_Heading]) -> Iterator[_Heading]:
    wanted = 1
    for heading in headings:
        if chapter_number(heading.title) == wanted:
            yield heading
            wanted += 1


def _numbers(titles: Sequence[str]) -> list[int]:
    own = [chapter_number(title) for title in titles]
    numbered = [number for number in own if number is not None]
    before = next((index for index, number in enumerate(own) if number is not None), 0)
    is_rising = numbered == sorted(set(numbered)) and None not in own[before:] and before <= 1
    if numbered and is_rising and (before == 0 or numbered[0] > 0):
        return [0] * before + numbered
    start = 0 if before == 1 and own[0] is None else 1
    return list(range(start, start + len(titles)))
