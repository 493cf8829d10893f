"""Writing memories with everything that hangs on them: links, tags, words, outbox, consolidated memories."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from sqlalchemy import ColumnElement, bindparam, select

from novelgen.errors import UnknownProjectError, UserInputError
from novelgen.models.memory import linked_targets
from runtime.storage.memory.lexical import LexicalIndex, searchable_text
from runtime.storage.memory.outbox import OutboxRepository
from runtime.storage.records import OutboxOperation
from runtime.storage.session import StorageSession, batches
from runtime.storage.tables import (
    CHUNK_ENTITIES,
    CHUNK_TAGS,
    CHUNKS,
    CONSOLIDATION_SOURCES,
    EMBEDDINGS,
    PROJECTS,
    alias_with_columns,
)

_SOURCE = alias_with_columns(CHUNKS, "source")


def standing_for_rows(session: StorageSession, row_ids: Iterable[int]) -> list[dict[str, Any]]:
    """Return the whole rows of the consolidated memories that stand for any of the memories."""
    found: dict[int, dict[str, Any]] = {}
    for batch in batches(row_ids):
        found |= _standing_for(session, _SOURCE.c.row_id.in_(batch))
    return list(found.values())


def standing_for_scenes(session: StorageSession, scene_ids: Iterable[str]) -> list[dict[str, Any]]:
    """Return the whole rows of the consolidated memories that stand for any memory of the scenes."""
    return list(_standing_for(session, session.among(_SOURCE.c.scene_id, scene_ids)).values())


def standing_for_source_ids(session: StorageSession, source_ids: Iterable[str]) -> list[dict[str, Any]]:
    """Return the whole rows of the consolidated memories that stand for memories of these `source_id`s."""
    named = session.among(_SOURCE.c.source_id, source_ids)
    return list(_standing_for(session, (session.owns(_SOURCE)) & named).values())


def require_not_consolidated(session: StorageSession, row_id: int, chunk_id: str) -> None:
    """Refuse a change by hand of a consolidated memory."""
    links = CONSOLIDATION_SOURCES
    found = select(links.c.source_row_id).where(links.c.consolidated_row_id == row_id).limit(1)
    if session.connection.scalar(found) is not None:
        raise UserInputError(
            f"{chunk_id!r} stands for other memories and cannot be changed itself; change its sources, or "
            f"take it back with `novelgen memory unconsolidate PROJECT {chunk_id}`"
        )


def _standing_for(session: StorageSession, condition: ColumnElement[bool]) -> dict[int, dict[str, Any]]:
    links = CONSOLIDATION_SOURCES
    wanted = (
        select(links.c.consolidated_row_id).join(_SOURCE, _SOURCE.c.row_id == links.c.source_row_id).where(condition)
    )
    statement = select(CHUNKS).where(CHUNKS.c.row_id.in_(wanted)).order_by(CHUNKS.c.row_id)
    return {row["row_id"]: dict(row) for row in session.connection.execute(statement).mappings()}


LINK_KIND_BY_ORIGIN = {"record": "record", "extracted": "record", "text": "mention", "author": "manual"}


class ChunkWriter:
    """Writes chunks of one project inside one transaction.

    A consolidated memory is withdrawn, so that its sources are read again, when one of them is changed, removed,
    moved or superseded.
    """

    def __init__(self, session: StorageSession) -> None:
        self._session = session
        number = session.connection.scalar(select(PROJECTS.c.project_number).where(session.owns(PROJECTS)))
        if number is None:
            raise UnknownProjectError(f"no project {session.project_id!r} is stored; create it first")
        self._lexical = LexicalIndex(session, number)
        self._outbox = OutboxRepository(session)

    def insert(self, rows: Sequence[dict[str, Any]]) -> None:
        """Insert whole chunk rows (without `row_id`), index their words and queue them for the vector index."""
        if not rows:
            return
        self._session.insert(CHUNKS, rows)
        row_ids = self._row_ids([row["chunk_id"] for row in rows])
        self._link(row_ids, rows)
        self._lexical.add([(row_ids[row["chunk_id"]], _searchable(row)) for row in rows])
        self._outbox.queue(list(row_ids), "upsert")
        self._withdraw_superseded(rows)

    def update(self, old: Mapping[str, Any], new: dict[str, Any]) -> None:
        """Change a chunk; its vector goes only when its text changed."""
        row_id = old["row_id"]
        whole = {**old, **new}
        self.withdraw_consolidations([row_id])
        self._session.run(CHUNKS.update().where(CHUNKS.c.row_id == row_id).values(**new))
        if whole["content_hash"] != old["content_hash"]:
            self._lexical.remove([(row_id, _searchable(old))])
            self._lexical.add([(row_id, _searchable(whole))])
            self._session.run(EMBEDDINGS.delete().where(EMBEDDINGS.c.chunk_row_id == row_id))
        self._session.run(CHUNK_ENTITIES.delete().where(CHUNK_ENTITIES.c.chunk_row_id == row_id))
        self._session.run(CHUNK_TAGS.delete().where(CHUNK_TAGS.c.chunk_row_id == row_id))
        self._link({whole["chunk_id"]: row_id}, [whole])
        operation: OutboxOperation = "upsert" if whole["status"] == "active" else "delete"
        self._outbox.queue([whole["chunk_id"]], operation)
        self._withdraw_superseded([whole])

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
        told = select(CHUNKS.c.row_id, CHUNKS.c.content, CHUNKS.c.short).where(self._session.owns(CHUNKS))
        for rows in batches(self._session.rows(told)):
            self._lexical.remove([(row.row_id, searchable_text(row.content, row.short)) for row in rows])

    def withdraw_consolidations(self, row_ids: Sequence[int]) -> None:
        """Take back the consolidated memories that stand for any of the memories."""
        self._take_back(standing_for_rows(self._session, row_ids))

    def reposition(self, scene_ids: Sequence[str]) -> None:
        """Queue the chunks of scenes whose position changed: the index holds a copy of it."""
        self._take_back(standing_for_scenes(self._session, scene_ids))
        of_scenes = self._session.among(CHUNKS.c.scene_id, scene_ids)
        moved = select(CHUNKS.c.chunk_id).where(of_scenes, CHUNKS.c.status == "active")
        self._outbox.queue(list(self._session.connection.scalars(moved)), "upsert")

    def _withdraw_superseded(self, rows: Sequence[Mapping[str, Any]]) -> None:
        ended = [row["supersedes"] for row in rows if row["supersedes"]]
        if ended:
            self._take_back(standing_for_source_ids(self._session, ended))

    def _take_back(self, consolidated: Sequence[Mapping[str, Any]]) -> None:
        if consolidated:
            self.remove(consolidated)

    def _row_ids(self, chunk_ids: Sequence[str]) -> dict[str, int]:
        statement = select(CHUNKS.c.chunk_id, CHUNKS.c.row_id).where(
            self._session.owns(CHUNKS), self._session.among(CHUNKS.c.chunk_id, chunk_ids)
        )
        return {row[0]: row[1] for row in self._session.rows(statement)}

    def _link(self, row_ids: Mapping[str, int], rows: Sequence[Mapping[str, Any]]) -> None:
        links = [link for row in rows for link in link_rows(self._session.project_id, row_ids[row["chunk_id"]], row)]
        tags = [
            {"chunk_row_id": row_ids[row["chunk_id"]], "tag": tag, "project_id": self._session.project_id}
            for row in rows
            for tag in dict.fromkeys(row["tags"])
        ]
        self._session.insert(CHUNK_ENTITIES, links)
        self._session.insert(CHUNK_TAGS, tags)


def link_rows(project_id: str, chunk_row_id: int, row: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the link rows of a memory, given as its row: derived links, and those set by hand."""
    attached, detached = row.get("attached") or [], row.get("detached") or []
    # What an author says of a note is among `attached`; the rest its own words name.
    derived_kind = "mention" if row["content_type"] == "note" else LINK_KIND_BY_ORIGIN[row["origin"]]
    return [
        {
            "chunk_row_id": chunk_row_id,
            "entity_id": target,
            "project_id": project_id,
            "kind": "manual" if target in attached else derived_kind,
        }
        for target in linked_targets(row["entities_mentioned"], attached, detached)
    ]


def _searchable(row: Mapping[str, Any]) -> str:
    return searchable_text(row["content"], row["short"])
