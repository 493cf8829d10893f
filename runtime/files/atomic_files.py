"""Files that are written whole or not at all."""

from __future__ import annotations

import contextlib
import os
import tempfile
from pathlib import Path

from novelgen.errors import ContextWriteError


def write_text_atomically(path: Path, text: str, *, root: Path) -> None:
    """Write a file by temporary file, fsync, rename and fsync of the folder.

    Readers see the old file or the new one, never a part. A link that leads out of `root` is refused.
    """
    try:
        _require_inside(path, root)
        path.parent.mkdir(parents=True, exist_ok=True)
        _replace(path, text.encode("utf-8", "replace"))
    except OSError as error:
        raise ContextWriteError(
            f"cannot write {str(path)!r}: {error.strerror or error}; check space and rights"
        ) from error


def _require_inside(path: Path, root: Path) -> None:
    resolved_root = root.resolve()
    parent = path.parent.resolve()
    if parent != resolved_root and resolved_root not in parent.parents:
        raise ContextWriteError(f"{str(path)!r} lies outside {str(root)!r}; remove the link that leads there")
    if path.is_symlink():
        raise ContextWriteError(f"{str(path)!r} is a link; remove it, so that a file can be written in its place")


def _replace(path: Path, data: bytes) -> None:
    descriptor, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=".tmp")
    try:
        with os.fdopen(descriptor, "wb") as stream:
            stream.write(data)
            stream.flush()
            os.fsync(stream.fileno())
        Path(temporary).chmod(0o644)
        Path(temporary).replace(path)
    except BaseException:
        with contextlib.suppress(OSError):
            Path(temporary).unlink()
        raise
    _sync_folder(path.parent)


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
