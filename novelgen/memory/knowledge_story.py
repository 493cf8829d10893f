"""The story before a position, for the rules of who knows what."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from novelgen.language.normalise import is_description
from novelgen.language.short_names import with_parts
from novelgen.models.entity import Entity
from novelgen.models.knowledge import ALL_LIVED, KnowledgeEvent, KnowledgeSource
from novelgen.models.memory import read_from
from novelgen.models.position import StoryPosition
from novelgen.models.record import SceneRecord

if TYPE_CHECKING:
    from novelgen.memory.retelling import Retellings


@dataclass(frozen=True, slots=True)
class KnowledgeScene:
    """A scene for knowledge rules."""

    position: StoryPosition
    present: frozenset[str] = frozenset()
    text: str = ""
    tells_knowledge: bool = False
    has_record: bool = True
    """Whether a record or the author tells who was there; else it is guessed by the text."""
    learnt: Mapping[str, str] = field(default_factory=dict)
    pov: str = ""
    """Id of whom its record says it is seen through."""


@dataclass(frozen=True, slots=True)
class KnowledgeMemory:
    """A memory for knowledge rules."""

    source_id: str
    content: str
    position: StoryPosition | None = None
    entities: Sequence[str] = ()
    event_type: str | None = None
    quote: str = ""
    tells_knowers: bool = False
    is_for_all: bool = False
    """Of an author's note: it was attached to the whole book by hand."""
    noted_at: StoryPosition | None = None
    """Of an author's note: the place that it holds from, after the scene there."""
    is_of_scene: bool = False
    """Of an author's note: it is a fact of the scene at that place."""
    told_to_all_at: StoryPosition | None = None
    """Where a merge told a mere identity to all."""

    @property
    def is_noted_since_told(self) -> bool:
        """Whether an author notes an identity where a merge has told it already."""
        noted_at, told_at = self.noted_at, self.told_to_all_at
        return noted_at is not None and told_at is not None and noted_at >= told_at

    def begins_at(self, position: StoryPosition) -> bool:
        """Tell whether an author's note holds from a position on."""
        place = self.noted_at
        if place is None or place.chapter_index is None:
            return False
        return read_from(place.chapter_index, place.scene_index) == position


@dataclass(frozen=True)
class KnowledgeStory:
    """The story strictly before a position."""

    as_of: StoryPosition
    scenes: Sequence[KnowledgeScene] = ()
    memories: Sequence[KnowledgeMemory] = ()
    names: Mapping[str, Sequence[str]] = field(default_factory=dict)
    character_ids: frozenset[str] = frozenset()
    events: Sequence[KnowledgeEvent] = ()
    language: str = ""
    dead: Mapping[str, StoryPosition] = field(default_factory=dict)
    """Who is dead by then, with where they died."""
    entering: frozenset[str] = frozenset()
    """The author's cast of the scene at the position."""
    entities: Sequence[Entity] = ()
    """The cards known by then."""

    @cached_property
    def scene_at(self) -> Mapping[StoryPosition, KnowledgeScene]:
        """The scenes by their position."""
        return {scene.position: scene for scene in self.scenes}

    @cached_property
    def retellings(self) -> Retellings:
        """Finds where the story tells a memory again."""
        # With numpy: where records say who learnt what, none of it is needed.
        from novelgen.memory.retelling import Retellings  # noqa: PLC0415

        return Retellings(self.scenes)

    @cached_property
    def own_names(self) -> Mapping[str, Sequence[str]]:
        """The names by entity id that nobody else has and that describe nobody, as `old man` does."""
        bearers = Counter(name for names in self.names.values() for name in set(names))
        return {
            entity_id: [name for name in names if bearers[name] == 1 and not is_description(name)]
            for entity_id, names in self.names.items()
        }

    @cached_property
    def names_in_notes(self) -> Mapping[str, Sequence[str]]:
        """The names by entity id, of people with the given names and surnames that are theirs alone."""
        people = {entity_id: names for entity_id, names in self.names.items() if entity_id in self.character_ids}
        return {**self.names, **with_parts(people)}

    def names_of_others(self, entity_id: str) -> Iterator[str]:
        """Yield the names of everybody and everything else, as notes say them."""
        return (name for other_id, names in self.names_in_notes.items() if other_id != entity_id for name in names)

    @cached_property
    def first_appearances(self) -> Mapping[str, StoryPosition]:
        """The first scene on stage of each entity."""
        first: dict[str, StoryPosition] = {}
        for scene in self.scenes:
            for entity_id in scene.present:
                first.setdefault(entity_id, scene.position)
        return first

    @cached_property
    def companions(self) -> Mapping[str, frozenset[str]]:
        """Entity id to the ids that stand with it in some memory."""
        companions_by_id: dict[str, set[str]] = {}
        for memory in self.memories:
            for entity_id in memory.entities:
                companions_by_id.setdefault(entity_id, set()).update(memory.entities)
        return {entity_id: frozenset(others - {entity_id}) for entity_id, others in companions_by_id.items()}

    @cached_property
    def events_by_memory(self) -> Mapping[str, Sequence[KnowledgeEvent]]:
        """Knowledge events of each memory in story order.

        Key `*` holds those of whole tales.
        """
        events_by_id: dict[str, list[KnowledgeEvent]] = {}
        for event in self.events:
            events_by_id.setdefault(event.source_id, []).append(event)
        return events_by_id

    def has_listed_knowers(self, note: KnowledgeMemory) -> bool:
        """Tell whether an author lists all first knowers of a note."""
        start = note.noted_at or StoryPosition()
        return any(
            event.by_author
            and event.kind == "knows"
            and not event.adds_knower
            and (event.chapter_index, event.scene_index) == (start.chapter_index or 0, start.scene_index or 0)
            for event in self.events_by_memory.get(note.source_id, ())
        )

    @property
    def whole_tales(self) -> Sequence[KnowledgeEvent]:
        """The scenes in which somebody told all that they had lived through, in story order."""
        return self.events_by_memory.get(ALL_LIVED, ())


def recorded_events(record: SceneRecord) -> Iterable[KnowledgeEvent]:
    """Return the knowledge events of a scene record, in its order."""
    place = {"chapter_index": record.chapter_index, "scene_index": record.scene_index}
    present = set(record.characters_present)
    for memory in record.memories:
        for character_id in memory.known_by:
            how: KnowledgeSource = "witnessed" if character_id in present else "author"
            if character_id in memory.entities[:1]:
                how = "own_doing"
            yield KnowledgeEvent(character_id=character_id, source_id=memory.memory_id, how=how, **place)
        for character_id in memory.hidden_from:
            yield KnowledgeEvent(
                character_id=character_id, source_id=memory.memory_id, kind="hidden", how="author", **place
            )
    for learning in record.learned:
        for source_id in learning.memory_ids or ([ALL_LIVED] if learning.from_id else []):
            yield KnowledgeEvent(
                character_id=learning.character_id,
                source_id=source_id,
                kind=learning.kind,
                how=learning.how,
                learned_from=learning.from_id,
                certainty=learning.certainty,
                quote=learning.evidence or "",
                **place,
            )
