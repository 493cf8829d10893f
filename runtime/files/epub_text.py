"""The text of an EPUB book in reading order, with the chapters that its table of contents names.

EPUB is a zip of XHTML pages with a list of their order; what is needed of it is little, and the library for it
(EbookLib) is under the AGPL. Pages are read by the parser of HTML in Python, which reads whatever books hold.
"""

import codecs
import posixpath
import re
import zipfile
from collections import Counter
from collections.abc import Mapping, Sequence
from html.parser import HTMLParser
from itertools import chain
from typing import NamedTuple
from urllib.parse import unquote, urldefrag
from xml.etree import ElementTree

from novelgen.errors import InvalidFileError
from novelgen.language.language import CJK_RANGES
from runtime.files.chapter_headings import Heading, titled_heading
from runtime.files.file_reading import decoded_text
from runtime.files.left_out import LeftOut, LeftOutKind

CONTAINER = "META-INF/container.xml"
_ENCRYPTION = "META-INF/encryption.xml"
_FONT_ALGORITHMS = frozenset({"http://www.idpf.org/2008/embedding", "http://ns.adobe.com/pdf/enc#RC"})
_RIGHTS = {"META-INF/rights.xml": "Adobe", "META-INF/sinf.xml": "Apple", "META-INF/license.lcpl": "Readium LCP"}
_PAGE_TYPES = frozenset({"application/xhtml+xml", "text/html", "application/xml", "text/x-oeb1-document", ""})
_SCENE_BREAK = "***"


class Page(NamedTuple):
    """A page of the reading order."""

    name: str
    title_type: str = ""
    """What the book's guide calls it: cover, title-page, toc, …"""
    is_apart: bool = False
    """Whether the reading order passes over it."""


class Package(NamedTuple):
    """A book's metadata on its pages."""

    pages: list[Page]
    toc_name: str
    toc_is_ncx: bool


class TocEntry(NamedTuple):
    """An entry of the table of contents."""

    title: str
    page: str
    anchor: str
    depth: int


def refuse_protected(book: zipfile.ZipFile, file_name: str) -> None:
    """Reject a book under DRM by name, but not encrypted fonts."""
    names = set(book.namelist())
    if _ENCRYPTION not in names:
        return
    root = ElementTree.fromstring(book.read(_ENCRYPTION))
    algorithms = [
        (data.find("./{*}EncryptionMethod"), data.find("./{*}CipherData/{*}CipherReference"))
        for data in root.iterfind(".//{*}EncryptedData")
    ]
    hidden = [
        reference.get("URI", "")
        for method, reference in algorithms
        if reference is not None and (method is None or method.get("Algorithm") not in _FONT_ALGORITHMS)
    ]
    if any(name.lower().endswith((".xhtml", ".html", ".htm", ".xml", ".opf", ".ncx")) for name in hidden):
        by = next((owner for name, owner in _RIGHTS.items() if name in names), "")
        raise InvalidFileError(
            f"{file_name!r} is under DRM{f' ({by})' if by else ''}: its pages are encrypted; take a copy without DRM"
        )


def read_package(book: zipfile.ZipFile, package_name: str, left_out: LeftOut) -> Package:
    """Return the pages of a book in reading order, without those that are missing and those that are pictures."""
    package = ElementTree.fromstring(book.read(package_name))
    folder = posixpath.dirname(package_name)
    names = set(book.namelist())
    items = {item.get("id", ""): item.attrib for item in package.iterfind(".//{*}manifest/{*}item")}
    guide = {
        _path(folder, reference.get("href", "")): reference.get("type", "").lower()
        for reference in package.iterfind(".//{*}guide/{*}reference")
    }
    spine = package.find(".//{*}spine")
    pages: list[Page] = []
    for reference in () if spine is None else spine.iterfind("./{*}itemref"):
        item = items.get(reference.get("idref", ""))
        name = _path(folder, item.get("href", "")) if item is not None else ""
        if item is None or name not in names:
            left_out.add("missing_pages", name or reference.get("idref", ""))
        elif item.get("media-type", "").lower() not in _PAGE_TYPES:
            left_out.add("pictures", posixpath.basename(name))
        elif "nav" not in item.get("properties", "").split():
            pages.append(Page(name, guide.get(name, ""), reference.get("linear") == "no"))
    nav = next((item for item in items.values() if "nav" in item.get("properties", "").split()), None)
    ncx = items.get(spine.get("toc", "") if spine is not None else "") or next(
        (item for item in items.values() if item.get("media-type") == "application/x-dtbncx+xml"), None
    )
    for item, is_ncx in ((nav, False), (ncx, True)):
        name = _path(folder, item.get("href", "")) if item is not None else ""
        if name in names:
            return Package(pages, name, is_ncx)
    return Package(pages, "", False)


