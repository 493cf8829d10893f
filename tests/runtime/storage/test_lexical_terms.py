"""Words in two languages."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runtime.storage.lexical import index_tokens, lexical_terms, term_tokens


def test_english_words_are_folded_and_common_ones_dropped() -> None:
    """Case, width, accents and possessives do not count."""
    assert lexical_terms("The Captain’s Élan: ＢＯＡＴＳ and stories!") == ["captain", "elan", "boats", "stories"]


def test_chinese_runs_become_pairs_and_short_runs_stay_whole() -> None:
    """A name of up to four characters is searched whole and in pairs, a longer run in pairs."""
    assert lexical_terms("林黛玉") == ["林黛玉", "林黛", "黛玉"]
    assert lexical_terms("剑") == ["剑"]
    assert lexical_terms("宝玉摔了通灵玉") == ["宝玉", "玉摔", "摔了", "了通", "通灵", "灵玉"]


def test_stored_text_has_one_token_per_chinese_character() -> None:
    """So that words of one and two characters are found without segmentation."""
    assert index_tokens("林冲 left, 夜奔") == ["林", "冲", "left", "夜", "奔"]


@pytest.mark.parametrize("text", ["", "…", "the of and", '"-*()', "的"])
def test_texts_without_content_have_no_terms(text: str) -> None:
    """Marks and function words search for nothing."""
    assert lexical_terms(text) == []


@given(st.text(max_size=80))
def test_the_tokens_of_every_term_stand_in_the_text_in_direct_succession(text: str) -> None:
    """Whatever a query text yields is found in a stored text that is the same."""
    stored = index_tokens(text)
    for term in lexical_terms(text):
        wanted = term_tokens(term)
        windows = [stored[start : start + len(wanted)] for start in range(len(stored))]
        assert wanted in windows
