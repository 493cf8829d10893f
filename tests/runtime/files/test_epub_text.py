"""What the pages of an EPUB book tell, and the chapters that its table of contents names."""

import zipfile
from collections.abc import Mapping
from pathlib import Path

import pytest

from novelgen.errors import InvalidFileError
from runtime.files import manuscripts
from runtime.files.book_formats import read_epub
from runtime.files.manuscripts import Manuscript, read_manuscript
from tests.runtime.files.test_manuscripts import shape

STORY = "<p>Ada climbed the stairs and lit the lamp. Roe asked what she had seen.</p>" * 6


@pytest.fixture(autouse=True)
def in_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """Read books here; the process that reads them otherwise is tested with hostile ones."""
    monkeypatch.setattr(manuscripts, "read_book", lambda file, **_: read_epub(file))


def epub(
    file: Path,
    pages: Mapping[str, str | bytes],
    *,
    toc: str = "",
    ncx: str = "",
    spine: str = "",
    more: str = "",
    extra: Mapping[str, str] | None = None,
) -> Path:
    """Write a book; `toc` is a list in its navigation page, `spine` and `more` follow its own entries."""
    items = "".join(f'<item id="{name}" href="{name}.xhtml" media-type="application/xhtml+xml"/>' for name in pages)
    order = "".join(f'<itemref idref="{name}"/>' for name in pages)
    parts: dict[str, str | bytes] = {f"{name}.xhtml": _page(page) for name, page in pages.items()}
    if toc:
        items += '<item id="nav" href="nav.xhtml" properties="nav" media-type="application/xhtml+xml"/>'
        parts["nav.xhtml"] = _page(f'<nav epub:type="toc"><ol>{toc}</ol></nav>')
    if ncx:
        items += '<item id="ncx" href="toc.ncx" media-type="application/x-dtbncx+xml"/>'
        parts["toc.ncx"] = f'<ncx xmlns="http://www.daisy.org/z3986/2005/ncx/"><navMap>{ncx}</navMap></ncx>'
    package = f"<manifest>{items}{more}</manifest><spine>{order}{spine}</spine>"
    parts["c.opf"] = f'<package xmlns="http://www.idpf.org/2007/opf" version="3.0">{package}</package>'
    parts["META-INF/container.xml"] = '<container><rootfiles><rootfile full-path="c.opf"/></rootfiles></container>'
    with zipfile.ZipFile(file, "w") as book:
        for name, content in {**parts, **(extra or {})}.items():
            book.writestr(name, content)
    return file


def _page(body: str | bytes) -> str | bytes:
    if isinstance(body, bytes):
        return body
    return f'<html xmlns:epub="http://www.idpf.org/2007/ops"><head><title>x</title></head><body>{body}</body></html>'


def links(*titles: str) -> str:
    """Return entries of a table of contents that lead to c1, c2, …"""
    return "".join(f'<li><a href="c{number}.xhtml">{title}</a></li>' for number, title in enumerate(titles, start=1))


def texts(manuscript: Manuscript) -> list[str]:
    """Return the texts of all scenes."""
    return [text for _, _, scenes in shape(manuscript) for text in scenes]


def left_out(manuscript: Manuscript) -> dict[str, list[str]]:
    """Return the texts that were left out, by kind."""
    return {part.kind: part.texts for part in manuscript.left_out_parts}