def _path(folder: str, address: str) -> str:
    """Return the name in the archive that an address in a folder leads to."""
    return posixpath.normpath(posixpath.join(folder, unquote(urldefrag(address).url))) if address else ""


def decoded_page(markup: bytes) -> str:
    """Return a page in the encoding that it declares, else the one that it looks like."""
    if markup.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return markup.decode("utf-16", "replace")
    declared = _DECLARED.search(markup[:1024])
    name = declared[1].decode("ascii").lower() if declared else "utf-8"
    for encoding in (_WIDER.get(name, name), "utf-8-sig"):
        try:
            return markup.decode(encoding)
        except (LookupError, UnicodeDecodeError):
            continue
    decoded = decoded_text(markup)
    return decoded.text if decoded is not None else markup.decode(_known_encoding(_WIDER.get(name, name)), "replace")


_DECLARED = re.compile(
    rb"""(?:<\?xml[^>]{0,200}?encoding|<meta[^>]{0,200}?charset)\s*=\s*["']?\s*([\w.:-]{1,40})""", re.I
)
_WIDER = {
    **dict.fromkeys(("gb2312", "gbk", "gb_2312-80", "x-gbk"), "gb18030"),
    "big5": "big5hkscs",
    "iso-8859-1": "cp1252",
    "us-ascii": "utf-8-sig",
    "utf-8": "utf-8-sig",
    "utf8": "utf-8-sig",
}


def _known_encoding(encoding: str) -> str:
    try:
        codecs.lookup(encoding)
    except LookupError:
        return "utf-8"
    return encoding


# --- The table of contents ---


def read_toc(book: zipfile.ZipFile, package: Package) -> list[TocEntry]:
    """Return a book's table of contents in order, empty if unreadable."""
    if not package.toc_name:
        return []
    folder = posixpath.dirname(package.toc_name)
    markup = book.read(package.toc_name)
    if not package.toc_is_ncx:
        reader = _NavReader(folder)
        reader.feed(decoded_page(markup))
        reader.close()
        return reader.entries
    try:
        root = ElementTree.fromstring(markup)
    except ElementTree.ParseError:
        return []
    entries: list[TocEntry] = []
    points_to_visit = [(point, 0) for point in reversed(root.findall(".//{*}navMap/{*}navPoint"))]
    while points_to_visit:
        point, depth = points_to_visit.pop()
        label, content = point.find("./{*}navLabel/{*}text"), point.find("./{*}content")
        address = content.get("src", "") if content is not None else ""
        title = " ".join((label.text or "").split()) if label is not None else ""
        entries.append(TocEntry(title, _path(folder, address), urldefrag(address).fragment, depth))
        points_to_visit += [(child, depth + 1) for child in reversed(point.findall("./{*}navPoint"))]
    return entries


