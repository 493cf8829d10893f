"""States that plain notes set: shown before, set, and taken back."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack
from operator import attrgetter, not_
from typing import NamedTuple

from pydantic import BaseModel, Field

from novelgen.checking.earlier_notes import earlier_notes_ended, kinds_told
from novelgen.checking.healing import is_healing
from novelgen.context.rendering import is_left_behind
from novelgen.errors import UnknownMemoryError, UserInputError
from novelgen.language.normalise import name_key
from novelgen.language.short_names import with_parts
from novelgen.memory.attributes import LOCATION_ATTRIBUTE, PLACE_ATTRIBUTE, is_death
from novelgen.memory.kept_from import is_among_knowers, is_kept_from, lists_former_knowers
from novelgen.memory.stated import (
    NAME_ATTRIBUTE,
    NOBODY,
    STATED_ATTRIBUTES,
    Statement,
    Unset,
    is_called_untrue,
    named_ids_in,
    passed_on,
    reading_of,
    repeats_death,
    statements_of,
    things_with_people,
    told_of_somebody,
)
from novelgen.memory.whereabouts import things_located
from novelgen.models.entity import Entity, EntityAlias, is_entity_id
from novelgen.models.folds import HOLDER_ATTRIBUTE
from novelgen.models.memory import StoryMemoryChunk, read_from
from novelgen.models.position import END_OF_STORY, StoryPosition, sort_key, story_place
from novelgen.models.state import EntityStateSnapshot, StateChange
from runtime.storage.change import RowChange
from runtime.storage.database import UnitOfWork
from runtime.storage.events import Subject
from runtime.storage.models import MemoryFilter, StoredMemory
from runtime.stores import MemoryStores
from runtime.story import base


class StandingValue(BaseModel):
    """A value of a state that a note leaves as it is, though it names its bearer."""

    entity_id: str
    name: str = Field(description="Name of the entity.")
    attribute: str
    value_name: str = Field(
        description="The value, an id by its name; empty of a holder: nobody has it; of all else: none stands."
    )
    is_in_doubt: bool = Field(
        default=False,
        exclude_if=not_,
        description="The note calls it a lie, a rumour, a belief, a dream, a plan or a fear.",
    )


class NotedState(BaseModel):
    """A state that a note sets, and the value before it."""

    entity_id: str
    name: str = Field(description="Name of the entity.")
    attribute: str = Field(description="holder, location_id, status, condition or real_name.")
    value: str = Field(description="Id of a card, or a text; empty of a holder: nobody has it, nor is it where it was.")
    value_name: str = Field(description="The value, an id by its name.")
    holds_after: str | None = Field(default=None, description="Scene after which it holds; None: from the start.")
    before: str | None = Field(
        default=None, description="Value that is over then, an id by its name; None: there was none."
    )
    places_over: list[StandingValue] = Field(
        default_factory=list, exclude_if=not_, description="Where a thing was before its holder: over then."
    )
    stood_already: bool = Field(
        default=False, exclude_if=not_, description="The value held there before the note: nothing changes."
    )
    borne_by: str | None = Field(
        default=None,
        exclude_if=not_,
        description="Id of another card of that name: the note gives the name to nobody; merge the cards from there "
        "on if they prove to be one.",
    )


class EarlierNote(BaseModel):
    """An earlier note on the same person or thing."""

    memory_id: str
    content: str
    place: str | None = Field(default=None, description="From where on it is read; None: everywhere.")


class EndedNotes(BaseModel):
    """Earlier notes that a note ends, and those that it perhaps ends."""

    over: list[EarlierNote] = Field(
        default_factory=list,
        exclude_if=not_,
        description="Earlier notes that are over from it on: it denies them in their words, or its author says so.",
    )
    perhaps_over: list[EarlierNote] = Field(
        default_factory=list,
        exclude_if=not_,
        description="Earlier notes on the same that may be over: `ends` of this one marks them so.",
    )


class NoteEffects(EndedNotes):
    """Effects of a note beside its first state."""

    also_stated: list[NotedState] = Field(
        default_factory=list, exclude_if=not_, description="What its further clauses state of others."
    )
    kept_from: list[str] = Field(
        default_factory=list,
        exclude_if=not_,
        description="Names of those of whom its words say that they do not know it, or are not told.",
    )
    known_only_by: list[str] = Field(
        default_factory=list,
        exclude_if=not_,
        description="Names of those of whom its words say that they alone know it: “only Nell and Tubby know it”.",
    )
    knowers_over: bool = Field(
        default=False,
        exclude_if=not_,
        description="Its words list all who know it, and say that this is over or to come: “only Nell knew it until "
        "the trial”. The list keeps it from nobody.",
    )


class NotePreview(NoteEffects):
    """What a note would set, before it is stored."""

    stated: NotedState | None = Field(description="None: it states nothing plainly, and is kept as text alone.")
    standing: list[StandingValue] = Field(
        default_factory=list, exclude_if=not_, description="What stays of whom it names where it states nothing."
    )


class NamesByWords(NamedTuple):
    """From whom a note's words keep it, and its only knowers."""

    kept_from: list[str]
    known_only_by: list[str]
    knowers_over: bool


