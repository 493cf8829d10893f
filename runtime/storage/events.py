"""States, relationships and threads over story time: changes are appended, how a thing stands is their fold."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence, Set
from dataclasses import fields
from datetime import datetime
from functools import cache, partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

from pydantic import Field
from sqlalchemy import Text, case, cast, select
from sqlmodel import and_, col, or_

from novelgen.errors import UserInputError
from novelgen.memory.attributes import LOCATION_ATTRIBUTE, PLACES, PlaceNames, seen_alive, without_places_left
from novelgen.memory.identities import Identities
from novelgen.memory.outline import PairChange
from novelgen.models import folds
from novelgen.models.base import Model
from novelgen.models.position import END_OF_STORY, Place, StoryPosition, UtcDatetime, packed_place, story_place
from novelgen.models.record import RecordedLoop, RecordedRelationshipChange, is_unsaid
from novelgen.models.state import (
    PLACE_GUESSED,
    UNRESOLVED_STATUSES,
    EntityStateSnapshot,
    LoopStatus,
    OpenLoop,
    Relationship,
    StateChange,
    most_due,
)
from runtime.storage.entities import EntityRepository
from runtime.storage.projects import CounterRepository
from runtime.storage.records import NOTE, OF_CHAPTER, LoopEvent, Pair, RelationshipChange, Scene, State
from runtime.storage.session import (
    AnyRow,
    Repository,
    StorageSession,
    alias_of,
    before,
    columns_of,
    grouped,
    order_in_force,
    said_at,
    scene_ids_at,
    story_order,
    within,
)

if TYPE_CHECKING:
    from novelgen.memory.ledger import ThreadEvent


class Subject(NamedTuple):
    """What a change states something of, and where."""

    entity_id: str
    attribute: str
    chapter_index: int | None
    scene_index: int | None


def _subject(stated: State | StateChange) -> Subject:
    return Subject(stated.entity_id, stated.attribute, stated.chapter_index, stated.scene_index)


def _detail(change: StateChange, note_id: str | None) -> dict[str, Any]:
    """Return what is stored of an author's change beside its columns."""
    return {**({} if note_id is None else {NOTE: note_id}), **({OF_CHAPTER: True} if change.is_of_chapter else {})}


class _Dated(NamedTuple):
    change: StateChange
    created_at: datetime


_CHANGED = alias_of(State, "changed")
OUTER_PLACES = (*PLACES, folds.HOLDER_ATTRIBUTE)
"""Attributes that tell in what a place lies."""


