"""What providers count, in whatever shape they tell it."""

from typing import Any

from langchain_core.messages import AIMessage

from novelgen.model_calls.usage import ModelUsage, TokenPrices, total_usage, usage_of


def test_what_providers_count_is_read() -> None:
    """Input, output and cached tokens, these also by DeepSeek's name; silence as silence and not as free.

    A price needs both prices.
    """
    counted: Any = {"input_tokens": 900, "output_tokens": 100, "total_tokens": 1000}
    cached = {**counted, "input_token_details": {"cache_read": 640}}
    answer = AIMessage("{}", usage_metadata=cached)
    assert usage_of(answer) == ModelUsage(input_tokens=900, output_tokens=100, cached_tokens=640)
    told = {"token_usage": {"prompt_cache_hit_tokens": 512}}
    assert usage_of(AIMessage("{}", usage_metadata=counted, response_metadata=told)).cached_tokens == 512
    total = total_usage([usage_of(AIMessage("{}")), ModelUsage(input_tokens=5)])
    assert total == ModelUsage(input_tokens=5, uncounted_calls=1)
    prices = TokenPrices(price_in=0.5, price_out=2)
    assert prices.price_of(input_tokens=1_000_000, output_tokens=250_000) == 1.0
    assert TokenPrices(price_in=0.5).price_of(input_tokens=1, output_tokens=1) is None
