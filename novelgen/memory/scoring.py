"""What each candidate is worth to the planned scene, part by part."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass

import numpy as np

from novelgen.memory.candidates import LEXICAL_RETRIEVER, SelectionScene
from novelgen.memory.passages import novelty, shared_words
from novelgen.memory.query_scores import Column, pool_best, retriever_scores, semantic_scores, standardise
from novelgen.memory.table import CandidateTable
from novelgen.memory.weights import SelectionWeights
from novelgen.models.memory import DISTILLED_TYPES, SUMMARY_TYPE
from novelgen.models.state import LOOP_WEIGHTS, UNRESOLVED_STATUSES


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


def _weighted_columns(
    table: CandidateTable, scene: SelectionScene, weights: SelectionWeights
) -> list[tuple[str, float, Column]]:
    voting = [(i, query) for i, query in enumerate(scene.queries) if query.kind in weights.voting_kinds]
    meaning = standardise(semantic_scores(voting, table.candidates, table.measure), table.measure)
    if table.is_distilled:
        shared = standardise(retriever_scores(LEXICAL_RETRIEVER, voting, table.candidates), table.measure)
        # One query by meaning and another by words are two weak hits; one query by both is a strong one.
        columns = [
            ("relevance", weights.relevance, pool_best(meaning + weights.word_share * shared, weights.closest_queries))
        ]
    else:
        words = shared_words(table, scene, names_share=weights.text_alone_names)
        columns = [
            ("relevance", weights.text_alone_relevance, pool_best(meaning, weights.text_alone_closest_queries)),
            ("words", weights.text_alone_words, words),
            ("novelty", weights.text_alone_novelty, novelty(table)),
        ]
    importance = np.array([row.chunk.importance for row in table.candidates], dtype=float)
    entities = weights.entities if table.is_distilled else weights.text_alone_entities
    return [
        *columns,
        ("importance", weights.importance, importance),
        ("entities", entities, entity_overlap(table, scene.entity_ids)),
        ("open_loops", weights.open_loops, table.spread(loop_weights(table, scene))),
    ]


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
