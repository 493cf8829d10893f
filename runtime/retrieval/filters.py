"""Queries that are filtered alike, and their filter in SQL."""

from __future__ import annotations

from collections.abc import Collection

from novelgen.memory.search import SearchQuery, SearchRequest
from novelgen.models.position import StoryPosition
from runtime.storage.records import MemoryFilter


def filter_of(query: SearchQuery, as_of: StoryPosition) -> MemoryFilter:
    """Return what a query may find: its own filters, and only what lies before the position."""
    return MemoryFilter(
        as_of=as_of,
        entities=query.entities,
        content_types=[query.content_type] if query.content_type else [],
        tags=query.tags,
    )


def same_filters(
    request: SearchRequest, only: Collection[int] | None = None
) -> list[tuple[MemoryFilter, list[int]]]:
    """Group a request's queries by their filter, in order of first use, as (filter, query indices).

    Args:
        request: The request.
        only: Indices of the queries that count; None means all.
    """
    groups: dict[str, tuple[MemoryFilter, list[int]]] = {}
    for index, query in enumerate(request.queries):
        if only is not None and index not in only:
            continue
        memory_filter = filter_of(query, request.as_of)
        groups.setdefault(memory_filter.model_dump_json(), (memory_filter, []))[1].append(index)
    return list(groups.values())
