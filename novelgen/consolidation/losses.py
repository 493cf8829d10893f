"""What is lost when memories become one, as far as it can be told beforehand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations

from novelgen.consolidation.rules import ConsolidationRules, score
from novelgen.consolidation.topics import Topics
from novelgen.models.memory import StoryMemoryChunk


class Losses:
    """Weighs sources against each other.

    One memory has one position and one embedding. What it loses grows with the scenes between its sources, since
    only that of the last lends it evidence, with what they weigh, and with how little they speak of one topic.

    Args:
        scene_numbers: Number in story order by chapter and scene.
        topics: Compares them.
        rules: Bounds and weights.
    """

    def __init__(
        self, scene_numbers: Mapping[tuple[int, int], int], topics: Topics, rules: ConsolidationRules
    ) -> None:
        self._scene_numbers = scene_numbers
        self._topics = topics
        self._rules = rules

    def scene(self, chunk: StoryMemoryChunk) -> int:
        """Return the number of a memory's scene in story order."""
        return self._scene_numbers[chunk.chapter_index or 0, chunk.scene_index or 0]

    def of(self, sources: Sequence[StoryMemoryChunk]) -> float | None:
        """Return the loss of making one memory of some, less being better; None where the rules forbid it.

        Args:
            sources: Two or more.
        """
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
