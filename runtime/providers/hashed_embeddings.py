"""Embeddings from hashed character n-grams: no model, no download, the same everywhere."""

from __future__ import annotations

import math
import unicodedata
import zlib
from collections import Counter
from collections.abc import Sequence

from langchain_core.embeddings import Embeddings

NGRAM_LENGTHS = (1, 2, 3)
LONGER_NGRAMS_WEIGH_MORE = 1.5


class HashedNgramEmbeddings(Embeddings):
    """Counts hashed character n-grams; texts that share words or characters are near, meaning is unknown.

    For tests and for trying things out. Both languages work alike; case and width do not count. A text
    without letters or digits gets the first unit vector.

    Args:
        dimension: Length of the vectors, at least 8.
    """

    def __init__(self, dimension: int) -> None:
        self.dimension = dimension
        self.model_name = f"fake:{dimension}"

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        """Embed texts, in their order, as vectors of length one."""
        return [self._embed(text) for text in texts]

    def embed_query(self, text: str) -> list[float]:
        """Embed a query exactly as a document."""
        return self._embed(text)

    def _embed(self, text: str) -> list[float]:
        vector = [0.0] * self.dimension
        for ngram, count in Counter(_ngrams(text)).items():
            bucket = zlib.crc32(ngram.encode())
            sign = 1.0 if bucket & 0x80000000 else -1.0
            vector[bucket % self.dimension] += (
                sign * (1 + math.log(count)) * LONGER_NGRAMS_WEIGH_MORE ** len(ngram)
            )
        return _unit(vector)


def _ngrams(text: str) -> list[str]:
    folded = unicodedata.normalize("NFKC", text.encode(errors="ignore").decode()).casefold()
    words = "".join(each if each.isalnum() else " " for each in folded).split()
    return [
        word[start : start + length]
        for word in words
        for length in NGRAM_LENGTHS
        for start in range(len(word) - length + 1)
    ]


def _unit(vector: Sequence[float]) -> list[float]:
    norm = math.sqrt(sum(value * value for value in vector))
    if norm == 0:
        return [1.0, *[0.0] * (len(vector) - 1)]
    return [value / norm for value in vector]
