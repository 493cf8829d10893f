"""What a character does with a memory of its own: remember what happened, and recall what bears on a remark."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

import numpy as np
from pydantic import BaseModel, Field, ValidationError

from novelgen.characters import recall as recalling
from novelgen.characters.given_event import GivenEvent, learning, people_named
from novelgen.characters.memory import CharacterChange, CharacterMemory, HowLearnt, Moment
from novelgen.characters.mind import Mind, Vectors
from novelgen.characters.recall import Asked, ProtectedLine, Recall, RecalledBy
from novelgen.characters.relevance import unit_rows
from novelgen.errors import ConfigurationError, EmbeddingError, UnknownEntityError, UserInputError
from novelgen.language.language import story_language
from novelgen.models.context import ReportIssue
from novelgen.models.entity import Entity
from novelgen.models.position import StoryPosition
from runtime.files.file_reading import described
from runtime.ingest.character_events import CharacterWriter, embedded_texts, known_ids, vectors_model
from runtime.search.character_story import story_share
from runtime.storage.unit import UnitOfWork
from runtime.stores import MemoryStores
from runtime.story.async_twins import async_twin
from runtime.story.character_care import CharacterConsolidation, StoryCharacterCare
from runtime.story.dispositions import as_state_deltas, event_deltas, move_by_event
from runtime.story.entities import StoryEntities
from runtime.story.knowledge import knower_id
from runtime.story.references import known_entities, resolved_entity
from runtime.story.secrets import require_json, towards_listener

MAX_EMBEDDED_LATER = 64
"""Memories stored without a vector that one call embeds beside its own."""


class Remembered(BaseModel):
    """What a character remembers from now on."""

    memory: CharacterMemory
    copies: list[CharacterMemory] = Field(
        default_factory=list, description="What others who were there remember of it, each their own."
    )
    ended: list[str] = Field(
        default_factory=list, description="Memories of this character that it put an end to: former values, promises."
    )
    change_id: int = Field(description="For `undo`.")
    consolidation: CharacterConsolidation | None = Field(
        default=None, description="What became one by itself, where the settings want that; `undo` takes it back."
    )
    issues: list[ReportIssue] = Field(default_factory=list)


class StoryCharacters(StoryCharacterCare, StoryEntities):
    """What a character does with a memory of its own: remember what happened, and recall what bears on a remark."""

    def open_character(self, *, name: str, create: bool = False) -> Entity:
        """Return the character that a name means."""
        if not name.strip():
            raise UserInputError("the name of the character is empty; say who remembers")
        if create:
            self._stores.ensure_project(self.project_id)
        try:
            with self._stores.database(self.project_id).read() as unit:
                characters = unit.entities.list_all(entity_types=("character",))
                return resolved_entity(name, [stored.entity for stored in characters], "character")
        except UnknownEntityError as error:
            if not create:
                raise UnknownEntityError(f"{error}; pass create=True to make a new character") from error
            if "may be" in str(error):
                raise
        return self.add_character(name=name).entity

    def remember_event(
        self,
        *,
        character_id: str,
        event: GivenEvent,
        at: Moment | None = None,
        now: datetime | None = None,
        how: HowLearnt = "own_doing",
        heard_from: str | None = None,
        witnesses: Mapping[str, str] | Sequence[str] | str = (),
    ) -> Remembered:
        """Let a character remember an event, and others who saw it, each in memories of their own."""
        words = (
            dict(witnesses) if isinstance(witnesses, Mapping) else dict.fromkeys(people_named(witnesses), event.text)
        )
        settings = self._stores.settings.memory.character_memory
        moment = now or self._stores.clock()
        vectors, issues = embedded_texts(self._stores, [event.text, *words.values()])
        deltas = (
            event_deltas(event.event_type, event.interaction_type, event.state_deltas, settings)
            if how == "own_doing" and event.participants
            else {}
        )
        event = event.model_copy(update={"state_deltas": {**as_state_deltas(deltas), **event.state_deltas}})
        with self._stores.database(self.project_id).write() as unit:
            known = learning(at, now=moment, how=how, heard_from=known_ids(unit, [heard_from or ""])[0] or None)
            event_id = unit.characters.next_id()
            made = CharacterWriter(unit, settings, moment, vectors)
            change, ended = made.store(character_id, event, known, event_id=event_id, memory_id=event_id)
            move_by_event(unit, made.stored[0], deltas)
            copies = []
            for witness, text in words.items():
                other = _character(unit, witness)
                if other.entity_id == character_id:
                    continue
                seen = event.model_copy(
                    update={"text": text, "slot": None, "supersedes": None} | _own_short(event, text)
                )
                made.store(other.entity_id, seen, known._replace(how="witnessed", heard_from=None), event_id=event_id)
                copies.append(made.stored[-1])
        consolidation = None
        if settings.consolidate_automatically:
            consolidation = self.consolidate_character(character_id=character_id, now=moment)
        return Remembered(
            memory=made.stored[0],
            copies=copies,
            ended=ended,
            change_id=change.change_id,
            consolidation=consolidation if consolidation is not None and consolidation.groups else None,
            issues=[*issues, *made.issues],
        )

    def recall_memories(
        self,
        *,
        character_id: str,
        said: str,
        budget_tokens: int | None = None,
        as_of: Moment | None = None,
        now: datetime | None = None,
        protected: Sequence[ProtectedLine] = (),
        to: str | None = None,
        story_as_of: StoryPosition | None = None,
    ) -> Recall:
        """Return what comes back to a character at a remark."""
        if not isinstance(said, str):
            raise UserInputError(f"what was said cannot be {said!r}; pass a text, or '' where nothing was")
        if budget_tokens is not None and type(budget_tokens) is not int:
            raise UserInputError(f"budget_tokens={budget_tokens!r} is no whole number; pass one such as 300")
        settings = self._stores.settings.memory.character_memory
        question, issues = _question(self._stores, said)
        with self._stores.database(self.project_id).read() as unit:
            mind = self._stores.minds.mind(unit.characters, character_id, model=vectors_model(self._stores))
            names = unit.characters.names()
            here = unit.characters.last_position() if mind.waits_for_turns and as_of is None else None
            towards = towards_listener(unit, mind, character_id, to, as_of=as_of, now=now or self._stores.clock())
            knower = character_id if story_as_of is None else knower_id(unit, character_id, story_as_of)
        if question is not None and not mind.has_vector.all():
            mind = self._embedded_later(character_id, mind, issues)
        view = mind.view(as_of, clock_now=now or self._stores.clock(), here=here)
        if story_as_of is not None:
            share = story_share(
                self._stores, self.project_id, knower, as_of=story_as_of, model=vectors_model(self._stores)
            )
            mind, view = share.beside(mind, view)
            if question is not None and share.without_vector:
                message = f"{share.without_vector} memories of the story have no vector yet and were compared by words"
                issues.append(ReportIssue(stage="recall", kind="degraded", message=message))
        view = towards.kept_back(mind, view)
        asked = _asked(self._stores, mind, said, question, view.live, issues)
        recalled = recalling.recall(
            mind,
            view,
            Asked(
                said=said,
                relevance=asked.relevance,
                by=asked.by,
                nearness=asked.nearness,
                budget_tokens=settings.recall_budget_tokens if budget_tokens is None else budget_tokens,
                protected=[*towards.header, *protected],
                names=names,
            ),
            character_id=character_id,
            settings=settings,
        )
        return recalled.model_copy(update={"issues": [*issues, *recalled.issues]})

    def list_character_memories(
        self, *, character_id: str, as_of: Moment | None = None, now: datetime | None = None, with_former: bool = True
    ) -> list[CharacterMemory]:
        """List what a character knows, in the order of storing; memories that another stands for are left out."""
        with self._stores.database(self.project_id).read() as unit:
            mind = self._stores.minds.mind(unit.characters, character_id, model=vectors_model(self._stores))
            here = unit.characters.last_position() if mind.waits_for_turns and as_of is None else None
        view = mind.view(as_of, clock_now=now or self._stores.clock(), here=here)
        shown = view.live if with_former else view.live & ~view.superseded
        return [mind.memories[place] for place in np.flatnonzero(shown).tolist()]

    def undo_character_change(self, *, character_id: str, change_id: int | None = None) -> CharacterChange:
        """Undo what was done to a character's memories: remembering, an edit, a deletion, a consolidation."""
        with self._stores.database(self.project_id).write() as unit:
            return unit.characters.undo(character_id, change_id)

    def list_character_changes(self, *, character_id: str) -> list[CharacterChange]:
        """List what was done to a character's memories, the oldest first."""
        with self._stores.database(self.project_id).read() as unit:
            return unit.characters.changes(character_id)

    def _embedded_later(self, character_id: str, mind: Mind, issues: list[ReportIssue]) -> Mind:
        """Embed some of what was stored without a vector, and return the memories as they are then."""
        places = np.flatnonzero(~mind.has_vector & mind.not_deleted)
        memories = [mind.memories[place] for place in places[:MAX_EMBEDDED_LATER].tolist()]
        if not memories:
            return mind
        vectors, failed = embedded_texts(self._stores, [each.content for each in memories])
        issues += failed
        if failed:
            return mind
        with self._stores.database(self.project_id).write() as unit:
            unit.characters.put_vectors({each.memory_id: (each.content, vectors[each.content]) for each in memories})
        left = len(places) - len(memories)
        if left:
            message = f"{left} memories have no vector yet and were compared by words; later calls embed them"
            issues.append(ReportIssue(stage="recall", kind="degraded", message=message))
        with self._stores.database(self.project_id).read() as unit:
            return self._stores.minds.mind(unit.characters, character_id, model=vectors_model(self._stores))

    aopen_character = async_twin(open_character)
    aremember_event = async_twin(remember_event)
    arecall_memories = async_twin(recall_memories)
    alist_character_memories = async_twin(list_character_memories)
    aundo_character_change = async_twin(undo_character_change)
    alist_character_changes = async_twin(list_character_changes)


