"""Who stands how to whom: as a drawing and as a table, a pair's course, and saying what one feels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated

from fastapi import APIRouter, Query
from starlette.responses import Response

from novelgen.models.position import StoryPosition
from novelgen.models.state import DIMENSION_RANGES, Relationship
from runtime.page.frame import Here
from runtime.page.graph import (
    CHART_HEIGHT,
    CHART_WIDTH,
    HEIGHT,
    Change,
    CourseChart,
    Side,
    change_of,
    course_chart,
    relationship_graph,
    sides_of,
)
from runtime.page.visits import Name, PageRoute, Visited
from runtime.story.entities import StoryEntities
from runtime.story.relationships import StoryRelationships

router = APIRouter(route_class=PageRoute, include_in_schema=False)

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
    stores, project_id = visit.served.stores, visit.served.project_id
    here = visit.here()
    names = StoryEntities(stores, project_id).entity_names(as_of=visit.as_of)
    pairs = StoryRelationships(stores, project_id).relationships(as_of=visit.as_of)
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
    pairs = StoryRelationships(visit.served.stores, visit.served.project_id).relationships(as_of=then)
    return {each.relationship_id: each for each in pairs}


def _row(pair: Relationship, earlier: Mapping[str, Relationship]) -> PairRow:
    first, second = sides_of(pair)
    was = earlier.get(pair.relationship_id)
    return PairRow(pair, first, second, change_of(first, pair, was), change_of(second, pair, was))


def _pair_view(visit: Visited, here: Here, pair: Relationship, earlier: Mapping[str, Relationship]) -> PairView:
    row = _row(pair, earlier)
    course = StoryRelationships(visit.served.stores, visit.served.project_id).relationship_course(
        first=pair.character_a, second=pair.character_b, as_of=visit.as_of
    )
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
