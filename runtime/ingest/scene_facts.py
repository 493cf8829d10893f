"""What a scene brings, with its evidence: memories (passages and what was established), states, who knows what."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from hashlib import sha256
from typing import NamedTuple

from pydantic import BaseModel, ConfigDict, Field

from novelgen.language.extractive import short_form
from novelgen.language.language import StoryLanguage, story_language
from novelgen.language.resolver import Mention
from novelgen.language.sentences import TARGET_CHARACTERS, chunk_text
from novelgen.memory.evidence import QuoteFinder
from novelgen.memory.story import recorded_events
from novelgen.models.entity import ID_PREFIXES, EntityType
from novelgen.models.memory import ContentType, MemoryOrigin, StoryMemoryChunk
from novelgen.models.record import SceneRecord
from novelgen.models.state import GUESSED, PRESENCE_ATTRIBUTE, StateChange
from runtime.ingest.scene_input import RecordOrigin, SceneInput
from runtime.storage.records import StoredKnowledge


class LocatedEvidence(NamedTuple):
    """The characters [start, end) of a quote, None where it was not found, and whether its fact counts as verified."""

    source_span: tuple[int, int] | None
    verified: bool


def located_evidence(quote: str | None, finder: QuoteFinder, made_by: RecordOrigin) -> LocatedEvidence:
    """Look for the quote of a fact.

    A fact whose quote does not stand in the scene is unverified, and so is one that a model gave no quote for.
    What was supplied without a quote is given, and what an author says needs none.
    """
    span = finder.find(quote)
    owes_quote = made_by == "extracted" or (made_by == "supplied" and bool(quote))
    return LocatedEvidence(span and (span.start, span.end), span is not None or not owes_quote)


_MEMORY_ORIGINS: dict[RecordOrigin, MemoryOrigin] = {
    # Not "author": that is for single memories that an author changed, which no later ingest may touch.
    "author": "record",
    "supplied": "record",
    "extracted": "extracted",
}
KEY_EVENT_TAG = "key_event"
PASSAGE_CHARACTERS: dict[StoryLanguage, int] = {"en": TARGET_CHARACTERS, "zh": 90}
"""Length of passages that speak for themselves: measured, Chinese windows of few sentences bring 1.3 times the
far-back facts of windows twice as long in 2,000 tokens; in English longer ones bring a little more."""

MentionsIn = Callable[[str], Sequence[Mention]]
"""Finds the entities that a text names."""


class ChunkScope(BaseModel):
    """Whose chunks are made, and which of them the vector index gets.

    A chunk that the vector index gets bears its own id as `embedding_id`, every other one none, for it is not indexed.
    """

    model_config = ConfigDict(frozen=True)

    project_id: str
    scene_id: str
    created_at: datetime
    embed_passages: bool = Field(default=False, description="Also beside a record; without one they always are.")
    embed_key_events: bool = False


def passage_chunks(scene: SceneInput, scope: ChunkScope, *, mentions_in: MentionsIn) -> list[StoryMemoryChunk]:
    """Cut a scene's text into passages."""
    maker = _ChunkMaker(scene, scope)
    is_semantic = scope.embed_passages or scene.record is None
    chunks = []
    target = TARGET_CHARACTERS if scene.record else PASSAGE_CHARACTERS[story_language(scene.text)]
    for span in chunk_text(scene.text, target_characters=target):
        passage = scene.text[span.start : span.end]
        mentions = mentions_in(passage)
        chunks.append(
            maker.make(
                "scene",
                passage,
                is_semantic=is_semantic,
                entities_mentioned=_entity_ids(mentions),
                short=short_form(passage, mentions) if scene.record is None else None,
                source_span=(span.start, span.end),
                origin="text",
            )
        )
    return chunks


def record_chunks(
    scene: SceneInput, record: SceneRecord, scope: ChunkScope, *, mentions_in: MentionsIn
) -> list[StoryMemoryChunk]:
    """Make chunks of a record: its memories, summary bullets and key events, in that order."""
    maker = _ChunkMaker(scene, scope)
    origin = _MEMORY_ORIGINS[scene.record_origin]
    finder = QuoteFinder(scene.text)
    memories = [
        maker.make(
            "memory",
            memory.content,
            entities_mentioned=list(dict.fromkeys(memory.entities)),
            tags=list(dict.fromkeys(memory.tags)),
            short=memory.short or None,
            importance=memory.importance,
            slot=memory.memory_id,
            source_id=memory.memory_id,
            event_type=memory.event_type,
            supersedes=memory.supersedes,
            slot_type=memory.slot_type,
            origin=origin,
            **located_evidence(memory.evidence, finder, scene.record_origin)._asdict(),
        )
        for memory in record.memories
    ]
    bullets = _listed(maker, record.summary, "summary", mentions_in=mentions_in, origin=origin)
    events = _listed(
        maker,
        record.key_events,
        "key_events",
        mentions_in=mentions_in,
        origin=origin,
        tags=[KEY_EVENT_TAG],
        is_semantic=scope.embed_key_events,
    )
    return memories + bullets + events


