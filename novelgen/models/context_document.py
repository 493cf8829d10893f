"""A context as its file tells it: what says nothing, and what stands there already, is left out and read back whole."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel

if TYPE_CHECKING:
    from novelgen.models.context import SceneMemoryContext

_SILENT_MEMORY_FIELDS = (
    "is_indexed",
    "is_consolidated",
    "tier",
    "source_id",
    "source_span",
    "event_type",
    "supersedes",
    "superseded_by",
    "slot_type",
    "verified",
)
"""Fields of a memory that say nothing while they are as they are by default."""

_SILENT_STATE_FIELDS = ("unverified", "holds", "version")

_SILENT_QUERY_FIELDS = ("entities", "content_type", "tags")


def context_document(context: SceneMemoryContext, *, is_full: bool = False) -> dict[str, Any]:
    """Return a context as JSON data, which `SceneMemoryContext.model_validate` reads back as the same context.

    Left out of a memory are flags and ids that say nothing, its `embedding_id` where that is its `chunk_id`, and its
    `short` where its receipt in `report.items` gives that as its text. The receipts lack no field.

    Args:
        context: The context.
        is_full: Leave nothing out.
    """
    document = context.model_dump(mode="json")
    if is_full:
        return document
    receipts = _receipts(document)
    for memory, chunk in zip(document["relevant_memories"], context.relevant_memories, strict=True):
        _leave_out_silent(memory, chunk, _SILENT_MEMORY_FIELDS)
        if memory["embedding_id"] == memory["chunk_id"]:
            del memory["embedding_id"]
        if memory["short"] == _short_of(receipts.get(memory["chunk_id"])):
            del memory["short"]
    for state, snapshot in zip(document["entity_states"], context.entity_states, strict=True):
        _leave_out_silent(state, snapshot, _SILENT_STATE_FIELDS)
    if context.report is not None:
        for query, asked in zip(document["report"]["queries"], context.report.queries, strict=True):
            _leave_out_silent(query, asked, _SILENT_QUERY_FIELDS)
    return document


def with_references_read(given: Any) -> Any:
    """Return a context's data with what its memories leave out because it stands there already.

    What is no context's data is returned as it is; validation says what is wrong with it.
    """
    if not isinstance(given, Mapping) or not isinstance(given.get("relevant_memories"), list | tuple):
        return given
    receipts = _receipts(given)
    memories = [_memory_read(each, receipts) for each in given["relevant_memories"]]
    return {**given, "relevant_memories": memories}


def _memory_read(memory: Any, receipts: Mapping[Any, Mapping[str, Any]]) -> Any:
    if not isinstance(memory, Mapping):
        return memory
    chunk_id = memory.get("chunk_id")
    short = _short_of(receipts.get(chunk_id) if isinstance(chunk_id, str) else None)
    return {"embedding_id": chunk_id, "short": short, **memory}


def _receipts(context: Mapping[str, Any]) -> dict[Any, Mapping[str, Any]]:
    report = context.get("report")
    items = report.get("items") if isinstance(report, Mapping) else None
    found = items if isinstance(items, list | tuple) else ()
    return {
        each["chunk_id"]: each
        for each in found
        if isinstance(each, Mapping) and isinstance(each.get("chunk_id"), str)
    }


def _short_of(receipt: Mapping[str, Any] | None) -> Any:
    """Return the short form that a receipt gives; None where it gives the full form or nothing."""
    return receipt.get("text") if receipt is not None and receipt.get("form") == "short" else None


def _leave_out_silent(told: dict[str, Any], model: BaseModel, names: tuple[str, ...]) -> None:
    for name in names:
        field = type(model).model_fields[name]
        if getattr(model, name) == field.get_default(call_default_factory=True):
            del told[name]
