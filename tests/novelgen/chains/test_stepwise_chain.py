"""A chain of steps as one Runnable."""

from __future__ import annotations

import asyncio

from langchain_core.runnables import RunnableConfig, RunnableLambda

from novelgen.chains.stepwise_chain import StepwiseChain
from tests.support.tracing import RecordingHandler


class Doubling(StepwiseChain[int, int]):
    """Doubles in one step."""

    def __init__(self) -> None:
        super().__init__(RunnableLambda(lambda number: 2 * number).with_config(run_name="double"))


def test_a_run_is_named_after_its_chain_unless_the_caller_names_it() -> None:
    """What else the caller gave is kept and stays as it was; invoke and ainvoke do the same."""
    handler = RecordingHandler()
    given: RunnableConfig = {"tags": ["scene"], "callbacks": [handler]}
    assert Doubling().invoke(2, given) == 4
    assert asyncio.run(Doubling().ainvoke(3, {**given, "run_name": "mine"})) == 6
    assert given == {"tags": ["scene"], "callbacks": [handler]}
    assert handler.children_of(None) == ["Doubling", "mine"]
    assert handler.children_of("Doubling") == ["double"]
    assert handler.named("mine").tags == ["scene"]
