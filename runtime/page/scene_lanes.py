"""The timeline of scenes: lanes of the cast, and a heat map by chapters."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby, pairwise
from typing import Literal, NamedTuple

from starlette.responses import Response

from novelgen.context.labels import Labels, labels_for
from novelgen.context.rendering import render_value
from novelgen.memory.attributes import is_death, is_return_to_life
from novelgen.models.folds import HOLDER_ATTRIBUTE
from novelgen.models.position import StoryPosition
from novelgen.models.state import StateChange
from novelgen.models.story_time import SceneTime
from runtime.page.relationships import shortened
from runtime.page.visits import Offset, Visited, router
from runtime.story.base import as_part
from runtime.story.states import StatedStretch, StoryStateHistories

LANE = 50.0
HEAD = 66.0
"""Height of a lane, and of what stands above all lanes, in pixels."""

_LEAST_COLUMN, _GREATEST_COLUMN = 26.0, 56.0
_GOOD_WIDTH = 1060.0

MAX_LANES = 14
MAX_HEAT_COLUMNS = 36
HEAT_LEVELS = 5

WINDOW_SCENES = 40
"""So many scenes are drawn at once, and those that fill the last chapter."""

_LETTER = 7.0

GUESS_MARK = "?"
"""Stands behind the name of a guessed place."""

LONGEST_NAME = 24

Place = tuple[int, int]
MarkKind = Literal["died", "returned", "hurt", "learnt", "got", "lost", "moved_away", "other_change"]

BY_WEIGHT: tuple[MarkKind, ...] = ("died", "returned", "got", "lost", "hurt", "learnt", "moved_away", "other_change")

_KINDS: Mapping[str, MarkKind] = {
    "physical_state": "hurt",
    "knowledge": "learnt",
    "beliefs": "learnt",
    "location_id": "moved_away",
}


class Change(NamedTuple):
    """Something that became of one of the cast in a scene."""

    who: str
    place: Place
    kind: MarkKind
    change: StateChange
    words: str = ""


class Column(NamedTuple):
    """A scene's column: place and heading."""

    scene: SceneTime
    x: float
    opens_chapter: bool
    opens_day: bool


class Stay(NamedTuple):
    """One of the cast at one place, over scenes side by side."""

    start: float
    end: float
    location_id: str | None
    label: str
    is_move: bool
    is_guess: bool = False
    """Whether rules guessed the place, so that its label needs the mark of a guess."""


class Mark(NamedTuple):
    """A cast member's changes in a scene, the weightiest first."""

    x: float
    place: Place
    changes: Sequence[Change]
    kinds: Sequence[MarkKind]


class Lane(NamedTuple):
    """A cast member's lane: scenes, places and changes."""

    entity_id: str
    name: str
    y: float
    stays: Sequence[Stay]
    dots: Sequence[Column]
    marks: Sequence[Mark]
    died_at: float | None


class LanePicture(NamedTuple):
    """A stretch of scenes with its lanes."""

    columns: Sequence[Column]
    lanes: Sequence[Lane]
    left_out: Sequence[str]
    column: float
    width: float
    height: float


class HeatColumn(NamedTuple):
    """A chapter, or several side by side in a long book."""

    first: int
    last: int
    start: int
    is_shown: bool


class HeatMap(NamedTuple):
    """Counts of scenes per column and entity, with shades."""

    columns: Sequence[HeatColumn]
    rows: Mapping[str, Sequence[int]]
    levels: Mapping[int, int]


def windows_of(scenes: Sequence[SceneTime], *, is_told_order: bool) -> list[tuple[int, int]]:
    """Return the windows of scenes, chapters whole in order of telling."""
    together = groupby(scenes, key=lambda scene_time: scene_time.chapter_index if is_told_order else scene_time.place)
    starts, at = [0], 0
    for size in [len(list(chapter)) for _, chapter in together]:
        # A chapter of more scenes than are drawn at once comes in parts.
        for part in (min(WINDOW_SCENES, size - offset) for offset in range(0, size, WINDOW_SCENES)):
            if starts[-1] < at and at + part - starts[-1] > WINDOW_SCENES:
                starts.append(at)
            at += part
    return list(pairwise([*starts, at])) if at else []


