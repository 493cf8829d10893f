"""Relationships as a drawing, a table and a course over scenes.

People stand on an ellipse, or around one of them, and their names outside of it: so no line ever runs through a name,
which no layout by forces can promise, and the same people keep their order while the story goes on.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, Literal, NamedTuple

from starlette.responses import Response

from novelgen.models.position import StoryPosition
from novelgen.models.state import DIMENSION_RANGES, Relationship, RelationshipDimension
from runtime.page.visits import Name, Shown, Visit, Visited, router
from runtime.story.relationships import CourseStep


class Sheet(NamedTuple):
    """The measures of a drawing, in its own units.

    Args:
        height: Of the whole.
        least_width: Of the whole, where no name needs more.
        radius: Of the ellipse, across, where no name needs less.
        rise: The radius of the ellipse, down.
        letter: How wide a letter of a name is; a Chinese one takes two.
        longest_name: Of a name so many letters are written.
        label_letter: How wide a letter is of the words on a line.
        longest_label: Of the words on a line so many letters are written on each of two lines.
    """

    height: float = 560.0
    least_width: float = 1000.0
    radius: float = 300.0
    rise: float = 212.0
    letter: float = 9.2
    longest_name: int = 34
    label_letter: float = 7.6
    longest_label: int = 18

    @property
    def line_height(self) -> float:
        """How much room the words on a line take, up and down."""
        return 2.6 * self.label_letter


BROAD = Sheet()
NARROW = Sheet(
    height=920.0,
    least_width=560.0,
    radius=130.0,
    rise=400.0,
    letter=13.5,
    longest_name=12,
    label_letter=11.0,
    longest_label=12,
)
"""The same people on a sheet that is whole on a telephone, in letters that can be read there."""

MAX_DRAWN = 18
"""So many people stand on the ellipse without their names touching."""

_DOT, _GAP, _HEAD = 8.0, 6.0, 11.0

Warmth = Literal["warm", "cold", "even", "unsaid"]
Change = Literal["new", "better", "worse", "other", ""]

WARM_FROM = 10
"""A side is warm from this mean of its feelings on, and cold from the same below nothing; between, it is even."""

BETTER_FROM = 5
"""By so much the mean must have moved for a side to be called better or worse."""

_KIND: Mapping[RelationshipDimension, int] = {"trust": 1, "affection": 1, "respect": 1, "fear": -1}
"""Dimensions that make a side warm, or cold; merely knowing somebody does neither."""


class Side(NamedTuple):
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
        """The mean of its feelings, -100 to 100, or None."""
        said_numbers = [_KIND[name] * value for name, value in self.feelings.items() if name in _KIND]
        return round(sum(said_numbers) / len(said_numbers)) if said_numbers else None

    @property
    def warmth(self) -> Warmth:
        """The warmth by the mean."""
        mean = self.mean
        if mean is None:
            return "unsaid"
        return "warm" if mean >= WARM_FROM else "cold" if mean <= -WARM_FROM else "even"


def sides_of(pair: Relationship) -> tuple[Side, Side]:
    """Return both sides in reading order, with shared feelings."""
    first, second = pair.character_a, pair.character_b
    sides = (
        Side(first, second, pair.perspective_a, {**pair.dimensions, **pair.dimensions_a}),
        Side(second, first, pair.perspective_b, {**pair.dimensions, **pair.dimensions_b}),
    )
    return (sides[1], sides[0]) if pair.type_reads_back else sides


def type_of_side(pair: Relationship, who: str) -> str:
    """Return a pair's type from one side, or after an arrow back."""
    view = pair.seen_by(who)
    return f"← {view.relationship_type}" if view.type_reads_back else view.relationship_type


def change_of(side: Side, pair: Relationship, earlier: Relationship | None) -> Change:
    """Return a side's change since a position, None for a new pair."""
    if earlier is None:
        return "new"
    was = next(other_side for other_side in sides_of(earlier) if other_side.who == side.who)
    if side.mean is not None and was.mean is not None and abs(side.mean - was.mean) >= BETTER_FROM:
        return "better" if side.mean > was.mean else "worse"
    change_words, told_then = (
        (relationship.status, relationship.relationship_type, relationship.intensity)
        for relationship in (pair, earlier)
    )
    return "other" if (change_words, side) != (told_then, was) else ""