def names_by_words(content: str, known_entities: Sequence[Entity]) -> NamesByWords:
    """Return from whom a note's words keep it, and its only knowers."""
    people = [entity for entity in known_entities if entity.entity_type == "character"]
    names = {entity.entity_id: entity.names() for entity in known_entities}
    names |= with_parts({person.entity_id: person.names() for person in people})
    others = {
        person.entity_id: [
            name for entity in known_entities if entity is not person for name in names[entity.entity_id]
        ]
        for person in people
    }
    own_and_others = [(person.name, names[person.entity_id], others[person.entity_id]) for person in people]
    kept_from = [name for name, own, of_others in own_and_others if is_kept_from(content, own, of_others)]
    listings = [(name, is_among_knowers(content, own, of_others)) for name, own, of_others in own_and_others]
    is_over = lists_former_knowers(content, [name for person in people for name in names[person.entity_id]])
    if is_over or all(is_knower is None for _, is_knower in listings):
        return NamesByWords(kept_from, [], knowers_over=is_over)
    knowers = [name for name, is_knower in listings if is_knower is not False and name not in kept_from]
    return NamesByWords(kept_from, knowers, knowers_over=False)


_PLACES = (LOCATION_ATTRIBUTE, PLACE_ATTRIBUTE)

MAX_EARLIER = 200
"""So many notes on whom a note names are looked at for what it ends."""

_MATTERS = {
    HOLDER_ATTRIBUTE: ("holder", "place"),
    **dict.fromkeys(_PLACES, ("holder", "place")),
    "status": ("life", "captivity"),
    "physical_state": ("bonds_and_health",),
}
"""Of which kinds of statements a note must make one for a value to be told that stands."""

_TOLD_ATTRIBUTES: dict[str, Sequence[str]] = {
    "item": (HOLDER_ATTRIBUTE, *_PLACES),
    "character": ("status", "physical_state", LOCATION_ATTRIBUTE),
}
"""What notes are written to change, by kind of card."""


def standing_values(
    unit: UnitOfWork, content: str, start: StoryPosition | None, *, known_entities: Sequence[Entity]
) -> list[StandingValue]:
    """Return the holders, places and conditions that stand at a position, of whom a text names and tells the like.

    Of a thing in one clause with a person it is also told that nobody has it, and of whom a text tells a death,
    captivity or an injury that no such state stands. Who holds a thing comes first, and a death that the text repeats
    is not told.
    """
    kinds = kinds_told(content) | ({"holder"} if passed_on(content, known_entities) else set())
    kinds |= {"bonds_and_health"} if is_healing(content) else set()
    unset = told_of_somebody(content, known_entities)
    if unset is not None and _stands_dead(unit, unset, start):
        unset = None
    if not kinds and unset is None:
        return []
    names = {entity.entity_id: entity.name for entity in known_entities}
    named_ids = named_ids_in(content, known_entities)
    snapshots = unit.states.snapshots(named_ids, as_of=start or END_OF_STORY) if named_ids else []
    placed_ids = {
        snapshot.entity_id
        for snapshot in snapshots
        if any(snapshot.state_data.get(attribute) for attribute in _TOLD_ATTRIBUTES["item"])
    }
    things = things_with_people(content, known_entities) if "holder" in kinds else []
    # From a ship the key was stolen: the key has another holder, and not the ship.
    located_ids = things_located(content, known_entities)
    things = [thing_id for thing_id in things if thing_id in located_ids] or things
    lost_ids = [thing_id for thing_id in things if thing_id not in placed_ids]
    standing_states = [
        StandingValue(entity_id=thing_id, name=names[thing_id], attribute=HOLDER_ATTRIBUTE, value_name="")
        for thing_id in lost_ids
    ] + [
        _standing_value(snapshot, attribute, names)
        for snapshot in snapshots
        for attribute in _TOLD_ATTRIBUTES.get(snapshot.entity_type, ())
        if not kinds.isdisjoint(_MATTERS[attribute])
        and snapshot.state_data.get(attribute)
        and not is_left_behind(attribute, snapshot.since)
    ]
    if unset is not None and unset not in [(value.entity_id, value.attribute) for value in standing_states]:
        name = names[unset.entity_id]
        standing_states.append(
            StandingValue(
                entity_id=unset.entity_id,
                name=name,
                attribute=unset.attribute,
                value_name="",
                is_in_doubt=is_called_untrue(content),
            )
        )
    if repeats_death(content):
        standing_states = [
            value
            for value in standing_states
            if value.attribute != "status" or not is_death("status", value.value_name)
        ]
    return sorted(standing_states, key=lambda value: value.attribute != HOLDER_ATTRIBUTE)


