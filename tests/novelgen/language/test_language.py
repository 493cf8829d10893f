"""Chinese is found, a story's language told, and what text costs estimated."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from novelgen.language.language import count_cjk, estimate_tokens, has_cjk, is_cjk, story_language


@pytest.mark.parametrize("character", ["\u3400", "行", "\u9fff", "\uf900", "\ufaff"])
def test_chinese_characters_are_found(character: str) -> None:
    """Both ranges count to their ends."""
    assert is_cjk(character)
    assert has_cjk(f"a{character}b")


@pytest.mark.parametrize("character", ["a", "。", "あ", "１", " ", "\u33ff", "\ua000"])
def test_other_characters_are_not_chinese(character: str) -> None:
    """Punctuation, kana, digits and the neighbours of the ranges are not Chinese characters."""
    assert not is_cjk(character)
    assert not has_cjk(character)


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("行者道：“走！”", "zh"),
        ("He met 行者 once upon a time.", "en"),
        ("小明打开了 Windows 电脑，登录了邮箱。", "zh"),
        ("", "en"),
        ("123 …", "en"),
    ],
)
def test_the_language_is_that_of_most_of_the_text(text: str, language: str) -> None:
    """A foreign word does not change a story's language, and no letters count as English."""
    assert story_language(text) == language


@pytest.mark.parametrize(
    ("text", "number"), [("", 0), ("Ada left.", 0), ("行者道：“走！”", 4), ("Ada met 行者 and 八戒", 4), ("café", 0)]
)
def test_chinese_characters_are_counted_one_by_one(text: str, number: int) -> None:
    """Runs of them, too; punctuation does not count."""
    assert count_cjk(text) == number


@pytest.mark.parametrize(
    ("text", "tokens"), [("", 0), ("a", 1), ("abcd", 1), ("abcde", 2), ("行者", 2), ("行者，走", 4)]
)
def test_chinese_costs_one_and_others_a_quarter(text: str, tokens: int) -> None:
    """One token per Chinese character and one per four others, rounded up."""
    assert estimate_tokens(text) == tokens


@given(st.lists(st.text()))
def test_parts_never_cost_less_than_the_whole(parts: list[str]) -> None:
    """A budget kept by the sum of the parts is kept by the joined text."""
    assert estimate_tokens("".join(parts)) <= sum(estimate_tokens(part) for part in parts)
