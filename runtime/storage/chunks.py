"""Memory rows: conversion, links, tags, full text, outbox and consolidation."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from hashlib import sha256
from operator import attrgetter
from typing import Any, NamedTuple, get_args

from pydantic import Field
from sqlalchemy import (
    ColumnElement,
    Select,
    bindparam,
    delete,
    exists,
    func,
    literal,
    literal_column,
    select,
    union_all,
)
from sqlmodel import and_, col, not_, or_

from novelgen.errors import UnknownMemoryError, UnknownProjectError, UserInputError
from novelgen.memory.attributes import STATUS_ATTRIBUTES, SlotHolder, closed_by
from novelgen.models.base import Model
from novelgen.models.memory import (
    NOTE_ID,
    AttachedTo,
    StoryMemoryChunk,
    attached_to,
    is_entity_target,
    linked_targets,
    over_target,
    superseded,
)
from novelgen.models.position import END_OF_STORY, StoryPosition, story_place
from runtime.storage.columns import WITHOUT_RECORD, OutboxOperation, OutboxState
from runtime.storage.entities import EntityRepository
from runtime.storage.models import StoredMemory
from runtime.storage.records import (
    ENDS_SEVERAL,
    ConsolidationSource,
    Embedding,
    EntityRow,
    MemoryLink,
    MemoryRow,
    MemoryTag,
    OutboxEntry,
    Project,
    Scene,
)
from runtime.storage.session import (
    AnyRow,
    Repository,
    StorageSession,
    alias_of,
    batches,
    before,
    columns_of,
    grouped,
    linked_rows,
    story_order,
    table_of,
)
from runtime.storage.terms import LexicalIndex, index_tokens, searchable_text

_FIELDS = tuple(name for name in StoryMemoryChunk.model_fields if name in MemoryRow.model_fields)
"""Fields of a memory that its row has, name for name."""

_field_values = attrgetter(*_FIELDS)
_BLANK_MEMORY = StoryMemoryChunk.model_construct(chunk_id="", project_id="", content="", content_type="memory")
"""Copied with the fields of a row, which takes half the time of `model_construct`."""

CHUNK_COLUMNS = columns_of(
    MemoryRow, (*_FIELDS, "span_start", "span_end", "attached", "detached", "pinned", "over_at", "is_consolidated")
)
"""Columns that `chunk_of` and `superseded_by` read; a context reads more than a thousand such rows."""

_POSITION_COLUMNS = ("chapter_index", "scene_index", "created_at")
"""Fields that the scene decides."""

_AUTHOR_COLUMNS = ("status", "pinned", "over_at", "scene_id", "from_scene", "last_accessed_at")

IN_ORDER = (*story_order(MemoryRow), col(MemoryRow.row_id))
"""Memories in story order, those of one scene as they were stored."""


def text_hash(*parts: str | None) -> str:
    """Return a hash over texts and the borders between them."""
    digest = sha256()
    for part in parts:
        body = (part or "").encode("utf-8", "surrogatepass")
        digest.update(f"{part is None}:{len(body)}:".encode())
        digest.update(body)
    return digest.hexdigest()


def text_values(memory: Mapping[str, Any]) -> dict[str, Any]:
    """Return the columns of a memory that follow from its text."""
    content, short = memory["content"], memory["short"]
    terms = index_tokens(searchable_text(content, short))
    return {"content_hash": text_hash(content, short), "term_count": len(terms)}


def chunk_values(
    chunk: StoryMemoryChunk, entity_ids: Sequence[str], *, old: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """Return a chunk's own columns, without position and author's marks.

    What follows from the text is taken from the old row where that has the same text.
    """
    start, end = chunk.source_span or (None, None)
    copied = {name: getattr(chunk, name) for name in _FIELDS if name not in _POSITION_COLUMNS}
    derived = {"entities_mentioned": list(dict.fromkeys(entity_ids)), "span_start": start, "span_end": end}
    if old is None or (old["content"], old["short"]) != (copied["content"], copied["short"]):
        return copied | derived | text_values(copied)
    return copied | derived | {name: old[name] for name in ("content_hash", "term_count")}


def note_values(note: StoryMemoryChunk, scene_id: str | None) -> dict[str, Any]:
    """Return a memory that no scene brought as the columns of its row."""
    position_fields = {name: getattr(note, name) for name in _POSITION_COLUMNS}
    fresh = {"scene_id": scene_id, "from_scene": False, "status": "active", "pinned": False}
    return chunk_values(note, note.entities_mentioned) | position_fields | fresh


def entities_linked(session: StorageSession, rows: Sequence[MemoryRow | AnyRow]) -> dict[str, AttachedTo]:
    """Return the stored entities that memories are linked to, by id, for `chunk_of`."""
    ids = {target for row in rows for target in (*row.entities_mentioned, *row.attached)}
    if not ids:
        return {}
    kinds = session.pairs(col(EntityRow.entity_id), col(EntityRow.entity_type), session.among(EntityRow.entity_id, ids))
    return {entity_id: AttachedTo(type=kind, id=entity_id) for entity_id, kind in kinds.items()}


def chunk_of(
    row: MemoryRow | AnyRow,
    superseded_by: str | None = None,
    attachments_by_key: Mapping[str, AttachedTo] | None = None,
) -> StoryMemoryChunk:
    """Return a row's memory without validating again.

    Its entities are those of its origin and of the author's hand together. What it is attached to is told where the
    entities are `attachments_by_key`.
    """
    fields = dict(zip(_FIELDS, _field_values(row), strict=True))
    linked_names = row.entities_mentioned
    if row.attached or row.detached:
        linked_names = linked_targets(linked_names, row.attached, row.detached)
        fields["entities_mentioned"] = [target for target in linked_names if is_entity_target(target)]
    if row.pinned:
        fields["tier"] = "pinned"
    fields |= {
        "attached_to": [] if attachments_by_key is None else attached_to(linked_names, attachments_by_key),
        "is_attached_by_hand": bool(row.attached),
        "taken_off": row.detached or [],
        "source_span": None if row.span_start is None or row.span_end is None else (row.span_start, row.span_end),
        "superseded_by": superseded_by,
    }
    return _BLANK_MEMORY.model_copy(update=fields)


def stored_memories(session: StorageSession, *conditions: Any, limit: int | None = None) -> list[StoredMemory]:
    """Return matching memories in story order, with the author's decisions."""
    rows = session.read(MemoryRow, *conditions, order=IN_ORDER, limit=limit)
    known_attachments_by_id = entities_linked(session, rows)
    return [
        StoredMemory.model_construct(
            chunk=chunk_of(row, attachments_by_key=known_attachments_by_id),
            **{name: getattr(row, name) for name in _AUTHOR_COLUMNS},
        )
        for row in rows
    ]


