"""Every failure of Chroma has a place in our error tree."""

from __future__ import annotations

import inspect
import sqlite3

import httpx
import pytest
from chromadb import errors as chroma_errors

from novelgen.errors import EmbeddingMismatchError, VectorIndexDamagedError, VectorIndexError
from runtime.vectors.error_mapping import CHROMA_ERRORS, map_failure
from runtime.vectors.wire_errors import error_from_wire, error_to_wire


def test_every_error_class_of_chroma_is_mapped() -> None:
    """A class that a new version of Chroma adds fails here until someone decides what it means."""
    known = {
        member
        for _, member in inspect.getmembers(chroma_errors, inspect.isclass)
        if issubclass(member, chroma_errors.ChromaError)
    }
    assert known == set(CHROMA_ERRORS)


@pytest.mark.parametrize(
    ("failure", "expected", "message"),
    [
        (
            chroma_errors.InternalError("error returned from database: (code: 26) x"),
            VectorIndexDamagedError,
            "26",
        ),
        (chroma_errors.InternalError("(code: 1032) moved"), VectorIndexDamagedError, "rebuild it"),
        (chroma_errors.InternalError("Error finding id"), VectorIndexDamagedError, "rebuild it"),
        (
            chroma_errors.InvalidArgumentError("Error in compaction: Failed to pull logs from the log store"),
            VectorIndexDamagedError,
            "rebuild it",
        ),
        (chroma_errors.InternalError("(code: 5) busy"), VectorIndexError, "locked by another process"),
        (chroma_errors.InternalError("(code: 13) full"), VectorIndexError, "its disk is full"),
        (chroma_errors.InternalError("something new"), VectorIndexError, "InternalError.*something new"),
        (chroma_errors.InvalidDimensionException("16 not 8"), EmbeddingMismatchError, "16 not 8"),
        (httpx.ConnectError("refused"), VectorIndexError, "server cannot be reached"),
        (sqlite3.DatabaseError("malformed"), VectorIndexDamagedError, "malformed"),
        (sqlite3.OperationalError("locked"), VectorIndexError, "locked"),
        (PermissionError(13, "denied"), VectorIndexError, "denied"),
    ],
)
def test_failures_become_errors_of_ours(failure: Exception, expected: type[Exception], message: str) -> None:
    """The kind tells damage from trouble that may pass, and the message keeps the cause."""
    mapped = map_failure(failure)
    assert type(mapped) is expected
    with pytest.raises(expected, match=message):
        raise mapped


@pytest.mark.parametrize("kind", [VectorIndexError, VectorIndexDamagedError, EmbeddingMismatchError])
def test_errors_cross_the_channel(kind: type[VectorIndexError]) -> None:
    """An error raised in the process of the index is the same kind in the program."""
    returned = error_from_wire(error_to_wire(kind("说明")))
    assert (type(returned), str(returned)) == (kind, "说明")
