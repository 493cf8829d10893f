"""Reading memories as of a position."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Select, func, or_, select, tuple_

from novelgen.models.memory import CONSOLIDATED, WORDS_ONLY, ContentType, StoryMemoryChunk
from novelgen.models.position import END_OF_STORY, StoryPosition
from runtime.storage.author_memories import AuthorMemories
from runtime.storage.chunk_rows import CHUNK_SELECT, STORED_SELECT, chunk_of, stored_memory_of
from runtime.storage.cuts import before, story_order
from runtime.storage.filters import filter_conditions, linked_rows
from runtime.storage.memory_cuts import seen
from runtime.storage.records import MemoryFilter, MemoryStatus, StoredMemory
from runtime.storage.session import AnyRow, batches, own_rows
from runtime.storage.supersession import superseded_by
from runtime.storage.tables import CHUNKS

MAX_REPLACEMENTS = 50
"""So many steps from a replaced memory to the one that holds are followed; a slot's values are one step."""


class MemoryRepository(AuthorMemories):
    """Reads memories, and does what authors do to them (see `AuthorMemories`).

    Every memory that is read for a position has `superseded_by` set where something before that position
    replaced it. Banned and deleted ones are read by `get` and `list_matching` alone. Consolidated memories are
    read in the place of their sources (see `memory_cuts`).
    """

    def list_matching(
        self,
        project_id: str,
        memory_filter: MemoryFilter | None = None,
        *,
        limit: int | None = None,
        offset: int = 0,
    ) -> list[StoredMemory]:
        """Return memories in story order with what the author decided about them.

        Args:
            project_id: The project.
            memory_filter: Which; None means all active ones.
            limit: At most so many; None means all.
            offset: Leave out so many at the start.
        """
        statement = (
            STORED_SELECT.where(*filter_conditions(project_id, memory_filter or MemoryFilter()))
            .order_by(*story_order(CHUNKS), CHUNKS.c.row_id)
            .limit(limit)
            .offset(offset)
        )
        return [stored_memory_of(row) for row in own_rows(self._session.rows(statement), project_id)]

    def count(self, project_id: str, memory_filter: MemoryFilter | None = None) -> int:
        """Return how many memories fit a filter."""
        conditions = filter_conditions(project_id, memory_filter or MemoryFilter())
        return self._session.connection.execute(
            select(func.count()).select_from(CHUNKS).where(*conditions)
        ).scalar_one()

    def by_ids(
        self,
        project_id: str,
        chunk_ids: Sequence[str],
        *,
        as_of: StoryPosition = END_OF_STORY,
        with_sources: bool = False,
    ) -> list[StoryMemoryChunk]:
        """Return the active memories before a position in the order asked; the others are left out.

        Args:
            project_id: The project.
            chunk_ids: Which.
            as_of: Position of the read.
            with_sources: Also those that a consolidated memory stands for: the index holds all.
        """
        cut = before(as_of, CHUNKS) if with_sources else seen(project_id, as_of)
        wanted = self._session.among(CHUNKS.c.chunk_id, chunk_ids)
        found = self._session.rows(self._active(project_id).where(cut, wanted))
        rows = {row.chunk_id: row for row in found}
        ordered = [rows[chunk_id] for chunk_id in dict.fromkeys(chunk_ids) if chunk_id in rows]
        return self._chunks(project_id, ordered, as_of)

    def holding(
        self, project_id: str, chunks: Sequence[StoryMemoryChunk], *, as_of: StoryPosition = END_OF_STORY
    ) -> dict[str, StoryMemoryChunk]:
        """Return what holds at a position in the place of memories that something replaced.

        Args:
            project_id: The project.
            chunks: Memories as they were read at the position.
            as_of: Position of the read.

        Returns:
            Chunk id of each replaced memory to the last of the chain that replaced it; those are left out of which
            nothing that holds can be read.
        """
        pending = {chunk.chunk_id: chunk for chunk in chunks if chunk.superseded_by is not None}
        holding: dict[str, StoryMemoryChunk] = {}
        for _ in range(MAX_REPLACEMENTS):
            if not pending:
                break
            successors = self._successors(project_id, list(pending.values()), as_of)
            followed = {
                name: successors[chunk.chunk_id]
                for name, chunk in pending.items()
                if chunk.chunk_id in successors
            }
            holding |= {name: chunk for name, chunk in followed.items() if chunk.superseded_by is None}
            pending = {name: chunk for name, chunk in followed.items() if chunk.superseded_by is not None}
        return holding

    def filtered_ids(
        self, project_id: str, memory_filter: MemoryFilter | None = None, *, limit: int | None = None
    ) -> list[str]:
        """Return the chunk ids that fit a filter, newest in the story first."""
        chapter, scene = CHUNKS.c.chapter_index, CHUNKS.c.scene_index
        statement = (
            select(CHUNKS.c.chunk_id)
            .where(*filter_conditions(project_id, memory_filter or MemoryFilter()))
            .order_by(chapter.desc().nulls_last(), scene.desc().nulls_last(), CHUNKS.c.row_id)
            .limit(limit)
        )
        return list(self._session.connection.scalars(statement))

    def by_entities(
        self,
        project_id: str,
        entity_ids: Sequence[str],
        *,
        as_of: StoryPosition = END_OF_STORY,
        content_types: Sequence[ContentType] = (),
        limit: int = 100,
    ) -> list[StoryMemoryChunk]:
        """Return memories linked to any of the entities, the most important first, then the newest."""
        if not entity_ids:
            return []
        statement = self._visible(project_id, as_of).where(
            CHUNKS.c.row_id.in_(linked_rows(project_id, list(entity_ids)))
        )
        return self._weighty(project_id, statement, as_of, content_types, limit)

    def recent_high_signal(
        self,
        project_id: str,
        *,
        as_of: StoryPosition = END_OF_STORY,
        min_importance: int = 7,
        content_types: Sequence[ContentType] = ("memory", "note"),
        limit: int = 50,
    ) -> list[StoryMemoryChunk]:
        """Return important memories, the newest in the story first."""
        chapter, scene = CHUNKS.c.chapter_index, CHUNKS.c.scene_index
        statement = (
            self._visible(project_id, as_of)
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
        return self._chunks(project_id, self._session.rows(statement), as_of)

    def of_scenes(
        self,
        project_id: str,
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
                self._visible(project_id, as_of)
                .where(
                    CHUNKS.c.chapter_index.in_(chapters),
                    tuple_(CHUNKS.c.chapter_index, CHUNKS.c.scene_index).in_(batch),
                )
                .order_by(*story_order(CHUNKS), CHUNKS.c.row_id)
            )
            if content_types:
                statement = statement.where(CHUNKS.c.content_type.in_(content_types))
            rows += self._session.rows(statement)
        return self._chunks(project_id, rows, as_of)

    def index_ids(self, project_id: str, *, status: MemoryStatus = "active") -> set[str]:
        """Return the ids of all memories of a status that the vector index must hold, no more, no less."""
        statement = select(CHUNKS.c.chunk_id).where(
            CHUNKS.c.project_id == project_id,
            CHUNKS.c.status == status,
            CHUNKS.c.embedding_id.is_distinct_from(WORDS_ONLY),
        )
        return set(self._session.connection.scalars(statement))

    def mark_read(self, project_id: str, chunk_ids: Sequence[str]) -> None:
        """Note that memories were read now; the story does not count as changed."""
        self._session.run(
            CHUNKS.update()
            .where(CHUNKS.c.project_id == project_id, self._session.among(CHUNKS.c.chunk_id, chunk_ids))
            .values(last_accessed_at=self._session.now())
        )

    def _successors(
        self, project_id: str, replaced: Sequence[StoryMemoryChunk], as_of: StoryPosition
    ) -> dict[str, StoryMemoryChunk]:
        """Return what replaced each memory: where that has the same slot, the last of the slot."""
        among = self._session.among
        names = {chunk.superseded_by for chunk in replaced if chunk.superseded_by}
        found_by = [
            among(CHUNKS.c.slot_type, {chunk.slot_type for chunk in replaced if chunk.slot_type}),
            among(CHUNKS.c.supersedes, {chunk.source_id for chunk in replaced if chunk.source_id}),
            among(CHUNKS.c.chunk_id, names),
        ]
        if any(chunk.event_type == CONSOLIDATED for chunk in replaced):
            # What replaced its sources names one of them; source_ids have no index, so all are read for it.
            found_by.append(among(CHUNKS.c.source_id, names))
        statement = self._visible(project_id, as_of).where(or_(*found_by))
        rows = self._session.rows(statement.order_by(*story_order(CHUNKS), CHUNKS.c.row_id))
        found = self._chunks(project_id, rows, as_of)
        by_name = {each.source_id or each.chunk_id: each for each in found}
        last_of_slot = {each.slot_type: each for each in found if each.slot_type}
        successors: dict[str, StoryMemoryChunk] = {}
        for chunk in replaced:
            named = by_name.get(chunk.superseded_by or "")
            if named is not None and named.slot_type and named.slot_type == chunk.slot_type:
                named = last_of_slot[named.slot_type]
            if named is not None and named.chunk_id != chunk.chunk_id:
                successors[chunk.chunk_id] = named
        return successors

    def _weighty(
        self,
        project_id: str,
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
        return self._chunks(project_id, self._session.rows(ordered.limit(limit)), as_of)

    def _visible(self, project_id: str, as_of: StoryPosition) -> Select[Any]:
        return self._active(project_id).where(seen(project_id, as_of))

    def _active(self, project_id: str) -> Select[Any]:
        return CHUNK_SELECT.where(CHUNKS.c.project_id == project_id, CHUNKS.c.status == "active")

    def _chunks(
        self, project_id: str, rows: Sequence[AnyRow], as_of: StoryPosition
    ) -> list[StoryMemoryChunk]:
        own_rows(rows, project_id)
        replaced = superseded_by(self._session, project_id, rows, as_of)
        return [chunk_of(row, replaced.get(row[0])) for row in rows]
