"""Where a vector index lives, and how long the files of an embedded one may be."""

from __future__ import annotations

import contextlib
import os
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

from novelgen.errors import ConfigurationError

DEFAULT_SERVER_PORT = 8000


@dataclass(frozen=True, slots=True)
class ChromaFolder:
    """A folder that one process opens for itself."""

    path: Path

    def __post_init__(self) -> None:
        object.__setattr__(self, "path", Path(self.path).resolve())

    @property
    def control_folder(self) -> Path:
        """The folder beside the index for locks and log, outliving the index."""
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
        """Additional headers of every request."""
        bearer = {"Authorization": f"Bearer {self.token}"} if self.token else {}
        return {**bearer, **dict(self.headers)}

    @property
    def secrets(self) -> tuple[str, ...]:
        """Secrets hidden from messages."""
        return tuple(secret for secret in (self.token, *dict(self.headers).values()) if secret)

    def __str__(self) -> str:
        return self.url


@dataclass(frozen=True, slots=True)
class NamedStore:
    """A LangChain vector store by its factory's import path `package.module:factory`."""

    import_path: str

    def __str__(self) -> str:
        return self.import_path


IndexLocation = ChromaFolder | ChromaServer | NamedStore

DATABASE_FILE = "chroma.sqlite3"
_SPARE_BYTES = 64 * 2**20
_MAX_TIMES_DATABASE = 32
"""A row takes 1.5 KB of the database or more; its vector of 3,072 values with two dead ones takes 37 KB."""


def max_file_bytes(index: ChromaFolder) -> int:
    """Return how long each file of a sound index is at most, told from its database, which damage never swells."""
    database = index.path / DATABASE_FILE
    return _SPARE_BYTES + _MAX_TIMES_DATABASE * (database.stat().st_size if database.is_file() else 0)


def swollen_file(index: ChromaFolder) -> str | None:
    """Name a file that no sound index can have.

    Measured: one damaged length in `link_lists.bin` lets Chroma write gigabytes of nothing (11 GB for 1,500 rows),
    while it goes on answering.
    """
    lengths: dict[str, int] = {}
    for folder, _, names in os.walk(index.path):
        for name in names:
            # A rebuild may remove any of them meanwhile.
            with contextlib.suppress(OSError):
                lengths[name] = max(lengths.get(name, 0), (Path(folder) / name).stat().st_size)
    max_bytes = max_file_bytes(index)
    longest = max(lengths, key=lengths.__getitem__, default=None)
    if longest is None or lengths[longest] <= max_bytes:
        return None
    return (
        f"its file {longest!r} takes {lengths[longest] // 2**20} MB, where at most {max_bytes // 2**20} MB "
        "can be in use"
    )