_CONSOLIDATED = alias_of(MemoryRow, "consolidated")

_REPLACING = columns_of(
    MemoryRow,
    ("chunk_id", "source_id", "supersedes", "also_supersedes", "over_at", "slot_type", "chapter_index", "scene_index"),
)

ENDS_SEVERAL_ROWS: ColumnElement[bool] = literal_column(f"({ENDS_SEVERAL})")
"""Memories that name further ones beside `supersedes`: few in any story."""


def superseded_by(session: StorageSession, rows: Sequence[Any], as_of: StoryPosition) -> dict[str, str]:
    """Tell which of the given memories have been replaced strictly before a position.

    A memory is replaced by an active one that names its source_id in `supersedes` or `also_supersedes`, or, where it
    holds a slot, by the next memory of the same slot at a strictly later position. A consolidated memory is replaced
    when all of its sources are, by what replaced the last of them. A note of a death is replaced by the scene that
    shows its person alive under another name. What an author ended is over from there on.
    """

    replacing = _replacing_rows(session, rows, as_of)
    holders: defaultdict[str, list[SlotHolder]] = defaultdict(list)
    for row in replacing["slot_type"]:
        holders[row.slot_type].append(SlotHolder(story_place(row), row.source_id or row.chunk_id))
    successor_ids: dict[str, str] = {}
    for row in replacing["supersedes"]:
        for ended_id in superseded(row.supersedes, row.also_supersedes):
            if ended_id != row.source_id:
                successor_ids.setdefault(ended_id, row.source_id or row.chunk_id)
    in_order = {slot: sorted(slot_holders) for slot, slot_holders in holders.items()}
    result: dict[str, str] = {}
    for row in rows:
        closer = closed_by(in_order.get(row.slot_type, []), story_place(row)) if row.slot_type else None
        replaced_text = successor_ids.get(row.source_id, closer)
        if replaced_text is None and _may_tell_death(row):
            replaced_text = EntityRepository(session).refuting_scenes(as_of=as_of).get(row.chunk_id)
        if replaced_text is None and row.over_at is not None and as_of.admits(*row.over_at):
            replaced_text = over_target(*row.over_at)
        if replaced_text is not None:
            result[row.chunk_id] = replaced_text
    consolidated = [row.chunk_id for row in rows if row.is_consolidated]
    return result | (_of_consolidated(session, consolidated, as_of) if consolidated else {})


