"""Marks on evidence that is hidden from a draft's point of view."""

from collections.abc import Mapping
from functools import cached_property

from novelgen.checking.story import StoryBefore
from novelgen.memory.character_view import CharacterView, StoryKnowledge
from novelgen.memory.stated import NOBODY, Statement, statements_of
from novelgen.models.continuity import ContinuityEvidence, UnknownTo
from novelgen.models.memory import StoryMemoryChunk
from novelgen.models.position import StoryPosition


class HiddenSayings:
    """Marks evidence unknown to the point of view of a draft, by the rules of contexts."""

    def __init__(self, story: StoryBefore) -> None:
        self._story = story
        self._view: CharacterView | None = StoryKnowledge(story.knowledge).of(story.pov) if story.pov else None
        self._memories = {memory.memory_id: memory for memory in story.memories}
        self._threads = {thread.loop_id: thread for thread in story.threads}

    def mark(self, evidence: ContinuityEvidence) -> ContinuityEvidence:
        """Return evidence with a mark where the point of view does not know its source."""
        if evidence.source == "thread":
            unknown_to = self._thread_unknown_to(evidence.source_id)
        elif evidence.source == "passage":
            unknown_to = self._passage_unknown_to(evidence)
        else:
            memory = self._memories.get(evidence.source_id)
            if memory is None and evidence.source == "state":
                memory = self._unknown_notes.get(self._statement_of(evidence))
            unknown_to = None if memory is None else self._unknown_to(memory)
        return evidence if unknown_to is None else evidence.model_copy(update={"unknown_to": unknown_to})

    def _thread_unknown_to(self, thread_id: str) -> UnknownTo | None:
        view, thread = self._view, self._threads.get(thread_id)
        if view is None or thread is None:
            return None
        if view.knows_thread(thread) and (thread.worded_in is None or view.was_in(*thread.worded_in)):
            return None
        return self._point_of_view(view, is_guess=view.doubt_of_thread(thread) is not None)

    def _passage_unknown_to(self, evidence: ContinuityEvidence) -> UnknownTo | None:
        view, place = self._view, (evidence.chapter_index, evidence.scene_index)
        if view is None or StoryPosition(*place) not in self._story.knowledge.story.scene_at:
            return None
        if view.witnessed_narration(evidence.quote or evidence.text, *place):
            return None
        is_guess = view.doubt_of_narration(evidence.quote or evidence.text, *place) is not None
        return self._point_of_view(view, is_guess=is_guess)

    def _point_of_view(self, view: CharacterView, *, is_guess: bool) -> UnknownTo:
        return UnknownTo(entity_id=view.character_id, name=self._story.name(view.character_id), is_guess=is_guess)

    def _unknown_to(self, memory: StoryMemoryChunk) -> UnknownTo | None:
        view = self._view
        if view is None or memory.memory_id not in view.shared.memory_of or view.knows(memory):
            return None
        return self._point_of_view(view, is_guess=view.doubt_of(memory) is not None)

    @cached_property
    def _unknown_notes(self) -> Mapping[Statement, StoryMemoryChunk]:
        """The hidden notes by the states that they alone set."""
        if self._view is None:
            return {}
        notes = [memory for memory in self._memories.values() if memory.content_type == "note"]
        statements = [(one, note) for note in notes for one in statements_of(note.content, self._story.entities)]
        known_statements = {statement for statement, note in statements if self._unknown_to(note) is None}
        return {statement: note for statement, note in statements if statement not in known_statements}

    def _statement_of(self, evidence: ContinuityEvidence) -> Statement:
        entity_id, _, attribute = evidence.source_id.partition(".")
        change = self._story.in_force.get((entity_id, attribute))
        value = NOBODY if change is None or change.value is None else str(change.value)
        return Statement(entity_id, attribute, value)
