"""Plain manuscripts split into chapters and scenes."""

import sys
import zipfile
from pathlib import Path

import pytest

from novelgen.errors import ConfigurationError, InvalidFileError
from runtime.files.book_formats import read_word
from runtime.files.chapter_text import chapter_number
from runtime.files.manuscripts import Manuscript, damaged_lines, read_manuscript, split_manuscript


def shape(manuscript: Manuscript) -> list[tuple[int, str, list[str]]]:
    """Return number, title and the scenes' texts of each chapter."""
    return [
        (each.chapter_number, each.chapter_title, [scene.content for scene in each.scenes])
        for each in manuscript.chapters
    ]


def test_chapters_of_every_kind_keep_their_numbers() -> None:
    """第N回, Chapter N or Markdown; a part of a book keeps them, restarting ones are counted on."""
    text = "西游记\n吴承恩\n\n第一回 灵根育孕\n\n石猴出世。\n\n***\n\n石猴称王。\n\n第二回 悟彻菩提\n\n悟空学艺。"
    manuscript = split_manuscript(text)
    assert shape(manuscript) == [
        (1, "第一回 灵根育孕", ["石猴出世。", "石猴称王。"]),
        (2, "第二回 悟彻菩提", ["悟空学艺。"]),
    ]
    assert manuscript.left_out == "西游记\n吴承恩"
    part = split_manuscript("Chapter 12\n\nA.\n\nChapter 13\n\nB.")
    assert [number for number, _, _ in shape(part)] == [12, 13]
    volumes = split_manuscript("第一章\n\n甲。\n\n第二章\n\n乙。\n\n第一章\n\n丙。")
    assert [number for number, _, _ in shape(volumes)] == [1, 2, 3]
    text = "# The Book\n\n## Arrival\n\nShe came.\n\n### Night\n\nShe slept.\n\n## Departure\n\nShe left."
    manuscript = split_manuscript(text)
    assert shape(manuscript) == [(1, "Arrival", ["She came.", "She slept."]), (2, "Departure", ["She left."])]
    assert manuscript.left_out == "# The Book"


def test_english_chapters_with_roman_numerals_and_a_table_of_contents() -> None:
    """Headings without text belong to the table of contents; titles keep their words."""
    text = (
        "CONTENTS\n\nChapter I. The Problem\nChapter II. The Case\n\n"
        "Chapter I. The Problem\n\nHe came.\n\nChapter II. The Case\n\nShe left.\n"
    )
    assert shape(split_manuscript(text)) == [
        (1, "Chapter I. The Problem", ["He came."]),
        (2, "Chapter II. The Case", ["She left."]),
    ]


def test_numerals_that_count_up_are_chapters() -> None:
    """Alone or with titles, going on or anew in the second book; a stray one, or the contents, begin nothing."""
    text = "I\n\nA.\n\nII\n\nB saw\n\n7\n\ncrows.\n\nIII.\n\nC."
    assert [(number, title) for number, title, _ in shape(split_manuscript(text))] == [(1, "I"), (2, "II"), (3, "III")]
    for later in ("III.", "I."):
        text = f"Book One\n\nI.\n\n{_LONG}\n\nII.\n\n{_LONG}\n\nBook Two\n\n{later}\n\n{_LONG}"
        manuscript = split_manuscript(text)
        assert [number for number, _, _ in shape(manuscript)] == [1, 2, 3]
        assert [(each.title, each.first_chapter) for each in manuscript.parts] == [("Book One", 1), ("Book Two", 3)]
    names = ("The Quay", "The Lamp", "The Boat")
    contents = "\n".join(f"{number}. {name}" for number, name in enumerate(names, start=1))
    chapters = "\n\n".join(f"{number}. {name}\n\n{_LONG}" for number, name in enumerate(names, start=1))
    manuscript = split_manuscript(f"The Salt House\n\n{contents}\n\n{chapters}")
    assert [title for _, title, _ in shape(manuscript)] == ["1. The Quay", "2. The Lamp", "3. The Boat"]
    assert split_manuscript(f"1. Salt\n2. Oil\n\n{_LONG}").chapters[0].chapter_title == ""


_LONG = "The lamp was lit before the boats came in, and nobody on the quay asked whose hand had done it. " * 6


def test_contents_are_no_chapters_whatever_follows_them() -> None:
    """Entries with a line each, and the preface behind the last one, are left out; a named preface is kept."""
    entries = "\n".join(f"Chapter {number}. A title\nAda lights the lamp.—Ben sees it." for number in (1, 2, 3))
    chapters = "\n\n".join(f"Chapter {number}. A title\n\n{_LONG}" for number in (1, 2, 3))
    plain = split_manuscript(f"{entries}\n\nPrinted at the quay.\n\n{chapters}")
    assert [number for number, _, _ in shape(plain)] == [1, 2, 3]
    assert "Printed at the quay." in plain.left_out
    named = split_manuscript(f"{entries}\nEpilogue\n\nPreface\n\n{_LONG}\n\n{chapters}\n\nEpilogue\n\n{_LONG}")
    titles = [title.partition(".")[0] for _, title, _ in shape(named)]
    assert titles == ["Preface", "Chapter 1", "Chapter 2", "Chapter 3", "Epilogue"]


def test_the_title_page_of_a_volume_is_no_chapter() -> None:
    """A few lines between a volume's heading and its first chapter are left out and listed; a prologue stays."""
    chapters = "\n\n".join(f"Chapter {number}\n\n{_LONG * 3}" for number in (1, 2))
    page = split_manuscript(f"{chapters}\n\nVOL. II.\n\nLondon:\nat the Quay.\n\n{chapters}")
    assert [title for _, title, _ in shape(page)] == ["Chapter 1", "Chapter 2"] * 2
    assert page.left_out == "VOL. II.\nLondon:\nat the Quay."
    assert page.parts[0].title == "VOL. II."
    told = split_manuscript(f"{chapters}\n\nVOL. II.\n\n{_LONG}\n\n{chapters}")
    assert len(told.chapters) == 5


