"""Texts in story order with their words and vectors, for the rivals; it shares no code with novelgen's own search."""

import math
import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from langchain_core.documents import Document
from numpy.typing import NDArray

from novelgen.language.language import CJK_RANGES, is_cjk
from novelgen.models.plan import ScenePlan
from runtime.model_providers.embeddings import CheckedEmbeddings
from tests.benchmarks.retrieval.book import BenchBook, Place, whole_plan
from tests.benchmarks.retrieval.scoring import RankedText

SATURATION = 1.5
LENGTH_SHARE = 0.75

Tokenizer = Callable[[str], list[str]]

_RUN = re.compile(rf"[{CJK_RANGES}]+|[^\W_{CJK_RANGES}]+")


def words_and_bigrams(text: str) -> list[str]:
    """Return folded words, and every two neighbouring Chinese characters."""
    tokens: list[str] = []
    for run in _RUN.findall(text.lower()):
        is_chinese = len(run) > 1 and is_cjk(run[0])
        tokens += [run[start : start + 2] for start in range(len(run) - 1)] if is_chinese else [run]
    return tokens


class Bm25:
    """Scores the first so many of some texts in story order; rarity and length are theirs alone."""

    def __init__(self, texts: Sequence[str], *, tokenize: Tokenizer = words_and_bigrams) -> None:
        self._tokenize = tokenize
        self._lengths = np.zeros(len(texts))
        postings: dict[str, list[tuple[int, int]]] = {}
        for number, text in enumerate(texts):
            counts = Counter(tokenize(text))
            self._lengths[number] = counts.total()
            for token, count in counts.items():
                postings.setdefault(token, []).append((number, count))
        self._postings = {token: np.array(entries) for token, entries in postings.items()}

    def scores(self, query: str, visible: int) -> NDArray[np.float64]:
        """Return the score of each of the first `visible` texts; 0 where nothing matches."""
        scores = np.zeros(visible)
        average = self._lengths[:visible].mean() if visible else 0.0
        for token in dict.fromkeys(self._tokenize(query)):
            entries = self._postings.get(token)
            if entries is None:
                continue
            entries = entries[: np.searchsorted(entries[:, 0], visible)]
            rows, counts = entries[:, 0], entries[:, 1]
            rarity = math.log(1 + (visible - len(rows) + 0.5) / (len(rows) + 0.5))
            norm = SATURATION * (1 - LENGTH_SHARE + LENGTH_SHARE * self._lengths[rows] / average)
            scores[rows] += rarity * counts * (SATURATION + 1) / (counts + norm)
        return scores


FUSION_CONSTANT = 60
"""k of reciprocal rank fusion (Cormack, Clarke and Buettcher 2009)."""
FUSED_PER_LIST = 100
"""Ranks of each list that count in fusion."""
PASSAGE_CHARACTERS = 500


@dataclass(frozen=True, slots=True)
class CorpusText:
    """One text that rivals may find, with its short form where there is one."""

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


def plan_queries(plan: ScenePlan) -> list[str]:
    """Return a plan as many queries: the whole, its purpose, each key action, each character with the place."""
    parts = [whole_plan(plan), plan.purpose, *plan.key_actions]
    return list(dict.fromkeys([*parts, *(f"{name} {plan.location}" for name in plan.characters)]))


class Corpus:
    """Searches those of some texts in story order that lie before a position."""

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


def corpus_documents(corpus: Corpus) -> list[Document]:
    """Return the texts as documents whose `number` and id are their place in story order."""
    return [
        Document(page_content=each.text, metadata={"number": number}, id=str(number))
        for number, each in enumerate(corpus.texts)
    ]


def ranked_documents(corpus: Corpus, documents: Sequence[Document]) -> list[RankedText]:
    """Return documents of a corpus as a ranking."""
    return [corpus.texts[document.metadata["number"]].ranked() for document in documents]