class _Compared(BaseModel):
    """How near memories are to what was said."""

    model_config = {"arbitrary_types_allowed": True}

    relevance: Any = None
    nearness: Any = None
    by: RecalledBy = "standing"


def _question(stores: MemoryStores, said: str) -> tuple[Vectors | None, list[ReportIssue]]:
    """Embed what was said; None where nothing was, or the model failed, which is told."""
    if not said.strip():
        return None, []
    try:
        return unit_rows(stores.last_queries.vector(stores.embeddings, said))[0], []
    except (EmbeddingError, ConfigurationError) as error:
        message = f"memories were compared by words: {error}"
        return None, [ReportIssue(stage="recall", kind="degraded", message=message)]


def _asked(
    stores: MemoryStores, mind: Mind, said: str, question: Vectors | None, live: Any, issues: list[ReportIssue]
) -> _Compared:
    if not said.strip():
        return _Compared()
    if question is None or not mind.has_vector.any() or mind.vectors.shape[1] != len(question):
        return _Compared(relevance=mind.word_relevance(said, live), by="words")
    try:
        scale = stores.relevance_scales.scale(stores.embeddings, story_language(said))
    except EmbeddingError as error:
        message = f"memories were compared by words: {error}"
        issues.append(ReportIssue(stage="recall", kind="degraded", message=message))
        return _Compared(relevance=mind.word_relevance(said, live), by="words")
    # Not `@`: its threads go on spinning for a while, which doubles what the next embedding takes.
    cosines = np.einsum("ij,j->i", mind.vectors, question).astype(np.float64)
    relevance = scale.of(cosines)
    nearness = (cosines - scale.unrelated) / max(scale.related - scale.unrelated, 1e-6)
    lacking = live & ~mind.has_vector
    if lacking.any():
        by_words = mind.word_relevance(said, lacking)
        relevance = np.where(mind.has_vector, relevance, by_words)
        nearness = np.where(mind.has_vector, nearness, by_words)
    return _Compared(relevance=relevance, nearness=nearness, by="meaning")


def _character(unit: UnitOfWork, name: str) -> Entity:
    return resolved_entity(name, known_entities(unit, None), "character")


def _own_short(event: GivenEvent, text: str) -> dict[str, None]:
    """A short form tells the event in the words of the one who gave it, not in another's."""
    return {} if text == event.text else {"short": None}


def given_event(**given: Any) -> GivenEvent:
    """Return an event of arguments that a caller gave.

    Raises:
        UserInputError: When one is wrong; says which.
    """
    try:
        event = GivenEvent(**given)
    except ValidationError as error:
        raise UserInputError(described(error)) from error
    require_json(event.details, "details")
    return event