class StateRepository(Repository):
    """Appends and folds state changes."""

    def append(self, changes: Sequence[StateChange], *, follows_scene: bool = True, note_id: str | None = None) -> None:
        """Append changes that no scene brings: they survive the re-ingest of the scene at their position.

        Args:
            changes: In the order in which they count.
            follows_scene: They go with the scenes at their places; else they keep their places between the scenes.
            note_id: The note that states them.
        """
        self._session.touch()
        places = {(change.chapter_index, change.scene_index) for change in changes}
        scene_ids = scene_ids_at(self._session, places) if follows_scene else {}
        now = self._session.now()
        dated_changes = ((change, scene_ids.get((change.chapter_index, change.scene_index))) for change in changes)
        self._session.add(
            *(
                State.of(change, created_at=now, scene_id=scene_id, detail=_detail(change, note_id))
                for change, scene_id in dated_changes
            )
        )

    def of_note(self, note_id: str, *, subjects: Sequence[Subject] = ()) -> list[StateChange]:
        """Return the changes that a note states; where none names it, the author's only one of each subject."""
        return [row.change() for row in self._rows_of_note(note_id, subjects)]

    def set_of_note(self, note_id: str, changes: Sequence[StateChange], *, subjects: Sequence[Subject] = ()) -> None:
        """Let a note state some changes, each at its rank among the others, or nothing any more."""
        self._session.touch()
        rows_by_subject = {_subject(row): row for row in self._rows_of_note(note_id, subjects)}
        kept_rows = [rows_by_subject.pop(_subject(change), None) for change in changes]
        gone_ids = [row.row_id for row in rows_by_subject.values() if row.row_id is not None]
        self._session.delete(State, self._session.among(State.row_id, gone_ids))
        for change, row in zip(changes, kept_rows, strict=True):
            if row is None:
                self.append([change], follows_scene=False, note_id=note_id)
            else:
                self._session.update(
                    State, State.row_id == row.row_id, value=change.value, detail=_detail(change, note_id)
                )

    def _rows_of_note(self, note_id: str, subjects: Sequence[Subject]) -> list[State]:
        is_named = cast(col(State.detail), Text).contains(f'"{note_id}"')
        by_author = State.origin == "author"
        rows = self._session.read(State, by_author, is_named, order=[col(State.row_id)])
        own_rows = [row for row in rows if row.detail.get(NOTE) == note_id]
        if own_rows:
            return own_rows
        # A project that was exported and imported has lost which note stated it.
        for subject in subjects:
            of_same = self._session.read(
                State, by_author, State.entity_id == subject.entity_id, State.attribute == subject.attribute
            )
            there = [row for row in of_same if _subject(row) == subject and NOTE not in row.detail]
            own_rows += there if len(there) == 1 else []
        return own_rows

    def changes_of(self, entity_ids: Sequence[str] | None = None) -> list[StateChange]:
        """Return all changes in order, None meaning all entities."""
        of_these = [] if entity_ids is None else [self._session.among(State.entity_id, entity_ids)]
        return [row.change() for row in self._session.read(State, *of_these, order=order_in_force(State))]

    def changes_before(self, as_of: StoryPosition, *, entity_ids: Sequence[str]) -> list[StateChange]:
        """Return the changes of entities before a position, and every stated holder, as they count."""
        identities = _identities(self._session, as_of)
        return identities.states(self.of_cards_before(as_of, card_ids=identities.cards(entity_ids)))

    def of_cards_before(self, as_of: StoryPosition, *, card_ids: Sequence[str]) -> list[StateChange]:
        """Return the same as it stands on cards."""
        condition: Any = State.attribute == folds.HOLDER_ATTRIBUTE
        if card_ids:
            condition = or_(condition, self._session.among(State.entity_id, card_ids))
        rows = self._session.read(State, before(as_of, State), condition, order=order_in_force(State))
        return [row.change() for row in self._session.own(rows)]

    def stated(
        self,
        *,
        since: StoryPosition | None = None,
        as_of: StoryPosition = END_OF_STORY,
        entity_ids: Collection[str] | None = None,
        attributes: Collection[str] | None = None,
    ) -> list[StateChange]:
        """Return statements in a range of positions, in order."""
        identities = _identities(self._session, as_of)
        condition = before(as_of, State) if since is None else within(since, as_of, State)
        ids = None if entity_ids is None else identities.cards(entity_ids)
        return identities.states(self._explicit(condition, *self._conditions(ids, attributes)))

    def stated_in(self, at: StoryPosition, *, entity_ids: Sequence[str]) -> list[StateChange]:
        """Return a scene's statements on entities and holders, in order."""
        named_condition = self._session.among(State.entity_id, entity_ids)
        wanted_condition = or_(State.attribute == folds.HOLDER_ATTRIBUTE, named_condition)
        return self._explicit(
            State.chapter_index == at.chapter_index, State.scene_index == at.scene_index, wanted_condition
        )

    def standing_before(
        self, as_of: StoryPosition, *, attributes: Collection[str], entity_ids: Collection[str] | None = None
    ) -> list[StateChange]:
        """Return the last statement of each attribute before a position."""
        identities = _identities(self._session, as_of)
        ids = None if entity_ids is None else identities.cards(entity_ids)
        stated = (State.kind == "explicit", before(as_of, State), *self._conditions(ids, attributes))
        columns = [col(State.row_id), col(State.entity_id), col(State.attribute)]
        rows = self._session.select(columns, *stated, order=order_in_force(State))
        last = {(identities.person(row[1]), row[2]): row[0] for row in rows}
        return identities.states(self._explicit(self._session.among(State.row_id, last.values()))) if last else []

    def changed_between(self, since: StoryPosition, until: StoryPosition) -> list[str]:
        """Return the ids of the entities of which something was stated from one position on until another, in order."""
        stated = (State.kind == "explicit", within(since, until, State))
        person = _identities(self._session, until).person
        return sorted(set(map(person, self._session.values(State.entity_id, *stated))))

    def unverified(self, *, scene_id: str | None = None) -> list[StateChange]:
        """Return the changes that no quote of their scene proves, of one scene or of all, in story order."""
        here = [] if scene_id is None else [State.scene_id == scene_id]
        order = (*story_order(State), col(State.row_id))
        return [row.change() for row in self._session.read(State, ~col(State.verified), *here, order=order)]

    def snapshots(self, entity_ids: Sequence[str], *, as_of: StoryPosition = END_OF_STORY) -> list[EntityStateSnapshot]:
        """Return snapshots at a position in the given order, without empty ones.

        A snapshot's timestamp is that of the last write that went into it; `holds` is derived from the holders.
        """
        # With those of the entities every stated holder is read: what somebody holds is said of the things.
        is_of_places = self._states_of_places()
        identities = _identities(self._session, as_of)
        is_holder = and_(State.attribute == folds.HOLDER_ATTRIBUTE, State.kind == "explicit")
        is_of_these = self._session.among(State.entity_id, set(identities.cards(entity_ids)))
        wanted_condition = or_(is_of_these, is_holder, is_of_places)
        rows = self._session.read(State, before(as_of, State), wanted_condition, order=order_in_force(State))
        holders_by_id = folds.fold_holders(
            (identities.person(row.entity_id), identities.person(row.value) if row.value else row.value)
            for row in rows
            if (row.attribute, row.kind) == (folds.HOLDER_ATTRIBUTE, "explicit")
        )
        by_entity = _by_entity(rows, first_chapter=math.inf, identities=identities)
        is_at = self._places_at(as_of, rows)
        snapshots = (
            _snapshot(self.project_id, by_entity.get(person, []), as_of, identities, is_at=is_at)
            for person in dict.fromkeys(map(identities.person, entity_ids))
        )
        return [
            snapshot.model_copy(update={"holds": holders_by_id.get(snapshot.entity_id, [])})
            for snapshot in snapshots
            if snapshot is not None
        ]

    def snapshots_around(
        self, chapter_index: int, chapters_around: int, *, as_of: StoryPosition = END_OF_STORY
    ) -> list[EntityStateSnapshot]:
        """Return the states of the timeline around a chapter.

        Each is an entity's state at the end of a chapter that changed it.

        Args:
            chapter_index: The chapter in the middle.
            chapters_around: Chapters before and after it, both ends included; below 0 it counts as 0.
            as_of: Changes strictly before this position.
        """
        reach = max(0, chapters_around)
        from_chapter, to_chapter = chapter_index - reach, chapter_index + reach
        in_range = (_CHANGED.chapter_index.between(from_chapter, to_chapter), before(as_of, _CHANGED))
        changed_ids = select(_CHANGED.entity_id).where(_CHANGED.project_id == self.project_id, *in_range)
        is_of_places = self._states_of_places()
        identities = _identities(self._session, as_of)
        masked = self._session.among(State.entity_id, identities.cards(identities.persons))
        # A place that nothing changed in these chapters has no snapshot: its states tell where it lies.
        is_changed = or_(col(State.entity_id).in_(changed_ids), masked, is_of_places)
        rows = self._session.read(State, before(as_of, State), is_changed, order=order_in_force(State))
        by_entity = _by_entity(rows, first_chapter=from_chapter, identities=identities)
        is_at = self._places_at(as_of, rows)
        snapshots = [
            snapshot
            for dated_changes in by_entity.values()
            for chapter in folds.chapters_of_change(
                [one.change for one in dated_changes], first=from_chapter, last=to_chapter
            )
            if (
                snapshot := _snapshot(
                    self.project_id, dated_changes, min(StoryPosition(chapter + 1), as_of), identities, is_at=is_at
                )
            )
            is not None
        ]
        return sorted(snapshots, key=folds.snapshot_order)

    def _states_of_places(self) -> Any:
        """Return the condition of what is stated of where locations lie."""
        is_of_location = self._session.among(State.entity_id, self._location_ids())
        return and_(is_of_location, col(State.attribute).in_(OUTER_PLACES), State.kind == "explicit")

    def _location_ids(self) -> list[str]:
        cards = (stored_entity.entity for stored_entity in EntityRepository(self._session).place_cards())
        return [card.entity_id for card in cards if card.entity_type == "location"]

    def _places_at(self, as_of: StoryPosition, rows: Sequence[State]) -> Callable[[Any, str], bool]:
        """Return the comparison of two places, by the names that the story has told before a position.

        Args:
            as_of: A later name of a place must not tell that it lies in another.
            rows: Changes before the position in order, with those of `_states_of_places`.
        """
        entities = EntityRepository(self._session)
        person = _identities(self._session, as_of).person
        outer_places = _outer_places(rows, set(self._location_ids()), person=person)

        @cache
        def all_names() -> PlaceNames:
            names: defaultdict[str, list[str]] = defaultdict(list)
            for card in (stored_entity.entity for stored_entity in entities.place_cards()):
                names[person(card.entity_id)] += card.names()
            return PlaceNames(names, outer_places)

        @cache
        def told_names() -> PlaceNames:
            return PlaceNames({place.entity_id: place.names() for place in entities.places_as_of(as_of)}, outer_places)

        # Only where some name agrees, the scenes that first tell the names are read.
        return lambda value, location_id: (
            value == location_id or (all_names().is_at(value, location_id) and told_names().is_at(value, location_id))
        )

    def _explicit(self, *conditions: Any) -> list[StateChange]:
        rows = self._session.read(State, State.kind == "explicit", *conditions, order=order_in_force(State))
        return [row.change() for row in self._session.own(rows)]

    def _conditions(self, entity_ids: Collection[str] | None, attributes: Collection[str] | None) -> list[Any]:
        filters = ((col(State.entity_id), entity_ids), (col(State.attribute), attributes))
        return [self._session.among(column, values) for column, values in filters if values is not None]


