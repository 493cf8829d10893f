"""Lines of a manuscript that look damaged are told, and the text is kept."""

import pytest

from runtime.files.manuscripts import damaged_lines, split_manuscript

TOLD = "他提灯入山，雪落无声。“快走！”"


@pytest.mark.parametrize(
    "line",
    [
        TOLD.encode().decode("gb18030", "replace"),
        "“Don’t go,” said Zoë.".encode().decode("cp1252", "replace"),
        "雪里一串锟斤拷，往北。",
        "他叫\ue5e5，是个瞎子。",
        "雪\N{REPLACEMENT CHARACTER}落无声。",
    ],
)
def test_a_line_that_was_read_wrongly_is_told(line: str) -> None:
    """UTF-8 read as GBK or Latin, what programs put for lost bytes, characters of no script: each with its place."""
    book = split_manuscript(f"第一章 雪\n{TOLD}\n{line}\n第二章 山\n{TOLD}\n")
    assert [(each.chapter_number, each.line) for each in book.damaged] == [(1, 2)]
    assert book.damaged[0].text in line
    assert line in book.chapters[0].scenes[0].content


def test_a_question_mark_inside_words_is_a_lost_character_in_a_text_that_asks_otherwise() -> None:
    """Where every question is asked with `？`; an author who types `?` loses nothing."""
    asked = "谁在那里？\n" * 40
    assert [each.text for each in damaged_lines([(3, asked + "幸而?硕")])] == ["幸而?硕"]
    assert damaged_lines([(3, "谁在那里?\n" * 3)]) == []


@pytest.mark.parametrize("line", [TOLD, "“CAFÉ”, said Zoë.", "„MENÜ“ — à côté", "Олег «да»", "彼は「はい」と言った。"])
def test_foreign_letters_are_no_damage(line: str) -> None:
    """Accents, quotation marks and other scripts are nobody's broken text."""
    assert damaged_lines([(1, line)]) == []
