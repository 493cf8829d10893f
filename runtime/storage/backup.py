"""Copies of a SQLite database while it is in use."""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing
from pathlib import Path

from novelgen.errors import DatabaseError


def backup_sqlite(source: Path, target: Path) -> None:
    """Copy a SQLite database by its online backup; writers go on meanwhile.

    Args:
        source: The database file.
        target: File to write; it is replaced whole, once the copy is complete and on disk.

    Raises:
        DatabaseError: When the source cannot be read or the target not written.
    """
    temporary = target.with_name(f".{target.name}.{os.getpid()}.partial")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        _copy(source, temporary)
        temporary.replace(target)
    except (sqlite3.Error, OSError) as error:
        temporary.unlink(missing_ok=True)
        raise DatabaseError(f"{str(source)!r} could not be copied to {str(target)!r}: {error}") from error


def _copy(source: Path, target: Path) -> None:
    address = f"{source.resolve().as_uri()}?mode=ro"
    with closing(sqlite3.connect(address, uri=True)) as origin, closing(sqlite3.connect(target)) as copy:
        origin.backup(copy)
        copy.execute("PRAGMA journal_mode=DELETE")
    with target.open("rb+") as written:
        os.fsync(written.fileno())
