"""Places of statements that hold from a position on, and where they go when scenes move."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from typing import Any

from sqlalchemy import Text, cast, exists, func, literal_column
from sqlmodel import and_, col, or_

from novelgen.models.entity import DATED, SAID_FROM
from runtime.storage.chunks import ChunkWriter
from runtime.storage.columns import PLACE, ScenePlace
from runtime.storage.records import EVENT_TABLES, TOUCHED_BY_HAND, EntityRow, LoopEvent, MemoryRow, NameMention
from runtime.storage.session import Place, Record, StorageSession, columns_of, table_name

PlaceFields = dict[str, list[int | None] | None]
"""Names of positions of a row to their chapters and scenes."""

_ENTERED = (SAID_FROM, "due_from", "due_by")
"""Positions in the detail of a thread's event: something begins on entering them."""

_AFTER_ALL = float("inf")


class StoryOrder:
    """Scenes in their order before and after a move, by which positions between scenes are carried over.

    A position lies between the scene before it and the scene after it. It stays between the two while they stay
    together. Else it stays just before the next scene that is not itself moved, so that neither a scene that is
    moved away takes it along, nor a scene that comes in reads it early.

    Args:
        places: The scenes before the move.
        new_places: Scenes to their new places; the others stay.
        moved: The scenes that change their place in the order.
        chapter_of: The new number of a chapter.
    """

    def __init__(
        self,
        places: Iterable[ScenePlace],
        new_places: Mapping[ScenePlace, ScenePlace],
        *,
        moved_places: Collection[ScenePlace],
        chapter_of: Callable[[int], int],
    ) -> None:
        self._old = sorted(places)
        self._new = [new_places.get(place, place) for place in self._old]
        self._order = sorted(self._new)
        self._stays = [place not in moved_places for place in self._old]
        self._chapter_of = chapter_of

    def place_after_move(self, place: Place) -> Place:
        """Return the new place of a statement that holds after a place.

        Args:
            place: Chapter and scene; no scene means after the whole chapter.
        """
        chapter, scene = place
        if chapter is None:
            return place
        number = bisect_right(self._old, (chapter, _AFTER_ALL if scene is None else scene))
        if 0 < number < len(self._old) and self._is_gap_as_before(number):
            shifted = self._shifted(number, chapter, scene)
            if self._new[number - 1] <= _key(shifted) < self._new[number]:
                return shifted
        following = self._following(number)
        if following is not None:
            return self._before(following, is_chapter=scene is None)
        last = self._order[-1] if self._order else None
        if last is None or (number and self._old[number - 1] == place):
            return last or place
        beyond = self._chapter_of(chapter), scene
        return beyond if _key(beyond) >= last else last

    def position_after_move(self, chapter: int, scene: int) -> ScenePlace:
        """Return the new position of something that begins on entering a scene or, with scene 0, a chapter."""
        number = bisect_left(self._old, (chapter, scene))
        if number < len(self._old) and self._old[number] == (chapter, scene):
            following = self._following(number)
            return following or (self._order[-1][0], self._order[-1][1] + 1)
        before: Place = (chapter, scene - 1) if scene else (chapter - 1, None)
        new_chapter, new_scene = self.place_after_move(before) if chapter else (None, None)
        if new_chapter is None:
            return chapter, scene
        return (new_chapter + 1, scene) if new_scene is None else (new_chapter, new_scene + 1)

    def _is_gap_as_before(self, number: int) -> bool:
        """Tell whether a scene follows the one before it as closely as it did."""
        old, new = ((places[number - 1], places[number]) for places in (self._old, self._new))
        if not self._are_neighbours(number) or new[1][0] - new[0][0] != old[1][0] - old[0][0]:
            return False
        return old[0][0] != old[1][0] or new[1][1] - new[0][1] == old[1][1] - old[0][1]

    def _are_neighbours(self, number: int) -> bool:
        rank = bisect_left(self._order, self._new[number])
        return rank > 0 and self._order[rank - 1] == self._new[number - 1]

    def _shifted(self, number: int, chapter: int, scene: int | None) -> Place:
        """Return a place between two scenes as far from them as it was."""
        (old_before, old_after), (before, after) = (
            (places[number - 1], places[number]) for places in (self._old, self._new)
        )
        if scene is None:
            return chapter - old_before[0] + before[0], None
        if chapter == old_before[0]:
            return before[0], scene - old_before[1] + before[1]
        if chapter == old_after[0]:
            return after[0], max(0, scene - old_after[1] + after[1])
        return chapter - old_before[0] + before[0], scene

    def _following(self, number: int) -> ScenePlace | None:
        """Return the present scene after a position, None for the end."""
        if 0 < number < len(self._old) and self._are_neighbours(number):
            return self._new[number]
        staying = (new for new, stays in zip(self._new[number:], self._stays[number:], strict=True) if stays)
        return next(staying, None)

    def _before(self, scene_place: ScenePlace, *, is_chapter: bool) -> Place:
        chapter, scene = scene_place
        rank = bisect_left(self._order, scene_place)
        previous = self._order[rank - 1] if rank else None
        if is_chapter and chapter and (previous is None or previous[0] < chapter):
            return chapter - 1, None
        if scene:
            return chapter, scene - 1
        return previous or (None, None)


