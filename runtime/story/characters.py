"""A character's memory: remembering events and recalling for remarks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

import numpy as np
from langchain_core.language_models import BaseChatModel
from pydantic import BaseModel, Field, ValidationError

from novelgen.chains.question_chains import ConsolidationChain, ConsolidationRequest
from novelgen.characters import recall as recalling
from novelgen.characters.consolidation import Sources, consolidated_memory, consolidation_groups
from novelgen.characters.events import GivenEvent, derived_short, detected_tier, learning, require_slot
from novelgen.characters.memory import CharacterChange, CharacterMemory, HowLearnt, Moment, as_moment
from novelgen.characters.mind import Mind
from novelgen.characters.recall import Asked, Compared, ProtectedLine, Recall
from novelgen.errors import ConfigurationError, EmbeddingError, UnknownEntityError, UserInputError
from novelgen.language.language import story_language
from novelgen.language.normalise import scrub_text
from novelgen.memory.consolidation import consolidated_vector
from novelgen.memory.query_scores import Mask, Vectors, unit_rows
from novelgen.models.context import ReportIssue
from novelgen.models.entity import Entity
from novelgen.models.memory import StoryMemoryChunk
from novelgen.models.shown import ShownList
from novelgen.nearest import did_you_mean
from runtime.files.file_reading import described
from runtime.storage.characters import MemoryVector
from runtime.storage.database import UnitOfWork
from runtime.stores import MemoryStores
from runtime.story.base import (
    Number,
    Place,
    Text,
    Weight,
    async_twin,
    entity_of_name,
    entity_of_name_or_part,
    known_entities,
    position_of,
    shown_entities,
)
from runtime.story.character_part import (
    CharacterPart,
    CharacterWriter,
    When,
    as_state_deltas,
    embedded_texts,
    event_deltas,
    known_ids,
    move_by_event,
    single_people,
    story_share,
)
from runtime.story.entities import StoryEntities
from runtime.story.knowledge import knower_id
from runtime.story.secrets import require_json, towards_listener, without_told

REPEATED_WITHIN = timedelta(minutes=5)
"""What is remembered again so soon, in the same words and without a turn, is the same call."""

MAX_EMBEDDED_LATER = 64
"""Memories stored without a vector that one call embeds beside its own."""


class Remembered(BaseModel):
    """The new memories of a character."""

    memory: CharacterMemory
    is_new: bool = Field(
        default=True, description="False where the same words with the same people at the same place were remembered."
    )
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


class EditedMemory(BaseModel):
    """A memory that was corrected."""

    memory: CharacterMemory
    change_id: int = Field(description="For `undo`.")
    issues: list[ReportIssue] = Field(default_factory=list)


class CharacterConsolidation(BaseModel):
    """The result of a consolidation, or its preview with `dry_run`."""

    groups: list[list[str]] = Field(default_factory=list, description="Ids of the memories that became one.")
    memories: list[CharacterMemory] = Field(default_factory=list, description="What stands for each group.")
    before: int = Field(description="Live memories before.")
    after: int = Field(description="Live memories after.")
    dry_run: bool = False
    change_id: int | None = Field(default=None, description="For `undo`; None where nothing was done.")
    issues: list[ReportIssue] = Field(default_factory=list)


class CharacterMemories(CharacterPart):
    """A character's memory: remember, recall and maintain."""

    def remember(
        self,
        content: Text,
        *,
        event_type: str = "",
        importance: Weight | None = None,
        participants: Sequence[str] | str = (),
        emotion: str = "",
        location: str = "",
        slot: str | None = None,
        at: When = None,
        short: str | None = None,
        interaction_type: str | None = None,
        is_milestone: bool = False,
        milestone_type: str = "",
        state_deltas: Mapping[str, Any] | None = None,
        supersedes: str | None = None,
        how: HowLearnt = "own_doing",
        heard_from: str | None = None,
        witnesses: Mapping[str, str] | Sequence[str] | str = (),
        details: Mapping[str, Any] | None = None,
    ) -> Remembered:
        """Remember an event.

        Args:
            content: What happened, as the character would tell it: "The player told me that her name is Ines."
            event_type: What kind of event it was: conversation, gift_received, betrayal, a type of the game's own, ….
            importance: 1 to 10; None takes what its type and `state_deltas` tell.
            participants: Who took part; names of characters are known again under every alias. The player is
                "player", whatever the player is called.
            emotion: What the character felt.
            location: Where it was.
            slot: It is the one current value of this slot from now on: `player_name`, `npc_death_status:Mira`.
            at: When it happened.
            short: The same in a sentence; None takes one of the text.
            interaction_type: What a model called the interaction; one that is not valid counts as casual_conversation.
            is_milestone: Whether it is one, whatever its type.
            milestone_type: What kind of milestone it is, which makes it one; kept in `details`.
            state_deltas: What it changed: trust_change, secret_revealed, npc_died, ….
            supersedes: Id of a memory that it puts an end to.
            how: own_doing, witnessed, told, overheard or read.
            heard_from: Who told it.
            witnesses: Other characters who were there and remember it, too; a mapping tells each one's own words.
            details: What the program wants to keep with it.

        Returns:
            The memory, and what it put an end to. What went wrong on the way stands in `issues`. The same words with
            the same people at the same turn are one event, however often they come.

        Raises:
            UserInputError: When an argument is wrong; says which.
            UnknownEntityError: When a witness is unknown.
        """
        event = given_event(
            content=content,
            short=short,
            event_type=event_type,
            interaction_type=interaction_type,
            importance=importance,
            is_milestone=is_milestone or bool(milestone_type),
            participants=single_people(self._stores, self.project_id, people=participants),
            emotion=emotion,
            location=location,
            slot=slot,
            supersedes=supersedes,
            state_deltas=dict(state_deltas or {}),
            details={**(details or {}), **({"milestone_type": milestone_type} if milestone_type else {})},
        )
        learnt_choice = "told" if heard_from is not None and how == "own_doing" else how
        return self._remember(
            event,
            at=as_moment(at),
            now=self._clock(),
            how=learnt_choice,
            heard_from=heard_from,
            witnesses=single_people(self._stores, self.project_id, people=witnesses),
        )

    def _remember(
        self,
        event: GivenEvent,
        *,
        at: Moment | None,
        now: datetime,
        how: HowLearnt = "own_doing",
        heard_from: str | None = None,
        witnesses: Mapping[str, str] | Sequence[str] | str = (),
    ) -> Remembered:
        """Store an event for a character and its witnesses."""
        settings = self._stores.settings.memory.character_memory
        deltas = (
            event_deltas(event.event_type, event.interaction_type, event.state_deltas, settings)
            if how == "own_doing" and event.participants
            else {}
        )
        event = event.model_copy(update={"state_deltas": {**as_state_deltas(deltas), **event.state_deltas}})
        given_events_by_id = event.model_copy(update={"slot": None, "supersedes": None}).as_told_by(witnesses)
        vectors, issues = embedded_texts(
            self._stores, texts=[event.content, *(given_event.content for given_event in given_events_by_id.values())]
        )
        with self._stores.database(self.project_id).write() as unit:
            learning_fields = learning(at, now=now, how=how, heard_from=known_ids(unit, [heard_from or ""])[0] or None)
            made_character_writer = CharacterWriter(unit, settings, now, vectors)
            memory = self._remembered_already(unit, event, learning_fields, is_now=at is None)
            change_id = unit.characters.change_of(self.character_id, memory.memory_id) if memory else None
            ended_ids: list[str] = []
            is_new = memory is None or change_id is None
            if memory is None or change_id is None:
                event_id = unit.characters.next_id()
                change, ended_ids = made_character_writer.store(
                    self.character_id, event, learning_fields, event_id=event_id, memory_id=event_id
                )
                memory, change_id = made_character_writer.stored[0], change.change_id
                move_by_event(unit, memory, deltas)
            copies = []
            for witness, visible_given_event in given_events_by_id.items():
                other = entity_of_name_or_part(witness, known_entities(unit, None), "character")
                if other.entity_id == self.character_id:
                    continue
                copy_id = None if is_new else unit.characters.knows_event(other.entity_id, memory.event_id)
                if copy_id is not None:
                    copies.append(unit.characters.require(other.entity_id, copy_id))
                    continue
                seen_by_other = learning_fields | {"how": "witnessed", "heard_from": None}
                made_character_writer.store(
                    other.entity_id, visible_given_event, seen_by_other, event_id=memory.event_id
                )
                copies.append(made_character_writer.stored[-1])
        consolidation = self.consolidate() if settings.consolidate_automatically and is_new else None
        return Remembered(
            memory=memory,
            is_new=is_new,
            copies=copies,
            ended=ended_ids,
            change_id=change_id,
            consolidation=consolidation if consolidation is not None and consolidation.groups else None,
            issues=[*issues, *made_character_writer.issues],
        )

    def _remembered_already(
        self, unit: UnitOfWork, event: GivenEvent, learning_fields: Mapping[str, Any], *, is_now: bool
    ) -> CharacterMemory | None:
        """Return the memory of the same words with the same people at the same place, if there is one.

        The place is the turn, else the moment; what is said to happen now comes again at once from a repeated call.
        """
        people = sorted(known_ids(unit, event.participants))
        apart = timedelta(0) if learning_fields["turn"] is not None or not is_now else REPEATED_WITHIN
        place = {"session": learning_fields["session"], "turn": learning_fields["turn"]}
        for memory in unit.characters.live_of_text(self.character_id, event.content, **place):
            is_then = (
                learning_fields["turn"] is not None or abs(learning_fields["happened_at"] - memory.happened_at) <= apart
            )
            is_alike = (memory.slot, memory.how) == (event.slot, learning_fields["how"])
            if is_then and is_alike and sorted(memory.participants) == people:
                return memory
        return None

    def recall(
        self,
        said: str = "",
        *,
        budget_tokens: int | None = None,
        as_of: When = None,
        protected: Sequence[ProtectedLine] = (),
        to: str | None = None,
        story_as_of: Place = None,
    ) -> Recall:
        """Recall memories for a remark within a budget.

        `as_prompt()` renders it.

        Args:
            said: What was said to the character, or what happens; empty asks for what weighs most by itself.
            budget_tokens: Hard limit of the block; None takes the setting `recall_budget_tokens`.
            as_of: Only what the character knew strictly before; None means everything so far.
            protected: Lines that stand above the recall, outside of the competition.
            to: To whom the character will speak: how the two stand is told above the recall, and secrets that this
                one may not hear are left out. Without it every secret is left out; the character's own name leaves out
                none.
            story_as_of: Of the story what it let the character know strictly before this place may come back, too,
                marked as told, read, … and by whom: `(5, 1)` or `5`. Without it nothing of the story does.
        """
        moment, now, place = as_moment(as_of), self._clock(), position_of(story_as_of)
        if budget_tokens is not None and type(budget_tokens) is not int:
            raise UserInputError(f"budget_tokens={budget_tokens!r} is no whole number; pass one such as 300")
        settings = self._stores.settings.memory.character_memory
        issues: list[ReportIssue] = []
        question = _question(self._stores, said, issues)
        with self._stores.database(self.project_id).read() as unit:
            mind = self._mind(unit)
            names = unit.characters.names()
            if place is not None:
                # Whoever the story shows only later has no name yet.
                by_then = {entity.entity_id: entity.name for entity in known_entities(unit, place)}
                names = {entity_id: by_then.get(entity_id, entity_id) for entity_id in names}
            here = unit.characters.last_position() if mind.waits_for_turns and moment is None else None
            header, closed = towards_listener(unit, mind, self.character_id, to, as_of=moment, now=now)
            own = unit.entities.get(self.character_id) if closed else None
            knower = self.character_id if place is None else knower_id(unit, self.character_id, place)
        if question is not None and not mind.has_vector.all():
            mind = self._embedded_later(mind, issues)
        view = mind.view(moment, clock_now=now, here=here)
        if place is not None:
            share = story_share(
                self._stores, self.project_id, character_id=knower, as_of=place, model=self._stores.embedding_model
            )
            mind, view = share.beside(mind, view)
            if question is not None and share.without_vector:
                message = f"{share.without_vector} memories of the story have no vector yet and were compared by words"
                issues.append(_degraded(message))
        view = without_told(mind, view, closed, own.entity.names() if own else [])
        request = Asked(
            said=said,
            compared=_compared(self._stores, mind, said, question, view.live, issues),
            budget_tokens=settings.recall_budget_tokens if budget_tokens is None else budget_tokens,
            protected=[*header, *protected],
            names=names,
        )
        recall_result = recalling.recall(mind, view, request, character_id=self.character_id, settings=settings)
        return recall_result.model_copy(update={"issues": [*issues, *recall_result.issues]})

    def memories(self, *, as_of: When = None, with_former: bool = True) -> list[CharacterMemory]:
        """Return the character's knowledge, in order of storage.

        Args:
            as_of: Only what it knew strictly before; None means everything so far.
            with_former: Also list what something later put an end to.
        """
        moment = as_moment(as_of)
        with self._stores.database(self.project_id).read() as unit:
            mind = self._mind(unit)
            here = unit.characters.last_position() if mind.waits_for_turns and moment is None else None
        view = mind.view(moment, clock_now=self._clock(), here=here)
        shown_mask = view.live if with_former else view.live & ~view.superseded
        return ShownList([mind.memories[place] for place in np.flatnonzero(shown_mask).tolist()])

    def edit(self, memory_id: str, changes: Mapping[str, Any] | None = None, **fields: Any) -> EditedMemory:
        """Correct a memory: content, short, importance, tier, participants, ….

        Args:
            memory_id: Its id.
            changes: Fields to their new values.
            **fields: The same by keyword.

        Raises:
            UnknownMemoryError: When there is no such memory.
            UserInputError: When a field is none, or a value does not fit.
        """
        payload = {**(changes or {}), **fields}
        if not payload:
            raise UserInputError(f"nothing to change; give a field and its value: {', '.join(EDITABLE)}")
        for name in payload:
            if name not in EDITABLE:
                suggestion = did_you_mean(name, EDITABLE) or f"; there are {', '.join(EDITABLE)}"
                raise UserInputError(f"a memory has no field {name!r} that can be changed{suggestion}")
        settings = self._stores.settings.memory.character_memory
        vectors: dict[str, MemoryVector] = {}
        issues: list[ReportIssue] = []
        if "content" in payload:
            payload["content"] = scrub_text(str(payload["content"])).strip()
            if not payload["content"]:
                raise UserInputError("the content is empty; delete the memory instead")
            payload.setdefault("short", derived_short(payload["content"]))
            vectors, issues = embedded_texts(self._stores, texts=[payload["content"]])
        if payload.get("slot") is not None:
            require_slot(str(payload["slot"]), settings)
        with self._stores.database(self.project_id).write() as unit:
            before = unit.characters.require(self.character_id, memory_id)
            try:
                after = CharacterMemory.model_validate({**before.model_dump(), **payload})
            except ValidationError as error:
                raise UserInputError(described(error)) from error
            if "tier" not in payload and {"event_type", "importance", "is_milestone"} & set(payload):
                tier = detected_tier(
                    after.event_type,
                    after.importance,
                    settings,
                    interaction_type=after.interaction_type,
                    milestone=after.is_milestone,
                )
                after = after.model_copy(update={"tier": tier})
            vector = vectors.get(after.content)
            change = unit.characters.change(
                "edit",
                self.character_id,
                vectors={} if vector is None else {memory_id: vector},
                changed=[(before, after)],
            )
        return EditedMemory(memory=after, change_id=change.change_id, issues=issues)

    def delete(self, memory_id: str) -> CharacterChange:
        """Delete a memory, restoring the memories it ended or replaced.

        Raises:
            UnknownMemoryError: When there is no such memory.
        """
        with self._stores.database(self.project_id).write() as unit:
            before = unit.characters.require(self.character_id, memory_id)
            after = before.model_copy(update={"status": "deleted"})
            return unit.characters.change("delete", self.character_id, changed=[(before, after)])

    def consolidate(
        self, *, target: Number | None = None, model: BaseChatModel | None = None, dry_run: bool = False
    ) -> CharacterConsolidation:
        """Consolidate surplus memories.

        `undo` restores them.

        Args:
            target: Live memories to leave, whatever the limit; None takes the settings', beyond their limit only.
            model: Chat model that writes the memories; None joins their own sentences.
            dry_run: Only tell what would become one.
        """
        now, settings = self._clock(), self._stores.settings.memory.character_memory
        with self._stores.database(self.project_id).read() as unit:
            mind = self._mind(unit)
        view = mind.view(None, clock_now=now)
        groups = consolidation_groups(mind, view, settings, target=target)
        live = int(view.live.sum())
        report = CharacterConsolidation(
            groups=[[memory.memory_id for memory in group] for group in groups],
            before=live,
            after=live - sum(len(group) - 1 for group in groups),
            dry_run=dry_run,
        )
        if dry_run or not groups:
            return report
        chain = ConsolidationChain(model)
        chunks = [_as_chunks(self.project_id, group) for group in groups]
        consolidation_results = [chain.invoke(ConsolidationRequest(sources=sources)) for sources in chunks]
        with self._stores.database(self.project_id).write() as unit:
            added_memories: list[CharacterMemory] = []
            vectors: dict[str, MemoryVector] = {}
            changed: list[tuple[CharacterMemory, CharacterMemory]] = []
            own = {memory.memory_id: mind.vectors[at] for at, memory in enumerate(mind.memories) if mind.has_vector[at]}
            for group, sources, result in zip(groups, chunks, consolidation_results, strict=True):
                memory = consolidated_memory(
                    group,
                    memory_id=unit.characters.next_id(),
                    text=result.text.content,
                    short=result.text.short,
                    settings=settings,
                    created_at=now,
                )
                added_memories.append(memory)
                vector = consolidated_vector(sources, own)
                if vector is not None:
                    vectors[memory.memory_id] = MemoryVector(self._stores.embeddings.model_name, vector)
                stood_for = {"status": "consolidated", "consolidated_into": memory.memory_id}
                changed += [(memory, memory.model_copy(update=stood_for)) for memory in group]
            change = unit.characters.change(
                "consolidate", self.character_id, new_memories=added_memories, vectors=vectors, changed=changed
            )
        issues = [issue for result in consolidation_results for issue in result.issues]
        return report.model_copy(update={"memories": added_memories, "change_id": change.change_id, "issues": issues})

    def changes(self) -> list[CharacterChange]:
        """Return changes of the character's memories, oldest first."""
        with self._stores.database(self.project_id).read() as unit:
            return unit.characters.changes(self.character_id)

    def undo(self, change_id: Number | None = None) -> CharacterChange:
        """Undo a change of the character's memories.

        Args:
            change_id: Its number; None takes the last one that is not undone.

        Raises:
            UserInputError: When there is none, or something of it changed again since.
        """
        with self._stores.database(self.project_id).write() as unit:
            return unit.characters.undo(self.character_id, change_id)

    def _embedded_later(self, mind: Mind, issues: list[ReportIssue]) -> Mind:
        """Embed pending memories, and return their present rows."""
        places = np.flatnonzero(~mind.has_vector & mind.not_deleted)
        memories = [mind.memories[place] for place in places[:MAX_EMBEDDED_LATER].tolist()]
        if not memories:
            return mind
        vectors, failed = embedded_texts(self._stores, texts=[memory.content for memory in memories])
        issues += failed
        if failed:
            return mind
        with self._stores.database(self.project_id).write() as unit:
            unit.characters.put_vectors(
                {memory.memory_id: (memory.content, vectors[memory.content]) for memory in memories}
            )
        remaining_count = len(places) - len(memories)
        if remaining_count:
            message = (
                f"{remaining_count} memories have no vector yet and were compared by words; later calls embed them"
            )
            issues.append(_degraded(message))
        with self._stores.database(self.project_id).read() as unit:
            return self._mind(unit)

    aremember = async_twin(remember)
    arecall = async_twin(recall)
    amemories = async_twin(memories)
    aedit = async_twin(edit)
    adelete = async_twin(delete)
    aconsolidate = async_twin(consolidate)
    achanges = async_twin(changes)
    aundo = async_twin(undo)


