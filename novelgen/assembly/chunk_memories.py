"""Whom and what a piece of text names, and which memories it needs."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence

from pydantic import BaseModel, Field

from novelgen.memory.search import Candidate, SearchQuery, SearchRequest
from novelgen.models.chunk_context import ChunkContextRequest, ChunkMemory, GlossaryEntry, GlossaryName
from novelgen.models.entity import Entity, is_entity_id, translation_of
from novelgen.models.memory import DISTILLED_TYPES, PASSAGE_TYPES, StoryMemoryChunk
from novelgen.names.resolver import Mention, NameResolver
from novelgen.selection.duplicates import DuplicateFinder
from novelgen.selection.query_scores import RANK_CONSTANT
from novelgen.selection.select import best_ranks
from novelgen.text.sentences import chunk_text, split_sentences


class TextMention(BaseModel):
    """An entity that a text names, and the sentences that do."""

    entry: GlossaryEntry
    sentences: list[str] = Field(default_factory=list, description="In the order of the text.")


def mentioned_in(
    text: str, known: Sequence[Entity], *, newly_shown: Sequence[Entity] = ()
) -> list[TextMention]:
    """Find the entities that a text names.

    Args:
        text: A piece of the story.
        known: Entities and names that the story had shown before the text.
        newly_shown: Entities as the text's own chapter shows them; of those that are not known yet only the
            names that stand in the text are told, for the rest may come after it.

    Returns:
        One per entity, in the order of first mention.
    """
    known_ids = {entity.entity_id for entity in known}
    new = [entity for entity in newly_shown if entity.entity_id not in known_ids]
    entities = {entity.entity_id: entity for entity in [*known, *new]}
    found: dict[str, list[Mention]] = {}
    for mention in NameResolver([*known, *new]).find_mentions(text):
        found.setdefault(mention.entity_id, []).append(mention)
    speakers = {entity.entity_id: entity.name for entity in known}
    return [
        TextMention(
            entry=_entry(entities[entity_id], speakers)
            if entity_id in known_ids
            else _entry_of_new(entities[entity_id], mentions, speakers),
            sentences=_sentences_with(text, mentions),
        )
        for entity_id, mentions in found.items()
    ]


def _entry(entity: Entity, speakers: Mapping[str, str]) -> GlossaryEntry:
    return GlossaryEntry(
        entity_id=entity.entity_id,
        entity_type=entity.entity_type,
        name=entity.name,
        translation=translation_of(entity, entity.name),
        aliases=[_name(entity, alias, speakers) for alias in entity.names()[1:]],
        description=entity.description or entity.role,
    )


def _entry_of_new(entity: Entity, mentions: Sequence[Mention], speakers: Mapping[str, str]) -> GlossaryEntry:
    first, *others = dict.fromkeys(mention.name for mention in mentions)
    return GlossaryEntry(
        entity_id=entity.entity_id,
        entity_type=entity.entity_type,
        name=first,
        translation=translation_of(entity, first),
        aliases=[_name(entity, each, speakers) for each in others],
    )


def _name(entity: Entity, name: str, speakers: Mapping[str, str]) -> GlossaryName:
    alias = next((each for each in entity.aliases if each.alias == name), None)
    speaker = (alias and alias.speaker) or ""
    if is_entity_id(speaker):
        # Who is not known yet is not told to use it.
        speaker = speakers.get(speaker, "")
    return GlossaryName(
        name=name,
        translation=translation_of(entity, name),
        language=(alias and alias.language) or "",
        speaker=speaker,
    )


def _sentences_with(text: str, mentions: Sequence[Mention]) -> list[str]:
    spans = (
        span
        for span in split_sentences(text)
        if any(span.start <= mention.start < span.end for mention in mentions)
    )
    return [text[span.start : span.end] for span in spans]


WHOLE_TEXT_QUERIES = 4
"""Pieces of the text that are searched for as they are, from its beginning, evenly spread."""

ENTITY_QUERIES = 12
"""Entities that get a search of their own, so that nobody's memories are crowded out."""