@pytest.mark.parametrize(
    ("markup", "shown", "kind"),
    [
        ("<p><ruby>林<rp>(</rp><rt>lín</rt><rp>)</rp>海<rt>hǎi</rt></ruby>推开门。</p>", "林海推开门。", "readings"),
        ("<p>那位是林\n      海的师妹。</p>", "那位是林海的师妹。", None),
        ("<p>The lamp\n   went out.</p>", "The lamp went out.", None),
        ('<p>The <span epub:type="pagebreak" id="p1">12</span>key.</p>', "The key.", "page_numbers"),
        ('<p>The key<a epub:type="noteref" href="#n">1</a>.</p>', "The key.", "note_marks"),
        ('<p>The key<sup><a href="#n">[2]</a></sup>.</p>', "The key.", "note_marks"),
        ('<p>She came.</p><aside epub:type="footnote"><p>Roe dies.</p></aside>', "She came.", "notes"),
        ('<p>She came.</p><div role="doc-endnotes"><p>Roe dies.</p></div>', "She came.", "notes"),
        ('<p>She came.</p><p class="footnote">Roe dies.</p>', "She came.", "notes"),
        ('<p>She came.</p><p style="display: none">Roe dies.</p>', "She came.", "hidden_text"),
        ('<p>She came.</p><p><a id="x"/>And <b>left</b>.<br/>Soon.</p>', "She came.\n\nAnd left.\n\nSoon.", None),
        ("<p>In 10<sup>2</sup> years.</p>", "In 102 years.", None),
    ],
)
def test_what_stands_beside_the_text_is_left_out(tmp_path: Path, markup: str, shown: str, kind: str | None) -> None:
    """Readings, marks, notes and page numbers are told; a line break of the source between Chinese is none."""
    manuscript = read_manuscript(epub(tmp_path / "book.epub", {"c1": f"<h1>Chapter 1</h1>{markup}"}))
    assert texts(manuscript) == [shown]
    assert list(left_out(manuscript)) == ([kind] if kind else [])


def test_a_note_is_told_by_the_mark_that_leads_to_it(tmp_path: Path) -> None:
    """Without a word that says so; a cross-reference to a chapter costs nothing."""
    pages = {
        "c1": f'<h1>Chapter 1</h1><p>The key<a href="c2.xhtml#n1">1</a>, see <a href="c2.xhtml#ch2">2</a>.</p>{STORY}',
        "c2": f'<h1 id="ch2">Chapter 2</h1>{STORY}<p id="n1">1. Roe dies.</p>',
    }
    manuscript = read_manuscript(epub(tmp_path / "book.epub", pages))
    assert [title for _, title, _ in shape(manuscript)] == ["Chapter 1", "Chapter 2"]
    assert left_out(manuscript)["notes"] == ["1. Roe dies."]
    assert "Roe dies" not in "".join(texts(manuscript))


@pytest.mark.parametrize("body", ["", '<p class="title">{}</p>', "<h3>{}</h3>", '<h1><img alt="{}"/></h1>'])
@pytest.mark.parametrize("is_ncx", [False, True])
def test_titles_of_the_table_of_contents_make_chapters(tmp_path: Path, body: str, is_ncx: bool) -> None:
    """Whatever the pages call their titles, and where they have none."""
    titles = ("The Lamp", "The Key", "The Door")
    pages = {f"c{number}": f"{body.format(title)}{STORY}" for number, title in enumerate(titles, start=1)}
    points = "".join(
        f'<navPoint><navLabel><text>{title}</text></navLabel><content src="c{number}.xhtml"/></navPoint>'
        for number, title in enumerate(titles, start=1)
    )
    told = {"ncx": points} if is_ncx else {"toc": links(*titles)}
    manuscript = read_manuscript(epub(tmp_path / "book.epub", pages, **told))
    assert [(number, title) for number, title, _ in shape(manuscript)] == list(enumerate(titles, start=1))
    assert all(text.startswith("Ada climbed") for text in texts(manuscript))


def test_parts_sections_and_anchors_of_a_table_of_contents(tmp_path: Path) -> None:
    """An entry whose own entries lie on other pages is a volume; those on its page are sections."""
    pages = {
        "c1": "<h1>Winter</h1>",
        "c2": f'<h2>1</h2><h3>The Lamp</h3>{STORY}<h4 id="s">Night</h4>{STORY}',
        "c3": f'{STORY}<a id="k"></a>{STORY}',
    }
    toc = (
        '<li><a href="c1.xhtml">Winter</a><ol><li><a href="c2.xhtml">The Lamp</a><ol><li><a href="c2.xhtml#s">Night</a>'
        '</li></ol></li><li><a href="c3.xhtml">The Key</a></li><li><a href="c3.xhtml#k">The Door</a></li></ol></li>'
        '<li><a href="c4.xhtml">Spring</a></li>'
    )
    manuscript = read_manuscript(epub(tmp_path / "book.epub", {**pages, "c4": STORY}, toc=toc))
    assert [title for _, title, _ in shape(manuscript)] == ["1 The Lamp", "The Key", "The Door", "Spring"]
    assert [(part.title, part.first_chapter) for part in manuscript.parts][:1] == [("Winter", 1)]


