"""Base of character parts: memories, story knowledge, feelings and writes."""

import logging
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, NamedTuple, TypeVar

import numpy as np
from pydantic import BaseModel, Field

from novelgen.characters import dispositions as feeling
from novelgen.characters.events import STATE_DELTAS, GivenEvent, ended_by, made_memory
from novelgen.characters.from_story import StoryShare, share_of_story
from novelgen.characters.memory import (
    CharacterChange,
    CharacterMemory,
    CharacterMemorySettings,
    GamePosition,
    Moment,
    as_moment,
)
from novelgen.characters.mind import Mind
from novelgen.characters.reply_check import PLAYER_NAME_SLOT, slot_value
from novelgen.errors import ConfigurationError, EmbeddingError, UserInputError
from novelgen.language.language import StoryLanguage, stated_language, story_language
from novelgen.language.name_lists import holds_several, split_names
from novelgen.language.normalise import name_key
from novelgen.memory.character_view import CharacterView, StoryKnowledge
from novelgen.models.context import ReportIssue
from novelgen.models.entity import Entity
from novelgen.models.memory import DISTILLED_TYPES
from novelgen.models.position import StoryPosition
from novelgen.models.state import DIMENSION_RANGES
from runtime.search.kept_readings import KeptReadings, knowledge_rules, last_write_of
from runtime.storage.characters import MemoryVector
from runtime.storage.database import UnitOfWork
from runtime.storage.models import MemoryFilter
from runtime.storage.records import FeltChange, Happened
from runtime.stores import MemoryStores
from runtime.story.base import ChangeNumber, ReadsArguments, async_twin, known_entities

logger = logging.getLogger(__name__)

When = tuple[int, int] | datetime | None
"""When: a pair of session and turn, a datetime, or None for now."""


class CharacterPart(ReadsArguments):
    """Base of the parts of a `Character`."""

    def __init__(
        self, stores: MemoryStores, project_id: str, entity: Entity, *, clock: Callable[[], datetime] | None = None
    ) -> None:
        self._stores = stores
        self._clock = clock or stores.clock
        self.project_id = project_id
        self.character_id = entity.entity_id
        self.name = entity.name

    def _mind(self, unit: UnitOfWork) -> Mind:
        return self._stores.minds.mind(unit.characters, self.character_id, model=self._stores.embedding_model)


class CharacterWriter:
    """Stores event memories of characters within one transaction."""

    def __init__(
        self, unit: UnitOfWork, settings: CharacterMemorySettings, now: datetime, vectors: Mapping[str, MemoryVector]
    ) -> None:
        self._unit = unit
        self._settings = settings
        self._now = now
        self._vectors = vectors
        self.stored: list[CharacterMemory] = []
        self.issues: list[ReportIssue] = []

    def store(
        self,
        character_id: str,
        event: GivenEvent,
        provenance: Mapping[str, Any],
        *,
        event_id: str,
        memory_id: str | None = None,
    ) -> tuple[CharacterChange, list[str]]:
        """Store one memory, and return its change with the ended ids."""
        memory, issues = made_memory(
            event,
            provenance,
            character_id=character_id,
            memory_id=memory_id or self._unit.characters.next_id(),
            event_id=event_id,
            participants=known_ids(self._unit, event.participants),
            settings=self._settings,
            created_at=self._now,
        )
        for issue in issues:
            if issue.kind == "malformed":
                logger.warning("remember: %s", issue.message)
        # Somebody may have taken part under the name that the character calls the player by.
        memories = self._unit.characters.active(memory.character_id, slot=PLAYER_NAME_SLOT)
        called_names = {
            slot_value(PLAYER_NAME_SLOT, memory.content).casefold()
            for memory in memories
            if memory.superseded_by is None
        }
        issues += [
            ReportIssue(
                stage="remember",
                kind="unresolved",
                message=f"{name!r} is what the player is called; name 'player' as who took part, so that feelings for "
                "the player move",
            )
            for name in memory.participants
            if name.casefold() in called_names
        ]
        self.issues += [issue for issue in issues if issue not in self.issues]
        over = self._ended_memories(memory, event)
        vector = self._vectors.get(memory.content)
        change = self._unit.characters.change(
            "remember",
            character_id,
            new_memories=[memory],
            vectors={} if vector is None else {memory.memory_id: vector},
            changed=[
                (other_memory, other_memory.model_copy(update={"superseded_by": memory.memory_id}))
                for other_memory in over
            ],
        )
        self.stored.append(memory)
        return change, [memory.memory_id for memory in over]

    def _ended_memories(self, memory: CharacterMemory, event: GivenEvent) -> list[CharacterMemory]:
        """Return the memories a new one ends: named ones, slot or pair."""
        stored_character_memory_repository = self._unit.characters
        over: list[CharacterMemory] = []
        if event.supersedes is not None:
            over.append(stored_character_memory_repository.require(memory.character_id, event.supersedes))
        if memory.slot is not None:
            memories = stored_character_memory_repository.active(memory.character_id, slot=memory.slot)
            over += [memory for memory in memories if memory.superseded_by is None]
        began = [first for first, ends in self._settings.supersession_pairs.items() if ends == memory.event_type]
        if began and event.supersedes is None:
            ended_memory, problem = ended_by(
                memory, stored_character_memory_repository.active(memory.character_id, event_types=began)
            )
            if problem is not None:
                self.issues.append(ReportIssue(stage="remember", kind="unresolved", message=problem))
            over += [ended_memory] if ended_memory else []
        return list({memory.memory_id: memory for memory in over}.values())


