"""Writes contexts where a scene writer looks for them."""

from __future__ import annotations

from pathlib import Path

from novelgen.models.context import SceneMemoryContext
from runtime.atomic_files import write_text_atomically
from runtime.files.paths import ProjectPaths


class JsonContextWriter:
    """A `ContextWriter` for `projects/<id>/scene_<chapter>_<scene>_memory.json`.

    Args:
        projects_dir: Folder that holds the projects.
    """

    def __init__(self, projects_dir: Path) -> None:
        self._projects_dir = projects_dir

    def write(self, context: SceneMemoryContext) -> Path:
        """Write the context's file, whole or not at all.

        Returns:
            The file's path.

        Raises:
            ContextWriteError: When the disk refuses, or the target is a link that leads outside.
        """
        paths = ProjectPaths(self._projects_dir, context.project_id)
        target = paths.context_file(context.chapter_index, context.scene_index)
        write_text_atomically(target, context_json(context), root=paths.folder)
        return target


def context_json(context: SceneMemoryContext) -> str:
    """Return the context as readable JSON, ending in a line break."""
    return context.model_dump_json(indent=2) + "\n"
