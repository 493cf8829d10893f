"""Cards of characters, places, things, groups and terms."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, NamedTuple, get_args

from starlette.responses import Response

from novelgen.context.lines import labels_for, render_value
from novelgen.lorebook import LorebookForm
from novelgen.models.entity import Entity, EntityType
from novelgen.models.knowledge import KnownMemory
from novelgen.models.position import END_OF_STORY
from novelgen.models.state import PRESENCE_ATTRIBUTE
from novelgen.nearest import nearest_names
from runtime.page.visits import MAX_SHOWN, Name, Shown, Visited, download, router
from runtime.story.entities import EntityCard, StoryEntities
from runtime.story.knowledge import Narrowing
from runtime.story.relationships import StoryRelationships
from runtime.story.states import AttributeHistory, StateStep, StoryStates
from runtime.story.threads import StoryThreads
from runtime.story.who_is_who import EVERY_STATUS, Order, StoryAppearances

CARDS_AT_ONCE = 60
MEMORIES_AT_ONCE = 20
FACTS_AT_ONCE = 6
KINDS: tuple[EntityType, ...] = get_args(EntityType)
CANDIDATES_AT_ONCE = 30
CHANGES_SHOWN = 30
ORDERS: tuple[Order, ...] = get_args(Order)


class ToldStep(NamedTuple):
    """A value of an attribute in words, with where it was said."""

    value: str
    step: StateStep


class ToldAttribute(NamedTuple):
    """An attribute as a card shows it: how it stands, and what it was before."""

    attribute: str
    name: str
    now: ToldStep
    before: list[ToldStep]
    field: str | None
    """The value as a form has it, one entry of a list a line; None where a form cannot have it."""


@router.get("/page/projects/{project_id}/cards")
def cards_page(
    visit: Visited, kind: Name = "", find: Name = "", order: Name = "weight", shown: Shown = CARDS_AT_ONCE
) -> Response:
    """List characters, places, things, groups and terms."""
    ordered: Order = order if order in ORDERS else "weight"
    known = visit.kept(StoryAppearances.list_appearances, order=ordered)
    wanted = find.strip().casefold()
    matching = [each for each in known if not wanted or any(wanted in name.casefold() for name in each.entity.names())]
    counts = {kind: sum(each.entity.entity_type == kind for each in matching) for kind in KINDS}
    found = [each for each in matching if kind in ("", each.entity.entity_type)]
    return visit.frame("cards").page(
        "cards",
        cards=found[:shown],
        count=len(found),
        counts=counts,
        kind=kind,
        find=find,
        order=ordered,
        orders=ORDERS,
        most=max((each.scenes for each in known), default=0),
        at_once=CARDS_AT_ONCE,
    )


@router.get("/page/projects/{project_id}/cards/new")
def new_card_page(visit: Visited, kind: Name = "") -> Response:
    """Show the form of a new card, with the fields of its kind."""
    chosen = kind if kind in KINDS else KINDS[0]
    templates = visit.story.card_templates()
    return visit.frame("cards").page(
        "new_card",
        kind=chosen,
        kinds=KINDS,
        fields=[each for each in templates.fields if each.kind == chosen],
        templates=templates.templates,
        names=_names_by_kind(visit),
    )


@router.get("/page/projects/{project_id}/card")
def card_page(visit: Visited, entity: Name, shown: Shown = MEMORIES_AT_ONCE) -> Response:
    """Show an entity: its names, how it stands, its relationships, what it knows and what is remembered of it."""
    as_of = visit.as_of
    # At the end, too, each name is told with the scene from which it counts.
    card = visit.kept(StoryEntities.entity, entity=entity, as_of=as_of or END_OF_STORY)
    entity_id = card.entity.entity_id
    is_person = card.entity.entity_type == "character"
    known = visit.kept(StoryAppearances.list_appearances)
    names = {each.entity.entity_id: each.entity.name for each in known}
    about = visit.story.memories_about(entity=entity_id, limit=shown, as_of=as_of)
    threads = visit.kept(StoryThreads.threads, statuses=EVERY_STATUS)
    frame = visit.frame("cards")
    histories = visit.kept(StoryStates.attribute_histories, entity=entity_id)
    standing, over = _attributes(card, histories, names, frame.language)
    lasting = [
        each
        for each in visit.story.card_templates().fields
        if each.kind == card.entity.entity_type
        and not each.changes
        and (not isinstance(card.entity.profile.get(each.kept_as), dict))
    ]
    return frame.page(
        "card",
        card=card,
        appearance=next(each for each in known if each.entity.entity_id == entity_id),
        profile=_profile(card.entity, names, frame.language),
        fields=lasting,
        values=field_values(card.entity, names),
        names_by_kind=_names_by_kind(visit),
        related=visit.kept(StoryRelationships.relationships_of, character=entity_id) if is_person else [],
        knows=_facts(visit, entity_id, "known") if is_person else [],
        kept_from=_facts(visit, entity_id, "secret") if is_person else [],
        threads=[each for each in threads if entity_id in each.related_entities],
        memories=about.memories,
        more=min(about.more, MAX_SHOWN - shown),
        shown=shown,
        at_once=MEMORIES_AT_ONCE,
        names=names,
        alike=[each.entity for each in known if each.entity.entity_type == card.entity.entity_type],
        standing=standing,
        over=over,
    )


@router.get("/page/projects/{project_id}/card/rename")
def rename_page(visit: Visited, entity: Name, new_name: Name) -> Response:
    """Show what another name would change."""
    old = visit.story.entity(entity=entity).entity
    preview = visit.story.rename_card(old.entity_id, new_name.strip())
    names = visit.story.entity_names()
    return visit.frame("cards").page("rename", preview=preview, old=old.name, names=names, in_text=False)


@router.get("/page/projects/{project_id}/card/merge")
def merge_page(visit: Visited, keep: Name, gone: Name) -> Response:
    """Show what would be joined if two cards were one."""
    preview = visit.story.preview_merge(keep=keep, gone=gone, as_of=visit.as_of or END_OF_STORY)
    return visit.frame("cards").page("merge", preview=preview)


@router.get("/page/projects/{project_id}/lore")
def lore_page(visit: Visited) -> Response:
    """Show the lorebook: notes that are read at a word of the plan, or always; it is taken in and out here."""
    entries = visit.story.lore(as_of=visit.as_of)
    return visit.frame("cards").page("lore", entries=entries, forms=get_args(LorebookForm))


@router.get("/page/projects/{project_id}/lore/{form}")
def export_lorebook(visit: Visited, form: LorebookForm) -> Response:
    """Give the lorebook as SillyTavern or NovelAI reads it."""
    written = json.dumps(visit.story.export_lore(form), ensure_ascii=False, indent=2).encode("utf-8", "replace")
    suffix = "lorebook" if form == "novelai" else "json"
    return download(written, visit.served.project_id, suffix, "application/json")


@router.get("/page/projects/{project_id}/who-is-who")
def identities_page(visit: Visited, shown: Shown = CANDIDATES_AT_ONCE) -> Response:
    """Show names that nobody bears yet, and the latest decisions on who is who."""
    as_of = visit.as_of
    offered = visit.story.candidates(as_of=as_of)
    known = visit.story.entities(as_of=as_of or END_OF_STORY)
    bearers = {name: each.name for each in reversed(known) for name in each.names()}
    changes = visit.story.list_entity_changes()[::-1]
    return visit.frame("cards").page(
        "who_is_who",
        candidates=[
            (each, list(dict.fromkeys(bearers[near] for near in nearest_names(each.name, bearers, at_most=3))))
            for each in offered[:shown]
        ],
        count=len(offered),
        at_once=CANDIDATES_AT_ONCE,
        known=known,
        kinds=KINDS,
        # What was decided may tell of what comes later; it is listed where all of the story is shown.
        changes=changes[:CHANGES_SHOWN] if as_of is None else [],
        names={each.entity_id: each.name for each in known},
    )


def _names_by_kind(visit: Visited) -> dict[str, list[str]]:
    known = [each.entity for each in visit.kept(StoryAppearances.list_appearances)]
    return {kind: [each.name for each in known if each.entity_type == kind] for kind in KINDS}


def field_values(entity: Entity, names: Mapping[str, str]) -> dict[str, str]:
    """Return what a card says in its fields as a form has it: a list in one line."""
    return {
        name: "、".join(names.get(str(each), str(each)) for each in (value if isinstance(value, list) else [value]))
        for name, value in entity.profile.items()
        if not isinstance(value, dict)
    }


def _facts(visit: Visited, character: str, narrowing: Narrowing) -> list[tuple[Any, KnownMemory | None]]:
    """Return the latest facts that somebody knows, or that are kept from them, with how they know them."""
    table = visit.story.knowledge_table(
        as_of=visit.as_of, narrowing=narrowing, of=character, is_of_one=True, limit=FACTS_AT_ONCE
    )
    cells = [row.cells[0] for row in table.rows]
    return [(row, cell if isinstance(cell, KnownMemory) else None) for row, cell in zip(table.rows, cells, strict=True)]


def _attributes(
    card: EntityCard, histories: list[AttributeHistory], names: Mapping[str, str], language: str
) -> tuple[list[ToldAttribute], list[ToldAttribute]]:
    """Return the attributes that hold, and those that hold no more."""
    labels = labels_for(language)
    data = {} if card.state is None else card.state.state_data
    standing: list[ToldAttribute] = []
    over: list[ToldAttribute] = []
    for history in histories:
        if history.attribute == PRESENCE_ATTRIBUTE:
            continue
        steps = [
            ToldStep("—" if _is_empty(each.value) else render_value(each.value, names, labels), each)
            for each in history.steps
        ]
        told = ToldAttribute(
            history.attribute,
            labels.attribute(history.attribute).replace("_", " "),
            steps[0],
            steps[1:],
            _field(history.steps[0].value, names),
        )
        (over if _is_empty(data.get(history.attribute)) else standing).append(told)
    return standing, over


def _is_empty(value: Any) -> bool:
    return value in (None, [], "")


def _field(value: Any, names: Mapping[str, str]) -> str | None:
    if isinstance(value, list) and all(isinstance(each, str) for each in value):
        return "\n".join(names.get(each, each) for each in value)
    if isinstance(value, str):
        return names.get(value, value)
    return "" if value is None else str(value) if isinstance(value, int | float) else None


def _profile(entity: Entity, names: Mapping[str, str], language: str) -> list[tuple[str, str]]:
    """Return what the card of an entity says besides, in words."""
    labels = labels_for(language)
    untold = ("metadata", "current_state", "translation", "alias_translations", "generic", "same_as")
    return [
        (labels.attribute(name).replace("_", " "), render_value(value, names, labels))
        for name, value in entity.profile.items()
        if name not in untold and value not in (None, "", [], {}) and value != entity.description
    ]