def _may_tell_death(row: Any) -> bool:
    """Tell whether a row is a note on somebody's life."""
    return row.chunk_id.startswith(NOTE_ID) and (row.slot_type or "").partition(".")[2] in STATUS_ATTRIBUTES


def _replacing_rows(session: StorageSession, rows: Sequence[Any], as_of: StoryPosition) -> dict[str, list[AnyRow]]:
    """Return the active memories that hold a slot of the rows, or supersede one, in story order."""
    slots = {row.slot_type for row in rows if row.slot_type}
    source_ids = {row.source_id for row in rows if row.source_id}
    # Three selects in one statement: each has an index of its own.
    conditions: list[tuple[str, ColumnElement[bool]]] = []
    if slots:
        conditions.append(("slot_type", session.among(MemoryRow.slot_type, slots)))
    if source_ids:
        conditions.append(("supersedes", session.among(MemoryRow.supersedes, source_ids)))
        conditions.append(("supersedes", ENDS_SEVERAL_ROWS))
    statements = [
        select(literal(name).label("column_name"), *_REPLACING).where(
            session.owns(MemoryRow), col(MemoryRow.status) == "active", before(as_of, MemoryRow), condition
        )
        for name, condition in conditions
    ]
    matches = sorted(session.rows(union_all(*statements)), key=story_place) if statements else []
    return {name: [row for row in matches if row.column_name == name] for name in ("slot_type", "supersedes")}


def _of_consolidated(session: StorageSession, chunk_ids: Sequence[str], as_of: StoryPosition) -> dict[str, str]:
    statement = _sources(session, *_REPLACING, col(MemoryRow.is_consolidated))
    rows = session.rows(statement.where(session.among(_CONSOLIDATED.chunk_id, chunk_ids)))
    sources = grouped(sorted(rows, key=story_place), "consolidated_id")
    successors_by_id = superseded_by(session, rows, as_of)
    return {
        chunk_id: successors_by_id[matches[-1].chunk_id]
        for chunk_id, matches in sources.items()
        if all(row.chunk_id in successors_by_id for row in matches)
    }


def _sources(session: StorageSession, *columns: Any) -> Select[Any]:
    """Return a query for the sources of consolidated memories, each with that one's id."""
    return (
        select(_CONSOLIDATED.chunk_id.label("consolidated_id"), *columns)
        .select_from(ConsolidationSource)
        .join(_CONSOLIDATED.row_id.table, _CONSOLIDATED.row_id == col(ConsolidationSource.consolidated_row_id))
        .join(MemoryRow, col(MemoryRow.row_id) == col(ConsolidationSource.source_row_id))
        .where(session.owns(ConsolidationSource))
    )


_SOURCE = alias_of(MemoryRow, "source")


def require_not_consolidated(session: StorageSession, row: MemoryRow, chunk_id: str) -> None:
    """Refuse a change by hand of a consolidated memory."""
    links = ConsolidationSource
    sources = select(col(links.source_row_id)).where(col(links.consolidated_row_id) == row.row_id).limit(1)
    if session.connection.scalar(sources) is not None:
        raise UserInputError(
            f"{chunk_id!r} stands for other memories and cannot be changed itself; change its sources, or "
            f"take it back with `novelgen consolidate PROJECT --undo {chunk_id}`"
        )


LINK_KIND_BY_ORIGIN = {"record": "record", "extracted": "record", "text": "mention", "author": "manual"}


_ERROR_LIMIT = 500

_TO_DO = ("pending", "failed")


