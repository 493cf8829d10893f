"""Choosing which memories are consolidated, and with which."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from novelgen.consolidation.live_memory import LiveMemory
from novelgen.consolidation.rules import DEFAULT_RULES, ConsolidationRules, protection, score
from novelgen.consolidation.topics import Topics
from novelgen.memory.search import Vector
from novelgen.models.loop import OpenLoop
from novelgen.models.memory import StoryMemoryChunk


@dataclass(frozen=True, slots=True)
class ConsolidationGroup:
    """Memories that are to become one.

    Args:
        entity_id: The entity that has too many.
        sources: Its memories, in story order.
    """

    entity_id: str
    sources: tuple[StoryMemoryChunk, ...]


def choose_groups(
    memories: Sequence[LiveMemory],
    *,
    limit: int,
    open_loops: Sequence[OpenLoop] = (),
    vectors: Mapping[str, Vector] | None = None,
    rules: ConsolidationRules = DEFAULT_RULES,
) -> list[ConsolidationGroup]:
    """Choose groups so that no entity has more live memories than the limit, as far as the rules allow.

    Entities with the most memories come first. Of each, the lowest score begins a group, and the lowest-scoring
    memories of its topic within its span of scenes join it. What is over and what is in force, what is proven and
    what is not, never mix.

    Args:
        memories: All live memories of a project, in story order.
        limit: Most live memories per entity, at least 1.
        open_loops: The loops that are open at the end of the story.
        vectors: Embeddings of one model by chunk id, as far as there are any.
        rules: Bounds and weights.

    Returns:
        Groups without common sources, in the order in which they were chosen; the same for the same input.
    """
    free = {
        memory.chunk.chunk_id: memory.chunk
        for memory in memories
        if not protection(memory, open_loops, rules)
    }
    counts = entity_counts(memories)
    scenes = _scene_numbers(memories)
    groups: list[ConsolidationGroup] = []
    for entity_id in sorted(counts, key=lambda each: (-counts[each], each)):
        if counts[entity_id] <= limit:
            continue
        own = [chunk for chunk in free.values() if entity_id in chunk.entities_mentioned]
        topics = Topics(entity_id, own, vectors or {}, least_similarity=rules.topic_similarity)
        chooser = _EntityChooser(own, topics, scenes, rules)
        while counts[entity_id] > limit and (sources := chooser.next_sources()):
            groups.append(ConsolidationGroup(entity_id, sources))
            _count_as_one(counts, sources)
            for source in sources:
                del free[source.chunk_id]
    return groups


def entity_counts(memories: Sequence[LiveMemory]) -> Counter[str]:
    """Return the number of memories per entity."""
    return Counter(each for memory in memories for each in dict.fromkeys(memory.chunk.entities_mentioned))


def counts_after(memories: Sequence[LiveMemory], groups: Sequence[ConsolidationGroup]) -> Counter[str]:
    """Return the number of memories per entity once groups have become one memory each."""
    counts = entity_counts(memories)
    for group in groups:
        _count_as_one(counts, group.sources)
    return counts


class _EntityChooser:
    """Chooses groups among the free memories of one entity; what was chosen or cannot begin a group is dropped."""

    def __init__(
        self,
        chunks: Sequence[StoryMemoryChunk],
        topics: Topics,
        scenes: Mapping[tuple[int | None, int | None], int],
        rules: ConsolidationRules,
    ) -> None:
        self._topics = topics
        self._scenes = scenes
        self._rules = rules
        ordered = sorted(chunks, key=lambda each: (score(each, rules), self._scene(each), each.chunk_id))
        self._by_score = {chunk.chunk_id: chunk for chunk in ordered}
        self._seeds: Iterator[StoryMemoryChunk] = iter(ordered)

    def next_sources(self) -> tuple[StoryMemoryChunk, ...]:
        """Return the next group's sources in story order; empty when there is no group any more."""
        for seed in self._seeds:
            if seed.chunk_id not in self._by_score:
                continue
            sources = self._around(seed)
            if len(sources) >= self._rules.min_sources:
                for source in sources:
                    del self._by_score[source.chunk_id]
                return tuple(sorted(sources, key=lambda each: (self._scene(each), each.chunk_id)))
        return ()

    def _around(self, seed: StoryMemoryChunk) -> list[StoryMemoryChunk]:
        first = last = self._scene(seed)
        sources = [seed]
        for other in self._by_score.values():
            if len(sources) == self._rules.max_sources:
                break
            scene = self._scene(other)
            low, high = min(first, scene), max(last, scene)
            fits = other is not seed and high - low < self._rules.span_scenes
            if fits and _standing(other) == _standing(seed) and self._topics.are_one(seed, other):
                sources.append(other)
                first, last = low, high
        return sources

    def _scene(self, chunk: StoryMemoryChunk) -> int:
        return self._scenes[chunk.chapter_index, chunk.scene_index]


def _standing(chunk: StoryMemoryChunk) -> tuple[bool, bool]:
    return chunk.superseded_by is not None, chunk.verified


def _scene_numbers(memories: Sequence[LiveMemory]) -> dict[tuple[int | None, int | None], int]:
    """Number the scenes that established memories, in story order."""
    places = sorted({memory.place for memory in memories if memory.place is not None})
    return {place: number for number, place in enumerate(places)}


def _count_as_one(counts: Counter[str], sources: Sequence[StoryMemoryChunk]) -> None:
    linked = Counter(each for source in sources for each in dict.fromkeys(source.entities_mentioned))
    for entity_id, number in linked.items():
        counts[entity_id] -= number - 1
