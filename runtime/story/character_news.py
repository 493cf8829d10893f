"""How others come to know: somebody tells, or news of an event travels."""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from pydantic import BaseModel, Field

from novelgen.characters.events import GivenEvent, arrivals, learning, people_named
from novelgen.characters.memory import CharacterMemory, HowLearnt, as_moment
from novelgen.characters.recall import RecalledMemory
from novelgen.errors import UnknownMemoryError, UserInputError
from novelgen.language.language import story_language
from novelgen.models.context import ReportIssue
from runtime.story.base import (
    Count,
    StoryBase,
    Text,
    Weight,
    async_twin,
    entity_of_name,
    entity_of_name_or_part,
    known_entities,
)
from runtime.story.character_part import CharacterPart, CharacterWriter, When, embedded_texts, single_people
from runtime.story.characters import CharacterMemories, given_event

LEAST_RELEVANCE = 0.5
"""Half way from memories of something else (0) to what a remark is about (1)."""

LEAST_TOPIC_RELEVANCE = 0.65
"""The same, scaled by how near both texts are to any text. In English and Chinese it tells none of 44 topics
that no memory was about, and 36 of 43 topics that one was about."""


class Told(BaseModel):
    """The memories that one character told another."""

    told: list[CharacterMemory] = Field(default_factory=list, description="As the listener remembers it now.")
    known_already: list[str] = Field(
        default_factory=list, description="Memories of the teller whose event the listener knew."
    )
    issues: list[ReportIssue] = Field(default_factory=list)


class WorldEvent(BaseModel):
    """A world event with its learners and their moments."""

    event_id: str
    memories: list[CharacterMemory] = Field(description="One per witness and per person who hears of it.")
    unreached: list[str] = Field(default_factory=list, description="Who is too far away to hear of it ever.")
    issues: list[ReportIssue] = Field(default_factory=list)


class LoggedEvent(BaseModel):
    """An event known to several characters, with its knowers."""

    event_id: str
    content: str = Field(description="In the words of the first who knew of it.")
    event_type: str = ""
    importance: int
    session: int | None = None
    turn: int | None = None
    happened_at: datetime
    knowers: dict[str, str] = Field(description="Ids of characters to how each learnt of it: witnessed, told, …")