class _NavReader(HTMLParser):
    """Reads the list of links in the navigation page of a book."""

    def __init__(self, folder: str) -> None:
        super().__init__(convert_charrefs=True)
        self.entries: list[TocEntry] = []
        self._folder = folder
        self._depth = 0
        self._in_toc = False
        self._address: str | None = None
        self._title = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = {name: value or "" for name, value in attrs}
        if tag == "nav":
            self._in_toc = not self.entries and "toc" in values.get("epub:type", "toc").split()
        elif self._in_toc and tag == "ol":
            self._depth += 1
        elif self._in_toc and tag in ("a", "span") and self._address is None:
            self._address, self._title = values.get("href", ""), ""

    def handle_endtag(self, tag: str) -> None:
        if tag == "nav":
            self._in_toc = False
        elif self._in_toc and tag == "ol":
            self._depth -= 1
        elif tag in ("a", "span") and self._address is not None:
            address, title = self._address, " ".join(self._title.split())
            self._address = None
            if title:
                page = _path(self._folder, address)
                self.entries.append(TocEntry(title, page, urldefrag(address).fragment, max(0, self._depth - 1)))

    def handle_data(self, data: str) -> None:
        if self._address is not None:
            self._title += data


def toc_headings(entries: Sequence[TocEntry]) -> dict[tuple[str, str], Heading]:
    """Return by page and anchor which entries begin a chapter or a volume.

    An entry with others below it is a volume where these lie on other pages, and a chapter with sections where they
    lie on its own, or where it has a chapter's number.
    """
    below = [_children(entries, index) for index in range(len(entries))]
    roots = [index for index, entry in enumerate(entries) if entry.depth == 0]
    skipped = set(roots) if len(roots) == 1 and len(below[roots[0]]) > 1 else set()
    headings: dict[tuple[str, str], Heading] = {}
    chapter_depth: int | None = None
    for index, entry in enumerate(entries):
        if chapter_depth is not None and entry.depth > chapter_depth:
            continue
        chapter_depth = None
        if index in skipped or not entry.title:
            continue
        heading = titled_heading(entry.title)
        holds_pages = any(entries[child].page != entry.page for child in below[index])
        if holds_pages and heading.number is None:
            heading = heading._replace(kind="volume", number=None, last_number=None)
        elif below[index] and heading.kind != "volume":
            chapter_depth = entry.depth
        if entry.page:
            headings.setdefault((entry.page, entry.anchor), heading)
    return headings


def _children(entries: Sequence[TocEntry], index: int) -> list[int]:
    children = []
    for at in range(index + 1, len(entries)):
        if entries[at].depth <= entries[index].depth:
            break
        children.append(at)
    return children


# --- Pages ---

