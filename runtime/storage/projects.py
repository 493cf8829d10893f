"""Projects."""

from __future__ import annotations

import uuid
from typing import Any

from sqlalchemy import select

from novelgen.errors import UnknownProjectError, UserInputError
from novelgen.models.project_id import require_project_id
from runtime.storage.records import StoredProject
from runtime.storage.session import AnyRow, StorageSession
from runtime.storage.tables import PROJECTS


class ProjectRepository:
    """Creates and reads projects.

    Args:
        session: The transaction to work in.
    """

    def __init__(self, session: StorageSession) -> None:
        self._session = session

    def create(
        self,
        project_id: str,
        *,
        name: str = "",
        language: str = "",
        settings: dict[str, Any] | None = None,
    ) -> StoredProject:
        """Create a project.

        Raises:
            InvalidProjectIdError: When the id is not a plain, path-free string.
            UserInputError: When a project of that id is stored already.
        """
        if not self.ensure(project_id, name=name, language=language, settings=settings):
            raise UserInputError(f"a project {project_id!r} exists already; choose another id")
        return self.require(project_id)

    def ensure(
        self,
        project_id: str,
        *,
        name: str = "",
        language: str = "",
        settings: dict[str, Any] | None = None,
    ) -> bool:
        """Create a project unless it exists, which is left as it is; tell whether it was created.

        Raises:
            InvalidProjectIdError: When the id is not a plain, path-free string.
        """
        statement = self._session.upsert(PROJECTS).values(
            project_id=require_project_id(project_id),
            name=name,
            language=language,
            created_at=self._session.now(),
            settings=settings or {},
            story_revision=0,
            index_id=uuid.uuid4().hex,
        )
        created = statement.on_conflict_do_nothing(index_elements=["project_id"]).returning(
            PROJECTS.c.project_id
        )
        return bool(self._session.rows(created))

    def get(self, project_id: str) -> StoredProject | None:
        """Return a project, or None when there is none of that id."""
        row = self._session.connection.execute(
            select(PROJECTS).where(PROJECTS.c.project_id == project_id)
        ).one_or_none()
        return None if row is None else _project(row)

    def require(self, project_id: str) -> StoredProject:
        """Return a project.

        Raises:
            UnknownProjectError: When no project of that id is stored.
        """
        project = self.get(project_id)
        if project is None:
            raise UnknownProjectError(f"no project {project_id!r} is stored; create it first")
        return project

    def list_all(self) -> list[StoredProject]:
        """Return all projects of this database in order of id."""
        projects = [_project(row) for row in self._session.rows(select(PROJECTS))]
        return sorted(projects, key=lambda project: project.project_id)

    def update(
        self,
        project_id: str,
        *,
        name: str | None = None,
        language: str | None = None,
        settings: dict[str, Any] | None = None,
    ) -> StoredProject:
        """Change what is given and return the project.

        Raises:
            UnknownProjectError: When no project of that id is stored.
        """
        self._session.touch(project_id)
        changes = {"name": name, "language": language, "settings": settings}
        given = {key: value for key, value in changes.items() if value is not None}
        if given:
            self._set(project_id, given)
        return self.require(project_id)

    def set_embedding_model(self, project_id: str, model: str, dimension: int) -> None:
        """Record the model and dimension that the vector index is built with.

        Raises:
            UnknownProjectError: When no project of that id is stored.
        """
        self.require(project_id)
        self._set(project_id, {"embedding_model": model, "embedding_dimension": dimension})

    def count_index_removals(self, project_id: str, rows: int) -> None:
        """Add rows that were removed from the vector index."""
        self._set(project_id, {"index_removals": PROJECTS.c.index_removals + rows})

    def forget_index_removals(self, project_id: str) -> None:
        """Count from 0 again: the vector index was built anew."""
        self._set(project_id, {"index_removals": 0})

    def _set(self, project_id: str, values: dict[str, Any]) -> None:
        self._session.run(PROJECTS.update().where(PROJECTS.c.project_id == project_id).values(**values))


def _project(row: AnyRow) -> StoredProject:
    return StoredProject.model_validate(row, from_attributes=True)
