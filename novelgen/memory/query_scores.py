"""Candidates laid out as columns, and many queries and two retrievers made comparable: standardised, pooled scores."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from novelgen.memory.search import SEMANTIC_RETRIEVER, Candidate, SceneCast, SceneKey, SceneQuery, SelectionScene
from novelgen.models.memory import DISTILLED_TYPES, SCENE_RECORD_TYPES, SUMMARY_TYPE

Vectors = NDArray[np.float32]

Mask = NDArray[np.bool_]


def stack_vectors(candidates: Sequence[Candidate]) -> tuple[Vectors, Mask]:
    """Stack the candidates' embeddings."""
    present = np.array([candidate.vector is not None for candidate in candidates], dtype=bool)
    size = next((len(c.vector) for c in candidates if c.vector is not None), 0)
    rows = [np.zeros(size, np.float32) if c.vector is None else c.vector for c in candidates]
    return np.array(rows, dtype=np.float32).reshape(len(rows), size), present


def unit_rows(vectors: Vectors) -> Vectors:
    """Bring rows to unit length; zeros stay zeros."""
    return vectors / np.maximum(np.linalg.norm(vectors, axis=-1, keepdims=True), np.float32(1e-9))


Column = NDArray[np.float64]

Matrix = NDArray[np.float64]

RANK_CONSTANT = 60
"""k of reciprocal rank fusion (Cormack and others, 2009): 1 / (k + rank) stands for an unknown score."""

CLIP = 4.0
"""Greatest standardised value, so that one odd outlier does not decide alone."""


def standardise(values: Matrix, reference: Mask) -> Matrix:
    """Bring rows to mean 0 and deviation 1 over the reference columns."""
    known = np.where(reference, values, np.nan)
    counted = np.maximum((~np.isnan(known)).sum(axis=-1, keepdims=True), 1)
    mean = np.nansum(known, axis=-1, keepdims=True) / counted
    deviation = np.sqrt(np.nansum((known - mean) ** 2, axis=-1, keepdims=True) / counted)
    spread = deviation > 1e-9
    scaled = np.where(spread, (values - mean) / np.where(spread, deviation, 1.0), 0.0)
    return np.clip(np.nan_to_num(scaled, nan=0.0), -CLIP, CLIP)


def pool_best(scores: Matrix, best: int) -> Column:
    """Average each column's best rows."""
    if not len(scores):
        return np.zeros(scores.shape[1])
    return np.sort(scores, axis=0)[-best:].mean(axis=0)


def semantic_scores(
    queries: Sequence[tuple[int, SceneQuery]], candidates: Sequence[Candidate], reference: Mask
) -> Matrix:
    """Score every candidate against every query by meaning.

    Where queries and candidates bring embeddings, by their cosine less what all of a book have in common, so that a
    candidate found by another retriever is judged as well; else by what the semantic retriever answered.
    """
    vectors, present = stack_vectors(candidates)
    asked = [query.vector for _, query in queries if query.vector is not None]
    if not present.any() or len(asked) != len(queries) or not asked:
        return retriever_scores(SEMANTIC_RETRIEVER, queries, candidates)
    counted = present & reference if (present & reference).any() else present
    common = vectors[counted].mean(axis=0)
    cosine = unit_rows(np.array(asked, dtype=np.float32) - common) @ unit_rows(vectors - common).T
    return np.where(present, cosine, np.nan).astype(np.float64)


def retriever_scores(
    retriever: str, queries: Sequence[tuple[int, SceneQuery]], candidates: Sequence[Candidate]
) -> Matrix:
    """Collect what one retriever answered."""
    rows = {index: row for row, (index, _) in enumerate(queries)}
    scores = np.full((len(queries), len(candidates)), np.nan)
    for column, candidate in enumerate(candidates):
        for hit in candidate.hits:
            if hit.retriever == retriever and hit.query_index in rows:
                value = 1 / (RANK_CONSTANT + hit.rank) if hit.score is None else hit.score
                scores[rows[hit.query_index], column] = value
    return np.array([_filled(row, bounded=retriever == SEMANTIC_RETRIEVER) for row in scores]).reshape(scores.shape)


def _filled(row: Column, *, bounded: bool) -> Column:
    known = row[~np.isnan(row)]
    floor = float(known.min()) if bounded and len(known) else 0.0
    return np.nan_to_num(row, nan=floor)


MIN_DISTILLED = 12
"""Fewer distilled memories than this are no measure for the rest."""


@dataclass(frozen=True, eq=False)
class CandidateTable:
    """The candidates of one choice."""

    candidates: tuple[Candidate, ...]
    measure: Mask
    summaries: Mask
    scenes: tuple[SceneCast, ...]
    scene_of: NDArray[np.intp]

    @property
    def is_distilled(self) -> bool:
        """Whether scenes were told in other words than the text's: an author's few notes do not count."""
        return any(row.chunk.content_type in SCENE_RECORD_TYPES for row in self.candidates)

    @property
    def ordinals(self) -> NDArray[np.intp]:
        """Ordinal of each scene."""
        return np.array([scene.ordinal for scene in self.scenes], dtype=np.intp)

    def of_scenes(self, kept: NDArray[np.intp]) -> CandidateTable:
        """Return the table with some of its scenes alone; candidates of the others are without a known scene."""
        places = np.full(len(self.scenes) + 1, -1, dtype=np.intp)
        places[kept] = np.arange(len(kept))
        return replace(self, scenes=tuple(self.scenes[index] for index in kept), scene_of=places[self.scene_of])

    def spread(self, scene_values: Column) -> Column:
        """Give each candidate its scene's value; NaN to one without a known scene."""
        values = np.append(scene_values, np.nan)
        return values[self.scene_of]

    def best_of_scene(self, values: Column, counted: Mask, best: int) -> Column:
        """Average the best values of each scene."""
        rows = np.flatnonzero(counted & (self.scene_of >= 0))
        order = rows[np.lexsort((-values[rows], self.scene_of[rows]))]
        scenes = self.scene_of[order]
        # Sorted by scene and value, a row is among its scene's best when the scene began at most `best` before.
        among_best = np.arange(len(order)) - np.searchsorted(scenes, scenes) < best
        counts = np.bincount(scenes[among_best], minlength=len(self.scenes))
        sums = np.bincount(scenes[among_best], weights=values[order][among_best], minlength=len(self.scenes))
        return np.where(counts > 0, sums / np.maximum(counts, 1), np.nan)


def lay_out(candidates: Sequence[Candidate], scene: SelectionScene) -> CandidateTable:
    """Lay out candidates for scoring."""
    rows = tuple(sorted(candidates, key=lambda candidate: candidate.chunk.chunk_id))
    keys = {row.scene_key for row in rows}
    scenes = tuple(sorted((s for s in scene.scenes if s.key in keys), key=lambda facts: facts.ordinal))
    places: dict[SceneKey | None, int] = {facts.key: index for index, facts in enumerate(scenes)}
    distilled = np.array([row.chunk.content_type in DISTILLED_TYPES for row in rows], dtype=bool)
    everything = np.ones(len(rows), dtype=bool)
    return CandidateTable(
        candidates=rows,
        measure=distilled if distilled.sum() >= MIN_DISTILLED else everything,
        summaries=np.array([row.chunk.content_type == SUMMARY_TYPE for row in rows], dtype=bool),
        scenes=scenes,
        scene_of=np.array([places.get(row.scene_key, -1) for row in rows], dtype=np.intp),
    )
