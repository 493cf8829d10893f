"""The name of a chain's run."""

from __future__ import annotations

from langchain_core.runnables import RunnableConfig

from novelgen.chains.run_names import with_run_name


def test_a_run_is_named_after_its_chain_unless_the_caller_names_it() -> None:
    """Whatever else the caller gave is kept, and what was given is not changed."""
    given: RunnableConfig = {"tags": ["scene"]}
    assert with_run_name(given, "SummaryChain") == {"tags": ["scene"], "run_name": "SummaryChain"}
    assert given == {"tags": ["scene"]}
    assert with_run_name({"run_name": "mine"}, "SummaryChain") == {"run_name": "mine"}
    assert with_run_name(None, "SummaryChain") == {"run_name": "SummaryChain"}
