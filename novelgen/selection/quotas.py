"""How much of a budget single needs may take before the others of that budget have had theirs."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

QuotaName = Literal["obligations", "relations", "passages"]


class NeedQuotas(BaseModel):
    """Shares of a budget; what the others leave unused goes to whoever wants more."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    obligations: float = Field(default=0.5, ge=0, le=1, description="Open loops, of timeline_budget.")
    relations: float = Field(default=0.5, ge=0, le=1, description="Relationships, of timeline_budget.")
    passages: float = Field(
        default=0.5, ge=0, le=1, description="Verbatim text, of memory_budget, beside distilled memories."
    )

    def tokens(self, name: QuotaName, budget_tokens: int) -> int:
        """Return a quota in whole tokens of its budget."""
        return int(getattr(self, name) * budget_tokens)

    def described(self, name: QuotaName) -> str:
        """Return a quota as reports name it."""
        return f"quotas.{name}={getattr(self, name):g}"


DEFAULT_QUOTAS = NeedQuotas()
