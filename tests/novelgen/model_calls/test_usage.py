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


def test_deepseek_tells_its_cache_by_another_name() -> None:
    """`prompt_cache_hit_tokens` counts where LangChain's own field is missing."""
    answer = AIMessage(
        "{}",
        usage_metadata={"input_tokens": 900, "output_tokens": 100, "total_tokens": 1000},
        response_metadata={"token_usage": {"prompt_cache_hit_tokens": 512}},
    )
    assert usage_of(answer).cached_tokens == 512


def test_a_silent_provider_is_said_to_be_silent() -> None:
    """An answer without a count is counted as such, and not as free."""
    total = total_usage([usage_of(AIMessage("{}")), ModelUsage(input_tokens=5)])
    assert total == ModelUsage(input_tokens=5, uncounted_calls=1)


def test_a_price_needs_both_prices() -> None:
    """A million in and a quarter of a million out; with one price unknown there is no sum."""
    prices = TokenPrices(price_in=0.5, price_out=2)
    assert prices.price_of(input_tokens=1_000_000, output_tokens=250_000) == 1.0
    assert TokenPrices(price_in=0.5).price_of(input_tokens=1, output_tokens=1) is None
