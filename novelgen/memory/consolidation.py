"""Consolidation of old, minor memories: eligibility, groups and texts."""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from hashlib import sha256
from itertools import combinations

import numpy as np
from pydantic import BaseModel, Field

from novelgen.language.extractive import SHORT_FORM_CHARACTERS
from novelgen.language.language import estimate_tokens
from novelgen.language.sentences import as_sentence, join_sentences, split_sentences
from novelgen.memory.attributes import SUPERSESSION_CHAINS
from novelgen.memory.budget import is_cut, short_form_defect
from novelgen.memory.query_scores import unit_rows
from novelgen.memory.search import Vector
from novelgen.model_calls.answers import require_grounded, whole_sentences
from novelgen.models.memory import StoryMemoryChunk
from novelgen.models.position import Place
from novelgen.models.state import OpenLoop

UNRESOLVED_EVENTS = frozenset(SUPERSESSION_CHAINS.values()) | {"obligation", "debt"}
"""Event types that something later may put an end to; until then the story owes it."""


MAX_SOURCES, SPAN_SCENES = 3, 6
"""More memories, or of scenes further apart, cannot be told and found as one."""

PROTECTED_IMPORTANCE = 8
"""Protected from this on."""

SUPERSEDED_POINTS, UNVERIFIED_POINTS = -3.0, -1.0
"""Added to the importance of what is over, and of what no quote proves."""

TOPIC_SIMILARITY = 0.1
"""Cosine of embeddings, less the mean of all, that is one topic; what one scene tells is one topic anyway."""

SCENE_LOSS, WEIGHT_LOSS = 0.5, 0.1
"""What a scene between sources, and a point of the weightiest of them, loses."""

MAX_TOKENS = 240
"""Estimated tokens of a consolidated memory."""


def protection(chunk: StoryMemoryChunk, open_loops: Sequence[OpenLoop]) -> str:
    """Tell why a memory must stay as it is."""
    is_over = chunk.superseded_by is not None
    checks = {
        "author": chunk.origin == "author",
        "consolidated": chunk.is_consolidated,
        "no scene": chunk.place is None,
        "tier": chunk.tier != "regular",
        "importance": chunk.importance >= PROTECTED_IMPORTANCE,
        "slot": chunk.slot_type is not None and not is_over,
        "unresolved": chunk.event_type in UNRESOLVED_EVENTS and not is_over,
        # A scene that planted or moved the loop established the memory, about somebody whom the loop touches.
        "open loop": not is_over
        and any(
            chunk.place in loop.scenes() and not set(chunk.entities_mentioned).isdisjoint(loop.related_entities)
            for loop in open_loops
        ),
    }
    return next((name for name, holds in checks.items() if holds), "")


def score(chunk: StoryMemoryChunk) -> float:
    """Return a memory's weight: importance, lowered for ended or unproven ones."""
    over = SUPERSEDED_POINTS if chunk.superseded_by is not None else 0.0
    return chunk.importance + over + (0.0 if chunk.verified else UNVERIFIED_POINTS)


@dataclass(frozen=True, slots=True)
class ConsolidationGroup:
    """Memories that are to become one."""

    entity_id: str
    sources: tuple[StoryMemoryChunk, ...]


def choose_groups(
    memories: Sequence[StoryMemoryChunk],
    *,
    limit: int,
    scenes: Sequence[Place],
    open_loops: Sequence[OpenLoop] = (),
    vectors: Mapping[str, Vector] | None = None,
) -> list[ConsolidationGroup]:
    """Choose groups so that no entity has more live memories than the limit, as far as the rules allow."""
    counts = entity_counts(memories)
    crowded = frozenset(entity_id for entity_id, count in counts.items() if count > limit)
    numbers: dict[Place | None, int] = {place: number for number, place in enumerate(scenes)}
    free = [
        chunk
        for chunk in memories
        if chunk.place in numbers
        and not crowded.isdisjoint(chunk.entities_mentioned)
        and not protection(chunk, open_loops)
    ]
    free.sort(key=lambda chunk: numbers[chunk.place])
    joining = _Joining(free, [numbers[chunk.place] for chunk in free], counts, crowded, limit)
    joining.tell_topics(vectors or {})
    return joining.groups()


def entity_counts(memories: Sequence[StoryMemoryChunk]) -> Counter[str]:
    """Return the number of memories per entity."""
    return Counter(entity_id for memory in memories for entity_id in dict.fromkeys(memory.entities_mentioned))


def counts_after(memories: Sequence[StoryMemoryChunk], groups: Sequence[ConsolidationGroup]) -> Counter[str]:
    """Return the number of memories per entity once groups have become one memory each."""
    counts = entity_counts(memories)
    for group in groups:
        for entity_id, number in entity_counts(group.sources).items():
            counts[entity_id] -= number - 1
    return counts


