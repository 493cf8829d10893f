"""The journal of merged and split entities, and undoing what it holds."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Literal

from pydantic import BaseModel, Field
from sqlalchemy import select

from novelgen.errors import UserInputError
from runtime.storage.consolidations import ConsolidationRepository
from runtime.storage.outbox import OutboxRepository
from runtime.storage.row_images import RowChange, restore_rows
from runtime.storage.session import AnyRow, StorageSession, batches
from runtime.storage.tables import CHUNKS, ENTITY_CHANGES


class EntityChange(BaseModel):
    """A merge (`other_id` became `entity_id`) or a split (`other_id` came out of `entity_id`)."""

    change_id: int
    kind: Literal["merge", "split"]
    entity_id: str
    other_id: str
    created_at: datetime
    undone_at: datetime | None = None
    changed_rows: int = Field(description="How many rows it changed.")


class EntityChangeJournal:
    """Keeps changes with the rows that they changed, and undoes them.

    Args:
        session: The transaction to work in.
    """

    def __init__(self, session: StorageSession) -> None:
        self._session = session

    def keep(
        self,
        kind: Literal["merge", "split"],
        entity_id: str,
        other_id: str,
        changes: Sequence[RowChange],
    ) -> EntityChange:
        """Write a change down and return it with its number."""
        values = {
            "project_id": self._session.project_id,
            "kind": kind,
            "entity_id": entity_id,
            "other_id": other_id,
            "created_at": self._session.now(),
            "changed_rows": [change.model_dump() for change in changes],
        }
        statement = ENTITY_CHANGES.insert().values(**values).returning(ENTITY_CHANGES.c.row_id)
        number = self._session.connection.execute(statement).scalar_one()
        return self.require(number)

    def list_all(self) -> list[EntityChange]:
        """Return all changes, the oldest first, undone ones included."""
        statement = (
            select(ENTITY_CHANGES).where(self._session.owns(ENTITY_CHANGES)).order_by(ENTITY_CHANGES.c.row_id)
        )
        return [_change(row) for row in self._session.rows(statement)]

    def require(self, change_id: int) -> EntityChange:
        """Return a change.

        Raises:
            UserInputError: When there is none of that number.
        """
        return _change(self._row(change_id))

    def undo(self, change_id: int) -> EntityChange:
        """Put everything back as it was before a change; what came since and has no part in it stays.

        Raises:
            UserInputError: When there is none of that number, it is undone already, or something that it
                changed was changed again since; nothing is undone then.
        """
        self._session.touch()
        row = self._row(change_id)
        if row.undone_at is not None:
            raise UserInputError(f"change {change_id!r} is undone already; list them to find another one")
        ConsolidationRepository(self._session).withdraw_linked([row.entity_id, row.other_id])
        changes = [RowChange.model_validate(each) for each in row.changed_rows]
        restore_rows(self._session, changes)
        self._queue_memories(changes)
        self._session.run(
            ENTITY_CHANGES.update()
            .where(ENTITY_CHANGES.c.row_id == change_id)
            .values(undone_at=self._session.now())
        )
        return self.require(change_id)

    def _queue_memories(self, changes: Sequence[RowChange]) -> None:
        touched = [
            str(change.before["chunk_id"])
            for change in changes
            if change.table == CHUNKS.name and change.before is not None
        ]
        for batch in batches(touched):
            active = select(CHUNKS.c.chunk_id).where(
                self._session.owns(CHUNKS),
                CHUNKS.c.chunk_id.in_(batch),
                CHUNKS.c.status == "active",
            )
            chunk_ids = list(self._session.connection.scalars(active))
            OutboxRepository(self._session).queue(chunk_ids, "upsert")

    def _row(self, change_id: int) -> AnyRow:
        statement = select(ENTITY_CHANGES).where(
            self._session.owns(ENTITY_CHANGES), ENTITY_CHANGES.c.row_id == change_id
        )
        row = self._session.connection.execute(statement).one_or_none()
        if row is None:
            raise UserInputError(f"no merge or split {change_id!r} is kept; list them to find its number")
        return row


def _change(row: AnyRow) -> EntityChange:
    return EntityChange(
        change_id=row.row_id,
        kind=row.kind,
        entity_id=row.entity_id,
        other_id=row.other_id,
        created_at=row.created_at,
        undone_at=row.undone_at,
        changed_rows=len(row.changed_rows),
    )
