"""The words of a view in the language of its story."""

from __future__ import annotations

import pytest

from novelgen.models.state import LOOP_WEIGHTS
from runtime.cli.labels import CHINESE, ENGLISH

PARTS = (
    "relevance words novelty importance entities open_loops spreading surroundings summaries beside".split()
)
"""Parts of the score of a memory."""


@pytest.mark.parametrize("word", [*LOOP_WEIGHTS, "age"])
def test_how_heavy_and_how_old_a_thread_is_has_chinese_words(word: str) -> None:
    """The list of threads of a Chinese story has no English word in it."""
    assert not CHINESE.value(word).isascii()
    assert ENGLISH.value(word) == word


@pytest.mark.parametrize("part", PARTS)
def test_every_part_of_a_score_has_chinese_words(part: str) -> None:
    """Why a memory was chosen is told in the story's language."""
    assert not CHINESE.reason(part).isascii()
