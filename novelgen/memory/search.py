"""Many queries over many arms: the request and its result."""

from __future__ import annotations

from pydantic import BaseModel, Field

from novelgen.models.context import ReportIssue
from novelgen.models.memory import ContentType, StoryMemoryChunk
from novelgen.models.position import END_OF_STORY, StoryPosition


class SearchQuery(BaseModel):
    """One query; an empty filter does not filter."""

    text: str = Field(min_length=1)
    purpose: str = Field(default="", description="whole, purpose, action, place, character, pair, hint, …")
    entities: list[str] = Field(default_factory=list, description="Only memories linked to one of these ids.")
    content_type: ContentType | None = None
    tags: list[str] = Field(default_factory=list, description="Only memories with one of these tags.")


class SearchRequest(BaseModel):
    """What a planned scene asks of the memory, at its position."""

    project_id: str = Field(min_length=1)
    queries: list[SearchQuery] = Field(default_factory=list)
    entity_ids: list[str] = Field(default_factory=list, description="Entities that the scene touches.")
    as_of: StoryPosition = END_OF_STORY
    candidates_per_query: int = Field(default=150, ge=1, le=1000)
    timeout_s: float = Field(default=5.0, gt=0, description="For every arm on its own.")


class ArmHit(BaseModel):
    """Place and score of a memory in one arm's answer to one query."""

    arm: str = Field(description="semantic, lexical, entity, loop, recent, neighbour.")
    query_index: int | None = Field(
        default=None, description="Index in the request's queries; None: no query."
    )
    rank: int = Field(ge=1)
    score: float = Field(description="The arm's own score, higher is better: cosine, BM25, …")


class Candidate(BaseModel):
    """A memory that at least one arm brought."""

    chunk: StoryMemoryChunk
    hits: list[ArmHit] = Field(default_factory=list)


class SearchResult(BaseModel):
    """All candidates, in order of chunk id, and what went wrong on the way."""

    candidates: list[Candidate] = Field(default_factory=list)
    issues: list[ReportIssue] = Field(default_factory=list)
    timings_s: dict[str, float] = Field(default_factory=dict)
