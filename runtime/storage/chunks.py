"""Rows of memories as memories, and writing them with all that hangs on them: links, tags, words, outbox."""

from collections import defaultdict
from collections.abc import Mapping, Sequence, Set
from hashlib import sha256
from typing import Any

from sqlalchemy import ColumnElement, Select, bindparam, select

from novelgen.errors import UnknownProjectError, UserInputError
from novelgen.memory.attributes import SlotHolder, closed_by
from novelgen.models.memory import AttachedTo, StoryMemoryChunk, attached_to, is_entity_target, linked_targets
from novelgen.models.position import StoryPosition, story_place
from runtime.storage.indexing import OutboxRepository
from runtime.storage.records import OutboxOperation, StoredMemory
from runtime.storage.session import AnyRow, StorageSession, batches, before, grouped, story_order
from runtime.storage.tables import (
    CHUNK_ENTITIES,
    CHUNK_TAGS,
    CHUNKS,
    CONSOLIDATION_SOURCES,
    EMBEDDINGS,
    ENTITIES,
    PROJECTS,
    alias_with_columns,
)
from runtime.storage.terms import LexicalIndex, index_tokens, searchable_text

_FIELDS = tuple(name for name in StoryMemoryChunk.model_fields if name in CHUNKS.c)
"""Columns that are fields of a memory, name for name."""

_BESIDE = ("span_start", "span_end", "pinned", "attached", "detached")

_PLACED = ("chapter_index", "scene_index", "created_at")
"""Fields that the scene decides."""

CHUNK_COLUMNS: Sequence[ColumnElement[Any]] = [CHUNKS.c[name] for name in (*_FIELDS, *_BESIDE)]

_STORED_COLUMNS = [
    *CHUNK_COLUMNS,
    *(CHUNKS.c[name] for name in ("status", "scene_id", "from_scene", "last_accessed_at")),
]

IN_ORDER = (*story_order(CHUNKS), CHUNKS.c.row_id)
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
    """Return the columns that the chunk itself decides; position, scene and the author's marks are not among them.

    What follows from the text is taken from the old row where that has the same text.
    """
    start, end = chunk.source_span or (None, None)
    copied = {name: getattr(chunk, name) for name in _FIELDS if name not in _PLACED}
    derived = {"entities_mentioned": list(dict.fromkeys(entity_ids)), "span_start": start, "span_end": end}
    if old is None or (old["content"], old["short"]) != (copied["content"], copied["short"]):
        return copied | derived | text_values(copied)
    return copied | derived | {name: old[name] for name in ("content_hash", "term_count")}


def note_values(note: StoryMemoryChunk, scene_id: str | None) -> dict[str, Any]:
    """Return a memory that no scene brought as the columns of its row."""
    placed = {name: getattr(note, name) for name in _PLACED}
    fresh = {"scene_id": scene_id, "from_scene": False, "status": "active", "pinned": False}
    return chunk_values(note, note.entities_mentioned) | placed | fresh


def entities_linked(session: StorageSession, rows: Sequence[AnyRow]) -> dict[str, AttachedTo]:
    """Return the stored entities that memories are linked to, by id, for `chunk_of`."""
    ids = {target for row in rows for target in (*row.entities_mentioned, *row.attached)}
    if not ids:
        return {}
    kinds = session.pairs(ENTITIES.c.entity_id, ENTITIES.c.entity_type, session.among(ENTITIES.c.entity_id, ids))
    return {entity_id: AttachedTo(type=kind, id=entity_id) for entity_id, kind in kinds.items()}


def chunk_of(
    row: AnyRow, superseded_by: str | None = None, known: Mapping[str, AttachedTo] | None = None
) -> StoryMemoryChunk:
    """Return the memory of a row of `CHUNK_COLUMNS`; it was validated when it was written.

    Its entities are those of its origin and of the author's hand together. What it is attached to is told where the
    entities are `known`.
    """
    fields = dict(zip(_FIELDS, row, strict=False))
    start, end, pinned, attached, detached = row[len(_FIELDS) : len(_FIELDS) + len(_BESIDE)]
    linked = fields["entities_mentioned"]
    if attached or detached:
        linked = linked_targets(linked, attached, detached)
        fields["entities_mentioned"] = [target for target in linked if is_entity_target(target)]
    if pinned:
        fields["tier"] = "pinned"
    return StoryMemoryChunk.model_construct(
        **fields,
        attached_to=[] if known is None else attached_to(linked, known),
        source_span=None if start is None else (start, end),
        superseded_by=superseded_by,
    )


