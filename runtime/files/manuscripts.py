"""Plain manuscripts, a whole book in one file, split into chapters and scenes."""

import re
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from itertools import chain, groupby, pairwise, repeat
from pathlib import Path
from statistics import median
from typing import Any, Literal, NamedTuple

from pydantic import BaseModel, Field

from novelgen.errors import InvalidFileError
from novelgen.language.language import is_cjk
from novelgen.language.normalise import without_invisible
from novelgen.language.numerals import HEADING_NUMERAL, chinese_number
from novelgen.models.plan import GeneratedChapter
from novelgen.models.user_file import StoryPart
from runtime.files.book_formats import BOOK_FORMATS, read_book
from runtime.files.chapter_headings import (
    Heading,
    Remark,
    UnreadHeading,
    contents_lines,
    find_headings,
    heading_form,
    heading_of,
    numbered_headings,
    unread_headings,
    without_remarks,
)
from runtime.files.chapter_text import SCENE_TITLE_FIELD, chapter_from_text, unwrapped, wrapped_at
from runtime.files.file_reading import is_within, read_story_text
from runtime.files.left_out import LeftOutPart, merged

_TEXT_SUFFIXES = frozenset({".txt", ".md", ".markdown"})
_CONTINUED = re.compile(r"[（(]?(?:[上中下]|[一二三四五六七八九十]+|\d+)[）)]?\s*$|[章回]\s*[（(]?[上中下]")
"""A chapter that was posted in pieces: its titles end so, or have it behind the number."""
_PLAIN_CHAPTER_NAME = re.compile(r"(?:chapter[ _-]*)?(?P<number>\d{1,6})(?:[\s._、-]+(?P<title>.*))?", re.IGNORECASE)
"""`001 雪夜`, `chapter_001`, `12 - The Storm`, `Chapter 1 - Snow`."""
_FIRST_NAME = re.compile(r"(?:prologue|foreword|preface|楔子|序|引子|引言)", re.IGNORECASE)
_LAST_NAME = re.compile(r"(?:epilogue|afterword|终|終|尾声|尾聲|后记|後記|番外|外传|完本)", re.IGNORECASE)


MAX_TITLE_PAGE = 1_500
"""So many characters between a volume's heading and its first chapter are a title page at most."""


MIN_OPENING_CHAPTER, MAX_OPENING_PAGE = 200, 3_000
"""What stands before the first heading is a chapter where it has more characters than the one and half a chapter's, or
more than the other; else it is a title page, a blurb or a motto."""


class ManuscriptScene(BaseModel):
    """A scene as the preview shows it."""

    title: str = ""
    words: int
    opening: str = Field(description="Its first words.")


class ManuscriptChapter(BaseModel):
    """A chapter as the preview shows it."""

    chapter_number: int
    title: str
    scenes: int
    words: int
    part: str = Field(default="", description="The volume that it stands in.")
    opening: str = Field(description="Its first words.")
    cut: list[ManuscriptScene] = Field(default_factory=list, description="Its scenes, where there are several.")


class OddNumber(BaseModel):
    """A chapter's heading that does not follow the one before: a chapter is missing, or stands there twice."""

    title: str
    number: int
    after: int = Field(description="Number of the heading before it.")
    kind: Literal["missing", "doubled", "out_of_order"] = Field(
        description="Numbers are left out before it, it is the one before once more, or a lower one."
    )


class ManuscriptNotes(BaseModel):
    """Remarks on a manuscript beside its chapters."""

    title: str = Field(default="", description="Of a manuscript: that of its file or folder.")
    parts: list[StoryPart] = Field(default_factory=list, description="Volumes of a manuscript.")
    left_out: str = Field(default="", description="Title page, contents, and the like before a manuscript's volumes.")
    left_out_parts: list[LeftOutPart] = Field(
        default_factory=list, description="What a Word or EPUB file holds beside the story: notes, hidden text, …"
    )
    unread_headings: list[UnreadHeading] = Field(
        default_factory=list, description="Lines that look like headings and were not read as such; they are kept."
    )
    odd_numbers: list[OddNumber] = Field(
        default_factory=list, description="Headings of a manuscript that do not follow the last one."
    )
    remarks: list[Remark] = Field(
        default_factory=list, description="What the author says to readers in a manuscript; left out."
    )
    encodings: list[str] = Field(default_factory=list, description="Of the files of a manuscript, each once.")
    damaged: list[Remark] = Field(
        default_factory=list, description="Lines of them that look damaged: lost or wrongly read; they are kept."
    )
    passed_over: list[str] = Field(default_factory=list, description="Files of a folder that are no chapters.")