def _identities(session: StorageSession, as_of: StoryPosition) -> Identities:
    """Return the identities revealed before a position."""
    return EntityRepository(session).identities_as_of(as_of)


def _outer_places(
    rows: Sequence[State], location_ids: Set[str], *, person: Callable[[str], str]
) -> dict[str, list[Any]]:
    """Return in what each location was last said to lie."""
    last = {
        (person(row.entity_id), row.attribute): row.value
        for row in rows
        if row.entity_id in location_ids and row.kind == "explicit" and row.attribute in OUTER_PLACES
    }
    outer_places: defaultdict[str, list[Any]] = defaultdict(list)
    for (location_id, _), outer in last.items():
        outer_places[location_id].extend([outer] if outer else [])
    return outer_places


def _by_entity(rows: Sequence[State], *, first_chapter: float, identities: Identities) -> Mapping[str, list[_Dated]]:
    """Return the changes by person, without those replaced before a chapter."""
    by_person: defaultdict[str, list[State]] = defaultdict(list)
    for row in rows:
        by_person[identities.person(row.entity_id)].append(row)
    return {
        person: _counting(of_person, first_chapter if identities.cards([person]) == [person] else -math.inf)
        for person, of_person in by_person.items()
    }


def _counting(rows: Sequence[State], first_chapter: float) -> list[_Dated]:
    """Return the first change, and those not replaced before a chapter."""
    before_it = sum(row.chapter_index is None or row.chapter_index < first_chapter for row in rows)
    last = {_replaced_by(row): number for number, row in enumerate(rows[:before_it])}
    # The moment of the last write goes on with what stays, and the first change of all stays for its type.
    latest = max((row.created_at for row in rows[:before_it]), default=rows[0].created_at)
    return [
        _Dated(rows[number].change(), max(latest, rows[number].created_at))
        for number in (*sorted({0, *last.values()} if last else ()), *range(before_it, len(rows)))
    ]


