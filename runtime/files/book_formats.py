"""The text of Word documents and EPUB books in reading order, headings as Markdown.

EPUB is a zip of XHTML files with a list of their order; what is needed of it is little, and the library for it
(EbookLib) is under the AGPL.
"""

from __future__ import annotations

import posixpath
import re
import zipfile
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote
from xml.etree import ElementTree
from zipfile import BadZipFile

from novelgen.errors import ConfigurationError, InvalidFileError
from runtime.files.file_reading import MAX_FILE_BYTES

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
        document = docx.Document(str(file))
    except (PackageNotFoundError, BadZipFile, KeyError, ValueError, OSError) as error:
        raise InvalidFileError(f"cannot read {str(file)!r} as a Word document: {error}") from error
    return "\n\n".join(_line(each.text, each.style.name if each.style else "") for each in document.paragraphs)


def _line(text: str, style: str) -> str:
    match = _HEADING_STYLE.match(style)
    title = style == "Title"
    if not (match or title) or not text.strip():
        return text
    return f"{'#' * int(match['level']) if match else '#'} {' '.join(text.split())}"


MAX_TEXT_BYTES = 100 * 1024 * 1024
"""Most that the texts of a book may unpack to."""

_CONTAINER = "META-INF/container.xml"
_BLOCKS = frozenset({"p", "div", "li", "blockquote", "section", "article", "tr", "br", "pre", "dt", "dd"})
_HEADINGS = {"h1": "# ", "h2": "## ", "h3": "### ", "h4": "#### ", "h5": "##### ", "h6": "###### "}
_SILENT = frozenset({"script", "style", "head", "nav", "svg"})
_SCENE_BREAK = "***"


def epub_text(file: Path) -> str:
    """Return the text of an EPUB file; navigation is left out, rules become `***`."""
    try:
        with zipfile.ZipFile(file) as book:
            names = _reading_order(book)
            size_bytes = sum(book.getinfo(name).file_size for name in names)
            if size_bytes > MAX_TEXT_BYTES:
                raise InvalidFileError(f"{str(file)!r} unpacks to {size_bytes} bytes; the limit is {MAX_TEXT_BYTES}")
            return "\n\n".join(_text_of(book.read(name).decode("utf-8", "replace")) for name in names)
    except (zipfile.BadZipFile, ElementTree.ParseError, KeyError, OSError, RuntimeError) as error:
        raise InvalidFileError(f"cannot read {str(file)!r} as an EPUB book: {error}") from error


def _reading_order(book: zipfile.ZipFile) -> list[str]:
    container = ElementTree.fromstring(book.read(_CONTAINER))
    root = container.find(".//{*}rootfile")
    if root is None:
        raise KeyError("no rootfile in META-INF/container.xml")
    package_name = root.attrib["full-path"]
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
