"""A story written as a file for readers is read back as the same chapters and scenes."""

import re
from datetime import datetime
from pathlib import Path
from xml.etree import ElementTree
from zipfile import ZIP_STORED, ZipFile

import pytest

from runtime.files.book_formats import read_epub, read_word
from runtime.files.book_writing import BOOK_WRITERS, BookChapter

CHAPTERS = [
    BookChapter("第1章 雨夜", ["她说：“<a & b>”\n\n雨没有停。\x0c", "天亮了。"]),
    BookChapter("第2章 “渡口”", ["船来了。"]),
]
LINES = ["第1章 雨夜", "她说：“<a & b>”", "雨没有停。", "***", "天亮了。", "第2章 “渡口”", "船来了。"]


@pytest.mark.parametrize("kind", BOOK_WRITERS)
def test_what_is_written_is_read_back(kind: str, tmp_path: Path) -> None:
    """Headings, paragraphs and breaks stand in every kind of file in their order; no control character does."""
    file = tmp_path / f"book.{kind}"
    file.write_bytes(BOOK_WRITERS[kind].write(CHAPTERS, "雨 & 渡口", "zh"))
    text = (
        (read_word(file) if kind == "docx" else read_epub(file)).text
        if kind in ("docx", "epub")
        else file.read_text("utf-8")
    )
    lines = [line.strip().lstrip("# ").replace("\\*", "*") for line in text.splitlines() if line.strip()]
    assert [line for line in lines if line != "雨 & 渡口"] == LINES


@pytest.mark.parametrize("text", ["灯灭了。\n\n\u3000\u3000雨没有停。", "灯灭了。\n\u3000\u3000雨没有停。\n天亮了。"])
def test_the_first_paragraph_is_set_in_as_all_others_are(text: str) -> None:
    """Only where all others are: what stands before a scene's first word is not stored."""
    written = BOOK_WRITERS["txt"].write([BookChapter("楔子", [text])], "雨", "zh").decode()
    first = text if "天亮" in text else f"\u3000\u3000{text}"
    assert written == f"楔子\n\n{first}\n"


def test_archives_hold_what_their_readers_ask_for(tmp_path: Path) -> None:
    """Every part is whole XML; an EPUB begins with its type, uncompressed, and lists its chapters by title."""
    for kind in ("docx", "epub"):
        (tmp_path / kind).write_bytes(BOOK_WRITERS[kind].write(CHAPTERS, "雨", "zh"))
        with ZipFile(tmp_path / kind) as archive:
            for name in set(archive.namelist()) - {"mimetype"}:
                ElementTree.fromstring(archive.read(name))
    with ZipFile(tmp_path / "epub") as archive:
        first = archive.infolist()[0]
        assert (first.filename, first.compress_type) == ("mimetype", ZIP_STORED)
        assert "第2章" in archive.read("nav.xhtml").decode()
        changed = re.search(r'"dcterms:modified">([^<]+)Z<', archive.read("book.opf").decode())
        assert changed is not None
        assert datetime.fromisoformat(changed[1])
