"""The one border at which failures of Chroma and what it stands on become errors of novelgen."""

from __future__ import annotations

import re
import sqlite3

import httpx
from chromadb import errors as chroma_errors

from novelgen.errors import EmbeddingMismatchError, VectorIndexDamagedError, VectorIndexError

BACKEND_FAILURES: tuple[type[Exception], ...] = (
    chroma_errors.ChromaError,
    httpx.HTTPError,
    OSError,
    sqlite3.Error,
)
"""What Chroma, its HTTP client, the disk and SQLite raise; anything else is a bug of ours."""

CHROMA_ERRORS: dict[type[Exception], type[VectorIndexError]] = {
    chroma_errors.ChromaError: VectorIndexError,
    chroma_errors.InvalidDimensionException: EmbeddingMismatchError,
    chroma_errors.IDAlreadyExistsError: VectorIndexError,
    chroma_errors.ChromaAuthError: VectorIndexError,
    chroma_errors.DuplicateIDError: VectorIndexError,
    chroma_errors.InvalidArgumentError: VectorIndexError,
    chroma_errors.InvalidUUIDError: VectorIndexDamagedError,
    chroma_errors.InvalidHTTPVersion: VectorIndexError,
    chroma_errors.AuthorizationError: VectorIndexError,
    chroma_errors.NotFoundError: VectorIndexError,
    chroma_errors.UniqueConstraintError: VectorIndexError,
    chroma_errors.BatchSizeExceededError: VectorIndexError,
    chroma_errors.VersionMismatchError: VectorIndexDamagedError,
    chroma_errors.InternalError: VectorIndexError,
    chroma_errors.RateLimitError: VectorIndexError,
    chroma_errors.QuotaError: VectorIndexError,
}

_SQLITE_CODE = re.compile(r"\(code: (\d+)\)")
_SQLITE_MEANINGS = {
    5: "it is locked by another process",
    6: "it is locked by another process",
    8: "it is read-only",
    10: "its disk failed",
    13: "its disk is full",
    14: "it cannot be opened",
}
_DAMAGED_SQLITE_CODES = frozenset({11, 26, 1032})
_DAMAGED_PHRASES = (
    "finding id",
    "hnsw",
    "malformed",
    "not a database",
    "pickle",
    "no such table",
    # Met after damaged pages, and on a full disk, where the index cannot be read any more either.
    "error in compaction",
)


def map_failure(error: Exception) -> VectorIndexError:
    """Translate one of `BACKEND_FAILURES`.

    Args:
        error: What the backend raised.

    Returns:
        The error to raise in its place; the caller chains the cause.
    """
    if isinstance(error, chroma_errors.ChromaError):
        return _map_chroma(error)
    if isinstance(error, httpx.HTTPError):
        return VectorIndexError(f"the Chroma server cannot be reached or did not answer: {error!r}")
    if isinstance(error, sqlite3.DatabaseError) and not isinstance(error, sqlite3.OperationalError):
        return VectorIndexDamagedError(f"the vector index is damaged ({error}); rebuild it")
    return VectorIndexError(f"the vector index failed: {error!r}")


def _map_chroma(error: chroma_errors.ChromaError) -> VectorIndexError:
    text = str(error)
    found = _SQLITE_CODE.search(text)
    code = int(found.group(1)) if found else None
    if code in _DAMAGED_SQLITE_CODES or any(phrase in text.lower() for phrase in _DAMAGED_PHRASES):
        return VectorIndexDamagedError(f"the vector index is damaged ({text}); rebuild it")
    if code in _SQLITE_MEANINGS:
        return VectorIndexError(f"the vector index cannot be used: {_SQLITE_MEANINGS[code]} ({text})")
    return _class_of(error)(f"the vector index failed ({type(error).__name__}): {text}")


def _class_of(error: chroma_errors.ChromaError) -> type[VectorIndexError]:
    return next(CHROMA_ERRORS[kind] for kind in type(error).__mro__ if kind in CHROMA_ERRORS)
