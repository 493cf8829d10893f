"""Usage counted by providers, and its price."""

from __future__ import annotations

from collections.abc import Iterable
from functools import reduce
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, Field

from novelgen.models.context import ReportIssue

if TYPE_CHECKING:
    from langchain_core.messages import AIMessage

TOKENS_OF_A_PRICE = 1_000_000


class ModelUsage(BaseModel):
    """Tokens as the provider counted them."""

    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = Field(default=0, description="Of the input, those that the provider had in its cache.")
    uncounted_calls: int = Field(default=0, description="Answers of which the provider told no count.")

    def plus(self, other: ModelUsage) -> ModelUsage:
        """Return the sum of both."""
        return ModelUsage(**{name: getattr(self, name) + getattr(other, name) for name in ModelUsage.model_fields})


class ModelWork(BaseModel):
    """What a pass took of its model, and what went wrong or is missing in it."""

    issues: list[ReportIssue] = Field(default_factory=list)
    model_calls: int = 0
    usage: ModelUsage = Field(default_factory=ModelUsage, description="What the provider counted.")
    elapsed_s: float = Field(default=0.0, ge=0)

    def work(self) -> dict[str, Any]:
        """Return these fields, for whatever tells of the same work."""
        return {name: getattr(self, name) for name in ModelWork.model_fields}


class TokenPrices(BaseModel):
    """Prices per million tokens in any currency, None if unknown."""

    price_in: float | None = Field(default=None, ge=0)
    price_out: float | None = Field(default=None, ge=0)

    def price_of(self, *, input_tokens: int, output_tokens: int) -> float | None:
        """Return the price of tokens without discounts, or None if unknown."""
        if self.price_in is None or self.price_out is None:
            return None
        return (input_tokens * self.price_in + output_tokens * self.price_out) / TOKENS_OF_A_PRICE


def usage_of(answer: AIMessage) -> ModelUsage:
    """Return the provider's usage of an answer, or one uncounted call."""
    usage = answer.usage_metadata
    if usage is None:
        return ModelUsage(uncounted_calls=1)
    return ModelUsage(
        input_tokens=usage["input_tokens"],
        output_tokens=usage["output_tokens"],
        cached_tokens=usage.get("input_token_details", {}).get("cache_read") or _deepseek_cached(answer),
    )


def total_usage(usages: Iterable[ModelUsage]) -> ModelUsage:
    """Return the sum of all."""
    return reduce(ModelUsage.plus, usages, ModelUsage())


def _deepseek_cached(answer: AIMessage) -> int:
    """DeepSeek tells it under a name of its own, which LangChain hands on as it is."""
    text = answer.response_metadata.get("token_usage") or {}
    return int(text.get("prompt_cache_hit_tokens") or 0) if isinstance(text, dict) else 0