_BLOCKS = frozenset(
    "p div li ul ol dl blockquote section article aside header footer main figure figcaption table tr td th br pre dt"
    " dd center body".split()
)
_HEADING_TAGS = {f"h{level}": level for level in range(1, 7)}
_VOID = frozenset("br hr img input meta link area base col embed source track wbr".split())
_SILENT = frozenset({"script", "style", "head", "nav", "svg", "math", "audio", "video", "object"})
_SKIPPED_TAGS: Mapping[str, LeftOutKind] = {"rt": "readings", "rtc": "readings", "rp": "readings"}
_SKIPPED_TYPES: Mapping[str, LeftOutKind] = {
    **dict.fromkeys(("noteref", "backlink", "fnanchor"), "note_marks"),
    **dict.fromkeys(
        ("footnote", "footnotes", "endnote", "endnotes", "rearnote", "rearnotes", "note", "notes"), "notes"
    ),
    **dict.fromkeys(("pagebreak", "page-list", "pagenum", "pageno", "page-number"), "page_numbers"),
    **dict.fromkeys(("toc", "landmarks", "loi", "lot", "loa", "lov"), "table_of_contents"),
    **dict.fromkeys(
        (
            *(
                "cover",
                "titlepage",
                "halftitlepage",
                "copyright-page",
                "colophon",
                "dedication",
                "imprint",
                "imprimatur",
            ),
            *(
                "index",
                "glossary",
                "bibliography",
                "acknowledgments",
                "contributors",
                "other-credits",
                "errata",
                "credits",
            ),
        ),
        "front_and_back_matter",
    ),
}
_SKIPPED_CLASSES: Mapping[str, LeftOutKind] = {
    name: kind
    for name, kind in _SKIPPED_TYPES.items()
    if kind in ("note_marks", "notes", "page_numbers") and name not in ("note", "notes", "backlink")
}
_STORY_TYPES = frozenset(
    "chapter part volume prologue epilogue preface foreword introduction afterword conclusion bodymatter"
    " epigraph".split()
)
_MATTER_OF_GUIDE: Mapping[str, LeftOutKind] = {
    **dict.fromkeys(
        (
            "cover",
            "title-page",
            "copyright-page",
            "colophon",
            "dedication",
            "acknowledgements",
            "index",
            "bibliography",
            "glossary",
        ),
        "front_and_back_matter",
    ),
    "toc": "table_of_contents",
    "notes": "notes",
}
_MATTER_TITLE = re.compile(
    r"(?:about (?:the )?(?:authors?|publisher|type|translator)|also (?:available )?by\b.*|by the same author"
    r"|(?:books|other (?:books|titles|works)) by\b.*|copyright(?: (?:page|notice|information))?"
    r"|(?:table of )?contents|acknowledge?ments?|praise for\b.*|title page|half title|cover(?: page)?|dedication"
    r"|colophon|newsletter(?: sign-?up)?|(?:an )?excerpt from\b.*|a note on the type|landmarks"
    r"|关于作者|作者简介|版权(?:页|信息|声明)?|目\s*录|封面|封底|扉页|书名页|致谢|鸣谢|内容简介|作品简介|出版说明"
    r"|關於作者|版權(?:頁|資訊)?|目\s*錄|致謝)",
    re.IGNORECASE,
)
_MOST_MATTER = 20_000
"""A page of more characters is no back matter, whatever it is called."""
_NOTE_MARK = re.compile(
    r"^\s*[\[(（【〔〈]?\s*(?:\d{1,4}|[*†‡§¶]{1,3}|[①-⑳]|[ivxlc]{1,6}|[a-z]|注\s*\d*)\s*[\])）】〕〉]?\s*$"
)
_BACK_LINK = re.compile(r"^\s*(?:[↩↑^⏎«]|return|back|返回)\ufe0e?\s*$", re.IGNORECASE)
_BREAK_CLASS = re.compile(r"break|ornament|separator|divider|asterism|scene-?sep|dinkus", re.IGNORECASE)
_BETWEEN_CHINESE = rf"[{CJK_RANGES}\u3000-\u303f\u3040-\u30ff\uff00-\uffef“”‘’…—]"
_LINE_BREAK = re.compile(rf"(?<={_BETWEEN_CHINESE})[^\S\n]*\n\s*(?={_BETWEEN_CHINESE})")
_EMPTY_SHARE = 5
"""Of so many paragraphs at least there is one that stands empty, where empty ones part scenes."""


_SILENTLY = "silently"


class _Element(NamedTuple):
    """An element that was opened."""

    tag: str
    skipped_as: str
    """Kind of what is left out with it, or nothing."""
    link: str = ""
    """Where a link leads, as page and anchor."""
    pieces_before: int = 0


class _Block:
    """A paragraph or heading in the making."""

    def __init__(self, level: int = 0) -> None:
        self.level = level
        self.pieces: list[str] = []
        self.marks: dict[int, tuple[str, str]] = {}
        """Note marks by their piece: text, and the note that it leads to."""
        self.note_label: str | None = None
        """How the note is marked that this paragraph may be."""
        self.has_back_link = False
        self.is_break = False

    def text(self, *, with_marks: bool = False) -> str:
        """Return a page's visible text, joining lines between Chinese characters."""
        shown_names = (piece for index, piece in enumerate(self.pieces) if with_marks or index not in self.marks)
        return " ".join(_LINE_BREAK.sub("", "".join(shown_names)).split())


