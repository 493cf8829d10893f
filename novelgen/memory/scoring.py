"""What each candidate is worth to the planned scene, part by part."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass

import numpy as np

from novelgen.memory.candidates import LEXICAL_RETRIEVER, SceneCast, SelectionScene
from novelgen.memory.neighbours import scenes_of_one_thread, similar_scenes, spread_evidence, surroundings
from novelgen.memory.passages import novelty, shared_words
from novelgen.memory.query_scores import Column, pool_best, retriever_scores, semantic_scores, standardise
from novelgen.memory.table import CandidateTable
from novelgen.memory.weights import SelectionWeights
from novelgen.models.memory import DISTILLED_TYPES, SUMMARY_TYPE
from novelgen.models.state import LOOP_WEIGHTS, UNRESOLVED_STATUSES

SCENE_BEST = 2
"""A scene's evidence is the mean of its two best memories: one hit may be chance, all would drown the hit."""

MAX_SCENES = 1000
"""So many scenes lend each other evidence: what compares scenes with scenes grows with the square of their number."""


@dataclass(frozen=True, eq=False)
class Scores:
    """Scores of a table's candidates."""

    total: Column
    parts: dict[str, Column]

    def of(self, row: int) -> dict[str, float]:
        """Points of one candidate, parts that say nothing left out."""
        return {name: round(float(points[row]), 3) for name, points in self.parts.items() if points[row]}


def score_candidates(table: CandidateTable, scene: SelectionScene, weights: SelectionWeights) -> Scores:
    """Score every candidate.

    The score is a sum of standardised parts and of fixed points, which reads like log-odds: adding is
    multiplying the odds, as tier x importance x recency x relevance would.
    """
    weights = weights if table.is_distilled else weights.for_text_alone()
    parts = {
        name: weight * standardise(column, table.measure)
        for name, weight, column in _weighted_columns(table, scene, weights)
    }
    parts |= _fixed_points(table, scene, weights)
    total = np.sum(list(parts.values()), axis=0) if table.candidates else np.zeros(0)
    return Scores(total=total, parts=parts)


def entity_overlap(table: CandidateTable, entity_ids: frozenset[str]) -> Column:
    """Sum the rarity of the entities that each candidate shares with the plan.

    Rarity is ln((n + 1) / (df + 1/2)) over the candidates: one whom every memory names says nothing.
    """
    named = [frozenset(row.chunk.entities_mentioned) for row in table.candidates]
    counts = Counter(entity for row, counted in zip(named, table.measure, strict=True) if counted for entity in row)
    total = int(table.measure.sum())
    rarity = {e: max(0.0, math.log((total + 1) / (counts[e] + 0.5))) for e in entity_ids}
    return np.array([sum(rarity[e] for e in sorted(row & entity_ids)) for row in named], dtype=float)


def loop_weights(table: CandidateTable, scene: SelectionScene) -> Column:
    """Weight, per scene, the most important open loop that was planted in it; 0 without one."""
    weights: dict[tuple[int | None, int | None], int] = {}
    for loop in scene.open_loops:
        if loop.status in UNRESOLVED_STATUSES:
            key = (loop.chapter_index, loop.scene_index)
            weights[key] = max(weights.get(key, 0), LOOP_WEIGHTS[loop.importance])
    return np.array([weights.get(facts.key, 0) for facts in table.scenes], dtype=float)


def shared_presence(scenes: tuple[SceneCast, ...], character_ids: frozenset[str]) -> Column:
    """Compare, per scene, who took part with whom the plan puts on stage (Jaccard, 0-1)."""
    return np.array(
        [len(s.participants & character_ids) / max(1, len(s.participants | character_ids)) for s in scenes], dtype=float
    )


def _weighted_columns(
    table: CandidateTable, scene: SelectionScene, weights: SelectionWeights
) -> list[tuple[str, float, Column]]:
    voting = [(i, query) for i, query in enumerate(scene.queries) if query.kind in weights.voting_kinds]
    meaning = standardise(semantic_scores(voting, table.candidates, table.measure, weights=weights), table.measure)
    by_meaning = pool_best(meaning, weights.best_queries)
    if table.is_distilled:
        shared = standardise(retriever_scores(LEXICAL_RETRIEVER, voting, table.candidates), table.measure)
        words = pool_best(shared, weights.best_queries)
        # One query by meaning and another by words are two weak hits; one query by both is a strong one.
        relevance = pool_best(meaning + weights.word_share * shared, weights.closest_queries)
        told = min(1.0, scene.ordinal / weights.whole_story_scenes)
    else:
        words = shared_words(table, scene, names_share=weights.text_alone_names)
        relevance, told = by_meaning, 1.0
    related = by_meaning + weights.lexical_share * words
    bullets = _lifted(table.best_of_scene(by_meaning, table.summaries, SCENE_BEST))
    flow, around = _scene_parts(table, weights, _scene_evidence(table, scene, weights, related, bullets))
    importance = np.array([row.chunk.importance for row in table.candidates], dtype=float)
    return [
        ("relevance", told * weights.relevance + (1 - told) * weights.early_relevance, relevance),
        ("words", weights.words, words),
        *([("novelty", weights.novelty, novelty(table))] if weights.novelty else []),
        ("importance", weights.importance, importance),
        ("entities", weights.entities, entity_overlap(table, scene.entity_ids)),
        ("open_loops", weights.open_loops, table.spread(loop_weights(table, scene))),
        ("spreading", told * weights.spreading, table.spread(flow)),
        ("surroundings", told * weights.surroundings, table.spread(around)),
        ("summaries", told * weights.summaries, table.spread(bullets)),
    ]


