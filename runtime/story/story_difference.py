"""Changes of the story by scene, stretch or author's session."""

import logging
from collections.abc import Iterable, Iterator, Sequence

from novelgen.context.story_difference import StoryStretch, tell_difference
from novelgen.errors import DatabaseError, InvalidPositionError, UnknownSceneError
from novelgen.language.language import stated_language
from novelgen.models.context import ReportIssue
from novelgen.models.knowledge import ALL_LIVED
from novelgen.models.memory import DISTILLED_TYPES, SUMMARY_TYPE
from novelgen.models.position import Place as ScenePlace
from novelgen.models.position import StoryPosition
from novelgen.models.story_difference import StoryDifference, StretchTotals, ToldScene
from runtime.storage.database import UnitOfWork
from runtime.storage.records import Scene
from runtime.story.base import At, Place, StoryBase, async_twin, position_of, story_position
from runtime.story.threads import StoryThreads

logger = logging.getLogger(__name__)

CHANGES_STAGE = "changes"

MAX_SCENES_TOLD_TOGETHER = 5
"""Scenes of one chapter that were taken in at once are told of together up to so many; of more the last one is."""


class StoryDifferences(StoryBase):
    """Changes of the story by scene, stretch or author's session."""

    def between(self, *, since: Place = None, until: Place = None) -> StoryDifference:
        """Return the changes between two points: facts, states, threads, knowledge.

        Also who came for the first time, died, or turned out to be somebody else. Nothing later than `until` is told
        or let on. `novelgen.context.difference_block` makes lines of it, in the story's language.

        Args:
            since: Told is what the scenes from here on changed; None means the last scene before `until`.
            until: Nothing from here on is told; None means the end of the story.

        Raises:
            InvalidPositionError: When `until` does not lie after `since`.
        """
        since = position_of(since)
        until = position_of(until)
        if since is not None and until is not None and until <= since:
            raise InvalidPositionError(f"{str(until)!r} does not lie after {str(since)!r}; turn them round")
        with self._stores.database(self.project_id).read() as unit:
            scenes = _scenes_between(unit, since, until)
            language = stated_language(unit.projects.require().language) or "en"
        if not scenes:
            return StoryDifference(project_id=self.project_id, language=language)
        begin, end = since or scenes[0].position, _after(scenes[-1])
        if until is not None:
            end = min(end, until)
        ledger = StoryThreads(self._stores, self.project_id).ledger(as_of=end)
        with self._stores.database(self.project_id).read() as unit:
            events = [statement.event() for statement in unit.knowledge.said_between(begin, end)]
            memories = unit.memories.of_scenes(
                [(scene.chapter_index, scene.scene_index) for scene in scenes],
                as_of=end,
                content_types=[*DISTILLED_TYPES, SUMMARY_TYPE],
            )
            about = {event.source_id for event in events} - {ALL_LIVED}
            ended_ids = {memory_id for memory in memories for memory_id in memory.superseded_ids}
            earlier = unit.memories.by_source_ids(sorted(about | ended_ids), as_of=end)
            changed = unit.states.changed_between(begin, end)
            entities_before = unit.entities.list_as_of(as_of=begin)
            entities = unit.entities.list_as_of(as_of=end)
            casts, masks = unit.scenes.casts(as_of=begin), unit.entities.masks_as_of(end)
            ids_before = (entity_id for cast in casts for entity_id in (*cast.participants, cast.location_id))
            ids = (entity_id for scene in scenes for entity_id in (*scene.participants, scene.location_id))
            stretch = StoryStretch(
                project_id=self.project_id,
                language=language,
                since=begin,
                until=end,
                scenes=[_told_scene(scene) for scene in scenes],
                memories=memories,
                replaced=earlier,
                changes=unit.states.changes_before(end, entity_ids=changed) if changed else [],
                ledger=ledger,
                said=events,
                told={source_id: memory for source_id, memory in earlier.items() if source_id in about},
                relationships_before=unit.relationships.list_as_of(as_of=begin),
                relationships=unit.relationships.list_as_of(as_of=end),
                entities_before=entities_before,
                entities=entities,
                masks=masks,
                seen_before=frozenset(masks.get(entity_id, entity_id) for entity_id in ids_before if entity_id),
                seen=[masks.get(entity_id, entity_id) for entity_id in ids if entity_id],
                surely_seen=frozenset(masks.get(entity_id, entity_id) for entity_id in _stated_ids(scenes)),
            )
        return tell_difference(stretch)

    def of_scene(self, *, position: At) -> StoryDifference:
        """Return the changes of one scene or chapter."""
        position = story_position(position)
        chapter_index = position.chapter_index or 0
        if position.scene_index is not None:
            with self._stores.database(self.project_id).read() as unit:
                end = _after(unit.scenes.require(position))
            return self.between(since=position, until=end)
        story_difference = self.between(since=position, until=StoryPosition(chapter_index + 1))
        if not story_difference.scenes:
            raise UnknownSceneError(
                f"no scene of chapter {chapter_index} is stored; list them with `novelgen scene list {self.project_id}`"
            )
        return story_difference

    def of_scenes(self, *, taken: Iterable[ScenePlace]) -> StoryDifference | None:
        """Return the changes of just stored scenes, for a report.

        A few scenes of one chapter that follow one another are told of together. Of more the last one is told of, with
        totals of all.
        """
        places = sorted(set(taken))
        if not places:
            return None
        try:
            difference = self._changes_of(places)
        except DatabaseError as error:
            logger.warning("project %r: what changed cannot be told: %s", self.project_id, error)
            message = f"the scenes are stored, but what they changed cannot be told: {error}"
            issue = ReportIssue(stage=CHANGES_STAGE, kind="unavailable", message=message)
            return StoryDifference(project_id=self.project_id, issues=[issue])
        is_silent = difference.is_empty and (difference.totals is None or not difference.totals.has_changes)
        return None if is_silent else difference

    def _changes_of(self, places: Sequence[ScenePlace]) -> StoryDifference:
        first, last = StoryPosition(*places[0]), StoryPosition(*places[-1])
        end = StoryPosition(places[-1][0], places[-1][1] + 1)
        if len(places) == 1:
            return self.between(since=last, until=end)
        whole = self.between(since=first, until=end)
        is_one_piece = [
            (scene_telling.chapter_index, scene_telling.scene_index) for scene_telling in whole.scenes
        ] == list(places)
        is_short = len(places) <= MAX_SCENES_TOLD_TOGETHER and first.chapter_index == last.chapter_index
        if is_one_piece and is_short:
            return whole
        difference = self.between(since=last, until=end)
        totals = _totals(whole) if is_one_piece else StretchTotals(scenes=len(places))
        return difference.model_copy(update={"totals": totals})

    abetween = async_twin(between)
    aof_scene = async_twin(of_scene)
    aof_scenes = async_twin(of_scenes)


