"""The retrievers that need no query: memories of the scene's entities, of its threads, and of late."""

from __future__ import annotations

from dataclasses import replace

from novelgen.memory.search import SearchRequest
from novelgen.models.memory import ContentType
from novelgen.models.state import most_due
from runtime.retrieval.retrievers import RetrieverAnswer, listed_answer
from runtime.storage.records import MemoryFilter
from runtime.stores import MemoryStores

DUE_THREADS = 3
"""So many threads that wait longest and weigh most are looked up, whoever the scene is about."""
DISTILLED: tuple[ContentType, ...] = ("memory", "note")


def entity_memories(stores: MemoryStores, request: SearchRequest) -> RetrieverAnswer:
    """List the weightiest memories linked to any entity that the scene touches."""
    with stores.database(request.project_id).read() as unit:
        chunks = unit.memories.by_entities(
            request.entity_ids,
            as_of=request.as_of,
            content_types=DISTILLED,
            limit=request.candidates_per_query,
        )
        everything = MemoryFilter(
            as_of=request.as_of, entities=request.entity_ids, content_types=list(DISTILLED)
        )
        linked = unit.memories.count(everything) if request.counts_linked else None
    return replace(listed_answer("entity", chunks), linked=linked)


def thread_memories(stores: MemoryStores, request: SearchRequest) -> RetrieverAnswer:
    """List the memories of the scenes that planted or moved an open thread of the scene's entities, or a due one."""
    touched = set(request.entity_ids)
    with stores.database(request.project_id).read() as unit:
        waiting = unit.loops.list_as_of(as_of=request.as_of)
        due = {loop.loop_id for loop in most_due(waiting, DUE_THREADS)}
        loops = [
            loop for loop in waiting if loop.loop_id in due or not touched.isdisjoint(loop.related_entities)
        ]
        places = {
            (chapter, scene)
            for loop in loops
            for chapter, scene in (
                (loop.chapter_index, loop.scene_index),
                (loop.last_chapter_index, loop.last_scene_index),
            )
            if chapter is not None and scene is not None
        }
        chunks = unit.memories.of_scenes(sorted(places), as_of=request.as_of, content_types=DISTILLED)
    return listed_answer("loop", chunks[: request.candidates_per_query])


def recent_memories(stores: MemoryStores, request: SearchRequest) -> RetrieverAnswer:
    """List the latest memories of high importance."""
    with stores.database(request.project_id).read() as unit:
        chunks = unit.memories.recent_high_signal(as_of=request.as_of)
    return listed_answer("recent", chunks)
