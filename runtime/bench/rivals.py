"""What novelgen is measured against: plain rankings of the same memories, and searches in the text itself."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from runtime.bench.book import BenchPlan
from runtime.bench.corpus import Corpus, CorpusText, plan_queries, whole_plan
from runtime.bench.scoring import RankedText

RANDOM_SEEDS = 5

Ranking = Callable[[BenchPlan], Sequence[RankedText]]


@dataclass(frozen=True)
class Rival:
    """A way to rank.

    Args:
        group: `memories`, `text` or `peers`.
        name: What it does.
        rankings: Each ranks for a plan; the score is the mean over them.
    """

    group: str
    name: str
    rankings: tuple[Ranking, ...]


def memory_rivals(memories: Corpus) -> list[Rival]:
    """Return the plain rankings of memories, each in full and in short form, all cut at the planned scene."""
    rivals: list[Rival] = []
    for form, is_short in (("full", False), ("short", True)):
        shuffled = tuple(
            _formed(_shuffled(memories, seed), is_short=is_short) for seed in range(RANDOM_SEEDS)
        )
        rivals += [
            Rival("memories", f"random order, {form}", shuffled),
            Rival("memories", f"by importance, {form}", (_formed(_weighty(memories), is_short=is_short),)),
            Rival("memories", f"queries fused, {form}", (_formed(_fused(memories), is_short=is_short),)),
        ]
    return rivals


def text_rivals(passages: Corpus) -> list[Rival]:
    """Return the searches in passages of 500 characters, cut at the planned scene."""
    return [
        Rival("text", "BM25, words and bigrams, cut", (_formed(_by_words(passages)),)),
        Rival("text", "one query fused, cut", (_formed(_fused(passages, queries=_one_query)),)),
        Rival("text", "queries fused, cut", (_formed(_fused(passages)),)),
    ]


def _formed(rank: Callable[[BenchPlan], Sequence[CorpusText]], *, is_short: bool = False) -> Ranking:
    return lambda plan: [each.ranked(is_short=is_short) for each in rank(plan)]


def _shuffled(corpus: Corpus, seed: int) -> Callable[[BenchPlan], list[CorpusText]]:
    def rank(plan: BenchPlan) -> list[CorpusText]:
        visible = corpus.texts[: corpus.visible(plan.place)]
        random.Random(f"{seed} {plan.plan_id}").shuffle(visible)
        return visible

    return rank


def _weighty(corpus: Corpus) -> Callable[[BenchPlan], list[CorpusText]]:
    """By importance, then the newest first."""

    def rank(plan: BenchPlan) -> list[CorpusText]:
        numbers = range(corpus.visible(plan.place))
        order = sorted(numbers, key=lambda number: (-corpus.texts[number].importance, -number))
        return [corpus.texts[number] for number in order]

    return rank


def _fused(
    corpus: Corpus, *, queries: Callable[[BenchPlan], list[str]] | None = None
) -> Callable[[BenchPlan], list[CorpusText]]:
    return lambda plan: corpus.fused((queries or _many_queries)(plan), plan.place)


def _by_words(corpus: Corpus) -> Callable[[BenchPlan], list[CorpusText]]:
    return lambda plan: corpus.by_words(whole_plan(plan.scene_plan), plan.place)


def _one_query(plan: BenchPlan) -> list[str]:
    return [whole_plan(plan.scene_plan)]


def _many_queries(plan: BenchPlan) -> list[str]:
    return plan_queries(plan.scene_plan)
