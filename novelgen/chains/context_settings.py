"""Budgets and deadlines of the memory context chain."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field

from novelgen.selection.quotas import NeedQuotas
from novelgen.selection.weights import DEFAULT_WEIGHTS, SelectionWeights


class ContextSettings(BaseModel):
    """What a context may cost, in tokens and in seconds."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    memory_budget: int = Field(default=2000, ge=0, description="Tokens for relevant_memories.")
    state_budget: int = Field(default=600, ge=0, description="Tokens for entity_states in the prompt.")
    timeline_budget: int = Field(default=400, ge=0, description="Tokens for timeline_context.")
    max_states: int = Field(default=20, ge=0)
    context_window: int = Field(default=2, ge=0, description="Chapters around in the timeline.")
    candidates_per_query: int = Field(
        default=200,
        ge=1,
        le=1000,
        description="Found per query and retriever, of which the budget takes the best.",
    )
    tool_timeout_s: float = Field(default=8.0, gt=0, description="Deadline of each tool call.")
    chain_timeout_s: float = Field(default=10.0, gt=0, description="Budget of the whole, without the model.")
    model_timeout_s: float = Field(default=20.0, gt=0, description="Total deadline of planning by a model.")
    weights: SelectionWeights = DEFAULT_WEIGHTS
    quotas: NeedQuotas = NeedQuotas()
