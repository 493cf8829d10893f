"""The story before a draft, read for its check, and what of it the draft's sentences find."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import get_args

from novelgen.characters.mind import unit_rows
from novelgen.checking.story import StoryBefore
from novelgen.language.chronology import scene_times
from novelgen.memory.search import LEXICAL_RETRIEVER, Candidate, SearchQuery, SearchRequest, Vector
from novelgen.models.context import ReportIssue
from novelgen.models.memory import DISTILLED_TYPES
from novelgen.models.plan import ScenePlan
from novelgen.models.position import StoryPosition
from novelgen.models.state import LoopStatus
from runtime.search.kept_readings import knowledge_rules
from runtime.search.search import search_memories
from runtime.storage.records import MemoryFilter
from runtime.stores import MemoryStores

HITS_PER_SENTENCE = 50
"""So many memories are found by meaning, and as many by words, for each sentence of a draft."""

MAX_SENTENCE_QUERIES = 200
"""A longer draft is searched for by several sentences at once, so that all of it has its turn."""


@dataclass(frozen=True, slots=True)
class SentenceHit:
    """Something stored before the draft that one of its sentences found."""

    source_id: str
    chunk_id: str
    similarity: float | None
    words: float = 0.0


@dataclass(frozen=True, slots=True)
class SentenceHits:
    """What the sentences of a draft found."""

    of_sentences: Sequence[Sequence[SentenceHit]] = ()
    issues: Sequence[ReportIssue] = ()

    def similar(self) -> list[dict[str, float]]:
        """Return for each text that was asked the similarities of what has a vector, by source_id."""
        return [
            {hit.source_id: hit.similarity for hit in reversed(hits) if hit.similarity is not None}
            for hits in self.of_sentences
        ]


def find_by_sentences(
    stores: MemoryStores, project_id: str, sentences: Sequence[str], *, as_of: StoryPosition, timeout_s: float
) -> SentenceHits:
    """Search everything strictly before a position by each sentence of a draft, by meaning and by words.

    All sentences are embedded in one batch and searched for at once. What one of them finds is compared with all.
    """
    texts = [" ".join(each.split()) for each in sentences]
    told = [number for number, each in enumerate(texts) if each]
    if not told:
        return SentenceHits([()] * len(texts))
    together = -(-len(told) // MAX_SENTENCE_QUERIES)
    groups = [told[start : start + together] for start in range(0, len(told), together)]
    asked = [" ".join(texts[number] for number in group) for group in groups]
    found = search_memories(
        stores,
        SearchRequest(
            project_id=project_id,
            queries=[SearchQuery(text=each) for each in asked],
            as_of=as_of,
            candidates_per_query=HITS_PER_SENTENCE,
            timeout_s=timeout_s,
        ),
    )
    similarities = _similarities(found.query_vectors, found.candidates)
    of_sentences: list[Sequence[SentenceHit]] = [()] * len(texts)
    for asked_number, group in enumerate(groups):
        hits = _hits_of(asked_number, similarities, found.candidates)
        for number in group:
            of_sentences[number] = hits
    return SentenceHits(of_sentences, found.issues)


def _hits_of(
    number: int, similarities: Mapping[tuple[int, str], float], candidates: Sequence[Candidate]
) -> list[SentenceHit]:
    hits = []
    for each in candidates:
        words = [
            hit.score or 0.0 for hit in each.hits if hit.query_index == number and hit.retriever == LEXICAL_RETRIEVER
        ]
        chunk = each.chunk
        similarity = similarities.get((number, chunk.chunk_id))
        if similarity is not None or words:
            source_id = chunk.source_id or chunk.chunk_id
            hits.append(SentenceHit(source_id, chunk.chunk_id, similarity, max(words, default=0.0)))
    return sorted(hits, key=lambda hit: (-(hit.similarity or 0.0), -hit.words, hit.chunk_id))


def _similarities(queries: Sequence[Vector | None], candidates: Sequence[Candidate]) -> dict[tuple[int, str], float]:
    """Return the cosine of each query with each candidate, by number and chunk id, where both have a vector."""
    asked = [(number, vector) for number, vector in enumerate(queries) if vector is not None]
    stored = [(each.chunk.chunk_id, each.vector) for each in candidates if each.vector is not None]
    if not asked or not stored:
        return {}
    first, second = unit_rows([vector for _, vector in asked]), unit_rows([vector for _, vector in stored])
    cosines = first @ second.T
    return {
        (number, chunk_id): float(cosines[row, column])
        for row, (number, _) in enumerate(asked)
        for column, (chunk_id, _) in enumerate(stored)
    }


def story_before(
    stores: MemoryStores, project_id: str, *, as_of: StoryPosition, plan: ScenePlan | None = None
) -> StoryBefore:
    """Return the story strictly before a position as a check of a draft sees it."""
    wanted = MemoryFilter(as_of=as_of, content_types=list(DISTILLED_TYPES), unconsolidated=True)
    with stores.database(project_id).read() as unit:
        entities = unit.entities.list_as_of(as_of=as_of)
        language = unit.outline(as_of=as_of).language
        changes = unit.states.changes_before(as_of, entity_ids=[each.entity_id for each in entities])
        memories = [each.chunk for each in unit.memories.list_matching(wanted)]
        relationships = unit.relationships.list_as_of(as_of=as_of)
        threads = unit.threads.list_as_of(as_of=as_of, statuses=get_args(LoopStatus))
        times = scene_times(unit.scenes.tellings(as_of=as_of))
    return StoryBefore(
        as_of=as_of,
        language="zh" if language.lower().startswith("zh") else "en",
        entities=entities,
        changes=changes,
        memories=memories,
        relationships=relationships,
        threads=threads,
        knowledge=knowledge_rules(stores, project_id, as_of=as_of),
        plan=plan,
        story_times=times,
    )
