"""Projects, and the counters of their ids."""

import re
import uuid
from collections.abc import Iterable, Mapping
from typing import Any, Literal, get_args

from sqlmodel import case, col

from novelgen.errors import ProjectExistsError, UnknownProjectError
from novelgen.models.entity import ID_PREFIXES, EntityType
from novelgen.models.position import require_project_id
from runtime.storage.records import IdCounter, Project
from runtime.storage.session import Repository

Waivable = Literal["conflicts", "findings"]
"""What an author may mean to be so: contradictions of the stored story, and those that checks of drafts find."""


class ProjectRepository(Repository):
    """Creates and reads projects."""

    def create(self, *, name: str = "", language: str = "", settings: dict[str, Any] | None = None) -> Project:
        """Create a project."""
        statement = self._session.upsert(Project).values(
            project_id=require_project_id(self._session.project_id),
            name=name,
            language=language,
            created_at=self._session.now(),
            settings=settings or {},
            story_revision=0,
            index_id=uuid.uuid4().hex,
        )
        created = statement.on_conflict_do_nothing(index_elements=["project_id"]).returning(col(Project.project_id))
        if not self._session.rows(created):
            raise ProjectExistsError(f"a project {self._session.project_id!r} exists already; choose another id")
        return self.require()

    def get(self) -> Project | None:
        """Return a project, or None when there is none of that id."""
        return self._session.project()

    def require(self) -> Project:
        """Return a project."""
        project = self.get()
        if project is None:
            raise UnknownProjectError(f"no project {self._session.project_id!r} is stored; create it first")
        return project

    def waived(self, what: Waivable) -> dict[str, str]:
        """Return the author's waivers by id."""
        return dict(self.require().settings.get(f"waived_{what}", {}))

    def set_waived(self, what: Waivable, waivers: Mapping[str, str]) -> None:
        """Replace the author's waivers."""
        self.set_setting(f"waived_{what}", dict(waivers))

    def set_setting(self, name: str, value: Any) -> None:
        """Set a project setting, or remove it with None."""
        settings = {**self.require().settings, name: value}
        self.update(settings={key: setting for key, setting in settings.items() if setting is not None})

    def update(
        self, *, name: str | None = None, language: str | None = None, settings: dict[str, Any] | None = None
    ) -> Project:
        """Update given fields, and return the project."""
        self._session.touch()
        changes = {"name": name, "language": language, "settings": settings}
        new_values = {key: value for key, value in changes.items() if value is not None}
        if new_values:
            self._session.update(Project, **new_values)
        return self.require()

    def remove(self) -> None:
        """Take the project out with all that refers to it, but for its memories in the index of words."""
        self.require()
        self._session.delete(Project)

    def set_embedding_model(self, model: str, dimension: int) -> None:
        """Record the model and dimension that the vector index is built with."""
        if not self._session.update(Project, embedding_model=model, embedding_dimension=dimension):
            self.require()

    def switch_index(self, index_id: str) -> None:
        """Let another vector index be the live one: it was built anew, so removals are counted from 0."""
        self._session.update(Project, index_id=index_id, index_removals=0)

    def count_index_removals(self, rows: int) -> None:
        """Add rows that were removed from the vector index."""
        self._session.update(Project, index_removals=col(Project.index_removals) + rows)


CounterKind = Literal["C", "L", "I", "F", "T", "S", "OL", "R", "N", "CM"]
"""Characters, locations, items, factions, terms, scenes, open loops, relationships, notes, memories of characters."""

_FIRST_NUMBER: dict[str, int] = {"S": 1}

_NUMBER_PATTERN = re.compile(rf"({'|'.join(sorted(get_args(CounterKind), key=len, reverse=True))})(\d{{1,9}})")


class CounterRepository(Repository):
    """Repository of id counters, locked until the transaction ends."""

    def take(self, kind: CounterKind) -> str:
        """Return the next id of a kind, such as C0 or S001, that nobody was given before."""
        number = self._go_on(kind, _FIRST_NUMBER.get(kind, 0) + 1, col(IdCounter.next_number) + 1) - 1
        return f"{kind}{number:03d}" if kind == "S" else f"{kind}{number}"

    def take_for(self, entity_type: EntityType) -> str:
        """Return the next id of an entity of that type."""
        return self.take(ID_PREFIXES[entity_type])  # type: ignore[arg-type]

    def jump_over(self, used_ids: Iterable[str]) -> None:
        """Advance counters beyond foreign ids of known form."""
        highest: dict[str, int] = {}
        for match in filter(None, map(_NUMBER_PATTERN.fullmatch, used_ids)):
            highest[match[1]] = max(highest.get(match[1], 0), int(match[2]))
        for kind, number in highest.items():
            is_beyond = IdCounter.next_number > number
            self._go_on(kind, number + 1, case((is_beyond, col(IdCounter.next_number)), else_=number + 1))

    def _go_on(self, kind: str, first: int, later: Any) -> int:
        """Let a counter stand at a first number, or where it stands already at a later one, and return it."""
        own = {"project_id": self.project_id, "kind": kind}
        statement = self._session.upsert(IdCounter).values(**own, next_number=first)
        statement = statement.on_conflict_do_update(index_elements=list(own), set_={"next_number": later})
        return int(self._session.scalar(statement.returning(col(IdCounter.next_number))))