def embedded_texts(stores: MemoryStores, *, texts: Sequence[str]) -> tuple[dict[str, MemoryVector], list[ReportIssue]]:
    """Embed distinct texts, none with an issue after a failure."""
    wanted_keys = list(dict.fromkeys(texts))
    try:
        vectors = stores.embeddings.embed_documents(wanted_keys)
        model = stores.embeddings.model_name
    except (EmbeddingError, ConfigurationError) as error:
        message = f"stored to be found by words, and embedded at a later call: {error}"
        return {}, [ReportIssue(stage="remember", kind="degraded", message=message)]
    return {
        text: MemoryVector(model, np.asarray(vector, dtype=np.float32))
        for text, vector in zip(wanted_keys, vectors, strict=True)
    }, []


Amount = TypeVar("Amount")


def single_people(
    stores: MemoryStores, project_id: str, *, people: Mapping[str, Amount] | Sequence[str] | str
) -> Mapping[str, Amount] | Sequence[str]:
    """Return the names of people one by one, a mapping as it is."""
    if isinstance(people, Mapping):
        return people
    names = [people] if isinstance(people, str) else people
    if not any(map(holds_several, names)):
        return names
    with stores.database(project_id).read() as unit:
        return split_names(names, known_entities(unit, None))


def known_ids(unit: UnitOfWork, names: Sequence[str]) -> list[str]:
    """Return the ids of those names that one character bears, the other names as they are."""
    if not any(names):
        return list(names)
    matches = unit.characters.ids_by_name(names, [name_key(name) for name in names])
    return [matches.get(name) or feeling.as_player(name) for name in names]


MAX_SHARES = 64
"""Of so many characters and positions it stays at hand what they know, for each opened set of stores."""


class _Known(NamedTuple):
    view: CharacterView
    share: StoryShare


_shares: KeptReadings[_Known] = KeptReadings(MAX_SHARES)


def story_share(
    stores: MemoryStores, project_id: str, *, character_id: str, as_of: StoryPosition, model: str | None
) -> StoryShare:
    """Return a character's story knowledge before a position, with vectors."""

    def read(former: _Known | None) -> _Known:
        rules = knowledge_rules(stores, project_id, as_of=as_of)
        view = former.view if former is not None else None
        if view is None or view.shared.rules is not rules:
            view = StoryKnowledge(rules).of(character_id, is_shown=True)
        wanted_memory_filter = MemoryFilter(as_of=as_of, content_types=list(DISTILLED_TYPES), unconsolidated=True)
        with stores.database(project_id).read() as unit:
            ids = [memory.chunk.chunk_id for memory in unit.memories.list_matching(wanted_memory_filter)]
            # Read again by id, which tells what replaced a memory before the position.
            chunks = unit.memories.by_ids(ids, as_of=as_of, with_sources=True)
            vectors = {}
            if model is not None:
                names, matrix = unit.embeddings.matrix(model, as_of=as_of, ids=ids, with_sources=True)
                vectors = dict(zip(names, matrix, strict=True))
            entities = unit.entities.list_as_of(as_of=as_of)
        settings = stores.settings.memory.character_memory
        return _Known(view, share_of_story(view, chunks, entities=entities, vectors=vectors, settings=settings))

    # What has no vector yet may have one at the next remark, without the story being written to.
    share_key = (character_id, as_of, model)
    last_write = last_write_of(stores, project_id)
    known_value = _shares.read(
        stores,
        project_id,
        share_key,
        last_write=last_write,
        read=read,
        is_whole=lambda share: not share.share.without_vector,
    )
    return known_value.share


