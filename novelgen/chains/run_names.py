"""The name that a chain's run bears in LangChain's traces."""

from __future__ import annotations

from langchain_core.runnables import RunnableConfig


def with_run_name(config: RunnableConfig | None, name: str) -> RunnableConfig:
    """Return a run's configuration with a name, that of the caller where there is one.

    Args:
        config: What the caller gave; None is an empty one.
        name: Name of the chain.
    """
    given = config or {}
    return {**given, "run_name": given.get("run_name") or name}
