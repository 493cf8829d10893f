"""Entities that notes name, also those whose cards come later."""

from collections import Counter
from collections.abc import Callable, Sequence
from functools import cache, partial
from typing import NamedTuple

from novelgen.language.matching import NameFinder
from novelgen.language.normalise import is_description, name_key
from novelgen.language.resolver import NameResolver
from novelgen.models.context import ReportIssue
from novelgen.models.entity import Entity, EntityAlias, guessed_names, names_from_the_start
from novelgen.models.position import StoryPosition
from runtime.storage.change import RowChange
from runtime.storage.database import UnitOfWork
from runtime.storage.models import MemoryEdit, MemoryFilter, StoredMemory
from runtime.stores import MemoryStores
from runtime.story import base
from runtime.story.note_states import follow_note, joined_rows, notes_of, start_of


class NotesOfNames(NamedTuple):
    """Effects of new names on earlier notes."""

    rows: list[RowChange]
    issues: list[ReportIssue]
    """The notes that set a state by now."""


def follow_notes_of_names(
    unit: UnitOfWork, entity_id: str, names: Sequence[str], *, stores: MemoryStores
) -> NotesOfNames:
    """Attach earlier notes to a card with new names, and let them set what they state.

    A note may be written before the card of whom or what it names.
    """
    notes = _notes_with(unit, names)
    known_entities = base.known_entities(unit, None) if notes else []
    rows: list[RowChange] = []
    issues = []
    for memory in notes:
        chunk = memory.chunk
        _link_to_names(unit, memory, known_entities, stores=stores)
        state_rows = follow_note(unit, chunk, stores=stores)
        rows += state_rows
        changes = unit.states.of_note(chunk.chunk_id) if state_rows else []
        if any(entity_id in (change.entity_id, change.value) for change in changes):
            message = (
                f"note {chunk.memory_id!r} was written before this card, and sets its state by now: {chunk.content!r}"
            )
            issues.append(ReportIssue(stage="note", kind="stale", message=message))
    return NotesOfNames(joined_rows(rows), issues)


def unlink_notes(unit: UnitOfWork, entity_id: str) -> None:
    """Take an entity off the notes that name it, but not where their author attached it by hand."""
    for memory in unit.memories.list_matching(MemoryFilter(entities=[entity_id], content_types=["note"])):
        if not _is_attached_by_hand(unit, memory):
            others = [one for one in memory.chunk.entities_mentioned if one != entity_id]
            unit.memories.edit(memory.chunk.chunk_id, MemoryEdit(entities=others))


def link_notes(unit: UnitOfWork, names: Sequence[str], *, stores: MemoryStores) -> None:
    """Attach the notes with one of some names to whom they name by now."""
    known_entities = base.known_entities(unit, None)
    for memory in _notes_with(unit, names):
        _link_to_names(unit, memory, known_entities, stores=stores)


def _notes_with(unit: UnitOfWork, names: Sequence[str]) -> list[StoredMemory]:
    if not names:
        return []
    finder = NameFinder(names)
    return [memory for memory in notes_of(unit) if memory.status == "active" and finder.find(memory.chunk.content)]


def _link_to_names(
    unit: UnitOfWork, memory: StoredMemory, known_entities: Sequence[Entity], *, stores: MemoryStores
) -> None:
    if not stores.settings.memory.attach_notes_by_name or _is_attached_by_hand(unit, memory):
        return
    entity_ids = mentioned_in(unit, memory.chunk.content, known_entities, start_of(memory.chunk))
    if set(entity_ids) != set(memory.chunk.entities_mentioned):
        unit.memories.edit(memory.chunk.chunk_id, MemoryEdit(entities=entity_ids))


def _is_attached_by_hand(unit: UnitOfWork, memory: StoredMemory) -> bool:
    return any(one.origin == "manual" for one in unit.attachments.attachments_of(memory.chunk.chunk_id))


def mentioned_in(unit: UnitOfWork, text: str, entities: Sequence[Entity], start: StoryPosition | None) -> list[str]:
    """Return the entities a note's text names, by names known then."""
    return _names_by(unit, entities, start).entity_ids_in(text, also_present=people_by_description(entities))


def people_by_description(entities: Sequence[Entity]) -> list[str]:
    """Return the ids of people with a description of their own, as their author names them in notes.

    In a scene "the Colonel" may be anybody; in a note it is whose alias the author made it, unless two have it.
    """
    people = [entity for entity in entities if entity.entity_type == "character"]
    bearers = Counter(name_key(name) for entity in people for name in entity.names())
    return [
        entity.entity_id
        for entity in people
        if any(
            is_description(name) and bearers[name_key(name)] == 1
            for name in set(entity.names()).difference(guessed_names(entity))
        )
    ]


def names_in_notes(unit: UnitOfWork) -> Callable[[StoryPosition | None], NameResolver]:
    """Return a finder of names known by a position in notes."""
    return cache(partial(_names_by, unit, base.known_entities(unit, None)))


def _names_by(unit: UnitOfWork, known_entities: Sequence[Entity], start: StoryPosition | None) -> NameResolver:
    by_then = {entity.entity_id: entity for entity in base.known_entities(unit, start)} if start else {}
    bearers = [by_then.get(entity.entity_id) or _under_first_names(entity) for entity in known_entities]
    return NameResolver([entity for entity in bearers if entity is not None])


def _under_first_names(entity: Entity) -> Entity | None:
    names = names_from_the_start(entity)
    if not names:
        return None
    aliases = [EntityAlias(alias=name) for name in names[1:]]
    return entity.model_copy(update={"name": names[0], "aliases": aliases})
