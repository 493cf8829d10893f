"""Plain manuscripts split into chapters and scenes."""

from __future__ import annotations

import sys
import zipfile
from pathlib import Path

import pytest

from novelgen.errors import ConfigurationError, InvalidFileError
from runtime.files.chapter_text import chapter_number
from runtime.files.manuscripts import Manuscript, read_manuscript, split_manuscript


def _shape(manuscript: Manuscript) -> list[tuple[int, str, list[str]]]:
    return [
        (each.chapter_number, each.chapter_title, [scene.content for scene in each.scenes])
        for each in manuscript.chapters
    ]


def test_chinese_chapters_of_either_kind() -> None:
    """第N回 and 第N章 begin chapters; what stands before is told, not taken in."""
    text = "西游记\n吴承恩\n\n第一回 灵根育孕\n\n石猴出世。\n\n***\n\n石猴称王。\n\n第二回 悟彻菩提\n\n悟空学艺。"
    manuscript = split_manuscript(text)
    assert _shape(manuscript) == [
        (1, "第一回 灵根育孕", ["石猴出世。", "石猴称王。"]),
        (2, "第二回 悟彻菩提", ["悟空学艺。"]),
    ]
    assert manuscript.left_out == "西游记\n吴承恩"


def test_english_chapters_with_roman_numerals_and_a_table_of_contents() -> None:
    """Headings without text belong to the table of contents; titles keep their words."""
    text = (
        "CONTENTS\n\nChapter I. The Problem\nChapter II. The Case\n\n"
        "Chapter I. The Problem\n\nHe came.\n\nChapter II. The Case\n\nShe left.\n"
    )
    assert _shape(split_manuscript(text)) == [
        (1, "Chapter I. The Problem", ["He came."]),
        (2, "Chapter II. The Case", ["She left."]),
    ]


def test_a_prologue_is_chapter_zero() -> None:
    """The numbers of the headings stay the numbers of the chapters."""
    chinese = split_manuscript("楔子\n\n雪。\n\n第一章\n\n甲。\n\n第二章\n\n乙。")
    assert [number for number, _, _ in _shape(chinese)] == [0, 1, 2]
    english = split_manuscript("Prologue\n\nSnow.\n\nChapter 1\n\nA.\n\nEpilogue\n\nB.")
    assert [(number, title) for number, title, _ in _shape(english)] == [
        (0, "Prologue"),
        (1, "Chapter 1"),
        (2, "Epilogue"),
    ]


def test_a_part_of_a_book_keeps_its_numbers_and_restarting_ones_are_counted() -> None:
    """Chapters 12 and 13 stay so; a second volume that begins at 1 again goes on."""
    part = split_manuscript("Chapter 12\n\nA.\n\nChapter 13\n\nB.")
    assert [number for number, _, _ in _shape(part)] == [12, 13]
    volumes = split_manuscript("第一章\n\n甲。\n\n第二章\n\n乙。\n\n第一章\n\n丙。")
    assert [number for number, _, _ in _shape(volumes)] == [1, 2, 3]


def test_markdown_headings_and_scene_breaks() -> None:
    """The highest level that occurs more than once makes chapters, the level below scenes."""
    text = "# The Book\n\n## Arrival\n\nShe came.\n\n### Night\n\nShe slept.\n\n## Departure\n\nShe left."
    manuscript = split_manuscript(text)
    assert _shape(manuscript) == [(1, "Arrival", ["She came.", "She slept."]), (2, "Departure", ["She left."])]
    assert manuscript.left_out == "# The Book"


def test_bare_numerals_that_count_up() -> None:
    """I, II and III alone on a line begin chapters; a stray numeral does not."""
    text = "I\n\nA.\n\nII\n\nB saw\n\n7\n\ncrows.\n\nIII.\n\nC."
    assert [(number, title) for number, title, _ in _shape(split_manuscript(text))] == [(1, "I"), (2, "II"), (3, "III")]


@pytest.mark.parametrize(
    "text", ["Chapter one of my life was over, and he knew it.\n\nI\n\nwas there.", "他说第一章写完了。\n\n她笑。"]
)
def test_sentences_are_no_headings(text: str) -> None:
    """A text without headings is one chapter, with all its text."""
    manuscript = split_manuscript(text)
    assert len(manuscript.chapters) == 1
    told = "\n\n".join(scene.content for scene in manuscript.chapters[0].scenes)
    assert told.split() == text.split()


def test_the_preview_has_one_line_per_chapter() -> None:
    """Number, title, scenes, words and opening."""
    (line,) = split_manuscript("Chapter 1\n\nShe came home.\n\n***\n\nIt was late.").preview()
    assert line.model_dump() == {
        "chapter_number": 1,
        "title": "Chapter 1",
        "scenes": 2,
        "words": 6,
        "part": "",
        "opening": "She came home.",
        "cut": [
            {"title": "", "words": 3, "opening": "She came home."},
            {"title": "", "words": 3, "opening": "It was late."},
        ],
    }


