"""Character knowledge, shared scenes and the author's statements."""

from __future__ import annotations

import builtins
from collections import Counter
from collections.abc import Callable, Collection, Sequence
from itertools import islice
from operator import not_
from typing import TYPE_CHECKING, Literal

from pydantic import BaseModel, Field

from novelgen.errors import UnknownEntityError, UnknownMemoryError, UserInputError
from novelgen.language.language import has_cjk, significant_words
from novelgen.language.name_lists import split_names
from novelgen.language.resolver import NameResolver
from novelgen.memory.knowledge_story import KnowledgeMemory
from novelgen.models.base import Model
from novelgen.models.knowledge import (
    ALL_LIVED,
    GUESSED_PRESENCE_CERTAINTY,
    READER,
    CharacterKnowledge,
    KnowledgeKind,
    KnowledgeSource,
    KnownMemory,
    Learnt,
    UnknownMemory,
)
from novelgen.models.memory import StoryMemoryChunk, read_from, scene_of_note
from novelgen.models.position import END_OF_STORY, Place, StoryPosition, scene_from
from novelgen.models.state import OpenLoop
from novelgen.shell_words import in_shell
from runtime.storage.change import RowChange
from runtime.storage.columns import EventOrigin
from runtime.storage.database import UnitOfWork
from runtime.storage.knowledge import FACT_TYPES
from runtime.storage.models import StoredMemory
from runtime.storage.records import Knowledge
from runtime.stores import MemoryStores
from runtime.story import base

if TYPE_CHECKING:
    from novelgen.memory import character_view


class Knower(KnownMemory):
    """A knower of a memory.

    `name` is for display.
    """

    character_id: str
    name: str

    @property
    def is_doubtful(self) -> bool:
        """Whether only a guess has them there: of a stated cast nobody is one, though rules say what it knows."""
        return self.is_guess and self.certainty <= GUESSED_PRESENCE_CERTAINTY


class Unaware(UnknownMemory):
    """A character without knowledge of a memory.

    `name` is for display.
    """

    character_id: str
    name: str
    is_beside: bool = Field(
        default=False, exclude_if=not_, description="Is in the memory's own scene, by its cast or a guess."
    )

    @property
    def is_doubtful(self) -> bool:
        """Whether rules alone keep it from them, and no words of the memory."""
        return self.is_guess and self.kind == "unknown"


class MemoryKnowers(Model):
    """Knowers and others of a memory or thread, covering all shown characters."""

    source_id: str
    content: str
    chapter_index: int | None = Field(default=None, description="None: a note that stands everywhere.")
    scene_index: int | None = None
    known_by: list[Knower] = Field(default_factory=list, description="The reader among them.")
    not_known_by: list[Unaware] = Field(
        default_factory=list, description="`might_know`: has met somebody since who knows it."
    )

    @property
    def people(self) -> list[Knower]:
        """The knowers without the reader."""
        return [knower for knower in self.known_by if knower.character_id != READER]

    @property
    def unaware_beside(self) -> list[Unaware]:
        """Those of its own scene who do not know it."""
        return [unaware for unaware in self.not_known_by if unaware.is_beside]


class SaidKnowledge(Learnt):
    """An author's statement on a memory's knower."""

    chapter_index: int | None = None
    scene_index: int | None = None
    origin: EventOrigin = "author"
    source_span: tuple[int, int] | None = None
    verified: bool = True
    also_hidden: Sequence[UnknownMemory] = Field(default=(), description="Other notes that this hides, too.")
    change_id: base.ChangeNumber = None


class SharedScene(Model):
    """A scene shared by two characters.

    `is_alone` means nobody else was there.
    """

    chapter_index: int
    scene_index: int
    is_alone: bool


class SharedLife(Model):
    """The shared scenes of two characters."""

    character_id: str
    other_id: str
    scenes: list[SharedScene] = Field(default_factory=list, description="In story order.")

    @property
    def alone(self) -> list[SharedScene]:
        """The scenes that they spent alone together."""
        return [shared_scene for shared_scene in self.scenes if shared_scene.is_alone]


