"""Small hand-made candidates and scenes."""

import numpy as np

from novelgen.memory.search import Candidate, RetrieverHit, SearchQuery, SelectionScene
from novelgen.models.memory import StoryMemoryChunk

AXES = np.eye(8, dtype=np.float32)


def chunk(chunk_id: str, scene_index: int = 1, **fields) -> StoryMemoryChunk:
    """A memory of chapter 1 with a content of its own."""
    values = {"content": f"Fact number {chunk_id} stands alone here.", "content_type": "memory"} | fields
    return StoryMemoryChunk(chunk_id=chunk_id, project_id="demo", chapter_index=1, scene_index=scene_index, **values)


def candidate(chunk_id: str, scene_index: int = 1, axis: int | None = None, hits=(), **fields) -> Candidate:
    """A candidate whose embedding is one axis of the space."""
    vector = None if axis is None else AXES[axis]
    return Candidate(chunk(chunk_id, scene_index, **fields), tuple(hits), vector)


def plan_scene(ordinal: int = 100, axis: int | None = None, scenes: int = 40, **fields) -> SelectionScene:
    """A planned scene with one query; stored scene s of chapter 1 has the ordinal s."""
    vectors = () if axis is None else (AXES[axis],)
    ordinals = {(1, index): index for index in range(1, scenes + 1)}
    asked = {"queries": (query("the plan", "whole"),), "vectors": vectors}
    return SelectionScene(**({"ordinal": ordinal, "ordinals": ordinals} | asked | fields))


def query(text: str, purpose: str) -> SearchQuery:
    """A query of the plan."""
    return SearchQuery(text=text, purpose=purpose)


def crowd(count: int = 20, **fields) -> list[Candidate]:
    """Unremarkable memories, one a scene."""
    return [candidate(f"c{index:02d}", index, **fields) for index in range(1, count + 1)]


def lexical(rank: int, score: float | None = None) -> RetrieverHit:
    """A hit of the lexical retriever for the only query."""
    return RetrieverHit("lexical", rank, 0, score)


def semantic(rank: int, score: float | None = None) -> RetrieverHit:
    """A hit of the semantic retriever for the only query."""
    return RetrieverHit("semantic", rank, 0, score)