@pytest.mark.parametrize(
    ("title", "number"),
    [
        ("第二十三回 甲", 23),
        ("第一百零五章", 105),
        ("第十章", 10),
        ("第一二〇章", 120),
        ("第１２章", 12),
        ("第廿三回", 23),
        ("第卅一章", 31),
        ("第一百廿章", 120),
        ("第1百20章", 120),
        ("第一百五章", 105),
        ("Chapter XIV", 14),
        ("CHAPTER 7: Rain", 7),
        ("Chapter Twelve", 12),
        ("ix", 9),
        ("Chapter mild", None),
        ("Prologue", None),
        ("iiv", None),
        ("ıx", None),
        ("x" * 10_000_000, None),
        ("9" * 5_000, None),
        ("CCCXCIX", 399),
    ],
    ids=lambda value: str(value)[:20],
)
def test_numbers_of_headings(title: str, number: int | None) -> None:
    """Arabic, full-width, Chinese and roman numbers, and English words."""
    assert chapter_number(title) == number


def _epub(file: Path, pages: dict[str, str], *, order: list[str] | None = None) -> Path:
    items = "".join(f'<item id="{name}" href="text/{name}.xhtml"/>' for name in pages)
    spine = "".join(f'<itemref idref="{name}"/>' for name in order or list(pages))
    package = (
        f'<package xmlns="http://www.idpf.org/2007/opf"><manifest>{items}</manifest><spine>{spine}</spine></package>'
    )
    container = '<container xmlns="x"><rootfiles><rootfile full-path="OPS/book.opf"/></rootfiles></container>'
    with zipfile.ZipFile(file, "w") as book:
        book.writestr("META-INF/container.xml", container)
        book.writestr("OPS/book.opf", package)
        for name, page in pages.items():
            book.writestr(f"OPS/text/{name}.xhtml", page)
    return file


def test_an_epub_is_read_in_its_order(tmp_path: Path) -> None:
    """Headings, paragraphs and rules are told; scripts, navigation and head are not; entities are resolved."""
    page = (
        "<html><head><title>no</title></head><body><nav>no</nav><h1>Chapter {0}</h1>"
        "<p>She &amp; he<br/>came.</p><hr/><p>Night&nbsp;fell.</p><script>no()</script></body></html>"
    )
    pages = {"b": page.format(2), "a": page.format(1)}
    manuscript = read_manuscript(_epub(tmp_path / "book.epub", pages, order=["a", "b"]))
    assert _shape(manuscript) == [
        (1, "Chapter 1", ["She & he\n\ncame.", "Night fell."]),
        (2, "Chapter 2", ["She & he\n\ncame.", "Night fell."]),
    ]


def test_a_word_document_is_read_by_its_styles(tmp_path: Path) -> None:
    """Heading styles make chapters."""
    docx = pytest.importorskip("docx")
    document = docx.Document()
    document.add_heading("The Book", level=0)
    for title in ("Arrival", "Departure"):
        document.add_heading(title, level=2)
        document.add_paragraph(f"Text of {title}.")
    document.save(str(tmp_path / "book.docx"))
    manuscript = read_manuscript(tmp_path / "book.docx")
    assert _shape(manuscript) == [(1, "Arrival", ["Text of Arrival."]), (2, "Departure", ["Text of Departure."])]


def test_without_the_extra_a_word_document_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A missing package is a setting to correct, not a bug."""
    monkeypatch.setitem(sys.modules, "docx", None)
    with pytest.raises(ConfigurationError, match=r"pip install 'novelgen\[docx\]'"):
        read_manuscript(tmp_path / "book.docx")


@pytest.mark.parametrize(
    ("name", "data", "message"),
    [
        ("book.pdf", b"x", "of no kind that can be read"),
        ("book.txt", b"", "holds no text"),
        ("book.txt", "他走了。".encode("utf-16") * 20, "looks like UTF-16"),
        ("book.epub", b"no zip", "as an EPUB book"),
        ("book.docx", b"no zip", "as a Word document"),
    ],
)
def test_what_cannot_be_read_is_refused(tmp_path: Path, name: str, data: bytes, message: str) -> None:
    """The file is named, and what to do."""
    (tmp_path / name).write_bytes(data)
    with pytest.raises(InvalidFileError, match=message):
        read_manuscript(tmp_path / name)


def test_an_epub_that_unpacks_to_too_much_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A small file cannot fill the memory."""
    monkeypatch.setattr("runtime.files.book_formats.MAX_TEXT_BYTES", 1_000)
    file = _epub(tmp_path / "book.epub", {"a": "<p>" + "x" * 2_000 + "</p>"})
    with pytest.raises(InvalidFileError, match="the limit is 1000"):
        read_manuscript(file)