def changes_in(stretch: StatedStretch, scenes: Sequence[SceneTime]) -> list[Change]:
    """Return changes by entity.

    A handover is a loss and a gain.
    """
    stage: dict[tuple[int | None, int | None], SceneTime] = {}
    for scene in sorted(scenes, key=lambda scene_time: scene_time.place):
        # What is told of a whole chapter stands at its last scene.
        stage[scene.place] = stage[scene.chapter_index, None] = scene
    holders: dict[str, str | None] = dict(stretch.holders)
    changes: list[Change] = []
    for change in stretch.changes:
        at = stage.get((change.chapter_index, change.scene_index))
        if change.attribute == HOLDER_ATTRIBUTE:
            before, now = holders.get(change.entity_id), change.value if isinstance(change.value, str) else None
            holders[change.entity_id] = now
            if at is not None and before != now:
                lines: tuple[tuple[str | None, MarkKind], ...] = ((before, "lost"), (now, "got"))
                changes += [Change(who, at.place, kind, change) for who, kind in lines if who is not None]
        elif at is not None and change.entity_type == "character":
            is_here = change.entity_id in at.participants and change.value == at.location_id
            if not (change.attribute == "location_id" and is_here):
                changes.append(Change(change.entity_id, at.place, _kind_of(change), change))
    return changes


def _kind_of(change: StateChange) -> MarkKind:
    if is_death(change.attribute, change.value):
        return "died"
    if is_return_to_life(change.attribute, change.value):
        return "returned"
    return _KINDS.get(change.attribute, "other_change")


