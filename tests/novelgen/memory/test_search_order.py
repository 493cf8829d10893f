"""How well a memory fits a query by itself, and the order in which one query's findings are shown."""

from dataclasses import replace

import numpy as np
import pytest

from novelgen.memory.query_scores import relevance, search_order
from novelgen.memory.search import Candidate, RetrieverHit
from tests.novelgen.memory.build import candidate, chunk, lexical, semantic

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


ENOUGH = [
    candidate("a", hits=(semantic(1, 0.90), lexical(2, 6.0))),
    candidate("b", hits=(semantic(2, 0.88), lexical(1, 9.0))),
    candidate("c", hits=(semantic(3, 0.80),)),
]


def order(*candidates: Candidate, query: str = "what is asked", **held: str) -> list[str]:
    """Return the ids in their order; `held` names what holds in the place of whom."""
    by_id = {each.chunk.chunk_id: each.chunk for each in candidates}
    holding = {name: by_id.get(other) or chunk(other) for name, other in held.items()}
    return [each.chunk.chunk_id for each in search_order(candidates, query, holding=holding)]


def outdated(chunk_id: str, by: str, *hits: RetrieverHit, **fields: str) -> Candidate:
    """Return a memory that another has replaced."""
    return candidate(chunk_id, hits=hits, superseded_by=by, **fields)


def test_words_and_meaning_count_alike() -> None:
    """Each retriever's best is worth 1, also where it lists one alone; what no query brought has no say."""
    ranked = search_order(ENOUGH, "what is asked")
    assert [(each.chunk.chunk_id, round(each.score, 3)) for each in ranked] == [("b", 0.9), ("a", 0.833), ("c", 0.0)]
    assert ranked[0].retrievers == {"lexical": 1, "semantic": 2}
    listed = RetrieverHit("thread", 1, None, 1.0)
    crowd = [replace(ENOUGH[0], hits=ENOUGH[0].hits), ENOUGH[1], replace(ENOUGH[2], hits=(*ENOUGH[2].hits, listed))]
    assert order(*crowd, candidate("d", hits=(listed,))) == ["b", "a", "c"]
    assert search_order([candidate("a", hits=(semantic(1, 0.9),))], "x")[0].score == 1.0
    assert order(candidate("a", hits=(semantic(2),)), candidate("b", hits=(semantic(1),))) == ["b", "a"]
    assert search_order([], "x") == []


def test_a_memory_in_its_own_words_comes_first() -> None:
    """Case, width and punctuation aside; bullets and passages, which retell memories, count less."""
    own = candidate("z", hits=(lexical(9, 1.0),), short="Ben sold the key.")
    bullet = candidate(
        "y", hits=(semantic(1, 0.95), lexical(1, 12.0)), content="Ben sold the key", content_type="summary"
    )
    former = outdated("x", "w", semantic(1, 0.95), short="Ben sold the key!")
    assert order(*ENOUGH, own, bullet, former, query="BEN SOLD THE KEY")[:3] == ["z", "y", "x"]
    bullet = candidate("a", hits=(semantic(1, 0.9), lexical(1, 9.0)), content_type="summary")
    told = candidate("b", hits=(semantic(1, 0.9), lexical(1, 9.0)))
    assert order(bullet, told) == ["b", "a"]


def test_what_holds_comes_right_before_what_it_replaced() -> None:
    """From wherever it was found, or put in; asked for in its own words the outdated one leads."""
    over = outdated("o", "c", semantic(1, 0.99), lexical(1, 12.0))
    assert order(*ENOUGH, over, o="c") == ["c", "o", "b", "a"]
    put_in = search_order([*ENOUGH, over], "what is asked", holding={"o": chunk("new")})
    assert [each.chunk.chunk_id for each in put_in][:2] == ["new", "o"]
    assert put_in[0].retrievers == {}
    assert (put_in[1].held_by or put_in[1].chunk).chunk_id == "new"
    over = outdated("o", "c", semantic(4, 0.7), short="The door is three-one-nine")
    ranked = search_order([*ENOUGH, over], "the door is three one nine", holding={"o": ENOUGH[2].chunk})
    assert [each.chunk.chunk_id for each in ranked][:2] == ["o", "c"]
    assert ranked[0].is_outdated
