"""Small books that make parsers run for minutes, take gigabytes or fail in ways of their own; made when needed."""

import zipfile
from collections.abc import Mapping
from pathlib import Path

_CONTAINER = (
    '<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles>'
    '<rootfile full-path="book.opf"/></rootfiles></container>'
)
_PACKAGE = (
    '<package xmlns="http://www.idpf.org/2007/opf"><manifest><item id="a" href="a.xhtml"/></manifest>'
    '<spine><itemref idref="a"/></spine></package>'
)
_WORD = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
_OFFICE = "http://schemas.openxmlformats.org"
_TYPES = (
    f'<Types xmlns="{_OFFICE}/package/2006/content-types">'
    '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
    '<Override PartName="/word/document.xml" ContentType="application/vnd.openxmlformats-officedocument'
    '.wordprocessingml.document.main+xml"/></Types>'
)
_RELATIONS = (
    f'<Relationships xmlns="{_OFFICE}/package/2006/relationships"><Relationship Id="r" '
    f'Type="{_OFFICE}/officeDocument/2006/relationships/officeDocument" Target="word/document.xml"/></Relationships>'
)


def write_epub(file: Path, page: str | bytes, *, container: str = _CONTAINER) -> Path:
    """Write an EPUB book of one page."""
    return _write(file, {"META-INF/container.xml": container, "book.opf": _PACKAGE, "a.xhtml": page})


def write_docx(file: Path, document: str) -> Path:
    """Write a Word document whose main part is this XML."""
    return _write(file, {"[Content_Types].xml": _TYPES, "_rels/.rels": _RELATIONS, "word/document.xml": document})


def word_document(body: str, *, before: str = "") -> str:
    """Return the XML of a Word document with a body."""
    return f'{before}<w:document xmlns:w="{_WORD}"><w:body>{body}</w:body></w:document>'


def _write(file: Path, parts: Mapping[str, str | bytes]) -> Path:
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as book:
        for name, content in parts.items():
            book.writestr(name, content)
    return file


def endless_epub(file: Path) -> Path:
    """1 KB on which Python's own parser of HTML needs minutes: it looks for the end of each of 100,000 comments."""
    return write_epub(file, "<!--" * 100_000)


def wide_docx(file: Path) -> Path:
    """300 KB of three million paragraphs, which take gigabytes as objects."""
    return write_docx(file, word_document("<w:p/>" * 3_000_000))


def bomb_epub(file: Path) -> Path:
    """A list of contents that unpacks to more than memory should hold."""
    return write_epub(file, "<p>x</p>", container=" " * (101 * 1024 * 1024))
