"""When the scenes of a stored story play: days, the time between them, the order told and the order lived."""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import BaseModel, Field

from novelgen.language.chronology import days_apart, scene_times
from novelgen.models.position import END_OF_STORY, StoryPosition
from novelgen.models.story_time import DaySpan, SceneTime, StoryTimeline
from runtime.story.async_twins import async_twin
from runtime.story.base import Count, Name, Place, StoryBase, position_of
from runtime.story.references import known_entities, resolved_entity


class StoryTimes(StoryBase):
    """When the scenes of a stored story play: days, the time between them, the order told and the order lived."""

    def story_times(
        self, *, character: Name | None = None, limit: Count | None = None, as_of: Place = None
    ) -> StoryTimeline:
        """Tell when the scenes play: running days, the time between them, the order told and the order lived.

        Args:
            character: Only scenes with this character, by id, name or alias.
            limit: At most so many, the last ones.
            as_of: Only what lies strictly before this position.
        """
        as_of = position_of(as_of)
        with self._stores.database(self.project_id).read() as unit:
            language = unit.projects.require().language
            scenes = scene_times(unit.scenes.tellings(as_of=as_of or END_OF_STORY))
            known = known_entities(unit, as_of)
        if character is not None:
            scenes = _with(resolved_entity(character, known, "character").entity_id, scenes)
        scenes = scenes[-(limit or 0) :]
        used = {each for scene in scenes for each in (*scene.participants, scene.location_id)}
        return StoryTimeline(
            project_id=self.project_id,
            language=language,
            scenes=scenes,
            names={each.entity_id: each.name for each in known if each.entity_id in used},
        )

    def scenes_naming_characters(self, *, as_of: StoryPosition | None = None) -> NamedScenes:
        """Return which scenes before a position name which characters in their texts.

        A name that the story gives somebody only from the position on counts for nobody.
        """
        with self._stores.database(self.project_id).read() as unit:
            known = known_entities(unit, as_of)
            names = {each.entity_id: frozenset(each.names()) for each in known if each.entity_type == "character"}
            named = unit.scenes.namings(names, as_of=as_of or END_OF_STORY)
        places: dict[str, list[tuple[int, int]]] = {}
        for each in named:
            places.setdefault(each.entity_id, []).append((each.chapter_index, each.scene_index))
        return NamedScenes(places=places)

    astory_times = async_twin(story_times)
    ascenes_naming_characters = async_twin(scenes_naming_characters)


class NamedScenes(BaseModel):
    """Which scenes name whom."""

    places: dict[str, list[tuple[int, int]]] = Field(
        default_factory=dict,
        description="Character id to chapter and scene of the scenes whose texts name them, in story order.",
    )


def _with(character_id: str, scenes: Sequence[SceneTime]) -> list[SceneTime]:
    """The scenes with a character, each with the days since the one before it in which they were."""
    found: list[SceneTime] = []
    last: int | None = None
    for index, scene in enumerate(scenes):
        if character_id not in scene.participants:
            continue
        since = None if last is None else days_apart(scenes, last, index)
        is_said = since is not None and since != DaySpan(min_days=0)
        found.append(scene.model_copy(update={"since_previous": since if is_said else None}))
        if not scene.is_flashback:
            last = index
    return found
