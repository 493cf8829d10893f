"""How entities stand at a point of the story and around a chapter, and when its scenes play."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, Field

from novelgen.language.chronology import days_apart, scene_times
from novelgen.memory.protocol import DEFAULT_CHAPTERS_AROUND
from novelgen.models.folds import HOLDER_ATTRIBUTE
from novelgen.models.position import END_OF_STORY, StoryPosition
from novelgen.models.state import EntityStateSnapshot, StateChange
from novelgen.models.story_time import DaySpan, SceneTime, SceneTimes
from runtime.storage.database import UnitOfWork
from runtime.story import base


class StatesAround(BaseModel):
    """How entities stood around a chapter, and the names to show for the ids in it."""

    snapshots: list[EntityStateSnapshot] = Field(
        default_factory=list, description="One per entity and chapter in which it changed, in story order."
    )
    names: dict[str, str] = Field(default_factory=dict)


class StoryStates(base.StoryBase):
    """How entities stand at a point of the story and around a chapter."""

    def state(self, entity_id: base.Name, *, as_of: base.Place = None) -> EntityStateSnapshot | None:
        """Return an entity's state at a position.

        Args:
            entity_id: Id, name or alias.
            as_of: As it stands at this position.

        Returns:
            The state, or None when nothing is known of how it stands by then.
        """
        place = base.position_of(as_of) or END_OF_STORY
        snapshot = self._tools.get_entity_state(
            self.project_id, entity_id, chapter_index=place.chapter_index, scene_index=place.scene_index
        )
        if snapshot is None:
            with self._stores.database(self.project_id).read() as unit:
                base.entity_of_name(entity_id, base.shown_entities(unit, base.position_of(as_of)))
        return snapshot

    def states_around(
        self,
        chapter_index: base.Number,
        *,
        chapters_around: base.Number = DEFAULT_CHAPTERS_AROUND,
        as_of: base.Place = None,
    ) -> StatesAround:
        """Return how entities stood at the end of the chapters around one chapter.

        Args:
            chapter_index: The chapter in the middle.
            chapters_around: Chapters before and after it.
            as_of: Only what lies strictly before this position; None means all that is stored.
        """
        as_of = base.position_of(as_of)
        middle = base.story_position(chapter_index, name="chapter_index").chapter_index or 0
        position = as_of or END_OF_STORY
        with self._stores.database(self.project_id).read() as unit:
            snapshots = unit.states.snapshots_around(middle, chapters_around, as_of=position)
            names = {entity.entity_id: entity.name for entity in base.known_entities(unit, as_of)}
        return StatesAround(snapshots=snapshots, names=names)

    astate = base.async_twin(state)
    astates_around = base.async_twin(states_around)


class StoryStateHistories(base.StoryBase):
    """Histories of states, and scenes that name characters, for pictures."""

    def stated_within(self, *, since: base.At, until: base.Place = None) -> StatedStretch:
        """Return statements on states between two positions."""
        since = base.story_position(since)
        with self._stores.database(self.project_id).read() as unit:
            changes = unit.states.stated(since=since, as_of=base.position_of(until) or END_OF_STORY)
            standing_changes = unit.states.standing_before(since, attributes=[HOLDER_ATTRIBUTE])
        holders_by_id = {change.entity_id: change.value for change in standing_changes}
        return StatedStretch(
            changes=changes, holders={item: who for item, who in holders_by_id.items() if isinstance(who, str)}
        )

    def state_history(self, entity_id: str, *, as_of: base.Place = None) -> list[StateChange]:
        """Return an entity's state history, step by step."""
        as_of = base.position_of(as_of)
        with self._stores.database(self.project_id).read() as unit:
            entity_id = base.entity_of_name(entity_id, base.shown_entities(unit, as_of)).entity_id
            return unit.states.stated(entity_ids=[entity_id], as_of=as_of or END_OF_STORY)

    def attribute_histories(self, *, entity_id: str, as_of: base.Place = None) -> list[AttributeHistory]:
        """Return an entity's attribute histories, with proving quotes.

        What was said again and changed nothing is no step; of two words at one place the one that counts is.
        """
        changes = self.state_history(entity_id, as_of=base.position_of(as_of))
        by_attribute: dict[str, list[StateChange]] = {}
        for change in changes:
            steps = by_attribute.setdefault(change.attribute, [])
            if steps and (steps[-1].chapter_index, steps[-1].scene_index) == (change.chapter_index, change.scene_index):
                steps.pop()
            if not steps or steps[-1].value != change.value:
                steps.append(change)
        with self._stores.database(self.project_id).read() as unit:
            return [
                AttributeHistory(
                    attribute=attribute,
                    steps=[
                        _step(change, _quote(unit, change) if change is steps[-1] else "") for change in reversed(steps)
                    ],
                )
                for attribute, steps in by_attribute.items()
            ]

    def scenes_naming_characters(self, *, as_of: base.Place = None) -> NamedScenes:
        """Return which scenes before a position name which characters in their texts.

        A name that the story gives somebody only from the position on counts for nobody.
        """
        as_of = base.position_of(as_of)
        with self._stores.database(self.project_id).read() as unit:
            known_entities = base.known_entities(unit, as_of)
            names = {
                entity.entity_id: frozenset(entity.names())
                for entity in known_entities
                if entity.entity_type == "character"
            }
            named_scene_namings = unit.scenes.namings(names, as_of=as_of or END_OF_STORY)
        places: dict[str, list[tuple[int, int]]] = {}
        for scene_naming in named_scene_namings:
            places.setdefault(scene_naming.entity_id, []).append((scene_naming.chapter_index, scene_naming.scene_index))
        return NamedScenes(places=places)


