"""Tests of cutting scenes into passages."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from novelgen.language.sentences import chunk_text, split_sentences

PROSE = st.lists(
    st.sampled_from(
        [
            "Holmes smoked. ",
            "“Come!” he cried. ",
            "行者大怒，掣棒便打。",
            "“师父，走吧！”",
            "\n\n",
            "他说，" * 12,
            "word " * 30,
        ]
    )
).map("".join)


@given(PROSE, st.integers(1, 80), st.integers(0, 80))
def test_chunks_hold_the_whole_text(text: str, target: int, slack: int) -> None:
    """Every character but white space is in a chunk, chunks move on, and none exceeds the maximum."""
    spans = chunk_text(text, target_characters=target, maximum_characters=target + slack)
    covered = {index for start, end in spans for index in range(start, end)}
    assert {index for index, character in enumerate(text) if not character.isspace()} <= covered
    assert all(0 < end - start <= target + slack for start, end in spans)
    assert all(left.start < right.start and left.end < right.end for left, right in pairwise(spans))


@given(PROSE, st.integers(60, 300))
def test_no_sentence_is_cut_that_fits(text: str, target: int) -> None:
    """With room for the longest sentence every chunk starts and ends with one."""
    sentences = split_sentences(text)
    longest = max((end - start for start, end in sentences), default=1)
    spans = chunk_text(text, target_characters=target, maximum_characters=max(target, longest))
    starts, ends = {span.start for span in sentences}, {span.end for span in sentences}
    assert all(span.start in starts and span.end in ends for span in spans)


def test_a_long_sentence_is_cut_at_its_clauses() -> None:
    """A sentence over the maximum is cut after a comma, and without any mark at the maximum."""
    text = "甲" * 8 + "，" + "乙" * 8
    spans = chunk_text(text, target_characters=10, maximum_characters=10)
    assert [text[start:end] for start, end in spans] == ["甲" * 8 + "，", "乙" * 8]
    assert chunk_text("丙" * 25, target_characters=10, maximum_characters=10) == [(0, 10), (10, 20), (20, 25)]


def test_a_paragraph_starts_a_chunk_when_the_last_is_well_filled() -> None:
    """A text without content has no chunk."""
    text = "One two three four five.\n\nSix. Seven eight nine ten eleven."
    spans = chunk_text(text, target_characters=34)
    assert [text[start:end] for start, end in spans] == [
        "One two three four five.",
        "Six. Seven eight nine ten eleven.",
    ]
    assert chunk_text(" \n\n ") == []
