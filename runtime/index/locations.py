"""Where a vector index lives, of which project and model it is, and who owns the files of an embedded one.

One program owns an embedded index; others of the same user ask through it. The owner listens where its user alone can
connect and says beside the index where that is, in a file that its user alone can read. Both ends prove that they know
the key of that file before either takes an object from the other.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import secrets
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from multiprocessing import AuthenticationError
from multiprocessing.connection import Client, Connection, Listener
from pathlib import Path
from typing import Any, Literal
from urllib.parse import urlsplit

from filelock import FileLock, Timeout

from novelgen.errors import ConfigurationError, EmbeddingMismatchError, VectorIndexError, VectorIndexOwnedError

DEFAULT_SERVER_PORT = 8000
INDEX_SCHEMA_VERSION = 1


@dataclass(frozen=True, slots=True)
class EmbeddedIndex:
    """A folder that one process opens for itself."""

    path: Path

    def __post_init__(self) -> None:
        object.__setattr__(self, "path", Path(self.path).resolve())

    @property
    def control_folder(self) -> Path:
        """Folder beside the index for its locks and its log; it outlives the loss of the index."""
        return self.path.with_name(self.path.name + ".control")

    def __str__(self) -> str:
        return str(self.path)


@dataclass(frozen=True, slots=True)
class ChromaServer:
    """A Chroma server that several processes share, as started by `chroma run`."""

    url: str
    headers: tuple[tuple[str, str], ...] = field(default=(), repr=False)
    token: str = field(default="", repr=False)

    def __post_init__(self) -> None:
        parts = urlsplit(self.url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ConfigurationError(f"vector server URL {self.url!r} is not usable; write it as http://127.0.0.1:8000")
        try:
            _ = parts.port
        except ValueError as error:
            raise ConfigurationError(f"vector server URL {self.url!r} has a bad port") from error
        for name, value in self.request_headers.items():
            if not (name and name.isascii() and name.isprintable() and " " not in name and ":" not in name):
                raise ConfigurationError(f"chroma_headers: {name!r} is no name of an HTTP header; correct it")
            if not (value.isascii() and value.isprintable()):
                raise ConfigurationError(
                    f"the value of the header {name!r} for the Chroma server holds what no header can; correct "
                    "chroma_headers or chroma_token"
                )

    @property
    def address(self) -> tuple[str, int, bool]:
        """Host, TCP port, and whether the server is asked over TLS."""
        parts = urlsplit(self.url)
        return parts.hostname or "", parts.port or DEFAULT_SERVER_PORT, parts.scheme == "https"

    @property
    def request_headers(self) -> dict[str, str]:
        """What every request carries beside what Chroma sends by itself."""
        bearer = {"Authorization": f"Bearer {self.token}"} if self.token else {}
        return {**bearer, **dict(self.headers)}

    @property
    def secrets(self) -> tuple[str, ...]:
        """What no message may show."""
        return tuple(secret for secret in (self.token, *dict(self.headers).values()) if secret)

    def __str__(self) -> str:
        return self.url


IndexLocation = EmbeddedIndex | ChromaServer


@dataclass(frozen=True, slots=True)
class ProjectKey:
    """Which project an index is of, also among those of several databases that have the same id."""

    project_id: str
    index_id: str = ""

    @property
    def slot_names(self) -> tuple[str, str]:
        """Names of both collections, in ASCII whatever the script of the id."""
        # A project id holds no slash.
        whole = f"{self.index_id}/{self.project_id}" if self.index_id else self.project_id
        digest = hashlib.sha256(whole.encode("utf-8")).hexdigest()[:40]
        return f"novelgen-{digest}-a", f"novelgen-{digest}-b"


@dataclass(frozen=True, slots=True)
class Stamp:
    """What a collection says about itself."""

    project_id: str
    embedding_model: str
    dimension: int
    generation: int = 1
    state: Literal["building", "live"] = "live"
    schema_version: int = INDEX_SCHEMA_VERSION
    index_id: str = ""

    @classmethod
    def read(cls, metadata: Mapping[str, Any]) -> Stamp | None:
        """Read what a collection says; None where it is none of ours."""
        known = {"index_id": "", **metadata}
        try:
            return cls(**{each.name: known[each.name] for each in fields(cls)})
        except KeyError:
            return None

    @property
    def key(self) -> ProjectKey:
        """Which project the collection is of."""
        return ProjectKey(self.project_id, self.index_id)

    def require_same_vectors(self, other: Stamp) -> None:
        """Refuse to mix vectors of two models, dimensions or layouts."""
        mine = (self.embedding_model, self.dimension, self.schema_version)
        theirs = (other.embedding_model, other.dimension, other.schema_version)
        if mine != theirs:
            raise EmbeddingMismatchError(
                f"the index of project {self.project_id!r} was built with (model, dimension, schema) "
                f"{mine!r}, but {theirs!r} is configured; run `novelgen reindex`"
            )


DATABASE_FILE = "chroma.sqlite3"
VECTOR_FILE = "data_level0.bin"

_LINKS_BYTES = 132
"""Neighbours of a vector on the lowest level, for Chroma's default of 16: a count and 32 places of 4 bytes each."""
_LABEL_BYTES = 8
_VALUE_BYTES = 4
_SPARE_BYTES = 64 * 2**20
_MAX_TIMES_DATABASE = 32
"""A row takes 1.5 KB of the database or more; its vector of 3,072 values with two dead ones takes 37 KB."""


