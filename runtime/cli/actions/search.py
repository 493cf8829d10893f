"""Searching a project's memory."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from novelgen.models.memory import ContentType, StoryMemoryChunk
from novelgen.models.position import StoryPosition
from runtime.cli.labels import ViewLabels, place_text, view_labels_for
from runtime.cli.opening import await_index, opened_project, story_language
from runtime.cli.output import print_json, print_table, print_text
from runtime.cli.session import CliSession
from runtime.memory_tools import search_story_memory_tool


def search_project(
    session: CliSession,
    project_id: str,
    query: str,
    *,
    entities: Sequence[str],
    content_type: str | None,
    tags: Sequence[str],
    top_k: int,
    as_of: StoryPosition | None,
    as_json: bool,
) -> None:
    """Search and show what was found, best first."""
    with opened_project(session, project_id) as stores:
        await_index(stores, project_id)
        found = search_story_memory_tool(
            project_id,
            query,
            entities=list(entities) or None,
            content_type=cast(ContentType | None, content_type),
            tags=list(tags) or None,
            top_k=top_k,
            as_of=as_of,
            stores=stores,
        )
        labels = view_labels_for(story_language(stores, project_id))
    if as_json:
        print_json(found)
    else:
        print_memories(found, labels)


def print_memories(chunks: Sequence[StoryMemoryChunk], labels: ViewLabels) -> None:
    """Print memories in their order, each with its id, source scene and weight."""
    rows = [
        (
            chunk.source_id or chunk.chunk_id,
            place_text(chunk.chapter_index, chunk.scene_index, labels),
            chunk.content_type,
            chunk.importance,
            marked_text(chunk, labels),
        )
        for chunk in chunks
    ]
    if not rows:
        print_text(labels.nothing)
        return
    print_table((labels.entity_id, labels.place, labels.kind, labels.importance, labels.text), rows, wide=4)


def marked_text(chunk: StoryMemoryChunk, labels: ViewLabels) -> str:
    """Return the text of a memory, and where something replaced it, what."""
    if chunk.superseded_by is None:
        return chunk.content
    return f"{chunk.content} {labels.outdated.format(source=chunk.superseded_by)}"
