"""The rivals' ways to rank, on a few texts."""

from __future__ import annotations

import pytest

from runtime.bench.bm25 import Bm25, words_and_bigrams
from runtime.bench.book import BenchBook
from runtime.bench.corpus import Corpus, memory_texts, passage_texts, plan_queries
from runtime.bench.rivals import memory_rivals
from runtime.providers.embeddings import build_embeddings


@pytest.fixture(scope="module")
def memories(book: BenchBook) -> Corpus:
    """The memories of the hand-made book."""
    return Corpus(memory_texts(book), build_embeddings("fake:64"))


def test_words_of_both_languages_are_found() -> None:
    """English is split into words, Chinese into every two neighbouring characters."""
    assert words_and_bigrams("Ada 取出黄铜钥匙") == ["ada", "取出", "出黄", "黄铜", "铜钥", "钥匙"]


def test_rare_words_weigh_more_and_later_texts_change_nothing() -> None:
    """The text with the rare word is first; what lies after the cut has no say."""
    texts = ["the lamp", "the key", "the lamp and the key", "key key key"]
    scores = Bm25(texts[:2]).scores("the key", 2)
    assert scores[1] > scores[0] > 0
    assert Bm25(texts).scores("the key", 2) == pytest.approx(scores)


def test_nothing_visible_is_no_error() -> None:
    """Before the first text there is nothing to score."""
    assert Bm25(["a lamp"]).scores("lamp", 0).shape == (0,)


def test_passages_end_with_their_scene_and_lose_nothing(book: BenchBook) -> None:
    """The pieces of a scene are its text."""
    pieces = [each.text for each in passage_texts(book) if each.place == (1, 1)]
    assert "".join(pieces) == book.book.scenes[0].text


def test_no_ranking_sees_the_planned_scene(book: BenchBook, memories: Corpus) -> None:
    """Every ranking holds only what lies before its plan, and the one by importance begins with the weightiest."""
    plan = book.plans[0]
    for rival in memory_rivals(memories):
        for rank in rival.rankings:
            assert all(each.place < plan.place for each in rank(plan))
    by_importance = next(each for each in memory_rivals(memories) if each.name == "by importance, full")
    ids = [each.record_id for each in by_importance.rankings[0](plan)]
    assert ids == ["M004", "M005", "M002", "M001", "M003", "X001"]


def test_short_forms_stand_for_the_same_memories(book: BenchBook, memories: Corpus) -> None:
    """A ranking in short form has the order of the full one."""
    named = {each.name: each.rankings[0](book.plans[0]) for each in memory_rivals(memories)}
    full, short = named["queries fused, full"], named["queries fused, short"]
    assert [each.record_id for each in full] == [each.record_id for each in short]
    assert "Cornelius has the key" in {each.text for each in short}


def test_a_plan_is_asked_as_a_whole_and_in_parts(book: BenchBook) -> None:
    """Whole, purpose, each action, each character with the place; each text once."""
    queries = plan_queries(book.plans[0].scene_plan)
    assert len(queries) == len(set(queries)) == 6
    assert queries[-1] == "Ben the lighthouse"
