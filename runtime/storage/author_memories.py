"""What authors do to memories: notes, edits, pins, bans, deletions. All of it survives re-ingest."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import select

from novelgen.errors import UnknownMemoryError
from novelgen.models.memory import StoryMemoryChunk
from novelgen.models.position import END_OF_STORY, StoryPosition
from runtime.storage.chunk_rows import STORED_SELECT, chunk_values, stored_memory_of, text_hash
from runtime.storage.chunk_writer import ChunkWriter
from runtime.storage.consolidation_links import require_not_consolidated
from runtime.storage.counters import CounterRepository
from runtime.storage.cuts import story_order
from runtime.storage.lexical_index import searchable_text
from runtime.storage.lexical_terms import index_tokens
from runtime.storage.memory_cuts import brought
from runtime.storage.positions import scene_ids_at
from runtime.storage.records import MemoryEdit, StoredMemory
from runtime.storage.session import StorageSession
from runtime.storage.tables import CHUNKS


class AuthorMemories:
    """Changes memories on the author's behalf.

    Args:
        session: The transaction to work in.
    """

    def __init__(self, session: StorageSession) -> None:
        self._session = session

    def get(self, project_id: str, chunk_id: str) -> StoredMemory | None:
        """Return a memory whatever its status, or None when there is none of that id."""
        row = self._session.connection.execute(
            STORED_SELECT.where(CHUNKS.c.project_id == project_id, CHUNKS.c.chunk_id == chunk_id)
        ).one_or_none()
        return None if row is None else stored_memory_of(row)

    def find(self, project_id: str, memory_id: str) -> StoredMemory | None:
        """Return a memory by its chunk_id, else the first in the story of that source_id, whatever its status.

        Consolidated memories are found by their chunk_id alone.
        """
        memory = self.get(project_id, memory_id)
        if memory is not None:
            return memory
        named = STORED_SELECT.where(
            CHUNKS.c.project_id == project_id,
            CHUNKS.c.source_id == memory_id,
            brought(project_id, END_OF_STORY),
        )
        rows = self._session.rows(named.order_by(*story_order(CHUNKS), CHUNKS.c.row_id).limit(1))
        return next(map(stored_memory_of, rows), None)

    def require(self, project_id: str, chunk_id: str) -> StoredMemory:
        """Return a memory whatever its status.

        Raises:
            UnknownMemoryError: When there is none of that id.
        """
        memory = self.get(project_id, chunk_id)
        if memory is None:
            raise _unknown(project_id, chunk_id)
        return memory

    def add_note(
        self,
        project_id: str,
        content: str,
        *,
        at: StoryPosition = END_OF_STORY,
        short: str | None = None,
        importance: int = 8,
        entities: Sequence[str] = (),
        tags: Sequence[str] = (),
    ) -> StoryMemoryChunk:
        """Add a note of the author.

        Args:
            project_id: The project.
            content: What holds.
            at: The scene or chapter that establishes it; it is read from the next one on. The default, no
                position, makes it canon that is read everywhere.
            short: Short form.
            importance: From 1 to 10.
            entities: Entity ids that it is about.
            tags: Tags.

        Returns:
            The note; its chunk_id and source_id are the same.

        Raises:
            UnknownProjectError: When no project of that id is stored.
        """
        self._session.touch(project_id)
        chunk_id = f"note-{CounterRepository(self._session).take(project_id, 'N')}"
        note = StoryMemoryChunk(
            chunk_id=chunk_id,
            project_id=project_id,
            chapter_index=at.chapter_index,
            scene_index=at.scene_index,
            content=content,
            content_type="note",
            entities_mentioned=list(entities),
            tags=list(tags),
            created_at=self._session.now(),
            short=short,
            importance=importance,
            source_id=chunk_id,
            origin="author",
        )
        place = (at.chapter_index, at.scene_index)
        scene_id = scene_ids_at(self._session, project_id, [place]).get(place)
        ChunkWriter(self._session, project_id).insert([note_values(note, scene_id)])
        return note

    def edit(self, project_id: str, chunk_id: str, edit: MemoryEdit) -> StoredMemory:
        """Change a memory; from then on it is the author's and no re-ingest touches it.

        A new content without a new short form drops the old short form, which told of the old content.

        Raises:
            UnknownMemoryError: When there is none of that id.
            UserInputError: When it is a consolidated memory, as for all that follows.
        """
        self._session.touch(project_id)
        old = self._changeable(project_id, chunk_id)
        changes = edit.model_dump(exclude_none=True)
        if "entities" in changes:
            changes["entities_mentioned"] = list(dict.fromkeys(changes.pop("entities")))
        if changes.get("content", old["content"]) != old["content"]:
            changes.setdefault("short", None)
        content, short = changes.get("content", old["content"]), changes.get("short", old["short"])
        changes |= {
            "origin": "author",
            "content_hash": text_hash(content, short),
            "term_count": len(index_tokens(searchable_text(content, short))),
        }
        ChunkWriter(self._session, project_id).update(old, changes)
        return self.require(project_id, chunk_id)

    def pin(self, project_id: str, chunk_id: str) -> StoredMemory:
        """Pin a memory: it is read with the tier "pinned"."""
        return self._set(project_id, chunk_id, {"pinned": True})

    def unpin(self, project_id: str, chunk_id: str) -> StoredMemory:
        """Unpin a memory."""
        return self._set(project_id, chunk_id, {"pinned": False})

    def ban(self, project_id: str, chunk_id: str) -> StoredMemory:
        """Ban a memory: it is kept and listed, but no search finds it."""
        return self._set(project_id, chunk_id, {"status": "banned"})

    def unban(self, project_id: str, chunk_id: str) -> StoredMemory:
        """Lift a ban, or bring a deleted memory back."""
        return self._set(project_id, chunk_id, {"status": "active"})

    def delete(self, project_id: str, chunk_id: str) -> StoredMemory:
        """Delete a memory; a tombstone stays so that re-ingest does not bring it back."""
        return self._set(project_id, chunk_id, {"status": "deleted"})

    def _set(self, project_id: str, chunk_id: str, values: dict[str, Any]) -> StoredMemory:
        self._session.touch(project_id)
        ChunkWriter(self._session, project_id).update(self._changeable(project_id, chunk_id), values)
        return self.require(project_id, chunk_id)

    def _changeable(self, project_id: str, chunk_id: str) -> dict[str, Any]:
        row = (
            self._session.connection.execute(
                select(CHUNKS).where(CHUNKS.c.project_id == project_id, CHUNKS.c.chunk_id == chunk_id)
            )
            .mappings()
            .one_or_none()
        )
        if row is None:
            raise _unknown(project_id, chunk_id)
        require_not_consolidated(self._session, row["row_id"], chunk_id)
        return dict(row)


def note_values(note: StoryMemoryChunk, scene_id: str | None) -> dict[str, Any]:
    """Return a memory that no scene brought as the columns of its row."""
    return chunk_values(note, note.entities_mentioned) | {
        "scene_id": scene_id,
        "from_scene": False,
        "chapter_index": note.chapter_index,
        "scene_index": note.scene_index,
        "created_at": note.created_at,
        "status": "active",
        "pinned": False,
    }


def _unknown(project_id: str, chunk_id: str) -> UnknownMemoryError:
    return UnknownMemoryError(
        f"no memory {chunk_id!r} is stored in project {project_id!r}; list them with `novelgen memory list`"
    )