QUERY_CHARACTERS = 600
"""A query is cut to so many: embedding models read no more, and more words find everything."""

FOUND_BY_RANK = 10
"""An unattached memory counts when some query ranks it so high; beyond, a retriever only fills its list."""

RELEVANCE, ATTACHED, IMPORTANCE = 0.4, 0.4, 0.2
"""Shares of the score, each part from 0 to 1."""

SUPERSEDED_FACTOR = 0.1

REPEATED_ENTITY_FACTOR = 0.7
"""What a further memory of the same entity is worth: the protagonist must not fill all places."""

DUPLICATE_OVERLAP = 0.6


class ChosenMemories(BaseModel):
    """Memories for a text, best first, and how many more fit."""

    memories: list[ChunkMemory] = Field(default_factory=list)
    more: int = 0


def chunk_search(
    request: ChunkContextRequest, mentions: Sequence[TextMention], *, timeout_s: float
) -> SearchRequest:
    """Return what to search for: the text itself, and each entity by its name and the sentences that name it."""
    spans = chunk_text(request.text, target_characters=QUERY_CHARACTERS)
    step = max(1, math.ceil(len(spans) / WHOLE_TEXT_QUERIES))
    pieces = [request.text[span.start : span.end] for span in spans[::step]]
    queries = [
        SearchQuery(text=piece[:QUERY_CHARACTERS], purpose="whole") for piece in pieces if piece.strip()
    ]
    queries += [
        SearchQuery(
            text=" ".join([mention.entry.name, *mention.sentences])[:QUERY_CHARACTERS],
            purpose="character",
            entities=[mention.entry.entity_id],
        )
        for mention in mentions[:ENTITY_QUERIES]
    ]
    return SearchRequest(
        project_id=request.project_id,
        queries=queries,
        entity_ids=[mention.entry.entity_id for mention in mentions],
        as_of=request.position,
        candidates_per_query=max(50, 3 * request.limit),
        timeout_s=timeout_s,
        counts_linked=True,
    )


def choose_for_chunk(
    request: ChunkContextRequest,
    mentions: Sequence[TextMention],
    candidates: Sequence[Candidate],
    *,
    linked: int | None = None,
) -> ChosenMemories:
    """Choose the memories of a text.

    The score is 0.4 relevance (reciprocal ranks of meaning and words, the best memory's being 1), 0.4 for
    being attached to an entity of the text (the rarer its memories, the more) and 0.2 importance; what was
    replaced keeps a tenth. Each further memory of the same entity counts 0.7 of the one before it. Passages
    count only where no distilled memory was found, and what repeats the text or another memory does not.

    Args:
        request: The text, its position and the limit.
        mentions: Whom it names.
        candidates: What the retrievers found; what does not lie before the position is dropped once more.
        linked: How many distilled memories its entities have in all; None counts those found alone.

    Returns:
        At most `limit`, in order of score, then story distance, then id, and how many more there are.
    """
    here = {mention.entry.entity_id for mention in mentions}
    own_text = _unspaced(request.text)
    fitting = [
        each
        for each in candidates
        if _fits(each, request, here) and _unspaced(each.chunk.content) not in own_text
    ]
    pool = [each for each in fitting if each.chunk.content_type not in PASSAGE_TYPES] or fitting
    ranked = sorted(_scored(pool, here), key=_order(request))
    finder = DuplicateFinder(pool, DUPLICATE_OVERLAP)
    unique = [each for each in ranked if finder.take(each.chunk.chunk_id) is None]
    chosen = _varied(unique, request.limit)
    more = len(unique) - len(chosen) + _not_found(linked, here, candidates)
    return ChosenMemories(memories=sorted(chosen, key=_order(request)), more=more)