def _standing_value(snapshot: EntityStateSnapshot, attribute: str, names: Mapping[str, str]) -> StandingValue:
    """Return a value of a snapshot with its names."""
    value = str(snapshot.state_data[attribute])
    return StandingValue(
        entity_id=snapshot.entity_id,
        name=names[snapshot.entity_id],
        attribute=attribute,
        value_name=names.get(value, value),
    )


def standing_beside(
    unit: UnitOfWork, content: str, start: StoryPosition | None, *, known_entities: Sequence[Entity]
) -> list[StandingValue]:
    """Return what stands of whom a note names, as it leaves it.

    Where it states something, it is what stands of things in its other clauses, and an injury or death told there.
    """
    reading = reading_of(content, known_entities)
    if not reading.statements:
        return standing_values(unit, content, start, known_entities=known_entities)
    set_ids = {statement.entity_id for statement in reading.statements}
    slots = {(statement.entity_id, statement.attribute) for statement in reading.statements}
    things = [one for one in things_with_people(reading.rest, known_entities) if one not in set_ids]
    values = standing_values(unit, reading.rest, start, known_entities=known_entities)
    names = {entity.entity_id: entity.name for entity in known_entities}
    unset_of_texts = [told_of_somebody(text, known_entities) for text in (content, reading.rest)]
    unset_values = [unset for unset in unset_of_texts if unset is not None and not _stands_dead(unit, unset, start)]
    return [value for value in values if value.entity_id in things or value.attribute == "physical_state"] + [
        StandingValue(entity_id=unset.entity_id, name=names[unset.entity_id], attribute=unset.attribute, value_name="")
        for unset in dict.fromkeys(unset_values)
        if unset not in slots
    ]


def _stands_dead(unit: UnitOfWork, unset: Unset, start: StoryPosition | None) -> bool:
    """Tell whether somebody told dead is dead by then."""
    snapshots = unit.states.snapshots([unset.entity_id], as_of=start or END_OF_STORY)
    values = [snapshot.state_data.get("status") for snapshot in snapshots]
    return unset.attribute == "status" and any(isinstance(value, str) and is_death("status", value) for value in values)


def standing_when_over(unit: UnitOfWork, memory: StoredMemory) -> list[StandingValue]:
    """Return standing states where a memory is over."""
    over_from = memory.over_from
    known_entities = base.known_entities(unit, None)
    own = unit.states.of_note(memory.chunk.chunk_id)
    if not own:
        values = standing_values(unit, memory.chunk.content, over_from, known_entities=known_entities)
        return [value for value in values if value.value_name]
    names = {entity.entity_id: entity.name for entity in known_entities}
    attributes_by_id = {
        change.entity_id: {other.attribute for other in own if other.entity_id == change.entity_id} for change in own
    }
    return [
        _standing_value(snapshot, attribute, names)
        for snapshot in unit.states.snapshots(list(attributes_by_id), as_of=over_from or END_OF_STORY)
        for attribute in sorted(attributes_by_id[snapshot.entity_id])
        if snapshot.state_data.get(attribute)
    ]