def _scene_evidence(
    table: CandidateTable, scene: SelectionScene, weights: SelectionWeights, related: Column, bullets: Column
) -> Column:
    """How much speaks for each scene as such: its best memories, its summary, who took part."""
    everywhere = np.ones(len(table.scenes), dtype=bool)
    memories = _lifted(table.best_of_scene(related, table.measure, SCENE_BEST))
    presence = shared_presence(table.scenes, scene.character_ids)
    return (
        standardise(memories, everywhere)
        + weights.bullet_share * standardise(bullets, everywhere)
        + weights.presence_share * standardise(presence, everywhere)
    )


def _scene_parts(table: CandidateTable, weights: SelectionWeights, evidence: Column) -> tuple[Column, Column]:
    """What flows to each scene from sure scenes of its thread, and what lies around the scenes like it.

    Scenes beyond the `MAX_SCENES` for which most speaks give nothing and get what the least of those gets.
    """
    if len(evidence) <= MAX_SCENES:
        return _parts_of_scenes(table, weights, evidence)
    kept = np.sort(np.argsort(-evidence, kind="stable")[:MAX_SCENES])
    flow, around = np.full((2, len(evidence)), np.nan)
    flow[kept], around[kept] = _parts_of_scenes(table.of_scenes(kept), weights, evidence[kept])
    return _lifted(flow), _lifted(around)


def _parts_of_scenes(table: CandidateTable, weights: SelectionWeights, evidence: Column) -> tuple[Column, Column]:
    """The two parts over all scenes of a table.

    A scene is the surer the surer those just before and after it are: that is what flows, and what a scene
    has in common with the scenes like it. Passages alone say too little to tell which scenes are alike: story
    order stands in for it.
    """
    near, thread = surroundings(table.ordinals, weights), scenes_of_one_thread(table, weights)
    around = near.gathered(evidence)
    if not table.is_distilled:
        return spread_evidence(evidence, thread.half_with(near), weights), around
    alike = similar_scenes(table, weights)
    everywhere = np.ones(len(table.scenes), dtype=bool)
    sure = standardise(evidence, everywhere) + standardise(around, everywhere)
    # Without embeddings, scenes of one thread are the most alike that can be told.
    alike = alike if len(alike.sources) else thread
    return spread_evidence(sure, thread, weights), alike.gathered(around)


def _lifted(evidence: Column) -> Column:
    """Give scenes without evidence the least that was found: the retrievers looked, and passed them over."""
    known = evidence[~np.isnan(evidence)]
    return np.nan_to_num(evidence, nan=float(known.min()) if len(known) else 0.0)


def _fixed_points(table: CandidateTable, scene: SelectionScene, weights: SelectionWeights) -> dict[str, Column]:
    chunks = [row.chunk for row in table.candidates]
    border = scene.ordinal - weights.at_hand_scenes
    at_hand = table.spread((table.ordinals >= border).astype(float)) == 1.0
    beside_memories = not bool(table.measure.all()) or any(c.content_type in DISTILLED_TYPES for c in chunks)
    kinds = {SUMMARY_TYPE: weights.summary_points} if beside_memories else {}
    other = weights.passage_points if beside_memories else 0.0
    kind_points = [0.0 if c.content_type in DISTILLED_TYPES else kinds.get(c.content_type, other) for c in chunks]
    return {
        "at_hand": np.where(at_hand, weights.at_hand_points, 0.0),
        "superseded": np.array([weights.superseded_points if c.superseded_by else 0.0 for c in chunks]),
        "unverified": np.array([0.0 if c.verified else weights.unverified_points for c in chunks]),
        "consolidated": np.array([weights.consolidated_points if c.is_consolidated else 0.0 for c in chunks]),
        "pinned": np.array([weights.pinned_points if c.tier == "pinned" else 0.0 for c in chunks]),
        "kind": np.array(kind_points, dtype=float),
    }
