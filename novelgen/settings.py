"""What a context may cost, in tokens and in seconds: the settings of the memory context chain, told once."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field

from novelgen.selection.weights import DEFAULT_WEIGHTS, NeedQuotas, SelectionWeights


class ContextSettings(BaseModel):
    """Budgets, deadlines and weights of a context; a program's own settings may extend them."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    memory_budget: int = Field(default=2000, ge=0, le=1_000_000, description="Tokens for relevant_memories.")
    state_budget: int = Field(default=600, ge=0, le=1_000_000, description="Tokens for entity_states.")
    timeline_budget: int = Field(default=400, ge=0, le=1_000_000, description="Tokens for timeline_context.")
    max_states: int = Field(default=20, ge=0, le=200)
    context_window: int = Field(default=2, ge=0, le=100, description="Chapters around in the timeline.")
    candidates_per_query: int = Field(
        default=200, ge=1, le=1000, description="Found per query and retriever; the budget takes the best."
    )
    tool_timeout_s: float = Field(default=8.0, gt=0, le=600, description="Deadline of each retrieval tool.")
    chain_timeout_s: float = Field(default=10.0, gt=0, le=3600, description="Budget without the model.")
    quotas: NeedQuotas = NeedQuotas()
    weights: SelectionWeights = Field(
        default=DEFAULT_WEIGHTS, description="What each part of the choice counts."
    )


# How the seconds of a context are dealt out, in one place: what hangs leaves time to what comes after it. Of the
# outermost, `chain_timeout_s`, a stage gets its share of what is left, and no tool more than `tool_timeout_s`. With the
# defaults a vector index that hangs is given up after 8 x .9 x .75 x .7 = 3.8 s, and exact search takes its turn.
OUTLINE_SHARE = 0.5
"""Of what is left of the context: to read who and what is known."""
RETRIEVAL_SHARE = 0.85
"""Of what is left of the context: to search and to read states and timeline, side by side."""
SEARCH_SHARE = 0.9
"""Of the retrieval: for the search, so that those of its retrievers that answer are heard."""
RETRIEVERS_SHARE = 0.75
"""Of the search: for the retrievers; what they found is read from the database in the rest."""
INDEX_SHARE = 0.7
"""Of the retrievers: for the vector index; exact search has the rest when the index fails."""
INDEX_FILTER_SHARE = 0.4
"""Of the vector index: for the database to say which memories it may give; without an answer the position must do."""