def noted_states(
    unit: UnitOfWork,
    content: str,
    start: StoryPosition | None,
    *,
    known_entities: Sequence[Entity],
    own: Sequence[StateChange] = (),
) -> list[NotedState]:
    """Return the states that a note would set from a position on.

    What it set itself, `own`, does not stand before it.
    """
    statements = statements_of(content, known_entities)
    names = {entity.entity_id: entity.name for entity in known_entities}
    return [_noted_state(unit, statement, start, known_entities, names, own) for statement in statements]


def _noted_state(
    unit: UnitOfWork,
    statement: Statement,
    start: StoryPosition | None,
    known_entities: Sequence[Entity],
    names: Mapping[str, str],
    own: Sequence[StateChange],
) -> NotedState:
    at = base.place_of_statement(unit, start or END_OF_STORY)
    as_of = start or END_OF_STORY
    snapshots = unit.states.snapshots([statement.entity_id], as_of=as_of)
    is_held_anew = statement.attribute == HOLDER_ATTRIBUTE and statement.value != NOBODY
    if any((change.entity_id, change.attribute) == (statement.entity_id, statement.attribute) for change in own):
        of_same = unit.states.stated(entity_ids=[statement.entity_id], attributes=[statement.attribute], as_of=as_of)
        value_before = next((change.value for change in reversed(of_same) if change not in own), None)
    else:
        value_before = next((snapshot.state_data.get(statement.attribute) for snapshot in snapshots), None)
    other = _bearer(known_entities, statement)
    return NotedState(
        entity_id=statement.entity_id,
        name=names[statement.entity_id],
        attribute=statement.attribute,
        value=statement.value,
        value_name=names.get(statement.value, statement.value),
        holds_after=base.place_name(at),
        before=None if value_before in (None, "", statement.value) else names.get(str(value_before), str(value_before)),
        places_over=_places_over(snapshots, at, names) if is_held_anew and value_before != statement.value else [],
        stood_already=value_before == statement.value,
        borne_by=None if other is None else other.entity_id,
    )


def _places_over(
    snapshots: Sequence[EntityStateSnapshot], at: StoryPosition, names: Mapping[str, str]
) -> list[StandingValue]:
    """Return where things were until somebody has them from a place on."""
    return [
        _standing_value(snapshot, attribute, names)
        for snapshot in snapshots
        for attribute in _PLACES
        if snapshot.state_data.get(attribute)
        and not is_left_behind(attribute, snapshot.since)
        and sort_key(*snapshot.since.get(attribute, (None, None))) < sort_key(at.chapter_index, at.scene_index)
    ]


def follow_note(
    unit: UnitOfWork, note: StoryMemoryChunk, *, stores: MemoryStores, stood_from: StoryPosition | None = None
) -> list[RowChange]:
    """Let a note set what it states by now, and nothing else.

    Args:
        unit: The project's transaction.
        note: The note.
        stores: The stores of the project.
        stood_from: From where on it was read before it was moved.

    Returns:
        The rows that changed, those of other notes on the same among them.
    """
    memory = unit.memories.require(note.chunk_id)
    start = start_of(memory.chunk)
    known_entities = base.known_entities(unit, None)
    stated = []
    if memory.status == "active":
        noted = noted_states(unit, memory.chunk.content, start, known_entities=known_entities)
        stated = [state for state in noted if state.borne_by is None]
    own_slot = memory.chunk.slot_type if _is_of_state(memory.chunk.slot_type) else None
    at = base.place_of_statement(unit, stood_from or start or END_OF_STORY)
    entity_id, _, attribute = (own_slot or "").partition(".")
    further = statements_of(memory.chunk.content, known_entities)[1:] if own_slot else ()
    pairs = [(entity_id, attribute), *((one.entity_id, one.attribute) for one in further)] if own_slot else []
    subjects = [Subject(*pair, at.chapter_index, at.scene_index) for pair in dict.fromkeys(pairs)]
    old = unit.states.of_note(note.chunk_id, subjects=subjects)
    new = [change for state in stated for change in _changes(unit, state, start)]
    new += [change for state in stated for change in _closing(unit, state, start, memory.over_from, own=old)]
    slot = f"{stated[0].entity_id}.{stated[0].attribute}" if stated else None
    if not old and own_slot == slot is None:
        return []
    slots = {own_slot, slot} - {None}
    notes = [
        other for other in notes_of(unit) if other.chunk.slot_type in slots or other.chunk.chunk_id == note.chunk_id
    ]
    entity_ids = {change.entity_id for change in (*old, *new)}
    with ExitStack() as stack:
        recorded = [
            stack.enter_context(unit.journal.recording_memories([other.chunk.chunk_id for other in notes])),
            *(stack.enter_context(unit.journal.recording_card(entity_id)) for entity_id in sorted(entity_ids)),
        ]
        unit.states.set_of_note(note.chunk_id, new, subjects=subjects)
        _follow_names(unit, [change for change in old if change not in new], new, stores=stores)
        if own_slot == memory.chunk.slot_type:
            # An entry of a lorebook has a slot of its own.
            _follow_slots(unit, notes, note.chunk_id, slot)
    return [row for rows in recorded for row in rows]


