"""The program of the process that owns an index, started by `IndexProcess`.

Its standard input is the private channel to the program that started it, over which objects of `multiprocessing`
travel: first the location of the index, then one operation after another. It ends when that program does, and no
request outlives its time: a watchdog of the interpreter ends the process even where native code holds its lock.
"""

import contextlib
import faulthandler
import os
import re
import signal
import sqlite3
import sys
import threading
import time
import traceback
from collections.abc import Sequence
from multiprocessing.connection import Connection
from typing import Any

import httpx
from chromadb import errors as chroma_errors

from novelgen.errors import EmbeddingMismatchError, VectorIndexDamagedError, VectorIndexError
from runtime.index.chroma_index import ChromaIndex, status_of
from runtime.index.locations import ChromaServer, IndexLocation

_WATCHDOG_MARGIN_S = 2.0
_PARENT_CHECK_S = 1.0

BACKEND_FAILURES: tuple[type[Exception], ...] = (chroma_errors.ChromaError, httpx.HTTPError, OSError, sqlite3.Error)
"""What Chroma, its HTTP client, the disk and SQLite raise; anything else is a bug of ours and ends the process."""

_MEANINGS: dict[type[Exception], type[VectorIndexError]] = {
    chroma_errors.InvalidDimensionException: EmbeddingMismatchError,
    chroma_errors.InvalidUUIDError: VectorIndexDamagedError,
    chroma_errors.VersionMismatchError: VectorIndexDamagedError,
}
_REFUSALS = (chroma_errors.ChromaAuthError, chroma_errors.AuthorizationError)
_REFUSED_STATUSES = (401, 403)
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
# Chroma's Rust core raises one InternalError for everything, so that damage beyond SQLite's codes shows in its text
# alone. The last is met after damaged pages, and on a full disk, where the index cannot be read any more either.
_DAMAGED_TEXT = re.compile(
    "finding id|hnsw|malformed|not a database|pickle|no such table|error in compaction", re.IGNORECASE
)


def main(arguments: Sequence[str]) -> int:
    """Serve one program, whose process id is the only argument, until it closes the channel."""
    parent_pid = int(arguments[0])
    # The channel is moved off standard input, so that nothing else can read from it.
    channel = Connection(os.dup(0))
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.close(null)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if hasattr(signal, "SIGXFSZ"):
        # A write beyond the limit of a file's length then fails, where it would end the process.
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, args=(parent_pid,), daemon=True).start()
    # The failures of the index itself are answers, so that this is the program that went away.
    with contextlib.suppress(ConnectionError):
        _serve(channel)
    return 0


def map_failure(error: Exception) -> VectorIndexError:
    """Translate one of `BACKEND_FAILURES`, the one border at which they become errors of novelgen."""
    text = str(error)
    if isinstance(error, _REFUSALS) or status_of(error) in _REFUSED_STATUSES:
        return VectorIndexError(
            f"the Chroma server refused the request ({text or type(error).__name__}); check the settings "
            "chroma_token and chroma_headers"
        )
    if isinstance(error, httpx.HTTPError):
        return VectorIndexError(f"the Chroma server cannot be reached or did not answer: {error!r}")
    if isinstance(error, sqlite3.DatabaseError) and not isinstance(error, sqlite3.OperationalError):
        return VectorIndexDamagedError(f"the vector index is damaged ({error}); rebuild it")
    if not isinstance(error, chroma_errors.ChromaError):
        return VectorIndexError(f"the vector index failed: {error!r}")
    found = _SQLITE_CODE.search(text)
    code = int(found.group(1)) if found else None
    if code in _DAMAGED_SQLITE_CODES or _DAMAGED_TEXT.search(text):
        return VectorIndexDamagedError(f"the vector index is damaged ({text}); rebuild it")
    if code in _SQLITE_MEANINGS:
        return VectorIndexError(f"the vector index cannot be used: {_SQLITE_MEANINGS[code]} ({text})")
    meant = next((_MEANINGS[kind] for kind in type(error).__mro__ if kind in _MEANINGS), VectorIndexError)
    return meant(f"the vector index failed ({type(error).__name__}): {text}")


def _serve(channel: Connection) -> None:
    location: IndexLocation = channel.recv()
    secrets = location.secrets if isinstance(location, ChromaServer) else ()
    index = ChromaIndex(location)
    channel.send(os.getpid())
    # The end of the channel is that of the program.
    with contextlib.suppress(EOFError):
        while True:
            operation, arguments, timeout_s = channel.recv()
            answer = _answer(index, operation, arguments, timeout_s=timeout_s)
            channel.send(_without(answer, secrets) if isinstance(answer, VectorIndexError) else answer)


def _without(error: VectorIndexError, secrets: Sequence[str]) -> VectorIndexError:
    """Return the same error without the secrets that a server may quote."""
    text = str(error)
    for secret in secrets:
        text = text.replace(secret, "…")
    return type(error)(text)


def _answer(index: ChromaIndex, operation: str, arguments: dict[str, Any], *, timeout_s: float) -> Any:
    """Do an operation; an error that the program should see is its answer."""
    faulthandler.dump_traceback_later(max(0.0, timeout_s) + _WATCHDOG_MARGIN_S, exit=True)
    try:
        return index.operations[operation](**arguments)
    except VectorIndexError as error:
        return error
    except BACKEND_FAILURES as error:
        return map_failure(error)
    except Exception as error:
        status = status_of(error)
        if status is None:
            raise
        text = f"the Chroma server, or what stands before it, answered with status {status}: {error}"
        return map_failure(error) if status in _REFUSED_STATUSES else VectorIndexError(text)
    finally:
        faulthandler.cancel_dump_traceback_later()


def _end_with_parent(parent_pid: int) -> None:
    """End the process when its parent is gone, even if a fork of the parent keeps the channel open."""
    while os.getppid() == parent_pid:
        time.sleep(_PARENT_CHECK_S)
    os._exit(0)


if __name__ == "__main__":
    try:
        code = main(sys.argv[1:])
    except BaseException:  # noqa: BLE001 - a bug of ours or a panic of Chroma: its last line is what the program tells
        traceback.print_exc()
        # An interpreter with Chroma's threads may take seconds to end, in which it would be killed for it.
        os._exit(1)
    sys.exit(code)
