"""Choosing which memories are consolidated, and with which: by topic, and by what would be lost."""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from novelgen.memory.consolidation_rules import DEFAULT_RULES, ConsolidationRules, LiveMemory, protection, score
from novelgen.memory.search import Vector
from novelgen.models.memory import StoryMemoryChunk
from novelgen.models.state import OpenLoop

MIN_FOR_A_MEAN = 20
"""Of fewer embeddings the mean is no background: it is made of the very topics that are to be told apart."""


class Topics:
    """Compares memories with each other.

    What all share, the story itself and the entities that have too many, says nothing of their topics: it is
    taken off the embeddings with their mean, and does not count among shared entities. Of few memories
    embeddings say nothing.
    """

    def __init__(
        self, chunks: Sequence[StoryMemoryChunk], vectors: Mapping[str, Vector], *, background: Collection[str] = ()
    ) -> None:
        self._background = frozenset(background)
        known = [chunk.chunk_id for chunk in chunks if chunk.chunk_id in vectors]
        if len(vectors) < MIN_FOR_A_MEAN:
            known = []
        self._directions = dict(zip(known, _directions(known, vectors), strict=True))

    def likeness(self, first: StoryMemoryChunk, second: StoryMemoryChunk) -> float:
        """Return the cosine of two memories' embeddings, else the share of tags and entities that they share."""
        one, other = self._directions.get(first.chunk_id), self._directions.get(second.chunk_id)
        if one is not None and other is not None:
            return float(one @ other)
        marks, others = self._marks(first), self._marks(second)
        return len(marks & others) / max(1, min(len(marks), len(others)))

    def _marks(self, chunk: StoryMemoryChunk) -> set[str]:
        return {*chunk.tags, *chunk.entities_mentioned} - self._background


def _directions(names: Sequence[str], vectors: Mapping[str, Vector]) -> list[Vector]:
    """Return the vectors of some less the mean of all, each of length 1; one that is the mean itself is 0."""
    if not names:
        return []
    centred = np.stack([vectors[name] for name in names]) - np.mean(list(vectors.values()), axis=0)
    lengths = np.linalg.norm(centred, axis=1, keepdims=True)
    return list(centred / np.where(lengths > 0, lengths, 1.0))


class Losses:
    """Weighs sources against each other.

    One memory has one position and one embedding. What it loses grows with the scenes between its sources, since
    only that of the last lends it evidence, with what they weigh, and with how little they speak of one topic.
    """

    def __init__(self, scene_numbers: Mapping[tuple[int, int], int], topics: Topics, rules: ConsolidationRules) -> None:
        self._scene_numbers = scene_numbers
        self._topics = topics
        self._rules = rules

    def scene(self, chunk: StoryMemoryChunk) -> int:
        """Return the number of a memory's scene in story order."""
        return self._scene_numbers[chunk.chapter_index or 0, chunk.scene_index or 0]

    def of(self, sources: Sequence[StoryMemoryChunk]) -> float | None:
        """Return the loss of making one memory of some, less being better; None where the rules forbid it."""
        scenes = [self.scene(source) for source in sources]
        distance = max(scenes) - min(scenes)
        if len(sources) > self._rules.max_sources or distance >= self._rules.span_scenes:
            return None
        if len({_standing(source) for source in sources}) > 1:
            return None
        pairs = list(combinations(sources, 2))
        likenesses = [self._topics.likeness(one, other) for one, other in pairs]
        if any(
            likeness < self._rules.topic_similarity and self.scene(one) != self.scene(other)
            for likeness, (one, other) in zip(likenesses, pairs, strict=True)
        ):
            return None
        weight = max(score(source, self._rules) for source in sources)
        apart = self._rules.scene_loss * distance + self._rules.weight_loss * weight
        return apart - sum(likenesses) / len(likenesses)


def _standing(chunk: StoryMemoryChunk) -> tuple[bool, bool]:
    """What is over and what is in force, what is proven and what is not."""
    return chunk.superseded_by is not None, chunk.verified


@dataclass(frozen=True, slots=True)
class ConsolidationGroup:
    """Memories that are to become one."""

    entity_id: str
    sources: tuple[StoryMemoryChunk, ...]


