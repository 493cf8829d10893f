"""What the choice is made from: candidates found by the retrievers, and the planned scene they are judged against."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from novelgen.memory.search import Vector
from novelgen.models.state import OpenLoop

SceneKey = tuple[int, int]
QueryKind = Literal["plan", "purpose", "action", "place", "character", "pair", "model", "other"]
NAME_KINDS: frozenset[QueryKind] = frozenset({"character", "pair"})
"""Of queries that are nothing but names."""

SEMANTIC_RETRIEVER = "semantic"
LEXICAL_RETRIEVER = "lexical"


@dataclass(frozen=True, eq=False)
class SceneQuery:
    """A retrieval query of the planned scene, in the order that `ArmHit.query_index` counts."""

    text: str
    kind: QueryKind = "other"
    vector: Vector | None = None


@dataclass(frozen=True)
class SceneCast:
    """What is known of a stored scene without reading it."""

    chapter_index: int
    scene_index: int
    ordinal: int

    @property
    def key(self) -> SceneKey:
        """Chapter and scene."""
        return (self.chapter_index, self.scene_index)


@dataclass(frozen=True, eq=False)
class SelectionScene:
    """The planned scene as the choice sees it."""

    ordinal: int
    queries: tuple[SceneQuery, ...] = ()
    entity_ids: frozenset[str] = frozenset()
    scenes: tuple[SceneCast, ...] = ()
    open_loops: tuple[OpenLoop, ...] = field(default_factory=tuple)
