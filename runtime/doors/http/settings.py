"""Server settings: address, access and load."""

import contextlib
import errno
import ipaddress
import json
import logging
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from filelock import FileLock, Timeout
from pydantic import SecretStr

from novelgen.errors import ConfigurationError
from runtime.files.paths import write_text_atomically

logger = logging.getLogger(__name__)

LOOPBACK_NAMES = frozenset({"localhost", "127.0.0.1", "::1"})

FEWEST_TOKEN_CHARACTERS = 16


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds of single requests and of all together."""

    body_bytes: int = 4 * 2**20
    upload_bytes: int = 64 * 2**20
    request_s: float = 60.0
    body_s: float = 15.0
    bodies_at_once: int = 64
    bodies_bytes: int = 32 * 2**20
    streams_at_once: int = 64
    looks_at_once: int = 16
    looks_waiting: int = 64
    at_once: int = 4
    waiting: int = 4
    waiting_s: float = 10.0
    replies_at_once: int = 16
    agents_waiting: int = 16
    uploads_at_once: int = 2
    jobs_waiting: int = 32
    jobs_at_once: int = 2


@dataclass(frozen=True, slots=True)
class ServerSettings:
    """The server's address and its access rules."""

    host: str = "127.0.0.1"
    port: int = 8000
    token: SecretStr | None = None
    read_token: SecretStr | None = None
    allowed_hosts: frozenset[str] = frozenset()
    limits: Limits = Limits()

    def __post_init__(self) -> None:
        for name, token in (("SERVER_TOKEN", self.token), ("SERVER_READ_TOKEN", self.read_token)):
            if token is not None and len(token.get_secret_value()) < FEWEST_TOKEN_CHARACTERS:
                raise ConfigurationError(
                    f"NOVELGEN_{name} is shorter than {FEWEST_TOKEN_CHARACTERS} characters; take a longer one, such "
                    "as `openssl rand -hex 24` prints"
                )
        if self.read_token is not None and self.token is None:
            raise ConfigurationError("NOVELGEN_SERVER_READ_TOKEN needs NOVELGEN_SERVER_TOKEN beside it; set both")
        if self.token is not None and self.token == self.read_token:
            raise ConfigurationError(
                "NOVELGEN_SERVER_TOKEN and NOVELGEN_SERVER_READ_TOKEN are the same; who may only read could write"
            )
        if not self.is_loopback and self.token is None:
            raise ConfigurationError(
                f"--host {self.host!r} lets others reach the server; set NOVELGEN_SERVER_TOKEN, or leave out --host"
            )

    @property
    def is_loopback(self) -> bool:
        """Whether only this machine can reach the server."""
        if self.host.casefold() in LOOPBACK_NAMES:
            return True
        try:
            return ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return False

    def may_be_called(self, host_name: str) -> bool:
        """Tell whether a request may be meant for this server, by the name in its `Host`.

        A page elsewhere can let its own name point here (DNS rebinding), but cannot do so with an address.
        """
        name = host_name.casefold()
        if name in LOOPBACK_NAMES or name == self.host.casefold() or name in self.allowed_hosts:
            return True
        return not self.is_loopback and _is_address(name)


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


SERVER_FOLDER = ".server"
"""Below the folder of the projects; no project can have such a name."""


@contextlib.contextmanager
def announced(projects_dir: Path, url: str) -> Iterator[None]:
    """Be the server of a folder of projects, and say where."""
    folder = projects_dir / SERVER_FOLDER
    try:
        folder.mkdir(parents=True, exist_ok=True)
        lock = FileLock(folder / "server.lock", thread_local=False)
        lock.acquire(timeout=0)
    except Timeout as error:
        raise ConfigurationError(
            f"a server has these projects already ({_told_url(folder) or 'starting'}); use that one, or end it first"
        ) from error
    except OSError as error:
        if error.errno == errno.EROFS and projects_dir.is_dir():
            logger.warning("the disk of %s can only be read: stories can be looked at, not changed", projects_dir)
            yield
            return
        raise ConfigurationError(
            f"the folder of the projects cannot be used: {error.strerror or error}; name another one (--projects-dir)"
        ) from error
    try:
        text = json.dumps({"url": url, "pid": os.getpid()})
        write_text_atomically(folder / "server.json", text + "\n", root=folder)
        yield
    finally:
        with contextlib.suppress(OSError):
            (folder / "server.json").unlink()
        lock.release()


def running_server(projects_dir: Path) -> str | None:
    """Return the URL of a live server of a projects folder, or None."""
    folder = projects_dir / SERVER_FOLDER
    url = _told_url(folder)
    if url is None:
        return None
    lock = FileLock(folder / "server.lock", thread_local=False)
    try:
        with lock.acquire(timeout=0):
            return None
    except Timeout:
        return url
    except OSError:
        return None


def _told_url(folder: Path) -> str | None:
    try:
        text = json.loads((folder / "server.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return str(text["url"]) if isinstance(text, dict) and "url" in text else None
