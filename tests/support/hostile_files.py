"""Small books that make parsers run for minutes, take gigabytes or fail in ways of their own; made when needed."""

import io
import zipfile
from pathlib import Path

from runtime.files.book_writing import BOOK_WRITERS, BookChapter

_WORD = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"


def write_epub(file: Path, page: str | bytes, *, container: str = "") -> Path:
    """Write an EPUB book of one page, and what says where its list of contents is."""
    parts = {"c1.xhtml": page, "META-INF/container.xml": container}
    return _write(file, "epub", {name: content for name, content in parts.items() if content})


def write_docx(file: Path, document: str) -> Path:
    """Write a Word document whose main part is this XML."""
    return _write(file, "docx", {"word/document.xml": document})


def _write(file: Path, kind: str, parts: dict[str, str | bytes]) -> Path:
    """Write a book with parts of it in the place of its own."""
    sound = BOOK_WRITERS[kind].write([BookChapter("One", ["She came."])], "Salt", "en")
    with zipfile.ZipFile(io.BytesIO(sound)) as own, zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as book:
        for name in own.namelist():
            book.writestr(name, parts.get(name, own.read(name)))
    return file


def word_document(body: str, *, before: str = "") -> str:
    """Return the XML of a Word document with a body."""
    return f'{before}<w:document xmlns:w="{_WORD}"><w:body>{body}</w:body></w:document>'


def endless_epub(file: Path) -> Path:
    """1 KB on which Python's own parser of HTML needs minutes: it looks for the end of each of 100,000 comments."""
    return write_epub(file, "<!--" * 100_000)


def wide_docx(file: Path) -> Path:
    """300 KB of eight million paragraphs, which take gigabytes as objects."""
    return write_docx(file, word_document("<w:p/>" * 8_000_000))


def bomb_epub(file: Path) -> Path:
    """A list of contents that unpacks to more than memory should hold."""
    return write_epub(file, "<p>x</p>", container=" " * (101 * 1024 * 1024))
