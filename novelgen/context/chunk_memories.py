"""Which memories a piece of text needs, and the block of a prompt that holds them."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import datetime
from types import MappingProxyType
from typing import NamedTuple

from novelgen.context.labels import labels_for
from novelgen.context.prompt_block import fence_mark, fenced
from novelgen.context.rendering import place_of
from novelgen.context.text_glossary import TextMention
from novelgen.language.language import StoryLanguage
from novelgen.language.resolver import NameResolver
from novelgen.language.sentences import chunk_text
from novelgen.memory.retelling import DuplicateFinder
from novelgen.memory.search import NAMES_PURPOSE, Candidate, SearchQuery, SearchRequest
from novelgen.models.chunk_context import ChunkContextRequest, ChunkMemory, GlossaryEntry, GlossaryName
from novelgen.models.entity import Entity
from novelgen.models.memory import BOOK, DISTILLED_TYPES, PASSAGE_TYPES, chapter_of_target, targets_of
from novelgen.words import words

WHOLE_TEXT_QUERIES = 4
"""Pieces of the text that are searched for as they are, from its beginning, evenly spread."""

ENTITY_QUERIES = 12
"""Entities that get a search of their own, so that nobody's memories are crowded out."""

QUERY_CHARACTERS = 600
"""A query is cut to so many: embedding models read no more, and more words find everything."""

FOUND_BY_RANK = 10
"""A memory that is neither attached nor names anybody of the text counts when some query ranks it so high; beyond, a
retriever only fills its list."""

RELEVANCE, ATTACHED, IMPORTANCE = 0.4, 0.4, 0.2
"""Shares of the score, each part from 0 to 1."""

BOOK_FACTOR = 0.5
"""What being attached to the whole book counts beside being attached to somebody or to the chapter."""

SUPERSEDED_FACTOR = 0.1

REPEATED_ENTITY_FACTOR = 0.7
"""What a further memory of the same entity is worth: the protagonist must not fill all places."""

DUPLICATE_OVERLAP = 0.6


def chunk_search(request: ChunkContextRequest, mentions: Sequence[TextMention], *, timeout_s: float) -> SearchRequest:
    """Return the queries of a text: the text, entities and their names."""
    queries = _text_queries(request, mentions)
    named_search_queries = [
        SearchQuery(text=" ".join(_names(mention.entry))[:QUERY_CHARACTERS], purpose=NAMES_PURPOSE)
        for mention in _asked_for(mentions)
    ]
    meant_ids = [mention.entry.entity_id for mention in mentions if mention.is_meant]
    return SearchRequest(
        project_id=request.project_id,
        queries=[*queries, *named_search_queries] if queries else [],
        entity_ids=[*meant_ids, *request.targets],
        as_of=request.position,
        candidates_per_query=max(50, 3 * request.limit),
        timeout_s=timeout_s,
        counts_linked=True,
    )


def _text_queries(request: ChunkContextRequest, mentions: Sequence[TextMention]) -> list[SearchQuery]:
    """Return the relevance queries, which come before all others."""
    spans = chunk_text(request.text, target_characters=QUERY_CHARACTERS)
    step = max(1, math.ceil(len(spans) / WHOLE_TEXT_QUERIES))
    pieces = [request.text[span.start : span.end] for span in spans[::step]]
    queries = [SearchQuery(text=piece[:QUERY_CHARACTERS], purpose="whole") for piece in pieces if piece.strip()]
    return queries + [
        SearchQuery(
            text=" ".join([mention.entry.name, *mention.sentences])[:QUERY_CHARACTERS],
            purpose="character",
            entities=[mention.entry.entity_id],
        )
        for mention in _asked_for(mentions)
    ]


def _asked_for(mentions: Sequence[TextMention]) -> list[TextMention]:
    return [mention for mention in mentions if mention.is_meant][:ENTITY_QUERIES]


def _names(entry: GlossaryEntry) -> list[str]:
    return [entry.name, *(alias.name for alias in entry.aliases)]


class ChosenMemories(NamedTuple):
    """Memories for a piece of text, how many more fit, and those of them that were retrieved."""

    memories: list[ChunkMemory]
    more: int
    left_out: list[ChunkMemory]