def ended_notes(
    unit: UnitOfWork, content: str, start: StoryPosition | None, *, known_entities: Sequence[Entity], own_id: str = ""
) -> EndedNotes:
    """Return the notes up to its place that a note ends."""
    place = base.place_before(start)
    statements = statements_of(content, known_entities)[:1]
    # A thing may be called by the last word of its name.
    named_ids = list({*named_ids_in(content, known_entities), *(statement.entity_id for statement in statements)})
    # What sets the same state is over by that state.
    slot = next((f"{statement.entity_id}.{statement.attribute}" for statement in statements), None)
    notes = unit.memories.by_entities(named_ids, as_of=start or END_OF_STORY, content_types=["note"], limit=MAX_EARLIER)
    standing_states = sorted(
        (
            note
            for note in notes
            if note.chunk_id != own_id
            and (slot is None or note.slot_type != slot)
            and note.superseded_by in (None, own_id)
            and story_place(note) <= story_place(place)
        ),
        key=story_place,
    )
    endings = earlier_notes_ended(content, standing_states, known_entities)
    is_death_repeated = repeats_death(content)
    perhaps_over = [note for note in endings.perhaps_over if not (is_death_repeated and _is_of_death(note))]
    return EndedNotes(over=list(map(_earlier_note, endings.over)), perhaps_over=list(map(_earlier_note, perhaps_over)))


def _is_of_death(note: StoryMemoryChunk) -> bool:
    return (note.slot_type or "").endswith(".status") and repeats_death(note.content)


def _earlier_note(note: StoryMemoryChunk) -> EarlierNote:
    start = start_of(note)
    return EarlierNote(memory_id=note.memory_id, content=note.content, place=None if start is None else str(start))


def follow_ending(
    unit: UnitOfWork, chunk: StoryMemoryChunk, *, ends: Sequence[str] | None, known_entities: Sequence[Entity]
) -> EndedNotes:
    """Let a note end what it denies, and return what it ends and may end."""
    endings = ended_notes(unit, chunk.content, start_of(chunk), known_entities=known_entities, own_id=chunk.chunk_id)
    by_author = list(chunk.also_supersedes)
    if ends is not None:
        further_ids = _ended_ids(unit, chunk, ends)
        by_author = list(dict.fromkeys([*by_author, *further_ids])) if further_ids else []
    is_of_state = _is_of_state(chunk.slot_type)
    by_words = chunk.supersedes if is_of_state else next((note.memory_id for note in reversed(endings.over)), None)
    if (by_words, by_author) != (chunk.supersedes, chunk.also_supersedes):
        unit.memories.set_ended(chunk.chunk_id, by_words, by_author=by_author)
    said_ids = dict.fromkeys(filter(None, [by_words, *by_author]))
    over = [memory.chunk for memory_id in said_ids if (memory := unit.memories.find(memory_id)) is not None]
    perhaps_over = [note for note in (*endings.over, *endings.perhaps_over) if note.memory_id not in said_ids]
    return EndedNotes(over=list(map(_earlier_note, over)), perhaps_over=perhaps_over)