def lane_picture(scenes: Sequence[SceneTime], changes: Iterable[Change], names: Mapping[str, str]) -> LanePicture:
    """Return scenes from left to right with lanes of their cast."""
    column = min(_GREATEST_COLUMN, max(_LEAST_COLUMN, _GOOD_WIDTH // max(1, len(scenes))))
    columns = [
        Column(
            scene,
            column * (index + 0.5),
            opens_chapter=before is None or before.chapter_index != scene.chapter_index,
            opens_day=scene.story_day is not None and (before is None or before.story_day != scene.story_day),
        )
        for index, (before, scene) in enumerate(zip([None, *scenes], scenes, strict=False))
    ]
    of_whom: defaultdict[str, list[Change]] = defaultdict(list)
    for change in changes:
        of_whom[change.who].append(change)
    counter = Counter(who for scene in scenes for who in scene.participants if who in names)
    counter.update(who for who in of_whom if who in names and who not in counter)
    order = [who for who, _ in counter.most_common()]
    lanes = [
        _lane(who, names, HEAD + LANE * (index + 0.5), columns, column, of_whom[who])
        for index, who in enumerate(order[:MAX_LANES])
    ]
    return LanePicture(columns, lanes, order[MAX_LANES:], column, column * len(columns), HEAD + LANE * len(lanes))


def _lane(
    who: str, names: Mapping[str, str], y: float, columns: Sequence[Column], width: float, changes: Sequence[Change]
) -> Lane:
    x_of = {column.scene.place: column.x for column in columns}
    fates = [change for change in changes if change.kind in ("died", "returned")]
    died_at = x_of[fates[-1].place] if fates and fates[-1].kind == "died" else None
    dots = [column for column in columns if who in column.scene.participants]
    stays: list[Stay] = []
    for dot in dots:
        here, before = dot.scene.location_id, stays[-1] if stays else None
        is_guess = _place_told(dot)[1]
        is_same = before is not None and before.location_id == here
        is_labelled = is_same and before is not None and before.is_guess == is_guess
        if before is not None and is_labelled and dot.x - before.end < 1.5 * width:
            stays[-1] = before._replace(end=dot.x)
            continue
        label = ""
        if here is not None and not is_labelled:
            # The name of a place has room up to where the next one begins.
            following = (column.x for column in dots if column.x > dot.x and _place_told(column) != _place_told(dot))
            letters = int((next(following, width * len(columns)) - dot.x - 2) / _LETTER)
            mark = GUESS_MARK if is_guess else ""
            label = f"{shortened(names.get(here, ''), letters - len(mark))}{mark}" if letters >= 5 else ""
        is_move = bool(stays) and here is not None and not is_same
        stays.append(Stay(dot.x, dot.x, here, label, is_move=is_move, is_guess=is_guess))
    marks = []
    for place, group in groupby(
        sorted(changes, key=lambda other_change: x_of[other_change.place]), lambda change: change.place
    ):
        together = list(group)
        kinds = sorted({change.kind for change in together}, key=BY_WEIGHT.index)
        marks.append(Mark(x_of[place], place, together, kinds))
    return Lane(who, shortened(names[who], LONGEST_NAME), y, stays, dots, marks, died_at)


def _place_told(column: Column) -> tuple[str | None, bool]:
    """Return a scene's place, and whether rules guessed it."""
    return column.scene.location_id, "location_id" in column.scene.guessed


def heat_map(
    scenes: Sequence[SceneTime],
    places_by_name: Mapping[str, Sequence[Place]],
    names: Mapping[str, str],
    *,
    shown_places: frozenset[Place] = frozenset(),
) -> HeatMap:
    """Return scene counts by chapter and entity, grouping chapters of long books."""
    starts: dict[int, int] = {}
    for index, scene_time in enumerate(scenes):
        starts.setdefault(scene_time.chapter_index, index)
    chapters, together = list(starts), -(-len(starts) // MAX_HEAT_COLUMNS) or 1
    groups = [chapters[index : index + together] for index in range(0, len(chapters), together)]
    shown_chapters = {chapter for chapter, _ in shown_places}
    columns = [
        HeatColumn(group[0], group[-1], starts[group[0]], not shown_chapters.isdisjoint(group)) for group in groups
    ]
    most = sorted(
        (who for who in places_by_name if who in names), key=lambda who: (-len(places_by_name[who]), names[who])
    )
    rows = {}
    for who in most[:MAX_LANES]:
        counts = Counter(chapter for chapter, _ in places_by_name[who])
        rows[who] = [sum(counts[chapter] for chapter in group) for group in groups]
    greatest = max((count for row in rows.values() for count in row), default=0)
    levels = {count: -(-count * HEAT_LEVELS // greatest) for count in range(1, greatest + 1)}
    return HeatMap(columns, rows, levels)


@router.get("/page/projects/{project_id}/timeline")
def timeline_page(visit: Visited, start: Offset | None = None, order: Literal["told", "lived"] = "told") -> Response:
    """Show a window of the story in lanes, and the whole by chapters."""
    scene_times = visit.kept(visit.story.scenes.times).scenes
    names = visit.names()
    scenes = list(scene_times)
    if order == "lived":
        scenes.sort(
            key=lambda scene_time: (scene_time.lived_order is None, scene_time.lived_order or 0, scene_time.told_order)
        )
    windows = windows_of(scenes, is_told_order=order == "told")
    start_index = len(scenes) - 1 if start is None else min(start, len(scenes) - 1)
    number = next((index for index, (first, end) in enumerate(windows) if first <= start_index < end), 0)
    first, end = windows[number] if windows else (0, 0)
    window = scenes[first:end]
    labels = labels_for(visit.language)
    changes = [
        change._replace(words=_change_text(change, names, labels, colon=visit.word("colon")))
        for change in changes_in(_stated(visit, scene_times, window), window)
    ]
    places_by_name = visit.kept(as_part(visit.story, StoryStateHistories).scenes_naming_characters).places
    return visit.page(
        "timeline",
        scenes=window,
        count=len(scenes),
        first=first,
        order=order,
        starts=[window for window, _ in windows],
        number=number,
        names=names,
        picture=lane_picture(window, changes, names),
        guess_mark=GUESS_MARK,
        heat=heat_map(
            scene_times, places_by_name, names, shown_places=frozenset(scene_time.place for scene_time in window)
        ),
        changes=changes,
    )


def _stated(visit: Visited, scene_times: Sequence[SceneTime], window: Sequence[SceneTime]) -> StatedStretch:
    """Return the statements of a range of scenes before the position."""
    if not window:
        return StatedStretch()
    places = [scene_time.place for scene_time in scene_times]
    behind = places.index(max(scene_time.place for scene_time in window)) + 1
    until = visit.as_of if behind == len(places) else StoryPosition(*places[behind])
    return as_part(visit.story, StoryStateHistories).stated_within(
        since=StoryPosition(*min(scene_time.place for scene_time in window)), until=until
    )


def _change_text(change: Change, names: Mapping[str, str], labels: Labels, *, colon: str) -> str:
    """Return a change in words, without subject and kind."""
    stated = change.change
    if change.kind in ("got", "lost"):
        return names.get(stated.entity_id, stated.entity_id)
    text = "—" if stated.value in (None, [], "") else render_value(stated.value, names, labels)
    return f"{labels.attribute(stated.attribute)}{colon}{text}"