class DrawnPerson(NamedTuple):
    """A person in the picture.

    The chosen one has a plate in the middle.
    """

    entity_id: str
    name: str
    x: float
    y: float
    anchor: str
    text_x: float
    text_y: float
    plate: float = 0.0

    def rim(self, towards: complex) -> complex:
        """Return where a line towards a point begins: at the rim of the dot, or of the plate."""
        middle = complex(self.x, self.y)
        way = towards - middle
        room = _DOT + _GAP
        if self.plate:
            long, short = self.plate + _GAP, 17 + _GAP
            room = long * short * abs(way) / (math.hypot(short * way.real, long * way.imag) or 1.0)
        return middle + _straight(way) * room


class DrawnArrow(NamedTuple):
    """The arrow from one side to the other; `places` are on the line."""

    pair: Relationship
    side: Side
    path: str
    head: str
    width: float
    sign: complex
    mark: complex
    is_beside: bool
    label: tuple[str, ...] = ()
    """The words on its line, on one or two lines of text."""
    label_at: complex = 0j
    places: tuple[complex, ...] = ()


class RelationshipGraph(NamedTuple):
    """People and arrows, and how many people had no room."""

    people: Sequence[DrawnPerson]
    arrows: Sequence[DrawnArrow]
    width: float
    height: float
    left_out: int
    line_height: float
    """From one line of the words on an arrow to the next."""


def relationship_graph(
    pairs: Sequence[Relationship], names: Mapping[str, str], *, chosen_id: str = "", sheet: Sheet = BROAD
) -> RelationshipGraph:
    """Return where people and arrows stand, and the words on the lines."""
    named_relationships = [
        relationship
        for relationship in pairs
        if relationship.character_a in names and relationship.character_b in names
    ]
    near = {who for relationship in named_relationships for who in _both(relationship)}
    chosen_id = chosen_id if chosen_id in near else ""
    if chosen_id:
        near = {
            who
            for relationship in named_relationships
            if chosen_id in _both(relationship)
            for who in _both(relationship)
        }
        named_relationships = [
            relationship for relationship in named_relationships if near.issuperset(_both(relationship))
        ]
    weight: Counter[str] = Counter()
    for relationship in named_relationships:
        for who in _both(relationship):
            weight[who] += 1 + relationship.intensity + (1000 if chosen_id in _both(relationship) else 0)
    del weight[chosen_id]
    kept_names = {who for who, _ in weight.most_common(MAX_DRAWN)}
    order = [who for who in _seriated(named_relationships) if who in kept_names]
    labels_by_id = {who: shortened(names[who], sheet.longest_name) for who in near}
    margin = 22 + max((_length(labels_by_id[who], sheet.letter) for who in order), default=0.0)
    width = max(sheet.least_width, round(2 * (sheet.radius + margin)))
    people = {
        who: _on_the_rim(
            who, labels_by_id[who], 2 * math.pi * index / len(order), (width / 2, width / 2 - margin), sheet
        )
        for index, who in enumerate(order)
    }
    if chosen_id:
        middle = (width / 2, sheet.height / 2)
        plate = round(14.0 + _length(labels_by_id[chosen_id], sheet.letter) / 2, 1)
        people[chosen_id] = DrawnPerson(
            chosen_id, labels_by_id[chosen_id], *middle, "middle", middle[0], middle[1] + 6, plate
        )
    arrows = [
        arrow
        for relationship in named_relationships
        if people.keys() >= {*_both(relationship)}
        for arrow in _arrows(
            relationship,
            people,
            complex(width, sheet.height) / 2,
            is_beside=chosen_id not in ("", *_both(relationship)),
        )
    ]
    arrows = _with_words(arrows, people.values(), sheet, width)
    left_out = len(weight) - len(kept_names)
    return RelationshipGraph(list(people.values()), arrows, width, sheet.height, left_out, sheet.line_height)