MIN_FOR_A_MEAN = 20
"""Of fewer embeddings the mean is no background: it is made of the very topics that are to be told apart."""


@dataclass
class _Joining:
    """Joins memories, given in story order with the numbers of their scenes, step by step.

    One memory has one position and one embedding. What it loses grows with the scenes between its sources, since
    only that of the last lends it evidence, with what they weigh, and with how little they speak of one topic.
    """

    chunks: Sequence[StoryMemoryChunk]
    scenes: Sequence[int]
    counts: Mapping[str, int]
    crowded: frozenset[str]
    limit: int
    directions: dict[str, Vector] = field(default_factory=dict)

    def tell_topics(self, vectors: Mapping[str, Vector]) -> None:
        """Compare memories by embeddings, minus the story's mean."""
        known_ids = [chunk.chunk_id for chunk in self.chunks if chunk.chunk_id in vectors]
        if known_ids and len(vectors) >= MIN_FOR_A_MEAN:
            less_the_mean = np.stack([vectors[name] for name in known_ids]) - np.mean(list(vectors.values()), axis=0)
            self.directions = dict(zip(known_ids, unit_rows(less_the_mean), strict=True))

    def groups(self) -> list[ConsolidationGroup]:
        """Join the cheapest groups first until the limit holds, in story order."""
        entities = [frozenset(chunk.entities_mentioned) for chunk in self.chunks]
        members: list[tuple[int, ...]] = [(index,) for index in range(len(self.chunks))]
        counter = Counter(self.counts)

        def most_crowded(joined_numbers: Sequence[int], counts: Mapping[str, int]) -> str | None:
            """The entity of all of them that has most of those that have too many."""
            shared = frozenset.intersection(*(entities[number] for number in joined_numbers))
            matches = [entity_id for entity_id in shared if counts[entity_id] > self.limit]
            return min(matches, key=lambda entity_id: (-counts[entity_id], entity_id), default=None)

        proposals = [
            (loss, first, second)
            for first, second in self._neighbours()
            if not entities[first].isdisjoint(entities[second]) and (loss := self._loss(first, second)) is not None
        ]
        heapq.heapify(proposals)
        while proposals:
            proposed, first, second = heapq.heappop(proposals)
            one, other = members[first], members[second]
            if one == other or most_crowded((*one, *other), counter) is None:
                continue
            loss = self._loss(*one, *other)
            if loss is not None and loss > proposed:
                # One of the two was joined with something meanwhile: they wait for their turn.
                heapq.heappush(proposals, (loss, first, second))
            elif loss is not None:
                linked_ids, others = (frozenset.union(*(entities[number] for number in part)) for part in (one, other))
                counter.subtract(linked_ids & others)
                joined_numbers = tuple(sorted((*one, *other)))
                for member in joined_numbers:
                    members[member] = joined_numbers
        return [
            ConsolidationGroup(most_crowded(group, self.counts) or "", tuple(self.chunks[member] for member in group))
            for group in dict.fromkeys(members)
            if len(group) > 1
        ]

    def _neighbours(self) -> Iterator[tuple[int, int]]:
        for first, scene in enumerate(self.scenes):
            for second in range(first + 1, len(self.scenes)):
                if self.scenes[second] - scene >= SPAN_SCENES:
                    break
                yield first, second

    def _loss(self, *members: int) -> float | None:
        """Return the loss of joining memories, or None where rules forbid it."""
        sources, scenes = [self.chunks[member] for member in members], [self.scenes[member] for member in members]
        distance = max(scenes) - min(scenes)
        if len(sources) > MAX_SOURCES or distance >= SPAN_SCENES:
            return None
        # What is over and what is in force, what is proven and what is not, stay apart.
        if len({(source.superseded_by is not None, source.verified) for source in sources}) > 1:
            return None
        likenesses = []
        for one, other in combinations(members, 2):
            likeness = self._likeness(self.chunks[one], self.chunks[other])
            if likeness < TOPIC_SIMILARITY and self.scenes[one] != self.scenes[other]:
                return None
            likenesses.append(likeness)
        weight = max(score(source) for source in sources)
        apart = SCENE_LOSS * distance + WEIGHT_LOSS * weight
        return apart - sum(likenesses) / len(likenesses)

    def _likeness(self, first: StoryMemoryChunk, second: StoryMemoryChunk) -> float:
        """The cosine of two memories' embeddings, else the share of tags and of uncrowded entities that they share."""
        one, other = self.directions.get(first.chunk_id), self.directions.get(second.chunk_id)
        if one is not None and other is not None:
            return float(one @ other)
        marks, others = ({*memory.tags, *memory.entities_mentioned} - self.crowded for memory in (first, second))
        return len(marks & others) / max(1, min(len(marks), len(others)))


