"""Candidates laid out as columns, so that every part of the score is one line of arithmetic."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from novelgen.memory.candidates import SceneCast, SceneKey, SelectionScene
from novelgen.memory.query_scores import Column, Mask
from novelgen.memory.search import Candidate
from novelgen.models.memory import DISTILLED_TYPES, SCENE_RECORD_TYPES

MIN_DISTILLED = 12
"""Fewer distilled memories than this are no measure for the rest."""


@dataclass(frozen=True, eq=False)
class CandidateTable:
    """The candidates of one choice."""

    candidates: tuple[Candidate, ...]
    measure: Mask
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

    def spread(self, scene_values: Column) -> Column:
        """Give each candidate its scene's value; NaN to one without a known scene."""
        values = np.append(scene_values, np.nan)
        return values[self.scene_of]


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
        scenes=scenes,
        scene_of=np.array([places.get(row.scene_key, -1) for row in rows], dtype=np.intp),
    )
