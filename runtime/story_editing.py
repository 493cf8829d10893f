"""What Python programs correct in a story: cards, states and threads, what is to be gone, and taking that back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from langchain_core.tools import BaseTool

from novelgen.models.entity import EntityType
from novelgen.models.state import LoopImportance
from runtime.async_twins import async_twin
from runtime.services import deletion as deletion_services
from runtime.services import entities as entity_services
from runtime.services import threads as thread_services
from runtime.services.deletion import DeletionResult
from runtime.services.entities import EditedEntity, EntityCard, EntityChangeResult
from runtime.services.threads import ListedThread
from runtime.stores import MemoryStores
from runtime.story_places import Place, position_of
from runtime.story_tools.editing_tools import build_editing_tools


class StoryEditing:
    """The part of a `Story` that corrects what is stored; see there."""

    _stores: MemoryStores
    project_id: str

    def entity(self, name: str, *, entity_type: EntityType | None = None, as_of: Place = None) -> EntityCard:
        """Return an entity with its state, counts of its scenes, and when its card was made and changed.

        Args:
            name: Id, name or alias.
            entity_type: Only one of this type is meant.
            as_of: As far as the story has shown it before this position.

        Raises:
            UnknownEntityError: When nobody bears the name by then, or several do.
        """
        return entity_services.get_entity(
            self._stores, self.project_id, name=name, entity_type=entity_type, as_of=position_of(as_of)
        )

    def edit_entity(
        self,
        name: str,
        changes: Mapping[str, Any],
        *,
        state: Mapping[str, Any] | None = None,
        entity_type: EntityType | None = None,
        start: Place = None,
    ) -> EditedEntity:
        """Change fields of an entity's card and profile, and attributes of its state.

        Args:
            name: Id, name or alias.
            changes: Fields to their new values: name, role, description, alias, translation, a field of the profile;
                `current_state` is an object of attributes of the state, and so is every other name one.
            state: Attributes of the state, whatever their names look like; None clears one.
            entity_type: Only one of this type is meant.
            start: Attributes hold on entering this position; None means after the last stored scene.

        Raises:
            UnknownEntityError: When nobody bears the name, or several do.
            UserInputError: When a name looks misspelt, a value does not fit, or nothing is to be changed.
        """
        return entity_services.edit_entity(
            self._stores,
            self.project_id,
            name=name,
            changes=changes,
            attributes=state,
            entity_type=entity_type,
            start=position_of(start),
        )

    def delete_entity(self, name: str, *, entity_type: EntityType | None = None) -> DeletionResult:
        """Delete an entity with its names, states and relationships; memories stay. `undo` takes it back.

        Args:
            name: Id, name or alias.
            entity_type: Only one of this type is meant.

        Raises:
            UnknownEntityError: When nobody bears the name, or several do.
        """
        return deletion_services.delete_entity(
            self._stores, self.project_id, name=name, entity_type=entity_type
        )

    def delete_relationship(self, first: str, second: str) -> DeletionResult:
        """Delete how two characters stand, with its history; both stay. `undo` takes it back.

        Raises:
            UnknownEntityError: When nobody bears a name, or several do.
            UserInputError: When nothing is known of the two together.
        """
        return deletion_services.delete_relationship(
            self._stores, self.project_id, first=first, second=second
        )

    def edit_thread(
        self,
        thread_id: str,
        *,
        description: str | None = None,
        category: str | None = None,
        importance: LoopImportance | None = None,
        notes: str | None = None,
        pay_off: str | None = None,
        due_from: Place = None,
        due_by: Place = None,
    ) -> ListedThread:
        """Change how a thread is described and what is noted of it; what is None stays.

        Args:
            thread_id: Its id, such as OL3.
            description: The question or promise that the story leaves open.
            category: mystery, relationship, goal, threat, promise, ….
            importance: low, medium, high or critical.
            notes: What its author notes of it; it stands in no context and no prompt.
            pay_off: What its pay-off needs; `thread_ledger` tells it, like the next two.
            due_from: From entering this scene on it is due.
            due_by: Open on entering this scene, it is overdue.

        Raises:
            UserInputError: When no such thread is stored, or nothing is to be changed.
        """
        return thread_services.edit_thread(
            self._stores,
            self.project_id,
            thread_id=thread_id,
            description=description,
            category=category,
            importance=importance,
            notes=notes,
            pay_off=pay_off,
            due_from=position_of(due_from),
            due_by=position_of(due_by),
        )

    def delete_thread(self, thread_id: str) -> DeletionResult:
        """Delete a thread with its history; `undo` takes it back.

        Raises:
            UserInputError: When no such thread is stored.
        """
        return deletion_services.delete_thread(self._stores, self.project_id, thread_id=thread_id)

    def undo(self, change_id: int) -> EntityChangeResult:
        """Undo a deletion, a merge, a split or a decision on a candidate, exactly.

        Args:
            change_id: Its number, which the result of a deletion has as `change.change_id`.

        Raises:
            UserInputError: When there is none of that number, or something of it changed again since.
        """
        return entity_services.undo_entity_change(self._stores, self.project_id, change_id=change_id)

    def editing_tools(self) -> list[BaseTool]:
        """Return LangChain tools with which an editor's agent corrects this story alone.

        They change cards, states and threads, delete, and undo; they see the whole story and are not for the planner
        of a scene. What goes wrong in a call is answered as data.
        """
        return build_editing_tools(self._stores, self.project_id)

    aentity = async_twin(entity)
    aedit_entity = async_twin(edit_entity)
    adelete_entity = async_twin(delete_entity)
    adelete_relationship = async_twin(delete_relationship)
    aedit_thread = async_twin(edit_thread)
    adelete_thread = async_twin(delete_thread)
    aundo = async_twin(undo)
