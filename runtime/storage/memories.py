"""Reading memories as of a position."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Select, func, select, tuple_

from novelgen.models.memory import WORDS_ONLY, ContentType, StoryMemoryChunk
from novelgen.models.position import END_OF_STORY, StoryPosition
from runtime.storage.author_memories import AuthorMemories
from runtime.storage.chunk_rows import CHUNK_SELECT, STORED_SELECT, chunk_of, stored_memory_of
from runtime.storage.cuts import before, story_order
from runtime.storage.filters import filter_conditions, linked_rows
from runtime.storage.memory_cuts import seen
from runtime.storage.records import MemoryFilter, MemoryStatus, StoredMemory
from runtime.storage.session import AnyRow, batches
from runtime.storage.supersession import superseded_by
from runtime.storage.tables import CHUNKS


class MemoryRepository(AuthorMemories):
    """Reads memories, and does what authors do to them (see `AuthorMemories`).

    Every memory that is read for a position has `superseded_by` set where something before that position
    replaced it. Banned and deleted ones are read by `get` and `list_matching` alone. Consolidated memories are
    read in the place of their sources (see `memory_cuts`).
    """

    def list_matching(
        self,
        memory_filter: MemoryFilter | None = None,
        *,
        limit: int | None = None,
        offset: int = 0,
    ) -> list[StoredMemory]:
        """Return memories in story order with what the author decided about them.

        Args:
            memory_filter: Which; None means all active ones.
            limit: At most so many; None means all.
            offset: Leave out so many at the start.
        """
        statement = (
            STORED_SELECT.where(*filter_conditions(self._session.project_id, memory_filter or MemoryFilter()))
            .order_by(*story_order(CHUNKS), CHUNKS.c.row_id)
            .limit(limit)
            .offset(offset)
        )
        return [stored_memory_of(row) for row in self._session.own(self._session.rows(statement))]

    def count(self, memory_filter: MemoryFilter | None = None) -> int:
        """Return how many memories fit a filter."""
        conditions = filter_conditions(self._session.project_id, memory_filter or MemoryFilter())
        return self._session.connection.execute(
            select(func.count()).select_from(CHUNKS).where(*conditions)
        ).scalar_one()

    def by_ids(
        self,
        chunk_ids: Sequence[str],
        *,
        as_of: StoryPosition = END_OF_STORY,
        with_sources: bool = False,
    ) -> list[StoryMemoryChunk]:
        """Return the active memories before a position in the order asked; the others are left out.

        Args:
            chunk_ids: Which.
            as_of: Position of the read.
            with_sources: Also those that a consolidated memory stands for: the index holds all.
        """
        cut = before(as_of, CHUNKS) if with_sources else seen(self._session.project_id, as_of)
        wanted = self._session.among(CHUNKS.c.chunk_id, chunk_ids)
        found = self._session.rows(self._active().where(cut, wanted))
        rows = {row.chunk_id: row for row in found}
        ordered = [rows[chunk_id] for chunk_id in dict.fromkeys(chunk_ids) if chunk_id in rows]
        return self._chunks(ordered, as_of)

    def filtered_ids(
        self, memory_filter: MemoryFilter | None = None, *, limit: int | None = None
    ) -> list[str]:
        """Return the chunk ids that fit a filter, newest in the story first."""
        chapter, scene = CHUNKS.c.chapter_index, CHUNKS.c.scene_index
        statement = (
            select(CHUNKS.c.chunk_id)
            .where(*filter_conditions(self._session.project_id, memory_filter or MemoryFilter()))
            .order_by(chapter.desc().nulls_last(), scene.desc().nulls_last(), CHUNKS.c.row_id)
            .limit(limit)
        )
        return list(self._session.connection.scalars(statement))

    def by_entities(
        self,
        entity_ids: Sequence[str],
        *,
        as_of: StoryPosition = END_OF_STORY,
        content_types: Sequence[ContentType] = (),
        limit: int = 100,
    ) -> list[StoryMemoryChunk]:
        """Return memories linked to any of the entities, the most important first, then the newest."""
        if not entity_ids:
            return []
        statement = self._visible(as_of).where(
            CHUNKS.c.row_id.in_(linked_rows(self._session.project_id, list(entity_ids)))
        )
        return self._weighty(statement, as_of, content_types, limit)

    def recent_high_signal(
        self,
        *,
        as_of: StoryPosition = END_OF_STORY,
        min_importance: int = 7,
        content_types: Sequence[ContentType] = ("memory", "note"),
        limit: int = 50,
    ) -> list[StoryMemoryChunk]:
        """Return important memories, the newest in the story first."""
        chapter, scene = CHUNKS.c.chapter_index, CHUNKS.c.scene_index
        statement = (
            self._visible(as_of)
            # + 0 keeps SQLite from reading all that is important by its index: the newest few are wanted.
            .where(CHUNKS.c.importance + 0 >= min_importance, CHUNKS.c.content_type.in_(content_types))
            .order_by(
                chapter.desc().nulls_last(),
                scene.desc().nulls_last(),
                CHUNKS.c.importance.desc(),
                CHUNKS.c.row_id,
            )
            .limit(limit)
        )
        return self._chunks(self._session.rows(statement), as_of)

    def of_scenes(
        self,
        places: Sequence[tuple[int, int]],
        *,
        as_of: StoryPosition = END_OF_STORY,
        content_types: Sequence[ContentType] = (),
    ) -> list[StoryMemoryChunk]:
        """Return the memories of scenes, given as (chapter_index, scene_index), in story order."""
        rows: list[AnyRow] = []
        for batch in batches(sorted(set(places))):
            # SQLite finds no pair by its index, but chapters.
            chapters = sorted({chapter for chapter, _ in batch})
            statement = (
                self._visible(as_of)
                .where(
                    CHUNKS.c.chapter_index.in_(chapters),
                    tuple_(CHUNKS.c.chapter_index, CHUNKS.c.scene_index).in_(batch),
                )
                .order_by(*story_order(CHUNKS), CHUNKS.c.row_id)
            )
            if content_types:
                statement = statement.where(CHUNKS.c.content_type.in_(content_types))
            rows += self._session.rows(statement)
        return self._chunks(rows, as_of)

    def index_ids(self, *, status: MemoryStatus = "active") -> set[str]:
        """Return the ids of all memories of a status that the vector index must hold, no more, no less."""
        statement = select(CHUNKS.c.chunk_id).where(
            self._session.owns(CHUNKS),
            CHUNKS.c.status == status,
            CHUNKS.c.embedding_id.is_distinct_from(WORDS_ONLY),
        )
        return set(self._session.connection.scalars(statement))

    def mark_read(self, chunk_ids: Sequence[str]) -> None:
        """Note that memories were read now; the story does not count as changed."""
        self._session.run(
            CHUNKS.update()
            .where(
                self._session.owns(CHUNKS),
                self._session.among(CHUNKS.c.chunk_id, chunk_ids),
            )
            .values(last_accessed_at=self._session.now())
        )

    def _weighty(
        self,
        statement: Select[Any],
        as_of: StoryPosition,
        content_types: Sequence[ContentType],
        limit: int,
    ) -> list[StoryMemoryChunk]:
        if content_types:
            statement = statement.where(CHUNKS.c.content_type.in_(content_types))
        chapter, scene = CHUNKS.c.chapter_index, CHUNKS.c.scene_index
        ordered = statement.order_by(
            CHUNKS.c.importance.desc(),
            chapter.desc().nulls_last(),
            scene.desc().nulls_last(),
            CHUNKS.c.row_id,
        )
        return self._chunks(self._session.rows(ordered.limit(limit)), as_of)

    def _visible(self, as_of: StoryPosition) -> Select[Any]:
        return self._active().where(seen(self._session.project_id, as_of))

    def _active(self) -> Select[Any]:
        return CHUNK_SELECT.where(self._session.owns(CHUNKS), CHUNKS.c.status == "active")

    def _chunks(self, rows: Sequence[AnyRow], as_of: StoryPosition) -> list[StoryMemoryChunk]:
        self._session.own(rows)
        replaced = superseded_by(self._session, rows, as_of)
        return [chunk_of(row, replaced.get(row[0])) for row in rows]
