"""Marks on evidence that is hidden from a draft's point of view."""

from collections.abc import Iterable
from functools import cached_property

from novelgen.checking.story import Draft, StoryBefore
from novelgen.context.point_of_view import FoundStory, PointOfViewCut
from novelgen.memory.character_view import CharacterView, StoryKnowledge
from novelgen.memory.outline import OutlineScene, StoryOutline
from novelgen.memory.search import Candidate, SearchResult
from novelgen.memory.story_changes import StoryChanges
from novelgen.models.context import MemoryContextRequest
from novelgen.models.continuity import ContinuityEvidence, UnknownTo
from novelgen.models.memory import StoryMemoryChunk
from novelgen.models.plan import ScenePlan
from novelgen.models.position import StoryPosition

_PROJECT = "draft"
"""Stands for the project, of which nothing is read."""


class HiddenSayings:
    """Marks evidence unknown to the point of view of a draft, by the rules of contexts.

    Args:
        draft: The draft, whose names its point of view knows.
        story: The story before it.
        sayings: The evidence to be marked.
    """

    def __init__(self, draft: Draft, story: StoryBefore, sayings: Iterable[ContinuityEvidence]) -> None:
        self._draft = draft
        self._story = story
        self._view: CharacterView | None = (
            StoryKnowledge(story.knowledge).of(story.pov, is_shown=True) if story.pov else None
        )
        self._memories = {memory.memory_id: memory for memory in story.memories}
        self._threads = {thread.loop_id: thread for thread in story.threads}
        self._sources = {saying.source_id for saying in sayings}

    def mark(self, evidence: ContinuityEvidence) -> ContinuityEvidence:
        """Return evidence with a mark where the point of view does not know its source."""
        memory = self._memories.get(evidence.source_id)
        if self._view is None:
            unknown_to = None
        elif evidence.source == "thread":
            unknown_to = self._thread_unknown_to(evidence.source_id, self._view)
        elif evidence.source == "passage":
            unknown_to = self._passage_unknown_to(evidence, self._view)
        elif memory is not None:
            unknown_to = self._memory_unknown_to(memory, self._view)
        elif evidence.source == "presence":
            place = (evidence.chapter_index, evidence.scene_index)
            is_away = not self._view.was_in(*place)
            unknown_to = self._point_of_view(is_guess=self._view.doubted_at(*place) is not None) if is_away else None
        else:
            unknown_to = self._state_unknown_to(evidence) if evidence.source == "state" else None
        return evidence if unknown_to is None else evidence.model_copy(update={"unknown_to": unknown_to})

    def _thread_unknown_to(self, thread_id: str, view: CharacterView) -> UnknownTo | None:
        thread = self._threads.get(thread_id)
        if thread is None:
            return None
        if view.knows_thread(thread) and (thread.worded_in is None or view.was_in(*thread.worded_in)):
            return None
        return self._point_of_view(is_guess=view.doubt_of_thread(thread) is not None)

    def _passage_unknown_to(self, evidence: ContinuityEvidence, view: CharacterView) -> UnknownTo | None:
        place = (evidence.chapter_index, evidence.scene_index)
        if StoryPosition(*place) not in self._story.knowledge.story.scene_at:
            return None
        text = evidence.quote or evidence.text
        if view.witnessed_narration(text, *place):
            return None
        return self._point_of_view(is_guess=view.doubt_of_narration(text, *place) is not None)

    def _memory_unknown_to(self, memory: StoryMemoryChunk, view: CharacterView) -> UnknownTo | None:
        if memory.memory_id not in view.shared.memory_of or view.knows(memory):
            return None
        return self._point_of_view(is_guess=view.doubt_of(memory) is not None)

    def _state_unknown_to(self, evidence: ContinuityEvidence) -> UnknownTo | None:
        """Return the point of view where it does not know a state or a field of a card."""
        entity_id, _, attribute = evidence.source_id.partition(".")
        change, card = self._story.in_force.get((entity_id, attribute)), self._story.entity.get(entity_id)
        if change is not None:
            is_known = self._cut.knows_state(change)
            return None if is_known else self._point_of_view(is_guess=self._cut.is_guessed_away(change))
        value = card and card.profile.get(attribute)
        if card is None or not value or self._cut.knows_field(card, attribute, value):
            return None
        return self._point_of_view(is_guess=False)

    def _point_of_view(self, *, is_guess: bool) -> UnknownTo:
        entity_id = self._story.pov or ""
        return UnknownTo(entity_id=entity_id, name=self._story.name(entity_id), is_guess=is_guess)

    @cached_property
    def _cut(self) -> PointOfViewCut:
        """What a context would give of the states of the sayings to the point of view."""
        story = self._story
        bearers = {source_id.partition(".")[0] for source_id in self._sources}
        scenes = [
            OutlineScene(place.chapter_index, place.scene_index, participants=sorted(scene.present))
            for scene in story.scenes
            if (place := scene.position).chapter_index is not None and place.scene_index is not None
        ]
        memories = [memory for memory_id, memory in self._memories.items() if memory_id in self._sources]
        return PointOfViewCut(
            found=FoundStory(
                StoryOutline(project_id=_PROJECT, entities=list(story.entities), scenes=scenes),
                SearchResult(tuple(map(Candidate, memories))),
                states=(),
                timeline=(),
            ),
            character_id=story.pov,
            view=self._view,
            changes=StoryChanges(
                [change for change in story.changes if change.entity_id in bearers or change.value == story.pov],
                of_cards=story.of_cards,
            ),
            request=MemoryContextRequest(
                project_id=_PROJECT,
                chapter_index=story.as_of.chapter_index or 1,
                scene_index=story.as_of.scene_index or 1,
                scene_plan=story.plan or ScenePlan(pov=story.name(story.pov or "")),
                hints=[self._draft.text],
            ),
        )
