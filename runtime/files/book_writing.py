"""A story as a file that writers send and read: plain text, Markdown, Word, EPUB.

Both of the last two are zip archives of XML; what a novel needs of them, headings and paragraphs, is little. The
library for EPUB is under the AGPL, and python-docx is an extra that nobody should need who presses a button.
"""

import io
import zipfile
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import NamedTuple
from xml.sax.saxutils import escape

from novelgen.models.position import utc_now


class BookChapter(NamedTuple):
    """A chapter: its heading, and the texts of its scenes."""

    heading: str
    scenes: Sequence[str]


BREAK = "***"
"""What stands between two scenes."""

_XML = '<?xml version="1.0" encoding="UTF-8"?>'
_OFFICE = "http://schemas.openxmlformats.org"
_WORD = f'xmlns:w="{_OFFICE}/wordprocessingml/2006/main"'
_PACKAGE = f"{_OFFICE}/package/2006"
_RELATIONS = f"{_OFFICE}/officeDocument/2006/relationships"
_STYLES = (
    f'{_XML}<w:styles {_WORD}><w:style w:type="paragraph" w:default="1" w:styleId="Normal"><w:name w:val="Normal"/>'
    '</w:style><w:style w:type="paragraph" w:styleId="Heading1"><w:name w:val="heading 1"/><w:basedOn w:val="Normal"/>'
    '<w:next w:val="Normal"/><w:pPr><w:keepNext/><w:pageBreakBefore/><w:spacing w:after="240"/>'
    '<w:outlineLvl w:val="0"/></w:pPr><w:rPr><w:b/><w:sz w:val="32"/></w:rPr></w:style></w:styles>'
)


def _plain(chapters: Sequence[BookChapter], title: str, language: str, *, mark: str = "") -> bytes:
    pieces = [
        piece
        for chapter in chapters
        for piece in (mark + chapter.heading, f"\n\n{BREAK}\n\n".join(map(_set_in, chapter.scenes)))
    ]
    return ("\n\n".join(pieces) + "\n" if pieces else "").encode("utf-8", "replace")


def _set_in(text: str) -> str:
    """Indent the first paragraph like the others."""
    others = [line for line in text.split("\n")[1:] if line.strip()]
    widths = {len(line) - len(line.lstrip("\u3000")) for line in others}
    return "\u3000" * widths.pop() + text if len(widths) == 1 else text


def _docx(chapters: Sequence[BookChapter], title: str, language: str) -> bytes:
    def paragraph(text: str, style: str = "") -> str:
        look = f'<w:pPr><w:pStyle w:val="{style}"/></w:pPr>' if style else ""
        return f'<w:p>{look}<w:r><w:t xml:space="preserve">{_xml_text(text)}</w:t></w:r></w:p>'

    body = "".join(
        paragraph(chapter.heading, "Heading1") + "".join(paragraph(line) for line in _lines(chapter))
        for chapter in chapters
    )
    types = "".join(
        f'<Override PartName="/word/{part}.xml" ContentType="application/vnd.openxmlformats-officedocument.'
        f'wordprocessingml.{kind}+xml"/>'
        for part, kind in (("document", "document.main"), ("styles", "styles"))
    )
    return _zipped(
        {
            "[Content_Types].xml": f'{_XML}<Types xmlns="{_PACKAGE}/content-types"><Default Extension="rels" '
            f'ContentType="application/vnd.openxmlformats-package.relationships+xml"/>{types}</Types>',
            "_rels/.rels": _relation("officeDocument", "word/document.xml"),
            "word/_rels/document.xml.rels": _relation("styles", "styles.xml"),
            "word/document.xml": f"{_XML}<w:document {_WORD}><w:body>{body}</w:body></w:document>",
            "word/styles.xml": _STYLES,
        }
    )


