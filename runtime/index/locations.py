"""Where a vector index lives, and of which project and model it is."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal
from urllib.parse import urlsplit

from novelgen.errors import ConfigurationError, EmbeddingMismatchError

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
        """Folder beside the index for its locks, marker and log; it outlives the loss of the index."""
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
    def host(self) -> str:
        """Host name or address of the server."""
        return urlsplit(self.url).hostname or ""

    @property
    def port(self) -> int:
        """TCP port of the server."""
        return urlsplit(self.url).port or DEFAULT_SERVER_PORT

    @property
    def uses_tls(self) -> bool:
        """Whether the address begins with https."""
        return urlsplit(self.url).scheme == "https"

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