Narrowing = Literal["all", "known", "unknown", "irony", "secret"]
"""Which memories a table has: those that somebody knows, does not know, does not know while the reader does (of
nobody named: whom it is about), or that are kept from somebody while another knows them."""

MAX_LOOKED_AT = 2000
"""So many memories are looked at for one part of a narrowed table; the next part goes on behind them."""


class KnowledgeRow(BaseModel):
    """A memory, and of each of a cast whether they know it."""

    source_id: str
    content: str
    chapter_index: int | None = None
    scene_index: int | None = None
    cells: list[KnownMemory | UnknownMemory] = Field(default_factory=list, description="In the order of the cast.")
    said_of: list[str] = Field(
        default_factory=list, description="Of whom the author said whether they know it, by then."
    )


class KnowledgeTable(BaseModel):
    """Knowledge of a cast over memories."""

    cast: dict[str, str] = Field(
        default_factory=dict, description="Id to name: the reader first, then who is on stage most."
    )
    rows: list[KnowledgeRow] = Field(default_factory=list, description="The latest first.")
    total: int = Field(default=0, description="How many memories there are before it is narrowed.")
    next_offset: int | None = Field(
        default=None, description="Where the next part begins; None: there is nothing further."
    )


class StoryKnowledge(base.StoryBase):
    """Character knowledge, shared scenes and the author's statements."""

    def who_knows(self, memory_id: base.Name, *, as_of: base.Place = None) -> MemoryKnowers:
        """Tell who knows a memory or a thread, since when and how, and who does not and might have been told.

        Args:
            memory_id: Its source_id or chunk_id, or a thread's id.
            as_of: Position of the read.

        Raises:
            UnknownMemoryError: When there is no such memory by then.
        """
        position = base.position_of(as_of) or END_OF_STORY
        with self._stores.database(self.project_id).read() as unit:
            thread = unit.threads.get(memory_id, as_of=position)
            parts: Sequence[str] = ()
            thing: OpenLoop | StoryMemoryChunk
            if thread is None:
                stored_memory = _fact(unit, self.project_id, memory_id, position)
                parts, thing = _parts(unit, stored_memory), stored_memory.chunk
                source_id, content = _source_id(stored_memory), thing.content
            else:
                thing, source_id, content = thread, thread.loop_id, thread.description
            memory_knowers = MemoryKnowers(
                source_id=source_id, content=content, chapter_index=thing.chapter_index, scene_index=thing.scene_index
            )
            known_entities = base.known_entities(unit, position)
        knowledge = self._knowledge(position)
        by_id = {memory.source_id: memory for memory in knowledge.rules.story.memories}
        memories = [by_id[part] for part in parts if part in by_id]
        beside_ids = (
            frozenset[str]().union(*map(knowledge.rules.beside_ids, memories))
            if thread is None
            else knowledge.rules.beside_thread_ids(thread)
        )
        names = {READER: READER, **{entity.entity_id: entity.name for entity in known_entities}}
        for character_id, name in names.items():
            if character_id not in (READER, *knowledge.rules.story.character_ids):
                continue
            character_knowledge = (
                knowledge.of_character(character_id, memories)
                if thread is None
                else knowledge.of_character_and_thread(character_id, thread)
            )
            who = {
                "character_id": character_id,
                "name": name,
                "content": memory_knowers.content,
                "source_id": memory_knowers.source_id,
            }
            if character_knowledge.not_known:
                is_beside = {"is_beside": character_id in beside_ids}
                memory_knowers.not_known_by.append(
                    Unaware.model_validate(character_knowledge.not_known[0].model_dump() | who | is_beside)
                )
            elif character_knowledge.known:
                last = max(
                    character_knowledge.known, key=lambda memory: (memory.since_chapter or 0, memory.since_scene or 0)
                )
                memory_knowers.known_by.append(Knower.model_validate(last.model_dump() | who))
        return memory_knowers

    def table(
        self,
        *,
        as_of: base.Place = None,
        about: str | None = None,
        narrowing: Narrowing = "all",
        of: base.Name | None = None,
        is_of_one: bool = False,
        offset: base.Number = 0,
        limit: base.Count = 40,
        max_cast: int = 10,
    ) -> KnowledgeTable:
        """Return the knowers of the latest memories.

        Args:
            as_of: Position of the read; None means the end of the story.
            about: Only memories about this; see `character_knowledge`.
            narrowing: Which of them; `known` and `unknown` need somebody.
            of: Id, name or alias of whose knowledge is asked, or `reader`; they are of the cast in any case.
            is_of_one: The cast is nobody else.
            offset: How many memories to pass over, from the latest back.
            limit: At most so many memories.
            max_cast: At most so many characters, beside the reader and who is asked for.

        Raises:
            UserInputError: When the narrowing needs somebody.
        """
        if of is None and (narrowing in ("known", "unknown") or is_of_one):
            raise UserInputError(f"whose knowledge is asked is not said; name somebody, or {READER!r}")
        position = base.position_of(as_of) or END_OF_STORY
        with self._stores.database(self.project_id).read() as unit:
            is_wanted = is_about(unit, about, position)
            names = {entity.entity_id: entity.name for entity in base.known_entities(unit, position)}
            of_id = None if of is None else knower_id(unit, of, position)
        knowledge = self._knowledge(position)
        wanted_memories = [memory for memory in knowledge.rules.story.memories if is_wanted(memory)][::-1]
        fits = _condition(knowledge, narrowing, of_id)
        looked_at = range(offset, min(len(wanted_memories), offset + (limit if narrowing == "all" else MAX_LOOKED_AT)))
        found_numbers = list(islice((place for place in looked_at if fits(wanted_memories[place])), limit))
        # A part that is full ends behind its last row, another behind all that was looked at.
        following = found_numbers[-1] + 1 if len(found_numbers) == limit else looked_at.stop
        cast = _cast(knowledge, names, of_id, is_of_one=is_of_one, max_cast=max_cast)
        return KnowledgeTable(
            cast=cast,
            rows=[_row(knowledge, wanted_memories[place], list(cast)) for place in found_numbers],
            total=len(wanted_memories),
            next_offset=following if following < len(wanted_memories) else None,
        )

    def list_shared_scenes(
        self, character_a: base.Name, character_b: base.Name, *, as_of: base.Place = None
    ) -> SharedLife:
        """Return the scenes that two characters were in together, and which of them alone.

        Args:
            character_a: One of them.
            character_b: The other.
            as_of: Only scenes before this position.
        """
        from novelgen.memory.knowledge_rules import shared_scenes

        position = base.position_of(as_of) or END_OF_STORY
        with self._stores.database(self.project_id).read() as unit:
            one, other = knower_id(unit, character_a, position), knower_id(unit, character_b, position)
        if one == other or READER in (one, other):
            raise UserInputError(f"{character_a!r} and {character_b!r} are not two characters; name two")
        together, alone = shared_scenes(self._knowledge(position).rules.story, one, other)
        scenes = [
            SharedScene(
                chapter_index=place.chapter_index or 0, scene_index=place.scene_index or 0, is_alone=place in alone
            )
            for place in together
        ]
        return SharedLife(character_id=one, other_id=other, scenes=scenes)

    def forget(self, character_id: base.Name, memory_id: base.Name) -> list[SaidKnowledge]:
        """Take back all that you said of whether a character knows a memory or a thread.

        Args:
            character_id: Id, name or alias; `reader` for whoever reads the book.
            memory_id: Its source_id or chunk_id, or a thread's id; `*` for whole tales.

        Raises:
            UserInputError: When nothing was said.
        """
        with self._stores.database(self.project_id).write() as unit:
            # Of a memory that is gone by now it can be taken back as well.
            stored_memory = None if memory_id == ALL_LIVED else unit.memories.find(memory_id)
            source_id = memory_id if stored_memory is None else _source_id(stored_memory)
            knower = knower_id(unit, character_id, END_OF_STORY)
            with unit.journal.recording_knowledge(knower, source_id) as rows:
                statements = unit.knowledge.forget(knower, source_id)
            change_id = _journal_statement(unit, knower, source_id, stored_memory, rows)
            if not statements:
                if memory_id != ALL_LIVED and unit.threads.get(memory_id) is None:
                    _fact(unit, self.project_id, memory_id, END_OF_STORY)
                raise UserInputError(
                    f"you have said nothing of {character_id!r} and {memory_id!r}; nothing to take back"
                )
        return [SaidKnowledge(**words.model_dump(), change_id=change_id) for words in statements]

    def _knowledge(self, as_of: StoryPosition) -> character_view.StoryKnowledge:
        # Late, as what reads a story is heavy, and memories are listed without it.
        from novelgen.memory.character_view import StoryKnowledge
        from runtime.search.kept_readings import knowledge_rules

        return StoryKnowledge(knowledge_rules(self._stores, self.project_id, as_of=as_of))

    def list(
        self,
        character_id: base.Name,
        *,
        as_of: base.Place = None,
        about: str | None = None,
        limit: base.Count | None = None,
    ) -> CharacterKnowledge:
        """Return a character's known and unknown memories before the position.

        Args:
            character_id: Id, name or alias; `reader` for whoever reads the book.
            as_of: Position of the read.
            about: Only memories about this entity, or else with these words.
            limit: At most so many of either list, the latest.
        """
        position = base.position_of(as_of) or END_OF_STORY
        with self._stores.database(self.project_id).read() as unit:
            character_id = knower_id(unit, character_id, position)
            is_wanted = is_about(unit, about, position)
        knowledge = self._knowledge(position)
        wanted_memories = [memory for memory in knowledge.rules.story.memories if is_wanted(memory)]
        character_knowledge = knowledge.of_character(character_id, wanted_memories)
        known_memories, not_known = (
            character_knowledge.known[-(limit or 0) :],
            character_knowledge.not_known[-(limit or 0) :],
        )
        more = {
            "more_known": len(character_knowledge.known) - len(known_memories),
            "more_not_known": len(character_knowledge.not_known) - len(not_known),
        }
        return character_knowledge.model_copy(update={"known": known_memories, "not_known": not_known, **more})

    def set(
        self,
        character_id: base.Name,
        memory_id: base.Name,
        kind: KnowledgeKind = "knows",
        *,
        how: KnowledgeSource = "author",
        learned_from: base.Name | None = None,
        certainty: base.Share = 1.0,
        start: base.Place = None,
    ) -> SaidKnowledge:
        """Say whether a character knows a memory or a thread; it outranks the record and all rules.

        Args:
            character_id: Id, name or alias; `reader` for whoever reads the book.
            memory_id: Its source_id or chunk_id, or a thread's id; `*` for all that `learned_from` has lived through.
            kind: knows, hidden (does not), deceived (believes the contrary) or doubts.
            how: own_doing, witnessed, told, overheard, read, deduced or author.
            learned_from: Whom they know it from.
            certainty: 1 is sure; less is a rumour.
            start: It holds on entering this position; None means from the memory's own scene on.

        Raises:
            UnknownMemoryError: When there is no such memory before the position.
        """
        start = base.position_of(start)
        position = start or END_OF_STORY
        with self._stores.database(self.project_id).read() as unit:
            knower = knower_id(unit, character_id, position)
        may_hide = kind != "knows" and knower != READER
        notes_before = self._notes_known(knower) if may_hide else builtins.set()
        with self._stores.database(self.project_id).write() as unit:
            stored_memory = None
            teller = None if learned_from is None else knower_id(unit, learned_from, position)
            if memory_id == ALL_LIVED:
                if teller is None or kind != "knows":
                    raise UserInputError(
                        "'*' is all that somebody has lived through and tells; say who tells it, or name one memory"
                    )
                source_id, place, follows_scene = ALL_LIVED, base.place_of_statement(unit, position), False
            elif (thread := unit.threads.get(memory_id, as_of=position)) is not None:
                own = StoryPosition(thread.chapter_index, thread.scene_index)
                place = own if start is None else base.place_of_statement(unit, position)
                source_id, follows_scene = thread.loop_id, False
            else:
                stored_memory = _fact(unit, self.project_id, memory_id, position)
                if stored_memory.chunk.is_consolidated:
                    raise UserInputError(
                        f"{memory_id!r} stands for other memories; say it of each of them "
                        f"(`novelgen memory consolidated {self.project_id}`)"
                    )
                source_id = _source_id(stored_memory)
                own = StoryPosition(stored_memory.chunk.chapter_index, stored_memory.chunk.scene_index)
                place = own if start is None else base.place_of_statement(unit, position)
                follows_scene = start is None and stored_memory.scene_id is not None
            statement = Knowledge(
                character_id=knower,
                source_id=source_id,
                chapter_index=place.chapter_index,
                scene_index=place.scene_index,
                kind=kind,
                how=how,
                learned_from=teller,
                certainty=certainty,
                origin="author",
                adds_knower=kind == "knows",
            )
            with unit.journal.recording_knowledge(knower, source_id) as rows:
                unit.knowledge.say(statement, follows_scene=follows_scene)
            change = _journal_statement(unit, knower, source_id, stored_memory, rows)
        hidden_ids = notes_before - {source_id}
        hidden_ids -= self._notes_known(knower) if hidden_ids else builtins.set()
        also_hidden = self._unknown(knower, hidden_ids) if hidden_ids else ()
        return SaidKnowledge(**statement.model_dump(), also_hidden=also_hidden, change_id=change)

    def _notes_known(self, knower: str) -> builtins.set[str]:
        view = self._knowledge(END_OF_STORY).of(knower, is_shown=True)
        return {note.source_id for note in view.notes(known=True)}

    def _unknown(self, knower: str, source_ids: Collection[str]) -> Sequence[UnknownMemory]:
        knowledge = self._knowledge(END_OF_STORY)
        return knowledge.of_character(knower, [knowledge.memory_of[source_id] for source_id in source_ids]).not_known

    alist = base.async_twin(list)
    atable = base.async_twin(table)
    awho_knows = base.async_twin(who_knows)
    alist_shared_scenes = base.async_twin(list_shared_scenes)
    aset = base.async_twin(set)
    aforget = base.async_twin(forget)


