"""Who stands how to whom: as a drawing and as a table."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from fastapi import APIRouter
from starlette.responses import Response

from novelgen.models.state import Relationship
from runtime.server.page.visits import (
    PageRoute,
    Visited,
)
from runtime.services import entities as entity_services
from runtime.services import relationships as relationship_services

router = APIRouter(route_class=PageRoute, include_in_schema=False)


WIDTH, HEIGHT = 900, 620
_RADII = (300.0, 235.0)

MAX_DRAWN = 18
"""So many people stand on the circle without their names touching."""


@dataclass(frozen=True, slots=True)
class DrawnPerson:
    """Somebody on the circle.

    Args:
        entity_id: Who.
        name: As known at the position.
        x: Of the dot.
        y: Of the dot.
        anchor: On which side of the dot the name stands, as SVG says it.
        text_x: Of the name.
        text_y: Of the name.
    """

    entity_id: str
    name: str
    x: float
    y: float
    anchor: str
    text_x: float
    text_y: float


@dataclass(frozen=True, slots=True)
class DrawnPair:
    """A line between two people.

    Args:
        pair: What stands between them.
        path: The line, as SVG says it, bent towards the middle.
        width: The stronger, the thicker.
    """

    pair: Relationship
    path: str
    width: float


@dataclass(frozen=True, slots=True)
class RelationshipGraph:
    """People on a circle and the lines between them; who has fewest relationships is not drawn where there are many."""

    people: Sequence[DrawnPerson]
    pairs: Sequence[DrawnPair]


def relationship_graph(pairs: Sequence[Relationship], names: Mapping[str, str]) -> RelationshipGraph:
    """Return where people and lines of a graph stand.

    Args:
        pairs: How pairs stand.
        names: Entity id to name; pairs of whom no name is known are left out.
    """
    named = [each for each in pairs if each.character_a in names and each.character_b in names]
    counts = Counter(who for each in named for who in (each.character_a, each.character_b))
    drawn = [who for who, _ in counts.most_common(MAX_DRAWN)]
    people = {who: _person(who, names[who], index, len(drawn)) for index, who in enumerate(drawn)}
    lines = [
        DrawnPair(each, _path(people[each.character_a], people[each.character_b]), 1 + each.intensity / 2.5)
        for each in named
        if each.character_a in people and each.character_b in people
    ]
    return RelationshipGraph(list(people.values()), lines)


def _person(entity_id: str, name: str, index: int, count: int) -> DrawnPerson:
    angle = 2 * math.pi * index / count - math.pi / 2
    across, down = math.cos(angle), math.sin(angle)
    x, y = WIDTH / 2 + _RADII[0] * across, HEIGHT / 2 + _RADII[1] * down
    anchor = "middle" if abs(across) < 0.2 else "start" if across > 0 else "end"
    text_x = x + (0 if anchor == "middle" else 12 if anchor == "start" else -12)
    text_y = y + (26 if down > 0.9 else -14 if down < -0.9 else 5)
    return DrawnPerson(entity_id, name, round(x, 1), round(y, 1), anchor, round(text_x, 1), round(text_y, 1))


def _path(first: DrawnPerson, second: DrawnPerson) -> str:
    middle_x = ((first.x + second.x) / 2 + WIDTH / 2) / 2
    middle_y = ((first.y + second.y) / 2 + HEIGHT / 2) / 2
    return f"M{first.x} {first.y} Q{middle_x:.1f} {middle_y:.1f} {second.x} {second.y}"


@router.get("/page/projects/{project_id}/relationships")
def relationships_page(visit: Visited) -> Response:
    """Draw how people stand to each other, and list it."""
    stores, project_id = visit.served.stores, visit.served.project_id
    names = entity_services.entity_names(stores, project_id, as_of=visit.as_of)
    pairs = relationship_services.list_relationships(stores, project_id, as_of=visit.as_of)
    return visit.frame("relationships").page(
        "relationships",
        pairs=pairs,
        names=names,
        graph=relationship_graph(pairs, names),
        size=(WIDTH, HEIGHT),
    )