class IndexOwnership:
    """The exclusive right of this process to open an embedded index.

    The lock belongs to the operating system: it ends with the process that holds it, however that ends.
    """

    def __init__(self, index: EmbeddedIndex) -> None:
        self._index = index
        self._lock = FileLock(index.control_folder / "owner.lock", thread_local=False)
        self._owner_file = index.control_folder / "owner.pid"
        self.told_in = index.control_folder / "owner.address"
        """File in which the owner says where others can ask."""

    @property
    def is_held(self) -> bool:
        """Whether this process has the right."""
        return self._lock.is_locked

    def acquire(self) -> bool:
        """Take the right, or refuse without waiting; taking it again is harmless."""
        if self._lock.is_locked:
            return False
        try:
            self._index.control_folder.mkdir(parents=True, exist_ok=True)
            self._lock.acquire(blocking=False)
            was_left_behind = self._owner_file.exists()
            self._owner_file.write_text(f"{os.getpid()}\n", encoding="ascii")
        except Timeout as error:
            raise VectorIndexOwnedError(
                f"the vector index is owned by process {read_owner(self._owner_file)}, which does not answer; end it, "
                "or repeat this later"
            ) from error
        except OSError as error:
            self._lock.release()
            raise VectorIndexError(
                f"the lock of the vector index {str(self._index)!r} cannot be taken: {error}"
            ) from error
        return was_left_behind

    def release(self, *, in_doubt: bool = False) -> None:
        """Give the right up; harmless when it is not held."""
        if self._lock.is_locked:
            if not in_doubt:
                self._owner_file.unlink(missing_ok=True)
            self._lock.release()


def require_unowned(index: EmbeddedIndex) -> None:
    """Refuse an index that a process owns."""
    if not index.control_folder.is_dir():
        return
    ownership = IndexOwnership(index)
    was_left_behind = ownership.acquire()
    ownership.release(in_doubt=was_left_behind)


def read_owner(owner_file: Path) -> str:
    """Read which process wrote the owner file: its id as text, or `unknown`."""
    try:
        return owner_file.read_text(encoding="ascii").strip() or "unknown"
    except (OSError, ValueError):
        return "unknown"


def kept_vectors(location: IndexLocation, dimension: int) -> int:
    """Count the vectors in the files of an embedded index, as of Chroma's last write to them.

    The graph of a vector index never frees the place of a row that was deleted or changed.
    """
    vectors_bytes = sum(length_bytes for file, length_bytes in _lengths(location).items() if file.name == VECTOR_FILE)
    return vectors_bytes // (_LINKS_BYTES + dimension * _VALUE_BYTES + _LABEL_BYTES)


