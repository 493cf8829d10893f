"""What providers count, in whatever shape they tell it."""

from langchain_core.messages import AIMessage

from novelgen.model_calls.usage import ModelUsage, TokenPrices, total_usage, usage_of


def test_tokens_and_cached_tokens_are_counted() -> None:
    """Input, output and what the provider had in its cache."""
    answer = AIMessage(
        "{}",
        usage_metadata={
            "input_tokens": 900,
            "output_tokens": 100,
            "total_tokens": 1000,
            "input_token_details": {"cache_read": 640},
        },
    )
    assert usage_of(answer) == ModelUsage(input_tokens=900, output_tokens=100, cached_tokens=640)


def test_what_providers_count_is_read() -> None:
    """By DeepSeek's other name, silence as silence and not as free, and a price needs both prices."""
    answer = AIMessage(
        "{}",
        usage_metadata={"input_tokens": 900, "output_tokens": 100, "total_tokens": 1000},
        response_metadata={"token_usage": {"prompt_cache_hit_tokens": 512}},
    )
    assert usage_of(answer).cached_tokens == 512
    total = total_usage([usage_of(AIMessage("{}")), ModelUsage(input_tokens=5)])
    assert total == ModelUsage(input_tokens=5, uncounted_calls=1)
    prices = TokenPrices(price_in=0.5, price_out=2)
    assert prices.price_of(input_tokens=1_000_000, output_tokens=250_000) == 1.0
    assert TokenPrices(price_in=0.5).price_of(input_tokens=1, output_tokens=1) is None