class _PageReader(HTMLParser):
    """Reads a page: its paragraphs as lines, with the headings that the table of contents gives it."""

    def __init__(self, book: "BookReader", name: str) -> None:
        super().__init__(convert_charrefs=True)
        self.lines: list[str] = []
        self.headings: list[Heading] = []
        self.empty_at: list[int] = []
        """Before which lines an empty paragraph stands."""
        self.first_title = ""
        self.types: frozenset[str] = frozenset()
        self._book = book
        self._name = name
        self._open: list[_Element] = []
        self._open_tags: Counter[str] = Counter()
        self._skipped: list[str] = []
        self._skip_depth = 0
        self._block = _Block()
        self._heading: Heading | None = None
        self._heading_texts: list[str] = []
        self._begin_heading("")

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        tag = tag.rpartition(":")[2]
        values = {name: value or "" for name, value in attrs}
        types = self._types_of(tag, values)
        skipped_as = self._skipped_as(tag, types, values)
        if tag in _VOID:
            if not self._skip_depth and not skipped_as:
                self._void(tag, values)
            elif skipped_as not in ("", _SILENTLY) and not self._skip_depth:
                self._book.left_out.add(skipped_as, values.get("title", ""))  # type: ignore[arg-type]
            return
        link = self._link(values.get("href", "")) if tag == "a" else ""
        if skipped_as == "note_marks":
            self._book.note_labels.setdefault(link, "")
        if skipped_as and not self._skip_depth:
            self._skipped = []
        if not self._skip_depth and not skipped_as:
            self._begin(tag, values)
        self._open.append(_Element(tag, skipped_as, link, len(self._block.pieces)))
        self._open_tags[tag] += 1
        self._skip_depth += bool(skipped_as)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag.rpartition(":")[2] not in _VOID:
            self.handle_endtag(tag)

    def handle_endtag(self, tag: str) -> None:
        tag = tag.rpartition(":")[2]
        if not self._open_tags[tag]:
            return
        while self._open:
            element = self._open.pop()
            self._open_tags[element.tag] -= 1
            self._end(element)
            if element.tag == tag:
                return

    def handle_data(self, data: str) -> None:
        (self._skipped if self._skip_depth else self._block.pieces).append(data)

    def close(self) -> None:
        super().close()
        for element in reversed(self._open):
            self._end(element)
        self._finish_block()
        self._write_heading()

    def _types_of(self, tag: str, values: Mapping[str, str]) -> frozenset[str]:
        roles = (role.removeprefix("doc-") for role in values.get("role", "").lower().split())
        types = frozenset(chain(values.get("epub:type", "").lower().split(), roles))
        if tag in ("html", "body") or (tag in ("section", "div") and not self.lines and not self._block.text()):
            self.types |= types
        return types

    def _skipped_as(self, tag: str, types: frozenset[str], values: Mapping[str, str]) -> str:
        if tag in _SILENT:
            return _SILENTLY
        if tag in _SKIPPED_TAGS:
            return _SKIPPED_TAGS[tag]
        if tag != "html" and (kinds := [_SKIPPED_TYPES[name] for name in types if name in _SKIPPED_TYPES]):
            return kinds[0]
        classes = values.get("class", "").lower().split()
        if tag not in ("html", "body") and (
            kinds := [_SKIPPED_CLASSES[name] for name in classes if name in _SKIPPED_CLASSES]
        ):
            return kinds[0]
        is_hidden = "hidden" in values or "display:none" in values.get("style", "").replace(" ", "").lower()
        return "hidden_text" if is_hidden and tag not in ("html", "body") else ""

    def _link(self, address: str) -> str:
        page, anchor = urldefrag(address)
        if not anchor or ":" in page:
            return ""
        return f"{_path(posixpath.dirname(self._name), page) if page else self._name}#{anchor}"

    def _begin(self, tag: str, values: Mapping[str, str]) -> None:
        if tag in _HEADING_TAGS or tag in _BLOCKS:
            self._finish_block()
            self._block = _Block(_HEADING_TAGS.get(tag, 0))
            self._block.is_break = bool(_BREAK_CLASS.search(values.get("class", "")))
        for anchor in {values.get("id", ""), values.get("name", "") if tag == "a" else ""} - {""}:
            self._begin_heading(anchor)
            label = self._book.note_labels.get(f"{self._name}#{anchor}")
            if label is not None and not self._block.text():
                self._block.note_label = label

    def _void(self, tag: str, values: Mapping[str, str]) -> None:
        if tag == "hr":
            self._finish_block()
            self._write_heading()
            self.lines.append(_SCENE_BREAK)
        elif tag == "br":
            level = self._block.level
            if level:
                self._block.pieces.append(" ")
            else:
                note_label, is_break = self._block.note_label, self._block.is_break
                self._finish_block(is_whole=False)
                self._block = _Block()
                self._block.note_label, self._block.is_break = note_label, is_break
        elif tag == "img":
            if self._block.level:
                self._block.pieces.append(values.get("alt", ""))
            elif self._block.is_break or _BREAK_CLASS.search(values.get("class", "")):
                self._block.is_break = True
            else:
                self._book.left_out.add("pictures", values.get("alt", ""))

    def _end(self, element: _Element) -> None:
        if element.skipped_as:
            self._skip_depth -= 1
            if not self._skip_depth and element.skipped_as != _SILENTLY:
                text = "".join(self._skipped)
                if text.strip() or element.skipped_as == "page_numbers":
                    self._book.left_out.add(element.skipped_as, text)  # type: ignore[arg-type]
            return
        if self._skip_depth:
            return
        if element.tag in _HEADING_TAGS or element.tag in _BLOCKS:
            self._finish_block()
            self._block = _Block()
        elif element.link:
            text = "".join(self._block.pieces[element.pieces_before :])
            if _BACK_LINK.match(text):
                self._block.has_back_link = True
                del self._block.pieces[element.pieces_before :]
            elif _NOTE_MARK.match(text):
                self._block.pieces[element.pieces_before :] = [text]
                self._block.marks[len(self._block.pieces) - 1] = (text, element.link)

    def _finish_block(self, *, is_whole: bool = True) -> None:
        block, self._block = self._block, _Block()
        text, whole = block.text(), block.text(with_marks=True)
        if block.note_label is not None and self._is_note(block, whole):
            self._book.left_out.add("notes", whole)
        elif text:
            for mark, link in block.marks.values():
                self._book.left_out.add("note_marks", mark)
                self._book.note_labels.setdefault(link, mark.strip(" []()（）【】"))
            if block.level or self._is_title(text):
                self._title(text, block.level)
            else:
                self._write_heading()
                self.lines.append(text)
        elif whole:
            # Numbers that are links and nothing beside: a list of pages or chapters.
            self._book.left_out.add("table_of_contents", whole)
        elif block.is_break and self.lines:
            self.lines.append(_SCENE_BREAK)
        elif is_whole and block.pieces and self.lines:
            self.empty_at.append(len(self.lines))

    def _is_note(self, block: _Block, text: str) -> bool:
        """Tell whether a paragraph that a mark leads to is the note, and no place that is referred to."""
        label = block.note_label or ""
        return block.has_back_link or not label or text.lstrip(" [(（【").startswith(label)

    def _begin_heading(self, anchor: str) -> None:
        """Begin a chapter that the table of contents names."""
        heading = self._book.toc.get((self._name, anchor))
        if heading is not None:
            pending = self._block
            if pending.text():
                self._finish_block()
                self._block = _Block()
            self._write_heading()
            self._heading = heading

    def _is_title(self, text: str) -> bool:
        """Return whether a paragraph repeats the chapter's title."""
        return self._heading is not None and _key(text) in (_key(self._heading.title), *map(_key, self._heading_texts))

    def _title(self, text: str, level: int) -> None:
        self.first_title = self.first_title or text
        if self._heading is not None:
            self._heading_texts.append(text)
        else:
            self.lines.append(f"{'#' * level} {text}" if level else text)

    def _write_heading(self) -> None:
        """Write the heading that the table of contents gives, in the fuller words of the page where it has them."""
        heading, self._heading = self._heading, None
        if heading is None:
            return
        texts, self._heading_texts = self._heading_texts, []
        shown_text = " ".join(texts)
        title = shown_text if _key(heading.title) in _key(shown_text) else heading.title
        rendered_heading = titled_heading(title)
        if heading.kind == "volume":
            rendered_heading = rendered_heading._replace(kind="volume", number=None, last_number=None)
        elif shown_text and _key(shown_text) not in _key(title):
            # Chapter 3 on the page, and The Lamp in the table of contents.
            rendered_heading = titled_heading(f"{shown_text} {heading.title}")
        self.first_title = self.first_title or rendered_heading.title
        self.headings.append(rendered_heading._replace(line=len(self.lines)))
        self.lines.append(f"# {rendered_heading.title}")


