"""Tests of finding names in texts."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from novelgen.language.matching import NameFinder, QuoteFinder
from novelgen.language.sentences import Span


def found(text: str, *names: str) -> list[str]:
    """The pieces of a text in which the names are found."""
    return [text[match.start : match.end] for match in NameFinder(names).find(text)]


@pytest.mark.parametrize(
    ("text", "name", "pieces"),
    [
        ("Jones's hat, the Joneses, jones, JONES", "Jones", ["Jones", "JONES"]),
        ("Smith-Jones and Jones-Smith met Jones", "Jones", ["Jones"]),
        ("O’Brien sat by Brien’s fire", "Brien", ["Brien"]),
        ("a Holmes-like mind", "Holmes", ["Holmes"]),
        ("baker street, BAKER\nSTREET, Baker Streets", "Baker Street", ["baker street", "BAKER\nSTREET"]),
        ("Mr Holmes and Mr. Holmes", "Mr. Holmes", ["Mr Holmes", "Mr. Holmes"]),
        ("The old man; the Old Man", "the old man", ["The old man"]),
        ("My doctor. Doctor! doctors", "doctor", ["doctor", "Doctor"]),
        ("the four men of The Four, the Four", "The Four", ["The Four", "the Four"]),
        ("Ｊｏｎｅｓ said", "Jones", ["Ｊｏｎｅｓ"]),
        ("Tom说：走。", "Tom", ["Tom"]),
        ("_Holmes_ smiled", "Holmes", ["Holmes"]),
        ("Morstan’s orphan", "Morstan's orphan", ["Morstan’s orphan"]),
        ("No. 3, Pinchin Lane", "No 3, Pinchin Lane", ["No. 3, Pinchin Lane"]),
    ],
)
def test_latin_names_match_whole_words(text: str, name: str, pieces: list[str]) -> None:
    """Case counts as documented; possessives, width, line ends and full stops do not."""
    assert found(text, name) == pieces


@pytest.mark.parametrize(
    ("text", "names", "pieces"),
    [
        ("林黛玉笑道", ("林黛", "林黛玉", "黛玉"), ["林黛玉"]),
        ("黛玉见林黛来", ("林黛", "林黛玉", "黛玉"), ["黛玉", "林黛"]),
        ("木叉行者见行者", ("行者", "木叉行者"), ["木叉行者", "行者"]),
        ("姑娘叫娘", ("娘",), []),
        ("“娘！”", ("娘",), ["娘"]),
        ("大圣僧袍", ("大圣", "圣僧袍"), ["圣僧袍"]),
        ("约翰・华生来了", ("约翰·华生",), ["约翰・华生"]),
    ],
)
def test_the_longest_chinese_name_wins(text: str, names: tuple[str, ...], pieces: list[str]) -> None:
    """No name is found inside a longer known one, nor a single character inside a word."""
    assert found(text, *names) == pieces


def test_the_longest_english_name_wins() -> None:
    """Of names that overlap the longer one; without names, and with empty ones, nothing is found."""
    text = "Mr. Sherlock Holmes left Holmes's rooms."
    assert found(text, "Holmes", "Mr. Sherlock Holmes", "Sherlock Holmes") == ["Mr. Sherlock Holmes", "Holmes"]
    assert found("Holmes 行者", "", " ", "—") == []
    assert NameFinder([]).find("Holmes") == []


@given(st.text("ABab行者- '.·\n"), st.lists(st.text("ABab行者- '.·", min_size=1), max_size=5))
def test_matches_are_ordered_and_apart(text: str, names: list[str]) -> None:
    """Whatever the names, matches come in order, do not overlap and name one of the names."""
    position = 0
    for match in NameFinder(names).find(text):
        assert position <= match.start < match.end <= len(text)
        assert match.name in names
        position = match.end


def test_a_name_is_found_in_a_text_with_invisible_characters() -> None:
    """As texts were stored before these were taken out; the place is that of the stored text."""
    text = "那位是林\u200b海的Pen\u00adrose。"
    found = [(match.name, text[match.start : match.end]) for match in NameFinder(["林海", "Penrose"]).find(text)]
    assert found == [("林海", "林\u200b海"), ("Penrose", "Pen\u00adrose")]
    assert QuoteFinder(text).find("那位是林海的") == Span(0, 7)


@pytest.mark.parametrize(
    ("text", "is_named"),
    [
        ("窗子向北，能看见灯塔。", False),
        ("向北走去。", False),
        ("船向北开。", False),
        ("老向大名向北，做了三十年警察。", True),
        ("向北说：“走。”", True),
        ("她对向北说了。", True),
        ("“向北！”", True),
        ("向北走过来。", True),
        ("向北的手很冷。", True),
    ],
)
def test_a_direction_is_no_name(text: str, is_named: bool) -> None:
    """A person may be called 向北; whither something looks or goes names nobody."""
    assert [match.name for match in NameFinder(["向北"]).find(text)] == ["向北"] * is_named
