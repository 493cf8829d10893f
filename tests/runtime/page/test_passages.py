"""Marked passages: the text stays whole, and each passage is marked over its length."""

from types import SimpleNamespace
from typing import Any, cast

import hypothesis.strategies as st
import pytest
from hypothesis import given

from novelgen.context.prompt_block import ContextLine
from runtime.page.check import ChangedPassage, changed_passages
from runtime.page.frame import Frame, Piece, marked_paragraphs, without_emphasis

TEXTS = st.text(alphabet="ab 字\n\r\u2028\U0001f600", max_size=40)
SPANS = st.dictionaries(st.integers(1, 5), st.tuples(st.integers(-3, 45), st.integers(-3, 45)), max_size=5)


def test_overlapping_passages_know_both() -> None:
    """Each begins and ends once, also in the next paragraph; the blank line between is none."""
    assert marked_paragraphs("The key fell.", {1: (4, 7), 2: (0, 7)}) == [
        [Piece("The ", (2,), begins=(2,)), Piece("key", (1, 2), begins=(1,), ends=(1, 2)), Piece(" fell.")]
    ]
    first, second = marked_paragraphs("One.\n\nTwo.", {1: (2, 8)})
    assert first == [Piece("On"), Piece("e.", (1,), begins=(1,))]
    assert second == [Piece("Tw", (1,), ends=(1,)), Piece("o.")]


@given(text=TEXTS, passages=SPANS)
def test_no_word_is_lost_or_told_twice(text: str, passages: dict[int, tuple[int, int]]) -> None:
    """The pieces together are the lines of the text; each passage that is shown begins once and ends once."""
    paragraphs = marked_paragraphs(text, passages)
    assert ["".join(piece.text for piece in each) for each in paragraphs] == [
        line for line in text.splitlines() if line.strip()
    ]
    pieces = [piece for each in paragraphs for piece in each]
    shown = {number for piece in pieces for number in piece.numbers}
    assert sorted(number for piece in pieces for number in piece.begins) == sorted(shown)
    assert sorted(number for piece in pieces for number in piece.ends) == sorted(shown)


def test_a_changed_text_is_told_sentence_by_sentence() -> None:
    """What stands in both is told once, what was changed as it was and as it is."""
    told = changed_passages("He came. He left. She sat.", "He came. He stayed. She sat.")
    assert told == [
        ChangedPassage("same", "He came. "),
        ChangedPassage("out", "He left. "),
        ChangedPassage("in", "He stayed. "),
        ChangedPassage("same", "She sat."),
    ]


@given(TEXTS, TEXTS)
def test_both_versions_are_whole(was: str, now: str) -> None:
    """Without what came in the old text stands there, without what went the new one."""
    told = changed_passages(was, now)
    assert "".join(each.text for each in told if each.change != "in") == was
    assert "".join(each.text for each in told if each.change != "out") == now


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("He *never* spoke of **that night**.", "He never spoke of that night."),
        ("“***匣子***是空的。”他_叹_了口气，*风很大*。", "“匣子是空的。”他_叹_了口气，风很大。"),
        ("_Enough_, she said.", "Enough, she said."),
        ("2 * 3 * 4 and snake_case_names", "2 * 3 * 4 and snake_case_names"),
        ("＊＊＊\n***\n* * *", "＊＊＊\n***\n* * *"),
    ],
)
def test_signs_of_emphasis_are_not_shown(text: str, told: str) -> None:
    """Stars and bars around words; none between numbers, within a word, or in a line of stars."""
    assert without_emphasis(text) == told


@pytest.mark.parametrize(
    ("text", "told", "place"),
    [
        ("- [2:2] Who rings the bell?", "Who rings the bell?", "2:2"),
        ("- [after 2:1] The lamp is with Ada.", "The lamp is with Ada.", "after 2:1"),
        ("- [2:1 之后] 灯在沈青手里。", "灯在沈青手里。", "2:1 之后"),
        ("- [2:1] Ada rang it.", "Ada rang it.", "link"),
        ("- [sic] Ada rang it.", "[sic] Ada rang it.", "link"),
    ],
)
def test_a_line_of_a_context_has_one_place(text: str, told: str, place: str) -> None:
    """That with which the prompt begins it, from which it holds, and not a second one beside it."""
    line = ContextLine(need="obligations", section="open_loops", text=text, tokens=1, chapter_index=2, scene_index=1)
    frame = cast(Any, SimpleNamespace(memory_link=lambda _: "link"))
    assert Frame.readable_line(frame, line) == told
    assert Frame.readable_place(frame, line) == place