def stored_memories(
    session: StorageSession, *conditions: ColumnElement[bool], limit: int | None = None
) -> list[StoredMemory]:
    """Return the memories that fit all conditions in story order, with what the author decided about them."""
    rows = session.select(_STORED_COLUMNS, *conditions, order=IN_ORDER, limit=limit)
    known = entities_linked(session, rows)
    return [
        StoredMemory.model_construct(
            chunk=chunk_of(row, known=known),
            status=row.status,
            pinned=row.pinned,
            scene_id=row.scene_id,
            from_scene=row.from_scene,
            last_accessed_at=row.last_accessed_at,
        )
        for row in rows
    ]


_CONSOLIDATED = alias_with_columns(CHUNKS, "consolidated")

_COLUMNS = (
    CHUNKS.c.chunk_id,
    CHUNKS.c.source_id,
    CHUNKS.c.supersedes,
    CHUNKS.c.slot_type,
    CHUNKS.c.chapter_index,
    CHUNKS.c.scene_index,
)


def superseded_by(session: StorageSession, rows: Sequence[AnyRow], as_of: StoryPosition) -> dict[str, str]:
    """Tell which of the given memories have been replaced strictly before a position.

    A memory is replaced by an active one that names its source_id in `supersedes`, or, where it holds a slot,
    by the next memory of the same slot at a strictly later position. A consolidated memory is replaced when all
    of its sources are, by what replaced the last of them.
    """
    result: dict[str, str] = {}
    holders = _slot_holders(session, {row.slot_type for row in rows if row.slot_type}, as_of)
    named = _named(session, {row.source_id for row in rows if row.source_id}, as_of)
    for row in rows:
        closer = closed_by(holders.get(row.slot_type, []), story_place(row)) if row.slot_type else None
        if closer is not None:
            result[row.chunk_id] = closer
        if row.source_id in named:
            result[row.chunk_id] = named[row.source_id]
    consolidated = [row.chunk_id for row in rows if row.is_consolidated]
    return result | (_of_consolidated(session, consolidated, as_of) if consolidated else {})


def _of_consolidated(session: StorageSession, chunk_ids: Sequence[str], as_of: StoryPosition) -> dict[str, str]:
    statement = (
        select(_CONSOLIDATED.c.chunk_id.label("consolidated_id"), *_COLUMNS, CHUNKS.c.is_consolidated)
        .select_from(CONSOLIDATION_SOURCES)
        .join(_CONSOLIDATED, _CONSOLIDATED.c.row_id == CONSOLIDATION_SOURCES.c.consolidated_row_id)
        .join(CHUNKS, CHUNKS.c.row_id == CONSOLIDATION_SOURCES.c.source_row_id)
        .where(session.owns(CONSOLIDATION_SOURCES), session.among(_CONSOLIDATED.c.chunk_id, chunk_ids))
    )
    rows = session.rows(statement)
    sources = grouped(sorted(rows, key=story_place), "consolidated_id")
    replaced = superseded_by(session, rows, as_of)
    return {
        chunk_id: replaced[found[-1].chunk_id]
        for chunk_id, found in sources.items()
        if all(row.chunk_id in replaced for row in found)
    }


def _slot_holders(session: StorageSession, slots: Set[str], as_of: StoryPosition) -> dict[str, list[SlotHolder]]:
    holders: dict[str, list[SlotHolder]] = defaultdict(list)
    in_slots = session.among(CHUNKS.c.slot_type, slots)
    for row in session.rows(_visible(session.project_id, as_of).where(in_slots)) if slots else ():
        holders[row.slot_type].append(SlotHolder(story_place(row), row.source_id or row.chunk_id))
    return {slot: sorted(found) for slot, found in holders.items()}


def _named(session: StorageSession, source_ids: Set[str], as_of: StoryPosition) -> dict[str, str]:
    named: dict[str, str] = {}
    successors = session.among(CHUNKS.c.supersedes, source_ids)
    rows = session.rows(_visible(session.project_id, as_of).where(successors)) if source_ids else ()
    for row in sorted(rows, key=story_place):
        if row.supersedes != row.source_id:
            named.setdefault(row.supersedes, row.source_id or row.chunk_id)
    return named


