"""Rules for threads that a planned scene could pay off."""

import math
import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from novelgen.language.language import rarity_of, significant_words
from novelgen.memory.outline import StoryOutline
from novelgen.memory.query_scores import standardise
from novelgen.models.position import Place, sort_key, story_place
from novelgen.models.state import LOOP_WEIGHTS, OpenLoop

MANY_THREADS = 60
"""From so many open threads on, what moved last mostly belongs to another plot, and what was found tells more."""

FEW_WEIGHTS: Mapping[str, float] = {
    "silence": 1.4,
    "words": 0.4,
    "people": 0.3,
    "found": 0.25,
    "share": 0.1,
    "importance": 0.2,
    "nearby": 0.2,
    "scene": 0.0,
}
"""What each sign counts, per standard deviation within the list, where few threads are open."""

MANY_WEIGHTS: Mapping[str, float] = {**FEW_WEIGHTS, "silence": 0.4, "found": 0.6, "scene": 0.4}
"""The same where `MANY_THREADS` are; between the two in proportion."""

EXPECTED_BONUS = 3.0
"""What the word of a planning model counts: mostly more than all signs together tell two threads apart."""

FOUND_MEMORIES = 15
"""Best memories of the context whose words speak for a thread."""

LAST_SCENES = 3
_ENDING = re.compile(r"(?<=...)(?:ing|ed|es|s|e|y)$")
"""What a word may end in, three letters being left."""


@dataclass(frozen=True)
class SceneAhead:
    """A planned scene, as far as it may pay a thread."""

    texts: Sequence[str] = ()
    entity_ids: frozenset[str] = frozenset()
    expected_ids: frozenset[str] = frozenset()
    chosen: Sequence[tuple[Place | None, str]] = ()
    known_texts: Sequence[str] = field(default=(), repr=False)


def threads_by_pay_off(story: StoryOutline, ahead: SceneAhead) -> list[OpenLoop]:
    """Return the open threads, likeliest paid first: by signs standardised within the list, and by a model's word."""
    threads = sorted(story.open_loops, key=lambda thread: thread.loop_id)
    if len(threads) < 2:
        return threads
    many = min(1.0, len(threads) / MANY_THREADS)
    counted_rows = np.ones(len(threads), dtype=bool)
    total = np.zeros(len(threads))
    for name, column in _signs(threads, story, ahead).items():
        weight = (1 - many) * FEW_WEIGHTS[name] + many * MANY_WEIGHTS[name]
        total += weight * standardise(np.array(column, dtype=float), counted_rows)
    total += EXPECTED_BONUS * np.array([thread.loop_id in ahead.expected_ids for thread in threads])
    order = np.argsort(-total, kind="stable")
    return [threads[place] for place in order]


def _signs(
    threads: Sequence[OpenLoop], story: StoryOutline, ahead: SceneAhead
) -> dict[str, Sequence[float] | NDArray[np.float64]]:
    places = [story_place(scene) for scene in story.scenes]
    related = [frozenset(thread.related_entities) for thread in threads]
    entity_sets = [{*scene.participants, *([scene.location_id] if scene.location_id else [])} for scene in story.scenes]
    appearances = Counter(entity_id for scene in entity_sets for entity_id in scene)
    shared_entities = [own & ahead.entity_ids for own in related]
    with_plan, with_chosen = _shared_words(threads, story, ahead)
    # Of places of memories, which come best first: how far up the best of each stands, 1 to 0.
    evidence: dict[Place, float] = {}
    for rank, (place, _) in enumerate(ahead.chosen):
        if place is not None:
            evidence.setdefault(place, 1 - rank / len(ahead.chosen))
    last = entity_sets[-LAST_SCENES:]

    def silence(thread: OpenLoop) -> int:
        chapter, scene = thread.last_chapter_index, thread.last_scene_index
        if chapter is None:
            return 0
        return len(places) - bisect_left(places, (chapter + 1, 0) if scene is None else (chapter, scene + 1))

    return {
        "silence": [-math.log(1 + silence(thread)) for thread in threads],
        "words": with_plan,
        "people": [
            sum(max(0.0, rarity_of(appearances[entity_id], len(places))) for entity_id in own)
            for own in shared_entities
        ],
        "found": with_chosen,
        "share": [len(own) / max(1, len(all_own)) for own, all_own in zip(shared_entities, related, strict=True)],
        "importance": [LOOP_WEIGHTS[thread.importance] for thread in threads],
        "nearby": [sum(len(own & scene) for scene in last) / (1 + len(own)) for own in related],
        "scene": [
            evidence.get(sort_key(thread.last_chapter_index, thread.last_scene_index), 0.0) for thread in threads
        ],
    }


def _shared_words(
    threads: Sequence[OpenLoop], story: StoryOutline, ahead: SceneAhead
) -> tuple[list[float], list[float]]:
    """Return the rarity of each thread's words in the plan, names apart, and of those in the best memories."""
    plan, names = _stems(ahead.texts), _stems(entity.name for entity in story.entities)
    memory_stems = [_stems([text]) for _, text in ahead.chosen[:FOUND_MEMORIES]]
    described = [_stems([thread.description]) for thread in threads]
    wanted_words = frozenset().union(*described)
    counts = Counter(word for text in ahead.known_texts for word in _stems([text]) & wanted_words)

    def weight(words: Iterable[str]) -> float:
        return sum(max(0.0, rarity_of(counts[word], len(ahead.known_texts))) for word in sorted(words))

    with_plan = [weight((own & plan) - names) / math.sqrt(1 + weight(own - names)) for own in described]
    return with_plan, [
        sum(weight(own & said_names) for said_names in memory_stems) / (1 + weight(own)) for own in described
    ]


def _stems(texts: Iterable[str]) -> frozenset[str]:
    return frozenset().union(*map(_stems_of_text, texts))


@lru_cache(maxsize=8192)
def _stems_of_text(text: str) -> frozenset[str]:
    return frozenset(_ENDING.sub("", word) if word.isascii() else word for word in significant_words(text))
