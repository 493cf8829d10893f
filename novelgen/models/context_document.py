"""A context as its file tells it: what says nothing, and what stands there already, is left out and read back whole."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel

if TYPE_CHECKING:
    from novelgen.models.context import SceneMemoryContext

_SILENT_MEMORY_FIELDS = ("is_indexed", "is_consolidated")
"""Fields of a memory that say nothing while they are as they are by default; readers of files rely on others."""


def context_document(context: SceneMemoryContext, *, is_full: bool = False) -> dict[str, Any]:
    """Return a context as JSON data, which `SceneMemoryContext.model_validate` reads back as the same context.

    Left out of a memory are flags that say nothing and its `embedding_id` where that is its `chunk_id`.
    """
    document = context.model_dump(mode="json")
    if is_full:
        return document
    for memory, chunk in zip(document["relevant_memories"], context.relevant_memories, strict=True):
        _leave_out_silent(memory, chunk, _SILENT_MEMORY_FIELDS)
        if memory["embedding_id"] == memory["chunk_id"]:
            del memory["embedding_id"]
    return document


def with_references_read(given: Any) -> Any:
    """Return a context's data with what its memories leave out because it stands there already.

    What is no context's data is returned as it is; validation says what is wrong with it.
    """
    if not isinstance(given, Mapping) or not isinstance(given.get("relevant_memories"), list | tuple):
        return given
    return {
        **given,
        "relevant_memories": [
            {"embedding_id": each.get("chunk_id"), **each} if isinstance(each, Mapping) else each
            for each in given["relevant_memories"]
        ],
    }


def _leave_out_silent(told: dict[str, Any], model: BaseModel, names: tuple[str, ...]) -> None:
    for name in names:
        field = type(model).model_fields[name]
        if getattr(model, name) == field.get_default(call_default_factory=True):
            del told[name]
