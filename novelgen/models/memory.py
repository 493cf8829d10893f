"""A memory, its closed list of event types, and its attachments."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from operator import not_
from typing import Any, Literal

from pydantic import Field

from novelgen.models.base import Model
from novelgen.models.entity import ID_PREFIXES
from novelgen.models.position import Place, StoryPosition, UtcDatetime, place_text, place_told, scene_from, utc_now
from novelgen.models.shown import Shown

EVENT_TYPES: frozenset[str] = frozenset(
    """
    event conversation discovery secret_learned secret_kept secret_revealed promise_made promise_kept
    promise_broken gift transfer injury death fight journey arrival departure decision plan deception
    disguise identity_revealed relationship_change alliance_formed alliance_broken trust_gained trust_lost
    obligation debt goal_change rule_or_canon place_change theft threat rescue betrayal confession other
    """.split()
)

OTHER_EVENT = "other"
"""What an event type becomes that is not in the list.

A new one needs its word above, and what people read for it, `kind_…` in the page's words of both languages; the list
stands in docs/reference/file-formats.md, too. Models are offered it, records are checked against it, SQL stores any
text. Where it means more, it has a place in one of these: `SUPERSESSION_CHAINS` of novelgen/memory/attributes.py (what
it ends; by these novelgen/memory/consolidation.py knows what is owed), `REVEALING_EVENTS` of
novelgen/memory/conflict.py, `LASTING` of novelgen/memory/select.py.
"""

ContentType = Literal["scene", "dialogue", "description", "summary", "memory", "note"]
CONTENT_TYPES: tuple[ContentType, ...] = ("scene", "dialogue", "description", "summary", "memory", "note")

DISTILLED_TYPES: tuple[ContentType, ...] = ("memory", "note")
"""Facts in other words than the text's."""

SUMMARY_TYPE: ContentType = "summary"

SCENE_RECORD_TYPES: tuple[ContentType, ...] = ("memory", SUMMARY_TYPE)
"""What the record of a scene brings; an author's notes are none."""

PASSAGE_TYPES: tuple[ContentType, ...] = ("scene", "dialogue", "description")
"""Verbatim text of a scene."""

WHOLE_TEXT_TYPES: tuple[ContentType, ...] = ("scene",)
"""Passages that together are the whole text, and so outnumber everything else."""

MemoryTier = Literal["pinned", "important", "regular"]
MemoryOrigin = Literal["record", "extracted", "text", "author"]


AttachmentKind = Literal["character", "location", "item", "faction", "term", "chapter", "book"]
AttachmentOrigin = Literal["record", "mention", "manual", "position", "default"]

BOOK: Literal["book"] = "book"
"""The target that stands for the whole story."""


class AttachedTo(Model):
    """One public attachment of a memory."""

    type: AttachmentKind
    id: str = Field(description="Entity id, chapter:<chapter_index>, or book.")
    is_default: bool = Field(
        default=False, exclude_if=not_, description="The book of a memory that is attached to nothing else."
    )


def superseded(first: str | None, others: Iterable[str]) -> list[str]:
    """Return the ids of all memories that one ends, without repeats."""
    return list(dict.fromkeys(memory_id for memory_id in (first, *others) if memory_id))


