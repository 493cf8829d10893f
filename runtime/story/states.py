"""How entities stand at a point of the story and around a chapter."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pydantic import BaseModel, Field

from novelgen.models.folds import HOLDER_ATTRIBUTE
from novelgen.models.position import END_OF_STORY, StoryPosition
from novelgen.models.shown import ShownList
from novelgen.models.state import EntityStateSnapshot, StateChange
from runtime.search.story_memory import DEFAULT_CONTEXT_WINDOW
from runtime.storage.unit import UnitOfWork
from runtime.story.async_twins import async_twin
from runtime.story.base import Name, Number, Place, position_of
from runtime.story.entities import StoryEntities
from runtime.story.references import known_entities, resolved_entity


class TimelineView(BaseModel):
    """How entities stood around a chapter, and the names to show for the ids in it."""

    snapshots: list[EntityStateSnapshot] = Field(
        default_factory=list, description="One per entity and chapter in which it changed, in story order."
    )
    names: dict[str, str] = Field(default_factory=dict)


class StoryStates(StoryEntities):
    """How entities stand at a point of the story and around a chapter."""

    def state(self, entity: Name, *, as_of: Place = None) -> EntityStateSnapshot | None:
        """Return how an entity stands at a point of the story: where it is, what it holds, wants and knows.

        Args:
            entity: Id, name or alias.
            as_of: As it stands at this position.

        Returns:
            The state, or None when nothing is known of the entity by then.
        """
        place = position_of(as_of) or END_OF_STORY
        return self._tools.get_entity_state(
            self.project_id, entity, chapter_index=place.chapter_index, scene_index=place.scene_index
        )

    def timeline(
        self, chapter_index: int, *, context_window: int = DEFAULT_CONTEXT_WINDOW, as_of: Place = None
    ) -> list[EntityStateSnapshot]:
        """Return how entities stood at the end of the chapters around one chapter, in story order.

        Args:
            chapter_index: The chapter in the middle.
            context_window: Chapters before and after it.
            as_of: Only what lies strictly before this position.
        """
        found = self._tools.get_recent_timeline(
            self.project_id, chapter_index, context_window=context_window, as_of=position_of(as_of)
        )
        return ShownList(found, names=self.entity_names(as_of=position_of(as_of)))

    def get_timeline(
        self,
        *,
        chapter_index: Number,
        context_window: Number = DEFAULT_CONTEXT_WINDOW,
        as_of: StoryPosition | None = None,
    ) -> TimelineView:
        """Return how entities stood at the end of the chapters around one chapter.

        Args:
            chapter_index: The chapter in the middle.
            context_window: Chapters before and after it.
            as_of: Only what lies strictly before this position; None means all that is stored.

        Raises:
            UnknownProjectError: When no such project is stored.
            DatabaseError: When the database fails.
        """
        window = max(0, context_window)
        cut = as_of or END_OF_STORY
        with self._stores.database(self.project_id).read() as unit:
            snapshots = unit.states.timeline(chapter_index - window, chapter_index + window, as_of=cut)
            if as_of is None:
                entities = [stored.entity for stored in unit.entities.list_all()]
            else:
                entities = unit.entities.list_as_of(as_of=as_of)
        return TimelineView(snapshots=snapshots, names={each.entity_id: each.name for each in entities})

    def stated_within(self, *, since: StoryPosition, until: StoryPosition | None = None) -> StatedStretch:
        """Return what was stated of how entities stand from one position on until another."""
        with self._stores.database(self.project_id).read() as unit:
            changes = unit.states.stated_between(since, until or END_OF_STORY)
            standing = unit.states.standing_before(since, attributes=[HOLDER_ATTRIBUTE])
        held = {each.entity_id: each.value for each in standing}
        return StatedStretch(changes=changes, holders={item: who for item, who in held.items() if isinstance(who, str)})

    def state_history(self, *, entity: str, as_of: StoryPosition | None = None) -> list[StateChange]:
        """Return what was stated of how an entity stands, step by step."""
        with self._stores.database(self.project_id).read() as unit:
            entity_id = resolved_entity(entity, known_entities(unit, as_of)).entity_id
            return unit.states.stated_of(entity_id, as_of=as_of or END_OF_STORY)

    def attribute_histories(self, *, entity: str, as_of: StoryPosition | None = None) -> list[AttributeHistory]:
        """Return each attribute of an entity with all that it was, and the words that prove what it is.

        What was said again and changed nothing is no step; of two words at one place the one that counts is.
        """
        changes = self.state_history(entity=entity, as_of=as_of)
        by_attribute: dict[str, list[StateChange]] = {}
        for change in changes:
            by_attribute.setdefault(change.attribute, []).append(change)
        steps = {attribute: _steps(each) for attribute, each in by_attribute.items()}
        with self._stores.database(self.project_id).read() as unit:
            return [
                AttributeHistory(
                    attribute=attribute,
                    steps=[_step(each, _quote(unit, each) if each is told[-1] else "") for each in told[::-1]],
                )
                for attribute, told in steps.items()
            ]

    astate = async_twin(state)
    atimeline = async_twin(timeline)
    aget_timeline = async_twin(get_timeline)
    astated_within = async_twin(stated_within)
    astate_history = async_twin(state_history)
    aattribute_histories = async_twin(attribute_histories)


class StatedStretch(BaseModel):
    """What a stretch of the story stated of how entities stand."""

    changes: list[StateChange] = Field(
        default_factory=list, description="In the order in which they count; merely being seen is none."
    )
    holders: dict[str, str] = Field(default_factory=dict, description="Item to who had it on entering the stretch.")


class StateStep(BaseModel):
    """A value that an attribute had, since where, and what proves it."""

    value: Any = None
    chapter_index: int | None = Field(default=None, description="None: from the start.")
    scene_index: int | None = None
    is_verified: bool = True
    quote: str = Field(default="", description="Words of the scene; of the value that holds alone.")


class AttributeHistory(BaseModel):
    """How an attribute of an entity stands, and how it came to."""

    attribute: str
    steps: list[StateStep] = Field(description="The value that holds first, then those before it.")


def _steps(changes: Sequence[StateChange]) -> list[StateChange]:
    told: list[StateChange] = []
    for change in changes:
        if told and _place(told[-1]) == _place(change):
            told.pop()
        if not told or told[-1].value != change.value:
            told.append(change)
    return told or list(changes[-1:])


def _place(change: StateChange) -> tuple[int | None, int | None]:
    return change.chapter_index, change.scene_index


def _step(change: StateChange, quote: str) -> StateStep:
    return StateStep(
        value=change.value,
        chapter_index=change.chapter_index,
        scene_index=change.scene_index,
        is_verified=change.verified,
        quote=quote,
    )


def _quote(unit: UnitOfWork, change: StateChange) -> str:
    if change.source_span is None or change.scene_index is None:
        return ""
    scene = unit.scenes.get(StoryPosition(change.chapter_index, change.scene_index))
    start, end = change.source_span
    return (scene.text or "")[start:end] if scene else ""