def _not_found(linked: int | None, here: set[str], candidates: Sequence[Candidate]) -> int:
    """How many linked memories no retriever brought: a retriever lists so many and no more."""
    found = sum(
        each.chunk.content_type in DISTILLED_TYPES and bool(here & set(each.chunk.entities_mentioned))
        for each in candidates
    )
    return max(0, (linked or 0) - found)


def _fits(candidate: Candidate, request: ChunkContextRequest, here: set[str]) -> bool:
    chunk = candidate.chunk
    is_before = request.position.admits(chunk.chapter_index, chunk.scene_index)
    is_found = any(hit.query_index is not None and hit.rank <= FOUND_BY_RANK for hit in candidate.hits)
    is_own = chunk.project_id == request.project_id
    return is_own and is_before and (is_found or bool(here & set(chunk.entities_mentioned)))


def _unspaced(text: str) -> str:
    return "".join(text.split())


def _scored(candidates: Sequence[Candidate], here: set[str]) -> list[ChunkMemory]:
    relevance = {
        each.chunk.chunk_id: sum(
            1 / (RANK_CONSTANT + hit.rank) for hit in each.hits if hit.query_index is not None
        )
        for each in candidates
    }
    best = max(relevance.values(), default=0.0) or 1.0
    rarity = _rarity(candidates, here)
    scored = []
    for each in candidates:
        chunk = each.chunk
        attached_to = sorted(
            here & set(chunk.entities_mentioned), key=lambda entity: (-rarity[entity], entity)
        )
        score = (
            RELEVANCE * relevance[chunk.chunk_id] / best
            + ATTACHED * max((rarity[entity] for entity in attached_to), default=0.0)
            + IMPORTANCE * (10 if chunk.tier == "pinned" else chunk.importance) / 10
        )
        if chunk.superseded_by:
            score *= SUPERSEDED_FACTOR
        scored.append(
            ChunkMemory(
                chunk=chunk, score=round(score, 4), attached_to=attached_to, arm_ranks=best_ranks(each.hits)
            )
        )
    return scored


def _rarity(candidates: Sequence[Candidate], here: set[str]) -> dict[str, float]:
    """How much being attached to each entity says, from 0.5 (all memories are) to 1 (one is)."""
    counts = Counter(entity for each in candidates for entity in here & set(each.chunk.entities_mentioned))
    total = max(2, len(candidates))
    return {entity: 1 - 0.5 * math.log(max(1, counts[entity])) / math.log(total) for entity in here}


def _varied(ranked: Sequence[ChunkMemory], limit: int) -> list[ChunkMemory]:
    """Take the best one by one, what was taken for an entity lowering its next."""
    left = list(ranked)
    taken: list[ChunkMemory] = []
    served: Counter[str] = Counter()
    while left and len(taken) < limit:
        best = max(left, key=lambda each: each.score * REPEATED_ENTITY_FACTOR ** served[_owner(each)])
        left.remove(best)
        taken.append(best)
        served[_owner(best)] += 1
    return taken


def _owner(memory: ChunkMemory) -> str:
    """The entity that a memory is taken for: the rarest of the text's; all unattached ones share one."""
    return memory.attached_to[0] if memory.attached_to else ""


def _order(request: ChunkContextRequest) -> Callable[[ChunkMemory], tuple[float, float, str]]:
    def key(memory: ChunkMemory) -> tuple[float, float, str]:
        return (-memory.score, _distance(memory.chunk, request.chapter_index), memory.chunk.chunk_id)

    return key


def _distance(chunk: StoryMemoryChunk, chapter_index: int | None) -> float:
    """Chapters back, a later scene being nearer; canon without a place is near everywhere."""
    if chunk.chapter_index is None:
        return 0.0
    scene = 0 if chunk.scene_index is None else chunk.scene_index
    from_chapter = 1_000_000 if chapter_index is None else chapter_index
    return from_chapter - chunk.chapter_index - scene / 1_000_001
