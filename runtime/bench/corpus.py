"""Texts in story order with their vectors and words: what the benchmark's rivals search."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from novelgen.models.plan import ScenePlan
from runtime.bench.bm25 import Bm25
from runtime.bench.book import BenchBook, Place
from runtime.bench.scoring import RankedText
from runtime.providers.embeddings import CheckedEmbeddings

FUSION_CONSTANT = 60
"""k of reciprocal rank fusion (Cormack, Clarke and Buettcher 2009)."""
FUSED_PER_LIST = 100
"""Ranks of each list that count in fusion."""
PASSAGE_CHARACTERS = 500


@dataclass(frozen=True, slots=True)
class CorpusText:
    """One text that rivals may find.

    Args:
        place: Chapter and scene.
        text: The full text.
        short: A short form; empty where there is none.
        importance: 1-10.
        record_id: As in `RankedText`.
    """

    place: Place
    text: str
    short: str = ""
    importance: int = 5
    record_id: str | None = None

    def ranked(self, *, is_short: bool = False) -> RankedText:
        """Return it as an entry of a ranking, in full or in short form."""
        return RankedText(self.place, self.short if is_short and self.short else self.text, self.record_id)


def memory_texts(book: BenchBook) -> list[CorpusText]:
    """Return the memories of a book's records in story order."""
    return [
        CorpusText(place, each.content, each.short, each.importance, each.memory_id)
        for place, record in sorted(book.book.records.items())
        for each in record.memories
    ]


def passage_texts(book: BenchBook) -> list[CorpusText]:
    """Return a book's text in story order, cut into pieces of 500 characters that end with their scene."""
    return [
        CorpusText((scene.chapter_index, scene.scene_index), scene.text[start : start + PASSAGE_CHARACTERS])
        for scene in book.book.scenes
        for start in range(0, len(scene.text), PASSAGE_CHARACTERS)
    ]


def whole_plan(plan: ScenePlan) -> str:
    """Return a plan as one query."""
    return "\n".join([plan.location, " ".join(plan.characters), plan.purpose, *plan.key_actions])


def plan_queries(plan: ScenePlan) -> list[str]:
    """Return a plan as many queries: the whole, its purpose, each key action, each character with the place."""
    parts = [whole_plan(plan), plan.purpose, *plan.key_actions]
    return list(dict.fromkeys([*parts, *(f"{name} {plan.location}" for name in plan.characters)]))


class Corpus:
    """Searches texts that lie before a position.

    Args:
        texts: In story order.
        embeddings: Embed the texts at once, and queries later.
    """

    def __init__(self, texts: Sequence[CorpusText], embeddings: CheckedEmbeddings) -> None:
        self.texts = list(texts)
        self._places = [each.place for each in self.texts]
        self._embeddings = embeddings
        self._vectors = np.asarray(embeddings.embed_documents([each.text for each in self.texts]))
        self._words = Bm25([each.text for each in self.texts])

    def visible(self, place: Place) -> int:
        """Return how many of the first texts lie strictly before a position."""
        return bisect_left(self._places, place)

    def fused(self, queries: Sequence[str], place: Place) -> list[CorpusText]:
        """Rank by reciprocal rank fusion over all queries by meaning and by words."""
        visible = self.visible(place)
        points = np.zeros(visible)
        for query, vector in zip(queries, self._query_vectors(queries), strict=True):
            for scores in (self._vectors[:visible] @ vector, self._words.scores(query, visible)):
                best = _best_first(scores)[:FUSED_PER_LIST]
                points[best] += 1.0 / (FUSION_CONSTANT + 1 + np.arange(len(best)))
        return [self.texts[number] for number in _best_first(points)]

    def by_words(self, query: str, place: Place) -> list[CorpusText]:
        """Rank by BM25 alone; texts without a word of the query are left out."""
        return [self.texts[number] for number in _best_first(self._words.scores(query, self.visible(place)))]

    def _query_vectors(self, queries: Sequence[str]) -> NDArray[np.float64]:
        return np.asarray(self._embeddings.embed_queries(list(queries)))


def _best_first(scores: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return the rows with a positive score, best first, equal scores in story order."""
    order = np.argsort(-scores, kind="stable")
    return order[scores[order] > 0]
