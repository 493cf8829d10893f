"""Tests of the estimate of tokens."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from novelgen.language.language import estimate_tokens


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