def _stated_ids(scenes: Iterable[Scene]) -> Iterator[str]:
    """Yield whom and what a record or an author put on stage."""
    for scene in scenes:
        if "participants" not in scene.guessed:
            yield from scene.participants
        if scene.location_id and "location_id" not in scene.guessed:
            yield scene.location_id


def _totals(whole: StoryDifference) -> StretchTotals:
    kinds = [turn.kind for turn in whole.threads]
    return StretchTotals(
        scenes=len(whole.scenes),
        facts=whole.facts_in_all,
        newcomers=len(whole.newcomers),
        threads_planted=kinds.count("planted"),
        threads_ended=sum(kind not in ("planted", "moved", "overdue") for kind in kinds),
        deaths=len(whole.deaths),
    )


def _scenes_between(unit: UnitOfWork, since: StoryPosition | None, until: StoryPosition | None) -> list[Scene]:
    end = until or StoryPosition()
    if since is None:
        return unit.scenes.list_as_of(as_of=end, last=1)
    return unit.scenes.list_as_of(as_of=end, since=since)


def _after(scene: Scene) -> StoryPosition:
    return StoryPosition(scene.chapter_index, scene.scene_index + 1)


def _told_scene(scene: Scene) -> ToldScene:
    return ToldScene(
        chapter_index=scene.chapter_index,
        scene_index=scene.scene_index,
        title=scene.title,
        has_record=scene.record is not None,
    )