def _replaced_by(row: State) -> tuple[Any, ...]:
    """Return what a later change has in common with the one that it replaces.

    A sight ends a stay elsewhere, also where a sight at another place or a guess comes after it.
    """
    sight = row.value if row.kind == "presence" and isinstance(row.value, Mapping) else {}
    where = (sight.get(LOCATION_ATTRIBUTE), bool(sight.get(PLACE_GUESSED)))
    return (row.kind, row.attribute, folds.is_guessed_presence(row.value), *where)


def stated_as_of(session: StorageSession, as_of: StoryPosition) -> tuple[dict[str, list[str]], list[str]]:
    """Return the holders strictly before a position, by the last `holder`, and all ids stated of, the last first."""
    identities = _identities(session, as_of)
    is_holder = col(State.attribute) == folds.HOLDER_ATTRIBUTE
    columns = [col(State.entity_id), is_holder, case((is_holder, col(State.value)))]
    rows = session.select(columns, State.kind == "explicit", before(as_of, State), order=order_in_force(State))
    person = identities.person
    holders = folds.fold_holders((person(row[0]), person(row[2]) if row[2] else row[2]) for row in rows if row[1])
    return holders, folds.last_changed_first([person(row[0]) for row in rows])


def _told_by(row: AnyRow, kind: type[Any]) -> dict[str, Any]:
    """Return a row's values for a dataclass."""
    return {field.name: getattr(row, field.name) for field in fields(kind)}


