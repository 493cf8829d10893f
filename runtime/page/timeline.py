"""When scenes play, where, who is on stage, and what becomes of them: lanes of the cast, and the whole by chapters."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby, pairwise
from typing import Annotated, Literal

from fastapi import Query
from starlette.responses import Response

from novelgen.context.lines import Labels, labels_for, render_value
from novelgen.memory.attributes import is_death, is_return_to_life
from novelgen.models.folds import HOLDER_ATTRIBUTE
from novelgen.models.position import StoryPosition
from novelgen.models.state import StateChange
from novelgen.models.story_time import SceneTime
from runtime.page.relationships import shortened
from runtime.page.visits import Visited, router
from runtime.story.base import StoryBase
from runtime.story.states import StatedStretch, StoryTimes

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


@dataclass(frozen=True, slots=True)
class Change:
    """Something that became of one of the cast in a scene."""

    who: str
    place: Place
    kind: MarkKind
    change: StateChange
    words: str = ""


@dataclass(frozen=True, slots=True)
class Column:
    """A scene: where it stands, and what is written above it."""

    scene: SceneTime
    x: float
    opens_chapter: bool
    opens_day: bool


@dataclass(frozen=True, slots=True)
class Stay:
    """One of the cast at one place, over scenes side by side."""

    start: float
    end: float
    location_id: str | None
    label: str
    is_move: bool


@dataclass(frozen=True, slots=True)
class Mark:
    """What became of one of the cast in a scene; several things at once are one mark."""

    x: float
    place: Place
    changes: Sequence[Change]

    @property
    def kinds(self) -> list[MarkKind]:
        """What kinds of changes there are, the weightiest first."""
        return [each for each in BY_WEIGHT if any(one.kind == each for one in self.changes)]


@dataclass(frozen=True, slots=True)
class Lane:
    """One of the cast: the scenes on stage, where, and what became of them."""

    entity_id: str
    name: str
    y: float
    stays: Sequence[Stay]
    dots: Sequence[Column]
    gaps: Sequence[tuple[float, float]]
    marks: Sequence[Mark]
    died_at: float | None = None


@dataclass(frozen=True, slots=True)
class LanePicture:
    """A stretch of scenes with its lanes."""

    columns: Sequence[Column]
    lanes: Sequence[Lane]
    left_out: Sequence[str]
    column: float
    width: float
    height: float


@dataclass(frozen=True, slots=True)
class HeatColumn:
    """A chapter, or several side by side in a long book."""

    first: int
    last: int
    start: int
    is_shown: bool


@dataclass(frozen=True, slots=True)
class HeatRow:
    """How many scenes of each column name one of the cast."""

    entity_id: str
    counts: Sequence[int]


@dataclass(frozen=True, slots=True)
class HeatMap:
    """The cast by chapters; `greatest` is the count that is darkest."""

    columns: Sequence[HeatColumn] = ()
    rows: Sequence[HeatRow] = ()
    greatest: int = 0
    levels: Mapping[int, int] = field(default_factory=dict)


def windows_of(scenes: Sequence[SceneTime], *, is_told_order: bool) -> list[tuple[int, int]]:
    """Return the stretches in which scenes are drawn, as first and behind the last; as told, chapters stay whole."""
    if not is_told_order:
        return [(start, min(start + WINDOW_SCENES, len(scenes))) for start in range(0, len(scenes), WINDOW_SCENES)]
    windows: list[tuple[int, int]] = []
    start = end = 0
    for _, chapter in groupby(scenes, key=lambda each: each.chapter_index):
        size = len(list(chapter))
        if end > start and end + size - start > WINDOW_SCENES:
            windows.append((start, end))
            start = end
        while end + size - start > WINDOW_SCENES:
            # A chapter of more scenes than are drawn at once comes in parts.
            windows.append((start, start + WINDOW_SCENES))
            size -= start + WINDOW_SCENES - end
            start = end = start + WINDOW_SCENES
        end += size
    return [*windows, (start, end)] if end > start else windows


def changes_in(stretch: StatedStretch, scenes: Sequence[SceneTime]) -> list[Change]:
    """Return what became of whom in some scenes; a thing that changes hands is lost by one and got by another."""
    places = {scene.place for scene in scenes}
    last_of = {scene.chapter_index: scene.place for scene in sorted(scenes, key=lambda each: each.place)}
    stage = {scene.place: (scene.location_id, scene.participants) for scene in scenes}
    holders = dict(stretch.holders)
    found: list[Change] = []
    for each in stretch.changes:
        place = _place_of(each, last_of)
        if each.attribute == HOLDER_ATTRIBUTE:
            before, now = holders.get(each.entity_id), each.value if isinstance(each.value, str) else None
            if before == now:
                continue
            if now is None:
                holders.pop(each.entity_id, None)
            else:
                holders[each.entity_id] = now
            if place in places and place is not None:
                told: tuple[tuple[str | None, MarkKind], ...] = ((before, "lost"), (now, "got"))
                found += [Change(who, place, kind, each) for who, kind in told if who is not None]
        elif place is not None and place in places and each.entity_type == "character":
            location_id, on_stage = stage[place]
            if each.attribute == "location_id" and each.entity_id in on_stage and each.value == location_id:
                continue
            found.append(Change(each.entity_id, place, _kind_of(each), each))
    return found


def _place_of(change: StateChange, last_of: Mapping[int, Place]) -> Place | None:
    if change.chapter_index is None:
        return None
    if change.scene_index is None:
        return last_of.get(change.chapter_index)
    return change.chapter_index, change.scene_index


def _kind_of(change: StateChange) -> MarkKind:
    if is_death(change.attribute, change.value):
        return "died"
    if is_return_to_life(change.attribute, change.value):
        return "returned"
    return _KINDS.get(change.attribute, "other_change")


def lane_picture(scenes: Sequence[SceneTime], changes: Iterable[Change], names: Mapping[str, str]) -> LanePicture:
    """Return scenes from left to right with the lanes of who is in them or changes in them."""
    column = min(_GREATEST_COLUMN, max(_LEAST_COLUMN, _GOOD_WIDTH // max(1, len(scenes))))
    columns = [
        Column(
            scene,
            column * (index + 0.5),
            opens_chapter=index == 0 or scenes[index - 1].chapter_index != scene.chapter_index,
            opens_day=scene.story_day is not None and (index == 0 or scenes[index - 1].story_day != scene.story_day),
        )
        for index, scene in enumerate(scenes)
    ]
    of_whom: dict[str, list[Change]] = {}
    for each in changes:
        of_whom.setdefault(each.who, []).append(each)
    seen = Counter(who for scene in scenes for who in scene.participants if who in names)
    seen.update(who for who in of_whom if who in names and who not in seen)
    order = [who for who, _ in seen.most_common()]
    lanes = [
        _lane(who, names, HEAD + LANE * (index + 0.5), columns, column, of_whom.get(who, []))
        for index, who in enumerate(order[:MAX_LANES])
    ]
    return LanePicture(
        columns, lanes, order[MAX_LANES:], column=column, width=column * len(columns), height=HEAD + LANE * len(lanes)
    )


def _lane(
    who: str, names: Mapping[str, str], y: float, columns: Sequence[Column], width: float, changes: Sequence[Change]
) -> Lane:
    dots = [each for each in columns if who in each.scene.participants]
    runs: list[list[Column]] = []
    for dot in dots:
        is_next = (
            runs and dot.x - runs[-1][-1].x < 1.5 * width and runs[-1][-1].scene.location_id == dot.scene.location_id
        )
        if is_next:
            runs[-1].append(dot)
        else:
            runs.append([dot])
    stays = []
    for index, run in enumerate(runs):
        before = runs[index - 1][-1].scene.location_id if index else None
        here = run[0].scene.location_id
        is_new = here is not None and (index == 0 or before != here)
        following = next(
            (later[0].x for later in runs[index + 1 :] if later[0].scene.location_id != here), width * len(columns)
        )
        letters = int((following - run[0].x - 2) / _LETTER) if is_new else 0
        label = shortened(names.get(here, ""), letters) if here is not None and letters >= 5 else ""
        stays.append(Stay(run[0].x, run[-1].x, here, label, is_move=is_new and index > 0))
    x_of = {each.scene.place: each.x for each in columns}
    marks = [
        Mark(x_of[place], place, list(together))
        for place, together in groupby(sorted(changes, key=lambda each: x_of[each.place]), lambda each: each.place)
    ]
    fates = [each for each in changes if each.kind in ("died", "returned")]
    return Lane(
        entity_id=who,
        name=shortened(names[who], LONGEST_NAME),
        y=y,
        stays=stays,
        dots=dots,
        gaps=[(one[-1].x, other[0].x) for one, other in pairwise(runs)],
        marks=marks,
        died_at=x_of[fates[-1].place] if fates and fates[-1].kind == "died" else None,
    )


def heat_map(
    scenes: Sequence[SceneTime],
    named: Mapping[str, Sequence[Place]],
    names: Mapping[str, str],
    *,
    shown: frozenset[Place] = frozenset(),
) -> HeatMap:
    """Return how many scenes of each chapter name whom, chapters of a long book several together."""
    chapters = list(dict.fromkeys(each.chapter_index for each in scenes))
    together = -(-len(chapters) // MAX_HEAT_COLUMNS) or 1
    starts: dict[int, int] = {}
    for index, each in enumerate(scenes):
        starts.setdefault(each.chapter_index, index)
    groups = [chapters[index : index + together] for index in range(0, len(chapters), together)]
    column_of = {chapter: index for index, group in enumerate(groups) for chapter in group}
    shown_chapters = {chapter for chapter, _ in shown}
    columns = [
        HeatColumn(each[0], each[-1], starts[each[0]], is_shown=not shown_chapters.isdisjoint(each)) for each in groups
    ]
    most = sorted((who for who in named if who in names), key=lambda who: (-len(named[who]), names[who]))
    rows = []
    for who in most[:MAX_LANES]:
        counts = [0] * len(columns)
        for chapter, _ in named[who]:
            if chapter in column_of:
                counts[column_of[chapter]] += 1
        rows.append(HeatRow(who, counts))
    greatest = max((count for row in rows for count in row.counts), default=0)
    levels = {count: -(-count * HEAT_LEVELS // greatest) for count in range(1, greatest + 1)}
    return HeatMap(columns, rows, greatest, levels)


Order = Literal["told", "lived"]
Start = Annotated[int | None, Query(ge=0, le=10_000_000, description="Number of a scene to be shown.")]


@router.get("/page/projects/{project_id}/timeline")
def timeline_page(visit: Visited, start: Start = None, order: Order = "told") -> Response:
    """Show a stretch of the story with a lane for each of its cast, and the whole of it by chapters."""
    told = visit.kept(StoryTimes.story_times).scenes
    names = visit.kept(StoryBase.entity_names)
    scenes = (
        told
        if order == "told"
        else sorted(told, key=lambda each: (each.lived_order is None, each.lived_order or 0, each.told_order))
    )
    windows = windows_of(scenes, is_told_order=order == "told")
    asked = len(scenes) - 1 if start is None else min(start, len(scenes) - 1)
    number = next((index for index, (first, end) in enumerate(windows) if first <= asked < end), 0)
    first, end = windows[number] if windows else (0, 0)
    window = scenes[first:end]
    frame = visit.frame("timeline")
    labels = labels_for(frame.language)
    changes = [
        replace(each, words=_told(each, names, labels)) for each in changes_in(_stated(visit, told, window), window)
    ]
    named = visit.kept(StoryTimes.scenes_naming_characters).places
    return frame.page(
        "timeline",
        scenes=window,
        count=len(scenes),
        first=first,
        order=order,
        starts=[each for each, _ in windows],
        number=number,
        names=names,
        picture=lane_picture(window, changes, names),
        heat=heat_map(told, named, names, shown=frozenset(each.place for each in window)),
        changes=_by_place(changes),
    )


def _stated(visit: Visited, told: Sequence[SceneTime], window: Sequence[SceneTime]) -> StatedStretch:
    """Return what was stated from the first to the last of some scenes, before the position."""
    if not window:
        return StatedStretch()
    places = [each.place for each in told]
    behind = places.index(max(each.place for each in window)) + 1
    until = visit.as_of if behind == len(places) else StoryPosition(*places[behind])
    return visit.story.stated_within(since=StoryPosition(*min(each.place for each in window)), until=until)


def _told(change: Change, names: Mapping[str, str], labels: Labels) -> str:
    """Return a change in words, without who and of which kind."""
    stated = change.change
    if change.kind in ("got", "lost"):
        return names.get(stated.entity_id, stated.entity_id)
    told = "—" if stated.value in (None, [], "") else render_value(stated.value, names, labels)
    return f"{labels.attribute(stated.attribute)}: {told}"


def _by_place(changes: Sequence[Change]) -> dict[tuple[int, int], list[Change]]:
    found: dict[tuple[int, int], list[Change]] = {}
    for each in changes:
        found.setdefault(each.place, []).append(each)
    return found