class StoryMemoryChunk(Shown, Model):
    """One retrievable piece of the story's memory.

    The position is that of the scene it came from; None means that it is visible everywhere (a note, canon).
    """

    chunk_id: str = Field(min_length=1)
    project_id: str = Field(min_length=1)
    chapter_index: int | None = None
    scene_index: int | None = None
    content: str
    content_type: ContentType = "scene"
    entities_mentioned: list[str] = Field(default_factory=list, description="Entity ids.")
    attached_to: list[AttachedTo] = Field(
        default_factory=list,
        exclude_if=not_,
        description="Entities, chapters set by hand, and the book: by hand, or since there is nothing else. Empty "
        "where nobody looked.",
    )
    is_attached_by_hand: bool = Field(
        default=False,
        exclude=True,
        description="Whether its author said what it is attached to, and so to nothing else.",
    )
    taken_off: list[str] = Field(default_factory=list, exclude=True, description="What its author took it off.")
    tags: list[str] = Field(default_factory=list)
    embedding_id: str | None = Field(default=None, description="Its id in the vector index; None means its chunk_id.")
    is_indexed: bool = Field(
        default=True, description="Whether the vector index holds it; else it is found by words alone."
    )
    is_consolidated: bool = Field(
        default=False, description="Whether it stands for several others from its position on."
    )
    created_at: UtcDatetime = Field(default_factory=utc_now)

    short: str | None = Field(default=None, description="Short form that may stand for the content.")
    importance: int = Field(default=5, ge=1, le=10)
    tier: MemoryTier = "regular"
    source_id: str | None = Field(
        default=None,
        description="memory_id of a scene record's memory, or <chapter>:<scene>:summary|key_events:<index>.",
    )
    source_span: tuple[int, int] | None = Field(default=None, description="Characters [start, end) in the scene.")
    event_type: str | None = None
    supersedes: str | None = Field(default=None, description="source_id of the memory that this one replaces.")
    also_supersedes: list[str] = Field(
        default_factory=list, exclude_if=not_, description="The others that it replaces, where they are several."
    )
    superseded_by: str | None = Field(
        default=None,
        description="source_id of what replaced it, as of the position that was read; of a note of a death also the "
        "scene that shows its person alive under another name: `scene:2:1`. `over:2:1`: its author ended it there.",
    )
    slot_type: str | None = Field(default=None, description="Slot that holds one value at a time: I1.holder.")
    verified: bool = Field(default=True, description="Whether its evidence was found in the scene's text.")
    origin: MemoryOrigin = "text"

    @property
    def superseded_ids(self) -> list[str]:
        """The source_ids of all memories that this one replaces."""
        return superseded(self.supersedes, self.also_supersedes)

    @property
    def memory_id(self) -> str:
        """The id for records, authors and knowledge, stable across index rows."""
        return self.source_id or self.chunk_id

    @property
    def place(self) -> Place | None:
        """Its chapter and scene, or None if incomplete."""
        chapter, scene = self.chapter_index, self.scene_index
        return None if chapter is None or scene is None else (chapter, scene)


NOTE_ID = "note-"
"""The ids of the author's notes begin so."""


def read_from(chapter_index: int, scene_index: int | None) -> StoryPosition:
    """Return the first position that reads a note.

    For 14:0 it is the author's `14:1`.
    """
    if scene_index is None:
        return StoryPosition(chapter_index + 1)
    return StoryPosition(chapter_index, scene_index + 1)


def memory_place_text(
    thing: object, *, always: str, after: str = "{0}", is_scene: Callable[[Place], bool] = lambda _: True
) -> str:
    """Return the displayed place of a memory.

    That of a note is where it begins, or the scene after which it is read where none stands there.
    """
    chapter, scene = place_told(thing)
    ids = (getattr(thing, name, None) or "" for name in ("memory_id", "source_id", "chunk_id"))
    if chapter is not None and any(other_id.startswith(NOTE_ID) for other_id in ids):
        start = read_from(chapter, scene)
        is_shown = not scene or is_scene((start.chapter_index or 0, start.scene_index or 0))
        return str(start) if is_shown else after.format(StoryPosition(chapter, scene))
    is_after = scene is not None and getattr(thing, "by_author", False)
    return (after if is_after else "{0}").format(place_text(chapter, scene, always=always))


def scene_of_note(
    chapter_index: int, scene_index: int | None, *, is_of_scene: bool, scenes: Sequence[Place]
) -> Place | None:
    """Return the stored scene of a note that stands at a place, None where no scene is stored.

    That is the scene at its place where the note is of it, else the scene from which it holds.

    Args:
        chapter_index: Chapter of its place.
        scene_index: Scene of its place; None is the end of the chapter.
        is_of_scene: It is a fact of the scene at its place.
        scenes: Places of the stored scenes, in story order.
    """
    if is_of_scene and scene_index is not None and (chapter_index, scene_index) in scenes:
        return chapter_index, scene_index
    return scene_from(read_from(chapter_index, scene_index), scenes)


_SCENE = re.compile(r"(scene|over):(\d{1,7}):(\d{1,7})")


def scene_target(place: Place) -> str:
    """Return a scene as what replaced a memory."""
    return f"scene:{place[0]}:{place[1]}"


def over_target(chapter_index: int, scene_index: int | None) -> str:
    """Return as what replaced a memory that its author ended it after a place."""
    start = read_from(chapter_index, scene_index)
    return f"over:{start.chapter_index}:{start.scene_index or 1}"


def replacing_scene(superseded_by: str | None) -> Place | None:
    """Return the scene that replaced a memory."""
    return _scene_in(superseded_by, "scene")


