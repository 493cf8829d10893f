"""Every failure of Chroma has a place in our error tree."""

import inspect
import pickle
import sqlite3

import httpx
import pytest
from chromadb import errors as chroma_errors

from novelgen.errors import EmbeddingMismatchError, VectorIndexDamagedError, VectorIndexError
from runtime.index.chroma_index import map_failure

KNOWN_TO_CHROMA = set(
    """
    ChromaError InvalidDimensionException IDAlreadyExistsError ChromaAuthError DuplicateIDError InvalidArgumentError
    InvalidUUIDError InvalidHTTPVersion AuthorizationError NotFoundError UniqueConstraintError BatchSizeExceededError
    VersionMismatchError InternalError RateLimitError QuotaError
    """.split()
)


def test_every_error_class_of_chroma_was_looked_at() -> None:
    """A class that a new version of Chroma adds fails here until someone decides what it means."""
    found = {
        name
        for name, member in inspect.getmembers(chroma_errors, inspect.isclass)
        if issubclass(member, chroma_errors.ChromaError)
    }
    assert found == KNOWN_TO_CHROMA


@pytest.mark.parametrize(
    ("failure", "expected", "message"),
    [
        (chroma_errors.InternalError("error returned from database: (code: 26) x"), VectorIndexDamagedError, "26"),
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


def test_a_server_that_wants_a_key_names_the_settings() -> None:
    """Refused for want of a token or a header, the message says which settings send them."""
    answer = httpx.Response(401, request=httpx.Request("GET", "http://127.0.0.1:9"))
    refusal = httpx.HTTPStatusError("401 Unauthorized", request=answer.request, response=answer)
    for error in (refusal, chroma_errors.ChromaAuthError("no"), chroma_errors.AuthorizationError("no")):
        assert "chroma_token and chroma_headers" in str(map_failure(error))


@pytest.mark.parametrize("kind", [VectorIndexError, VectorIndexDamagedError, EmbeddingMismatchError])
def test_errors_cross_the_channel(kind: type[VectorIndexError]) -> None:
    """An error raised in the process of the index is the same kind in the program."""
    returned = pickle.loads(pickle.dumps(kind("说明")))
    assert (type(returned), str(returned)) == (kind, "说明")