def _key(text: str) -> str:
    return "".join(text.casefold().split())


class BookReader:
    """Reads the pages of a book one after the other."""

    def __init__(self, toc: Mapping[tuple[str, str], Heading], left_out: LeftOut) -> None:
        self.toc = toc
        self.left_out = left_out
        self.note_labels: dict[str, str] = {}
        """How a note is marked, by its page and anchor."""
        self._lines: list[str] = []
        self._headings: list[Heading] = []

    def read(self, page: Page, markup: str) -> None:
        """Read a page, unless it is none of the story's."""
        reader = _PageReader(self, page.name)
        reader.feed(markup)
        reader.close()
        text = " ".join(reader.lines)
        if kind := _matter(page, reader, len(text)):
            if text:
                self.left_out.add(kind, text.lstrip("# "))
            return
        lines = _with_breaks(reader.lines, reader.empty_at)
        before = len(self._lines)
        for line, written_count in lines:
            if written_count is not None:
                at = next((heading for heading in reader.headings if heading.line == written_count), None)
                if at is not None:
                    self._headings.append(at._replace(line=len(self._lines)))
            self._lines += [line, ""]
        if len(self._lines) == before:
            return

    def text(self) -> str:
        """Return the text of all pages, a heading and a paragraph on a line each."""
        return "\n".join(self._lines).strip("\n")

    def headings(self) -> list[Heading]:
        """Return the headings of the table of contents by their lines."""
        numbers = [heading.number for heading in self._headings if heading.number is not None]
        if numbers == sorted(set(numbers)):
            return self._headings
        # "1984" and "10 Downing Street" begin with no chapter's number.
        return [
            heading if not heading.title[:1].isdigit() else heading._replace(number=None, last_number=None)
            for heading in self._headings
        ]


