"""How well a memory fits a query by itself."""

from dataclasses import replace

import numpy as np
import pytest

from novelgen.memory.query_scores import relevance
from tests.novelgen.memory.build import candidate

QUERY = np.array([1.0, 0.0], dtype=np.float32)
NEAR = np.array([1.6, 1.2], dtype=np.float32)


@pytest.mark.parametrize(
    ("query", "content", "expected"),
    [
        ("mortgage rates", "Ben sold the key.", 0.8),
        ("Ben's key", "Ben sold the key.", 0.8),
        ("the KEY", "Ben sold the key.", 1.0),
        ("铜钥匙", "阿大卖了铜钥匙。", 1.0),
        ("铜钥匙在哪", "阿大卖了铜钥匙。", 0.8),
        ("阿", "阿", 1.0),
        ("…", "Ben sold the key.", 0.8),
    ],
)
def test_meaning_or_words_count_whichever_is_more(query: str, content: str, expected: float) -> None:
    """A cosine of .8, or all the words of the query, folded; the length of a vector does not matter."""
    memory = replace(candidate("a", content=content), vector=NEAR)
    assert relevance(memory, query, QUERY) == pytest.approx(expected)


def test_without_a_vector_words_alone_count() -> None:
    """What waits to be indexed fits as far as it holds the query's words; a vector of nothing fits nothing."""
    waiting = replace(candidate("a", content="Ben sold the key."), vector=None)
    assert relevance(waiting, "the key", QUERY) == 1.0
    assert relevance(waiting, "the door", QUERY) == 0.5
    assert relevance(waiting, "quantum", QUERY) == 0.0
    empty = replace(waiting, vector=np.zeros(2, dtype=np.float32))
    assert relevance(empty, "quantum", QUERY) == 0.0