class Manuscript(ManuscriptNotes):
    """A manuscript that was split."""

    chapters: list[GeneratedChapter] = Field(default_factory=list)

    def part_of(self, chapter_number: int) -> str:
        """Return the title of the volume that a chapter stands in, or nothing."""
        holding = (part for part in self.parts if part.first_chapter <= chapter_number <= part.last_chapter)
        return next((part.title for part in holding), "")

    def preview(self) -> list[ManuscriptChapter]:
        """Return one line per chapter, for a person to check the splitting."""
        return [
            ManuscriptChapter(
                chapter_number=chapter.chapter_number,
                title=chapter.chapter_title,
                scenes=len(chapter.scenes),
                words=chapter.total_words,
                part=self.part_of(chapter.chapter_number),
                opening=_opening(chapter.scenes[0].content),
                # A single scene is told by its chapter.
                cut=[
                    ManuscriptScene(
                        title=str(scene.extra.get(SCENE_TITLE_FIELD) or ""),
                        words=scene.word_count or 0,
                        opening=_opening(scene.content),
                    )
                    for scene in (chapter.scenes if len(chapter.scenes) > 1 else ())
                ],
            )
            for chapter in self.chapters
        ]


OPENING_CHARACTERS = 60


def _opening(text: str) -> str:
    told_text = " ".join(text[:1000].split())
    cut_text = told_text[:OPENING_CHARACTERS]
    return (
        told_text
        if cut_text == told_text
        else f"{cut_text if is_cjk(cut_text[-1]) else cut_text.rpartition(' ')[0] or cut_text}…"
    )


class _Piece(NamedTuple):
    """A chapter as it was found, before it has its number."""

    title: str
    body: str = ""
    number: int | None = None
    volume: str = ""
    last_number: int | None = None
    """The last of its numbers, where it has several: 2 of 第1-2章."""


class _Source(NamedTuple):
    """A file's text with its format's facts."""

    text: str
    encoding: str
    headings: Sequence[Heading] = ()
    left_out: Sequence[LeftOutPart] = ()


def is_first_name(name: str) -> bool:
    """Tell whether a chapter of that name stands before the first one, as a prologue does."""
    return _FIRST_NAME.match(name) is not None


def is_manuscript(file: Path) -> bool:
    """Tell whether a file is of a kind that can be read as a manuscript."""
    return file.suffix.lower() in _TEXT_SUFFIXES | BOOK_FORMATS.keys()


def is_manuscript_folder(folder: Path) -> bool:
    """Tell whether a folder, or a volume's folder in it, holds files with a chapter each."""
    return any(_chapter_name(file) is not None for file in _files_of(folder).files)


def holds_manuscripts(folder: Path) -> bool:
    """Return whether a folder holds readable manuscripts."""
    return bool(_files_of(folder).files)


def read_manuscript(
    path: Path,
    *,
    keep_remarks: bool = False,
    every_file: bool = False,
    headings: Sequence[str] = (),
    while_waiting: Callable[[], Any] = lambda: None,
) -> Manuscript:
    """Read a manuscript and split it.

    Args:
        path: A file, or a folder with a file for each chapter.
        keep_remarks: Whether what the author says to readers stays.
        every_file: Whether the files of a folder are chapters whatever their names are.
        headings: Headings of the book as an example each, for those that are not found without.
        while_waiting: Called while a .docx or .epub is parsed.

    Raises:
        InvalidFileError: When a file cannot be read, there is no text, or no line has the form of a heading.
    """
    if path.is_dir():
        manuscript = _read_folder(path, keep_remarks=keep_remarks, every_file=every_file, while_waiting=while_waiting)
    else:
        source = _read_file(path, while_waiting)
        manuscript = split_manuscript(
            source.text, title=path.stem, keep_remarks=keep_remarks, headings=headings, known_headings=source.headings
        )
        manuscript.chapters = _named_by_file(manuscript.chapters, path)
        manuscript.encodings = [source.encoding]
        manuscript.left_out_parts = list(source.left_out)
    if not manuscript.chapters:
        raise InvalidFileError(f"{str(path)!r} holds no text; check the file")
    return manuscript