def _matter(page: Page, reader: _PageReader, characters: int) -> LeftOutKind | None:
    """Return the kind of a page outside the story."""
    if page.is_apart:
        return "pages_apart"
    if characters > _MOST_MATTER or reader.types & _STORY_TYPES:
        return None
    if page.title_type in _MATTER_OF_GUIDE:
        return _MATTER_OF_GUIDE[page.title_type]
    if reader.types & {"frontmatter", "backmatter"} and titled_heading(reader.first_title).kind != "named":
        return "front_and_back_matter"
    return "front_and_back_matter" if _MATTER_TITLE.fullmatch(reader.first_title) else None


def _with_breaks(lines: Sequence[str], empty_at: Sequence[int]) -> list[tuple[str, int | None]]:
    """Return lines, each with its place, and `***` for empty paragraphs where few of all stand empty."""
    part_scenes = 0 < len(empty_at) * _EMPTY_SHARE <= len(lines)
    breaks = set(empty_at) if part_scenes else set()
    text_pieces: list[tuple[str, int | None]] = []
    for index, line in enumerate(lines):
        is_between = index in breaks and index > 0 and not (lines[index - 1] + line).startswith("#")
        if is_between and not line.startswith("#") and _SCENE_BREAK not in (lines[index - 1], line):
            text_pieces.append((_SCENE_BREAK, None))
        text_pieces.append((line, index))
    return text_pieces