class CharacterNews(CharacterMemories):
    """News between characters."""

    def tell(
        self,
        listener: str | CharacterPart,
        what: str | Sequence[str],
        *,
        wording: str | None = None,
        how: HowLearnt = "told",
        limit: Count = 1,
        at: When = None,
    ) -> Told:
        """Tell another character memories, marked there as hearsay.

        Args:
            listener: Who is told: a character, its name or id.
            what: Ids of memories, or one text: what comes back at it is told.
            wording: What the listener is told in place of the memory's own words.
            how: told, or overheard where the listener was not meant.
            limit: At most so many of what comes back at a text.
            at: When.

        Raises:
            UnknownEntityError: When the listener is unknown.
            UnknownMemoryError: When there is no such memory.
        """
        other = listener.character_id if isinstance(listener, CharacterPart) else listener
        moment, now = as_moment(at), self._clock()
        issues: list[ReportIssue] = []
        if not what or (isinstance(what, str) and not what.strip()):
            raise UserInputError("nothing is to be told; give the id of a memory, or what it is about")
        known_memories_by_id = {memory.memory_id: memory for memory in self.memories(as_of=at)}
        if isinstance(what, str) and what not in known_memories_by_id:
            recall_result = self.recall(what, as_of=at, to=other)
            # What is nearest to it, not what weighs most: asked for the soup, nobody tells of a first meeting.
            current = [item for item in recall_result.items if not item.is_over]
            chosen_memories = self._about(what, current, by_meaning=recall_result.by == "meaning")[:limit]
            if not chosen_memories:
                message = f"nothing that may be told to {other!r} is about {what!r}; give the id of a memory"
                issues.append(ReportIssue(stage="tell", kind="unresolved", message=message))
            issues += recall_result.issues
        else:
            ids = [what] if isinstance(what, str) else list(what)
            for memory_id in ids:
                if memory_id not in known_memories_by_id:
                    raise UnknownMemoryError(
                        f"{self.character_id!r} knows no memory {memory_id!r} by then; list them to find its id"
                    )
            chosen_memories = [known_memories_by_id[memory_id] for memory_id in ids]
        texts = [wording or memory.content for memory in chosen_memories]
        vectors, failed = embedded_texts(self._stores, texts=texts) if texts else ({}, [])
        memories: list[CharacterMemory] = []
        known_already: list[str] = []
        with self._stores.database(self.project_id).write() as unit:
            hearer = entity_of_name(other, known_entities(unit, None), "character").entity_id
            if hearer == self.character_id:
                raise UserInputError(f"{other!r} is who tells; name somebody else")
            writer = CharacterWriter(unit, self._stores.settings.memory.character_memory, now, vectors)
            for memory, text in zip(chosen_memories, texts, strict=True):
                if unit.characters.knows_event(hearer, memory.event_id):
                    known_already.append(memory.memory_id)
                    continue
                hearing_fields = learning(moment, now=now, how=how, heard_from=self.character_id)
                writer.store(hearer, _news_of(memory, text), hearing_fields, event_id=memory.event_id)
                memories.append(writer.stored[-1])
        return Told(told=memories, known_already=known_already, issues=[*issues, *failed, *writer.issues])

    def _about(self, topic: str, items: Sequence[RecalledMemory], *, by_meaning: bool) -> list[CharacterMemory]:
        """Return the memories that are about a topic, the nearest first."""
        if by_meaning:
            items = [item for item in items if item.relevance > LEAST_RELEVANCE]
        if by_meaning and items:
            embeddings = self._stores.embeddings
            scale = self._stores.relevance_scales.scale(embeddings, story_language(topic))
            question = self._stores.last_queries.vector(embeddings, topic)
            rows = embeddings.embed_documents([item.memory.content for item in items])
            relevance = scale.topic_relevance(question, rows).tolist()
        else:
            relevance = [item.relevance for item in items]
        least = LEAST_TOPIC_RELEVANCE if by_meaning else 0.0
        near = [(value, item.memory) for value, item in zip(relevance, items, strict=True) if value > least]
        return [memory for _, memory in sorted(near, key=lambda pair: -pair[0])]

    atell = async_twin(tell)