def test_a_long_title_goes_on_in_the_next_lines() -> None:
    """A title that breaks after a comma is a title; text that follows a short one at once is text."""
    long = "Chapter 2: In Which Ada, the Keeper of the Light, and Ben,\nWho Has Never Rowed, Set Out"
    manuscript = split_manuscript(f"Chapter 1: The Quay\nShe came.\n\n{long}\n\nThey rowed.")
    assert shape(manuscript) == [
        (1, "Chapter 1: The Quay", ["She came."]),
        (2, " ".join(long.split()), ["They rowed."]),
    ]
    in_capitals = (
        "CHAPTER II. IN WHICH THE KEEPER OF THE LIGHT IS TOLD MORE OF THE QUAY THAN SHE ASKED FOR, AND BEN IS NOT"
    )
    manuscript = split_manuscript(f"CHAPTER I.\n\nShe came.\n\n{in_capitals}\n\nThey rowed.")
    assert [title for _, title, _ in shape(manuscript)] == ["CHAPTER I.", in_capitals]


def test_numbers_that_do_not_follow_are_told() -> None:
    """A gap, a chapter that stands there twice and one out of order are named; a new volume's 1 is none of these."""
    text = "\n\n".join(f"第{number}章 灯\n\n雪。" for number in (1, 2, 4, 4, 3, 1, 2))
    assert [(each.kind, each.number, each.after) for each in split_manuscript(text).odd_numbers] == [
        ("missing", 4, 2),
        ("doubled", 4, 4),
        ("out_of_order", 3, 4),
    ]


def test_a_folder_has_the_numbers_of_its_headings(tmp_path: Path) -> None:
    """A prologue in 第001章.txt is chapter 0 as in one file; where headings contradict each other the names count."""
    for number, title in enumerate(("楔子", "第一章 灯", "第二章 雪"), start=1):
        (tmp_path / f"第{number:03}章 {title}.txt").write_text(f"{title}\n\n雪下了一夜。", encoding="utf-8")
    assert [number for number, _, _ in shape(read_manuscript(tmp_path))] == [0, 1, 2]
    (tmp_path / "第004章.txt").write_text("第一章 夜\n\n灯灭了。", encoding="utf-8")
    assert [number for number, _, _ in shape(read_manuscript(tmp_path))] == [1, 2, 3, 4]


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
        ("第一二〇章", 120),
        ("第１２章", 12),
        ("第卅一章", 31),
        ("第一百五章", 105),
        ("Chapter XIV", 14),
        ("CHAPTER 7: Rain", 7),
        ("Chapter Twelve", 12),
        ("Chapter mild", None),
        ("iiv", None),
        ("ıx", None),
        ("x" * 10_000_000, None),
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
    assert shape(manuscript) == [
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
    assert shape(manuscript) == [(1, "Arrival", ["Text of Arrival."]), (2, "Departure", ["Text of Departure."])]


def test_without_the_extra_a_word_document_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A missing package is a setting to correct, not a bug."""
    monkeypatch.setitem(sys.modules, "docx", None)
    with pytest.raises(ConfigurationError, match=r"pip install 'novelgen\[docx\]'"):
        read_word(tmp_path / "book.docx")


@pytest.mark.parametrize(
    ("name", "data", "message"),
    [
        ("book.pdf", b"x", "of no kind that can be read"),
        ("book.txt", b"", "holds no text"),
        ("book.epub", b"no zip", "as an EPUB book"),
        ("book.docx", b"no zip", "as a Word document"),
    ],
)
def test_what_cannot_be_read_is_refused(tmp_path: Path, name: str, data: bytes, message: str) -> None:
    """The file is named, and what to do."""
    (tmp_path / name).write_bytes(data)
    with pytest.raises(InvalidFileError, match=message):
        read_manuscript(tmp_path / name)


SNOW = "他提灯入山，雪落无声。“快走！”"


@pytest.mark.parametrize(
    "line",
    [
        SNOW.encode().decode("gb18030", "replace"),
        "“Don’t go,” said Zoë.".encode().decode("cp1252", "replace"),
        "雪里一串锟斤拷，往北。",
        "他叫\ue5e5，是个瞎子。",
        "雪\N{REPLACEMENT CHARACTER}落无声。",
    ],
)
def test_a_line_that_was_read_wrongly_is_told(line: str) -> None:
    """UTF-8 read as GBK or Latin, what programs put for lost bytes, characters of no script: each with its place."""
    book = split_manuscript(f"第一章 雪\n{SNOW}\n{line}\n第二章 山\n{SNOW}\n")
    assert [(each.chapter_number, each.line) for each in book.damaged] == [(1, 2)]
    assert book.damaged[0].text in line
    assert line in book.chapters[0].scenes[0].content


def test_a_question_mark_inside_words_is_a_lost_character_in_a_text_that_asks_otherwise() -> None:
    """Where every question is asked with `？`; an author who types `?` loses nothing."""
    asked = "谁在那里？\n" * 40
    assert [each.text for each in damaged_lines([(3, asked + "幸而?硕")])] == ["幸而?硕"]
    assert damaged_lines([(3, "谁在那里?\n" * 3)]) == []


@pytest.mark.parametrize("line", [SNOW, "“CAFÉ”, said Zoë.", "„MENÜ“ — à côté", "Олег «да»", "彼は「はい」と言った。"])
def test_foreign_letters_are_no_damage(line: str) -> None:
    """Accents, quotation marks and other scripts are nobody's broken text."""
    assert damaged_lines([(1, line)]) == []