def _snapshot(
    project_id: str,
    dated_changes: Sequence[_Dated],
    as_of: StoryPosition,
    identities: Identities,
    *,
    is_at: Callable[[Any, str], bool],
) -> EntityStateSnapshot | None:
    visible = [one for one in dated_changes if as_of.admits(one.change.chapter_index, one.change.scene_index)]
    if not visible:
        return None
    timestamp = max(one.created_at for one in visible)
    changes, doubted = without_places_left(seen_alive(identities.states([one.change for one in visible])), is_at)
    snapshot = folds.snapshot_of(project_id, changes, as_of=as_of, timestamp=timestamp, doubted=doubted)
    last = [one.by_author for one in changes if one.kind == "explicit"][-1:]
    return snapshot and snapshot.model_copy(update={"by_author": last == [True]})


class PairNotes(NamedTuple):
    """A pair's times of storage and change, and foreign document fields."""

    created_at: datetime | None = None
    updated_at: datetime | None = None
    other_fields: Mapping[str, Any] = MappingProxyType({})


class RelationshipRepository(Repository):
    """Appends and folds the changes of relationships."""

    def append(self, change: RecordedRelationshipChange, *, at: StoryPosition, follows_scene: bool = True) -> str:
        """Append an author's statement on a pair, kept through re-ingest."""
        self._session.touch()
        return self.insert_changes([change], said_at(self._session, at, follows_scene=follows_scene))[0]

    def insert_changes(self, changes: Sequence[RecordedRelationshipChange], position: dict[str, Any]) -> list[str]:
        """Insert changes of one scene, and return the ids."""
        relationship_ids = [self.id_of(change.character_a, change.character_b) for change in changes]
        rows = [
            folds.relationship_change_values(change) | position | {"relationship_id": relationship_id}
            for change, relationship_id in zip(changes, relationship_ids, strict=True)
        ]
        self._session.insert(RelationshipChange, rows)
        changed = self._session.among(Pair.relationship_id, set(relationship_ids))
        self._session.update(Pair, changed, updated_at=self._session.now())
        return relationship_ids

    def list_as_of(
        self, *, as_of: StoryPosition = END_OF_STORY, character_id: str | None = None, status: str | None = None
    ) -> list[Relationship]:
        """Return how pairs stand at a position, in order of relationship id."""
        ids = [] if character_id is None else _identities(self._session, as_of).cards([character_id])
        involved = or_(self._session.among(Pair.character_a, ids), self._session.among(Pair.character_b, ids))
        relationships = self._fold(as_of, *([involved] if ids else []))
        return [relation for relation in relationships if status is None or relation.status == status]

    def changes_between(
        self, character_ids: Sequence[str], *, as_of: StoryPosition = END_OF_STORY
    ) -> dict[str, list[PairChange]]:
        """Return the single changes of the pairs among some characters, by relationship id, as they count."""
        ids = _identities(self._session, as_of).cards(character_ids)
        both = (col(Pair.character_a), col(Pair.character_b))
        return self._by_pair(as_of, *(self._session.among(mapped, ids) for mapped in both))

    def of_cards_between(self, card_ids: Sequence[str], *, as_of: StoryPosition) -> list[PairChange]:
        """Return the same as it stands on cards."""
        both = (col(Pair.character_a), col(Pair.character_b))
        of_cards = (self._session.among(mapped, card_ids) for mapped in both)
        rows = self._changes(before(as_of, RelationshipChange), *of_cards)
        return [PairChange(**_told_by(row, PairChange)) for row in rows]

    def between(self, character: str, other: str, *, as_of: StoryPosition = END_OF_STORY) -> Relationship | None:
        """Return how two characters stand at a position, asked in either order, or None when nothing is known."""
        identities = _identities(self._session, as_of)
        sides = (identities.cards([character]), identities.cards([other]))
        is_pair = or_(
            *(
                and_(self._session.among(Pair.character_a, first), self._session.among(Pair.character_b, second))
                for first, second in (sides, sides[::-1])
            )
        )
        return next(iter(self._fold(as_of, is_pair)), None)

    def about_pair(self, relationship_id: str) -> PairNotes:
        """Return a pair's times and notes, empty if unknown."""
        columns = columns_of(Pair, PairNotes._fields)
        row = self._session.one(columns, Pair.relationship_id == relationship_id)
        return PairNotes() if row is None else PairNotes(*row)

    def stated(self) -> list[PairChange]:
        """Return statements on pairs in order, by scenes and the author."""
        return [PairChange(**_told_by(row, PairChange)) for row in self._changes()]

    def id_of(self, character: str, other: str) -> str:
        """Return a pair's id in either order, allocating the next."""
        first, second = sorted((character, other))
        if first == second:
            raise UserInputError(f"a relationship needs two characters, but both are {first!r}")
        known_value = self._session.value(Pair.relationship_id, _is_pair(first, second))
        if known_value is not None:
            return str(known_value)
        relationship_id = CounterRepository(self._session).take("R")
        now = self._session.now()
        pair = Pair(relationship_id=relationship_id, character_a=first, character_b=second)
        self._session.add(pair.model_copy(update={"created_at": now, "updated_at": now}))
        return relationship_id

    def _changes(self, *conditions: Any) -> Sequence[AnyRow]:
        changes = RelationshipChange
        of_pair = and_(*(getattr(Pair, name) == getattr(changes, name) for name in ("project_id", "relationship_id")))
        columns = (*columns_of(changes, changes.model_fields), col(Pair.character_a), col(Pair.character_b))
        statement = select(*columns).join_from(changes, Pair, of_pair)
        statement = statement.where(self._session.owns(changes), *conditions).order_by(*order_in_force(changes))
        return self._session.own(self._session.rows(statement))

    def _by_pair(self, as_of: StoryPosition, *conditions: Any) -> dict[str, list[PairChange]]:
        """Return changes by pair."""
        rows = self._changes(before(as_of, RelationshipChange), *conditions)
        return _identities(self._session, as_of).pairs(PairChange(**_told_by(row, PairChange)) for row in rows)

    def _fold(self, as_of: StoryPosition, *conditions: Any) -> list[Relationship]:
        """Return folded pairs."""
        relations = [
            folds.folded_relationship(
                changes,
                relationship_id=relationship_id,
                character_a=changes[-1].character_a,
                character_b=changes[-1].character_b,
            )
            for relationship_id, changes in self._by_pair(as_of, *conditions).items()
        ]
        return sorted(relations, key=lambda relation: (len(relation.relationship_id), relation.relationship_id))


