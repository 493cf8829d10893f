"""The text of Word documents and EPUB books in reading order, headings as Markdown.

A book comes from anywhere, and what parses it can be made to run for hours or to take all memory: so it is read in a
process of its own, with bounds that the system keeps. EPUB is a zip of XHTML files with a list of their order; what is
needed of it is little, and the library for it (EbookLib) is under the AGPL.
"""

import codecs
import contextlib
import json
import os
import posixpath
import re
import signal
import subprocess
import sys
import zipfile
import zlib
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import unquote
from xml.etree import ElementTree

from novelgen.deadlines import Deadline
from novelgen.errors import ConfigurationError, InvalidFileError, NovelgenError
from runtime.files.file_reading import MAX_FILE_BYTES

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
_ERRORS: dict[str, type[NovelgenError]] = {each.__name__: each for each in (InvalidFileError, ConfigurationError)}
# What damaged and hostile files raise in zipfile, ElementTree, lxml (whose errors are SyntaxErrors) and python-docx.
_UNREADABLE = (
    *(zipfile.BadZipFile, zlib.error, SyntaxError, KeyError, ValueError, AttributeError, IndexError, TypeError),
    *(OSError, RuntimeError, EOFError),
)


def book_text(file: Path, *, while_waiting: Callable[[], Any] = lambda: None) -> str:
    """Return the text of a .docx or .epub file, read in a process that ends in bounded time and memory."""
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
            return str(answer["text"])
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
    """Return what a process wrote until its end; None where its time is over before."""
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
        answer = {"text": {".docx": docx_text, ".epub": epub_text}[file.suffix.lower()](file)}
    except tuple(_ERRORS.values()) as error:
        answer = {"error": str(error), "kind": type(error).__name__}
    except MemoryError:
        # There may be no memory left to tell it.
        os._exit(_OUT_OF_MEMORY)
    sys.stdout.write(json.dumps(answer))


_HEADING_STYLE = re.compile(r"^(?:Heading|标题)\s*(?P<level>[1-6])$")


def docx_text(file: Path) -> str:
    """Return the paragraphs of a .docx file, headings marked by `#` as in Markdown."""
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
            _require_bounded(file, [each for each in parts.infolist() if each.filename.endswith((".xml", ".rels"))])
            if b"<!DOCTYPE" in parts.read("word/document.xml")[:_PROLOGUE_BYTES]:
                raise InvalidFileError(
                    f"{str(file)!r} declares entities of its own, as no Word document does; save it again from Word"
                )
        paragraphs = docx.Document(str(file)).paragraphs
        return "\n\n".join(_line(each.text, each.style.name if each.style else "") for each in paragraphs)
    except (PackageNotFoundError, *_UNREADABLE) as error:
        raise InvalidFileError(f"cannot read {str(file)!r} as a Word document: {error}") from error


_PROLOGUE_BYTES = 10_000
"""A document type stands before the first element."""


def _require_bounded(file: Path, parts: list[zipfile.ZipInfo]) -> None:
    """Refuse a book that unpacks to more than can be read; no part yields more than its entry says."""
    size_bytes = sum(each.file_size for each in parts)
    if size_bytes > MAX_MARKUP_BYTES:
        raise InvalidFileError(f"{str(file)!r} unpacks to {size_bytes} bytes; the limit is {MAX_MARKUP_BYTES}")


def _line(text: str, style: str) -> str:
    match = _HEADING_STYLE.match(style)
    title = style == "Title"
    if not (match or title) or not text.strip():
        return text
    return f"{'#' * int(match['level']) if match else '#'} {' '.join(text.split())}"


_CONTAINER = "META-INF/container.xml"
_BLOCKS = frozenset({"p", "div", "li", "blockquote", "section", "article", "tr", "br", "pre", "dt", "dd"})
_HEADINGS = {"h1": "# ", "h2": "## ", "h3": "### ", "h4": "#### ", "h5": "##### ", "h6": "###### "}
_SILENT = frozenset({"script", "style", "head", "nav", "svg"})
_SCENE_BREAK = "***"


def epub_text(file: Path) -> str:
    """Return the text of an EPUB file; navigation is left out, rules become `***`."""
    try:
        with zipfile.ZipFile(file) as book:
            _require_bounded(file, [book.getinfo(_CONTAINER)])
            root = ElementTree.fromstring(book.read(_CONTAINER)).find(".//{*}rootfile")
            if root is None:
                raise KeyError("no rootfile in META-INF/container.xml")
            package = root.attrib["full-path"]
            _require_bounded(file, [book.getinfo(package)])
            names = _reading_order(book, package)
            _require_bounded(file, [book.getinfo(name) for name in names])
            return "\n\n".join(_text_of(_decoded(book.read(name))) for name in names)
    except _UNREADABLE as error:
        raise InvalidFileError(f"cannot read {str(file)!r} as an EPUB book: {error}") from error


def _decoded(markup: bytes) -> str:
    """Return a page of a book, which is UTF-8 or, with a mark at its beginning, UTF-16."""
    is_utf16 = markup.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    return markup.decode("utf-16" if is_utf16 else "utf-8-sig", "replace")


def _reading_order(book: zipfile.ZipFile, package_name: str) -> list[str]:
    package = ElementTree.fromstring(book.read(package_name))
    items = {item.attrib["id"]: item.attrib for item in package.iterfind(".//{*}manifest/{*}item")}
    folder = posixpath.dirname(package_name)
    spine = [items[each.attrib["idref"]] for each in package.iterfind(".//{*}spine/{*}itemref")]
    return [
        posixpath.normpath(posixpath.join(folder, unquote(item["href"])))
        for item in spine
        if "nav" not in item.get("properties", "").split()
    ]


def _text_of(markup: str) -> str:
    parser = _TextParser()
    parser.feed(markup)
    parser.close()
    return "\n".join(parser.lines())


class _TextParser(HTMLParser):
    """Collects the text of an XHTML page as lines."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self._lines: list[str] = [""]
        self._silent_depth = 0

    def lines(self) -> list[str]:
        """Return the lines, one empty line between blocks."""
        told = [" ".join(line.split()) for line in self._lines]
        return [line for text in told if text.strip("# ") for line in (text, "")]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in _SILENT:
            self._silent_depth += 1
        elif tag in _HEADINGS:
            self._lines.append(_HEADINGS[tag])
        elif tag == "hr":
            self._lines += [_SCENE_BREAK, ""]
        elif tag in _BLOCKS:
            self._lines.append("")

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in _SILENT:
            self.handle_starttag(tag, attrs)

    def handle_endtag(self, tag: str) -> None:
        if tag in _SILENT:
            self._silent_depth = max(0, self._silent_depth - 1)
        elif tag in _HEADINGS or tag in _BLOCKS:
            self._lines.append("")

    def handle_data(self, data: str) -> None:
        if not self._silent_depth:
            self._lines[-1] += data