def knowers_by_rules(stores: MemoryStores, project_id: str, *, source_id: str) -> MemoryKnowers | None:
    """Return who knows a memory or a thread by the end of its own scene.

    None: it is no fact, or its author listed its knowers.
    """
    from runtime.search.kept_readings import knowledge_story

    with stores.database(project_id).read() as unit:
        thread = unit.threads.get(source_id)
        stored_memory = unit.memories.find(source_id) if thread is None else None
        if stored_memory is not None and stored_memory.chunk.content_type not in FACT_TYPES:
            return None
        places = unit.scenes.places()
    if thread is not None:
        as_of = _end_of_planting(thread, places)
    elif stored_memory is not None and stored_memory.status == "active":
        as_of = _end_of_own_scene(stored_memory, places)
        own_id = _source_id(stored_memory)
        story = knowledge_story(stores, project_id, as_of=as_of)
        if any(story.has_listed_knowers(memory) for memory in story.memories if memory.source_id == own_id):
            return None
    else:
        return None
    return StoryKnowledge(stores, project_id).who_knows(source_id, as_of=as_of)


def _end_of_own_scene(stored_memory: StoredMemory, places: Sequence[Place]) -> StoryPosition:
    chapter, number = stored_memory.chunk.chapter_index, stored_memory.chunk.scene_index
    if chapter is None:
        return END_OF_STORY
    if stored_memory.from_scene:
        return read_from(chapter, number)
    is_of_scene = stored_memory.scene_id is not None
    return _end_of(read_from(chapter, number), scene_of_note(chapter, number, is_of_scene=is_of_scene, scenes=places))


