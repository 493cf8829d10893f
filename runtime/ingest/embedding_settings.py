"""Letting the settings of what is embedded hold for scenes that are stored already."""

from __future__ import annotations

from runtime.ingest.scene_chunks import KEY_EVENT_TAG
from runtime.settings import IngestSettings
from runtime.storage.memory.outbox import EmbeddingChoice
from runtime.stores import MemoryStores


def stored_otherwise(stores: MemoryStores, project_id: str) -> int:
    """Count the memories that are embedded, or not, against `memory.ingest`: an unchanged scene keeps what it has.

    Raises:
        UnknownProjectError: When no such project is stored.
        DatabaseError: When the database fails.
    """
    choice = _choice(stores.settings.memory.ingest)
    with stores.database(project_id).read() as unit:
        return len(unit.embedding_choices.otherwise(choice))


def apply_embedding_settings(stores: MemoryStores, project_id: str) -> int:
    """Let `memory.ingest` hold for all stored scenes; the index follows at its next turn.

    Returns:
        How many memories it is new for.

    Raises:
        UnknownProjectError: When no such project is stored.
        DatabaseError: When the database fails; nothing is changed then.
    """
    choice = _choice(stores.settings.memory.ingest)
    with stores.database(project_id).write() as unit:
        return unit.embedding_choices.apply(choice)


def _choice(settings: IngestSettings) -> EmbeddingChoice:
    return EmbeddingChoice(
        passages=settings.embed_passages, key_events=settings.embed_key_events, key_event_tag=KEY_EVENT_TAG
    )
