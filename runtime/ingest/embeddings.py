"""Vectors for memories, equal texts embedded once, and the settings of what is embedded, for scenes stored before."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from novelgen.models.memory import StoryMemoryChunk
from runtime.ingest.scene_facts import KEY_EVENT_TAG
from runtime.settings import IngestSettings
from runtime.storage.database import ProjectDatabase
from runtime.storage.indexing import EmbeddingChoice
from runtime.stores import MemoryStores

Vector = NDArray[np.float32]

TEXTS_REMEMBERED = 4_096
"""Texts of one pass whose vectors are kept at hand for equal ones: 6 MB at 384 dimensions."""


class ChunkVectors:
    """Gives chunks of a project their vectors under the configured model, and keeps new ones in SQL."""

    def __init__(self, stores: MemoryStores, project_id: str) -> None:
        self._stores = stores
        self._project_id = project_id
        self._database: ProjectDatabase = stores.database(project_id)
        self._by_text: dict[str, Vector] = {}
        self.embedded = 0
        """Texts that were really embedded so far."""

    def vectors_of(self, chunks: Sequence[StoryMemoryChunk]) -> dict[str, Vector]:
        """Return the vector of each chunk by chunk id.

        A chunk whose text was changed by somebody else in the meantime is left out: its own entry in the
        outbox comes next.
        """
        stored = self.stored([chunk.chunk_id for chunk in chunks])
        lacking = [chunk for chunk in chunks if chunk.chunk_id not in stored]
        return stored | (self._kept(self._embedded(lacking)) if lacking else {})

    def stored(self, chunk_ids: Sequence[str]) -> dict[str, Vector]:
        """Return those vectors of the configured model that SQL holds, by chunk id."""
        model, dimension = self._stores.embedding_identity
        with self._database.read() as unit:
            ids, matrix = unit.embeddings.matrix(model, ids=chunk_ids, with_sources=True)
        # A model that changed its dimension under the same name: what it made before is of no use.
        return dict(zip(ids, matrix, strict=True)) if matrix.shape[1] == dimension else {}

    def _embedded(self, chunks: Sequence[StoryMemoryChunk]) -> dict[str, tuple[str, Vector]]:
        texts = [text for text in dict.fromkeys(chunk.content for chunk in chunks) if text not in self._by_text]
        vectors = self._stores.embeddings.embed_documents(texts)
        if len(self._by_text) > TEXTS_REMEMBERED:
            self._by_text = {
                chunk.content: self._by_text[chunk.content] for chunk in chunks if chunk.content in self._by_text
            }
        self.embedded += len(texts)
        self._by_text |= {text: np.asarray(vector, np.float32) for text, vector in zip(texts, vectors, strict=True)}
        return {chunk.chunk_id: (chunk.content, self._by_text[chunk.content]) for chunk in chunks}

    def _kept(self, embedded: Mapping[str, tuple[str, Vector]]) -> dict[str, Vector]:
        with self._database.write() as unit:
            current = unit.memories.by_ids(list(embedded), with_sources=True)
            fitting = {
                chunk.chunk_id: embedded[chunk.chunk_id][1]
                for chunk in current
                if chunk.content == embedded[chunk.chunk_id][0]
            }
            unit.embeddings.put(self._stores.embedding_identity.model_name, fitting)
        return fitting


Progress = Callable[[int, int], Any]
"""Called with what is done and what there is in all."""


def stored_otherwise(stores: MemoryStores, project_id: str) -> int:
    """Count the memories that are embedded, or not, against `memory.ingest`: an unchanged scene keeps what it has."""
    choice = _choice(stores.settings.memory.ingest)
    with stores.database(project_id).read() as unit:
        return len(unit.embedding_choices.otherwise(choice))


def apply_embedding_settings(stores: MemoryStores, project_id: str) -> int:
    """Let `memory.ingest` hold for all stored scenes; the index follows at its next turn."""
    choice = _choice(stores.settings.memory.ingest)
    with stores.database(project_id).write() as unit:
        return unit.embedding_choices.apply(choice)


def _choice(settings: IngestSettings) -> EmbeddingChoice:
    return EmbeddingChoice(
        passages=settings.embed_passages, key_events=settings.embed_key_events, key_event_tag=KEY_EVENT_TAG
    )
