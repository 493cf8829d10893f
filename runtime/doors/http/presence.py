"""Where a running server is found: one per folder of projects, by a lock and a file beside the projects."""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Iterator
from pathlib import Path

from filelock import FileLock, Timeout

from novelgen.errors import ConfigurationError
from runtime.files.atomic_files import write_text_atomically

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
        raise ConfigurationError(
            f"the folder of the projects cannot be used: {error.strerror or error}; name another one (--projects-dir)"
        ) from error
    try:
        told = json.dumps({"url": url, "pid": os.getpid()})
        write_text_atomically(folder / "server.json", told + "\n", root=folder)
        yield
    finally:
        with contextlib.suppress(OSError):
            (folder / "server.json").unlink()
        lock.release()


def running_server(projects_dir: Path) -> str | None:
    """Return the URL of the server that has a folder of projects, or None; one that was killed does not count."""
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
        told = json.loads((folder / "server.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return str(told["url"]) if isinstance(told, dict) and "url" in told else None