def moved_out_of_order(places: Iterable[ScenePlace], new_places: Mapping[ScenePlace, ScenePlace]) -> set[ScenePlace]:
    """Return the fewest scenes without which the others keep their order."""
    listed_places = sorted(places)
    new = [new_places.get(place, place) for place in listed_places]
    # The longest increasing subsequence: per length the least last element, with the one before it.
    ends: list[int] = []
    tails: list[ScenePlace] = []
    previous: list[int | None] = []
    for number, place in enumerate(new):
        length = bisect_left(tails, place)
        previous.append(ends[length - 1] if length else None)
        ends[length : length + 1] = [number]
        tails[length : length + 1] = [place]
    staying: set[int] = set()
    current = ends[-1] if ends else None
    while current is not None:
        staying.add(current)
        current = previous[current]
    return {place for number, place in enumerate(listed_places) if number not in staying}


def _key(place: Place) -> tuple[float, float]:
    chapter, scene = place
    return -1 if chapter is None else chapter, _AFTER_ALL if scene is None else scene


def last_rows(fields: Iterable[str]) -> dict[str, int]:
    """Return by table the greatest number of a statement."""
    last: dict[str, int] = {}
    for key in fields:
        table, number = _table_and_number(key)
        last[table] = max(number, last.get(table, number))
    return last


def is_among(key: str, last: Mapping[str, int]) -> bool:
    """Tell whether a statement was stored when those of its table ended with a number."""
    table, number = _table_and_number(key)
    return number <= last.get(table, -1)


def _table_and_number(key: str) -> tuple[str, int]:
    table, _, number = key.rpartition(":")
    return table, int(number)


_STATED: tuple[Any, ...] = (MemoryRow, *EVENT_TABLES)

_BEGINNING = ([0, 0], [1, 0])
"""Places of cards that are known from the beginning, whichever scene is the first."""