def _visible(project_id: str, as_of: StoryPosition) -> Select[Any]:
    return select(*_COLUMNS).where(
        CHUNKS.c.project_id == project_id, CHUNKS.c.status == "active", before(as_of, CHUNKS)
    )


_SOURCE = alias_with_columns(CHUNKS, "source")


def require_not_consolidated(session: StorageSession, row_id: int, chunk_id: str) -> None:
    """Refuse a change by hand of a consolidated memory."""
    links = CONSOLIDATION_SOURCES
    found = select(links.c.source_row_id).where(links.c.consolidated_row_id == row_id).limit(1)
    if session.connection.scalar(found) is not None:
        raise UserInputError(
            f"{chunk_id!r} stands for other memories and cannot be changed itself; change its sources, or "
            f"take it back with `novelgen consolidate PROJECT --undo {chunk_id}`"
        )


def _standing_for(session: StorageSession, condition: ColumnElement[bool]) -> dict[int, dict[str, Any]]:
    links = CONSOLIDATION_SOURCES
    wanted = (
        select(links.c.consolidated_row_id).join(_SOURCE, _SOURCE.c.row_id == links.c.source_row_id).where(condition)
    )
    statement = select(CHUNKS).where(CHUNKS.c.row_id.in_(wanted)).order_by(CHUNKS.c.row_id)
    return {row["row_id"]: dict(row) for row in session.connection.execute(statement).mappings()}


LINK_KIND_BY_ORIGIN = {"record": "record", "extracted": "record", "text": "mention", "author": "manual"}


_IN_THE_INDEX = ("content", "content_type", "source_id", "chapter_index", "scene_index", "status", "is_indexed")
"""Columns of a memory that the vector index has a copy of, or that say whether it has."""