def _end_of_planting(thread: OpenLoop, places: Sequence[Place]) -> StoryPosition:
    if thread.said_from is not None:
        start = StoryPosition(*thread.said_from)
        return _end_of(start, scene_from(start, places))
    return END_OF_STORY if thread.chapter_index is None else read_from(thread.chapter_index, thread.scene_index)


def _end_of(start: StoryPosition, scene: Place | None) -> StoryPosition:
    """Return the end of the scene of what holds from a position on, that position where no scene is there yet."""
    return start if scene is None else max(start, read_from(*scene))


def knower_ids(unit: UnitOfWork, names: Sequence[str], as_of: StoryPosition) -> list[str]:
    """Return the distinct ids of knowers by name, of which a text may hold several between commas."""
    single_names = split_names(names, base.known_entities(unit, as_of)) if names else []
    return list(dict.fromkeys(knower_id(unit, name, as_of) for name in single_names))


def knower_id(unit: UnitOfWork, name: str, as_of: StoryPosition) -> str:
    """Return the id of a knower by name: a shown character or the reader."""
    known_entities = base.known_entities(unit, as_of)
    try:
        return base.entity_of_name_or_part(name, known_entities, "character").entity_id
    except UnknownEntityError as error:
        if name.casefold() == READER:
            return READER
        stored_entity = unit.entities.get(name)
        if stored_entity is None or stored_entity.entity.entity_type != "character":
            raise UnknownEntityError(
                f"{error}; somebody new gets a card: `novelgen card add {unit.project_id} {in_shell(name)}`"
            ) from error
        return name


