"""What users do to get rid of something: delete entities, relationships and threads, so that it can be undone."""

from __future__ import annotations

from pydantic import Field

from novelgen.errors import UserInputError
from novelgen.models.entity import EntityType
from runtime.ingest.indexing import IndexingResult, drain_outbox
from runtime.services.references import known_entities, resolved_entity
from runtime.storage.entity.deletion import Deletion
from runtime.stores import MemoryStores


class DeletionResult(Deletion):
    """What was deleted, who referred to it, and the change by whose number it can be undone."""

    deleted: str = Field(description="Id of what is gone, such as C3, R0 or OL2.")
    name: str = Field(description="Its name; of a relationship both characters, of a thread its description.")
    indexing: IndexingResult = Field(default_factory=IndexingResult)


def delete_entity(
    stores: MemoryStores, project_id: str, *, name: str, entity_type: EntityType | None = None
) -> DeletionResult:
    """Delete a character, place, thing, group or term with its names, states and relationships.

    What a character knows, remembers, feels and keeps secret goes, too; others' own memories of it stay. Memories
    of the story that were linked to it stay without the link, and casts, places, records, threads and other cards let
    go of it. The texts of the story stay as they are: a later ingest of characters.json that has it, or a reading by
    a model, can bring it back. `runtime.services.entities.undo_entity_change` takes the deletion back.
    """
    with stores.database(project_id).write() as unit:
        entity = resolved_entity(name, known_entities(unit, None), entity_type)
        deletion = unit.deletions.delete_entity(entity.entity_id)
    return _followed(stores, project_id, deletion)


def delete_relationship(stores: MemoryStores, project_id: str, *, first: str, second: str) -> DeletionResult:
    """Delete how two characters stand, with its history; both stay, and it can be undone."""
    with stores.database(project_id).write() as unit:
        known = known_entities(unit, None)
        one, other = (resolved_entity(name, known, "character").entity_id for name in (first, second))
        found = unit.relationships.between(one, other)
        if found is None:
            raise UserInputError(f"nothing is known of {one} and {other} together; list the relationships")
        deletion = unit.deletions.delete_relationship(found.relationship_id)
    return _followed(stores, project_id, deletion)


def delete_thread(stores: MemoryStores, project_id: str, *, thread_id: str) -> DeletionResult:
    """Delete a thread with its history, so that it can be undone."""
    with stores.database(project_id).write() as unit:
        deletion = unit.deletions.delete_thread(thread_id)
    return _followed(stores, project_id, deletion)


def _followed(stores: MemoryStores, project_id: str, deletion: Deletion) -> DeletionResult:
    change = deletion.change
    return DeletionResult(
        **dict(deletion), deleted=change.entity_id, name=change.other_id, indexing=drain_outbox(stores, project_id)
    )
