"""What Python programs correct in a story: memories, scenes, cards, relationships, threads, deletions, undo."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from langchain_core.tools import BaseTool

from novelgen.models.entity import EntityType
from novelgen.models.position import StoryPosition
from novelgen.models.state import LoopImportance, Relationship
from runtime.async_twins import async_twin
from runtime.services import author_changes as author_change_services
from runtime.services import deletion as deletion_services
from runtime.services import entities as entity_services
from runtime.services import memories as memory_services
from runtime.services import relationships as relationship_services
from runtime.services import scene_editing as scene_editing_services
from runtime.services import threads as thread_services
from runtime.services.author_changes import ListedChange, TakenBack
from runtime.services.deletion import DeletionResult
from runtime.services.entities import EditedEntity, EntityCard, EntityChangeResult
from runtime.services.memories import MemoryChange
from runtime.services.relationships import DEFAULT_INTENSITY
from runtime.services.scene_editing import KeptRecord, SceneEdit
from runtime.services.threads import ListedThread
from runtime.story_base import Place, StoryBase, position_of, required_position
from runtime.story_tools.editing_tools import build_editing_tools


class StoryEditing(StoryBase):
    """The part of a `Story` that corrects what is stored; see there."""

    def edit_memory(
        self,
        memory_id: str,
        *,
        content: str | None = None,
        short: str | None = None,
        importance: int | None = None,
        tags: Sequence[str] | None = None,
        attach: Sequence[str] = (),
        detach: Sequence[str] = (),
        attached_to: Sequence[str] | None = None,
    ) -> MemoryChange:
        """Change a memory, what it is attached to included; no ingest takes that back.

        Args:
            memory_id: Its chunk_id or source_id.
            content: New text; None leaves it, as for all.
            short: New short form.
            importance: New weight, 1 to 10.
            tags: New tags, all of them.
            attach: What to attach it to: entities, chapters as `chapter:3`, or `book`.
            detach: What to take it off.
            attached_to: All that it shall be attached to.

        Raises:
            UserInputError: When nothing is to be changed.
            UnknownMemoryError: When there is none of that id.
            UnknownEntityError: When an entity is not stored.
            UnknownSceneError: When no scene of a chapter is stored.
        """
        return memory_services.edit_memory(
            self._stores,
            self.project_id,
            memory_id=memory_id,
            content=content,
            short=short,
            importance=importance,
            tags=tags,
            attach=list(attach),
            detach=list(detach),
            attached_to=attached_to,
        )

    def confirm_memory(self, memory_id: str) -> MemoryChange:
        """Say that a memory is true as it stands: it is the author's then, proved, and no ingest touches it.

        Args:
            memory_id: Its chunk_id or source_id.

        Raises:
            UnknownMemoryError: When there is none of that id.
            UserInputError: When it is a consolidated memory.
        """
        return memory_services.confirm_memory(self._stores, self.project_id, memory_id=memory_id)

    def edit_scene(
        self,
        place: StoryPosition | tuple[int, int],
        *,
        text: str | None = None,
        title: str | None = None,
        record: KeptRecord = "keep",
    ) -> SceneEdit:
        """Change the text or the title of a stored scene; `undo_author_change` takes it back.

        Args:
            place: The scene, as `(3, 2)`.
            text: The new text; None leaves it.
            title: The new title; None leaves it.
            record: "keep" or "drop": what becomes of the record when the text changes.

        Raises:
            UnknownSceneError: When no scene is stored there.
            UserInputError: When the text is empty or too long.
        """
        return scene_editing_services.edit_scene(
            self._stores, self.project_id, position=required_position(place), text=text, title=title, record=record
        )

    def author_changes(
        self, *, limit: int = author_change_services.DEFAULT_CHANGES, as_of: Place = None
    ) -> list[ListedChange]:
        """List what the author changed in memories and scenes, the latest first, what was taken back included.

        Args:
            limit: At most so many.
            as_of: Only changes of what lies before this position; None means of everything.
        """
        return author_change_services.list_author_changes(
            self._stores, self.project_id, limit=limit, as_of=position_of(as_of)
        )

    def undo_author_change(self, change_id: int) -> TakenBack:
        """Take a change of a memory or scene back; `undo` is for entities, relationships and threads.

        Args:
            change_id: Its number, which `author_changes` tells, and the result of the change itself.

        Raises:
            UserInputError: When there is no such change, it was taken back already, what it changed is gone, or was
                changed again since.
        """
        return author_change_services.undo_author_change(self._stores, self.project_id, change_id=change_id)

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
        return deletion_services.delete_entity(self._stores, self.project_id, name=name, entity_type=entity_type)

    def add_relationship(
        self,
        first: str,
        second: str,
        relationship_type: str,
        *,
        perspective_a: str = "",
        perspective_b: str = "",
        status: str = "neutral",
        intensity: int = DEFAULT_INTENSITY,
        dimensions: Mapping[str, int] | None = None,
        start: Place = None,
    ) -> Relationship:
        """Say how two characters stand who have no relationship yet.

        Args:
            first: One of the two.
            second: The other one.
            relationship_type: mentor-student, friends, rivals, family, …; of two roles, that of the first comes first.
            perspective_a: How the first sees the second.
            perspective_b: How the second sees the first.
            status: close, strained, hostile, …
            intensity: How much it matters, 0 to 10.
            dimensions: Trust, respect, affection, fear and familiarity that both feel.
            start: It holds on entering this position.

        Raises:
            UnknownEntityError: When nobody bears a name by then, or several do.
            UserInputError: When they have a relationship already.
        """
        return relationship_services.add_relationship(
            self._stores,
            self.project_id,
            first=first,
            second=second,
            relationship_type=relationship_type,
            perspective_a=perspective_a,
            perspective_b=perspective_b,
            status=status,
            intensity=intensity,
            dimensions=dimensions,
            start=position_of(start),
        )

    def edit_relationship(
        self,
        first: str,
        second: str,
        *,
        relationship_type: str | None = None,
        perspective_a: str | None = None,
        perspective_b: str | None = None,
        status: str | None = None,
        event: str | None = None,
        intensity: int | None = None,
        dimensions: Mapping[str, int] | None = None,
        mutual_dimensions: Mapping[str, int] | None = None,
        scene_id: str | None = None,
        start: Place = None,
    ) -> Relationship:
        """Change how two characters stand; what is not given stays as it is.

        Args:
            first: One of the two.
            second: The other one.
            relationship_type: The new type.
            perspective_a: How the first sees the second now.
            perspective_b: How the second sees the first now.
            status: The new status.
            event: What happened between them.
            intensity: How much it matters now, 0 to 10.
            dimensions: What the first feels for the second now; the second's side stays.
            mutual_dimensions: What both feel alike now.
            scene_id: Scene in which it happened, as S001 or 3:2.
            start: It holds on entering this position.

        Raises:
            UnknownEntityError: When nobody bears a name by then, or several do.
            UserInputError: When they have no relationship, or nothing is to be changed.
        """
        return relationship_services.edit_relationship(
            self._stores,
            self.project_id,
            first=first,
            second=second,
            relationship_type=relationship_type,
            perspective_a=perspective_a,
            perspective_b=perspective_b,
            status=status,
            event=event,
            intensity=intensity,
            dimensions=dimensions,
            mutual_dimensions=mutual_dimensions,
            scene_id=scene_id,
            start=position_of(start),
        ).relationship

    def delete_relationship(self, first: str, second: str) -> DeletionResult:
        """Delete how two characters stand, with its history; both stay. `undo` takes it back.

        Raises:
            UnknownEntityError: When nobody bears a name, or several do.
            UserInputError: When nothing is known of the two together.
        """
        return deletion_services.delete_relationship(self._stores, self.project_id, first=first, second=second)

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
        parts: int | None = None,
    ) -> ListedThread:
        """Change how a thread is described and what is noted of it; what is None stays.

        Args:
            thread_id: Its id, such as OL3.
            description: The question or promise that the story leaves open.
            category: mystery, relationship, goal, threat, promise, ….
            importance: low, medium, high or critical.
            notes: What its author notes of it; it stands in no context and no prompt.
            pay_off: What its pay-off needs; `thread_ledger` tells it, like the next three.
            due_from: From entering this scene on it is due.
            due_by: Open on entering this scene, it is overdue.
            parts: In how many parts it is to be paid, at least two.

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
            parts=parts,
        )

    def reopen_thread(self, thread_id: str, *, start: Place = None) -> ListedThread:
        """Take back that a thread ended, and return it as it stands then.

        Args:
            thread_id: Its id, such as OL3.
            start: It is over on entering this position; None means after the last stored scene.

        Raises:
            UserInputError: When it has not ended by then, or a scene's record says that it has.
        """
        return thread_services.reopen_thread(
            self._stores, self.project_id, thread_id=thread_id, start=position_of(start)
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

    aedit_memory = async_twin(edit_memory)
    aconfirm_memory = async_twin(confirm_memory)
    aedit_scene = async_twin(edit_scene)
    aauthor_changes = async_twin(author_changes)
    aundo_author_change = async_twin(undo_author_change)
    aentity = async_twin(entity)
    aedit_entity = async_twin(edit_entity)
    adelete_entity = async_twin(delete_entity)
    aadd_relationship = async_twin(add_relationship)
    aedit_relationship = async_twin(edit_relationship)
    adelete_relationship = async_twin(delete_relationship)
    aedit_thread = async_twin(edit_thread)
    areopen_thread = async_twin(reopen_thread)
    adelete_thread = async_twin(delete_thread)
    aundo = async_twin(undo)