def choose_for_chunk(
    request: ChunkContextRequest,
    mentions: Sequence[TextMention],
    candidates: Sequence[Candidate],
    *,
    entities: Sequence[Entity] = (),
    link_count: int | None = None,
    read_at: Mapping[str, datetime] = MappingProxyType({}),
    first_ids: Sequence[str] = (),
) -> ChosenMemories:
    """Choose memories: those of `first_ids`, then by rank, rarity of shared or attached entities, and importance."""
    here = _here(mentions)
    targets = here.union(request.targets)
    first_ranks = {chunk_id: rank for rank, chunk_id in enumerate(first_ids, start=1)}
    names_by_candidate = _naming(candidates, here, entities)
    own_text = _unspaced(request.text)
    fitting = [
        candidate
        for candidate in candidates
        if (candidate.chunk.chunk_id in first_ranks or _fits(candidate, request, targets, names_by_candidate))
        and _unspaced(candidate.chunk.content) not in own_text
    ]
    rendered_candidates = [candidate for candidate in fitting if candidate.chunk.content_type not in PASSAGE_TYPES]
    # What holds for the whole book says nothing of this text, which a passage does.
    pool = (
        rendered_candidates
        if any(
            targets_of(candidate.chunk) - {BOOK} or candidate.chunk.chunk_id in names_by_candidate
            for candidate in rendered_candidates
        )
        else fitting
    )
    telling = len(_text_queries(request, mentions))
    is_by_score = request.priority == "score"

    def order(memory: ChunkMemory) -> tuple[float, float, float, float, str]:
        chunk = memory.chunk
        loaded_datetime = None if is_by_score else read_at.get(chunk.chunk_id)
        # Chapters back, a later scene being nearer; canon without a place is near everywhere.
        distance = 0.0
        if chunk.chapter_index is not None:
            from_chapter = 1_000_000 if request.chapter_index is None else request.chapter_index
            distance = from_chapter - chunk.chapter_index - (chunk.scene_index or 0) / 1_000_001
        return (
            first_ranks.get(chunk.chunk_id, math.inf),
            0.0 if loaded_datetime is None else loaded_datetime.timestamp(),
            -memory.score,
            distance,
            chunk.chunk_id,
        )

    scored_memories = [
        memory.model_copy(update={"retriever_ranks": {"selector": rank, **memory.retriever_ranks}})
        if (rank := first_ranks.get(memory.chunk.chunk_id))
        else memory
        for memory in _scored(pool, targets, names_by_candidate, telling_queries=telling)
    ]
    ranked_memories = sorted(scored_memories, key=order)
    finder = DuplicateFinder(pool, DUPLICATE_OVERLAP)
    # Two notes of an author may differ by the one word that matters.
    unique = [
        memory
        for memory in ranked_memories
        if finder.take(memory.chunk.chunk_id, by_words=memory.chunk.content_type != "note") is None
    ]
    chosen_memories = [memory for memory in unique if memory.chunk.chunk_id in first_ranks][: request.limit]
    others, places = unique[len(chosen_memories) :], request.limit - len(chosen_memories)
    chosen_memories += _varied(others, places) if is_by_score else others[:places]
    # A retriever lists so many and no more, so that none may have brought a linked memory.
    match_count = sum(
        candidate.chunk.content_type in DISTILLED_TYPES and not here.isdisjoint(candidate.chunk.entities_mentioned)
        for candidate in candidates
    )
    more = len(unique) - len(chosen_memories) + max(0, (link_count or 0) - match_count)
    shown_ids = {memory.chunk.chunk_id for memory in chosen_memories}
    left_out = [memory for memory in unique if memory.chunk.chunk_id not in shown_ids]
    return ChosenMemories(sorted(chosen_memories, key=order), more, left_out)