def test_front_and_back_matter_join_no_chapter(tmp_path: Path) -> None:
    """By the type of a page, by its title, and what stands outside the reading order."""
    pages = {
        "cover": '<section epub:type="cover"><p>The Lamp</p></section>',
        "c1": f"<h1>Chapter 1</h1>{STORY}",
        "about": "<h1>About the Author</h1><p>A. Writer died in 1999.</p>",
        "版权": "<h1>版权信息</h1><p>某社出版。</p>",
        "end": f'<body epub:type="backmatter"><section epub:type="epilogue"><h1>Epilogue</h1>{STORY}</section></body>',
    }
    manuscript = read_manuscript(epub(tmp_path / "book.epub", pages))
    assert [title for _, title, _ in shape(manuscript)] == ["Chapter 1", "Epilogue"]
    assert left_out(manuscript)["front_and_back_matter"] == [
        "The Lamp",
        "About the Author A. Writer died in 1999.",
        "版权信息 某社出版。",
    ]


def test_one_bad_part_does_not_sink_the_book(tmp_path: Path) -> None:
    """Pages that are missing and pictures in the reading order are told."""
    more = '<item id="gone" href="gone.xhtml"/><item id="art" href="art.jpg" media-type="image/jpeg"/>'
    spine = '<itemref idref="gone"/><itemref idref="art"/><itemref idref="unknown"/>'
    book = epub(
        tmp_path / "book.epub", {"c1": f"<h1>Chapter 1</h1>{STORY}"}, more=more, spine=spine, extra={"art.jpg": "x"}
    )
    manuscript = read_manuscript(book)
    assert len(manuscript.chapters) == 1
    assert left_out(manuscript) == {"missing_pages": ["gone.xhtml", "unknown"], "pictures": ["art.jpg"]}


@pytest.mark.parametrize("declaration", ['<?xml version="1.0" encoding="gb2312"?>', '<meta charset="gbk"/>', ""])
def test_the_encoding_of_a_page_is_believed(tmp_path: Path, declaration: str) -> None:
    """Where none is declared the text tells it."""
    page = f"{declaration}<html><body><h1>第一章 雪夜</h1><p>林海推开门，雪落在他的肩上。</p></body></html>"
    manuscript = read_manuscript(epub(tmp_path / "book.epub", {"c1": page.encode("gbk")}))
    assert shape(manuscript) == [(1, "第一章 雪夜", ["林海推开门，雪落在他的肩上。"])]


def test_a_book_under_drm_is_refused_by_name(tmp_path: Path) -> None:
    """Fonts that are encrypted hinder nobody."""
    entry = (
        '<encryption><EncryptedData><EncryptionMethod Algorithm="{}"/><CipherData><CipherReference URI="{}"/>'
        "</CipherData></EncryptedData></encryption>"
    )
    aes = "http://www.w3.org/2001/04/xmlenc#aes128-cbc"
    extra = {"META-INF/encryption.xml": entry.format(aes, "c1.xhtml"), "META-INF/rights.xml": "<x/>"}
    with pytest.raises(InvalidFileError, match=r"under DRM \(Adobe\).*take a copy without DRM"):
        read_manuscript(epub(tmp_path / "drm.epub", {"c1": STORY}, extra=extra))
    extra = {"META-INF/encryption.xml": entry.format("http://www.idpf.org/2008/embedding", "font.otf")}
    assert texts(read_manuscript(epub(tmp_path / "font.epub", {"c1": STORY}, extra=extra)))


def test_few_empty_paragraphs_part_scenes(tmp_path: Path) -> None:
    """Not where one stands between all paragraphs; a class that says so parts them, too."""
    page = f"<h1>Chapter 1</h1>{STORY}<p>&#160;</p>{STORY}<p class='scenebreak'></p>{STORY}"
    assert len(texts(read_manuscript(epub(tmp_path / "few.epub", {"c1": page})))) == 3
    page = "<h1>Chapter 1</h1>" + "<p>She came.</p><p>&#160;</p>" * 8
    assert len(texts(read_manuscript(epub(tmp_path / "all.epub", {"c1": page})))) == 1
