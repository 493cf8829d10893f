"""The text of Word documents and EPUB books in reading order, headings as Markdown.

A book comes from anywhere, and what parses it can be made to run for hours or to take all memory: so it is read in a
process of its own, with bounds that the system keeps.
"""

import contextlib
import json
import os
import signal
import subprocess
import sys
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from pydantic import BaseModel, Field

from novelgen.deadlines import Deadline
from novelgen.errors import ConfigurationError, InvalidFileError, NovelgenError
from runtime.files.chapter_headings import Heading
from runtime.files.epub_text import (
    CONTAINER,
    BookReader,
    decoded_page,
    read_package,
    read_toc,
    refuse_protected,
    toc_headings,
)
from runtime.files.file_reading import MAX_FILE_BYTES, require_regular
from runtime.files.left_out import LeftOut, LeftOutPart
from runtime.files.word_text import WordReader

MAX_MARKUP_BYTES = 100 * 1024 * 1024
"""Most that the texts of a book may unpack to."""
MAX_MEMORY_BYTES = 600 * 1024 * 1024
"""Most that reading a book may take."""
READ_TIMEOUT_S = 45
"""A book of a million words takes two; a request over HTTP has a minute."""

BOOK_FORMATS = {".docx": "Word", ".epub": "EPUB"}
"""Ending of a file to the name of its format."""

_WAIT_S = 0.2
_OUT_OF_MEMORY = 3
"""Exit code of the process that reads."""
_PACKAGE_ROOT = str(Path(__file__).resolve().parents[2])
# The child finds the packages that this process has, and none in the working directory.
_CHILD = """import json, sys; sys.path[:] = json.loads(sys.argv[1])
from runtime.files.book_formats import _serve; _serve(*sys.argv[2:])"""
_ERRORS: dict[str, type[NovelgenError]] = {kind.__name__: kind for kind in (InvalidFileError, ConfigurationError)}
# What damaged and hostile files raise in zipfile, ElementTree, lxml (whose errors are SyntaxErrors) and python-docx.
_UNREADABLE = (
    *(zipfile.BadZipFile, zlib.error, SyntaxError, KeyError, ValueError, AttributeError, IndexError, TypeError),
    *(OSError, RuntimeError, EOFError),
)


class BookText(BaseModel):
    """The text of a book."""

    text: str
    headings: list[Heading] = Field(default_factory=list, description="Those of its table of contents.")
    left_out: list[LeftOutPart] = Field(default_factory=list, description="What its file holds beside.")


def read_book(file: Path, *, while_waiting: Callable[[], Any] = lambda: None) -> BookText:
    """Return the text of a .docx or .epub file, read in a process that ends in bounded time and memory."""
    require_regular(file)
    paths = json.dumps([*(entry for entry in sys.path if entry), _PACKAGE_ROOT])
    command = [sys.executable, "-c", _CHILD, paths, str(file), str(READ_TIMEOUT_S + 5), str(MAX_MEMORY_BYTES)]
    with subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, start_new_session=True
    ) as child:
        try:
            output = _output_of(child, while_waiting)
        finally:
            child.kill()
    if output is not None and child.returncode == 0:
        answer = json.loads(output)
        if "text" in answer:
            return BookText.model_validate(answer)
        raise _ERRORS[answer["kind"]](answer["error"])
    if output is None:
        why = f"reading it takes longer than {READ_TIMEOUT_S} s"
    elif child.returncode == _OUT_OF_MEMORY:
        why = f"reading it needs more than {MAX_MEMORY_BYTES // 1024**2} MB of memory"
    else:
        why = f"what reads it ended with code {child.returncode}"
    raise InvalidFileError(
        f"cannot read {str(file)!r} as {BOOK_FORMATS[file.suffix.lower()]}: {why}; save its text alone to a new file"
    )


def _output_of(child: subprocess.Popen[bytes], while_waiting: Callable[[], Any]) -> bytes | None:
    """Return a process's output, or None after a timeout."""
    deadline = Deadline.after(READ_TIMEOUT_S)
    while deadline.remaining_s > 0:
        while_waiting()
        try:
            return child.communicate(timeout=min(_WAIT_S, deadline.remaining_s))[0]
        except subprocess.TimeoutExpired:
            continue
    return None