class SaidPlaces:
    """Reads and writes the positions that an author said, apart from any scene."""

    def __init__(self, session: StorageSession) -> None:
        self._session = session

    def read(self) -> dict[str, PlaceFields]:
        """Return the positions of every statement by its table and number."""
        fields: defaultdict[str, PlaceFields] = defaultdict(dict)
        for table in _STATED:
            columns = columns_of(table, ("row_id", *PLACE))
            free = (table.scene_id.is_(None), table.chapter_index.is_not(None))
            for row in self._session.select(columns, *free):
                fields[f"{table_name(table)}:{row[0]}"]["place"] = [row[1], row[2]]
        ended_condition: tuple[Any, ...] = (literal_column(f"({TOUCHED_BY_HAND})"), col(MemoryRow.over_at).is_not(None))
        for row in self._session.select([col(MemoryRow.row_id), col(MemoryRow.over_at)], *ended_condition):
            fields[f"{table_name(MemoryRow)}:{row.row_id}"]["over_at"] = row.over_at
        condition = or_(*(cast(LoopEvent.detail, Text).contains(f'"{name}"') for name in _ENTERED))
        for row in self._session.select([LoopEvent.row_id, LoopEvent.detail], condition):
            positions = {name: row.detail[name] for name in _ENTERED if row.detail.get(name)}
            fields[f"{table_name(LoopEvent)}:{row.row_id}"].update(positions)
        dated_condition = cast(EntityRow.profile, Text).contains(f'"{DATED}"')
        for card in self._session.read(EntityRow, dated_condition):
            fields[f"{table_name(EntityRow)}:{card.row_id}"].update(
                {f"{DATED}:{number}": start for number, start in _starts(card.profile[DATED])}
            )
        for card in self._session.read(EntityRow, _is_said_of_cards()):
            statement, stands_at = card.profile.get(SAID_FROM) or (None, None)
            place = [card.first_chapter, card.first_scene]
            is_named_there = [card.name_first_chapter, card.name_first_scene] == place
            fields[f"{table_name(EntityRow)}:{card.row_id}"] |= {
                "place": place,
                **({"name": place} if is_named_there else {}),
                **({SAID_FROM: statement} if stands_at == place else {}),
            }
        return {key: value for key, value in fields.items() if value}

    def write(self, fields: Mapping[str, PlaceFields]) -> None:
        """Set the positions that are others now, and tell the index of the memories among them."""
        fields_by_place = self.read()
        by_table: defaultdict[str, dict[int, PlaceFields]] = defaultdict(dict)
        for key, positions in fields.items():
            name, number = _table_and_number(key)
            if key in fields_by_place and fields_by_place[key] != positions:
                by_table[name][number] = positions
        for table in _STATED:
            placed_rows = (
                (row_id, positions.get("place")) for row_id, positions in by_table[table_name(table)].items()
            )
            changes = [(row_id, dict(zip(PLACE, place, strict=True))) for row_id, place in placed_rows if place]
            self._session.update_each(table.row_id, changes)
        self._session.update_each(
            MemoryRow.row_id,
            [
                (row_id, {"over_at": positions["over_at"]})
                for row_id, positions in by_table[table_name(MemoryRow)].items()
                if "over_at" in positions
            ],
        )
        self._write_details(by_table[table_name(LoopEvent)])
        self._write_cards(by_table[table_name(EntityRow)])
        ChunkWriter(self._session).reposition(row_ids=list(by_table[table_name(MemoryRow)]))

    def _write_details(self, fields: Mapping[int, PlaceFields]) -> None:
        for row in self._rows(LoopEvent, fields):
            positions = {name: value for name, value in fields[row.row_id or 0].items() if name in _ENTERED}
            if positions:
                self._session.update(LoopEvent, LoopEvent.row_id == row.row_id, detail={**row.detail, **positions})

    def _write_cards(self, fields: Mapping[int, PlaceFields]) -> None:
        for row in self._rows(EntityRow, fields):
            positions, values = fields[row.row_id or 0], dict[str, Any]()
            starts = {
                number: positions[key]
                for number, _ in _starts(row.profile.get(DATED))
                if (key := f"{DATED}:{number}") in positions
            }
            profile = dict(row.profile)
            if starts:
                listed_enumerate = enumerate(profile[DATED])
                profile[DATED] = [
                    {**item, "start": starts[number]} if number in starts else item for number, item in listed_enumerate
                ]
            chapter, scene = positions.get("place") or (None, None)
            if "place" in positions:
                values |= {"first_chapter": chapter, "first_scene": scene}
            if "name" in positions:
                values |= {"name_first_chapter": chapter, "name_first_scene": scene}
            if SAID_FROM in positions:
                profile[SAID_FROM] = [positions[SAID_FROM], [chapter, scene]]
            if profile != row.profile:
                values["profile"] = profile
            self._session.update(EntityRow, EntityRow.row_id == row.row_id, **values)

    def _rows(self, table: type[Record], numbers: Iterable[int]) -> list[Record]:
        columns: Any = table
        return self._session.read(table, self._session.among(columns.row_id, numbers))


def _starts(values: object) -> Iterator[tuple[int, list[int | None]]]:
    """Yield where the dated values of a card begin, by their number."""
    for number, value in enumerate(values if isinstance(values, list) else ()):
        if value.get("start"):
            yield number, list(value["start"])


def _is_said_of_cards() -> Any:
    """Return the condition for cards known from an author's place."""
    named_there = exists().where(
        col(NameMention.project_id) == EntityRow.project_id,
        col(NameMention.entity_id) == EntityRow.entity_id,
        col(NameMention.chapter_index) == EntityRow.first_chapter,
        func.coalesce(NameMention.scene_index, -1) == func.coalesce(EntityRow.first_scene, -1),
    )
    says_so = cast(EntityRow.profile, Text).contains(f'"{SAID_FROM}"')
    is_authors = and_(EntityRow.origin == "author", ~named_there)
    return and_(col(EntityRow.first_chapter).is_not(None), or_(says_so, is_authors))


def moved_positions(fields: PlaceFields, order: StoryOrder) -> PlaceFields:
    """Return the positions of one statement in a new order of scenes."""
    is_always_known = SAID_FROM in fields and fields.get("place") in _BEGINNING
    moving_fields: PlaceFields = {}
    for name, place in fields.items():
        if place is None or place[0] is None or (is_always_known and name in ("place", "name", SAID_FROM)):
            moving_fields[name] = place
        elif name in _ENTERED or name.startswith(DATED):
            moving_fields[name] = list(order.position_after_move(place[0], place[1] or 0))
        else:
            moving_fields[name] = list(order.place_after_move((place[0], place[1])))
    return moving_fields
