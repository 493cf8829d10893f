"""Where a vector index lives: in a folder of its own, or on a Chroma server."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from novelgen.errors import ConfigurationError

DEFAULT_SERVER_PORT = 8000


@dataclass(frozen=True, slots=True)
class EmbeddedIndex:
    """A folder that one process opens for itself.

    Args:
        path: Folder of the index; made canonical, so that two spellings are one index.
    """

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
    """A Chroma server that several processes share, as started by `chroma run`.

    Args:
        url: Address such as `http://127.0.0.1:8000`; the port is 8000 when it names none.

    Raises:
        ConfigurationError: The address is not an http or https URL with a host.
    """

    url: str

    def __post_init__(self) -> None:
        parts = urlsplit(self.url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ConfigurationError(
                f"vector server URL {self.url!r} is not usable; write it as http://127.0.0.1:8000"
            )
        try:
            _ = parts.port
        except ValueError as error:
            raise ConfigurationError(f"vector server URL {self.url!r} has a bad port") from error

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

    def __str__(self) -> str:
        return self.url


IndexLocation = EmbeddedIndex | ChromaServer
