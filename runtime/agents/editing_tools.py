"""Tools of an editor's model: entity_update, deletions and their undoing, and open_loop_update."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any

from langchain_core.tools import BaseTool
from pydantic import BaseModel, ConfigDict, Field

from novelgen.models.position import GREATEST_INDEX, require_project_id
from novelgen.models.state import LoopImportance
from runtime.agents.structured_tool import Answer, structured_tool
from runtime.stores import MemoryStores
from runtime.story.deletion import DeletionResult, StoryDeletion
from runtime.story.entities import StoryEntities
from runtime.story.threads import StoryThreads

_Id = Annotated[str, Field(min_length=1, max_length=200)]


class _Arguments(BaseModel):
    # An argument that does not exist, such as a project_id, is an error and not silently dropped.
    model_config = ConfigDict(extra="forbid")


class EntityUpdateArguments(_Arguments):
    """Arguments of entity_update."""

    entity_id: _Id = Field(description="Id of the entity, such as C0; a name works, too.")
    changes: dict[str, Any] = Field(
        description="Fields of the card to new values: name, role, description, alias, personality, …;"
        " current_state is an object of what holds now: location_id, emotional_state, inventory, goals, …"
    )


class EntityDeleteArguments(_Arguments):
    """Arguments of entity_delete."""

    entity_id: _Id = Field(description="Id of the entity, such as C3; a name works, too.")


class RelationshipDeleteArguments(_Arguments):
    """Arguments of relationship_delete."""

    character_a: _Id = Field(description="Id of one character; a name works, too.")
    character_b: _Id = Field(description="Id of the other one.")


class OpenLoopUpdateArguments(_Arguments):
    """Arguments of open_loop_update."""

    open_loop_id: _Id = Field(description="Id of the open loop, such as OL0.")
    description: str | None = Field(default=None, description="The question that the story leaves open.")
    category: str | None = Field(default=None, description="mystery, relationship, goal, threat, promise, …")
    importance: LoopImportance | None = Field(default=None, description="low, medium, high or critical.")
    notes: str | None = Field(default=None, description="Notes of the author, which no context of a scene shows.")


class OpenLoopDeleteArguments(_Arguments):
    """Arguments of open_loop_delete."""

    open_loop_id: _Id = Field(description="Id of the open loop, such as OL0.")


class ChangeUndoArguments(_Arguments):
    """Arguments of change_undo."""

    change_id: int | None = Field(
        default=None,
        ge=0,
        le=GREATEST_INDEX,
        description="Number of the change, as a deletion answers it. Default: the last.",
    )


_DESCRIPTIONS = {
    "entity_update": (
        "Change what is stored of a character, place, thing, group or term: its card and how it stands now."
        " Returns the names of what was changed."
    ),
    "entity_delete": (
        "Delete a character, place, thing, group or term that should not be there. Memories about it stay without"
        " the link. Returns a change_id, by which change_undo takes it back."
    ),
    "relationship_delete": ("Delete how two characters stand, with its history. Returns a change_id for change_undo."),
    "open_loop_update": "Change how an open loop is described, or note something about it for the author.",
    "open_loop_delete": (
        "Delete an open loop that is none. One that was answered is resolved instead. Returns a change_id for"
        " change_undo."
    ),
    "change_undo": "Take back a change, whatever it was, by its number; everything is as it was before.",
}


def build_editing_tools(stores: MemoryStores, project_id: str) -> list[BaseTool]:
    """Build the tools with which an editor's model corrects what is stored.

    They reach the whole project, what is still to come in the story included, and can undo the author's work: they
    are for editors, not for the planner of a scene.
    """
    bodies = _EditingToolBodies(stores, require_project_id(project_id))
    tools: dict[str, tuple[Callable[..., Answer], type[BaseModel]]] = {
        "entity_update": (bodies.entity_update, EntityUpdateArguments),
        "entity_delete": (bodies.entity_delete, EntityDeleteArguments),
        "relationship_delete": (bodies.relationship_delete, RelationshipDeleteArguments),
        "open_loop_update": (bodies.open_loop_update, OpenLoopUpdateArguments),
        "open_loop_delete": (bodies.open_loop_delete, OpenLoopDeleteArguments),
        "change_undo": (bodies.change_undo, ChangeUndoArguments),
    }
    return [structured_tool(name, _DESCRIPTIONS[name], body, schema) for name, (body, schema) in tools.items()]


class _EditingToolBodies:
    def __init__(self, stores: MemoryStores, project_id: str) -> None:
        self._story = (stores, project_id)

    def entity_update(self, *, entity_id: str, changes: dict[str, Any]) -> Answer:
        edited = StoryEntities(*self._story).edit_entity(name=entity_id, changes=changes)
        return {"success": True, "entity_id": edited.entity.entity_id, "updated_fields": edited.updated_fields}

    def entity_delete(self, *, entity_id: str) -> Answer:
        return _deleted(StoryDeletion(*self._story).delete_entity(name=entity_id))

    def relationship_delete(self, *, character_a: str, character_b: str) -> Answer:
        return _deleted(StoryDeletion(*self._story).delete_relationship(first=character_a, second=character_b))

    def open_loop_update(self, *, open_loop_id: str, **changes: Any) -> Answer:
        edited = StoryThreads(*self._story).edit_thread(thread_id=open_loop_id, **changes)
        told = edited.model_dump(include={"description", "category", "importance", "notes"})
        return {"success": True, "open_loop_id": edited.loop_id, **told}

    def open_loop_delete(self, *, open_loop_id: str) -> Answer:
        return _deleted(StoryDeletion(*self._story).delete_thread(thread_id=open_loop_id))

    def change_undo(self, *, change_id: int | None = None) -> Answer:
        undone = StoryEntities(*self._story).undo(change_id=change_id).change
        return {"success": True, "undone": undone.kind, "id": undone.entity_id}


def _deleted(done: DeletionResult) -> Answer:
    told = done.model_dump(
        include={
            "deleted",
            "name",
            "unlinked_memories",
            "removed_relationships",
            "changed_threads",
            "changed_scenes",
            "changed_entities",
            "removed_character_memories",
            "changed_character_memories",
        }
    )
    return {"success": True, "change_id": done.change.change_id, **told}