def choose_groups(
    memories: Sequence[LiveMemory],
    *,
    limit: int,
    scenes: Sequence[tuple[int, int]],
    open_loops: Sequence[OpenLoop] = (),
    vectors: Mapping[str, Vector] | None = None,
    rules: ConsolidationRules = DEFAULT_RULES,
) -> list[ConsolidationGroup]:
    """Choose groups so that no entity has more live memories than the limit, as far as the rules allow.

    Two memories, or groups, are joined at a time, always those that lose least by it, as long as an entity of
    all of them has too many: what is over the limit, and no more. What is over and what is in force, what is
    proven and what is not, never mix.
    """
    counts = entity_counts(memories)
    crowded = {entity_id for entity_id, count in counts.items() if count > limit}
    numbers = {place: number for number, place in enumerate(scenes)}
    free = [
        memory.chunk
        for memory in memories
        if memory.place in numbers
        and not crowded.isdisjoint(memory.chunk.entities_mentioned)
        and not protection(memory, open_loops, rules)
    ]
    losses = Losses(numbers, Topics(free, vectors or {}, background=crowded), rules)
    joining = _Joining(sorted(free, key=losses.scene), counts, limit, losses)
    joining.join(span_scenes=rules.span_scenes)
    return joining.groups()


def entity_counts(memories: Sequence[LiveMemory]) -> Counter[str]:
    """Return the number of memories per entity."""
    return Counter(each for memory in memories for each in dict.fromkeys(memory.chunk.entities_mentioned))


def counts_after(memories: Sequence[LiveMemory], groups: Sequence[ConsolidationGroup]) -> Counter[str]:
    """Return the number of memories per entity once groups have become one memory each."""
    counts = entity_counts(memories)
    for group in groups:
        linked = Counter(each for source in group.sources for each in dict.fromkeys(source.entities_mentioned))
        for entity_id, number in linked.items():
            counts[entity_id] -= number - 1
    return counts


class _Joining:
    """Joins memories step by step."""

    def __init__(
        self, chunks: Sequence[StoryMemoryChunk], counts: Mapping[str, int], limit: int, losses: Losses
    ) -> None:
        self._chunks = chunks
        self._entities = [frozenset(chunk.entities_mentioned) for chunk in chunks]
        self._before = counts
        self._counts = Counter(counts)
        self._limit = limit
        self._losses = losses
        self._members: list[tuple[int, ...]] = [(index,) for index in range(len(chunks))]

    def join(self, *, span_scenes: int) -> None:
        """Join what loses least first, until nothing is over the limit or may be joined."""
        proposals = list(self._pairs(span_scenes))
        heapq.heapify(proposals)
        while proposals:
            proposed, first, second = heapq.heappop(proposals)
            one, other = self._members[first], self._members[second]
            if one == other or not self._crowded(self._shared((*one, *other)), self._counts):
                continue
            loss = self._loss(*one, *other)
            if loss is not None and loss > proposed:
                # One of the two was joined with something meanwhile: they wait for their turn.
                heapq.heappush(proposals, (loss, first, second))
            elif loss is not None:
                self._make_one(one, other)

    def groups(self) -> list[ConsolidationGroup]:
        """Return what was joined, in story order."""
        joined = dict.fromkeys(members for members in self._members if len(members) > 1)
        return [self._group(members) for members in joined]

    def _pairs(self, span_scenes: int) -> Iterator[tuple[float, int, int]]:
        """Losses of all pairs near each other, with their indices."""
        scenes = [self._losses.scene(chunk) for chunk in self._chunks]
        for first, scene in enumerate(scenes):
            for second in range(first + 1, len(scenes)):
                if scenes[second] - scene >= span_scenes:
                    break
                is_linked = not self._entities[first].isdisjoint(self._entities[second])
                loss = self._loss(first, second) if is_linked else None
                if loss is not None:
                    yield loss, first, second

    def _loss(self, *members: int) -> float | None:
        return self._losses.of([self._chunks[member] for member in members])

    def _shared(self, members: Sequence[int]) -> frozenset[str]:
        """Entities of all of them."""
        return frozenset.intersection(*(self._entities[member] for member in members))

    def _crowded(self, entity_ids: frozenset[str], counts: Mapping[str, int]) -> list[str]:
        """Those of the entities that have too many, the one with the most first."""
        found = [entity_id for entity_id in entity_ids if counts[entity_id] > self._limit]
        return sorted(found, key=lambda each: (-counts[each], each))

    def _make_one(self, one: tuple[int, ...], other: tuple[int, ...]) -> None:
        linked, others = (frozenset.union(*(self._entities[member] for member in members)) for members in (one, other))
        self._counts.subtract(linked & others)
        joined = tuple(sorted((*one, *other)))
        for member in joined:
            self._members[member] = joined

    def _group(self, members: tuple[int, ...]) -> ConsolidationGroup:
        entity_id = self._crowded(self._shared(members), self._before)[0]
        return ConsolidationGroup(entity_id, tuple(self._chunks[member] for member in members))
