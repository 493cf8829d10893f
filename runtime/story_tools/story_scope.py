"""What the story tools are bound to: the stores, a project, and the position that is being planned."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from novelgen.errors import UnknownEntityError, UnknownSceneError
from novelgen.models.entity import Entity, EntityType
from novelgen.models.position import END_OF_STORY, StoryPosition
from novelgen.names.resolver import NameResolver
from runtime.storage.database import DatabaseManager
from runtime.storage.records import StoredScene
from runtime.storage.unit import UnitOfWork
from runtime.stores import MemoryStores

SHOWN_ENTITIES = 10
"""So many known entities an error lists."""


@dataclass(frozen=True, slots=True)
class StoryScope:
    """The bounds of a set of tools.

    Args:
        stores: Open stores; they are not closed here.
        project_id: The only project that is read and written.
        as_of: Everything is read strictly before this position.
    """

    stores: MemoryStores
    project_id: str
    as_of: StoryPosition = END_OF_STORY

    @property
    def database(self) -> DatabaseManager:
        """The database of the project."""
        return self.stores.database(self.project_id)

    def entities(self, unit: UnitOfWork) -> list[Entity]:
        """Return the entities as the story has shown them before the position."""
        return unit.entities.list_as_of(as_of=self.as_of)

    def entity_id(self, unit: UnitOfWork, name: str, entity_type: EntityType) -> str:
        """Return the id that a model means by an id, name or alias.

        Raises:
            UnknownEntityError: When nobody, or several, are meant; lists whom it may mean.
        """
        known = [each for each in self.entities(unit) if each.entity_type == entity_type]
        resolution = NameResolver(known).resolve(name)
        if resolution.entity_id is not None:
            return resolution.entity_id
        if resolution.candidate_ids:
            several = [each for each in known if each.entity_id in resolution.candidate_ids]
            raise UnknownEntityError(f"{name!r} may be {_listed(several)}; say which by its id")
        raise UnknownEntityError(f"no {entity_type} {name!r} is known; known are {_listed(known)}")

    def last_scene(self, unit: UnitOfWork) -> StoredScene | None:
        """Return the last scene before the position, or None at the beginning of the story."""
        return next(iter(unit.scenes.list_as_of(as_of=self.as_of, last=1)), None)

    def writing_position(self, unit: UnitOfWork, scene_id: str | None = None) -> StoryPosition:
        """Return where a tool's statement holds from: after a scene, the last one before the position by default.

        So what was just stated is read at the position itself, and nowhere earlier. At the beginning of the
        story there is no scene; then it holds from the start.

        Args:
            unit: A unit of work.
            scene_id: A scene as S001 or 3:2; None means the last one.

        Raises:
            UnknownSceneError: When no such scene lies before the position.
        """
        if scene_id is None:
            last = self.last_scene(unit)
            return last.position if last is not None else END_OF_STORY
        for scene in unit.scenes.list_as_of(as_of=self.as_of):
            if scene_id in (scene.label, str(scene.position)):
                return scene.position
        raise UnknownSceneError(
            f"no scene {scene_id!r} is stored before {self.as_of}; use an id such as S001"
        )


def _listed(entities: Sequence[Entity]) -> str:
    if not entities:
        return "none"
    named = [f"{entity.entity_id} ({entity.name})" for entity in entities[:SHOWN_ENTITIES]]
    more = len(entities) - len(named)
    return ", ".join(named) + (f" and {more} more" if more else "")