class StoryCharacters(StoryEntities):
    """Whoever remembers by itself."""

    def open_character(self, *, name: str, create: bool = False, as_of: Place = None) -> Entity:
        """Return the character that a name means.

        Args:
            name: Id, name or alias.
            create: Make a character of that name where there is none.
            as_of: An error names nobody that the story shows only from this position on.
        """
        if not name.strip():
            raise UserInputError("the name of the character is empty; say who remembers")
        if create:
            self._stores.ensure_project(self.project_id)
        try:
            with self._stores.database(self.project_id).read() as unit:
                whole = known_entities(unit, None)
                try:
                    return entity_of_name(name, whole, "character")
                except UnknownEntityError:
                    return entity_of_name(name, shown_entities(unit, position_of(as_of)), "character")
        except UnknownEntityError as error:
            if not create:
                raise UnknownEntityError(
                    f"{error}; pass create=True to make a new character, or add it with `novelgen card add`"
                ) from error
            if "may be" in str(error):
                raise
        return self.add_character(name=name).entity


def _degraded(message: str) -> ReportIssue:
    return ReportIssue(stage="recall", kind="degraded", message=message)


def _question(stores: MemoryStores, statement: str, issues: list[ReportIssue]) -> Vectors | None:
    """Embed the remark, or return None with an issue."""
    if not statement.strip():
        return None
    try:
        return unit_rows(stores.last_queries.vector(stores.embeddings, statement))[0]
    except (EmbeddingError, ConfigurationError) as error:
        issues.append(_degraded(f"memories were compared by words: {error}"))
        return None


