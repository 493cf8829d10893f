"""What novelgen's chains share as LangChain Runnables: they run their steps under their own name."""

from __future__ import annotations

from typing import Any, TypeVar

from langchain_core.runnables import Runnable, RunnableConfig

Given = TypeVar("Given")
Built = TypeVar("Built")


class StepwiseChain(Runnable[Given, Built]):
    """A chain of named steps that is itself a Runnable (`invoke`, `ainvoke`, `batch`, `with_retry`, `|`).

    Args:
        steps: The steps, composed; they are runs under the chain's own, a single step is that run itself.
    """

    def __init__(self, steps: Runnable[Given, Built]) -> None:
        self._steps = steps

    def invoke(self, input: Given, config: RunnableConfig | None = None, **kwargs: Any) -> Built:
        """Run the steps once.

        Args:
            input: The chain's request, or a mapping of its fields.
            config: LangChain's configuration: callbacks, tags, metadata.

        Returns:
            What the last step gives.

        Raises:
            ValidationError: When the request lacks a field or has a wrong type.
            UserInputError: When the request asks for what cannot be, such as a project id with a path in it.
        """
        return self._steps.invoke(input, self._configured(config, input), **kwargs)

    async def ainvoke(self, input: Given, config: RunnableConfig | None = None, **kwargs: Any) -> Built:
        """Do the same without blocking the event loop; the same body runs in worker threads."""
        return await self._steps.ainvoke(input, self._configured(config, input), **kwargs)

    def _configured(self, config: RunnableConfig | None, asked: Given) -> RunnableConfig:
        """Return the caller's configuration, with the chain's name where the caller gave none."""
        given = config or {}
        return {**given, "run_name": given.get("run_name") or self.get_name()}