class IndexState(NamedTuple):
    """The vector index of a project as SQL knows it."""

    index_id: str
    embedding_model: str | None
    embedding_dimension: int | None
    awaited: int
    """Memories that it is still to take up."""
    holds_rows: bool
    """Whether it must hold any others."""


class PendingEmbeddings(NamedTuple):
    """Memories pending in the index, with their text length."""

    memories: int
    characters: int


# Core: entries are marked in one go, by other columns than the primary key (see `update_each`).
_CLAIM_CONDITION = and_(
    *(table_of(OutboxEntry).c[name] == bindparam(f"claimed_{name}") for name in ("project_id", "chunk_id", "revision"))
)
"""The entry as it was claimed: its revision grows when the chunk changes again."""


class OutboxRepository(Repository):
    """Outbox of index changes.

    Every method is idempotent.
    """

    def queue(self, chunk_ids: Sequence[str], operation: OutboxOperation) -> None:
        """Queue a change of chunks, replacing pending ones."""
        fresh = {"state": "pending", "attempts": 0, "last_error": None}
        statement = self._session.upsert(OutboxEntry)
        statement = statement.on_conflict_do_update(
            index_elements=["project_id", "chunk_id"],
            set_={"operation": statement.excluded.operation, "revision": col(OutboxEntry.revision) + 1, **fresh},
        )
        new = {"project_id": self.project_id, "operation": operation, "revision": 1, **fresh}
        if chunk_ids:
            self._session.run_many(statement, [new | {"chunk_id": chunk_id} for chunk_id in dict.fromkeys(chunk_ids)])

    def claim(self, *, limit: int = 1_000) -> list[OutboxEntry]:
        """Return pending and failed entries, oldest first.

        Claiming takes nothing away: an entry stays until it is marked, so that a worker that dies loses
        nothing, and doing one twice is harmless.
        """
        order = [col(OutboxEntry.state).desc(), col(OutboxEntry.row_id)]
        return self._session.read(OutboxEntry, col(OutboxEntry.state).in_(_TO_DO), order=order, limit=limit)

    def mark_done(self, entries: Sequence[OutboxEntry]) -> None:
        """Mark entries done, unless their chunks changed since."""
        for operation, statement in (
            ("delete", table_of(OutboxEntry).delete()),
            ("upsert", table_of(OutboxEntry).update().values(state="done", last_error=None)),
        ):
            done_entries = [_key(entry) for entry in entries if entry.operation == operation]
            if done_entries:
                self._session.run_many(statement.where(_CLAIM_CONDITION), done_entries)

    def mark_failed(self, entries: Sequence[OutboxEntry], error: str) -> None:
        """Mark entries as failed, with the reason, and count the attempt."""
        failed = {"state": "failed", "attempts": col(OutboxEntry.attempts) + 1, "last_error": error[:_ERROR_LIMIT]}
        if entries:
            statement = table_of(OutboxEntry).update().where(_CLAIM_CONDITION).values(**failed)
            self._session.run_many(statement, [_key(entry) for entry in entries])

    def awaited(self, *, limit: int | None = None) -> PendingEmbeddings:
        """Count the memories pending in the index."""
        to_do = select(col(OutboxEntry.chunk_id)).where(
            self._session.owns(OutboxEntry), col(OutboxEntry.state).in_(_TO_DO)
        )
        entries = to_do.order_by(col(OutboxEntry.state).desc(), col(OutboxEntry.row_id)).limit(limit).subquery()
        statement = (
            select(func.count(), func.coalesce(func.sum(func.length(col(MemoryRow.content))), 0))
            .select_from(entries)
            .join(MemoryRow, col(MemoryRow.chunk_id) == entries.c.chunk_id)
            .where(self._session.owns(MemoryRow), col(MemoryRow.status) == "active", col(MemoryRow.is_indexed))
        )
        ((memories, characters),) = self._session.rows(statement)
        return PendingEmbeddings(memories, int(characters))

    def index_state(self) -> IndexState:
        """Return the model of the index, and how much of what it must hold is still pending."""
        to_do = select(col(OutboxEntry.chunk_id)).where(
            self._session.owns(OutboxEntry), col(OutboxEntry.state).in_(_TO_DO)
        )
        indexable = (self._session.owns(MemoryRow), col(MemoryRow.status) == "active", col(MemoryRow.is_indexed))
        pending = select(func.count()).select_from(MemoryRow).where(*indexable, col(MemoryRow.chunk_id).in_(to_do))
        others = exists().where(*indexable, col(MemoryRow.chunk_id).not_in(to_do))
        columns = columns_of(Project, ("index_id", "embedding_model", "embedding_dimension"))
        row = self._session.one([*columns, pending.scalar_subquery(), others])
        if row is None:
            raise UnknownProjectError(f"no project {self.project_id!r} is stored; create it first")
        return IndexState(row[0], row[1], row[2], row[3], bool(row[4]))

    def waiting_ids(self, chunk_ids: Collection[str]) -> set[str]:
        """Return which of the chunks wait for the index."""
        among = self._session.among(OutboxEntry.chunk_id, chunk_ids)
        return set(self._session.values(OutboxEntry.chunk_id, among, col(OutboxEntry.state).in_(_TO_DO)))

    def count_waiting(self) -> int:
        """Return how many entries the index must still follow."""
        return self._session.count(OutboxEntry, col(OutboxEntry.state).in_(_TO_DO))

    def counts(self) -> dict[OutboxState, int]:
        """Return the number of entries per state, 0 included."""
        rows = self._session.select([col(OutboxEntry.state), func.count()], group=[col(OutboxEntry.state)])
        return {**dict.fromkeys(get_args(OutboxState), 0), **{row[0]: row[1] for row in rows}}


