"""Reads, edits and attachments of memories."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Literal, TypedDict, Unpack

from sqlalchemy import Text, cast, func, literal_column, tuple_
from sqlmodel import col, or_

from novelgen.errors import UnknownMemoryError, UserInputError
from novelgen.language.matching import NameFinder
from novelgen.language.resolver import NameResolver
from novelgen.memory.note_keys import KEY_TAG
from novelgen.models.memory import (
    BOOK,
    DISTILLED_TYPES,
    Attachment,
    ContentType,
    StoryMemoryChunk,
    chapter_of_target,
    chapter_target,
    is_entity_target,
)
from novelgen.models.position import END_OF_STORY, StoryPosition, sort_key, story_place
from runtime.storage.chunks import (
    CHUNK_COLUMNS,
    IN_ORDER,
    ChunkWriter,
    chunk_of,
    entities_linked,
    note_values,
    require_not_consolidated,
    stored_memories,
    superseded_by,
    text_values,
)
from runtime.storage.columns import MemoryStatus, ScenePlace
from runtime.storage.entities import EntityRepository, with_masks
from runtime.storage.models import MemoryEdit, MemoryFilter, StoredMemory
from runtime.storage.placed_notes import placed_notes
from runtime.storage.projects import CounterRepository
from runtime.storage.records import TOUCHED_BY_HAND, MemoryLink, MemoryRow
from runtime.storage.session import (
    AnyRow,
    Repository,
    SelectOptions,
    batches,
    before,
    columns_of,
    filter_conditions,
    linked_rows,
    linked_to,
    said_at,
    unconsolidated,
    visible,
)
from runtime.storage.terms import searchable_text

_NEWEST_FIRST = (col(MemoryRow.chapter_index).desc().nulls_last(), col(MemoryRow.scene_index).desc().nulls_last())

_INDEXABLE = (MemoryRow.status == "active", col(MemoryRow.is_indexed))

MAX_RECENT = 50
"""So many important memories are read as the newest ones."""


NOTE_IMPORTANCE = 8
"""Weight of a note of which nobody says how much it matters."""


class OptionalNoteFields(TypedDict, total=False):
    """Optional fields of a memory that a note may have; None says nothing of one."""

    importance: int | None
    short: str | None
    event_type: str | None
    source_span: tuple[int, int] | None
    slot_type: str | None
    supersedes: str | None


MemoryDecision = Literal["pin", "unpin", "ban", "unban", "delete"]

DECISIONS: Mapping[MemoryDecision, Mapping[str, Any]] = {
    "pin": {"pinned": True},
    "unpin": {"pinned": False},
    "ban": {"status": "banned"},
    "unban": {"status": "active"},
    "delete": {"status": "deleted"},
}
"""What is written for each: a pinned memory is read with the tier "pinned", a banned one is kept and listed but never
found, and of a deleted one a tombstone stays, so that re-ingest does not bring it back."""


class MemoryRepository(Repository):
    """Reads memories, and changes them on the author's behalf.

    Every memory that is read for a position has `superseded_by` set where something before that position
    replaced it. Banned and deleted ones are read by `get` and `list_matching` alone. Consolidated memories are
    read in the place of their sources (see `session.visible`).
    """

    def get(self, chunk_id: str) -> StoredMemory | None:
        """Return a memory whatever its status, or None when there is none of that id."""
        return next(iter(stored_memories(self._session, MemoryRow.chunk_id == chunk_id)), None)

    def find(self, memory_id: str) -> StoredMemory | None:
        """Return a memory by its chunk_id, else the first in the story of that source_id, whatever its status.

        Consolidated memories are found by their chunk_id alone.
        """
        memory = self.get(memory_id)
        if memory is not None:
            return memory
        as_brought = unconsolidated(self.project_id, END_OF_STORY)
        memories = stored_memories(self._session, MemoryRow.source_id == memory_id, as_brought, limit=1)
        return next(iter(memories), None)

    def queue_up(self) -> None:
        """Count a write before anything is read: until the transaction ends no other writer changes the project."""
        self._session.touch()

    def notes_in_slot(self, slot_type: str, *, as_of: StoryPosition = END_OF_STORY) -> list[StoredMemory]:
        """Return the active notes of a slot that lie before a position, in story order: the last one holds."""
        is_note = (MemoryRow.slot_type == slot_type, MemoryRow.content_type == "note", MemoryRow.status == "active")
        return stored_memories(self._session, *is_note, before(as_of, MemoryRow))

    def notes_with_text(self, content: str, *, at: StoryPosition) -> list[StoredMemory]:
        """Return the active notes of the same words that are read from the same place on."""
        is_note = (MemoryRow.content == content, MemoryRow.content_type == "note", MemoryRow.status == "active")
        return [
            memory
            for memory in stored_memories(self._session, *is_note)
            if (memory.chunk.chapter_index, memory.chunk.scene_index) == (at.chapter_index, at.scene_index)
        ]

    def unknown_sources(self, source_ids: Sequence[str], *, as_of: StoryPosition) -> list[str]:
        """Return those of some source_ids that no memory before a position has, sorted."""
        return sorted(set(source_ids) - self._sources_among(source_ids, before(as_of, MemoryRow)))

    def sources_elsewhere(self, source_ids: Sequence[str], *, at: StoryPosition) -> list[str]:
        """Return those of some source_ids that a memory of another scene has, sorted."""
        elsewhere = or_(MemoryRow.chapter_index != at.chapter_index, MemoryRow.scene_index != at.scene_index)
        return sorted(self._sources_among(source_ids, elsewhere))

    def _sources_among(self, source_ids: Sequence[str], condition: Any) -> set[str]:
        if not source_ids:
            return set()
        named_condition = self._session.among(MemoryRow.source_id, source_ids)
        return set(self._session.values(MemoryRow.source_id, named_condition, condition))

    def require(self, chunk_id: str) -> StoredMemory:
        """Return a memory whatever its status."""
        memory = self.get(chunk_id)
        if memory is None:
            raise _unknown_memory(self.project_id, chunk_id)
        return memory

    def add_note(
        self,
        content: str,
        *,
        at: StoryPosition = END_OF_STORY,
        entities: Sequence[str] = (),
        mentioned: Sequence[str] = (),
        tags: Sequence[str] = (),
        follows_scene: bool = True,
        **fields: Unpack[OptionalNoteFields],
    ) -> StoryMemoryChunk:
        """Add an author's note at a place."""
        self._session.touch()
        said_fields: dict[str, Any] = {name: value for name, value in fields.items() if value is not None}
        chunk_id = f"note-{CounterRepository(self._session).take('N')}"
        note = StoryMemoryChunk(
            chunk_id=chunk_id,
            project_id=self.project_id,
            chapter_index=at.chapter_index,
            scene_index=at.scene_index,
            content=content,
            content_type="note",
            entities_mentioned=list(dict.fromkeys([*entities, *mentioned])),
            tags=list(tags),
            created_at=self._session.now(),
            source_id=chunk_id,
            origin="author",
            **{"importance": NOTE_IMPORTANCE} | said_fields,
        )
        here = said_at(self._session, at, follows_scene=follows_scene) | {"attached": list(entities)}
        ChunkWriter(self._session).insert([note_values(note, None) | here])
        return note

    def edit(self, chunk_id: str, edit: MemoryEdit) -> StoredMemory:
        """Edit a memory, which then belongs to the author.

        A new content without a new short form drops the old short form, which told of the old content.
        """
        self._session.touch()
        old = self._changeable(chunk_id)
        changes = edit.model_dump(exclude_none=True)
        if "entities" in changes:
            changes["entities_mentioned"] = list(dict.fromkeys(changes.pop("entities")))
        if "source_span" in changes:
            span = changes.pop("source_span")
            changes["span_start"], changes["span_end"] = (None, None) if span == "none" else span
        if changes.get("content", old["content"]) != old["content"]:
            changes.setdefault("short", None)
        changes |= {"origin": "author", **text_values({**old, **changes})}
        ChunkWriter(self._session).update([(old, changes)])
        return self.require(chunk_id)

    def move_note(self, chunk_id: str, *, at: StoryPosition, follows_scene: bool) -> None:
        """Let a note stand at another place, where it goes with the scene or keeps its place between the scenes."""
        row = self._changeable(chunk_id)
        over = row["over_at"]
        # What would be over before it begins is not over any more.
        ending = {} if over is None or sort_key(*over) > story_place(at) else {"over_at": None}
        here = said_at(self._session, at, follows_scene=follows_scene)
        ChunkWriter(self._session).update([(row, here | ending)])

    def set_slot(self, chunk_id: str, slot_type: str | None, *, supersedes: str | None) -> None:
        """Set which slot a note fills, and which note at its place it replaces."""
        row = self._changeable(chunk_id)
        if (row["slot_type"], row["supersedes"]) != (slot_type, supersedes):
            ChunkWriter(self._session).update([(row, {"slot_type": slot_type, "supersedes": supersedes})])

    def set_ended(self, chunk_id: str, ended_id: str | None, *, by_author: Sequence[str]) -> None:
        """Set the earlier memory that a note ends by its words, and those by its author's."""
        changes = {"supersedes": ended_id, "also_supersedes": list(by_author)}
        ChunkWriter(self._session).update([(self._changeable(chunk_id), changes)])

    def set_over(self, chunk_id: str, place: StoryPosition) -> StoredMemory:
        """Set the place after which a memory is over, by its author."""
        self._session.touch()
        changes = {"over_at": [place.chapter_index, place.scene_index], "origin": "author"}
        ChunkWriter(self._session).update([(self._changeable(chunk_id), changes)])
        return self.require(chunk_id)

    def decide(self, chunk_id: str, decision: MemoryDecision) -> StoredMemory:
        """Apply an author's decision on a memory."""
        self._session.touch()
        ChunkWriter(self._session).update([(self._changeable(chunk_id), dict(DECISIONS[decision]))])
        return self.require(chunk_id)

    def forget_words(self) -> None:
        """Take all memories of the project out of the index of words, for they are about to go."""
        ChunkWriter(self._session).forget_words()

    def _changeable(self, chunk_id: str) -> dict[str, Any]:
        row = self._session.first(MemoryRow, MemoryRow.chunk_id == chunk_id)
        if row is None:
            raise _unknown_memory(self.project_id, chunk_id)
        require_not_consolidated(self._session, row, chunk_id)
        return row.columns()

    def list_matching(
        self, memory_filter: MemoryFilter | None = None, *, limit: int | None = None
    ) -> list[StoredMemory]:
        """Return memories in story order, with the author's decisions."""
        return stored_memories(self._session, *self._conditions(memory_filter), limit=limit)

    def count(self, memory_filter: MemoryFilter | None = None) -> int:
        """Return how many memories fit a filter."""
        return self._session.count(MemoryRow, *self._conditions(memory_filter))

    def by_ids(
        self,
        chunk_ids: Sequence[str],
        *,
        as_of: StoryPosition = END_OF_STORY,
        with_sources: bool = False,
        is_bare: bool = False,
    ) -> list[StoryMemoryChunk]:
        """Return active memories before a position, in the given order, bare as `by_entities` has it if wanted."""
        condition = before(as_of, MemoryRow) if with_sources else visible(self.project_id, as_of)
        rows = {
            row.chunk_id: row for row in self._active(condition, self._session.among(MemoryRow.chunk_id, chunk_ids))
        }
        ordered = [rows[chunk_id] for chunk_id in dict.fromkeys(chunk_ids) if chunk_id in rows]
        return self._chunks(ordered, as_of, is_bare=is_bare)

    def contents(self, chunk_ids: Sequence[str]) -> dict[str, str]:
        """Return the texts of active memories by id."""
        named_condition = self._session.among(MemoryRow.chunk_id, chunk_ids)
        return self._session.pairs(
            MemoryRow.chunk_id, col(MemoryRow.content), MemoryRow.status == "active", named_condition
        )

    def current_versions(
        self, chunks: Sequence[StoryMemoryChunk], *, as_of: StoryPosition = END_OF_STORY
    ) -> dict[str, StoryMemoryChunk]:
        """Return the present facts in place of superseded memories."""
        pending = {chunk.chunk_id: chunk for chunk in chunks if chunk.superseded_by is not None}
        holding: dict[str, StoryMemoryChunk] = {}
        steps = 0
        while pending and (steps := steps + 1) <= MAX_REPLACEMENTS:
            successors = self._successors(list(pending.values()), as_of)
            followed = {name: memory for name, chunk in pending.items() if (memory := successors.get(chunk.chunk_id))}
            holding |= {name: chunk for name, chunk in followed.items() if chunk.superseded_by is None}
            pending = {name: chunk for name, chunk in followed.items() if chunk.superseded_by is not None}
        return holding

    def filtered_ids(self, memory_filter: MemoryFilter | None = None, *, limit: int | None = None) -> list[str]:
        """Return the chunk ids that fit a filter, newest in the story first."""
        order = (*_NEWEST_FIRST, col(MemoryRow.row_id))
        return self._session.values(MemoryRow.chunk_id, *self._conditions(memory_filter), order=order, limit=limit)

    def by_entities(
        self,
        entity_ids: Sequence[str],
        *,
        as_of: StoryPosition = END_OF_STORY,
        content_types: Sequence[ContentType] = (),
        limit: int = 100,
        is_bare: bool = False,
    ) -> list[StoryMemoryChunk]:
        """Return memories linked to any of the entities, the most important first, then the newest.

        Args:
            entity_ids: Any of these.
            as_of: Only memories strictly before it.
            content_types: Only these kinds; none means all.
            limit: At most so many.
            is_bare: Leave out what has replaced them and the entities they are attached to, for one who reads them
                again by their ids.
        """
        if not entity_ids:
            return []
        wanted_memory_filter = with_masks(self._session, MemoryFilter(as_of=as_of, entities=list(entity_ids)))
        linked_condition = linked_to(self.project_id, wanted_memory_filter.entities)
        order = (col(MemoryRow.importance).desc(), *_NEWEST_FIRST, col(MemoryRow.row_id))
        rows = self._active(
            visible(self.project_id, as_of), linked_condition, *_of_types(content_types), order=order, limit=limit
        )
        return self._chunks(rows, as_of, is_bare=is_bare)

    def recent_high_signal(
        self, *, as_of: StoryPosition = END_OF_STORY, min_importance: int = 7
    ) -> list[StoryMemoryChunk]:
        """Return important memories and notes, the newest in the story first, bare as `by_entities` has it."""
        rows = self._active(
            visible(self.project_id, as_of),
            # + 0 keeps SQLite from reading all that is important by its index: the newest few are wanted.
            col(MemoryRow.importance) + 0 >= min_importance,
            col(MemoryRow.content_type).in_(("memory", "note")),
            order=(*_NEWEST_FIRST, col(MemoryRow.importance).desc(), col(MemoryRow.row_id)),
            limit=MAX_RECENT,
        )
        return self._chunks(rows, as_of, is_bare=True)

    def distilled_before(self, as_of: StoryPosition, *, most: int) -> list[StoryMemoryChunk]:
        """Return all memories and notes before a position in story order; none where there are more than `most`."""
        distilled = _of_types(DISTILLED_TYPES)
        rows = self._active(visible(self.project_id, as_of), *distilled, order=IN_ORDER, limit=most + 1)
        return self._chunks(rows, as_of) if len(rows) <= most else []

    def pinned_or_keyed_notes(self, *, as_of: StoryPosition = END_OF_STORY) -> list[StoryMemoryChunk]:
        """Return the author's notes before a position that are pinned or have keys, bare, in story order."""
        rows = self._active(
            visible(self.project_id, as_of),
            literal_column(f"({TOUCHED_BY_HAND})"),
            MemoryRow.content_type == "note",
            or_(col(MemoryRow.pinned), cast(col(MemoryRow.tags), Text).like(f'%"{KEY_TAG}%')),
            order=IN_ORDER,
        )
        return self._chunks(rows, as_of, is_bare=True)

    def of_scenes(
        self,
        places: Sequence[tuple[int, int]],
        *,
        as_of: StoryPosition = END_OF_STORY,
        content_types: Sequence[ContentType] = (),
        statuses: Sequence[MemoryStatus] = ("active",),
        as_brought: bool = False,
        is_bare: bool = False,
    ) -> list[StoryMemoryChunk]:
        """Return the memories of scenes in story order, bare as `by_entities` has it if wanted."""
        cut_function = unconsolidated if as_brought else visible
        rows: list[AnyRow] = []
        for batch in batches(sorted(set(places))):
            # SQLite finds no pair by its index, but chapters.
            chapters = sorted({chapter for chapter, _ in batch})
            here = tuple_(col(MemoryRow.chapter_index), col(MemoryRow.scene_index)).in_(batch)
            conditions = (
                col(MemoryRow.status).in_(statuses),
                cut_function(self.project_id, as_of),
                *_of_types(content_types),
            )
            of_chapters = col(MemoryRow.chapter_index).in_(chapters)
            rows += self._session.select(CHUNK_COLUMNS, *conditions, of_chapters, here, order=IN_ORDER)
        return self._chunks(rows, as_of, is_bare=is_bare)

    def notes_of_scene(
        self, place: ScenePlace, *, as_of: StoryPosition = END_OF_STORY, statuses: Sequence[MemoryStatus] = ("active",)
    ) -> list[StoryMemoryChunk]:
        """Return the author's notes of a scene as they are read at a position, in story order."""
        ids = [note.row_id for note, scene in placed_notes(self._session, as_of, statuses) if scene == place]
        rows = [
            row
            for batch in batches(ids)
            for row in self._session.select(CHUNK_COLUMNS, col(MemoryRow.row_id).in_(batch), order=IN_ORDER)
        ]
        return self._chunks(rows, as_of)

    def passages_of(self, scene_ids: Sequence[str]) -> dict[str, dict[tuple[int, int], str]]:
        """Return the passages of scenes that no author rewrote, by the scene's id: characters [start, end) and id."""
        results: dict[str, dict[tuple[int, int], str]] = {scene_id: {} for scene_id in scene_ids}
        columns = columns_of(MemoryRow, ("scene_id", "chunk_id", "span_start", "span_end"))
        is_passage = (col(MemoryRow.from_scene), MemoryRow.origin == "text", MemoryRow.status == "active")
        here = self._session.among(MemoryRow.scene_id, scene_ids)
        for row in self._session.select(columns, here, *is_passage, order=[col(MemoryRow.span_start)]):
            results[row.scene_id][row.span_start, row.span_end] = row.chunk_id
        return results

    def by_source_ids(
        self, source_ids: Sequence[str], *, as_of: StoryPosition = END_OF_STORY
    ) -> dict[str, StoryMemoryChunk]:
        """Return the active memories before a position that have one of some source_ids, each by its own.

        Also those that a consolidated memory stands for; of several with one source_id the first in the story.
        """
        if not source_ids:
            return {}
        wanted_condition = self._session.among(MemoryRow.source_id, source_ids)
        rows = self._active(before(as_of, MemoryRow), wanted_condition, ~col(MemoryRow.is_consolidated), order=IN_ORDER)
        memories_by_id: dict[str, StoryMemoryChunk] = {}
        for chunk in self._chunks(rows, as_of):
            memories_by_id.setdefault(chunk.memory_id, chunk)
        return memories_by_id

    def index_ids(self) -> set[str]:
        """Return the ids of all active memories that the vector index must hold, no more, no less."""
        return set(self._session.values(MemoryRow.chunk_id, *_INDEXABLE))

    def count_indexable(self) -> int:
        """Return how many `index_ids` there are."""
        return self._session.count(MemoryRow, *_INDEXABLE)

    def mark_read(self, chunk_ids: Sequence[str]) -> None:
        """Record a read of memories, without a story change."""
        self._session.update(
            MemoryRow, self._session.among(MemoryRow.chunk_id, chunk_ids), last_accessed_at=self._session.now()
        )

    def read_moments(self, chunk_ids: Sequence[str]) -> dict[str, datetime]:
        """Return the last read times of memories, without unread ones."""
        named_condition = self._session.among(MemoryRow.chunk_id, chunk_ids)
        moment = col(MemoryRow.last_accessed_at)
        return self._session.pairs(MemoryRow.chunk_id, moment, named_condition, moment.is_not(None))

    def _successors(
        self, replaced_memories: Sequence[StoryMemoryChunk], as_of: StoryPosition
    ) -> dict[str, StoryMemoryChunk]:
        """Return each memory's successor, the last of its slot."""
        among = self._session.among
        names = {chunk.superseded_by for chunk in replaced_memories if chunk.superseded_by}
        conditions = [
            among(MemoryRow.slot_type, {chunk.slot_type for chunk in replaced_memories if chunk.slot_type}),
            among(MemoryRow.source_id, names),
            among(MemoryRow.chunk_id, names),
        ]
        rows = self._active(visible(self.project_id, as_of), or_(*conditions), order=IN_ORDER)
        memories = self._chunks(rows, as_of)
        by_name = {memory.memory_id: memory for memory in memories}
        last_of_slot = {memory.slot_type: memory for memory in memories if memory.slot_type}
        successors: dict[str, StoryMemoryChunk] = {}
        for chunk in replaced_memories:
            named_memory = by_name.get(chunk.superseded_by or "")
            if named_memory is not None and named_memory.slot_type and named_memory.slot_type == chunk.slot_type:
                named_memory = last_of_slot[named_memory.slot_type]
            if named_memory is not None and named_memory.chunk_id != chunk.chunk_id:
                successors[chunk.chunk_id] = named_memory
        return successors

    def _conditions(self, memory_filter: MemoryFilter | None) -> list[Any]:
        wanted_memory_filter = with_masks(self._session, memory_filter or MemoryFilter())
        return filter_conditions(self.project_id, wanted_memory_filter)

    def _active(self, *conditions: Any, **options: Unpack[SelectOptions]) -> Sequence[AnyRow]:
        return self._session.select(CHUNK_COLUMNS, MemoryRow.status == "active", *conditions, **options)

    def _chunks(self, rows: Sequence[AnyRow], as_of: StoryPosition, *, is_bare: bool = False) -> list[StoryMemoryChunk]:
        if is_bare:
            return list(map(chunk_of, rows))
        successors_by_id = superseded_by(self._session, rows, as_of)
        known_attachments_by_id = entities_linked(self._session, rows)
        return [chunk_of(row, successors_by_id.get(row.chunk_id), known_attachments_by_id) for row in rows]


