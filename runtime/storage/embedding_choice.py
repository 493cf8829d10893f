"""Which memories of scenes the vector index is to hold, beside those that it always holds."""

from __future__ import annotations

from typing import NamedTuple

from sqlalchemy import ColumnElement, and_, case, or_, select

from novelgen.models.memory import WORDS_ONLY
from runtime.storage.outbox import OutboxRepository
from runtime.storage.session import StorageSession
from runtime.storage.tables import CHUNK_TAGS, CHUNKS, EMBEDDINGS, SCENES

WITHOUT_RECORD = "rules"
"""The `record_origin` of a scene that only its text speaks for: all its passages are embedded."""


class EmbeddingChoice(NamedTuple):
    """Whether raw passages and key events beside a scene's record are embedded; key events bear a tag."""

    passages: bool
    key_events: bool
    key_event_tag: str


class EmbeddingChoiceRepository:
    """Compares stored memories with a choice, and lets it hold for them.

    Args:
        session: The transaction to work in.
    """

    def __init__(self, session: StorageSession) -> None:
        self._session = session

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
        turned = case((CHUNKS.c.embedding_id == WORDS_ONLY, CHUNKS.c.chunk_id), else_=WORDS_ONLY)
        self._session.run(CHUNKS.update().where(chosen).values(embedding_id=turned))
        by_words_only = select(CHUNKS.c.row_id).where(chosen, CHUNKS.c.embedding_id == WORDS_ONLY)
        self._session.run(EMBEDDINGS.delete().where(EMBEDDINGS.c.chunk_row_id.in_(by_words_only)))
        OutboxRepository(self._session).queue(chunk_ids, "upsert")
        return len(chunk_ids)


def _is_otherwise(is_embedded: bool) -> ColumnElement[bool]:
    by_words_only = CHUNKS.c.embedding_id.is_not_distinct_from(WORDS_ONLY)
    return by_words_only if is_embedded else ~by_words_only
