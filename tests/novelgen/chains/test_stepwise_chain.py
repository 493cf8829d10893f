"""A chain of steps as one Runnable."""

from __future__ import annotations

import asyncio

from langchain_core.runnables import RunnableConfig, RunnableLambda

from novelgen.chains.stepwise_chain import StepwiseChain
from tests.support.tracing import RecordingHandler


def twice(number: int) -> int:
    """Return the double."""
    return 2 * number


class Fourfold(StepwiseChain[int, int]):
    """Doubles in two steps."""

    def __init__(self) -> None:
        super().__init__(
            RunnableLambda(twice).with_config(run_name="first") | RunnableLambda(twice).with_config(run_name="second")
        )


def test_a_run_is_named_after_its_chain_unless_the_caller_names_it() -> None:
    """What else the caller gave is kept and stays as it was; invoke and ainvoke do the same."""
    handler = RecordingHandler()
    given: RunnableConfig = {"tags": ["scene"], "callbacks": [handler]}
    assert Fourfold().invoke(2, given) == 8
    assert asyncio.run(Fourfold().ainvoke(3, {**given, "run_name": "mine"})) == 12
    assert given == {"tags": ["scene"], "callbacks": [handler]}
    assert handler.children_of(None) == ["Fourfold", "mine"]
    assert handler.children_of("Fourfold") == ["first", "second"]
    assert handler.named("mine").tags == ["scene"]
