"""A small file that remembers which projects have rows in an embedded index.

Chroma creates an empty store in silence where its files are missing. The marker lies outside of the
index folder, so that "opened empty" is told from "never written".
"""

from __future__ import annotations

import json
import os
from pathlib import Path

from novelgen.errors import VectorIndexDamagedError

_SCHEMA_VERSION = 1


class RowsMarker:
    """The set of projects of which rows were written, kept in one JSON file.

    Args:
        path: File of the marker; its folder must exist when something is written.
    """

    def __init__(self, path: Path) -> None:
        self._path = path

    def projects(self) -> frozenset[str]:
        """Read which projects should have rows.

        Returns:
            Project ids; empty when nothing was ever written.

        Raises:
            VectorIndexDamagedError: The file is there but cannot be read as a marker.
        """
        try:
            document = json.loads(self._path.read_text(encoding="utf-8"))
            return frozenset(str(project_id) for project_id in document["projects"])
        except FileNotFoundError:
            return frozenset()
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise VectorIndexDamagedError(
                f"marker {str(self._path)!r} of the vector index cannot be read; rebuild the index"
            ) from error

    def add(self, project_id: str) -> None:
        """Remember that rows of the project were written."""
        known = self.projects()
        if project_id not in known:
            self._write(known | {project_id})

    def remove(self, project_id: str) -> None:
        """Forget the project: its rows were dropped on purpose."""
        known = self.projects()
        if project_id in known:
            self._write(known - {project_id})

    def reset(self) -> None:
        """Forget a marker that cannot be read; one that can is kept."""
        try:
            self.projects()
        except VectorIndexDamagedError:
            self._write(frozenset())

    def _write(self, projects: frozenset[str]) -> None:
        temporary = self._path.with_suffix(".tmp")
        with temporary.open("w", encoding="utf-8") as stream:
            json.dump({"schema_version": _SCHEMA_VERSION, "projects": sorted(projects)}, stream)
            stream.flush()
            os.fsync(stream.fileno())
        temporary.replace(self._path)