def _named_by_file(chapters: Sequence[GeneratedChapter], file: Path) -> list[GeneratedChapter]:
    """Let a chapter that is alone in its file, without a heading, bear that of its name: 第13章.txt."""
    name = _chapter_name(file)
    if name is None or len(chapters) != 1 or chapters[0].chapter_title:
        return list(chapters)
    number = chapters[0].chapter_number if name.number is None else name.number
    return [chapters[0].model_copy(update={"chapter_title": name.title, "chapter_number": number})]


def tells_no_place(manuscript: Manuscript, file: Path) -> bool:
    """Tell whether a file holds one chapter and neither its name nor its text says which."""
    if file.is_dir() or len(manuscript.chapters) != 1 or _chapter_name(file) is not None:
        return False
    return heading_of(manuscript.chapters[0].chapter_title) is None


def read_draft(file: Path, *, may_be_pipe: bool = False) -> str:
    """Return the text of a draft or a scene from any file that an import reads."""
    if file.suffix.lower() in BOOK_FORMATS:
        return read_book(file).text
    return read_story_text(file, may_be_pipe=may_be_pipe).text


def split_manuscript(
    text: str,
    *,
    title: str = "",
    keep_remarks: bool = False,
    headings: Sequence[str] = (),
    known_headings: Sequence[Heading] = (),
) -> Manuscript:
    """Split a whole book into chapters and these into scenes.

    Chapters and volumes begin as `chapter_headings.find_headings` says; without any the book is one chapter.
    Headings without text, such as those of a table of contents, are passed over. What stands before the first one and
    is longer than a title page is a chapter, too. Scenes are split as `chapter_text.chapter_from_text` does, and what
    the author says to readers is left out.
    """
    lines = text.split("\n")
    _require_lines_of(headings, lines)
    matching_headings = find_headings(lines, forms=headings, known_headings=known_headings)
    if not matching_headings:
        pieces = [_Piece("", text)]
        left_out = ""
    else:
        pieces, title_pages = _without_title_pages(_pieces(lines, matching_headings))
        before = "\n".join(lines[: matching_headings[0].line]).strip()
        opening = _opening_chapter(lines, matching_headings, pieces, known_headings=known_headings)
        pieces = [*opening, *pieces]
        left_out = "\n\n".join(filter(None, ["" if opening else before, *title_pages]))
    manuscript = _assembled(pieces, title=title, left_out=left_out, keep_remarks=keep_remarks)
    manuscript.unread_headings = unread_headings(lines, forms=headings, known_headings=known_headings)
    return manuscript


def _require_lines_of(forms: Sequence[str], lines: Sequence[str]) -> None:
    for form in forms:
        if not form.strip() or not any(heading_form(form).match(without_invisible(line).strip()) for line in lines):
            raise InvalidFileError(f"no line reads like the heading {form!r}; copy one heading of the text")


def _opening_chapter(
    lines: Sequence[str], headings: Sequence[Heading], pieces: Sequence[_Piece], *, known_headings: Sequence[Heading]
) -> list[_Piece]:
    """Return a long opening before the first heading as a chapter."""
    contents = contents_lines(lines[: headings[0].line], known_headings=known_headings)
    body = "\n".join(line for index, line in enumerate(lines[: headings[0].line]) if index not in contents)
    characters = len("".join(body.split()))
    chapter = median(len("".join(piece.body.split())) for piece in pieces) if pieces else 0
    is_chapter = characters > max(MIN_OPENING_CHAPTER, chapter / 2) or characters > MAX_OPENING_PAGE
    return [_Piece("", body)] if is_chapter else []


def _without_title_pages(pieces: Sequence[_Piece]) -> tuple[list[_Piece], list[str]]:
    """Separate chapters from short texts under a volume's heading."""
    sizes = [len(piece.body) for piece in pieces if piece.title != piece.volume]
    most = min(MAX_TITLE_PAGE, median(sizes) / 10) if sizes else 0
    is_page = [piece.title == piece.volume and len(piece.body) < most for piece in pieces]
    kept_pieces = [piece for piece, is_one in zip(pieces, is_page, strict=True) if not is_one]
    return kept_pieces, [
        f"{piece.title}\n{piece.body.strip()}" for piece, is_one in zip(pieces, is_page, strict=True) if is_one
    ]