def is_about(unit: UnitOfWork, about: str | None, as_of: StoryPosition) -> Callable[[KnowledgeMemory], bool]:
    """Return the condition for memories about an entity or with words."""
    if about is None:
        return lambda memory: True
    resolution = NameResolver(base.known_entities(unit, as_of)).resolve(about)
    meant_ids = {resolution.entity_id} if resolution.entity_id else set(resolution.candidate_ids)
    text = about.strip().casefold()
    if meant_ids:
        # A name of one character is no mention within a sentence.
        is_short = len(text) == 1 and has_cjk(text)
        return lambda memory: not meant_ids.isdisjoint(memory.entities) or (is_short and text in memory.content)
    words = significant_words(about)

    def holds(memory: KnowledgeMemory) -> bool:
        return text in memory.content.casefold() or (bool(words) and words <= significant_words(memory.content))

    return holds


def _cast(
    knowledge: character_view.StoryKnowledge,
    names: dict[str, str],
    of_id: str | None,
    *,
    is_of_one: bool,
    max_cast: int,
) -> dict[str, str]:
    names = {READER: READER, **names}
    if is_of_one and of_id is not None:
        return {of_id: names.get(of_id, of_id)}
    counter = Counter(entity_id for scene in knowledge.rules.story.scenes for entity_id in sorted(scene.present))
    people = [
        entity_id
        for entity_id, _ in counter.most_common()
        if entity_id in knowledge.rules.story.character_ids and entity_id in names
    ]
    shown_ids = [READER, *people[:max_cast]]
    if of_id is not None and of_id not in shown_ids:
        shown_ids.append(of_id)
    return {entity_id: names.get(entity_id, entity_id) for entity_id in shown_ids}


