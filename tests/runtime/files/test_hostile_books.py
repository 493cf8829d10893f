"""Books that were made to do harm end in an error that names them, in bounded time and memory."""

from collections.abc import Callable
from pathlib import Path

import pytest

from novelgen.errors import InvalidFileError
from runtime.files import book_formats
from runtime.files.book_formats import read_book
from tests.support.hostile_files import bomb_epub, endless_epub, wide_docx, word_document, write_docx, write_epub


@pytest.mark.slow
def test_a_book_that_would_be_parsed_without_end_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """At the deadline by name, or where the system refuses the memory, with how much there was."""
    with pytest.raises(InvalidFileError, match=r"wide\.docx.*more than 600 MB of memory"):
        read_book(wide_docx(tmp_path / "wide.docx"))
    monkeypatch.setattr(book_formats, "READ_TIMEOUT_S", 1)
    with pytest.raises(InvalidFileError, match=r"endless\.epub.*longer than 1 s"):
        read_book(endless_epub(tmp_path / "endless.epub"))


class Cancelled(Exception):
    """What a job raises that shall end."""


def test_reading_ends_as_soon_as_its_caller_wants(tmp_path: Path) -> None:
    """What is called while a book is parsed may raise; the parser is ended and the error passes."""
    asked: list[int] = []

    def cancel_at_the_third() -> None:
        asked.append(1)
        if len(asked) == 3:
            raise Cancelled

    with pytest.raises(Cancelled):
        read_book(endless_epub(tmp_path / "endless.epub"), while_waiting=cancel_at_the_third)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "write", "message"),
    [
        ("bomb.epub", bomb_epub, "unpacks to 105906176 bytes; the limit is 104857600"),
        ("many.docx", lambda file: write_docx(file, word_document(" " * (101 * 1024**2))), "the limit is 104857600"),
        ("garbage.docx", lambda file: write_docx(file, "no XML"), "as a Word document"),
        ("root.docx", lambda file: write_docx(file, "<other/>"), "as a Word document"),
        ("deep.docx", lambda file: write_docx(file, word_document("<w:p>" * 5_000)), "as a Word document"),
        (
            "entity.docx",
            lambda file: write_docx(file, word_document("", before='<!DOCTYPE w [<!ENTITY x "y">]>')),
            "declares entities of its own",
        ),
        ("container.epub", lambda file: write_epub(file, "<p/>", container="<"), "as an EPUB book"),
    ],
)
def test_a_damaged_book_is_refused(tmp_path: Path, name: str, write: Callable[[Path], Path], message: str) -> None:
    """Whatever a parser raises, the error is ours and names the file."""
    with pytest.raises(InvalidFileError, match=message) as caught:
        read_book(write(tmp_path / name))
    assert name in str(caught.value)


def test_a_page_in_utf_16_is_read(tmp_path: Path) -> None:
    """An EPUB's page with the mark of UTF-16 is text, not rubbish."""
    page = "<p>灯亮了。</p>".encode("utf-16")
    assert read_book(write_epub(tmp_path / "book.epub", page)).text == "# One\n\n灯亮了。"