def selectable_candidates(
    request: ChunkContextRequest, mentions: Sequence[TextMention], candidates: Sequence[Candidate]
) -> list[Candidate]:
    """Return those from which a model may choose for a text, whether or not they name anybody of it."""
    targets = _here(mentions).union(request.targets)
    own_text = _unspaced(request.text)
    return [
        candidate
        for candidate in candidates
        if _fits(candidate, request, targets, {}, is_any_near=True)
        and candidate.chunk.content_type in DISTILLED_TYPES
        and _unspaced(candidate.chunk.content) not in own_text
    ]


def ranked_candidates(
    request: ChunkContextRequest,
    mentions: Sequence[TextMention],
    candidates: Sequence[Candidate],
    *,
    known: Sequence[Entity] = (),
) -> list[Candidate]:
    """Return the candidates by their score for a text, the best first."""
    here = _here(mentions)
    names_by_candidate = _naming(candidates, here, known)
    telling = len(_text_queries(request, mentions))
    scored_memories = _scored(candidates, here.union(request.targets), names_by_candidate, telling_queries=telling)
    scores = {memory.chunk.chunk_id: memory.score for memory in scored_memories}
    return sorted(candidates, key=lambda candidate: (-scores[candidate.chunk.chunk_id], candidate.chunk.chunk_id))


def _here(mentions: Sequence[TextMention]) -> set[str]:
    return {mention.entry.entity_id for mention in mentions if mention.is_meant}


def _naming(candidates: Sequence[Candidate], here: set[str], known_entities: Sequence[Entity]) -> dict[str, list[str]]:
    """Return the named entities of memories without an attachment to the text."""
    resolver, present = NameResolver(list(known_entities)), sorted(here)
    names_by_candidate = {
        candidate.chunk.chunk_id: [
            entity_id
            for entity_id in resolver.entity_ids_in(candidate.chunk.content, also_present=present)
            if entity_id in here and entity_id not in candidate.chunk.taken_off
        ]
        for candidate in candidates
        if here.isdisjoint(candidate.chunk.entities_mentioned)
    }
    return {chunk_id: entity_ids for chunk_id, entity_ids in names_by_candidate.items() if entity_ids}


def _fits(
    candidate: Candidate,
    request: ChunkContextRequest,
    targets: set[str],
    names_by_candidate: Mapping[str, Sequence[str]],
    *,
    is_any_near: bool = False,
) -> bool:
    chunk = candidate.chunk
    is_before = request.position.admits(chunk.chapter_index, chunk.scene_index)
    is_match = is_any_near or any(hit.query_index is not None and hit.rank <= FOUND_BY_RANK for hit in candidate.hits)
    is_own = chunk.project_id == request.project_id
    is_taken_off = not targets.isdisjoint(chunk.taken_off)
    about = targets_of(chunk)
    if is_taken_off and any(attachment.is_default for attachment in chunk.attached_to):
        # That nothing else is left does not bring it back.
        about = about - {BOOK}
    is_about = not targets.isdisjoint(about)
    # What an author attached to something holds there alone, whomever its words name; in the whole book anywhere.
    is_elsewhere = chunk.is_attached_by_hand and not (request.chapter_index is None and _is_of_chapters(about))
    is_near = chunk.chunk_id in names_by_candidate or (is_match and not is_taken_off)
    return is_own and is_before and (is_about or (is_near and not is_elsewhere))


def _is_of_chapters(targets: set[str]) -> bool:
    return None not in map(chapter_of_target, targets)


def _unspaced(text: str) -> str:
    return "".join(text.split())


def _scored(
    candidates: Sequence[Candidate],
    targets: set[str],
    names_by_candidate: Mapping[str, Sequence[str]],
    *,
    telling_queries: int,
) -> list[ChunkMemory]:
    relevance = {
        candidate.chunk.chunk_id: sum(
            hit.by_rank for hit in candidate.hits if hit.query_index is not None and hit.query_index < telling_queries
        )
        for candidate in candidates
    }
    best = max(relevance.values(), default=0.0) or 1.0
    rarity = _rarity(candidates, targets, names_by_candidate)
    scored = []
    for candidate in candidates:
        chunk = candidate.chunk
        attached_to = sorted(targets & targets_of(chunk), key=lambda target: (-rarity[target], target))
        about = [*attached_to, *names_by_candidate.get(chunk.chunk_id, ())]
        score = (
            RELEVANCE * relevance[chunk.chunk_id] / best
            + ATTACHED * max((rarity[target] for target in about), default=0.0)
            + IMPORTANCE * (10 if chunk.tier == "pinned" else chunk.importance) / 10
        )
        if chunk.superseded_by:
            score *= SUPERSEDED_FACTOR
        scored.append(
            ChunkMemory(
                chunk=chunk,
                score=round(score, 4),
                attached_to=attached_to,
                names=list(names_by_candidate.get(chunk.chunk_id, ())),
                retriever_ranks=candidate.best_ranks(),
            )
        )
    return scored


