"""Marks on evidence that is hidden from a draft's point of view."""

from collections.abc import Mapping
from functools import cached_property

from novelgen.checking.story import StoryBefore
from novelgen.memory.character_view import CharacterView, StoryKnowledge
from novelgen.memory.stated import NOBODY, Statement, statements_of
from novelgen.models.continuity import ContinuityEvidence, UnknownTo
from novelgen.models.memory import StoryMemoryChunk


class HiddenSayings:
    """Marks evidence unknown to the point of view of a draft, by the rules of contexts."""

    def __init__(self, story: StoryBefore) -> None:
        self._story = story
        self._view: CharacterView | None = StoryKnowledge(story.knowledge).of(story.pov) if story.pov else None
        self._memories = {memory.memory_id: memory for memory in story.memories}

    def mark(self, evidence: ContinuityEvidence) -> ContinuityEvidence:
        """Return evidence with a mark where the point of view does not know its source."""
        memory = self._memories.get(evidence.source_id)
        if memory is None and evidence.source == "state":
            memory = self._unknown_notes.get(self._statement_of(evidence))
        unknown_to = None if memory is None else self._unknown_to(memory)
        return evidence if unknown_to is None else evidence.model_copy(update={"unknown_to": unknown_to})

    def _unknown_to(self, memory: StoryMemoryChunk) -> UnknownTo | None:
        view = self._view
        if view is None or memory.memory_id not in view.shared.memory_of or view.knows(memory):
            return None
        is_guess = view.doubt_of(memory) is not None
        return UnknownTo(entity_id=view.character_id, name=self._story.name(view.character_id), is_guess=is_guess)

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
