"""The story before a draft, read for its check, and what of it the draft's sentences find."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple, get_args

from novelgen.checking.story import StoryBefore
from novelgen.language.chronology import scene_times
from novelgen.language.language import stated_language
from novelgen.memory.query_scores import unit_rows
from novelgen.memory.search import Candidate, SearchQuery, SearchRequest, Vector
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


class SentenceHits(NamedTuple):
    """For each sentence of a draft how near it is in meaning to what it is compared with, by source_id."""

    similar: Sequence[Mapping[str, float]] = ()
    issues: Sequence[ReportIssue] = ()


def find_by_sentences(
    stores: MemoryStores, project_id: str, sentences: Sequence[str], *, as_of: StoryPosition, timeout_s: float
) -> SentenceHits:
    """Search everything strictly before a position by each sentence of a draft, by meaning and by words.

    All sentences are embedded in one batch and searched for at once. What one of them finds is compared with all.
    A story of text alone has nothing to compare with: what tells of its passages is words.
    """
    texts = [" ".join(each.split()) for each in sentences]
    told = [number for number, each in enumerate(texts) if each]
    with stores.database(project_id).read() as unit:
        has_memories = bool(unit.memories.filtered_ids(_told_before(as_of), limit=1))
    if not (told and has_memories):
        return SentenceHits([{}] * len(texts))
    together = -(-len(told) // MAX_SENTENCE_QUERIES)
    groups = [told[start : start + together] for start in range(0, len(told), together)]
    found = search_memories(
        stores,
        SearchRequest(
            project_id=project_id,
            queries=[SearchQuery(text=" ".join(texts[number] for number in group)) for group in groups],
            as_of=as_of,
            candidates_per_query=HITS_PER_SENTENCE,
            timeout_s=timeout_s,
        ),
    )
    similar: list[Mapping[str, float]] = [{}] * len(texts)
    for asked_number, nearness in _similarities(found.query_vectors, found.candidates).items():
        for number in groups[asked_number]:
            similar[number] = nearness
    return SentenceHits(similar, found.issues)


def _similarities(queries: Sequence[Vector | None], candidates: Sequence[Candidate]) -> dict[int, dict[str, float]]:
    """Return by the number of each query that has a vector the greatest cosine with each source that has one."""
    asked = [(number, vector) for number, vector in enumerate(queries) if vector is not None]
    stored = [(each.chunk.memory_id, each.vector) for each in candidates if each.vector is not None]
    if not asked or not stored:
        return {}
    first, second = unit_rows([vector for _, vector in asked]), unit_rows([vector for _, vector in stored])
    found: dict[int, dict[str, float]] = {}
    for (number, _), row in zip(asked, (first @ second.T).tolist(), strict=True):
        nearness = found[number] = {}
        for (source_id, _), cosine in zip(stored, row, strict=True):
            nearness[source_id] = max(cosine, nearness.get(source_id, -1.0))
    return found


def _told_before(as_of: StoryPosition) -> MemoryFilter:
    return MemoryFilter(as_of=as_of, content_types=list(DISTILLED_TYPES), unconsolidated=True)


def story_before(
    stores: MemoryStores, project_id: str, *, as_of: StoryPosition, plan: ScenePlan | None = None
) -> StoryBefore:
    """Return the story strictly before a position as a check of a draft sees it."""
    with stores.database(project_id).read() as unit:
        entities = unit.entities.list_as_of(as_of=as_of)
        language = unit.projects.require().language
        changes = unit.states.changes_before(as_of, entity_ids=[each.entity_id for each in entities])
        memories = [each.chunk for each in unit.memories.list_matching(_told_before(as_of))]
        relationships = unit.relationships.list_as_of(as_of=as_of)
        threads = unit.threads.list_as_of(as_of=as_of, statuses=get_args(LoopStatus))
        times = scene_times(unit.scenes.tellings(as_of=as_of))
    return StoryBefore(
        as_of=as_of,
        language=stated_language(language) or "en",
        entities=entities,
        changes=changes,
        memories=memories,
        relationships=relationships,
        threads=threads,
        knowledge=knowledge_rules(stores, project_id, as_of=as_of),
        plan=plan,
        story_times=times,
    )