def _pieces(lines: Sequence[str], headings: Sequence[Heading], *, volume: str = "") -> list[_Piece]:
    ends = [heading.line for heading in headings[1:]] + [len(lines)]
    pieces: list[_Piece] = []
    for heading, end in zip(headings, ends, strict=True):
        body = "\n".join(lines[heading.text_from : end])
        if heading.kind == "volume":
            volume = heading.title
        if body.strip():
            # Text that follows a volume's heading at once, without a chapter's, is a chapter of its own.
            number = heading.number if heading.kind == "chapter" else None
            pieces.append(_Piece(heading.title, body, number, volume, heading.last_number))
    return pieces


def _assembled(pieces: Sequence[_Piece], *, title: str, left_out: str, keep_remarks: bool) -> Manuscript:
    """Number the pieces, join those of one number, and split each into scenes."""
    # The headings that do not follow the one before; a volume may begin at 1 again.
    numbered_pieces = [
        (piece, piece.number, piece.last_number or piece.number) for piece in pieces if piece.number is not None
    ]
    manuscript = Manuscript(
        title=title,
        left_out=left_out,
        odd_numbers=[
            OddNumber(
                title=piece.title,
                number=number,
                after=before,
                kind="missing" if number > before else "doubled" if number == before else "out_of_order",
            )
            for (_, _, before), (piece, number, _) in pairwise(numbered_pieces)
            if number not in (1, before + 1) and not (number == before and _is_continued(pieces, number))
        ],
    )
    width = wrapped_at([line for piece in pieces for line in piece.body.split("\n")])
    volumes: dict[int, str] = {}
    numbers = _numbers(pieces)
    manuscript.damaged = damaged_lines(zip(numbers, (piece.body for piece in pieces), strict=True))
    for piece, number in zip(pieces, numbers, strict=True):
        body, remarks = (piece.body, []) if keep_remarks else without_remarks(piece.body, chapter_number=number)
        chapter = _chapter(piece.title, body if width is None else unwrapped(body, width), number)
        manuscript.remarks += remarks
        if not chapter.scenes:
            continue
        volumes.setdefault(number, piece.volume)
        last = manuscript.chapters[-1] if manuscript.chapters else None
        if last is not None and last.chapter_number == number:
            # The scenes of a chapter follow another's, titled as their own chapter was.
            scenes = list(last.scenes)
            for scene in chapter.scenes:
                own = str(scene.extra.get(SCENE_TITLE_FIELD) or "")
                titled = {SCENE_TITLE_FIELD: own or chapter.chapter_title}
                scenes.append(
                    scene.model_copy(update={"scene_number": len(scenes) + 1, "extra": {**scene.extra, **titled}})
                )
            manuscript.chapters[-1] = last.model_copy(
                update={"scenes": scenes, "total_words": last.total_words + chapter.total_words}
            )
        else:
            manuscript.chapters.append(chapter)
    manuscript.parts = [
        StoryPart(title=volume, first_chapter=chapters[0], last_chapter=chapters[-1])
        for volume, group in groupby(volumes, key=volumes.__getitem__)
        if volume and (chapters := list(group))
    ]
    return manuscript


def _chapter(title: str, body: str, number: int) -> GeneratedChapter:
    chapter = chapter_from_text(body, chapter_number=number)
    inner = chapter.chapter_title
    if inner and title in inner:
        return chapter
    return chapter.model_copy(update={"chapter_title": f"{title} {inner}".strip() if inner else title})


def _numbers(pieces: Sequence[_Piece]) -> list[int]:
    own = [piece.number for piece in pieces]
    numbered_numbers = [number for number in own if number is not None]
    before = next((index for index, number in enumerate(own) if number is not None), len(own))
    is_rising = all(
        later > earlier or (later == earlier and _is_continued(pieces, later))
        for earlier, later in pairwise(numbered_numbers)
    )
    if not numbered_numbers or not is_rising or (before and numbered_numbers[0] == 0):
        start = 0 if numbered_numbers and before == 1 else 1
        return list(range(start, start + len(pieces)))
    numbers = [0] * before
    for index in range(before, len(own)):
        given_count = own[index]
        if given_count is None:
            following = next((number for number in own[index:] if number is not None), None)
            is_free = following is None or following > numbers[-1] + 1
            given_count = numbers[-1] + 1 if is_free else numbers[-1]
        numbers.append(given_count)
    return numbers


