"""Projects, and the counters of their ids."""

import re
import uuid
from collections.abc import Iterable, Mapping
from typing import Any, Literal, get_args

from sqlalchemy import Connection, case, select

from novelgen.errors import ProjectExistsError, UnknownProjectError
from novelgen.models.entity import ID_PREFIXES, EntityType
from novelgen.models.position import require_project_id
from runtime.storage.records import StoredProject
from runtime.storage.session import AnyRow, Repository
from runtime.storage.tables import COUNTERS, PROJECTS

Waivable = Literal["conflicts", "findings"]
"""What an author may mean to be so: contradictions of the stored story, and those that checks of drafts find."""


class ProjectRepository(Repository):
    """Creates and reads projects."""

    def create(self, *, name: str = "", language: str = "", settings: dict[str, Any] | None = None) -> StoredProject:
        """Create a project."""
        statement = self._session.upsert(PROJECTS).values(
            project_id=require_project_id(self._session.project_id),
            name=name,
            language=language,
            created_at=self._session.now(),
            settings=settings or {},
            story_revision=0,
            index_id=uuid.uuid4().hex,
        )
        created = statement.on_conflict_do_nothing(index_elements=["project_id"]).returning(PROJECTS.c.project_id)
        if not self._session.rows(created):
            raise ProjectExistsError(f"a project {self._session.project_id!r} exists already; choose another id")
        return self.require()

    def get(self) -> StoredProject | None:
        """Return a project, or None when there is none of that id."""
        row = self._session.one(PROJECTS)
        return None if row is None else _project(row)

    def require(self) -> StoredProject:
        """Return a project."""
        project = self.get()
        if project is None:
            raise UnknownProjectError(f"no project {self._session.project_id!r} is stored; create it first")
        return project

    def waived(self, what: Waivable) -> dict[str, str]:
        """Return what the author means to be so: id to the author's note."""
        return dict(self.require().settings.get(f"waived_{what}", {}))

    def set_waived(self, what: Waivable, waived: Mapping[str, str]) -> None:
        """Say all that the author means to be so, in place of what was said before."""
        self.set_setting(f"waived_{what}", dict(waived))

    def set_setting(self, name: str, value: Any) -> None:
        """Let one of the project's settings have a value; None takes it away."""
        settings = {**self.require().settings, name: value}
        self.update(settings={key: each for key, each in settings.items() if each is not None})

    def update(
        self, *, name: str | None = None, language: str | None = None, settings: dict[str, Any] | None = None
    ) -> StoredProject:
        """Change what is given and return the project."""
        self._session.touch()
        changes = {"name": name, "language": language, "settings": settings}
        given = {key: value for key, value in changes.items() if value is not None}
        if given:
            self._set(given)
        return self.require()

    def remove(self) -> None:
        """Take the project out with all that refers to it, but for its memories in the index of words."""
        self.require()
        self._session.delete(PROJECTS)

    def set_embedding_model(self, model: str, dimension: int) -> None:
        """Record the model and dimension that the vector index is built with."""
        self.require()
        self._set({"embedding_model": model, "embedding_dimension": dimension})

    def count_index_removals(self, rows: int) -> None:
        """Add rows that were removed from the vector index."""
        self._set({"index_removals": PROJECTS.c.index_removals + rows})

    def forget_index_removals(self) -> None:
        """Count from 0 again: the vector index was built anew."""
        self._set({"index_removals": 0})

    def _set(self, values: dict[str, Any]) -> None:
        self._session.update(PROJECTS, **values)


def list_projects(connection: Connection) -> list[StoredProject]:
    """Return all projects of a database in order of id."""
    projects = [_project(row) for row in connection.execute(select(PROJECTS))]
    return sorted(projects, key=lambda project: project.project_id)


def _project(row: AnyRow) -> StoredProject:
    return StoredProject.model_validate(row, from_attributes=True)


CounterKind = Literal["C", "L", "I", "F", "T", "S", "OL", "R", "N", "CM"]
"""Characters, locations, items, factions, terms, scenes, open loops, relationships, notes, memories of characters."""

_FIRST_NUMBER: dict[str, int] = {"S": 1}

_NUMBERED = re.compile(rf"({'|'.join(sorted(get_args(CounterKind), key=len, reverse=True))})(\d{{1,9}})")


class CounterRepository(Repository):
    """Gives out ids; the counter row is locked until the transaction ends."""

    def take(self, kind: CounterKind) -> str:
        """Return the next id of a kind, such as C0 or S001, that nobody was given before."""
        first = _FIRST_NUMBER.get(kind, 0)
        statement = self._session.upsert(COUNTERS).values(
            project_id=self._session.project_id, kind=kind, next_number=first + 1
        )
        statement = statement.on_conflict_do_update(
            index_elements=["project_id", "kind"], set_={"next_number": COUNTERS.c.next_number + 1}
        )
        number = self._session.connection.execute(statement.returning(COUNTERS.c.next_number)).scalar_one() - 1
        return f"{kind}{number:03d}" if kind == "S" else f"{kind}{number}"

    def take_for(self, entity_type: EntityType) -> str:
        """Return the next id of an entity of that type."""
        return self.take(ID_PREFIXES[entity_type])  # type: ignore[arg-type]

    def jump_over(self, used_ids: Iterable[str]) -> None:
        """Let the counters go on after ids that came from elsewhere; ids of other shapes are ignored."""
        highest: dict[str, int] = {}
        for used_id in used_ids:
            match = _NUMBERED.fullmatch(used_id)
            if match:
                highest[match[1]] = max(highest.get(match[1], 0), int(match[2]))
        for kind, number in highest.items():
            statement = self._session.upsert(COUNTERS).values(
                project_id=self._session.project_id, kind=kind, next_number=number + 1
            )
            greater = case(
                (COUNTERS.c.next_number > statement.excluded.next_number, COUNTERS.c.next_number),
                else_=statement.excluded.next_number,
            )
            self._session.run(
                statement.on_conflict_do_update(index_elements=["project_id", "kind"], set_={"next_number": greater})
            )
