"""A story character's knowledge of the story, beside its own memories."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from weakref import WeakKeyDictionary

import numpy as np

from novelgen.characters.memory import CharacterMemorySettings, KnownStoryMemory
from novelgen.characters.mind import Mind, View
from novelgen.memory.character_view import CharacterView
from novelgen.memory.query_scores import Mask, Vectors, unit_rows
from novelgen.models.entity import Entity
from novelgen.models.memory import StoryMemoryChunk

WORLD_TAG = "world"
"""Tag of a note that everybody in the story knows, but who is said not to: what is true of the world."""


@dataclass(frozen=True, eq=False)
class StoryShare:
    """A character's knowledge of the story at a position, with ended facts."""

    mind: Mind
    superseded: Mask
    _beside: WeakKeyDictionary[Mind, Mind] = field(default_factory=WeakKeyDictionary, init=False)

    @property
    def without_vector(self) -> int:
        """How many memories have no vector yet."""
        return int((~self.mind.has_vector).sum())

    def beside(self, own: Mind, view: View) -> tuple[Mind, View]:
        """Return a character's own memories and these as one mind, with a view of it."""
        mind = self._beside.get(own)
        if mind is None:
            mind = self._beside[own] = self._join_mind(own)
        return mind, View(
            live=np.concatenate([np.ones(len(self.mind), dtype=bool), view.live]),
            superseded=np.concatenate([self.superseded, view.superseded]),
            now=view.now,
        )

    def _join_mind(self, own: Mind) -> Mind:
        dimension = own.vectors.shape[1] or self.mind.vectors.shape[1]
        # Own memories come last: where an id of the story's is like one of theirs, it means theirs.
        parts = (self.mind, own)
        fits = [mind.vectors.shape[1] == dimension for mind in parts]
        return Mind(
            [memory for mind in parts for memory in mind.memories],
            np.concatenate(
                [
                    mind.vectors if fit else np.zeros((len(mind), dimension), np.float32)
                    for mind, fit in zip(parts, fits, strict=True)
                ]
            ),
            np.concatenate([mind.has_vector & fit for mind, fit in zip(parts, fits, strict=True)]),
        )


def share_of_story(
    view: CharacterView,
    chunks: Iterable[StoryMemoryChunk],
    *,
    entities: Sequence[Entity] = (),
    vectors: Mapping[str, Vectors],
    settings: CharacterMemorySettings,
) -> StoryShare:
    """Return a character's knowledge of the story.

    An author's note is told only where somebody says that the character knows it, or where it is tagged `world`: what
    authors note else is for authors.
    """
    known_memories = [chunk for chunk in chunks if _is_told(view, chunk)]
    # Later ones overwrite earlier ones: what of a slot the character knows last.
    last_of_slot: dict[str | None, StoryMemoryChunk] = {
        chunk.slot_type: chunk for chunk in known_memories if chunk.slot_type
    }
    newer = {memory.chunk_id: _newer(view, memory, last_of_slot) for memory in known_memories}
    known_memories.reverse()
    shown_text = "\n".join(memory.content for memory in known_memories)
    by_id = {entity.entity_id: entity for entity in entities}
    dimension = max(map(len, vectors.values()), default=0)
    rows = np.zeros((len(known_memories), dimension), dtype=np.float32)
    has_vector = np.array(
        [len(vectors.get(memory.chunk_id, ())) == dimension > 0 for memory in known_memories], dtype=bool
    )
    for place in np.flatnonzero(has_vector).tolist():
        rows[place] = vectors[known_memories[place].chunk_id]
    memories = [
        _as_known(view, memory, newer[memory.chunk_id], _teller(view, memory, by_id, shown_text), settings)
        for memory in known_memories
    ]
    superseded = np.array([newer[memory.chunk_id] is not None for memory in known_memories], dtype=bool)
    return StoryShare(Mind(memories, unit_rows(rows) if dimension else rows, has_vector), superseded)


def _is_told(view: CharacterView, chunk: StoryMemoryChunk) -> bool:
    source_id = chunk.memory_id
    memory = view.shared.memory_of.get(source_id)
    if memory is None or memory.content != chunk.content:
        return False
    if memory.position is None and WORLD_TAG in chunk.tags:
        return source_id not in view.shared.kept_from.get(view.character_id, ())
    if not view.knows_source(source_id):
        return False
    return memory.position is not None or view.knowing(source_id).is_said


def _newer(
    view: CharacterView, chunk: StoryMemoryChunk, last_of_slot: Mapping[str | None, StoryMemoryChunk]
) -> str | None:
    """Return the known replacement of a memory, or None while it holds."""
    newer = chunk.superseded_by
    if newer is None or view.knows_source(newer):
        return newer
    last = last_of_slot.get(chunk.slot_type)
    is_last = last is None or last.chunk_id == chunk.chunk_id
    return None if last is None or is_last else last.memory_id


def _teller(
    view: CharacterView, chunk: StoryMemoryChunk, entities: Mapping[str, Entity], shown_text: str
) -> str | None:
    """Return a known name of the teller, never one revealed later."""
    teller = entities.get(view.knowing(chunk.memory_id).learned_from or "")
    names = [] if teller is None else view.names_of(teller, shown_text)
    return names[0] if names else None


def _as_known(
    view: CharacterView,
    chunk: StoryMemoryChunk,
    newer: str | None,
    heard_from: str | None,
    settings: CharacterMemorySettings,
) -> KnownStoryMemory:
    source_id = chunk.memory_id
    knowing = view.knowing(source_id)
    stands, since = view.shared.memory_of[source_id].position, knowing.since
    return KnownStoryMemory(
        memory_id=source_id,
        character_id=view.character_id,
        event_type=chunk.event_type or "",
        tier="important" if chunk.importance >= settings.importance_threshold else "regular",
        how=knowing.how or "author",
        heard_from=heard_from,
        superseded_by=newer,
        chapter_index=stands and stands.chapter_index,
        scene_index=stands and stands.scene_index,
        since_chapter=since and since.chapter_index,
        since_scene=since and since.scene_index,
        certainty=knowing.certainty,
        **{name: getattr(chunk, name) for name in ("content", "short", "importance", "created_at")},
        **dict.fromkeys(("happened_at", "known_at"), chunk.created_at),
    )