def _compared(
    stores: MemoryStores, mind: Mind, statement: str, question: Vectors | None, live: Mask, issues: list[ReportIssue]
) -> Compared:
    """Compare memories with the remark, by meaning or by words."""
    if not statement.strip():
        return Compared()
    scale = None
    if question is not None and mind.has_vector.any() and mind.vectors.shape[1] == len(question):
        try:
            scale = stores.relevance_scales.scale(stores.embeddings, story_language(statement))
        except EmbeddingError as error:
            issues.append(_degraded(f"memories were compared by words: {error}"))
    if question is None or scale is None:
        return Compared(mind.word_relevance(statement, live), by="words")
    # Not `@`: its threads go on spinning for a while, which doubles what the next embedding takes.
    cosines = np.einsum("ij,j->i", mind.vectors, question).astype(np.float64)
    nearness, lacking = scale.of(cosines), live & ~mind.has_vector
    if lacking.any():
        # Words of all memories are read for it: what all have vectors does without.
        nearness = np.where(mind.has_vector, nearness, mind.word_relevance(statement, lacking))
    return Compared(nearness, by="meaning")


def given_event(**arguments: Any) -> GivenEvent:
    """Return an event of arguments that a caller gave."""
    try:
        event = GivenEvent(**arguments)
    except ValidationError as error:
        raise UserInputError(described(error)) from error
    require_json(event.details, "details")
    return event


EDITABLE = (
    "content",
    "short",
    "event_type",
    "importance",
    "tier",
    "is_milestone",
    "participants",
    "emotion",
    "location",
    "slot",
    "how",
    "heard_from",
    "details",
)
"""Fields of a memory that can be corrected."""


def _as_chunks(project_id: str, group: Sources) -> list[StoryMemoryChunk]:
    """Return memories as the chain takes them, which knows those of stories."""
    told_ids = {"content", "short", "importance", "created_at"}
    return [
        StoryMemoryChunk(
            chunk_id=memory.memory_id,
            project_id=project_id,
            content_type="memory",
            **memory.model_dump(include=told_ids),
        )
        for memory in group
    ]
