"""Many queries over many retrievers: the request, its result, and the planned scene that results are judged against."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, TypeAlias

from pydantic import Field

from novelgen.models.base import Model
from novelgen.models.context import ReportedQuery, ReportIssue
from novelgen.models.memory import ContentType, StoryMemoryChunk
from novelgen.models.position import END_OF_STORY, Place, StoryPosition
from novelgen.models.shown import Shown, ShownList
from novelgen.models.state import OpenLoop

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Vector: TypeAlias = "NDArray[np.float32]"

NAMES_PURPOSE = "names"
"""Purpose of a model's query that is nothing but names."""

NAMES_ONLY_PURPOSES = frozenset({"character", "pair", NAMES_PURPOSE})
"""Purposes of queries that are names and no more: they find memories, but cannot tell which are relevant."""


QueryKind = Literal["plan", "purpose", "action", "place", "character", "pair", "model", "other"]
NAME_KINDS: frozenset[QueryKind] = frozenset({"character", "pair"})
"""Of queries that are nothing but names."""

_KINDS: dict[str, QueryKind] = {
    "whole": "plan",
    "purpose": "purpose",
    "action": "action",
    "place": "place",
    "character": "character",
    "pair": "pair",
    NAMES_PURPOSE: "character",
}


class SearchQuery(ReportedQuery):
    """One query with its source and purpose.

    An empty filter does not filter.
    """

    text: str = Field(min_length=1)
    content_type: ContentType | None = None

    @property
    def is_names_only(self) -> bool:
        """Whether it says no more than names."""
        return self.purpose in NAMES_ONLY_PURPOSES

    @property
    def kind(self) -> QueryKind:
        """The kind used by the choice of memories."""
        return "model" if self.origin == "llm" and not self.is_names_only else _KINDS.get(self.purpose, "other")


class SearchRequest(Model):
    """The queries of a planned scene, at its position."""

    project_id: str = Field(min_length=1)
    queries: list[SearchQuery] = Field(default_factory=list)
    entity_ids: list[str] = Field(
        default_factory=list, description="Entities that the scene touches; also chapter:3 and book."
    )
    as_of: StoryPosition = END_OF_STORY
    candidates_per_query: int = Field(default=100, ge=1, le=1000)
    timeout_s: float = Field(default=5.0, gt=0, description="For the whole search, from the moment of asking.")
    counts_linked: bool = Field(
        default=False, description="Also count all distilled memories of the entities, beyond those that are found."
    )
    open_loops: list[OpenLoop] | None = Field(
        default=None, description="Unresolved threads at the position; None: the thread retriever reads them."
    )


RANK_CONSTANT = 60
"""k of reciprocal rank fusion (Cormack and others, 2009): 1 / (k + rank) stands for an unknown score."""


@dataclass(frozen=True, slots=True)
class RetrieverHit:
    """One retriever found one candidate."""

    retriever: str
    rank: int
    query_index: int | None = None
    score: float | None = None

    @property
    def by_rank(self) -> float:
        """The value of a rank."""
        return 1 / (RANK_CONSTANT + self.rank)

    @property
    def worth(self) -> float:
        """The score, or the rank's value without one."""
        return self.by_rank if self.score is None else self.score


@dataclass(frozen=True, slots=True, eq=False)
class Candidate:
    """A stored memory before the position, with its hits."""

    chunk: StoryMemoryChunk
    hits: tuple[RetrieverHit, ...] = ()
    vector: Vector | None = None

    def best_ranks(self, *, of_queries: bool = False) -> dict[str, int]:
        """Return the best rank per retriever, of all hits or of those of queries, retrievers in order of name."""
        hits = [(hit.retriever, -hit.rank) for hit in self.hits if not of_queries or hit.query_index is not None]
        return {retriever: -rank for retriever, rank in sorted(hits)}


@dataclass(frozen=True, eq=False)
class SearchResult:
    """The results of all retrievers, and their issues."""

    candidates: tuple[Candidate, ...] = ()
    query_vectors: tuple[Vector | None, ...] = ()
    issues: tuple[ReportIssue, ...] = ()
    timings_s: Mapping[str, float] = field(default_factory=dict)
    linked: int | None = None


class RankedMemory(Shown, Model):
    """A memory at its place in the answer to one query."""

    chunk: StoryMemoryChunk = Field(description="`superseded_by` as of the position that was read.")
    score: float = Field(description="From 0 to 1: how well it fits the query; not the place alone.")
    retrievers: dict[str, int] = Field(
        default_factory=dict,
        description="Retriever to the rank that it gave; empty for a memory that is here for one it replaced.",
    )
    held_by: StoryMemoryChunk | None = Field(
        default=None, description="The memory that holds in its place at the position; None: it holds itself."
    )

    @property
    def is_outdated(self) -> bool:
        """Whether something before the position replaced it."""
        return self.chunk.superseded_by is not None


class RankedMemories(Shown, Model):
    """The answer to one query, best first."""

    memories: list[RankedMemory] = Field(default_factory=list)
    issues: list[ReportIssue] = Field(
        default_factory=list, description="Retrievers that failed or fell back, names that nobody bears."
    )

    def in_simpler_terms(self) -> ShownList[RankedMemory]:
        """Return the notebook representation."""
        return ShownList(self.memories)


SEMANTIC_RETRIEVER = "semantic"
LEXICAL_RETRIEVER = "lexical"
ENTITY_RETRIEVER = "entity"
THREAD_RETRIEVER = "thread"
RECENT_RETRIEVER = "recent"
CALLED_NOTES_RETRIEVER = "called_notes"
"""Notes of the author whose key stands in the plan, and those that are pinned."""


@dataclass(frozen=True, eq=False)
class SelectionScene:
    """The planned scene for selection.

    `ordinals` counts stored scenes from the oldest.

    Queries are in the order that `RetrieverHit.query_index` counts, as are their embeddings, where there are any.
    """

    ordinal: int
    queries: Sequence[SearchQuery] = ()
    vectors: Sequence[Vector | None] = ()
    entity_ids: frozenset[str] = frozenset()
    ordinals: Mapping[Place, int] = field(default_factory=dict)
    open_loops: tuple[OpenLoop, ...] = field(default_factory=tuple)
    unread_places: frozenset[Place] = frozenset()
    """The stored scenes without a record: their passages alone tell of them."""
    told_ids: frozenset[str] | None = None
    """Memories that the story so far and the end of the last scene convey; None: nobody says which."""