def leave_endings(unit: UnitOfWork, moved: StoryMemoryChunk) -> list[RowChange]:
    """Take a note that was moved off the notes that ended it and stand before it now."""
    own_ids = {moved.chunk_id, moved.memory_id}
    earlier = [
        memory.chunk
        for memory in notes_of(unit)
        if not own_ids.isdisjoint((memory.chunk.supersedes, *memory.chunk.also_supersedes))
        and not _is_of_state(memory.chunk.slot_type)
        and story_place(memory.chunk) < story_place(moved)
    ]
    with unit.journal.recording_memories([note.chunk_id for note in earlier]) as rows:
        for note in earlier:
            by_author = [memory_id for memory_id in note.also_supersedes if memory_id not in own_ids]
            by_words = None if note.supersedes in own_ids else note.supersedes
            unit.memories.set_ended(note.chunk_id, by_words, by_author=by_author)
    return rows


def _ended_ids(unit: UnitOfWork, note: StoryMemoryChunk, ends: Sequence[str]) -> list[str]:
    """Return the ids of memories that an author says a note ends, which stand before it."""
    ids: dict[str, None] = {}
    for name in filter(str.strip, ends):
        memory = unit.memories.find(name.strip())
        if memory is None:
            raise UnknownMemoryError(
                f"no memory {name!r} in project {unit.memories.project_id!r}; "
                f"list them with `novelgen memory list {unit.memories.project_id}`"
            )
        if memory.chunk.chunk_id == note.chunk_id or story_place(memory.chunk) > story_place(note):
            raise UserInputError(f"{name!r} does not stand before {note.memory_id!r}, so this one cannot end it")
        ids[memory.chunk.memory_id] = None
    return list(ids)


def joined_rows(rows: Iterable[RowChange]) -> list[RowChange]:
    """Return changes with one entry per row, the first before and the last after."""
    changes: dict[tuple[str, str], RowChange] = {}
    for row in rows:
        key = (row.table, repr(row.key))
        first = changes.get(key)
        if first is not None and first.before is not None and row.after is not None:
            row = row.model_copy(
                update={"before": {**(row.before or {}), **first.before}, "after": {**(first.after or {}), **row.after}}
            )
        elif first is not None:
            row = row.model_copy(update={"before": first.before})
        changes[key] = row
    return list(changes.values())


def _is_of_state(slot: str | None) -> bool:
    entity_id, _, attribute = (slot or "").partition(".")
    return is_entity_id(entity_id) and attribute in STATED_ATTRIBUTES


def notes_of(unit: UnitOfWork) -> list[StoredMemory]:
    """Return all notes, banned and deleted ones as well."""
    return unit.memories.list_matching(MemoryFilter(content_types=["note"], statuses=["active", "banned", "deleted"]))


def start_of(note: StoryMemoryChunk) -> StoryPosition | None:
    """Return the position from which a note is read, None for everywhere."""
    return None if note.chapter_index is None else read_from(note.chapter_index, note.scene_index)


def _changes(unit: UnitOfWork, stated: NotedState, start: StoryPosition | None) -> list[StateChange]:
    """Return what a note sets; what nobody has any more is no longer where it was, either."""
    at = base.place_of_statement(unit, start or END_OF_STORY)
    values: dict[str, str | None] = {stated.attribute: stated.value or None}
    if not stated.value:
        places = unit.states.stated(entity_ids=[stated.entity_id], attributes=_PLACES, as_of=start or END_OF_STORY)
        values |= {change.attribute: None for change in places}
    return [
        StateChange(
            entity_id=stated.entity_id,
            entity_type=unit.entities.require(stated.entity_id).entity.entity_type,
            attribute=attribute,
            value=value,
            chapter_index=at.chapter_index,
            scene_index=at.scene_index,
            is_of_chapter=base.is_of_chapter(at, start),
        )
        for attribute, value in values.items()
    ]


def _closing(
    unit: UnitOfWork,
    stated: NotedState,
    start: StoryPosition | None,
    over_from: StoryPosition | None,
    *,
    own: Sequence[StateChange],
) -> list[StateChange]:
    """Return the change that takes a state back where its note is over, if it still stands."""
    if over_from is None or not stated.value or stated.attribute == NAME_ATTRIBUTE:
        return []
    since = story_place(base.place_of_statement(unit, start or END_OF_STORY))
    at = base.place_of_statement(unit, over_from)
    of_same = unit.states.stated(entity_ids=[stated.entity_id], attributes=[stated.attribute], as_of=over_from)
    if any(change not in own and story_place(change) >= since for change in of_same):
        return []
    return [
        StateChange(
            entity_id=stated.entity_id,
            entity_type=unit.entities.require(stated.entity_id).entity.entity_type,
            attribute=stated.attribute,
            value=None,
            chapter_index=at.chapter_index,
            scene_index=at.scene_index,
            is_of_chapter=base.is_of_chapter(at, over_from),
        )
    ]


