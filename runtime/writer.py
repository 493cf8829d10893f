"""Writes contexts where a scene writer looks for them."""

from __future__ import annotations

import logging
from collections.abc import Callable
from pathlib import Path

from novelgen.errors import StoreError, UnknownProjectError
from novelgen.models.context import SceneMemoryContext
from runtime.atomic_files import write_text_atomically
from runtime.files.paths import ProjectPaths

logger = logging.getLogger(__name__)


class JsonContextWriter:
    """A `ContextWriter` for `projects/<id>/scene_<chapter>_<scene>_memory.json`.

    Args:
        projects_dir: Folder that holds the projects.
        require_project: Raises UnknownProjectError for a project that is not stored, for which no folder is made;
            None makes it.
    """

    def __init__(self, projects_dir: Path, *, require_project: Callable[[str], object] | None = None) -> None:
        self._projects_dir = projects_dir
        self._require_project = require_project

    def write(self, context: SceneMemoryContext) -> Path | None:
        """Write the context's file, whole or not at all.

        Returns:
            The file's path; None for a project of which there is neither a folder nor anything stored.

        Raises:
            ContextWriteError: When the disk refuses, or the target is a link that leads outside.
        """
        paths = ProjectPaths(self._projects_dir, context.project_id)
        if not paths.folder.is_dir() and self._is_unknown(context.project_id):
            return None
        target = paths.context_file(context.chapter_index, context.scene_index)
        write_text_atomically(target, context_json(context), root=paths.folder)
        return target

    def _is_unknown(self, project_id: str) -> bool:
        if self._require_project is None:
            return False
        try:
            self._require_project(project_id)
        except UnknownProjectError:
            return True
        except StoreError as error:
            logger.info("whether project %r is stored could not be read: %s", project_id, error)
        return False


def context_json(context: SceneMemoryContext) -> str:
    """Return the context as readable JSON, ending in a line break."""
    return context.model_dump_json(indent=2) + "\n"