def _is_pair(first: str, second: str) -> Any:
    return and_(Pair.character_a == first, Pair.character_b == second)


class ThreadNotes(Model):
    """An author's notes on a thread, and its planting."""

    notes: str = ""
    created_at: UtcDatetime | None = None
    pay_off: str = Field(default="", exclude_if=is_unsaid, description="What its pay-off needs.")
    due_from: tuple[int, int] | None = Field(
        default=None, exclude_if=is_unsaid, description="It is due on entering this scene."
    )
    due_by: tuple[int, int] | None = Field(
        default=None, exclude_if=is_unsaid, description="Open on entering this scene, it is overdue."
    )
    parts: int | None = Field(default=None, exclude_if=is_unsaid, description="In how many parts it is to be paid.")


_MOVE_COLUMNS = columns_of(LoopEvent, ("project_id", "loop_id", "kind", "chapter_index", "scene_index", "origin"))
"""What tells how a thread stands, without the words about it."""

_PLAN_FIELDS = ("pay_off", "due_from", "due_by", "parts")
"""Of the description of a thread, what its author means to do with it."""


class ThreadRepository(Repository):
    """Appends and folds the events of open loops."""

    def next_id(self) -> str:
        """Return an id that no loop has yet."""
        return CounterRepository(self._session).take("OL")

    def append(
        self,
        event: folds.RecordedLoopEvent,
        *,
        at: StoryPosition,
        follows_scene: bool = True,
        said_from: Place | None = None,
    ) -> None:
        """Append an author's statement on a thread, kept through re-ingest.

        Args:
            event: What is said.
            at: The place after which it holds.
            follows_scene: It goes with the scene at its place.
            said_from: The scene in which it happens, where that is not the one at its place.
        """
        self._session.touch()
        if not isinstance(event, RecordedLoop) and self.get(event.id) is None:
            raise UserInputError(f"no thread {event.id!r} is stored; plant it first")
        here = said_at(self._session, at, follows_scene=follows_scene)
        values = folds.loop_event_values(event)
        if said_from is not None:
            values["detail"] = {**values["detail"], "said_from": list(said_from)}
        self._session.add(LoopEvent(**values, **here))
        CounterRepository(self._session).jump_over([event.id])

    def endings(self, *, as_of: StoryPosition = END_OF_STORY) -> dict[str, str]:
        """Return ended threads at a position, by author or record."""
        rows_by_thread = self._rows_by_thread(as_of, columns=_MOVE_COLUMNS)
        loop_folds_by_id = {text: folds.fold_loop_events(rows) for text, rows in rows_by_thread.items()}
        return {text: fold.last.origin for text, fold in loop_folds_by_id.items() if fold.is_over}

    def take_back_ending(self, loop_id: str, *, as_of: StoryPosition = END_OF_STORY) -> None:
        """Delete the author's last ending of a thread at a position."""
        self._session.touch()
        rows = self._rows_by_thread(as_of, [loop_id]).get(loop_id, [])
        fold = folds.fold_loop_events(rows) if rows else None
        if fold is None or not fold.is_over:
            raise UserInputError(f"thread {loop_id!r} has not ended by then; there is nothing to take back")
        if fold.last.origin != "author":
            raise UserInputError(
                f"that thread {loop_id!r} ended stands in the record of scene"
                f" {fold.last.chapter_index}:{fold.last.scene_index}; correct the record there"
            )
        self._session.delete(LoopEvent, LoopEvent.row_id == fold.last.row_id)

    def describe(self, loop_id: str, changes: Mapping[str, Any]) -> None:
        """Change a thread's description at its planting, kept through re-ingest."""
        self._session.touch()
        planted_row = self._planting_rows(END_OF_STORY).get(loop_id)
        if planted_row is None:
            raise UserInputError(f"no thread {loop_id!r} is stored; plant it first")
        detail = {**planted_row.detail, **changes, **({folds.OWN_WORDS: True} if "description" in changes else {})}
        if planted_row.origin == "author":
            self._session.update(LoopEvent, LoopEvent.row_id == planted_row.row_id, detail=detail)
            return
        names = ("scene_id", "chapter_index", "scene_index", "loop_id", "kind", "note")
        self._session.add(LoopEvent(**{name: getattr(planted_row, name) for name in names}, detail=detail))

    def move_planting(self, loop_id: str, *, at: StoryPosition, said_from: Place | None) -> None:
        """Plant an author's thread elsewhere.

        Args:
            loop_id: The thread.
            at: The place after which it waits.
            said_from: The scene in which it is planted, None where that is the one at the place.
        """
        self._session.touch()
        rows = self._rows_by_thread(END_OF_STORY, [loop_id]).get(loop_id, [])
        plantings = [row for row in rows if row.kind == "planted"]
        recorded = next((row for row in plantings if row.origin != "author"), None)
        if recorded is not None:
            raise UserInputError(
                f"that thread {loop_id!r} is planted stands in the record of scene"
                f" {recorded.chapter_index}:{recorded.scene_index}; correct the record there"
            )
        earlier = next((row for row in rows if row.kind != "planted" and story_place(row) < story_place(at)), None)
        if earlier is not None:
            raise UserInputError(
                f"thread {loop_id!r} moved or ended at {earlier.chapter_index}:{earlier.scene_index}, before"
                f" {at}; take that back first, or name an earlier scene"
            )
        here = said_at(self._session, at, follows_scene=False)
        for row in plantings:
            detail = {name: value for name, value in row.detail.items() if name != "said_from"}
            if said_from is not None:
                detail["said_from"] = list(said_from)
            self._session.update(LoopEvent, LoopEvent.row_id == row.row_id, detail=detail, **here)

    def notes(self, *, as_of: StoryPosition = END_OF_STORY) -> dict[str, ThreadNotes]:
        """Return the author's notes on planted threads, with their plantings."""
        return {
            loop_id: ThreadNotes(
                notes=row.detail.get("notes", ""),
                created_at=row.detail.get("created_at") or row.stored_at,
                **{name: row.detail[name] for name in _PLAN_FIELDS if row.detail.get(name)},
            )
            for loop_id, row in self._planting_rows(as_of).items()
        }

    def _planting_rows(self, as_of: StoryPosition) -> dict[str, AnyRow]:
        statement = (
            select(*columns_of(LoopEvent, LoopEvent.model_fields), col(Scene.created_at).label("stored_at"))
            .join_from(LoopEvent, Scene, col(Scene.scene_id) == col(LoopEvent.scene_id), isouter=True)
            .where(self._session.owns(LoopEvent), col(LoopEvent.kind) == "planted", before(as_of, LoopEvent))
            .order_by(*order_in_force(LoopEvent))
        )
        by_loop = grouped(self._session.own(self._session.rows(statement)), "loop_id")
        results = {loop_id: folds.fold_loop_events(rows).planted for loop_id, rows in by_loop.items()}
        return {loop_id: row for loop_id, row in results.items() if row is not None}

    def get(self, loop_id: str, *, as_of: StoryPosition = END_OF_STORY) -> OpenLoop | None:
        """Return a loop as it stands at a position, or None when it is not planted by then."""
        return next(iter(self._fold_rows(as_of, [loop_id])), None)

    def list_as_of(
        self,
        *,
        as_of: StoryPosition = END_OF_STORY,
        statuses: Sequence[LoopStatus] = UNRESOLVED_STATUSES,
        loop_ids: Collection[str] | None = None,
    ) -> list[OpenLoop]:
        """Return the loops of these statuses at a position, in the order in which they were planted."""
        return [loop for loop in self._fold_rows(as_of, loop_ids) if loop.status in statuses]

    def count_waiting(self, *, as_of: StoryPosition = END_OF_STORY) -> int:
        """Count unresolved threads at a position, without details."""
        rows_by_thread = self._rows_by_thread(as_of, columns=_MOVE_COLUMNS)
        loop_folds = [folds.fold_loop_events(rows) for rows in rows_by_thread.values()]
        return sum(fold.planted is not None and fold.status in UNRESOLVED_STATUSES for fold in loop_folds)

    def due(self, *, as_of: StoryPosition = END_OF_STORY, limit: int = 10) -> list[OpenLoop]:
        """Return the unresolved loops that are most due (see `most_due`)."""
        return most_due(self.list_as_of(as_of=as_of), limit)

    def events(self, *, as_of: StoryPosition = END_OF_STORY) -> dict[str, list[ThreadEvent]]:
        """Return thread events before a position, in order."""
        from novelgen.memory.ledger import ThreadEvent

        return {
            loop_id: [ThreadEvent(**_told_by(row, ThreadEvent)) for row in rows]
            for loop_id, rows in self._rows_by_thread(as_of).items()
        }

    def _fold_rows(self, as_of: StoryPosition, loop_ids: Collection[str] | None = None) -> list[OpenLoop]:
        by_loop = self._rows_by_thread(as_of, loop_ids)
        places = self._session.once(("scene_places", as_of), lambda: self._scene_places(as_of)) if by_loop else []
        loops = [folds.folded_loop(events, age_scenes=partial(_age, places=places)) for events in by_loop.values()]
        person = _identities(self._session, as_of).person
        return [
            loop.model_copy(update={"related_entities": list(dict.fromkeys(map(person, loop.related_entities)))})
            for loop in loops
            if loop is not None
        ]

    def _scene_places(self, as_of: StoryPosition) -> list[int]:
        """Return a number per stored scene before the position, ascending as the story goes."""
        columns = (col(Scene.chapter_index), col(Scene.scene_index))
        joined_names = self._session.joined_integers(columns, self._session.owns(Scene), before(as_of, Scene))
        chapters, scenes = (map(int, text.split(",")) if text else () for text in joined_names)
        return sorted(map(packed_place, chapters, scenes))

    def _rows_by_thread(
        self, as_of: StoryPosition, loop_ids: Collection[str] | None = None, *, columns: Sequence[Any] = ()
    ) -> dict[str, list[Any]]:
        of_these = [] if loop_ids is None else [self._session.among(LoopEvent.loop_id, loop_ids)]
        conditions, order = (before(as_of, LoopEvent), *of_these), order_in_force(LoopEvent)
        if columns:
            return grouped(self._session.select(columns, *conditions, order=order), "loop_id")
        return grouped(self._session.read(LoopEvent, *conditions, order=order), "loop_id")


def _age(planted_row: AnyRow, *, places: list[int]) -> int | None:
    chapter, scene = planted_row.chapter_index, planted_row.scene_index
    if chapter is None:
        return None
    end = packed_place(chapter + 1, 0) - 1 if scene is None else packed_place(chapter, scene)
    return len(places) - bisect_right(places, end)
