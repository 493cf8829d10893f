"""What users do to get rid of something: delete entities, relationships and threads, so that it can be undone."""

from __future__ import annotations

from pydantic import Field

from novelgen.errors import UserInputError
from novelgen.models.entity import EntityType
from runtime.ingest.indexing import IndexingResult, follow_edit
from runtime.storage.merges import Deletion
from runtime.stores import MemoryStores
from runtime.story.async_twins import async_twin
from runtime.story.base import Name, StoryBase
from runtime.story.references import known_entities, resolved_entity


class DeletionResult(Deletion):
    """What was deleted, who referred to it, and the change by whose number it can be undone."""

    deleted: str = Field(description="Id of what is gone, such as C3, R0 or OL2.")
    name: str = Field(description="Its name; of a relationship both characters, of a thread its description.")
    indexing: IndexingResult = Field(default_factory=IndexingResult)


class StoryDeletion(StoryBase):
    """What users do to get rid of something: delete entities, relationships and threads, so that it can be undone."""

    def delete_entity(self, name: Name, *, entity_type: EntityType | None = None) -> DeletionResult:
        """Delete an entity with its names, states and relationships; memories stay. `undo` takes it back.

        Args:
            name: Id, name or alias.
            entity_type: Only one of this type is meant.

        Raises:
            UnknownEntityError: When nobody bears the name, or several do.
        """
        with self._stores.database(self.project_id).write() as unit:
            entity = resolved_entity(name, known_entities(unit, None), entity_type)
            deletion = unit.deletions.delete_entity(entity.entity_id)
        return _followed(self._stores, self.project_id, deletion)

    def delete_relationship(self, first: Name, second: Name) -> DeletionResult:
        """Delete how two characters stand, with its history; both stay. `undo` takes it back.

        Raises:
            UnknownEntityError: When nobody bears a name, or several do.
            UserInputError: When nothing is known of the two together.

        Args:
            first: One of the two, by id, name or alias.
            second: The other one.

        Raises:
            UnknownEntityError: When nobody bears a name, or several do.
            UserInputError: When nothing is known of the two together.
        """
        with self._stores.database(self.project_id).write() as unit:
            known = known_entities(unit, None)
            one, other = (resolved_entity(name, known, "character").entity_id for name in (first, second))
            found = unit.relationships.between(one, other)
            if found is None:
                raise UserInputError(f"nothing is known of {one} and {other} together; list the relationships")
            deletion = unit.deletions.delete_relationship(found.relationship_id)
        return _followed(self._stores, self.project_id, deletion)

    def delete_thread(self, thread_id: Name) -> DeletionResult:
        """Delete a thread with its history; `undo` takes it back.

        Raises:
            UserInputError: When no such thread is stored.

        Args:
            thread_id: Its id, such as OL3.

        Raises:
            UserInputError: When no such thread is stored.
        """
        with self._stores.database(self.project_id).write() as unit:
            deletion = unit.deletions.delete_thread(thread_id)
        return _followed(self._stores, self.project_id, deletion)

    adelete_entity = async_twin(delete_entity)
    adelete_relationship = async_twin(delete_relationship)
    adelete_thread = async_twin(delete_thread)


def _followed(stores: MemoryStores, project_id: str, deletion: Deletion) -> DeletionResult:
    change = deletion.change
    return DeletionResult(
        **dict(deletion), deleted=change.entity_id, name=change.other_id, indexing=follow_edit(stores, project_id)
    )