class StoryCharacterNews(StoryBase):
    """News of an event, which travels."""

    def announce(
        self,
        content: Text,
        *,
        event_type: str = "",
        importance: Weight | None = None,
        witnesses: Mapping[str, str] | Sequence[str] | str = (),
        told_to: Mapping[str, float] | Sequence[str] | str = (),
        heard_from: str | None = None,
        delay: timedelta | int = timedelta(0),
        delay_per_distance: timedelta | int | None = None,
        max_distance: float | None = None,
        at: tuple[int, int] | datetime | None = None,
        clock: Callable[[], datetime] | None = None,
        **event: Any,
    ) -> WorldEvent:
        """Store a world event for witnesses, and later for others.

        Args:
            content: What happened.
            event_type: What kind of event it is.
            importance: 1 to 10; None derives it from the type.
            witnesses: Who sees it; a mapping tells what each of them remembers, in their own words.
            told_to: Who hears of it; a mapping tells how far away each of them is, in a measure of your own.
            heard_from: Who brings the news.
            delay: How long the news takes to anybody: a time, or turns of the game with `at=(session, turn)`.
            delay_per_distance: How long it takes for each step of distance; None takes as long as `delay`.
            max_distance: Beyond it the news never comes.
            at: When it happens: a pair of session and turn, a datetime, or None for now.
            clock: Tells the present moment of the game; None takes the computer's.
            **event: What else there is to say of it, as for `Character.remember`: emotion, location, …

        Raises:
            UnknownEntityError: When somebody is unknown; nothing is stored then.
            UserInputError: When an argument is wrong, or nobody is named.
        """
        happening = given_event(content=content, event_type=event_type, importance=importance, **event)
        at = as_moment(at)
        now = (clock or self._stores.clock)()
        witnesses = single_people(self._stores, self.project_id, people=witnesses)
        told_to = single_people(self._stores, self.project_id, people=told_to)
        given_events_by_id = happening.as_told_by(witnesses)
        if not delay and delay_per_distance is not None:
            # No delay at all is none in turns as well as in time.
            delay = timedelta(0) if isinstance(delay_per_distance, timedelta) else 0
        arrivals_by_id = arrivals(
            told_to, delay=delay, delay_per_distance=delay_per_distance, max_distance=max_distance
        )
        if not given_events_by_id and not told_to:
            raise UserInputError("nobody is named who sees the event or hears of it; pass witnesses or told_to")
        if isinstance(delay, int) and not isinstance(at, tuple):
            raise UserInputError(f"a delay of {delay!r} turns needs at=(session, turn); or pass a timedelta")
        vectors, issues = embedded_texts(
            self._stores,
            texts=[happening.content, *(given_event.content for given_event in given_events_by_id.values())],
        )
        with self._stores.database(self.project_id).write() as unit:
            entities = known_entities(unit, None)
            heard_of = people_named(told_to)
            ids = {
                name: entity_of_name_or_part(name, entities, "character").entity_id
                for name in (*given_events_by_id, *heard_of)
            }
            event_id = unit.characters.next_id()
            writer = CharacterWriter(unit, self._stores.settings.memory.character_memory, now, vectors)
            for name, own in given_events_by_id.items():
                writer.store(ids[name], own, learning(at, now=now, how="witnessed"), event_id=event_id)
            there = {ids[name] for name in given_events_by_id}
            for name, late in arrivals_by_id.items():
                if ids[name] not in there:
                    hearing_fields = learning(at, now=now, how="told", heard_from=heard_from, delay=late)
                    writer.store(ids[name], happening, hearing_fields, event_id=event_id)
        return WorldEvent(
            event_id=event_id,
            memories=writer.stored,
            unreached=[name for name in heard_of if name not in arrivals_by_id],
            issues=[*issues, *writer.issues],
        )

    def list_events(self, *, limit: Count | None = None) -> list[LoggedEvent]:
        """Return shared events in order, with their knowers.

        What a character alone lived through is none; deleted memories count no more.

        Args:
            limit: The last so many; None returns all.
        """
        with self._stores.database(self.project_id).read() as unit:
            known_memories = [
                memory for memory in unit.characters.list_project() if memory.status != "deleted" and memory.event_id
            ]
        of_event: dict[str, list[CharacterMemory]] = {}
        for memory in known_memories:
            of_event.setdefault(memory.event_id, []).append(memory)
        shared = [
            memories for memories in of_event.values() if len(memories) > 1 or memories[0].how in ("witnessed", "told")
        ]
        shared.sort(key=lambda memories: (memories[0].session or 0, memories[0].turn or 0, memories[0].happened_at))
        told_ids = {"event_id", "event_type", "importance", "session", "turn", "happened_at"}
        return [
            LoggedEvent(
                **copies[0].model_dump(include=told_ids),
                content=copies[0].content,
                knowers={memory.character_id: memory.how for memory in copies},
            )
            for copies in shared[-limit if limit else 0 :]
        ]

    aannounce = async_twin(announce)
    alist_events = async_twin(list_events)


def _news_of(memory: CharacterMemory, text: str) -> GivenEvent:
    """Return a memory as news: its event, without slot or greater importance."""
    return GivenEvent(
        content=text,
        short=memory.short if text == memory.content else None,
        event_type=memory.event_type,
        interaction_type=memory.interaction_type,
        importance=memory.importance,
        participants=tuple(memory.participants),
        location=memory.location,
    )
