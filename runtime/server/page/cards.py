"""Cards of characters, places, things, groups and terms."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fastapi import APIRouter
from starlette.responses import Response

from novelgen.models.state import PRESENCE_ATTRIBUTE, EntityStateSnapshot
from novelgen.rendering.labels import Labels, labels_for
from novelgen.rendering.lines import render_value
from runtime.server.page.visits import (
    MAX_SHOWN,
    Name,
    PageRoute,
    Shown,
    Visited,
)
from runtime.services import attachments as attachment_services
from runtime.services import entities as entity_services
from runtime.services import relationships as relationship_services
from runtime.services.states import state_history

router = APIRouter(route_class=PageRoute, include_in_schema=False)

CARDS_AT_ONCE = 60
MEMORIES_AT_ONCE = 40
KINDS = ("character", "location", "item", "faction", "term")


@router.get("/page/projects/{project_id}/cards")
def cards_page(visit: Visited, kind: Name = "", find: Name = "", shown: Shown = CARDS_AT_ONCE) -> Response:
    """List characters, places, things, groups and terms."""
    known = entity_services.list_entities(visit.served.stores, visit.served.project_id, as_of=visit.as_of)
    wanted = find.strip().casefold()
    counts = {each: sum(entity.entity_type == each for entity in known) for each in KINDS}
    found = [
        each
        for each in known
        if kind in ("", each.entity_type)
        and (not wanted or any(wanted in name.casefold() for name in each.names()))
    ]
    return visit.frame("cards").page(
        "cards",
        cards=found[:shown],
        count=len(found),
        counts=counts,
        kind=kind,
        find=find,
        at_once=CARDS_AT_ONCE,
    )


@router.get("/page/projects/{project_id}/card")
def card_page(visit: Visited, entity: Name, shown: Shown = MEMORIES_AT_ONCE) -> Response:
    """Show an entity: its names, how it stands, its relationships and what is remembered of it."""
    stores, project_id, as_of = visit.served.stores, visit.served.project_id, visit.as_of
    card = entity_services.get_entity(stores, project_id, name=entity, as_of=as_of)
    entity_id = card.entity.entity_id
    related = (
        relationship_services.relationships_of(stores, project_id, character=entity_id, as_of=as_of)
        if card.entity.entity_type == "character"
        else []
    )
    about = attachment_services.memories_about(stores, project_id, entity=entity_id, limit=shown, as_of=as_of)
    frame = visit.frame("cards")
    names = entity_services.entity_names(stores, project_id, as_of=as_of)
    labels = labels_for(frame.language)
    return frame.page(
        "card",
        card=card,
        related=related,
        memories=about.memories,
        more=min(about.more, MAX_SHOWN - shown),
        shown=shown,
        at_once=MEMORIES_AT_ONCE,
        names=names,
        history=[
            (each, labels.attribute(each.attribute), _told_value(each.value, names, labels))
            for each in state_history(stores, project_id, entity=entity_id, as_of=as_of)[::-1]
        ],
        state=[] if card.state is None else _told_state(card.state, names, labels),
    )


def _told_state(
    state: EntityStateSnapshot, names: Mapping[str, str], labels: Labels
) -> list[tuple[str, str, bool]]:
    """Return attribute, value and whether a quote proves it, in words."""
    return [
        (labels.attribute(name), _told_value(value, names, labels), name not in state.unverified)
        for name, value in state.state_data.items()
        if name != PRESENCE_ATTRIBUTE and value not in (None, [], "")
    ]


def _told_value(value: Any, names: Mapping[str, str], labels: Labels) -> str:
    return "—" if value in (None, [], "") else render_value(value, names, labels)
