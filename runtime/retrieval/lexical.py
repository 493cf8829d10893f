"""The lexical retriever: names and rare words, whatever the embeddings think."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from novelgen.memory.search import SearchRequest
from novelgen.models.memory import ContentType
from runtime.retrieval.retrievers import RetrieverAnswer, merged, ranked_answer, same_filters
from runtime.storage.memory.lexical import LexicalMatches
from runtime.storage.records import MemoryFilter
from runtime.storage.unit import UnitOfWork
from runtime.stores import MemoryStores

ARM = "lexical"
DISTILLED: tuple[ContentType, ...] = ("memory", "note", "summary", "dialogue", "description")
PASSAGES: tuple[ContentType, ...] = ("scene",)
PASSAGES_BESIDE_MEMORIES = 20
"""Where distilled memories are found, so many passages per query are enough: they would crowd them out."""


def search_words(stores: MemoryStores, request: SearchRequest) -> RetrieverAnswer:
    """Search all queries by words, cut by position in SQL.

    Raises:
        DatabaseError: When SQL is down.
    """
    answers: list[RetrieverAnswer] = []
    with stores.database(request.project_id).read() as unit:
        for memory_filter, numbers in same_filters(request):
            texts = [request.queries[number].text for number in numbers]
            asked = _Asked(
                unit,
                request.project_id,
                numbers,
                unit.lexical.match(texts, memory_filter),
            )
            if memory_filter.content_types:
                answers += asked.best(memory_filter, limit=request.candidates_per_query)
                continue
            distilled = memory_filter.model_copy(update={"content_types": list(DISTILLED)})
            facts = asked.best(distilled, limit=request.candidates_per_query)
            has_facts = any(answer.hits for answer in facts)
            limit = PASSAGES_BESIDE_MEMORIES if has_facts else request.candidates_per_query
            passages = memory_filter.model_copy(update={"content_types": list(PASSAGES)})
            answers += [*facts, *asked.best(passages, limit=limit)]
    return merged(answers)


@dataclass(frozen=True)
class _Asked:
    """Queries of one filter, and what matches them."""

    unit: UnitOfWork
    project_id: str
    numbers: Sequence[int]
    matches: LexicalMatches

    def best(self, memory_filter: MemoryFilter, *, limit: int) -> list[RetrieverAnswer]:
        found = self.unit.lexical.best(self.matches, memory_filter, limit=limit)
        return [
            ranked_answer(ARM, ((hit.chunk_id, hit.score) for hit in hits), number)
            for number, hits in zip(self.numbers, found, strict=True)
        ]
