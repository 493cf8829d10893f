"""What all parts of a character work on: its memories, what it knows of the story, and how events are written down."""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple

import numpy as np

from novelgen.characters.dispositions import as_player
from novelgen.characters.events import GivenEvent, ended_by, made_memory
from novelgen.characters.from_story import StoryShare, share_of_story
from novelgen.characters.memory import CharacterChange, CharacterMemory, CharacterMemorySettings
from novelgen.characters.mind import Mind
from novelgen.characters.reply_check import PLAYER_NAME_SLOT, slot_value
from novelgen.errors import ConfigurationError, EmbeddingError
from novelgen.language.normalise import name_key
from novelgen.memory.character_view import CharacterView, StoryKnowledge
from novelgen.models.context import ReportIssue
from novelgen.models.entity import Entity
from novelgen.models.memory import DISTILLED_TYPES
from novelgen.models.position import StoryPosition
from runtime.search.kept_readings import KeptReadings, knowledge_rules
from runtime.storage.characters import MemoryVector
from runtime.storage.database import UnitOfWork
from runtime.storage.records import MemoryFilter
from runtime.stores import MemoryStores
from runtime.story.base import ReadsArguments

When = tuple[int, int] | datetime | None
"""When: a pair of session and turn, a datetime, or None for now."""


class CharacterPart(ReadsArguments):
    """What every part of a `Character` works on."""

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
    """Stores what characters make of an event within one transaction."""

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
        learnt: Mapping[str, Any],
        *,
        event_id: str,
        memory_id: str | None = None,
    ) -> tuple[CharacterChange, list[str]]:
        """Store one memory, and return the change with the ids of what it put an end to."""
        memory, issues = made_memory(
            event,
            learnt,
            character_id=character_id,
            memory_id=memory_id or self._unit.characters.next_id(),
            event_id=event_id,
            participants=known_ids(self._unit, event.participants),
            settings=self._settings,
            created_at=self._now,
        )
        # Somebody may have taken part under the name that the character calls the player by.
        held = self._unit.characters.active(memory.character_id, slot=PLAYER_NAME_SLOT)
        called = {slot_value(PLAYER_NAME_SLOT, each.content).casefold() for each in held if each.superseded_by is None}
        issues += [
            ReportIssue(
                stage="remember",
                kind="unresolved",
                message=f"{name!r} is what the player is called; name 'player' as who took part, so that feelings for "
                "the player move",
            )
            for name in memory.participants
            if name.casefold() in called
        ]
        self.issues += [each for each in issues if each not in self.issues]
        over = self._ended(memory, event)
        vector = self._vectors.get(memory.content)
        change = self._unit.characters.change(
            "remember",
            character_id,
            added=[memory],
            vectors={} if vector is None else {memory.memory_id: vector},
            changed=[(each, each.model_copy(update={"superseded_by": memory.memory_id})) for each in over],
        )
        self.stored.append(memory)
        return change, [each.memory_id for each in over]

    def _ended(self, memory: CharacterMemory, event: GivenEvent) -> list[CharacterMemory]:
        """Return what a new memory puts an end to: what is named, the slot's value, the other half of a pair."""
        stored = self._unit.characters
        over: list[CharacterMemory] = []
        if event.supersedes is not None:
            over.append(stored.require(memory.character_id, event.supersedes))
        if memory.slot is not None:
            held = stored.active(memory.character_id, slot=memory.slot)
            over += [each for each in held if each.superseded_by is None]
        began = [first for first, ends in self._settings.supersession_pairs.items() if ends == memory.event_type]
        if began and event.supersedes is None:
            ended, problem = ended_by(memory, stored.active(memory.character_id, event_types=began))
            if problem is not None:
                self.issues.append(ReportIssue(stage="remember", kind="unresolved", message=problem))
            over += [ended] if ended else []
        return list({each.memory_id: each for each in over}.values())


def embedded_texts(stores: MemoryStores, *, texts: Sequence[str]) -> tuple[dict[str, MemoryVector], list[ReportIssue]]:
    """Embed texts, equal ones once; none where the model fails, which is told."""
    wanted = list(dict.fromkeys(texts))
    try:
        vectors = stores.embeddings.embed_documents(wanted)
        model = stores.embeddings.model_name
    except (EmbeddingError, ConfigurationError) as error:
        message = f"stored to be found by words, and embedded at a later call: {error}"
        return {}, [ReportIssue(stage="remember", kind="degraded", message=message)]
    return {
        text: MemoryVector(model, np.asarray(vector, dtype=np.float32))
        for text, vector in zip(wanted, vectors, strict=True)
    }, []


def known_ids(unit: UnitOfWork, names: Sequence[str]) -> list[str]:
    """Return the ids of those names that one character bears, the other names as they are."""
    if not any(names):
        return list(names)
    found = unit.characters.ids_by_name(names, [name_key(name) for name in names])
    return [found.get(name) or as_player(name) for name in names]


MAX_SHARES = 64
"""Of so many characters and positions it stays at hand what they know, for each opened set of stores."""


class _Known(NamedTuple):
    view: CharacterView
    share: StoryShare


_shares: KeptReadings[_Known] = KeptReadings(MAX_SHARES)


def story_share(
    stores: MemoryStores, project_id: str, *, character_id: str, as_of: StoryPosition, model: str | None
) -> StoryShare:
    """Return what a character knows of the story strictly before a position, with its vectors."""

    def read(former: _Known | None) -> _Known:
        rules = knowledge_rules(stores, project_id, as_of=as_of)
        view = former.view if former is not None else None
        if view is None or view.shared.rules is not rules:
            view = StoryKnowledge(rules).of(character_id, is_shown=True)
        wanted = MemoryFilter(as_of=as_of, content_types=list(DISTILLED_TYPES), unconsolidated=True)
        with stores.database(project_id).read() as unit:
            ids = [each.chunk.chunk_id for each in unit.memories.list_matching(wanted)]
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
    asked = (character_id, as_of, model)
    known = _shares.read(stores, project_id, asked, read=read, is_whole=lambda known: not known.share.without_vector)
    return known.share