CONSOLIDATION_STAGE = "consolidation"


class ConsolidatedText(BaseModel):
    """The text of a consolidated memory."""

    content: str
    short: str | None = Field(default=None, description="Only where one sentence says it all.")


def extractive_text(sources: Sequence[StoryMemoryChunk]) -> ConsolidatedText:
    """Join the short forms of memories, or their first sentences, as far as there is room."""
    sentences = {source.chunk_id: _sentence_of(source) for source in sources}
    kept_keys: list[str] = []
    room = MAX_TOKENS
    for source in sorted(sources, key=lambda memory: (-score(memory), memory.chunk_id)):
        sentence = sentences[source.chunk_id]
        cost = estimate_tokens(sentence) + 1
        if sentence in kept_keys or (kept_keys and cost > room):
            continue
        kept_keys.append(sentence)
        room -= cost
    fields = dict.fromkeys(sentence for sentence in sentences.values() if sentence in kept_keys)
    return ConsolidatedText(content=join_sentences(fields))


def consolidated_memory(
    text: ConsolidatedText, sources: Sequence[StoryMemoryChunk], *, created_at: datetime, is_models: bool = False
) -> StoryMemoryChunk:
    """Return the memory that stands for others."""
    last = sources[-1]
    chunk_id = consolidated_id(sources)
    tags = [tag for source in sources for tag in dict.fromkeys(source.tags)]
    is_extracted = is_models or any(source.origin == "extracted" for source in sources)
    return StoryMemoryChunk(
        chunk_id=chunk_id,
        project_id=last.project_id,
        chapter_index=last.chapter_index,
        scene_index=last.scene_index,
        content=text.content,
        short=text.short,
        content_type="memory",
        entities_mentioned=list(
            dict.fromkeys(entity_id for source in sources for entity_id in source.entities_mentioned)
        ),
        tags=[tag for tag in dict.fromkeys(tags) if tags.count(tag) > 1],
        created_at=created_at,
        importance=max(source.importance for source in sources),
        source_id=chunk_id,
        is_consolidated=True,
        verified=all(source.verified for source in sources),
        origin="extracted" if is_extracted else "record",
    )


def consolidated_vector(sources: Sequence[StoryMemoryChunk], vectors: Mapping[str, Vector]) -> Vector | None:
    """Return the mean of the sources' embeddings."""
    if not all(source.chunk_id in vectors for source in sources):
        return None
    mean: Vector = np.mean([vectors[source.chunk_id] for source in sources], axis=0, dtype=np.float32)
    length = float(np.linalg.norm(mean))
    return mean / np.float32(length) if length > 0 else None


def consolidated_id(sources: Sequence[StoryMemoryChunk]) -> str:
    """Return the chunk id of the memory that stands for others: the same for the same sources."""
    names = "\x1f".join(sorted(source.chunk_id for source in sources))
    return f"consolidated-{sha256(names.encode('utf-8', 'surrogatepass')).hexdigest()[:16]}"


def _sentence_of(chunk: StoryMemoryChunk) -> str:
    """The short form, or the first full sentence, with a full stop."""
    full, short = chunk.content.strip(), (chunk.short or "").strip()
    defect = short_form_defect(short, full, estimate_tokens)
    if not defect or (defect == "short form is no shorter" and not is_cut(short, full)):
        sentence = short
    else:
        spans = split_sentences(full)
        sentence = full[spans[0].start : spans[0].end] if spans else full
    return as_sentence(" ".join(sentence.split()))


class ModelConsolidation(BaseModel):
    """What a model is asked for."""

    content: str = Field(description="the facts in two to six whole sentences, with names")
    short: str = Field(default="", description="one whole sentence of at most 80 characters, or empty")


def grounded_text(
    answer: ModelConsolidation, sources: Sequence[StoryMemoryChunk], *, names: Sequence[str]
) -> ConsolidatedText:
    """Return an answer as the text of a memory, or refuse it."""
    content = whole_sentences(answer.content, field="content", max_tokens=MAX_TOKENS)
    shown_text = "\n".join(f"{source.content}\n{source.short or ''}" for source in sources)
    require_grounded(f"{content}\n{answer.short}", source=shown_text, names=names)
    line = " ".join(answer.short.split())
    is_usable = len(line) <= SHORT_FORM_CHARACTERS and not short_form_defect(line, content, estimate_tokens)
    return ConsolidatedText(content=content, short=line if is_usable else None)
