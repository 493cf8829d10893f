"""The lexical arm: names and rare words, whatever the embeddings think."""

from __future__ import annotations

from novelgen.memory.search import SearchRequest
from runtime.retrieval.answers import ArmAnswer, merged, ranked_answer
from runtime.retrieval.filters import same_filters
from runtime.stores import MemoryStores

ARM = "lexical"


def search_words(stores: MemoryStores, request: SearchRequest) -> ArmAnswer:
    """Search all queries by words, cut by position in SQL.

    Raises:
        DatabaseError: When SQL is down.
    """
    answers: list[ArmAnswer] = []
    with stores.database(request.project_id).read() as unit:
        for memory_filter, numbers in same_filters(request):
            found = unit.lexical.search_many(
                request.project_id,
                [request.queries[number].text for number in numbers],
                memory_filter=memory_filter,
                limit=request.candidates_per_query,
            )
            answers += [
                ranked_answer(ARM, ((hit.chunk_id, hit.score) for hit in hits), number)
                for number, hits in zip(numbers, found, strict=True)
            ]
    return merged(answers)
