"""Consolidated memories: storing them with links to their sources, and taking them back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import Field
from sqlalchemy import ColumnElement, Select, select

from novelgen.errors import UnknownMemoryError
from novelgen.models.base import Model
from novelgen.models.memory import StoryMemoryChunk
from novelgen.models.position import END_OF_STORY
from runtime.storage.chunks import CHUNK_COLUMNS, IN_ORDER, ChunkWriter, chunk_of, note_values, superseded_by, text_hash
from runtime.storage.session import Repository, grouped, linked_rows, story_order
from runtime.storage.tables import CHUNKS, CONSOLIDATION_SOURCES


class StoredConsolidation(Model):
    """A consolidated memory and the memories that it stands for."""

    chunk: StoryMemoryChunk
    source_ids: list[str] = Field(description="Chunk ids in story order.")


class ConsolidationRepository(Repository):
    """Writes, reads and takes back consolidated memories.

    The sources stay as they are, in SQL and in the index; `session.visible` decides which a read sees. `ChunkWriter`
    withdraws a consolidated memory by itself when a source changes, goes or moves.
    """

    def live(self) -> list[StoryMemoryChunk]:
        """Return the distilled memories that a read at the end of the story sees, in story order.

        Whatever an author touched has the author as its origin.
        """
        rows = self._session.select(
            [*CHUNK_COLUMNS, CHUNKS.c.from_scene],
            CHUNKS.c.status == "active",
            CHUNKS.c.content_type == "memory",
            CHUNKS.c.row_id.not_in(_source_rows(self._session.project_id)),
            order=IN_ORDER,
        )
        replaced = superseded_by(self._session, rows, END_OF_STORY)
        chunks = [chunk_of(row, replaced.get(row.chunk_id)) for row in rows]
        for row, chunk in zip(rows, chunks, strict=True):
            if _is_authors(dict(row._mapping)):
                chunk.origin = "author"
        return chunks

    def add(self, chunk: StoryMemoryChunk, sources: Sequence[StoryMemoryChunk]) -> bool:
        """Store a consolidated memory at the position of its last source."""
        self._session.touch()
        rows = self._unchanged(sources)
        if rows is None or self._session.value(CHUNKS.c.row_id, CHUNKS.c.chunk_id == chunk.chunk_id) is not None:
            return False
        last = rows[-1]
        place = {"chapter_index": last["chapter_index"], "scene_index": last["scene_index"]}
        placed = chunk.model_copy(update=place | {"is_consolidated": True})
        ChunkWriter(self._session).insert([note_values(placed, last["scene_id"])])
        number = self._session.value(CHUNKS.c.row_id, CHUNKS.c.chunk_id == chunk.chunk_id)
        links = [{"source_row_id": row["row_id"], "consolidated_row_id": number} for row in rows]
        self._session.insert(CONSOLIDATION_SOURCES, links)
        return True

    def list_all(self) -> list[StoredConsolidation]:
        """Return all consolidated memories in story order."""
        sources = self._source_ids()
        rows = self._session.select(CHUNK_COLUMNS, self._session.among(CHUNKS.c.chunk_id, sources), order=IN_ORDER)
        return [StoredConsolidation(chunk=chunk_of(row), source_ids=sources[row.chunk_id]) for row in rows]

    def stands_for(self) -> dict[str, list[str]]:
        """Return, by chunk id of each consolidated memory, the source ids of what it stands for."""
        sources = self._source_ids()
        ids = [each for chunk_ids in sources.values() for each in chunk_ids]
        names = self._session.pairs(CHUNKS.c.chunk_id, CHUNKS.c.source_id, self._session.among(CHUNKS.c.chunk_id, ids))
        return {each: [names[source] or source for source in chunk_ids] for each, chunk_ids in sources.items()}

    def undo(self, chunk_id: str) -> None:
        """Take a consolidated memory back; its sources are seen again."""
        self._session.touch()
        if not self._take_back(CHUNKS.c.chunk_id == chunk_id):
            raise UnknownMemoryError(
                f"no consolidated memory {chunk_id!r} is stored in project {self._session.project_id!r}; "
                f"list them with `novelgen memory consolidated {self._session.project_id}`"
            )

    def undo_all(self) -> list[str]:
        """Take all consolidated memories back and return their ids."""
        self._session.touch()
        return self._take_back()

    def withdraw_linked(self, entity_ids: Sequence[str]) -> list[str]:
        """Take back what is linked to entities that are about to change; their sources are relinked alone."""
        return self._take_back(CHUNKS.c.row_id.in_(linked_rows(self._session.project_id, list(entity_ids))))

    def _take_back(self, *conditions: ColumnElement[bool]) -> list[str]:
        rows = self._session.select(CHUNKS, CHUNKS.c.is_consolidated, *conditions, order=[CHUNKS.c.row_id])
        ChunkWriter(self._session).remove([dict(row._mapping) for row in rows])
        return [row.chunk_id for row in rows]

    def _unchanged(self, sources: Sequence[StoryMemoryChunk]) -> list[dict[str, Any]] | None:
        """The rows of sources in story order, or None when they cannot be consolidated any more."""
        read = {source.chunk_id: text_hash(source.content, source.short) for source in sources}
        found = self._session.select(
            CHUNKS,
            CHUNKS.c.status == "active",
            CHUNKS.c.scene_id.is_not(None),
            CHUNKS.c.scene_index.is_not(None),
            self._session.among(CHUNKS.c.chunk_id, read),
            CHUNKS.c.row_id.not_in(_source_rows(self._session.project_id)),
            order=IN_ORDER,
        )
        rows = [dict(row._mapping) for row in found]
        fitting = [
            row
            for row in rows
            if row["content_hash"] == read[row["chunk_id"]] and not row["is_consolidated"] and not _is_authors(row)
        ]
        return fitting if fitting and len(fitting) == len(read) else None

    def _source_ids(self) -> dict[str, list[str]]:
        consolidated = CHUNKS.alias("consolidated")
        links = CONSOLIDATION_SOURCES
        statement = (
            select(consolidated.c.chunk_id.label("consolidated_id"), CHUNKS.c.chunk_id)
            .select_from(links)
            .join(consolidated, consolidated.c.row_id == links.c.consolidated_row_id)
            .join(CHUNKS, CHUNKS.c.row_id == links.c.source_row_id)
            .where(self._session.owns(links))
            .order_by(*story_order(CHUNKS), CHUNKS.c.row_id)
        )
        found = grouped(self._session.rows(statement), "consolidated_id")
        return {name: [row.chunk_id for row in rows] for name, rows in found.items()}


def _source_rows(project_id: str) -> Select[tuple[int]]:
    return select(CONSOLIDATION_SOURCES.c.source_row_id).where(CONSOLIDATION_SOURCES.c.project_id == project_id)


def _is_authors(row: Mapping[str, Any]) -> bool:
    """Whether an author wrote, edited, pinned or attached the memory."""
    by_hand = row["origin"] == "author" or row["pinned"] or row["attached"] or row["detached"]
    return bool(by_hand) or not row["from_scene"]
