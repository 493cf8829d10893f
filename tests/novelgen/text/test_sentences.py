"""Tests of sentence borders in both languages."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from novelgen.text.sentences import split_sentences

MARKS = [*"ab A3I行者道。！？…，.!?,;:“”‘’「」\"'()（）—\n ", "Mr.", "No. 3", "\n\n", "……", "...", "U.S."]
PROSE = st.lists(st.sampled_from(MARKS)).map("".join)


def sentences(text: str) -> list[str]:
    """The sentences of a text as strings."""
    return [text[start:end] for start, end in split_sentences(text)]


@pytest.mark.parametrize(
    "parts",
    [
        ["Mr. Holmes met Dr. J. Watson at No. 3, St. James Street.", "He left."],
        ["It cost 3.5 pounds... maybe more.", "She paid."],
        ["“Stop!” he cried.", "“Who are you?”", "Nobody spoke."],
        ["He said, “Go.”", "Then he went (quietly.) with him."],
        ["It was I.", "We ran!"],
        ["Really?!", "Yes..."],
        ["A line\nthat wraps.", "And one more."],
    ],
)
def test_english_sentences_end_where_readers_end_them(parts: list[str]) -> None:
    """Abbreviations, initials, decimals, ellipses, line wraps and reporting clauses end nothing."""
    assert sentences(" ".join(parts)) == parts


@pytest.mark.parametrize(
    "parts",
    [
        ["行者道：“师父，走吧！”", "三藏不答。"],
        ["“你……你是谁？”", "那怪喝道：「快走！」", "众人都惊了。"],
        ["价值3.5元。", "真的？！", "是的。"],
        ["他叹道：“唉……”", "转身走了。"],
        ["“走！”，他说。", "完。"],
    ],
)
def test_chinese_sentences_keep_their_closing_quotes(parts: list[str]) -> None:
    """A closing quotation mark stays with its sentence, and an ellipsis inside one does not end it."""
    assert sentences("".join(parts)) == parts


def test_paragraphs_end_sentences() -> None:
    """A blank line ends a sentence in any language, a line break only in Chinese."""
    assert sentences("The End\n\nChapter Two") == ["The End", "Chapter Two"]
    assert sentences("第一回\n灵根育孕") == ["第一回", "灵根育孕"]


@pytest.mark.parametrize("text", ["", "  \n\n ", "\t"])
def test_no_content_has_no_sentences(text: str) -> None:
    """White space alone yields nothing."""
    assert split_sentences(text) == []


@given(PROSE)
def test_spans_cover_the_text_in_order(text: str) -> None:
    """Spans are ordered, not empty, do not overlap, and only white space lies between them."""
    position = 0
    for start, end in split_sentences(text):
        assert position <= start < end
        assert not text[position:start].strip()
        position = end
    assert not text[position:].strip()
