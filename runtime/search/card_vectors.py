"""Vectors of cards on disk by the hash of their text, for later processes.

The file follows from texts alone and tells nothing of a position; it may be deleted at any time.
"""

import logging
import os
import tempfile
import zipfile
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from runtime.model_providers.embeddings import CheckedEmbeddings

logger = logging.getLogger(__name__)

FILE_NAME = "card_vectors.npz"

MAX_VECTORS = 10_000
"""Most vectors that the file keeps; the oldest go first."""

Vector = NDArray[np.float32]


class CardVectors:
    """Embeds the texts of cards, each text once for all processes.

    Args:
        folder: Folder of the file; where it is missing or cannot be written, vectors last as long as the process.
        embeddings: Embedding model.
    """

    def __init__(self, folder: Path, embeddings: CheckedEmbeddings) -> None:
        self._path = folder / FILE_NAME
        self._embeddings = embeddings
        self._vectors: dict[str, Vector] | None = None

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return the vectors of some texts, a row each.

        Raises:
            EmbeddingError: When the model fails.
        """
        if self._vectors is None:
            self._vectors = self._read()
        hashes = [_hash_of(text) for text in texts]
        new = {key: text for key, text in zip(hashes, texts, strict=True) if key not in self._vectors}
        if new:
            embedded = self._embeddings.embed_documents(list(new.values()))
            self._vectors |= {
                key: np.asarray(vector, dtype=np.float32) for key, vector in zip(new, embedded, strict=True)
            }
            self._write()
        return np.stack([self._vectors[key] for key in hashes])

    def _read(self) -> dict[str, Vector]:
        try:
            with np.load(self._path, allow_pickle=False) as archive:
                if str(archive["model"]) != self._embeddings.model_name:
                    return {}
                return dict(zip(archive["keys"].tolist(), archive["vectors"].astype(np.float32), strict=True))
        except FileNotFoundError:
            return {}
        except (OSError, ValueError, KeyError, zipfile.BadZipFile) as error:
            logger.info("the vectors of cards cannot be read and are made anew: %s", error)
            return {}

    def _write(self) -> None:
        """Write all vectors, those that another process has added meanwhile included."""
        if not self._path.parent.is_dir():
            return
        vectors = {**self._read(), **(self._vectors or {})}
        kept_keys = list(vectors)[-MAX_VECTORS:]
        try:
            handle, name = tempfile.mkstemp(dir=self._path.parent, prefix=FILE_NAME, suffix=".tmp")
            with os.fdopen(handle, "wb") as file:
                np.savez(
                    file,
                    model=np.asarray(self._embeddings.model_name),
                    keys=np.asarray(kept_keys),
                    vectors=np.stack([vectors[key] for key in kept_keys]),
                )
            Path(name).replace(self._path)
        except (OSError, ValueError) as error:
            logger.info("the vectors of cards are not kept: %s", error)


def _hash_of(text: str) -> str:
    return sha256(text.encode("utf-8")).hexdigest()