def _with_words(
    arrows: Sequence[DrawnArrow], people: Collection[DrawnPerson], sheet: Sheet, width: float
) -> list[DrawnArrow]:
    """Return arrows with what each pair is to each other written where nothing else stands, once for both sides."""
    signs = [arrow.sign for arrow in arrows if arrow.side.warmth != "unsaid"]
    taken_areas = [(point, 20.0, 20.0) for point in (*signs, *(arrow.mark for arrow in arrows))]
    taken_areas += [_name_area(person, sheet) for person in people]
    worded_words: set[str] = set()
    drawn_arrows = []
    places = {person.entity_id: (person.x, person.y) for person in people}
    for arrow in arrows:
        words = _two_lines(_label(arrow, places) or arrow.pair.status, sheet.longest_label)
        long, tall = max(_length(line, sheet.label_letter) for line in words) + 6, sheet.line_height * len(words)
        free = (
            point
            for point in arrow.places
            if long / 2 < point.real < width - long / 2
            and all(
                abs(point.real - other.real) >= (long + wide) / 2 or abs(point.imag - other.imag) >= (tall + high) / 2
                for other, wide, high in taken_areas
            )
        )
        at = None if arrow.pair.relationship_id in worded_words else next(free, None)
        if words[0] and at is not None:
            worded_words.add(arrow.pair.relationship_id)
            taken_areas.append((at, long, tall))
            arrow = arrow._replace(label=words, label_at=at)
        drawn_arrows.append(arrow)
    return drawn_arrows


def _label(arrow: DrawnArrow, places: Mapping[str, tuple[float, float]]) -> str:
    """Return a pair's type from the left, or from above."""
    return type_of_side(arrow.pair, min(_both(arrow.pair), key=lambda who: places[who]))


def _name_area(person: DrawnPerson, sheet: Sheet) -> tuple[complex, float, float]:
    """Return the middle, the width and the height of a written name."""
    long = 2 * person.plate or _length(person.name, sheet.letter)
    away = {"start": long / 2, "middle": 0.0, "end": -long / 2}[person.anchor]
    return complex(person.text_x + away, person.text_y - sheet.letter / 2), long, 2 * sheet.letter


def _both(pair: Relationship) -> tuple[str, str]:
    return pair.character_a, pair.character_b


def _seriated(pairs: Iterable[Relationship]) -> list[str]:
    """Return people with newcomers beside their partners, keeping the order."""
    order: list[str] = []
    for relationship in pairs:
        first, second = _both(relationship)
        if first not in order and second not in order:
            order += [first, second]
        elif second not in order:
            order.insert(order.index(first) + 1, second)
        elif first not in order:
            order.insert(order.index(second) + 1, first)
    return order


def shortened(name: str, width: int) -> str:
    """Return a name cut to a width, Chinese characters counting double."""
    taken_count = 0
    for index, character in enumerate(name):
        taken_count += 1 if character < "\u2e80" else 2
        if taken_count > width:
            return f"{name[:index].rstrip()}…"
    return name


def _two_lines(words: str, width: int) -> tuple[str, ...]:
    """Return words on one line of a width, or on two, parted between words where there are any."""
    first = shortened(words, width)
    if first == words:
        return (words,)
    first = first.removesuffix("…")
    if not words[len(first)].isspace():
        first = first.rpartition(" ")[0] or first
    return first, shortened(words[len(first) :].lstrip(), width)


def _length(name: str, letter: float) -> float:
    """Return about how long a name is as it is written."""
    return sum(letter if character < "\u2e80" else 2 * letter for character in name)