def max_file_bytes(index: EmbeddedIndex) -> int:
    """Return how long each file of a sound index is at most, told from its database, which damage never swells."""
    database = index.path / DATABASE_FILE
    return _SPARE_BYTES + _MAX_TIMES_DATABASE * (database.stat().st_size if database.is_file() else 0)


def swollen_file(location: IndexLocation) -> str | None:
    """Tell of a file that no sound index can have.

    Measured: one damaged length in `link_lists.bin` lets Chroma write gigabytes of nothing (11 GB for 1,500 rows),
    while it goes on answering.
    """
    lengths = _lengths(location)
    if not isinstance(location, EmbeddedIndex) or not lengths:
        return None
    max_bytes = max_file_bytes(location)
    longest = max(lengths, key=lambda file: lengths[file])
    if lengths[longest] <= max_bytes:
        return None
    return (
        f"its file {longest.name!r} takes {lengths[longest] // 2**20} MB, where at most {max_bytes // 2**20} MB "
        "can be in use"
    )


def _lengths(location: IndexLocation) -> dict[Path, int]:
    """List all files with their lengths in bytes; any of them may be removed by a rebuild under our eyes."""
    found: dict[Path, int] = {}
    if isinstance(location, EmbeddedIndex):
        for folder, _, names in os.walk(location.path):
            for name in names:
                with contextlib.suppress(OSError):
                    found[Path(folder) / name] = (Path(folder) / name).stat().st_size
    return found


CONNECT_TIMEOUT_S = 2.0
"""For an owner to take a connection; one that is stopped never does."""


class Lender:
    """Takes the connections of other programs to an index, each in a thread of its own, until it is closed."""

    def __init__(self, told_in: Path, answer: Callable[[Connection, Lender], None]) -> None:
        self._told_in = told_in
        self._answer = answer
        self._key = secrets.token_bytes(32)
        self._listener = Listener(authkey=self._key)
        self.is_over = False
        told_in.unlink(missing_ok=True)
        with os.fdopen(os.open(told_in, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as told:
            json.dump({"address": self._listener.address, "key": self._key.hex(), "pid": os.getpid()}, told)
        threading.Thread(target=self._take, name="lent-index", daemon=True).start()

    def close(self) -> None:
        """Take no more connections; who is connected finds the line closed at the next question."""
        self.is_over = True
        self._told_in.unlink(missing_ok=True)
        # Nothing else wakes a thread that waits for a connection.
        with contextlib.suppress(OSError, EOFError, AuthenticationError):
            Client(self._listener.address, authkey=self._key).close()
        self._listener.close()

    def _take(self) -> None:
        while not self.is_over:
            try:
                channel = self._listener.accept()
            except (OSError, EOFError, AuthenticationError):
                continue
            threading.Thread(target=self._serve, args=(channel,), name="lent-index", daemon=True).start()

    def _serve(self, channel: Connection) -> None:
        with contextlib.suppress(OSError, EOFError), channel:
            self._answer(channel, self)


@dataclass(slots=True)
class Owner:
    """The program that lends an index, in the place of a process of one's own: it is not ours to end."""

    pid: int
    returncode: int | None = None

    def poll(self) -> int | None:
        """Tell nothing: its end is felt by the next question."""

    def wait(self, timeout: float, /) -> int:
        """Wait for nothing."""
        return 0

    def kill(self) -> None:
        """Leave it alone."""


def borrow(told_in: Path) -> tuple[Owner, Connection] | None:
    """Connect to the program that lends an index; None where none does, or it is not of this user."""
    try:
        with told_in.open() as told:
            if hasattr(os, "getuid") and os.fstat(told.fileno()).st_uid != os.getuid():
                return None
            said = json.load(told)
        return Owner(said["pid"]), Client(said["address"], authkey=bytes.fromhex(said["key"]))
    except (OSError, EOFError, ValueError, KeyError, TypeError, AuthenticationError):
        return None