def _row(knowledge: character_view.StoryKnowledge, memory: KnowledgeMemory, cast: Sequence[str]) -> KnowledgeRow:
    character_knowledge = [knowledge.of_character(entity_id, [memory]) for entity_id in cast]
    place = memory.position or memory.noted_at or END_OF_STORY
    events = knowledge.rules.story.events_by_memory.get(memory.source_id, ())
    said_of = {event.character_id for event in events if event.by_author}
    return KnowledgeRow(
        source_id=memory.source_id,
        content=memory.content,
        chapter_index=place.chapter_index,
        scene_index=place.scene_index,
        cells=[
            character_knowledge.known[0] if character_knowledge.known else character_knowledge.not_known[0]
            for character_knowledge in character_knowledge
        ],
        said_of=[entity_id for entity_id in cast if entity_id in said_of],
    )


def _condition(
    knowledge: character_view.StoryKnowledge, narrowing: Narrowing, of_id: str | None
) -> Callable[[KnowledgeMemory], bool]:
    def whom(memory: KnowledgeMemory) -> list[str]:
        if of_id is not None:
            return [of_id]
        return [entity_id for entity_id in memory.entities if entity_id in knowledge.rules.story.character_ids]

    def knows(character_id: str, memory: KnowledgeMemory) -> bool:
        return knowledge.knowing(character_id, memory).knows

    def is_irony(memory: KnowledgeMemory) -> bool:
        return knows(READER, memory) and any(not knows(text, memory) for text in whom(memory))

    def is_secret(memory: KnowledgeMemory) -> bool:
        kept_ids = {
            event.character_id
            for event in knowledge.rules.story.events_by_memory.get(memory.source_id, ())
            if event.kind != "knows" and of_id in (None, event.character_id)
        }
        is_kept = any(not knows(text, memory) for text in sorted(kept_ids))
        return is_kept and any(
            knows(character_id, memory) for character_id in sorted(knowledge.rules.story.character_ids - kept_ids)
        )

    conditions: dict[Narrowing, Callable[[KnowledgeMemory], bool]] = {
        "all": lambda memory: True,
        "known": lambda memory: knows(of_id or READER, memory),
        "unknown": lambda memory: not knows(of_id or READER, memory),
        "irony": is_irony,
        "secret": is_secret,
    }
    return conditions[narrowing]


