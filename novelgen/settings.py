"""Settings of contexts: budgets, deadlines and weights."""

from typing import Literal

from pydantic import ConfigDict, Field

from novelgen.memory.weights import DEFAULT_WEIGHTS, NeedQuotas, SelectionWeights
from novelgen.models.base import Model
from novelgen.models.chunk_context import MemoryPriority
from novelgen.models.context import DEFAULT_STATE_BUDGET
from novelgen.models.knowledge import KnowledgeMode


class ChunkContextSettings(Model):
    """The context of a piece of text, for translators and editors."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    limit: int = Field(default=10, ge=0, le=200, description="At most so many memories.")
    priority: MemoryPriority = Field(
        default="score", description="score, or least_recently_read: what no context showed for longest comes first."
    )
    touch: bool = Field(default=False, description="Note on the memories shown that they were read now.")
    selector: Literal["rules", "model"] = Field(
        default="rules",
        description="model: a chat model chooses from the list of all memories before the text, in one call.",
    )


class ContinuitySettings(Model):
    """The check of a draft against the story before it."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    timeout_s: float = Field(default=20.0, gt=0, le=3600, description="For one draft, without the model.")
    model_timeout_s: float | None = Field(
        default=None,
        gt=0,
        le=3600,
        description="For one draft, all calls of the model together; None: as long as for the reading of a scene.",
    )
    max_evidence: int = Field(default=40, ge=0, le=1000, description="At most so many pieces are gathered.")
    evidence_tokens: int = Field(default=2500, ge=0, le=1_000_000, description="Tokens for all of them.")
    workers: int = Field(default=1, ge=1, le=64, description="Drafts that the model reads at once.")


class ContextSettings(Model):
    """Budgets, deadlines and weights of a context, open for extension."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    memory_budget: int = Field(
        default=2150,
        ge=0,
        le=1_000_000,
        description="Tokens for left_off, story_so_far and relevant_memories, which get what the two leave; passages "
        "of unread scenes also what states and timeline leave of theirs.",
    )
    top_k: int | None = Field(
        default=None, ge=0, le=10_000, description="Most relevant_memories, beside their budget; None: no bound."
    )
    state_budget: int = Field(default=DEFAULT_STATE_BUDGET, ge=0, le=1_000_000, description="Tokens for entity_states.")
    timeline_budget: int = Field(default=400, ge=0, le=1_000_000, description="Tokens for timeline_context.")
    knowledge: KnowledgeMode | None = Field(
        default=None,
        description="What becomes of what the point of view does not know; None: separate where a plan names "
        "one, else only the receipts say who knows.",
    )
    hidden_budget: int = Field(
        default=500,
        ge=0,
        le=1_000_000,
        description="Tokens for what is hidden from the point of view, beside the other budgets.",
    )
    max_states: int = Field(default=20, ge=0, le=200)
    chapters_around: int = Field(default=2, ge=0, le=100, description="Chapters around in the timeline.")
    candidates_per_query: int = Field(
        default=200, ge=1, le=1000, description="Found per query and retriever; the budget takes the best."
    )
    planner_rounds: int = Field(
        default=1,
        ge=0,
        le=2,
        description="2: a planning model sees the first hits and asks on; 0: it is only asked where the list for the "
        "selecting model cannot hold all memories.",
    )
    planner_list_tokens: int = Field(
        default=8000, ge=200, le=1_000_000, description="Tokens for what a planning model is told of the story."
    )
    selector: Literal["rules", "model"] | None = Field(
        default=None,
        description="model: a chat model also chooses from the list of all memories, in one more call; None: so "
        "where one is configured.",
    )
    selector_tokens: int = Field(
        default=16_000,
        ge=0,
        le=1_000_000,
        description="Tokens for the prompt of the selecting model, most of them for the list of memories.",
    )
    selector_candidates: int = Field(
        default=400,
        ge=1,
        le=10_000,
        description="Most memories of that list where not all before the scene fit: the best of the search.",
    )
    tool_timeout_s: float = Field(default=8.0, gt=0, le=600, description="Deadline of each retrieval tool.")
    chain_timeout_s: float = Field(default=10.0, gt=0, le=3600, description="Budget without the model.")
    full_report: bool = Field(
        default=False, description="Keep every score and every field of a context's report and file."
    )
    quotas: NeedQuotas = NeedQuotas()
    weights: SelectionWeights = Field(default=DEFAULT_WEIGHTS, description="What each part of the choice counts.")