def _of_types(content_types: Sequence[ContentType]) -> list[Any]:
    return [col(MemoryRow.content_type).in_(content_types)] if content_types else []


def _unknown_memory(project_id: str, memory_id: str) -> UnknownMemoryError:
    return UnknownMemoryError(
        f"no memory {memory_id!r} is stored in project {project_id!r};"
        f" list them with `novelgen memory list {project_id}`"
    )


MAX_REPLACEMENTS = 50
"""So many steps from a replaced memory to the one that holds are followed; a slot's values are one step."""


class AttachmentRepository(Repository):
    """Repository of attachments.

    A memory is named by its chunk_id or source_id; a target is `book`, `chapter:3`, or an entity's id. What is set or
    taken off here outlives a new ingest of the scene, which replaces only what was derived from it.
    """

    def attach(self, memory_ids: Sequence[str], targets: Sequence[str]) -> list[str]:
        """Attach memories to targets by hand."""
        return self._change(memory_ids, targets, is_attaching=True)

    def detach(self, memory_ids: Sequence[str], targets: Sequence[str]) -> list[str]:
        """Detach memories from targets by hand.

        See `attach`.

        The chapter in which a memory stands, and the book of a memory that is attached to nothing else,
        cannot be taken off.
        """
        return self._change(memory_ids, targets, is_attaching=False)

    def beyond_entities(self, target: str) -> str | None:
        """Return a target's key `book` or `chapter:3`, None for an entity.

        A chapter may be attached to before it is stored. The book is also `book:` with the id of the project.
        """
        wanted_text = target.strip()
        chapter = chapter_of_target(wanted_text)
        if chapter is not None:
            return chapter_target(chapter)
        if wanted_text.startswith(f"{BOOK}:") and wanted_text != f"{BOOK}:{self.project_id}":
            raise UserInputError(f"{wanted_text!r} is another book than this one; write {BOOK!r}")
        return BOOK if wanted_text in (BOOK, f"{BOOK}:{self.project_id}") else None

    def attachments_of(self, memory_id: str) -> list[Attachment]:
        """Return a memory's attachments: entities, chapters, then the book."""
        (row,) = self._rows([memory_id])
        by_id = [func.length(col(MemoryLink.entity_id)), col(MemoryLink.entity_id)]
        links = self._session.read(MemoryLink, MemoryLink.chunk_row_id == row.row_id, order=by_id)
        origins: dict[str, str] = {link.entity_id: link.kind for link in links} or {BOOK: "default"}
        if row.chapter_index is not None:
            origins.setdefault(chapter_target(row.chapter_index), "position")
        entities = {one.entity.entity_id: one.entity for one in EntityRepository(self._session).list_all()}
        attachments = []
        for target, origin in origins.items():
            entity = entities.get(target)
            if entity is None and is_entity_target(target):
                # It is gone.
                continue
            kind = entity.entity_type if entity else BOOK if target == BOOK else "chapter"
            texts = {"kind": kind, "target": target, "name": entity.name if entity else "", "origin": origin}
            attachments.append(Attachment.model_validate(texts))
        return sorted(attachments, key=lambda attachment: (attachment.kind == BOOK, attachment.kind == "chapter"))

    def mentioning(self, entity_id: str) -> list[StoryMemoryChunk]:
        """Return active memories that name an entity without an attachment.

        What an author took off the entity by hand is not among them. A name that may mean somebody else in
        the same text does not count.
        """
        entities = [one.entity for one in EntityRepository(self._session).list_all()]
        names = [name for one in entities if one.entity_id == entity_id for name in one.names()]
        finder, resolver = NameFinder(names), NameResolver(entities)
        matches = []
        columns = [col(MemoryRow.chunk_id), col(MemoryRow.content), col(MemoryRow.short), col(MemoryRow.detached)]
        as_brought = (MemoryRow.status == "active", unconsolidated(self.project_id, END_OF_STORY))
        unlinked = col(MemoryRow.row_id).not_in(linked_rows(self.project_id, [entity_id]))
        for row in self._session.select(columns, *as_brought, unlinked, order=IN_ORDER):
            text = searchable_text(row.content, row.short)
            is_named = finder.find(text) and entity_id in resolver.entity_ids_in(text)
            if is_named and entity_id not in row.detached:
                matches.append(row.chunk_id)
        return MemoryRepository(self._session).by_ids(matches, with_sources=True)

    def _change(self, memory_ids: Sequence[str], targets: Sequence[str], *, is_attaching: bool) -> list[str]:
        self._session.touch()
        writer = ChunkWriter(self._session)
        changed = []
        for row in self._rows(memory_ids):
            attached_names, detached = (
                [text for text in side if text not in targets] for side in (row.attached, row.detached)
            )
            target_names = list(dict.fromkeys(targets))
            if is_attaching:
                attached_names += target_names
            else:
                detached += [name for name in target_names if name in row.entities_mentioned]
            if (attached_names, detached) != (row.attached, row.detached):
                require_not_consolidated(self._session, row, row.chunk_id)
                writer.withdraw_consolidations([row.row_id or 0])
                values = {"attached": attached_names, "detached": detached}
                self._session.update(MemoryRow, MemoryRow.row_id == row.row_id, **values)
                writer.relink([{**row.columns(), **values}])
                changed.append(row.chunk_id)
        return changed

    def _rows(self, memory_ids: Sequence[str]) -> list[MemoryRow]:
        """Rows by chunk_id, else by source_id, each once, in the order given."""
        wanted_condition = or_(
            self._session.among(MemoryRow.chunk_id, memory_ids), self._session.among(MemoryRow.source_id, memory_ids)
        )
        rows = self._session.read(MemoryRow, wanted_condition, order=[col(MemoryRow.row_id)])
        by_id = {row.source_id: row for row in reversed(rows)} | {row.chunk_id: row for row in rows}
        unknown_ids = [memory_id for memory_id in memory_ids if memory_id not in by_id]
        if unknown_ids:
            raise _unknown_memory(self.project_id, unknown_ids[0])
        return list({by_id[memory_id].row_id: by_id[memory_id] for memory_id in memory_ids}.values())