def _relation(kind: str, target: str) -> str:
    return (
        f'{_XML}<Relationships xmlns="{_PACKAGE}/relationships"><Relationship Id="r1" '
        f'Type="{_RELATIONS}/{kind}" Target="{target}"/></Relationships>'
    )


def _epub(chapters: Sequence[BookChapter], title: str, language: str) -> bytes:
    names = [f"c{number}" for number in range(1, len(chapters) + 1)]

    def page(heading: str, inner: str) -> str:
        return (
            f'{_XML}<html xmlns="http://www.w3.org/1999/xhtml" xmlns:epub="http://www.idpf.org/2007/ops" '
            f'xml:lang="{language}"><head><title>{_xml_text(heading)}</title></head><body>{inner}</body></html>'
        )

    items = "".join(f'<item id="{name}" href="{name}.xhtml" media-type="application/xhtml+xml"/>' for name in names)
    spine = "".join(f'<itemref idref="{name}"/>' for name in names)
    links = "".join(
        f'<li><a href="{name}.xhtml">{_xml_text(chapter.heading)}</a></li>'
        for name, chapter in zip(names, chapters, strict=True)
    )
    files = {
        "META-INF/container.xml": f'{_XML}<container version="1.0" xmlns="urn:oasis:names:tc:opendocument:xmlns:'
        'container"><rootfiles><rootfile full-path="book.opf" media-type="application/oebps-package+xml"/></rootfiles>'
        "</container>",
        "book.opf": f'{_XML}<package xmlns="http://www.idpf.org/2007/opf" version="3.0" unique-identifier="id">'
        f'<metadata xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:identifier id="id">urn:novelgen:{_xml_text(title)}'
        f"</dc:identifier><dc:title>{_xml_text(title)}</dc:title><dc:language>{language}</dc:language>"
        f'<meta property="dcterms:modified">{utc_now():%Y-%m-%dT%H:%M:%SZ}</meta></metadata><manifest>'
        f'<item id="nav" href="nav.xhtml" media-type="application/xhtml+xml" properties="nav"/>{items}</manifest>'
        f"<spine>{spine}</spine></package>",
        "nav.xhtml": page(title, f'<nav epub:type="toc"><ol>{links}</ol></nav>'),
    }
    for name, chapter in zip(names, chapters, strict=True):
        lines = "".join(f"<p>{_xml_text(line)}</p>" for line in _lines(chapter))
        files[f"{name}.xhtml"] = page(chapter.heading, f"<h1>{_xml_text(chapter.heading)}</h1>{lines}")
    return _zipped(files, mimetype="application/epub+zip")


def _zipped(files: Mapping[str, str], *, mimetype: str = "") -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        if mimetype:
            # By the rules of EPUB it comes first, and not compressed.
            archive.writestr(zipfile.ZipInfo("mimetype"), mimetype)
        for name, text in files.items():
            archive.writestr(name, text.encode("utf-8", "replace"))
    return packed.getvalue()


def _lines(chapter: BookChapter) -> list[str]:
    text = f"\n{BREAK}\n".join(chapter.scenes)
    return [line.strip() for line in text.splitlines() if line.strip()]


def _xml_text(text: str) -> str:
    """Return a text as XML may hold it."""
    return escape(
        "".join(other_text for other_text in text if other_text >= " " and other_text not in "\ufffe\uffff"),
        {'"': "&quot;"},
    )


class BookFormat(NamedTuple):
    """The writer and media type of a file format."""

    write: Callable[[Sequence[BookChapter], str, str], bytes]
    media_type: str


BOOK_WRITERS: Mapping[str, BookFormat] = {
    "txt": BookFormat(_plain, "text/plain; charset=utf-8"),
    "md": BookFormat(partial(_plain, mark="# "), "text/markdown; charset=utf-8"),
    "docx": BookFormat(_docx, "application/vnd.openxmlformats-officedocument.wordprocessingml.document"),
    "epub": BookFormat(_epub, "application/epub+zip"),
}
"""Ending of a file to how it is written."""
