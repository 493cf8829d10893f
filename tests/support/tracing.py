"""A callback handler that keeps the runs it was told of."""

from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from langchain_core.callbacks import BaseCallbackHandler


@dataclass
class RecordedRun:
    """One run: its name, its parent's name, and what went in and out."""

    name: str
    parent: str | None
    tags: list[str]
    metadata: dict[str, Any]
    inputs: Any
    outputs: Any = None
    error: BaseException | None = None


@dataclass(eq=False)
class RecordingHandler(BaseCallbackHandler):
    """Keeps chains, retrievers and chat models in the order in which they started."""

    runs: list[RecordedRun] = field(default_factory=list)
    by_id: dict[UUID, RecordedRun] = field(default_factory=dict)

    def named(self, name: str) -> RecordedRun:
        """Return the one run of that name."""
        (run,) = [run for run in self.runs if run.name == name]
        return run

    def children_of(self, name: str | None) -> list[str]:
        """Return the names of the runs directly under a run; under None those at the top."""
        return [run.name for run in self.runs if run.parent == name]

    def on_chain_start(self, serialized: Any, inputs: Any, **details: Any) -> None:
        """Keep a chain."""
        self._start(inputs, details)

    def on_retriever_start(self, serialized: Any, query: str, **details: Any) -> None:
        """Keep a retriever."""
        self._start(query, details)

    def on_chat_model_start(self, serialized: Any, messages: Any, **details: Any) -> None:
        """Keep a chat model."""
        self._start(messages, {**details, "name": serialized["name"]})

    def on_chain_end(self, outputs: Any, *, run_id: UUID, **details: Any) -> None:
        """Keep what a chain returned."""
        self.by_id[run_id].outputs = outputs

    def on_retriever_end(self, documents: Any, *, run_id: UUID, **details: Any) -> None:
        """Keep what a retriever returned."""
        self.by_id[run_id].outputs = documents

    def on_chain_error(self, error: BaseException, *, run_id: UUID, **details: Any) -> None:
        """Keep what a chain raised."""
        self.by_id[run_id].error = error

    def _start(self, inputs: Any, details: dict[str, Any]) -> None:
        parent = self.by_id.get(details.get("parent_run_id"))  # type: ignore[arg-type]
        run = RecordedRun(
            name=details.get("name") or "",
            parent=parent.name if parent else None,
            tags=sorted(details.get("tags") or []),
            metadata=dict(details.get("metadata") or {}),
            inputs=inputs,
        )
        self.by_id[details["run_id"]] = run
        self.runs.append(run)
