"""Who stands how to whom: as a drawing, as a table, and the course of a pair over the scenes.

People stand on an ellipse, or around one of them, and their names outside of it: so no line ever runs through a name,
which no layout by forces can promise, and the same people keep their order while the story goes on.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Literal

from fastapi import Query
from starlette.responses import Response

from novelgen.models.position import StoryPosition
from novelgen.models.state import DIMENSION_RANGES, Relationship, RelationshipDimension
from runtime.page.frame import Here
from runtime.page.visits import Name, Visited, router
from runtime.story.relationships import CourseStep

HEIGHT = 560.0
LEAST_WIDTH = 1000.0
_LEAST_RADIUS, _RADIUS = 300.0, 212.0

MAX_DRAWN = 18
"""So many people stand on the ellipse without their names touching."""

LONGEST_NAME = 34
"""Of a name so much is written, a Chinese character counts twice; the picture is as wide as the longest needs."""

_LETTER = 9.2

_DOT = 8.0
_GAP = 6.0
_HEAD = 11.0

Warmth = Literal["warm", "cold", "even", "unsaid"]
Change = Literal["new", "better", "worse", "other", ""]

WARM_FROM = 10
"""A side is warm from this mean of its feelings on, and cold from the same below nothing; between, it is even."""

BETTER_FROM = 5
"""By so much the mean must have moved for a side to be called better or worse."""

_KIND: Mapping[RelationshipDimension, int] = {"trust": 1, "affection": 1, "respect": 1, "fear": -1}
"""Dimensions that make a side warm, or cold; merely knowing somebody does neither."""


@dataclass(frozen=True, slots=True)
class Side:
    """How one of two stands to the other."""

    who: str
    other: str
    view: str
    feelings: Mapping[RelationshipDimension, int]

    @property
    def is_told(self) -> bool:
        """Whether anything is known of this side by itself."""
        return bool(self.view or self.feelings)

    @property
    def mean(self) -> int | None:
        """The mean of what is kind in it, from -100 to 100; None where no feeling says."""
        said = [_KIND[name] * value for name, value in self.feelings.items() if name in _KIND]
        return round(sum(said) / len(said)) if said else None

    @property
    def warmth(self) -> Warmth:
        """What the mean comes to."""
        mean = self.mean
        if mean is None:
            return "unsaid"
        return "warm" if mean >= WARM_FROM else "cold" if mean <= -WARM_FROM else "even"


def sides_of(pair: Relationship) -> tuple[Side, Side]:
    """Return both sides of a pair; what both feel alike is on each."""
    first, second = pair.character_a, pair.character_b
    return (
        Side(first, second, pair.perspective_a, {**pair.dimensions, **pair.dimensions_a}),
        Side(second, first, pair.perspective_b, {**pair.dimensions, **pair.dimensions_b}),
    )


def change_of(side: Side, pair: Relationship, earlier: Relationship | None) -> Change:
    """Return what became of a side since an earlier position; None is a pair that was not known then."""
    if earlier is None:
        return "new"
    was = next(each for each in sides_of(earlier) if each.who == side.who)
    if side.mean is not None and was.mean is not None and abs(side.mean - was.mean) >= BETTER_FROM:
        return "better" if side.mean > was.mean else "worse"
    told, told_then = ((each.status, each.relationship_type, each.intensity) for each in (pair, earlier))
    return "other" if (told, side.view, side.feelings) != (told_then, was.view, was.feelings) else ""


@dataclass(frozen=True, slots=True)
class DrawnPerson:
    """Somebody in the picture."""

    entity_id: str
    name: str
    x: float
    y: float
    anchor: str
    text_x: float
    text_y: float
    plate: float = 0.0


@dataclass(frozen=True, slots=True)
class DrawnArrow:
    """How one side stands to the other, or a line without a head where no side is told."""

    pair: Relationship
    side: Side
    path: str
    head: str
    width: float
    sign_x: float
    sign_y: float
    mark_x: float
    mark_y: float
    change: Change
    is_beside: bool = False


@dataclass(frozen=True, slots=True)
class RelationshipGraph:
    """People and arrows, and how many people had no room."""

    people: Sequence[DrawnPerson]
    arrows: Sequence[DrawnArrow]
    width: float = LEAST_WIDTH
    left_out: int = 0


def relationship_graph(
    pairs: Sequence[Relationship],
    names: Mapping[str, str],
    *,
    earlier: Mapping[str, Relationship] | None = None,
    chosen: str = "",
) -> RelationshipGraph:
    """Return where people and arrows stand."""
    named = [each for each in pairs if each.character_a in names and each.character_b in names]
    near = {each.character_a for each in named} | {each.character_b for each in named}
    if chosen in near:
        near = {who for each in named for who in _both(each) if chosen in _both(each)} - {chosen}
        named = [each for each in named if {*_both(each)} <= {*near, chosen}]
    else:
        chosen = ""
    weight: Counter[str] = Counter()
    for each in named:
        for who in _both(each):
            weight[who] += 1 + each.intensity + (1000 if chosen in _both(each) else 0)
    kept = {who for who, _ in weight.most_common() if who in near and who != chosen}
    kept = set([who for who, _ in weight.most_common() if who in kept][:MAX_DRAWN])
    order = [who for who in _seriated(named) if who in kept]
    written = {who: shortened(names[who], LONGEST_NAME) for who in (*order, *([chosen] if chosen else ()))}
    margin = 22 + max((_length(written[who]) for who in order), default=0.0)
    width = max(LEAST_WIDTH, round(2 * (_LEAST_RADIUS + margin)))
    people = {
        who: _on_the_rim(who, written[who], 2 * math.pi * index / len(order), width / 2, width / 2 - margin)
        for index, who in enumerate(order)
    }
    if chosen:
        room = 14.0 + _length(written[chosen]) / 2
        people[chosen] = DrawnPerson(
            chosen, written[chosen], width / 2, HEIGHT / 2, "middle", width / 2, HEIGHT / 2 + 6, plate=round(room, 1)
        )
    arrows = [
        arrow
        for each in named
        if each.character_a in people and each.character_b in people
        for arrow in _arrows(each, people, earlier, chosen, complex(width, HEIGHT) / 2)
    ]
    return RelationshipGraph(list(people.values()), arrows, width, left_out=len(near) - len(kept))


def _both(pair: Relationship) -> tuple[str, str]:
    return pair.character_a, pair.character_b


def _seriated(pairs: Iterable[Relationship]) -> list[str]:
    """Return people so that who joins stands beside whom they joined; who is there already keeps the order."""
    order: list[str] = []
    for each in pairs:
        first, second = _both(each)
        if first not in order and second not in order:
            order += [first, second]
        elif second not in order:
            order.insert(order.index(first) + 1, second)
        elif first not in order:
            order.insert(order.index(second) + 1, first)
    return order


def shortened(name: str, width: int) -> str:
    """Return a name that takes at most so much room; a Chinese character takes two."""
    taken = 0
    for index, character in enumerate(name):
        taken += 1 if character < "\u2e80" else 2
        if taken > width:
            return f"{name[:index].rstrip()}…"
    return name


def _length(name: str) -> float:
    """Return about how long a name is as it is written."""
    return sum(_LETTER if character < "\u2e80" else 2 * _LETTER for character in name)


def _on_the_rim(entity_id: str, name: str, angle: float, middle: float, radius: float) -> DrawnPerson:
    across, down = math.sin(angle), -math.cos(angle)
    x, y = middle + radius * across, HEIGHT / 2 + _RADIUS * down
    anchor = "middle" if abs(across) < 0.05 else "start" if across > 0 else "end"
    text_x = x + (0 if anchor == "middle" else 15 if anchor == "start" else -15)
    text_y = y + (30 if down > 0.9 and anchor == "middle" else -18 if down < -0.9 and anchor == "middle" else 6)
    return DrawnPerson(entity_id, name, round(x, 1), round(y, 1), anchor, round(text_x, 1), round(text_y, 1))


def _arrows(
    pair: Relationship,
    people: Mapping[str, DrawnPerson],
    earlier: Mapping[str, Relationship] | None,
    chosen: str,
    centre: complex,
) -> Iterable[DrawnArrow]:
    """Return how both sides of a pair stand, as curves from one to the other; points are complex numbers."""
    sides = sides_of(pair)
    told = [each for each in sides if each.is_told]
    is_beside = bool(chosen) and chosen not in _both(pair)
    width = round(1.2 + pair.intensity * 0.38, 1)
    size = _HEAD + width
    for side in told or sides[:1]:
        start, end = people[side.who], people[side.other]
        way = complex(end.x - start.x, end.y - start.y)
        # Both sides of a pair bend away from each other, and lines between neighbours a little towards the middle.
        control = complex(start.x, start.y) + way / 2 + 1j * _straight(way) * min(34.0, 0.16 * abs(way))
        control += (centre - control) * (0.0 if start.plate or end.plate else 0.1 if is_beside else 0.22)
        begin, tip = _rim(start, control), _rim(end, control)
        back = _straight(control - tip) * size
        neck = tip + back * 0.8 if told else tip
        corners = (tip, tip + back * (1 + 0.42j), tip + back * (1 - 0.42j))
        sign, mark = (
            (1 - share) ** 2 * begin + 2 * (1 - share) * share * control + share**2 * neck for share in (0.3, 0.52)
        )
        yield DrawnArrow(
            pair=pair,
            side=side,
            path=f"M{_at(begin, ' ')} Q{_at(control, ' ')} {_at(neck, ' ')}",
            head=" ".join(_at(each, ",") for each in corners) if told else "",
            width=width,
            sign_x=round(sign.real, 1),
            sign_y=round(sign.imag, 1),
            mark_x=round(mark.real, 1),
            mark_y=round(mark.imag, 1),
            change="" if earlier is None else change_of(side, pair, earlier.get(pair.relationship_id)),
            is_beside=is_beside,
        )


def _straight(way: complex) -> complex:
    """Return a way of the length 1."""
    return way / (abs(way) or 1.0)


def _rim(person: DrawnPerson, control: complex) -> complex:
    """Return where a line in a direction begins at somebody: at the rim of the dot, or of the plate with a name."""
    middle = complex(person.x, person.y)
    way = control - middle
    room = _DOT + _GAP
    if person.plate:
        long, short = person.plate + _GAP, 17 + _GAP
        room = long * short * abs(way) / (math.hypot(short * way.real, long * way.imag) or 1.0)
    return middle + _straight(way) * room


def _at(point: complex, between: str) -> str:
    return f"{point.real:.1f}{between}{point.imag:.1f}"


CHART_WIDTH, CHART_HEIGHT = 460.0, 170.0
_CHART_LEFT, _CHART_RIGHT, _CHART_TOP, _CHART_BOTTOM = 34.0, 110.0, 12.0, 22.0
_LABEL_HEIGHT = 15.0


@dataclass(frozen=True, slots=True)
class CourseLine:
    """One dimension over the scenes."""

    name: str
    path: str
    value: int
    label_y: float


@dataclass(frozen=True, slots=True)
class CourseChart:
    """What one side felt over the scenes; `zero_y` is where nothing lies, `top` and `bottom` the bounds."""

    lines: Sequence[CourseLine]
    zero_y: float
    top: int
    bottom: int


def course_chart(
    steps: Sequence[CourseStep],
    values: Sequence[Mapping[str, int]],
    places: Sequence[tuple[int, int]],
    *,
    top: int = 100,
) -> CourseChart:
    """Return how values ran over the scenes, as lines with steps."""
    bottom = -top if any(value < 0 for each in values for value in each.values()) else 0
    plot = CHART_HEIGHT - _CHART_TOP - _CHART_BOTTOM
    right = CHART_WIDTH - _CHART_RIGHT
    # A statement for a whole chapter stands behind its scenes, one without a place before all of them.
    index_of = {place: index for index, place in enumerate(places)}

    def x_of(step: CourseStep) -> float:
        if step.chapter_index is None:
            return _CHART_LEFT
        place = (step.chapter_index, 10**9 if step.scene_index is None else step.scene_index)
        index = index_of.get(place, sum(each <= place for each in places) - 1)
        return _CHART_LEFT + (right - _CHART_LEFT) * max(0, index) / max(1, len(places))

    def y_of(value: int) -> float:
        return _CHART_TOP + plot * (top - value) / (top - bottom)

    lines = []
    for name in dict.fromkeys(name for each in values for name in each):
        path = ""
        value = 0
        for step, held in zip(steps, values, strict=True):
            if name in held:
                value = held[name]
                x, y = x_of(step), y_of(value)
                path += f"H{x:.1f} V{y:.1f} " if path else f"M{x:.1f} {y:.1f} "
        lines.append(CourseLine(name, f"{path}H{right:.1f}", value, y_of(value)))
    return CourseChart(_spread(lines), round(y_of(0), 1), top, bottom)


def _spread(lines: Iterable[CourseLine]) -> list[CourseLine]:
    """Return the lines from the highest to the lowest, their names moved apart."""
    spread: list[CourseLine] = []
    ordered = sorted(lines, key=lambda each: each.label_y)
    lowest = CHART_HEIGHT - 6 - _LABEL_HEIGHT * len(ordered)
    for each in ordered:
        above = spread[-1].label_y + _LABEL_HEIGHT if spread else _CHART_TOP
        lowest += _LABEL_HEIGHT
        y = round(max(above, min(each.label_y + 5, lowest)), 1)
        spread.append(CourseLine(each.name, each.path, each.value, y))
    return spread


LATELY = (3, 5, 10, 25, 100)
"""How many scenes back the drawing may look for what changed."""

ROWS_AT_ONCE = 40

Lately = Annotated[int, Query(ge=1, le=1000, description="Scenes back to look for what changed.")]
Rows = Annotated[int, Query(ge=1, le=1000, description="How many pairs the table shows.")]


@dataclass(frozen=True, slots=True)
class PairRow:
    """A pair as the table has it: both sides, each with what became of it of late."""

    pair: Relationship
    first: Side
    second: Side
    first_change: Change
    second_change: Change


@dataclass(frozen=True, slots=True)
class PairView:
    """A pair that was chosen."""

    row: PairRow
    charts: Sequence[tuple[Side, CourseChart]]
    strength: CourseChart


@router.get("/page/projects/{project_id}/relationships")
def relationships_page(
    visit: Visited, person: Name = "", pair: Name = "", lately: Lately = 5, rows: Rows = ROWS_AT_ONCE
) -> Response:
    """Draw how people stand to each other, and list it; a person or a pair may be chosen."""
    here = visit.here()
    names = visit.story.entity_names(as_of=visit.as_of)
    pairs = visit.story.relationships(as_of=visit.as_of)
    earlier = _earlier(visit, here, lately)
    people = {who for each in pairs for who in (each.character_a, each.character_b) if who in names}
    chosen = person if person in people else ""
    listed = [each for each in pairs if chosen in ("", each.character_a, each.character_b)]
    found = next((each for each in pairs if each.relationship_id == pair), None)
    return visit.frame("relationships", here).page(
        "relationships",
        rows=[_row(each, earlier) for each in listed[:rows]],
        count=len(listed),
        at_once=ROWS_AT_ONCE,
        names=names,
        people=sorted(people, key=lambda each: names[each]),
        chosen=chosen,
        lately=lately,
        lately_choices=sorted({*LATELY, lately}),
        graph=relationship_graph(pairs, names, earlier=earlier, chosen=chosen),
        height=HEIGHT,
        chart_size=(CHART_WIDTH, CHART_HEIGHT),
        viewed=None if found is None else _pair_view(visit, here, found, earlier),
        ranges=DIMENSION_RANGES,
    )


def _earlier(visit: Visited, here: Here, lately: int) -> Mapping[str, Relationship]:
    """Return how pairs stood so many scenes before the position; none were known before the first scene."""
    if here.known <= lately:
        return {}
    then = StoryPosition(*here.places[here.known - lately])
    pairs = visit.story.relationships(as_of=then)
    return {each.relationship_id: each for each in pairs}


def _row(pair: Relationship, earlier: Mapping[str, Relationship]) -> PairRow:
    first, second = sides_of(pair)
    was = earlier.get(pair.relationship_id)
    return PairRow(pair, first, second, change_of(first, pair, was), change_of(second, pair, was))


def _pair_view(visit: Visited, here: Here, pair: Relationship, earlier: Mapping[str, Relationship]) -> PairView:
    row = _row(pair, earlier)
    course = visit.story.relationship_course(first=pair.character_a, second=pair.character_b, as_of=visit.as_of)
    places = here.places[: here.known]
    charts = [
        (
            side,
            course_chart(
                course.steps, [{str(name): value for name, value in felt.items()} for felt in all_felt], places
            ),
        )
        for side, all_felt in (
            (row.first, [each.dimensions_a for each in course.steps]),
            (row.second, [each.dimensions_b for each in course.steps]),
        )
        if any(all_felt)
    ]
    strength = course_chart(course.steps, [{"strength": each.intensity} for each in course.steps], places, top=10)
    return PairView(row, charts, strength)
