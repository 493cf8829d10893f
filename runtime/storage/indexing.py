"""What the vector index is to hold and has yet to follow."""

from collections.abc import Sequence
from typing import NamedTuple

from sqlalchemy import ColumnElement, and_, bindparam, func, not_, or_, select

from runtime.storage.records import WITHOUT_RECORD, OutboxEntry, OutboxOperation, OutboxState
from runtime.storage.session import Repository
from runtime.storage.tables import CHUNK_TAGS, CHUNKS, EMBEDDINGS, OUTBOX, SCENES

_BATCH = 1_000

_ERROR_LIMIT = 500

_TO_DO = ("pending", "failed")


class AwaitedMeaning(NamedTuple):
    """Memories that the index is to hold by meaning and that it has not followed yet, and how long their texts are."""

    memories: int
    characters: int


_CLAIMED = and_(
    OUTBOX.c.project_id == bindparam("claimed_project"),
    OUTBOX.c.chunk_id == bindparam("claimed_chunk"),
    OUTBOX.c.revision == bindparam("claimed_revision"),
)
"""The entry as it was claimed: its revision grows when the chunk changes again."""


class OutboxRepository(Repository):
    """Queues changes and marks them done or failed; every method may be repeated without harm."""

    def queue(self, chunk_ids: Sequence[str], operation: OutboxOperation) -> None:
        """Ask for a change of chunks in the index; it replaces whatever was asked for them before."""
        statement = self._session.upsert(OUTBOX)
        statement = statement.on_conflict_do_update(
            index_elements=["project_id", "chunk_id"],
            set_={
                "operation": statement.excluded.operation,
                "state": "pending",
                "attempts": 0,
                "last_error": None,
                "revision": OUTBOX.c.revision + 1,
            },
        )
        new = {"project_id": self._session.project_id, "operation": operation, "revision": 1}
        rows = [
            new | {"chunk_id": chunk_id, "state": "pending", "attempts": 0} for chunk_id in dict.fromkeys(chunk_ids)
        ]
        if rows:
            self._session.run(statement, rows)

    def claim(self, *, limit: int = _BATCH) -> list[OutboxEntry]:
        """Return what is to be done, oldest first, failed entries included.

        Claiming takes nothing away: an entry stays until it is marked, so that a worker that dies loses
        nothing, and doing one twice is harmless.
        """
        order = [OUTBOX.c.state.desc(), OUTBOX.c.row_id]
        return self._session.models(OutboxEntry, OUTBOX, OUTBOX.c.state.in_(_TO_DO), order=order, limit=limit)

    def mark_done(self, entries: Sequence[OutboxEntry]) -> None:
        """Mark entries as done; one whose chunk changed since it was claimed stays pending."""
        deleted = [_key(entry) for entry in entries if entry.operation == "delete"]
        upserted = [_key(entry) for entry in entries if entry.operation == "upsert"]
        if deleted:
            self._session.run(OUTBOX.delete().where(_CLAIMED), deleted)
        if upserted:
            self._session.run(OUTBOX.update().where(_CLAIMED).values(state="done", last_error=None), upserted)

    def mark_failed(self, entries: Sequence[OutboxEntry], error: str) -> None:
        """Mark entries as failed, with the reason, and count the attempt."""
        failed = {"state": "failed", "attempts": OUTBOX.c.attempts + 1, "last_error": error[:_ERROR_LIMIT]}
        if entries:
            statement = OUTBOX.update().where(_CLAIMED).values(**failed)
            self._session.run(statement, [_key(entry) for entry in entries])

    def awaited(self, *, limit: int | None = None) -> AwaitedMeaning:
        """Count what waits for the index and is found by words alone until then."""
        entries = (
            select(OUTBOX.c.chunk_id)
            .where(self._session.owns(OUTBOX), OUTBOX.c.state.in_(_TO_DO))
            .order_by(OUTBOX.c.state.desc(), OUTBOX.c.row_id)
            .limit(limit)
            .subquery()
        )
        statement = (
            select(func.count(), func.coalesce(func.sum(func.length(CHUNKS.c.content)), 0))
            .select_from(entries.join(CHUNKS, CHUNKS.c.chunk_id == entries.c.chunk_id))
            .where(self._session.owns(CHUNKS), CHUNKS.c.status == "active", CHUNKS.c.is_indexed)
        )
        ((memories, characters),) = self._session.rows(statement)
        return AwaitedMeaning(memories, int(characters))

    def counts(self) -> dict[OutboxState, int]:
        """Return the number of entries per state; a state without any is 0."""
        statement = select(OUTBOX.c.state, func.count()).where(self._session.owns(OUTBOX)).group_by(OUTBOX.c.state)
        found = {row[0]: row[1] for row in self._session.rows(statement)}
        return {"pending": found.get("pending", 0), "done": found.get("done", 0), "failed": found.get("failed", 0)}


def _key(entry: OutboxEntry) -> dict[str, object]:
    return {"claimed_project": entry.project_id, "claimed_chunk": entry.chunk_id, "claimed_revision": entry.revision}


class EmbeddingChoice(NamedTuple):
    """Whether raw passages and key events beside a scene's record are embedded; key events bear a tag."""

    passages: bool
    key_events: bool
    key_event_tag: str


class EmbeddingChoiceRepository(Repository):
    """Compares stored memories with a choice, and lets it hold for them."""

    def otherwise(self, choice: EmbeddingChoice) -> list[str]:
        """Return the ids of memories that were stored under another choice, sorted; an author's are left alone."""
        tagged = select(CHUNK_TAGS.c.chunk_row_id).where(
            self._session.owns(CHUNK_TAGS), CHUNK_TAGS.c.tag == choice.key_event_tag
        )
        is_passage = CHUNKS.c.content_type == "scene"
        is_key_event = and_(CHUNKS.c.content_type == "summary", CHUNKS.c.row_id.in_(tagged))
        statement = (
            select(CHUNKS.c.chunk_id)
            .select_from(CHUNKS.join(SCENES, SCENES.c.scene_id == CHUNKS.c.scene_id))
            .where(
                self._session.owns(CHUNKS),
                CHUNKS.c.from_scene,
                CHUNKS.c.origin != "author",
                CHUNKS.c.status == "active",
                SCENES.c.record_origin != WITHOUT_RECORD,
                or_(
                    and_(is_passage, _is_otherwise(choice.passages)),
                    and_(is_key_event, _is_otherwise(choice.key_events)),
                ),
            )
        )
        return sorted(self._session.connection.scalars(statement))

    def apply(self, choice: EmbeddingChoice) -> int:
        """Let a choice hold for what is stored and queue it for the index; return for how many memories it is new.

        The story does not count as changed.
        """
        chunk_ids = self.otherwise(choice)
        chosen = and_(self._session.owns(CHUNKS), self._session.among(CHUNKS.c.chunk_id, chunk_ids))
        self._session.update(CHUNKS, chosen, is_indexed=not_(CHUNKS.c.is_indexed))
        by_words_only = select(CHUNKS.c.row_id).where(chosen, not_(CHUNKS.c.is_indexed))
        self._session.run(EMBEDDINGS.delete().where(EMBEDDINGS.c.chunk_row_id.in_(by_words_only)))
        OutboxRepository(self._session).queue(chunk_ids, "upsert")
        return len(chunk_ids)


def _is_otherwise(is_embedded: bool) -> ColumnElement[bool]:
    return not_(CHUNKS.c.is_indexed) if is_embedded else CHUNKS.c.is_indexed.is_(True)
