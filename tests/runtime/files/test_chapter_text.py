"""Splitting chapters of plain text and Markdown into scenes."""

import textwrap

import pytest

from novelgen.language.language import count_words
from novelgen.models.plan import GeneratedChapter
from runtime.files.chapter_text import chapter_from_text, unwrapped, wrapped_at


def _scenes(chapter: GeneratedChapter) -> list[tuple[int, str, str]]:
    return [(each.scene_number, each.extra.get("title", ""), each.content) for each in chapter.scenes]


def test_markdown_headings_make_titled_scenes() -> None:
    """The first is the chapter's title, later ones begin scenes, text between is one, front matter is none."""
    chapter = chapter_from_text(
        "# The Lamp\n\n## Arrival\n\nShe came.\n\nShe stayed.\n\n## Night\nIt rained.\n", chapter_number=3
    )
    assert (chapter.chapter_number, chapter.chapter_title) == (3, "The Lamp")
    assert _scenes(chapter) == [(1, "Arrival", "She came.\n\nShe stayed."), (2, "Night", "It rained.")]
    assert chapter.total_words == 6
    chapter = chapter_from_text("# One\nFirst.\n# Two\nSecond.\n", chapter_number=1)
    assert chapter.chapter_title == "One"
    assert _scenes(chapter) == [(1, "", "First."), (2, "Two", "Second.")]
    chapter = chapter_from_text("---\ntitle: X\ntags:\n  - a\n---\n# T\nText.", chapter_number=1)
    assert chapter.chapter_title == "T"
    assert _scenes(chapter) == [(1, "", "Text.")]


@pytest.mark.parametrize("line", ["***", "---", "* * *", "§", "  -----  ", "＊＊＊", "___", "#"])
def test_break_lines_split_scenes(line: str) -> None:
    """Every usual break line ends a scene and is no text."""
    chapter = chapter_from_text(f"One.\n\n{line}\n\nTwo.\n", chapter_number=1)
    assert _scenes(chapter) == [(1, "", "One."), (2, "", "Two.")]


@pytest.mark.parametrize("line", ["--", "* item", "- item", "a --- b", "**bold**", "#tag"])
def test_other_lines_are_text(line: str) -> None:
    """Lines that only resemble a break stay in the text."""
    chapter = chapter_from_text(f"One.\n{line}\nTwo.", chapter_number=1)
    assert _scenes(chapter) == [(1, "", f"One.\n{line}\nTwo.")]


def test_plain_headings_of_both_languages() -> None:
    """第N回 or `Chapter N` before all text is the title, 第N场 or `Scene N` begins a scene."""
    chapter = chapter_from_text(
        "第十三回　陷虎穴金星解厄\n\n第一场 出长安\n却说三藏。\n\n第二场：双叉岭\n那日行者。\n", chapter_number=13
    )
    assert chapter.chapter_title == "第十三回　陷虎穴金星解厄"
    assert _scenes(chapter) == [(1, "第一场 出长安", "却说三藏。"), (2, "第二场：双叉岭", "那日行者。")]
    chapter = chapter_from_text("CHAPTER IV. The Bald Man\n\nScene 1\nA.\nScene 2: The door\nB.", chapter_number=4)
    assert chapter.chapter_title == "CHAPTER IV. The Bald Man"
    assert _scenes(chapter) == [(1, "Scene 1", "A."), (2, "Scene 2: The door", "B.")]
    chapter = chapter_from_text("## 第1场\n甲。\n## 第2场\n乙。", chapter_number=1)
    assert chapter.chapter_title == ""
    assert _scenes(chapter) == [(1, "第1场", "甲。"), (2, "第2场", "乙。")]


def test_a_sentence_about_a_scene_is_no_heading() -> None:
    """Prose stays prose; a Chinese character is a word, and so is a run of letters with its apostrophes."""
    text = "第一场雨下了三天三夜。\nScene of the crime, they said."
    assert _scenes(chapter_from_text(text, chapter_number=1)) == [(1, "", text)]
    assert count_words("He said: don't half-try，行者 OK") == 7


@pytest.mark.parametrize("text", ["", "\n \n", "# Title only\n", "***\n\n---\n"])
def test_nothing_but_marks_has_no_scenes(text: str) -> None:
    """A chapter without text has no scenes."""
    assert chapter_from_text(text, chapter_number=1).scenes == []


def test_lines_that_were_broken_at_a_width_are_whole_paragraphs_again() -> None:
    """A paragraph is one line, of a letter that stands in from the margin, too; verse and single lines stay."""
    prose = (
        "The keeper climbed the hundred and nine steps with the oil can in his left hand, because the right one ached "
        "from the winch, and on the last of them he stood still and listened to what the wind had to say about it."
    )
    verse = "The lamp is lit, the night is deep,\nAnd I have promises to keep."
    wrapped = "\n\n".join(
        [
            *[textwrap.fill(prose, 70)] * 6,
            verse,
            textwrap.fill(prose, 70, initial_indent="    ", subsequent_indent="    "),
        ]
    )
    width = wrapped_at(wrapped.split("\n"))
    assert width is not None
    assert unwrapped(wrapped, width) == "\n\n".join([*[prose] * 6, verse, f"    {prose}"])


def test_chinese_lines_that_were_broken_within_a_sentence_are_joined_without_a_space() -> None:
    """Where a paragraph begins a space stands before it; a text with a paragraph a line has no width."""
    prose = "　　" + "守灯人提着油壶上了一百零九级石阶，塔顶的灯亮着，可没有人点过它，钥匙只有一把，就挂在她颈间。" * 3
    lines = [prose[at : at + 34] for at in range(0, len(prose), 34)]
    wrapped = "\n".join(lines * 4)
    width = wrapped_at(wrapped.split("\n"))
    assert width is not None
    assert unwrapped(wrapped, width) == "\n".join([prose] * 4)
    assert wrapped_at([prose[: 20 * number] for number in range(1, 9)] * 4) is None


def test_a_footnote_and_a_signature_after_dashes_begin_a_line_of_their_own() -> None:
    """Dashes within a paragraph go on in it; a dash before a note's number, and after a whole line, begins another."""
    prose = "守灯人提着油壶上了一百零九级石阶，塔顶的灯亮着，可没有人点过它，钥匙只有一把，就挂在她颈"
    text = f"{prose[:32]}\n——[1]石阶，今已不存。\n{prose[:32]}\n——{prose[32:]}\n——无名氏\n［2］颈，一作头。"
    assert unwrapped(text, 64).split("\n") == [
        prose[:32],
        "——[1]石阶，今已不存。",
        f"{prose[:32]}——{prose[32:]}",
        "——无名氏",
        "［2］颈，一作头。",
    ]
