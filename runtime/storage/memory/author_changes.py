"""What an author changed in memories and scenes, kept with what was there before, so that it can be taken back."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Literal

from pydantic import BaseModel, Field
from sqlalchemy import func, select

from novelgen.errors import UnknownIdError, UserInputError
from runtime.storage.memory.lexical import index_tokens, searchable_text
from runtime.storage.memory.rows import text_hash
from runtime.storage.memory.writer import ChunkWriter
from runtime.storage.session import AnyRow, Repository
from runtime.storage.tables import AUTHOR_CHANGES, CHUNKS

AuthorChangeKind = Literal[
    "add", "edit", "confirm", "delete", "pin", "unpin", "ban", "unban", "text", "record", "title"
]
"""The first eight are of a memory, the others of a scene."""

MAX_KEPT_CHANGES = 500
"""Of one project; the oldest are forgotten, and cannot be taken back any more."""

Image = dict[str, Any]

_MEMORY_COLUMNS = (
    "content",
    "short",
    "importance",
    "tags",
    "entities_mentioned",
    "attached",
    "detached",
    "event_type",
    "verified",
    "span_start",
    "span_end",
    "origin",
    "status",
    "pinned",
)
"""Columns of a memory that an author may change."""

_NOT_ADDED: Image = {"status": "deleted"}
"""A memory that was added is taken back as a deleted one."""


class AuthorChange(BaseModel):
    """Something that an author changed; `before` and `after` hold what differs, by name."""

    change_id: int
    kind: AuthorChangeKind
    chunk_id: str | None = Field(default=None, description="Of a change of a memory.")
    scene_id: str | None = Field(default=None, description="Of a change of a scene.")
    before: Image
    after: Image
    created_at: datetime
    undone_at: datetime | None = None


class AuthorChangeJournal(Repository):
    """Keeps what an author changed, and puts memories back."""

    def memory_image(self, chunk_id: str) -> Image:
        """Return what an author may change of a stored memory, to be given to `keep_memory` after the change."""
        row = self._memory_row(chunk_id)
        return {name: row[name] for name in _MEMORY_COLUMNS}

    def keep_memory(self, kind: AuthorChangeKind, chunk_id: str, before: Mapping[str, Any]) -> AuthorChange | None:
        """Write down how a memory was changed; None where it is as it was."""
        after = self.memory_image(chunk_id)
        changed = [name for name, value in after.items() if before[name] != value]
        if not changed:
            return None
        images = {name: before[name] for name in changed}, {name: after[name] for name in changed}
        return self._keep(kind, *images, chunk_id=chunk_id)

    def keep_added(self, chunk_id: str) -> AuthorChange:
        """Write down that a memory was added."""
        return self._keep("add", _NOT_ADDED, {"status": "active"}, chunk_id=chunk_id)

    def keep_scene(self, kind: AuthorChangeKind, scene_id: str, before: Image, after: Image) -> AuthorChange | None:
        """Write down how a scene was changed; None where it is as it was."""
        changed = [name for name, value in after.items() if before[name] != value]
        if not changed:
            return None
        images = {name: before[name] for name in changed}, {name: after[name] for name in changed}
        return self._keep(kind, *images, scene_id=scene_id)

    def latest(self, limit: int) -> list[AuthorChange]:
        """Return the last changes, the latest first, those that were taken back included."""
        rows = self._session.rows(
            select(AUTHOR_CHANGES)
            .where(self._session.owns(AUTHOR_CHANGES))
            .order_by(AUTHOR_CHANGES.c.row_id.desc())
            .limit(limit)
        )
        return [_change(row) for row in rows]

    def require(self, change_id: int) -> AuthorChange:
        """Return a change that can still be taken back."""
        statement = select(AUTHOR_CHANGES).where(
            self._session.owns(AUTHOR_CHANGES), AUTHOR_CHANGES.c.row_id == change_id
        )
        row = self._session.connection.execute(statement).one_or_none()
        if row is None:
            raise UnknownIdError(f"no change {change_id!r} is kept; list the changes")
        change = _change(row)
        if change.undone_at is not None:
            raise UserInputError(f"change {change_id!r} was taken back already")
        return change

    def restore_memory(self, change: AuthorChange) -> None:
        """Put a memory back as it was before a change."""
        row = self._memory_row(change.chunk_id or "")
        require_as_left(change, row)
        values = dict(change.before)
        content, short = values.get("content", row["content"]), values.get("short", row["short"])
        values |= {
            "content_hash": text_hash(content, short),
            "term_count": len(index_tokens(searchable_text(content, short))),
        }
        self._session.touch()
        ChunkWriter(self._session).update(row, values)

    def mark_undone(self, change_id: int) -> None:
        """Note that a change was taken back now."""
        own = self._session.owns(AUTHOR_CHANGES), AUTHOR_CHANGES.c.row_id == change_id
        self._session.run(AUTHOR_CHANGES.update().where(*own).values(undone_at=self._session.now()))

    def _memory_row(self, chunk_id: str) -> dict[str, Any]:
        statement = select(CHUNKS).where(self._session.owns(CHUNKS), CHUNKS.c.chunk_id == chunk_id)
        row = self._session.connection.execute(statement).mappings().one_or_none()
        if row is None:
            raise UserInputError(f"memory {chunk_id!r} is gone; its scene was deleted, or does not say it any more")
        return dict(row)

    def _keep(
        self,
        kind: AuthorChangeKind,
        before: Image,
        after: Image,
        *,
        chunk_id: str | None = None,
        scene_id: str | None = None,
    ) -> AuthorChange:
        values = {
            "project_id": self._session.project_id,
            "kind": kind,
            "chunk_id": chunk_id,
            "scene_id": scene_id,
            "before": before,
            "after": after,
            "created_at": self._session.now(),
        }
        statement = AUTHOR_CHANGES.insert().values(**values).returning(AUTHOR_CHANGES.c.row_id)
        number = self._session.connection.execute(statement).scalar_one()
        self._forget_old()
        return self.require(number)

    def _forget_old(self) -> None:
        own = self._session.owns(AUTHOR_CHANGES)
        numbers = select(AUTHOR_CHANGES.c.row_id).where(own).order_by(AUTHOR_CHANGES.c.row_id.desc())
        last = self._session.connection.scalar(select(func.min(numbers.limit(MAX_KEPT_CHANGES).subquery().c.row_id)))
        self._session.run(AUTHOR_CHANGES.delete().where(own, AUTHOR_CHANGES.c.row_id < last))


def require_as_left(change: AuthorChange, now: Mapping[str, Any]) -> None:
    """Refuse to take a change back when what it altered was altered again since."""
    other = [name for name, value in change.after.items() if now[name] != value]
    if other:
        raise UserInputError(
            f"{other[0]} was changed again after change {change.change_id}; take the later change back first"
        )


def _change(row: AnyRow) -> AuthorChange:
    fields = dict(row._mapping)
    return AuthorChange.model_validate({**fields, "change_id": fields["row_id"]})