# --- What it feels for another ---

_THE_PLAYER: dict[StoryLanguage, str] = {"en": "the player", "zh": "玩家"}


class Feelings(BaseModel):
    """A character's feelings for another at a moment."""

    character_id: str
    other_id: str
    other_name: str
    disposition: feeling.Disposition
    has_met: bool
    days_known: int = Field(description="Whole days since they met first; 0 where they have not.")
    status: str
    header: str = Field(description="The same on one line, in the form that stands above a recall.")
    words: list[str] = Field(description="The same in words, in the language of the story.")
    change_id: ChangeNumber = None


class CharacterFeelings(CharacterPart):
    """Feelings of a character: reads, changes by events and words.

    The other is the id, name or alias of a character, or any other name: "player" where nobody is named.
    """

    def feelings(self, other_id: str = feeling.PLAYER, *, as_of: When = None) -> Feelings:
        """Return the character's feelings for another: dimensions, status and words.

        Args:
            other_id: For whom.
            as_of: As it was then; None means now.
        """
        with self._stores.database(self.project_id).read() as unit:
            return feelings_in(
                unit, self._mind(unit), self.character_id, other_id, as_of=as_moment(as_of), now=self._clock()
            )

    def feel(
        self,
        other_id: str = feeling.PLAYER,
        *,
        event_type: str = "",
        deltas: Mapping[str, int] | None = None,
        values: Mapping[str, int] | None = None,
        at: When = None,
    ) -> Feelings:
        """Change the character's feelings for another.

        `remember` does so for participants.

        Args:
            other_id: For whom.
            event_type: What happened: its rule moves what `deltas` do not name.
            deltas: Dimension to the number by which it moves: `{"trust": 5}`.
            values: Dimension to the value that it takes: `{"fear": 40}`.
            at: When.

        Raises:
            UserInputError: When a dimension is unknown, or nothing is told to move.
        """
        settings = self._stores.settings.memory.character_memory
        moved_counts = {**feeling.deltas_of(event_type, settings), **feeling.require_dimensions(deltas or {})}
        taken_counts = feeling.require_dimensions(values or {})
        if not moved_counts and not taken_counts:
            raise UserInputError(
                f"nothing moves by {event_type!r}; pass deltas={{'trust': 5}}, values={{'trust': 45}} or a type "
                "with a rule"
            )
        moment = self._clock()
        with self._stores.database(self.project_id).write() as unit:
            felt_for = other_id_of(unit, other_id)
            if felt_for == self.character_id:
                raise UserInputError(f"{other_id!r} is the character itself; name whom it feels something for")
            with unit.journal.changing_play("feel", self.character_id, felt_for) as journal_entry:
                unit.play.add_disposition(
                    FeltChange(
                        character_id=self.character_id,
                        other_id=felt_for,
                        event_type=event_type,
                        deltas=moved_counts,
                        values=taken_counts,
                        **dict(happened(as_moment(at), moment)),
                    )
                )
            now = feelings_in(unit, self._mind(unit), self.character_id, felt_for, as_of=None, now=moment)
        return now.model_copy(update={"change_id": journal_entry.change_id})

    def feelings_history(self, other_id: str = feeling.PLAYER, *, as_of: When = None) -> list[FeltChange]:
        """Return how the character's feelings for another moved, in the order in which it happened.

        Args:
            other_id: For whom.
            as_of: Only what happened before; None means everything so far.
        """
        with self._stores.database(self.project_id).read() as unit:
            return unit.play.dispositions(self.character_id, other_id_of(unit, other_id), as_of=as_moment(as_of))

    afeelings = async_twin(feelings)
    afeel = async_twin(feel)
    afeelings_history = async_twin(feelings_history)


