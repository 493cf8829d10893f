"""Sentence borders in both languages, and passages of whole sentences."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from novelgen.language.sentences import as_sentence, chunk_text, join_sentences, split_sentences

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


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("Ada left", "Ada left."),
        ("Ada left!", "Ada left!"),
        ("She said, “Go.”", "She said, “Go.”"),
        ("Ada left (again)", "Ada left (again)."),
        ("Ada left. (She never said why.)", "Ada left. (She never said why.)"),
        ("Ben read the sign 酒 over the door", "Ben read the sign 酒 over the door."),
        ("行者走了", "行者走了。"),
        ("行者走了（笑）", "行者走了（笑）。"),
        ("行者说：“走吧。”", "行者说：“走吧。”"),
        ("", ""),
    ],
)
def test_a_sentence_gets_the_full_stop_of_its_language(text: str, sentence: str) -> None:
    """One that ends already, also within quotation marks or brackets, stays as it is."""
    assert as_sentence(text) == sentence


@pytest.mark.parametrize(
    ("sentences", "text"),
    [
        (["Ada left.", "“Good,” said Ben."], "Ada left. “Good,” said Ben."),
        (["行者说：“好。”", "“走吧。”八戒道。", "《心经》在此。"], "行者说：“好。”“走吧。”八戒道。《心经》在此。"),
        (["Ada left.", "行者走了……", "Ben left."], "Ada left.行者走了……Ben left."),
        (["Ada left."], "Ada left."),
        ([], ""),
    ],
)
def test_only_sentences_that_are_not_chinese_are_kept_apart(sentences: list[str], text: str) -> None:
    """Chinese sentences follow each other without a space, whatever mark stands between them."""
    assert join_sentences(sentences) == text


PARAGRAPHS = st.lists(
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


@given(PARAGRAPHS, st.integers(1, 80), st.integers(0, 80))
def test_chunks_hold_the_whole_text(text: str, target: int, slack: int) -> None:
    """Every character but white space is in a chunk, chunks move on, and none exceeds the maximum."""
    spans = chunk_text(text, target_characters=target, maximum_characters=target + slack)
    covered = {index for start, end in spans for index in range(start, end)}
    assert {index for index, character in enumerate(text) if not character.isspace()} <= covered
    assert all(0 < end - start <= target + slack for start, end in spans)
    assert all(left.start < right.start and left.end < right.end for left, right in pairwise(spans))


@given(PARAGRAPHS, st.integers(60, 300))
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