def over_from(superseded_by: str | None) -> Place | None:
    """Return the scene from which on the author ended a memory."""
    return _scene_in(superseded_by, "over")


def _scene_in(superseded_by: str | None, kind: str) -> Place | None:
    match = _SCENE.fullmatch(superseded_by or "")
    return None if match is None or match[1] != kind else (int(match[2]), int(match[3]))


_CHAPTER = re.compile(r"chapter:(\d{1,7})")


class Attachment(Model):
    """One attachment of a memory, and its origin.

    `record` and `mention` are derived from the scene and replaced when it is taken in again (a note's `mention` is
    what its own words name), `manual` was set by hand and stays, `position` is the chapter in which the memory
    stands, `default` the book of a memory that is attached to nothing else.
    """

    kind: AttachmentKind
    target: str = Field(description="Entity id, chapter:<chapter_index>, or book.")
    name: str = ""
    origin: AttachmentOrigin


def chapter_target(chapter_index: int) -> str:
    """Return the target that stands for a chapter: `chapter:3`."""
    return f"chapter:{chapter_index}"


def chapter_of_target(target: str) -> int | None:
    """Return the chapter that a target stands for, or None when it stands for none."""
    match = _CHAPTER.fullmatch(target.strip())
    return int(match[1]) if match else None


Target = str | Mapping[str, Any]
"""What a memory is attached to, as a caller says it: id, name, `character:Ada`, `chapter:3`, `book`, `{type, id}`."""

_TARGET_TYPES = ("type", "kind", "entity_type")
_TARGET_IDS = ("id", "target", "entity_id", "name", "chapter_index")
"""What answers call the type and the id of a thing, the words of attachments first."""


def target_text(value: object) -> object:
    """Return a target as a text: `{type, id}`, as answers tell it, becomes `character:C0`."""
    if not isinstance(value, Mapping):
        return value
    kind = next((value[name] for name in _TARGET_TYPES if value.get(name)), None)
    target = next((value[name] for name in _TARGET_IDS if value.get(name) not in (None, "")), None)
    if kind == BOOK:
        return BOOK if target in (None, BOOK) else f"{BOOK}:{target}"
    if kind == "chapter" and not isinstance(target, bool) and str(target).isdecimal():
        return chapter_target(int(str(target)))
    if isinstance(target, str):
        return f"{kind}:{target}" if kind in ID_PREFIXES else target
    raise ValueError(f'{value!r} names no target; write {{"type": "character", "id": "C0"}}, chapter:3 or book')


def is_entity_target(target: str) -> bool:
    """Tell whether a target is an entity's id: neither the book nor a chapter."""
    return target != BOOK and chapter_of_target(target) is None


def linked_targets(derived: list[str], attachments: list[str], detached: list[str]) -> list[str]:
    """Return the links of a memory: derived and added ones, without removed ones."""
    kept_keys = [entity_id for entity_id in derived if entity_id not in detached]
    return list(dict.fromkeys([*kept_keys, *attachments]))


def attached_to(targets: Sequence[str], attachments_by_key: Mapping[str, AttachedTo]) -> list[AttachedTo]:
    """Return the attachments of a memory: entities, chapters, then the book."""
    if not targets:
        return [AttachedTo(type=BOOK, id=BOOK, is_default=True)]
    attachments = [
        attachments_by_key[target_id]
        if target_id in attachments_by_key
        else AttachedTo(type=BOOK if target_id == BOOK else "chapter", id=target_id)
        for target_id in targets
        if target_id in attachments_by_key or not is_entity_target(target_id)
    ]
    return sorted(attachments, key=lambda attachment: (attachment.type == BOOK, attachment.type == "chapter"))


def found_under(chunk: StoryMemoryChunk) -> set[str]:
    """Return the search targets of a memory: attachments and its chapter."""
    own = [] if chunk.chapter_index is None else [chapter_target(chunk.chapter_index)]
    return {*chunk.entities_mentioned, *(attachment.id for attachment in chunk.attached_to), *own}


def targets_of(chunk: StoryMemoryChunk) -> set[str]:
    """Return the subjects of a memory.

    Only author's notes default to the book.
    """
    beyond = (
        attachment.id for attachment in chunk.attached_to if not attachment.is_default or chunk.origin == "author"
    )
    return {*chunk.entities_mentioned, *beyond}