def _on_the_rim(entity_id: str, name: str, angle: float, across_of: tuple[float, float], sheet: Sheet) -> DrawnPerson:
    """Return somebody at an angle of the ellipse; `across_of` is its middle and its radius across."""
    across, down = math.sin(angle), -math.cos(angle)
    middle, radius = across_of
    x, y = round(middle + radius * across, 1), round(sheet.height / 2 + sheet.rise * down, 1)
    if abs(across) >= 0.05:
        away, anchor = (15, "start") if across > 0 else (-15, "end")
        return DrawnPerson(entity_id, name, x, y, anchor, x + away, y + 6)
    return DrawnPerson(entity_id, name, x, y, "middle", x, y + (30 if down > 0.9 else -18 if down < -0.9 else 6))


def _arrows(
    pair: Relationship, people: Mapping[str, DrawnPerson], centre: complex, *, is_beside: bool
) -> Iterable[DrawnArrow]:
    """Return both sides of pairs as curves with complex points."""
    sides = sides_of(pair)
    rendered_sides = [side for side in sides if side.is_told]
    width = round(1.2 + pair.intensity * 0.38, 1)
    for side in rendered_sides or sides[:1]:
        start, end = people[side.who], people[side.other]
        way = complex(end.x - start.x, end.y - start.y)
        # Both sides of a pair bend away from each other, and lines between neighbours a little towards the middle.
        control = complex(start.x, start.y) + way / 2 + 1j * _straight(way) * min(34.0, 0.16 * abs(way))
        control += (centre - control) * (0.0 if start.plate or end.plate else 0.1 if is_beside else 0.22)
        begin, tip = start.rim(control), end.rim(control)
        back = _straight(control - tip) * (_HEAD + width)
        neck = tip + back * 0.8 if rendered_sides else tip
        corners = (tip, tip + back * (1 + 0.42j), tip + back * (1 - 0.42j)) if rendered_sides else ()
        sign, mark, *places = (
            (1 - share) ** 2 * begin + 2 * (1 - share) * share * control + share**2 * neck
            for share in (0.3, 0.52, *_SHARES_OF_WORDS)
        )
        path = f"M{_at(begin)} Q{_at(control)} {_at(neck)}"
        head = " ".join(map(_at, corners))
        yield DrawnArrow(pair, side, path, head, width, sign, mark, is_beside, places=tuple(places))


_SHARES_OF_WORDS = (0.5, 0.4, 0.6, 0.68, 0.34, 0.76, 0.26, 0.84)
"""Where on a line its words may stand, the first that is free."""


def _straight(way: complex) -> complex:
    """Return a way of the length 1."""
    return way / (abs(way) or 1.0)


def _at(point: complex) -> str:
    return f"{point.real:.1f},{point.imag:.1f}"


CHART_WIDTH, CHART_HEIGHT = 460.0, 170.0
_CHART_LEFT, _CHART_RIGHT, _CHART_TOP, _CHART_BOTTOM = 34.0, 110.0, 12.0, 22.0
_LABEL_HEIGHT = 15.0


class CourseLine(NamedTuple):
    """One dimension over the scenes."""

    name: str
    path: str
    value: int
    label_y: float


class CourseChart(NamedTuple):
    """One side's feelings over scenes.

    `zero_y` is neutral, `top` and `bottom` are bounds.
    """

    lines: Sequence[CourseLine]
    zero_y: float
    top: int
    bottom: int