def _fact(unit: UnitOfWork, project_id: str, memory_id: str, as_of: StoryPosition) -> StoredMemory:
    stored_memory = unit.memories.find(memory_id)
    if (
        stored_memory is None
        or stored_memory.status != "active"
        or not as_of.admits(stored_memory.chunk.chapter_index, stored_memory.chunk.scene_index)
    ):
        raise UnknownMemoryError(
            f"no memory or thread {memory_id!r} is there by then in project {project_id!r}; list them with "
            f"`novelgen memory list {project_id}` and `novelgen thread list {project_id}`"
        )
    if stored_memory.chunk.content_type not in FACT_TYPES:
        raise UserInputError(
            f"{memory_id!r} is a {stored_memory.chunk.content_type}; only memories and notes are facts that "
            "one can know"
        )
    return stored_memory


def _journal_statement(
    unit: UnitOfWork, character_id: str, source_id: str, stored_memory: StoredMemory | None, rows: Sequence[RowChange]
) -> int | None:
    """Write down how the author's word was changed, and return by which number it is undone."""
    if not rows:
        return None
    if source_id == ALL_LIVED:
        return unit.journal.keep("know", character_id, ALL_LIVED, rows, subject="character").change_id
    chunk_id = source_id if stored_memory is None else stored_memory.chunk.chunk_id
    return unit.journal.keep("know", chunk_id, character_id, rows, subject="memory").change_id


def _source_id(stored_memory: StoredMemory) -> str:
    chunk = stored_memory.chunk
    return chunk.chunk_id if chunk.is_consolidated else chunk.memory_id


def _parts(unit: UnitOfWork, stored_memory: StoredMemory) -> Sequence[str]:
    """Return the memories that one stands for, or itself."""
    if not stored_memory.chunk.is_consolidated:
        return [_source_id(stored_memory)]
    chunk_ids = next(
        stored_consolidation.source_ids
        for stored_consolidation in unit.consolidations.list_all()
        if stored_consolidation.chunk.chunk_id == stored_memory.chunk.chunk_id
    )
    return [_source_id(unit.memories.require(chunk_id)) for chunk_id in chunk_ids]


def author_words(stores: MemoryStores, project_id: str, *, character_id: str, memory_id: str) -> list[Knowledge]:
    """Return the author's statements on a character and a memory or thread, in order."""
    with stores.database(project_id).read() as unit:
        thread = unit.threads.get(memory_id)
        source_id = thread.loop_id if thread else _source_id(_fact(unit, project_id, memory_id, END_OF_STORY))
        return unit.knowledge.author_said(knower_id(unit, character_id, END_OF_STORY), source_id)