def _is_continued(pieces: Sequence[_Piece], number: int) -> bool:
    return all(_CONTINUED.search(piece.title) for piece in pieces if piece.number == number)


class _FolderFiles(NamedTuple):
    """The files of a folder that can be read, and the names of those that are passed over."""

    files: list[Path]
    passed_over: list[str]


def _files_of(folder: Path) -> _FolderFiles:
    """Return the files of a folder and of the folders in it, as a reader would order them.

    Chapters of the folder itself come before those of its volumes; a prologue before both, an epilogue after both.
    Links that lead out of the folder, pipes and devices are passed over.
    """
    paths = sorted(folder.iterdir(), key=_reading_order) if folder.is_dir() else []
    inner = [
        path
        for outer in paths
        if not (outer.name.startswith(".") and outer.is_dir())
        for path in (
            sorted(outer.iterdir(), key=_reading_order) if outer.is_dir() and is_within(outer, folder) else [outer]
        )
    ]
    files = [path for path in inner if is_manuscript(path) and path.is_file() and is_within(path, folder)]
    foreign = [
        str(path.relative_to(folder))
        for path in inner
        if not is_within(path, folder) or (is_manuscript(path) and not path.is_file() and not path.is_dir())
    ]
    return _FolderFiles(files, foreign)


def _reading_order(path: Path) -> tuple[int, bool, list[tuple[int, str]]]:
    rank, parts = _natural(path.name)
    return rank, path.is_dir(), parts


def _natural(name: str) -> tuple[int, list[tuple[int, str]]]:
    """Sort names by their numbers, prologues first and epilogues last."""
    plain = unicodedata.normalize("NFKC", name)
    chinese = re.sub(
        rf"(?<=第){HEADING_NUMERAL}|(?<=卷){HEADING_NUMERAL}",
        lambda found_value: str(chinese_number(found_value[0])),
        plain,
    )
    parts = re.split(r"(\d+)", chinese.casefold())
    rank = -1 if _FIRST_NAME.match(plain) else 1 if _LAST_NAME.match(plain) else 0
    return rank, [(int(part), "") if part.isdigit() else (-1, part) for part in parts]


def _chapter_name(file: Path) -> _Piece | None:
    """Return a file name's chapter, or None."""
    stem = unicodedata.normalize("NFKC", file.stem).strip()
    plain = _PLAIN_CHAPTER_NAME.fullmatch(stem)
    if plain is not None:
        return _Piece((plain["title"] or "").strip(), number=int(plain["number"]))
    heading = heading_of(stem.replace("_", " "))
    if heading is None:
        return None
    return _Piece(heading.title, number=heading.number if heading.kind == "chapter" else None)


def _read_folder(folder: Path, *, keep_remarks: bool, every_file: bool, while_waiting: Callable[[], Any]) -> Manuscript:
    folder_files = _files_of(folder)
    files = [(file, _chapter_name(file)) for file in folder_files.files]
    if every_file and not any(name for _, name in files):
        files = [(file, _Piece(file.stem.strip())) for file, _ in files]
    pieces: list[_Piece] = []
    encodings: list[str] = []
    left_out_parts: list[LeftOutPart] = []
    passed_over = list(folder_files.passed_over)
    for file, name in files:
        if name is None:
            passed_over.append(str(file.relative_to(folder)))
            continue
        source = _read_file(file, while_waiting)
        encodings.append(source.encoding)
        left_out_parts += source.left_out
        volume = file.parent.name if file.parent != folder else pieces[-1].volume if pieces else ""
        pieces += _pieces_of_file(source.text, name, volume)
    manuscript = _assembled(
        _numbered_by_headings(pieces), title=folder.resolve().name, left_out="", keep_remarks=keep_remarks
    )
    fields = {"encodings": sorted(set(encodings)), "passed_over": passed_over, "left_out_parts": merged(left_out_parts)}
    return manuscript.model_copy(update=fields)


def _numbered_by_headings(pieces: Sequence[_Piece]) -> Sequence[_Piece]:
    """Let a folder's chapters bear the numbers of their headings, as in one file, where these follow one another.

    `第001章 楔子.txt` is the first file and no first chapter.
    """
    headings = [heading_of(piece.title) for piece in pieces]
    numbers = [
        heading.number
        for heading in headings
        if heading is not None and heading.kind == "chapter" and heading.number is not None
    ]
    if not numbers or None in headings or any(later <= earlier for earlier, later in pairwise(numbers)):
        return pieces
    return [
        piece._replace(number=heading.number if heading.kind == "chapter" else None, last_number=heading.last_number)
        for piece, heading in zip(pieces, headings, strict=True)
        if heading is not None
    ]


