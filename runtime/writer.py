"""Writes contexts where a scene writer looks for them."""

import logging
from collections.abc import Callable
from pathlib import Path
from typing import Any

from pydantic_core import to_json

from novelgen.errors import StoreError, UnknownProjectError
from novelgen.models.context import SceneMemoryContext, context_document
from runtime.files.paths import ProjectPaths, write_text_atomically

logger = logging.getLogger(__name__)

_DEPTH_OF_LINES = 2
"""The context and its report have a line per field."""


class JsonContextWriter:
    """A `ContextWriter` for `projects/<id>/scene_<chapter>_<scene>_memory.json`."""

    def __init__(
        self, projects_dir: Path, *, require_project: Callable[[str], object] | None = None, is_full: bool = False
    ) -> None:
        self._projects_dir = projects_dir
        self._is_full = is_full
        self._require_project = require_project

    def write(self, context: SceneMemoryContext) -> Path | None:
        """Write the context's file, whole or not at all."""
        paths = ProjectPaths(self._projects_dir, context.project_id)
        if not paths.folder.is_dir() and self._is_unknown(context.project_id):
            return None
        target = paths.context_file(context.chapter_index, context.scene_index)
        text = context_json(context, is_full=self._is_full)
        write_text_atomically(target, text, root=paths.folder)
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


def context_json(context: SceneMemoryContext, *, is_full: bool = False) -> str:
    """Return the context as readable JSON, ending in a line break."""
    if is_full:
        return context.model_dump_json(indent=2) + "\n"
    return _in_lines(context_document(context), depth=1) + "\n"


def _in_lines(value: Any, *, depth: int) -> str:
    """Return mappings and lists of mappings with a line per entry, everything below in one line."""
    margin = "  " * depth
    if isinstance(value, dict) and depth <= _DEPTH_OF_LINES:
        entries = [f"{_compact(name)}: {_in_lines(each, depth=depth + 1)}" for name, each in value.items()]
        opening, closing = "{", "}"
    elif isinstance(value, list) and any(isinstance(each, dict) for each in value):
        entries = [_compact(each) for each in value]
        opening, closing = "[", "]"
    else:
        return _compact(value)
    if not entries:
        return opening + closing
    return opening + "\n" + ",\n".join(margin + each for each in entries) + "\n" + margin[2:] + closing


def _compact(value: Any) -> str:
    return to_json(value).decode()