def course_chart(
    steps: Sequence[CourseStep],
    values: Sequence[Mapping[Any, int]],
    places: Sequence[tuple[int, int]],
    *,
    top: int = 100,
) -> CourseChart:
    """Return how values ran over the scenes, as lines with steps, from the highest to the lowest."""
    bottom = -top if any(value < 0 for other_value in values for value in other_value.values()) else 0
    right = CHART_WIDTH - _CHART_RIGHT

    def x_of(step: CourseStep) -> float:
        # A statement for a whole chapter stands behind its scenes, one without a place before all of them.
        scene = 10**9 if step.scene_index is None else step.scene_index
        index = -1 if step.chapter_index is None else sum(place <= (step.chapter_index, scene) for place in places) - 1
        return _CHART_LEFT + (right - _CHART_LEFT) * max(0, index) / max(1, len(places))

    def y_of(value: int) -> float:
        return _CHART_TOP + (CHART_HEIGHT - _CHART_TOP - _CHART_BOTTOM) * (top - value) / (top - bottom)

    drawn_points = []
    for name in dict.fromkeys(name for value in values for name in value):
        held_values = [
            (x_of(step), y_of(fields[name])) for step, fields in zip(steps, values, strict=True) if name in fields
        ]
        path = " ".join(f"H{x:.1f} V{y:.1f}" for x, y in held_values[1:])
        last = [value[name] for value in values if name in value][-1]
        start = f"M{held_values[0][0]:.1f} {held_values[0][1]:.1f}"
        drawn_points.append(
            (held_values[-1][1], str(name), " ".join(filter(None, (start, path, f"H{right:.1f}"))), last)
        )
    lines: list[CourseLine] = []
    drawn_points.sort(key=lambda item: item[0])
    for index, (y, name, path, last) in enumerate(drawn_points):
        # The names of the lines are moved apart.
        above = lines[-1].label_y + _LABEL_HEIGHT if lines else _CHART_TOP
        lowest = CHART_HEIGHT - 6 - _LABEL_HEIGHT * (len(drawn_points) - 1 - index)
        lines.append(CourseLine(name, path, last, round(max(above, min(y + 5, lowest)), 1)))
    return CourseChart(lines, round(y_of(0), 1), top, bottom)


LATELY = (3, 5, 10, 25, 100)
"""How many scenes back the drawing may look for what changed."""


@router.get("/page/projects/{project_id}/relationships")
def relationships_page(
    visit: Visited, person: Name = "", pair: Name = "", lately: Shown = 5, rows: Shown = 40
) -> Response:
    """Draw and list relationships, optionally of one person or pair."""
    places = visit.here.known_places
    names = visit.names()
    pairs = visit.story.relationships.list(as_of=visit.as_of)
    # Before the first scene none were known.
    then = visit.story.relationships.list(as_of=StoryPosition(*places[-lately])) if len(places) > lately else []
    earlier = {relationship.relationship_id: relationship for relationship in then}
    people = {who for relationship in pairs for who in _both(relationship) if who in names}
    choice = person if person in people else ""
    listed_relationships = [relationship for relationship in pairs if choice in ("", *_both(relationship))]
    relationship = next((relationship for relationship in pairs if relationship.relationship_id == pair), None)
    return visit.page(
        "relationships",
        rows=listed_relationships[:rows],
        count=len(listed_relationships),
        names=names,
        people=sorted(people, key=lambda item: names[item]),
        chosen=choice,
        lately=lately,
        lately_choices=sorted({*LATELY, lately}),
        sides_of=sides_of,
        type_of_side=type_of_side,
        change_of=lambda side, pair: change_of(side, pair, earlier.get(pair.relationship_id)),
        graphs={
            form: relationship_graph(pairs, names, chosen_id=choice, sheet=sheet)
            for form, sheet in (("broad", BROAD), ("narrow", NARROW))
        },
        chart_size=(CHART_WIDTH, CHART_HEIGHT),
        viewed=relationship,
        charts=[] if relationship is None else _charts(visit, relationship, places),
        ranges=DIMENSION_RANGES,
    )


def _charts(
    visit: Visit, pair: Relationship, places: Sequence[tuple[int, int]]
) -> list[tuple[Side | None, CourseChart]]:
    """Return the charts of a pair's sides and strength."""
    steps = visit.story.relationships.course(pair.character_a, pair.character_b, as_of=visit.as_of).steps
    felt_values = {
        pair.character_a: [course_step.dimensions_a for course_step in steps],
        pair.character_b: [course_step.dimensions_b for course_step in steps],
    }
    charts: list[tuple[Side | None, CourseChart]] = [
        (side, course_chart(steps, values, places)) for side in sides_of(pair) if any(values := felt_values[side.who])
    ]
    return [
        *charts,
        (None, course_chart(steps, [{"strength": course_step.intensity} for course_step in steps], places, top=10)),
    ]