def _serve(path: str, timeout_s: str, memory_bytes: str) -> None:
    """Write the text of a book to stdout as JSON, within bounds that the system keeps where it can."""
    if hasattr(signal, "alarm"):
        # For a child whose parent is gone.
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.alarm(int(timeout_s))
    with contextlib.suppress(ImportError):
        import resource  # noqa: PLC0415 - not on every system

        resource.setrlimit(resource.RLIMIT_AS, (int(memory_bytes), resource.RLIM_INFINITY))
    file = Path(path)
    try:
        answer = {".docx": read_word, ".epub": read_epub}[file.suffix.lower()](file).model_dump()
    except tuple(_ERRORS.values()) as error:
        answer = {"error": str(error), "kind": type(error).__name__}
    except MemoryError:
        # There may be no memory left to tell it.
        os._exit(_OUT_OF_MEMORY)
    sys.stdout.write(json.dumps(answer))


def read_word(file: Path) -> BookText:
    """Return a .docx file's visible text, with headings as Markdown."""
    try:
        import docx  # noqa: PLC0415 - an extra
        from docx.opc.exceptions import PackageNotFoundError  # noqa: PLC0415 - an extra
    except ImportError as error:
        raise ConfigurationError(
            f"reading {str(file)!r} needs python-docx; install it: pip install 'novelgen[docx]'"
        ) from error
    try:
        if file.stat().st_size > MAX_FILE_BYTES:
            raise InvalidFileError(f"{str(file)!r} is larger than {MAX_FILE_BYTES} bytes; split the file")
        with zipfile.ZipFile(file) as parts:
            _require_bounded(file, [part for part in parts.infolist() if part.filename.endswith((".xml", ".rels"))])
            if b"<!DOCTYPE" in parts.read("word/document.xml")[:_PROLOGUE_BYTES]:
                raise InvalidFileError(
                    f"{str(file)!r} declares entities of its own, as no Word document does; save it again from Word"
                )
        document = docx.Document(str(file))
        reader = WordReader(document.styles.element)
        lines = reader.lines(document.element.body)
        return BookText(text="\n\n".join(lines), left_out=reader.left_out.parts())
    except (PackageNotFoundError, *_UNREADABLE) as error:
        if isinstance(error, SyntaxError) and "unknown error" in str(error):
            # What lxml says where the system gives it no more memory.
            raise MemoryError from error
        raise InvalidFileError(f"cannot read {str(file)!r} as a Word document: {error}") from error


_PROLOGUE_BYTES = 10_000
"""A document type stands before the first element."""


def _require_bounded(file: Path, parts: list[zipfile.ZipInfo]) -> None:
    """Reject an oversized archive, or a part larger than declared."""
    size_bytes = sum(part.file_size for part in parts)
    if size_bytes > MAX_MARKUP_BYTES:
        raise InvalidFileError(f"{str(file)!r} unpacks to {size_bytes} bytes; the limit is {MAX_MARKUP_BYTES}")


def read_epub(file: Path) -> BookText:
    """Return an EPUB file's story text, counting the omitted parts."""
    try:
        with zipfile.ZipFile(file) as book:
            _require_bounded(file, [book.getinfo(CONTAINER)])
            root = ElementTree.fromstring(book.read(CONTAINER)).find(".//{*}rootfile")
            if root is None:
                raise KeyError("no rootfile in META-INF/container.xml")
            refuse_protected(book, str(file))
            package_name = root.attrib["full-path"]
            _require_bounded(file, [book.getinfo(package_name)])
            left_out = LeftOut()
            package = read_package(book, package_name, left_out)
            if not package.pages:
                raise KeyError("none of its pages is there")
            names = [page.name for page in package.pages] + ([package.toc_name] if package.toc_name else [])
            _require_bounded(file, [book.getinfo(name) for name in names])
            reader = BookReader(toc_headings(read_toc(book, package)), left_out)
            for page in package.pages:
                reader.read(page, decoded_page(book.read(page.name)))
            return BookText(text=reader.text(), headings=reader.headings(), left_out=left_out.parts())
    except InvalidFileError:
        raise
    except _UNREADABLE as error:
        raise InvalidFileError(f"cannot read {str(file)!r} as an EPUB book: {error}") from error
