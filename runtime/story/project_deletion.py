"""Deleting a project with everything that is its own: rows, index and files."""

from __future__ import annotations

import logging
import shutil
import unicodedata
import uuid

from pydantic import BaseModel, Field

from novelgen.errors import ContextWriteError, DatabaseError, UnknownProjectError, UserInputError
from runtime.files.paths import ProjectPaths
from runtime.stores import MemoryStores
from runtime.story.async_twins import async_twin
from runtime.story.base import StoryBase
from runtime.story.projects import has_project_files

logger = logging.getLogger(__name__)

TRASH_FOLDER = ".deleted"
"""Below the folder of the projects, where no project can be: a folder moves there at once and is removed after that."""


class DeletedProject(BaseModel):
    """A project that is no more."""

    project_id: str
    scenes: int = Field(default=0, description="That it had.")
    memories: int = 0
    files: int = Field(default=0, description="That lay in its folder.")


class StoryProjectDeletion(StoryBase):
    """Deleting a project with everything that is its own: rows, index and files."""

    def delete_project(self, *, confirm: str) -> DeletedProject:
        """Delete a project for good: its rows, its vector index and its folder with the author's files in it.

        Nothing of any other project is touched, be it in the same database. A deletion cut short is finished by
        another one. Whoever runs jobs on the project ends them first.
        """
        paths = self._stores.paths(self.project_id)
        if unicodedata.normalize("NFC", confirm) != paths.project_id:
            raise UserInputError(
                f"{confirm[:100]!r} is not {paths.project_id!r}; write the project's id to confirm that it is deleted"
            )
        deleted = _what_goes(self._stores, paths)
        self._stores.delete_project(paths.project_id)
        try:
            _remove_folder(paths)
        except OSError as error:
            raise ContextWriteError(
                f"the folder of project {paths.project_id!r} cannot be removed: {error.strerror or error}; "
                "delete it again"
            ) from error
        return deleted

    adelete_project = async_twin(delete_project)


def _what_goes(stores: MemoryStores, paths: ProjectPaths) -> DeletedProject:
    """Count what is there, of a project that may be half deleted."""
    files = sum(each.is_file() for each in paths.folder.rglob("*")) if paths.folder.is_dir() else 0
    deleted = DeletedProject(project_id=paths.project_id, files=files)
    try:
        with stores.database(paths.project_id).read() as unit:
            scenes, memories = unit.scenes.census().scenes, unit.memories.count()
    except UnknownProjectError:
        if not has_project_files(paths):
            raise
        return deleted
    except DatabaseError:
        if stores.settings.database_url is not None:
            raise
        # A damaged file of its own cannot say what it holds; it goes with the others.
        return deleted
    return deleted.model_copy(update={"scenes": scenes, "memories": memories})


def _remove_folder(paths: ProjectPaths) -> None:
    """Remove a project's folder, and what an earlier removal left."""
    trash = paths.projects_dir / TRASH_FOLDER
    if paths.folder.is_symlink():
        # It leads to a folder that somebody put elsewhere; that one is not the project's to remove.
        paths.folder.unlink()
    elif paths.folder.is_dir():
        trash.mkdir(exist_ok=True)
        # In one step, so that a removal that is cut short leaves no half project behind.
        paths.folder.rename(trash / uuid.uuid4().hex)
    if not trash.is_dir():
        return
    try:
        shutil.rmtree(trash)
    except OSError as error:
        logger.warning(
            "files of deleted projects are still in %r, the next deletion removes them: %s", str(trash), error
        )