def _follow_slots(unit: UnitOfWork, notes: Sequence[StoredMemory], note_id: str, slot: str | None) -> None:
    """Let the last note of a slot at each place put an end to those before it there."""
    last: dict[tuple[str, StoryPosition], str] = {}
    for other in sorted(notes, key=lambda memory: (len(memory.chunk.chunk_id), memory.chunk.chunk_id)):
        chunk = other.chunk
        new_slot = slot if chunk.chunk_id == note_id else chunk.slot_type
        key = (new_slot or "", StoryPosition(chunk.chapter_index, chunk.scene_index))
        is_active = new_slot is not None and other.status == "active"
        unit.memories.set_slot(chunk.chunk_id, new_slot, supersedes=last.get(key) if is_active else None)
        if is_active:
            last[key] = chunk.memory_id


def _follow_names(
    unit: UnitOfWork, gone: Sequence[StateChange], new: Sequence[StateChange], *, stores: MemoryStores
) -> None:
    """Give a card the name that a note states, and take back the one that it stated before."""
    from runtime.ingest.entities import store_entities_in, withdraw_names_in

    place_of = attrgetter("chapter_index", "scene_index")
    own_places = list(map(place_of, new))
    for change in gone:
        if change.attribute != NAME_ATTRIBUTE:
            continue
        stored_entity = unit.entities.get(change.entity_id)
        others = unit.states.stated(entity_ids=[change.entity_id], attributes=[NAME_ATTRIBUTE])
        place = (change.chapter_index, change.scene_index)
        of_note = [
            alias.alias
            for alias in (stored_entity.entity.aliases if stored_entity else [])
            if alias.alias == change.value and (alias.first_chapter, alias.first_scene) == place
        ]
        if of_note and not any(other.value == change.value and place_of(other) not in own_places for other in others):
            withdraw_names_in(unit, change.entity_id, of_note, is_whole=False, stores=stores)
    for change in new:
        bearer = unit.entities.require(change.entity_id)
        if change.attribute != NAME_ATTRIBUTE or name_key(change.value) in map(name_key, bearer.entity.names()):
            continue
        alias = EntityAlias(alias=change.value, first_chapter=change.chapter_index, first_scene=change.scene_index)
        entity = bearer.entity.model_copy(update={"aliases": [*bearer.entity.aliases, alias]})
        store_entities_in(unit, [entity], origin=bearer.origin, stores=stores)
        unit.entities.claim_aliases(change.entity_id, [change.value])


def hidden_namings(unit: UnitOfWork, name: str) -> dict[str, StoryMemoryChunk]:
    """Return the notes with a card's real name that not everybody may know, by the id of the card."""
    statements = [statement for statement in unit.knowledge.said() if statement.origin == "author"]
    hidden_ids = {statement.source_id for statement in statements if statement.kind == "hidden"}
    places_of_knowers = {
        (statement.source_id, statement.chapter_index, statement.scene_index)
        for statement in statements
        if statement.kind == "knows"
    }
    namings: dict[str, StoryMemoryChunk] = {}
    for note in notes_of(unit):
        chunk = note.chunk
        entity_id, _, attribute = (chunk.slot_type or "").partition(".")
        if attribute != NAME_ATTRIBUTE or note.status != "active":
            continue
        # Knowers from its beginning on are all that know it. A later one only learns it.
        beginning = (chunk.memory_id, chunk.chapter_index or 0, chunk.scene_index or 0)
        if chunk.memory_id not in hidden_ids and beginning not in places_of_knowers:
            continue
        values = [change.value for change in unit.states.of_note(chunk.chunk_id)]
        if name_key(name) in (name_key(value) for value in values if isinstance(value, str)):
            namings[entity_id] = chunk
    return namings


def _bearer(known_entities: Sequence[Entity], statement: Statement) -> Entity | None:
    """Return another card that bears a stated name."""
    if statement.attribute != NAME_ATTRIBUTE:
        return None
    key = name_key(statement.value)
    return next(
        (
            entity
            for entity in known_entities
            if entity.entity_id != statement.entity_id and key in map(name_key, entity.names())
        ),
        None,
    )