def _pieces_of_file(text: str, name: _Piece, volume: str) -> list[_Piece]:
    """Return the chapters of a chapter's file: one, unless several begin in it."""
    lines = text.split("\n")
    told_names = [line for line in lines if line.strip()]
    headings = [heading for heading in find_headings(lines) if heading.kind != "named"] if told_names else []
    several = _pieces(lines, headings, volume=volume) if len(numbered_headings(lines)) > 1 else []
    if len(several) > 1:
        return several
    first = heading_of(told_names[0]) if told_names else None
    if first is not None:
        lines = lines[lines.index(told_names[0]) + 1 :]
    title = first.title if first is not None else name.title
    return [_Piece(title, "\n".join(lines), name.number, volume)]


def _read_file(file: Path, while_waiting: Callable[[], Any]) -> _Source:
    suffix = file.suffix.lower()
    if suffix in BOOK_FORMATS:
        book = read_book(file, while_waiting=while_waiting)
        return _Source(book.text, BOOK_FORMATS[suffix], book.headings, book.left_out)
    if suffix in _TEXT_SUFFIXES:
        decoded = read_story_text(file)
        return _Source(decoded.text, decoded.encoding)
    kinds = ", ".join(sorted(_TEXT_SUFFIXES | BOOK_FORMATS.keys()))
    raise InvalidFileError(f"{str(file)!r} is of no kind that can be read; convert it to one of {kinds}")


_LOST = "[\N{REPLACEMENT CHARACTER}\ue000-\uf8ff]|锟斤|烫烫烫|屯屯屯"
"""What programs put for bytes that they cannot read, and what that looks like read once more as GBK."""

_FOREIGN = re.compile(r"[^\x00-\x7f]{2,}")
_READ_AS = ("cp1252", "gb18030")
_TEXT_PATTERN = re.compile(r"[\x80-\xff\u2000-\ufffc\U00010000-\U0010ffff]")
"""What such bytes tell: letters with marks, signs, Chinese. A capital before a quotation mark (`CAFÉ”`) is none."""
_MOST_UNREADABLE_SHARE = 0.2
_SHOWN_BEFORE, _SHOWN = 20, 60
_QUESTION = re.compile(r"(?<=[\u3400-\u9fff])\?")
_FULL_WIDTH_PER_PLAIN = 20
"""A text that asks with so many `？` for a `?` lost a character where a `?` stands."""


def damaged_lines(chapters: Iterable[tuple[int, str]]) -> list[Remark]:
    """Return the lines of chapters, given by number and text, that look damaged, each from shortly before where."""
    listing = list(chapters)
    plain = sum(len(_QUESTION.findall(text)) for _, text in listing)
    is_lost = 0 < plain * _FULL_WIDTH_PER_PLAIN <= sum(text.count("？") for _, text in listing)
    lost = re.compile(f"{_LOST}|{_QUESTION.pattern}" if is_lost else _LOST)
    return [
        Remark(chapter_number=number, line=index, text=line[max(0, place - _SHOWN_BEFORE) :][:_SHOWN].strip())
        for number, text in listing
        for index, line in enumerate(text.split("\n"), start=1)
        for place in _places(line, lost)
    ]


def _places(line: str, lost: re.Pattern[str]) -> list[int]:
    """Return where a line looks damaged first: a list of one, or empty."""
    wrong = (run for run in _FOREIGN.finditer(line) if any(map(_is_wrongly_read, repeat(run[0]), _READ_AS)))
    return sorted(match.start() for match in chain(wrong, lost.finditer(line)))[:1]


def _is_wrongly_read(run: str, encoding: str) -> bool:
    """Tell whether the bytes of foreign characters are UTF-8: those of a text in another encoding hardly ever are."""
    text = run.encode(encoding, "ignore").decode("utf-8", "replace")
    untold_count = len(_TEXT_PATTERN.sub("", text))
    return untold_count < len(text) and untold_count <= len(text) * _MOST_UNREADABLE_SHARE