def _key(entry: OutboxEntry) -> dict[str, object]:
    return {f"claimed_{name}": getattr(entry, name) for name in ("project_id", "chunk_id", "revision")}


_IN_THE_INDEX = ("content", "content_type", "source_id", "chapter_index", "scene_index", "status", "is_indexed")
"""Columns of a memory that the vector index has a copy of, or that say whether it has."""


_LINKED = ("entities_mentioned", "attached", "detached", "tags", "content_type", "origin")
"""Columns of a memory that its links and tags follow from."""


class ChunkWriter:
    """Writes chunks of one project inside one transaction.

    A consolidated memory is withdrawn, so that its sources are read again, when one of them is changed, removed,
    moved or superseded.
    """

    def __init__(self, session: StorageSession) -> None:
        self._session = session
        number = session.value(Project.project_number)
        if number is None:
            raise UnknownProjectError(f"no project {session.project_id!r} is stored; create it first")
        self._lexical = LexicalIndex(session, number)
        self._outbox = OutboxRepository(session)

    def insert(self, rows: Sequence[dict[str, Any]]) -> None:
        """Insert whole chunk rows (without `row_id`), index their words and queue them for the vector index."""
        if not rows:
            return
        self._session.insert(MemoryRow, rows)
        named_condition = self._session.among(MemoryRow.chunk_id, [row["chunk_id"] for row in rows])
        row_ids = self._session.pairs(MemoryRow.chunk_id, col(MemoryRow.row_id), named_condition)
        self._link(row_ids, rows)
        self._lexical.add([(row_ids[row["chunk_id"]], _searchable(row)) for row in rows])
        self._outbox.queue(list(row_ids), "upsert")
        self._withdraw(_SOURCE.source_id, _superseded_by_all(rows))

    def update(self, changes: Sequence[tuple[Mapping[str, Any], dict[str, Any]]]) -> None:
        """Change chunks, given as whole rows with their new columns.

        A vector goes only when its text changed, and the index hears of what it has a copy of alone.
        """
        if not changes:
            return
        self.withdraw_consolidations([old["row_id"] for old, _ in changes])
        wholes = [{**old, **new} for old, new in changes]
        differing = [
            (old["row_id"], {name: value for name, value in new.items() if old[name] != value}) for old, new in changes
        ]
        self._session.update_each(MemoryRow.row_id, differing)
        reworded = {row_id for row_id, new in differing if "content_hash" in new}
        self._lexical.remove([(old["row_id"], _searchable(old)) for old, _ in changes if old["row_id"] in reworded])
        self._lexical.add([(whole["row_id"], _searchable(whole)) for whole in wholes if whole["row_id"] in reworded])
        changed_row_ids = [row_id for row_id, new in differing if "content" in new]
        if changed_row_ids:
            self._session.run(delete(Embedding).where(self._session.among(Embedding.chunk_row_id, changed_row_ids)))
        self.relink(_differing_in(_LINKED, wholes, changes))
        entries = _differing_in(_IN_THE_INDEX, wholes, changes)
        self._outbox.queue([fields["chunk_id"] for fields in entries if fields["status"] == "active"], "upsert")
        self._outbox.queue([fields["chunk_id"] for fields in entries if fields["status"] != "active"], "delete")
        self._withdraw(_SOURCE.source_id, _superseded_by_all(wholes))

    def relink(self, rows: Sequence[Mapping[str, Any]]) -> None:
        """Make the links and tags of chunks anew, given as whole rows."""
        row_ids = {row["chunk_id"]: row["row_id"] for row in rows}
        if not row_ids:
            return
        for table in (MemoryLink, MemoryTag):
            self._session.run(delete(table).where(self._session.among(table.chunk_row_id, row_ids.values())))
        self._link(row_ids, rows)

    def remove(self, rows: Sequence[Mapping[str, Any]]) -> None:
        """Delete chunk rows with links, tags and vectors."""
        if not rows:
            return
        self.withdraw_consolidations([row["row_id"] for row in rows])
        self._lexical.remove([(row["row_id"], _searchable(row)) for row in rows])
        condition = self._session.among(MemoryRow.row_id, [row["row_id"] for row in rows])
        self._session.run(delete(MemoryRow).where(condition))
        self._outbox.queue([row["chunk_id"] for row in rows], "delete")

    def forget_words(self) -> None:
        """Take all chunks of the project out of the index of words, for they are about to go."""
        if not self._session.is_sqlite:
            # There the words of a chunk go with it.
            return
        for rows in batches(
            self._session.select([col(MemoryRow.row_id), col(MemoryRow.content), col(MemoryRow.short)])
        ):
            self._lexical.remove([(row.row_id, searchable_text(row.content, row.short)) for row in rows])

    def withdraw_consolidations(self, row_ids: Sequence[int]) -> None:
        """Take back the consolidated memories that stand for any of the memories."""
        self._withdraw(_SOURCE.row_id, row_ids)

    def reposition(self, *, scene_ids: Sequence[str] = (), row_ids: Sequence[int] = ()) -> None:
        """Queue chunks with a new position, by scenes or numbers."""
        self._withdraw(_SOURCE.scene_id, scene_ids)
        self._withdraw(_SOURCE.row_id, row_ids)
        moved_condition = self._session.among(
            MemoryRow.scene_id if scene_ids else MemoryRow.row_id, scene_ids or row_ids
        )
        active = (moved_condition, MemoryRow.status == "active")
        self._outbox.queue(self._session.values(MemoryRow.chunk_id, *active), "upsert")

    def _withdraw(self, column: Any, values: Sequence[str | int]) -> None:
        """Undo consolidated memories with a matching source."""
        if not values:
            return
        links, is_source = ConsolidationSource, self._session.among(column, values)
        # Without the project where rows or scenes are named: no id of theirs is another project's, too.
        owned = [_SOURCE.project_id == self._session.project_id] if column is _SOURCE.source_id else []
        of_source = _SOURCE.row_id == col(links.source_row_id)
        memory_ids = (
            select(col(links.consolidated_row_id)).join(_SOURCE.row_id.table, of_source).where(is_source, *owned)
        )
        rows = self._session.read(MemoryRow, col(MemoryRow.row_id).in_(memory_ids), order=[col(MemoryRow.row_id)])
        self.remove([row.columns() for row in rows])

    def _link(self, row_ids: Mapping[str, int], rows: Sequence[Mapping[str, Any]]) -> None:
        """Insert links that were derived and those that were set by hand, and tags."""
        links, tags = [], []
        for row in rows:
            own = {"chunk_row_id": row_ids[row["chunk_id"]]}
            attachment_ids, detached = row.get("attached") or [], row.get("detached") or []
            # What an author says of a note is among `attached`; the rest its own words name.
            derived = "mention" if row["content_type"] == "note" else LINK_KIND_BY_ORIGIN[row["origin"]]
            links += [
                own | {"entity_id": target, "kind": "manual" if target in attachment_ids else derived}
                for target in linked_targets(row["entities_mentioned"], attachment_ids, detached)
            ]
            tags += [own | {"tag": tag} for tag in dict.fromkeys(row["tags"])]
        self._session.insert(MemoryLink, links)
        self._session.insert(MemoryTag, tags)