class StatedStretch(BaseModel):
    """The state statements of a stretch."""

    changes: list[StateChange] = Field(
        default_factory=list, description="In the order in which they count; merely being seen is none."
    )
    holders: dict[str, str] = Field(default_factory=dict, description="Item to who had it on entering the stretch.")


class StateStep(BaseModel):
    """A value of an attribute with its place and proof."""

    value: Any = None
    chapter_index: int | None = Field(default=None, description="None: from the start.")
    scene_index: int | None = None
    is_verified: bool = True
    by_author: bool = Field(default=False, description="No scene says it: it holds after that scene.")
    quote: str = Field(default="", description="Words of the scene; of the value that holds alone.")


class AttributeHistory(BaseModel):
    """How an attribute of an entity stands, and how it came to."""

    attribute: str
    steps: list[StateStep] = Field(description="The value that holds first, then those before it.")


def _step(change: StateChange, quote: str) -> StateStep:
    fields = change.model_dump(include={"value", "chapter_index", "scene_index", "by_author"})
    return StateStep(**fields, is_verified=change.verified, quote=quote)


def _quote(unit: UnitOfWork, change: StateChange) -> str:
    if change.source_span is None or change.scene_index is None:
        return ""
    scene = unit.scenes.get(StoryPosition(change.chapter_index, change.scene_index))
    start, end = change.source_span
    return (scene.text or "")[start:end] if scene else ""


class StoryTimes(base.StoryBase):
    """Times of the stored scenes: days, intervals, the order told and the order lived."""

    def times(
        self, *, character_id: base.Name | None = None, limit: base.Count | None = None, as_of: base.Place = None
    ) -> SceneTimes:
        """Tell when the scenes play: running days, the time between them, the order told and the order lived.

        Args:
            character_id: Only scenes with this character, by id, name or alias.
            limit: At most so many, the last ones.
            as_of: Only what lies strictly before this position.
        """
        as_of = base.position_of(as_of)
        with self._stores.database(self.project_id).read() as unit:
            language = unit.projects.require().language
            scenes = scene_times(unit.scenes.tellings(as_of=as_of or END_OF_STORY))
            known_entities = base.shown_entities(unit, as_of)
            identities = unit.entities.identities_as_of(as_of or END_OF_STORY)
        if character_id is not None:
            # The scenes with a character, each with the days since the one before it in which they were.
            character_id = identities.person(base.entity_of_name(character_id, known_entities, "character").entity_id)
            matching_scene_times: list[SceneTime] = []
            last: int | None = None
            for index, scene in enumerate(scenes):
                if character_id not in scene.participants:
                    continue
                since = None if last is None else days_apart(scenes, last, index)
                is_said = since is not None and since != DaySpan(min_days=0)
                matching_scene_times.append(scene.model_copy(update={"since_previous": since if is_said else None}))
                if not scene.is_flashback:
                    last = index
            scenes = matching_scene_times
        scenes = scenes[-(limit or 0) :]
        used_ids = {entity_id for scene in scenes for entity_id in (*scene.participants, scene.location_id)}
        return SceneTimes(
            project_id=self.project_id,
            language=language,
            scenes=scenes,
            names={entity.entity_id: entity.name for entity in known_entities if entity.entity_id in used_ids},
        )

    atimes = base.async_twin(times)


class NamedScenes(BaseModel):
    """Scenes by named entity."""

    places: dict[str, list[tuple[int, int]]] = Field(
        default_factory=dict,
        description="Character id to chapter and scene of the scenes whose texts name them, in story order.",
    )