class ChunkWriter:
    """Writes chunks of one project inside one transaction.

    A consolidated memory is withdrawn, so that its sources are read again, when one of them is changed, removed,
    moved or superseded.
    """

    def __init__(self, session: StorageSession) -> None:
        self._session = session
        number = session.value(PROJECTS.c.project_number)
        if number is None:
            raise UnknownProjectError(f"no project {session.project_id!r} is stored; create it first")
        self._lexical = LexicalIndex(session, number)
        self._outbox = OutboxRepository(session)

    def insert(self, rows: Sequence[dict[str, Any]]) -> None:
        """Insert whole chunk rows (without `row_id`), index their words and queue them for the vector index."""
        if not rows:
            return
        self._session.insert(CHUNKS, rows)
        named = self._session.among(CHUNKS.c.chunk_id, [row["chunk_id"] for row in rows])
        row_ids = self._session.pairs(CHUNKS.c.chunk_id, CHUNKS.c.row_id, named)
        self._link(row_ids, rows)
        self._lexical.add([(row_ids[row["chunk_id"]], _searchable(row)) for row in rows])
        self._outbox.queue(list(row_ids), "upsert")
        self._withdraw_superseded(rows)

    def update(self, changes: Sequence[tuple[Mapping[str, Any], dict[str, Any]]]) -> None:
        """Change chunks, given as whole rows with their new columns.

        A vector goes only when its text changed, and the index hears of what it has a copy of alone.
        """
        self.withdraw_consolidations([old["row_id"] for old, _ in changes])
        wholes = [{**old, **new} for old, new in changes]
        differing = [
            (old["row_id"], {name: value for name, value in new.items() if old[name] != value}) for old, new in changes
        ]
        self._session.update_each(CHUNKS.c.row_id, differing)
        reworded = {row_id for row_id, new in differing if "content_hash" in new}
        self._lexical.remove([(old["row_id"], _searchable(old)) for old, _ in changes if old["row_id"] in reworded])
        self._lexical.add([(each["row_id"], _searchable(each)) for each in wholes if each["row_id"] in reworded])
        retold = [row_id for row_id, new in differing if "content" in new]
        self._session.run(EMBEDDINGS.delete().where(self._session.among(EMBEDDINGS.c.chunk_row_id, retold)))
        self.relink(wholes)
        to_tell: dict[OutboxOperation, list[str]] = {"upsert": [], "delete": []}
        for whole, (old, _) in zip(wholes, changes, strict=True):
            if any(whole[name] != old[name] for name in _IN_THE_INDEX):
                to_tell["upsert" if whole["status"] == "active" else "delete"].append(whole["chunk_id"])
        for operation, chunk_ids in to_tell.items():
            self._outbox.queue(chunk_ids, operation)
        self._withdraw_superseded(wholes)

    def relink(self, rows: Sequence[Mapping[str, Any]]) -> None:
        """Make the links and tags of chunks anew, given as whole rows."""
        row_ids = {row["chunk_id"]: row["row_id"] for row in rows}
        for table in (CHUNK_ENTITIES, CHUNK_TAGS):
            self._session.run(table.delete().where(self._session.among(table.c.chunk_row_id, row_ids.values())))
        self._link(row_ids, rows)

    def remove(self, rows: Sequence[Mapping[str, Any]]) -> None:
        """Take chunks out for good, given as whole rows; links, tags and vectors go with them."""
        self.withdraw_consolidations([row["row_id"] for row in rows])
        self._lexical.remove([(row["row_id"], _searchable(row)) for row in rows])
        if rows:
            gone = [{"gone_row": row["row_id"]} for row in rows]
            self._session.run(CHUNKS.delete().where(CHUNKS.c.row_id == bindparam("gone_row")), gone)
        self._outbox.queue([row["chunk_id"] for row in rows], "delete")

    def forget_words(self) -> None:
        """Take all chunks of the project out of the index of words, for they are about to go."""
        if not self._session.is_sqlite:
            # There the words of a chunk go with it.
            return
        for rows in batches(self._session.select([CHUNKS.c.row_id, CHUNKS.c.content, CHUNKS.c.short])):
            self._lexical.remove([(row.row_id, searchable_text(row.content, row.short)) for row in rows])

    def withdraw_consolidations(self, row_ids: Sequence[int]) -> None:
        """Take back the consolidated memories that stand for any of the memories."""
        found: dict[int, dict[str, Any]] = {}
        for batch in batches(row_ids):
            found |= _standing_for(self._session, _SOURCE.c.row_id.in_(batch))
        self._take_back(list(found.values()))

    def reposition(self, scene_ids: Sequence[str]) -> None:
        """Queue the chunks of scenes whose position changed: the index holds a copy of it."""
        sources = self._session.among(_SOURCE.c.scene_id, scene_ids)
        self._take_back(list(_standing_for(self._session, sources).values()))
        of_scenes = self._session.among(CHUNKS.c.scene_id, scene_ids)
        moved = select(CHUNKS.c.chunk_id).where(of_scenes, CHUNKS.c.status == "active")
        self._outbox.queue(list(self._session.connection.scalars(moved)), "upsert")

    def _withdraw_superseded(self, rows: Sequence[Mapping[str, Any]]) -> None:
        ended = [row["supersedes"] for row in rows if row["supersedes"]]
        if ended:
            named = self._session.among(_SOURCE.c.source_id, ended)
            self._take_back(list(_standing_for(self._session, self._session.owns(_SOURCE) & named).values()))

    def _take_back(self, consolidated: Sequence[Mapping[str, Any]]) -> None:
        if consolidated:
            self.remove(consolidated)

    def _link(self, row_ids: Mapping[str, int], rows: Sequence[Mapping[str, Any]]) -> None:
        links = [link for row in rows for link in link_rows(row_ids[row["chunk_id"]], row)]
        tags = [
            {"chunk_row_id": row_ids[row["chunk_id"]], "tag": tag} for row in rows for tag in dict.fromkeys(row["tags"])
        ]
        self._session.insert(CHUNK_ENTITIES, links)
        self._session.insert(CHUNK_TAGS, tags)


def link_rows(chunk_row_id: int, row: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the link rows of a memory, given as its row: derived links, and those set by hand."""
    attached, detached = row.get("attached") or [], row.get("detached") or []
    # What an author says of a note is among `attached`; the rest its own words name.
    derived_kind = "mention" if row["content_type"] == "note" else LINK_KIND_BY_ORIGIN[row["origin"]]
    return [
        {"chunk_row_id": chunk_row_id, "entity_id": target, "kind": "manual" if target in attached else derived_kind}
        for target in linked_targets(row["entities_mentioned"], attached, detached)
    ]


def _searchable(row: Mapping[str, Any]) -> str:
    return searchable_text(row["content"], row["short"])