def feelings_in(
    unit: UnitOfWork, mind: Mind, character_id: str, other: str, *, as_of: Moment | None, now: datetime
) -> Feelings:
    """Return a character's feelings within a transaction."""
    other_id = other_id_of(unit, other)
    changes = unit.play.dispositions(character_id, other_id, as_of=as_of)
    disposition = feeling.folded_disposition(changes)
    # What was only heard of somebody is no meeting.
    shared = mind.shared_with(other_id)
    if shared and as_of is not None:
        border = mind.view(as_of, clock_now=now).now
        shared = [memory for memory in shared if _is_before(memory, as_of, border)]
    moments = sorted(
        [*(felt_change.happened_at for felt_change in changes), *(memory.happened_at for memory in shared)]
    )
    has_met = bool(moments)
    # As of a turn it is as late as the last thing that had happened between them by then.
    today = as_of if isinstance(as_of, datetime) else now
    if isinstance(as_of, GamePosition) and has_met:
        today = moments[-1]
    days = max(0, (today - moments[0]) // timedelta(days=1)) if has_met else 0
    name = display_name(unit, other_id)
    return Feelings(
        character_id=character_id,
        other_id=other_id,
        other_name=name,
        disposition=disposition,
        has_met=has_met,
        days_known=days,
        status=feeling.status_of(disposition, has_met=has_met),
        header=feeling.relationship_header(disposition, has_met=has_met, days_known=days),
        words=feeling.disposition_words(disposition, other=name, language=project_language(unit, name)),
    )


def _is_before(memory: CharacterMemory, as_of: Moment, border: float) -> bool:
    """Return whether an event precedes a moment, by position or time."""
    if isinstance(as_of, GamePosition) and memory.known_position is not None:
        return memory.known_position < as_of
    return memory.happened_at.timestamp() < border


def event_deltas(
    event_type: str, interaction_type: str | None, deltas: Mapping[str, Any], settings: CharacterMemorySettings
) -> dict[str, int]:
    """Return an event's feeling deltas, by its rule or explicit values."""
    moved_counts = feeling.deltas_of(event_type, settings) or feeling.deltas_of(interaction_type or "", settings)
    for name in DIMENSION_RANGES:
        statement = deltas.get(f"{name}_change")
        if type(statement) is int:
            moved_counts[name] = statement
    return moved_counts


def as_state_deltas(deltas: Mapping[str, int]) -> dict[str, int]:
    """Return moves of feelings under the names by which the importance of an event is told."""
    return {f"{name}_change": by for name, by in deltas.items() if f"{name}_change" in STATE_DELTAS}


def move_by_event(unit: UnitOfWork, memory: CharacterMemory, deltas: Mapping[str, int]) -> None:
    """Apply an experienced event to feelings for its participants.

    What changes nothing, because a dimension stands at its bound, is not written down.
    """
    for other_id in memory.participants:
        if other_id == memory.character_id or not deltas:
            continue
        before = feeling.folded_disposition(unit.play.dispositions(memory.character_id, other_id))
        if before.moved(deltas) != before:
            unit.play.add_disposition(
                FeltChange(
                    character_id=memory.character_id,
                    other_id=other_id,
                    event_type=memory.event_type or memory.interaction_type or "",
                    deltas=dict(deltas),
                    memory_id=memory.memory_id,
                    session=memory.session,
                    turn=memory.turn,
                    happened_at=memory.happened_at,
                )
            )


def happened(at: Moment | None, now: datetime) -> Happened:
    """Return when something happened: at a moment, or now."""
    if isinstance(at, datetime):
        return Happened(happened_at=at)
    if at is None:
        return Happened(happened_at=now)
    return Happened(session=at.session, turn=at.turn, happened_at=now)


def other_id_of(unit: UnitOfWork, other: str) -> str:
    """Return a named character's id, or the name of a player."""
    if not other.strip():
        raise UserInputError("the name of the other is empty; say for whom, such as 'player'")
    return known_ids(unit, [other])[0]


def display_name(unit: UnitOfWork, other_id: str) -> str:
    """Return a character's name by id, or the label of another."""
    if other_id == feeling.PLAYER:
        return _THE_PLAYER[project_language(unit, "")]
    return unit.characters.names().get(other_id, other_id)


def project_language(unit: UnitOfWork, text: str) -> StoryLanguage:
    """Return a story's language, by default a text's."""
    return stated_language(unit.projects.require().language) or story_language(text)