def _listed(
    maker: _ChunkMaker,
    texts: Sequence[str],
    part: str,
    *,
    mentions_in: MentionsIn,
    origin: MemoryOrigin,
    tags: Sequence[str] = (),
    is_semantic: bool = True,
) -> list[StoryMemoryChunk]:
    return [
        maker.make(
            "summary",
            text,
            is_semantic=is_semantic,
            entities_mentioned=_entity_ids(mentions_in(text)),
            tags=list(tags),
            slot=part,
            source_id=f"{maker.place}:{part}:{index}",
            origin=origin,
        )
        for index, text in enumerate(texts)
        if text.strip()
    ]


def _entity_ids(mentions: Sequence[Mention]) -> list[str]:
    return list(dict.fromkeys(mention.entity_id for mention in mentions))


class _ChunkMaker:
    """Gives chunks their place and an id that is the same whenever the same scene is taken in."""

    def __init__(self, scene: SceneInput, scope: ChunkScope) -> None:
        self._scene = scene
        self._scope = scope
        self._seen: Counter[tuple[str, ...]] = Counter()

    @property
    def place(self) -> str:
        """The scene's position as source ids write it."""
        return f"{self._scene.chapter_index}:{self._scene.scene_index}"

    def make(
        self, content_type: ContentType, content: str, *, slot: str = "", is_semantic: bool = True, **fields: object
    ) -> StoryMemoryChunk:
        """Make a chunk; `slot` tells apart what may have the same text in one scene."""
        chunk_id = self._chunk_id(content_type, slot, content)
        return StoryMemoryChunk.model_validate(
            {
                **fields,
                "chunk_id": chunk_id,
                "project_id": self._scope.project_id,
                "chapter_index": self._scene.chapter_index,
                "scene_index": self._scene.scene_index,
                "content": content,
                "content_type": content_type,
                "embedding_id": chunk_id if is_semantic else None,
                "is_indexed": is_semantic,
                "created_at": self._scope.created_at,
            }
        )

    def _chunk_id(self, content_type: str, slot: str, content: str) -> str:
        # Not the position, which may change, and no running number but for equal texts, so that a passage
        # keeps its id, and so its vector, when others are inserted before it.
        key = (self._scope.project_id, self._scope.scene_id, content_type, slot, content)
        self._seen[key] += 1
        digest = sha256("\x1f".join((*key, str(self._seen[key]))).encode("utf-8")).hexdigest()
        return f"{content_type}-{digest[:24]}"


def recorded_knowledge(record: SceneRecord, *, text: str, made_by: RecordOrigin) -> list[StoredKnowledge]:
    """Return what a record says of who knows what, in its order, with the quotes located.

    Who knows a memory of the scene's own is proved by that memory's quote.
    """
    finder = QuoteFinder(text)
    proofs = {memory.memory_id: memory.evidence for memory in record.memories}
    told = []
    for event in recorded_events(record):
        is_verified = located_evidence(event.quote or proofs.get(event.source_id), finder, made_by).verified
        found = finder.find(event.quote) if event.quote else None
        told.append(
            StoredKnowledge(
                **event.model_dump(exclude={"by_author"}),
                source_span=found and (found.start, found.end),
                verified=is_verified,
            )
        )
    return told


_TYPES_BY_PREFIX: dict[str, EntityType] = {prefix: kind for kind, prefix in ID_PREFIXES.items()}


def recorded_states(
    record: SceneRecord, *, text: str, made_by: RecordOrigin, entity_types: Mapping[str, EntityType]
) -> list[StateChange]:
    """Return the changes that a record states, in its order, one per attribute, with their quotes located.

    What plays at an earlier time changes nothing that holds now.
    """
    finder = QuoteFinder(text)
    return [
        StateChange(
            entity_id=change.entity_id,
            entity_type=_type_of(change.entity_id, entity_types),
            attribute=attribute,
            value=value,
            chapter_index=record.chapter_index,
            scene_index=record.scene_index,
            source_span=evidence.source_span,
            # What ends by itself, as a mood does, has no quote, and says nothing that could be untrue.
            verified=evidence.verified or (value is None and not change.evidence),
        )
        for change in ([] if record.is_flashback else record.state_changes)
        for evidence in [located_evidence(change.evidence, finder, made_by)]
        for attribute, value in change.changes.items()
    ]


def presence_states(
    participants: Sequence[str],
    *,
    location_id: str | None,
    chapter_index: int,
    scene_index: int,
    entity_types: Mapping[str, EntityType],
    is_guessed: bool = False,
) -> list[StateChange]:
    """Return one presence per participant, each id once, in their order; what rules read out of a text says so."""
    where = {"location_id": location_id, "chapter_index": chapter_index, "scene_index": scene_index}
    where |= {GUESSED: True} if is_guessed else {}
    return [
        StateChange(
            entity_id=entity_id,
            entity_type=_type_of(entity_id, entity_types),
            attribute=PRESENCE_ATTRIBUTE,
            value=dict(where),
            chapter_index=chapter_index,
            scene_index=scene_index,
            kind="presence",
        )
        for entity_id in dict.fromkeys(participants)
    ]


def _type_of(entity_id: str, entity_types: Mapping[str, EntityType]) -> EntityType:
    return entity_types.get(entity_id) or _TYPES_BY_PREFIX.get(entity_id[:1], "character")