def _differing_in(
    names: Sequence[str], wholes: Sequence[dict[str, Any]], changes: Sequence[tuple[Mapping[str, Any], Any]]
) -> list[dict[str, Any]]:
    """Return the rows with another value than before in any of some columns."""
    return [
        whole
        for whole, (old, _) in zip(wholes, changes, strict=True)
        if any(whole[name] != old[name] for name in names)
    ]


def _superseded_by_all(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    return [memory_id for row in rows for memory_id in superseded(row["supersedes"], row.get("also_supersedes") or ())]


def _searchable(row: Mapping[str, Any]) -> str:
    return searchable_text(row["content"], row["short"])


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
        is_memory = MemoryRow.content_type == "memory"
        rows = self._session.read(MemoryRow, *_is_seen(self.project_id), is_memory, order=IN_ORDER)
        successors_by_id = superseded_by(self._session, rows, END_OF_STORY)
        chunks = [chunk_of(row, successors_by_id.get(row.chunk_id)) for row in rows]
        for row, chunk in zip(rows, chunks, strict=True):
            if _is_authors(row.columns()):
                chunk.origin = "author"
        return chunks

    def add(self, chunk: StoryMemoryChunk, sources: Sequence[StoryMemoryChunk]) -> bool:
        """Store a consolidated memory at the position of its last source."""
        self._session.touch()
        rows = self._unchanged(sources)
        if rows is None or self._session.value(MemoryRow.row_id, MemoryRow.chunk_id == chunk.chunk_id) is not None:
            return False
        last = rows[-1]
        place = {"chapter_index": last["chapter_index"], "scene_index": last["scene_index"]}
        placed_memory = chunk.model_copy(update=place | {"is_consolidated": True})
        ChunkWriter(self._session).insert([note_values(placed_memory, last["scene_id"])])
        number = self._session.value(MemoryRow.row_id, MemoryRow.chunk_id == chunk.chunk_id)
        links = [{"source_row_id": row["row_id"], "consolidated_row_id": number} for row in rows]
        self._session.insert(ConsolidationSource, links)
        return True

    def list_all(self) -> list[StoredConsolidation]:
        """Return all consolidated memories in story order."""
        sources = self._source_ids()
        if not sources:
            return []
        rows = self._session.read(MemoryRow, self._session.among(MemoryRow.chunk_id, sources), order=IN_ORDER)
        return [StoredConsolidation(chunk=chunk_of(row), source_ids=sources[row.chunk_id]) for row in rows]

    def stands_for(self) -> dict[str, list[str]]:
        """Return source ids of consolidated memories by chunk id."""
        sources = self._source_ids()
        if not sources:
            return {}
        ids = [chunk_id for chunk_ids in sources.values() for chunk_id in chunk_ids]
        names = self._session.pairs(
            col(MemoryRow.chunk_id), col(MemoryRow.source_id), self._session.among(MemoryRow.chunk_id, ids)
        )
        return {text: [names[source] or source for source in chunk_ids] for text, chunk_ids in sources.items()}

    def undo(self, chunk_id: str) -> None:
        """Undo a consolidated memory, showing its sources again."""
        self._session.touch()
        if not self._take_back(MemoryRow.chunk_id == chunk_id):
            raise UnknownMemoryError(
                f"no consolidated memory {chunk_id!r} is stored in project {self._session.project_id!r}; "
                f"list them with `novelgen memory consolidated {self._session.project_id}`"
            )

    def undo_all(self) -> list[str]:
        """Take all consolidated memories back and return their ids."""
        self._session.touch()
        return self._take_back()

    def withdraw_linked(self, entity_ids: Sequence[str]) -> list[str]:
        """Undo consolidations linked to changing entities."""
        return self._take_back(col(MemoryRow.row_id).in_(linked_rows(self._session.project_id, list(entity_ids))))

    def _take_back(self, *conditions: Any) -> list[str]:
        rows = self._session.read(MemoryRow, col(MemoryRow.is_consolidated), *conditions, order=[col(MemoryRow.row_id)])
        ChunkWriter(self._session).remove([row.columns() for row in rows])
        return [row.chunk_id for row in rows]

    def _unchanged(self, sources: Sequence[StoryMemoryChunk]) -> list[dict[str, Any]] | None:
        """The rows of sources in story order, or None when they cannot be consolidated any more."""
        hashes_by_id = {source.chunk_id: text_hash(source.content, source.short) for source in sources}
        of_scene = (col(MemoryRow.scene_id).is_not(None), col(MemoryRow.scene_index).is_not(None))
        these = self._session.among(MemoryRow.chunk_id, hashes_by_id)
        memory_rows = self._session.read(MemoryRow, *_is_seen(self.project_id), *of_scene, these, order=IN_ORDER)
        rows = [row.columns() for row in memory_rows]
        fitting = [
            row
            for row in rows
            if row["content_hash"] == hashes_by_id[row["chunk_id"]]
            and not row["is_consolidated"]
            and not _is_authors(row)
        ]
        return fitting if fitting and len(fitting) == len(hashes_by_id) else None

    def _source_ids(self) -> dict[str, list[str]]:
        rows = self._session.rows(_sources(self._session, col(MemoryRow.chunk_id)).order_by(*IN_ORDER))
        return {name: [row.chunk_id for row in matches] for name, matches in grouped(rows, "consolidated_id").items()}


def _is_seen(project_id: str) -> tuple[ColumnElement[bool], ...]:
    """Return the conditions that a memory is active and that none stands for it."""
    sources = select(col(ConsolidationSource.source_row_id)).where(col(ConsolidationSource.project_id) == project_id)
    return col(MemoryRow.status) == "active", col(MemoryRow.row_id).not_in(sources)


def _is_authors(row: Mapping[str, Any]) -> bool:
    """Whether an author wrote, edited, pinned or attached the memory."""
    by_hand = row["origin"] == "author" or row["pinned"] or row["attached"] or row["detached"]
    return bool(by_hand) or not row["from_scene"]


class EmbeddingChoice(NamedTuple):
    """Whether passages and key events of recorded scenes are embedded."""

    passages: bool
    key_events: bool
    key_event_tag: str


class EmbeddingChoiceRepository(Repository):
    """Compares stored memories with a choice, and lets it hold for them."""

    def ids_with_other_choice(self, choice: EmbeddingChoice) -> list[str]:
        """Return sorted ids of memories with another choice, except the author's."""
        tagged = select(col(MemoryTag.chunk_row_id)).where(
            self._session.owns(MemoryTag), col(MemoryTag.tag) == choice.key_event_tag
        )
        is_passage = MemoryRow.content_type == "scene"
        is_key_event = and_(MemoryRow.content_type == "summary", col(MemoryRow.row_id).in_(tagged))
        is_otherwise = or_(
            and_(is_passage, col(MemoryRow.is_indexed).is_not(choice.passages)),
            and_(is_key_event, col(MemoryRow.is_indexed).is_not(choice.key_events)),
        )
        scene_memory_conditions = (
            col(MemoryRow.from_scene),
            MemoryRow.origin != "author",
            MemoryRow.status == "active",
        )
        scene_ids = select(col(Scene.scene_id)).where(
            self._session.owns(Scene), col(Scene.record_origin) != WITHOUT_RECORD
        )
        return sorted(
            self._session.values(
                MemoryRow.chunk_id, *scene_memory_conditions, is_otherwise, col(MemoryRow.scene_id).in_(scene_ids)
            )
        )

    def apply(self, choice: EmbeddingChoice) -> int:
        """Apply a choice to stored memories, queue them and return their number.

        The story does not count as changed.
        """
        chunk_ids = self.ids_with_other_choice(choice)
        chosen_condition = and_(self._session.owns(MemoryRow), self._session.among(MemoryRow.chunk_id, chunk_ids))
        self._session.update(MemoryRow, chosen_condition, is_indexed=not_(col(MemoryRow.is_indexed)))
        by_words_only = select(col(MemoryRow.row_id)).where(chosen_condition, not_(col(MemoryRow.is_indexed)))
        self._session.run(delete(Embedding).where(col(Embedding.chunk_row_id).in_(by_words_only)))
        OutboxRepository(self._session).queue(chunk_ids, "upsert")
        return len(chunk_ids)