def _rarity(
    candidates: Sequence[Candidate], targets: set[str], names_by_candidate: Mapping[str, Sequence[str]]
) -> dict[str, float]:
    """Return the weight of attachment to each target, from 0.5 to 1.

    A target with every memory weighs 0.5, and one with a single memory 1.
    """
    counts = Counter(
        target
        for candidate in candidates
        for target in {*(targets & targets_of(candidate.chunk)), *names_by_candidate.get(candidate.chunk.chunk_id, ())}
    )
    total = max(2, len(candidates))
    rarity = {target_id: 1 - 0.5 * math.log(max(1, counts[target_id])) / math.log(total) for target_id in targets}
    return rarity | {BOOK: rarity[BOOK] * BOOK_FACTOR}


def _varied(ranked_memories: Sequence[ChunkMemory], limit: int) -> list[ChunkMemory]:
    """Choose the best one by one, lowering further memories of the same entity."""
    memories = list(ranked_memories)
    used_memories: list[ChunkMemory] = []
    served: Counter[str] = Counter()
    while memories and len(used_memories) < limit:
        best = max(memories, key=lambda memory: memory.score * REPEATED_ENTITY_FACTOR ** served[_owner(memory)])
        memories.remove(best)
        used_memories.append(best)
        served[_owner(best)] += 1
    return used_memories


def _owner(memory: ChunkMemory) -> str:
    """The rarest target of a memory.

    Memories without a target share one.
    """
    return next(iter([*memory.attached_to, *memory.names]), "")


def render_chunk_context(
    glossary: Sequence[GlossaryEntry], memories: Sequence[ChunkMemory], *, more: int, language: str
) -> str:
    """Render names and memories for a prompt: the glossary first, then the memories under their heading."""
    labels = labels_for(language)
    code: StoryLanguage = "zh" if labels.language == "zh" else "en"
    names = [_entry_line(entry, code) for entry in glossary]
    told_names = [f"- [{place_of(memory.chunk.model_dump(), labels)}] {memory.chunk.content}" for memory in memories]
    mark = fence_mark([*names, *told_names])
    stated_words, blocks = words("context", code, "chunk"), []
    for heading, lines, rest in (("names", names, 0), ("memories", told_names, more)):
        if lines:
            rest_lines = [stated_words["more"].format(rest)] if rest else []
            blocks.append("\n".join([f"## {stated_words[heading]}", *fenced(lines, mark), *rest_lines]))
    return "\n\n".join([stated_words["note"], *blocks]) + "\n" if blocks else ""


def _entry_line(entry: GlossaryEntry, language: StoryLanguage) -> str:
    chinese = language == "zh"
    kind = words("context", language, "types").get(entry.entity_type, entry.entity_type)
    parts = [f"{_translated(entry.name, entry.translation)}{f'（{kind}）' if chinese else f' ({kind})'}"]
    if entry.aliases:
        listing = ("、" if chinese else ", ").join(_alias(alias, language) for alias in entry.aliases)
        parts.append(words("context", language)["chunk.also"].format(listing))
    if entry.description:
        parts.append(entry.description)
    return "- " + ("；" if chinese else "; ").join(parts)


def _alias(alias: GlossaryName, language: StoryLanguage) -> str:
    name = _translated(alias.name, alias.translation)
    return name + (words("context", language)["chunk.said_by"].format(alias.speaker) if alias.speaker else "")


def _translated(name: str, translation: str) -> str:
    return f"{name} → {translation}" if translation else name
