"""What a person changes on cards: fields, names, states; who is one with whom; names that nobody bears yet."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, get_args

from fastapi import APIRouter
from starlette.responses import Response

from novelgen.errors import UnknownEntityError, UserInputError
from novelgen.models.entity import Entity, EntityAlias, EntityType, is_entity_id
from novelgen.models.position import END_OF_STORY, StoryPosition
from novelgen.nearest import nearest_names
from runtime.page.notices import TakingBack, undo_by_number
from runtime.page.taking_back import led_back
from runtime.page.visits import Form, Name, PageRoute, Shown, Visit, Visited, place_in, place_of
from runtime.story.appearances import StoryAppearances
from runtime.story.entities import StoryEntities
from runtime.story.name_candidates import StoryNameCandidates

router = APIRouter(route_class=PageRoute, include_in_schema=False)

KINDS: tuple[EntityType, ...] = get_args(EntityType)
CANDIDATES_AT_ONCE = 30
CHANGES_SHOWN = 30
MAX_TEXT = 4000
FIELDS = ("name", "role", "description")
ID_ATTRIBUTES = ("holder", "location_id")
"""Attributes whose value is somebody or something that has a card."""


@router.post("/page/projects/{project_id}/card/edit")
def edit_card(visit: Visited, form: Form) -> Response:
    """Change name, role and description; of what was not touched nothing is written."""
    shown = _card(visit, form, is_cut=True)
    whole = _card(visit, form)
    said = {each: form[each].strip()[:MAX_TEXT] for each in FIELDS if each in form}
    if "name" in said and not said["name"]:
        raise UserInputError("a card needs a name; write one")
    changed = {each: value for each, value in said.items() if value != getattr(shown, each)}
    if not changed:
        raise UserInputError("nothing of the card was changed; write another name, role or description")
    before: dict[str, Any] = {each: getattr(whole, each) for each in changed}
    if "name" in changed:
        changed |= _renaming(whole, changed["name"])
        before |= _names_of(whole)
    return _edited(visit, form, whole, changes=changed, before=before, done="edit_card", told=whole.name)


@router.post("/page/projects/{project_id}/card/alias")
def change_alias(visit: Visited, form: Form) -> Response:
    """Add a name to a card, or take one away."""
    whole = _card(visit, form)
    alias, gone = form.get("alias", "").strip()[:400], form.get("gone", "").strip()
    if gone:
        kept = [each.model_dump() for each in whole.aliases if each.alias != gone]
        if len(kept) == len(whole.aliases):
            raise UserInputError(f"{gone!r} is no other name of {whole.entity_id}; choose one of its card")
        changes: dict[str, Any] = {"aliases": kept}
    elif alias:
        place = place_in(form, "since")
        of_alias: dict[str, Any] = {"alias": alias}
        if place is not None:
            of_alias |= {"first_chapter": place.chapter_index, "first_scene": place.scene_index}
        changes = {"alias": of_alias}
    else:
        raise UserInputError("the name is empty; write another name of this card")
    before = {"aliases": [each.model_dump() for each in whole.aliases]}
    return _edited(visit, form, whole, changes=changes, before=before, done="alias", told=alias or gone)


@router.post("/page/projects/{project_id}/card/state")
def correct_state(visit: Visited, form: Form) -> Response:
    """Say how an attribute stands from the page's position on."""
    stores, project_id = visit.served.stores, visit.served.project_id
    attribute = form.get("attribute", "").strip()[:200]
    if not attribute:
        raise UserInputError("which attribute is corrected is not said; write one, such as status")
    card = StoryEntities(stores, project_id).entity(name=_name(form), as_of=visit.as_of or END_OF_STORY)
    old = None if card.state is None else card.state.state_data.get(attribute)
    value = _value(visit, attribute, form.get("value", "").strip()[:MAX_TEXT], old)
    if value == old:
        raise UserInputError(f"{attribute!r} stands like that already; write another value")
    StoryEntities(stores, project_id).edit_entity(
        name=card.entity.entity_id, changes={}, state={attribute: value}, start=visit.as_of
    )
    undo = TakingBack(kind="card", entity=card.entity.entity_id, attributes={attribute: old}, start=visit.standing)
    return led_back(form.get("back", ""), "state", told=card.entity.name, undo=undo.packed())


@router.get("/page/projects/{project_id}/card/merge")
def merge_page(visit: Visited, keep: Name, gone: Name) -> Response:
    """Show what would be joined if two cards were one."""
    preview = StoryAppearances(visit.served.stores, visit.served.project_id).preview_merge(
        keep=keep, gone=gone, as_of=visit.as_of or END_OF_STORY
    )
    return visit.frame("cards").page("merge", preview=preview)


@router.post("/page/projects/{project_id}/card/merge")
def merge_cards(visit: Visited, form: Form) -> Response:
    """Make one card part of another."""
    keep, gone = form.get("keep", "").strip(), form.get("gone", "").strip()
    if not keep or not gone:
        raise UserInputError("which two are one is not said; name both")
    merged = StoryEntities(visit.served.stores, visit.served.project_id).merge_entities(keep=keep, gone=gone)
    undo = undo_by_number("entity_change", merged.change.change_id)
    told = merged.entity.name if merged.entity else keep
    return led_back(visit.address("card", entity=merged.change.entity_id), "merge", told=told, undo=undo)


@router.post("/page/projects/{project_id}/card/split")
def split_card(visit: Visited, form: Form) -> Response:
    """Take a new card out of one, with names and scenes that are its own."""
    new_name = form.get("new_name", "").strip()[:400]
    if not new_name:
        raise UserInputError("the new card needs a name: one of the names, or a new one")
    split = StoryEntities(visit.served.stores, visit.served.project_id).split_entity(
        name=_name(form),
        new_name=new_name,
        aliases=[value for name, value in sorted(form.items()) if name.startswith("alias_") and value],
        scenes=_places(form.get("scenes", "")),
    )
    undo = undo_by_number("entity_change", split.change.change_id)
    return led_back(visit.address("card", entity=split.change.other_id), "split", told=new_name, undo=undo)


@router.get("/page/projects/{project_id}/who-is-who")
def identities_page(visit: Visited, shown: Shown = CANDIDATES_AT_ONCE) -> Response:
    """Show names that nobody bears yet, and the latest decisions on who is who."""
    stores, project_id, as_of = visit.served.stores, visit.served.project_id, visit.as_of
    offered = StoryNameCandidates(stores, project_id).list_candidates(as_of=as_of).candidates
    known = StoryEntities(stores, project_id).entities(as_of=as_of or END_OF_STORY)
    bearers = {name: each.name for each in reversed(known) for name in each.names()}
    changes = StoryEntities(stores, project_id).list_entity_changes()[::-1]
    return visit.frame("cards").page(
        "who_is_who",
        candidates=[(each, _near(each.name, bearers)) for each in offered[:shown]],
        count=len(offered),
        at_once=CANDIDATES_AT_ONCE,
        known=known,
        kinds=KINDS,
        # What was decided may tell of what comes later; it is listed where all of the story is shown.
        changes=changes[:CHANGES_SHOWN] if as_of is None else [],
        names={each.entity_id: each.name for each in known},
    )


@router.post("/page/projects/{project_id}/who-is-who")
def decide_on_candidate(visit: Visited, form: Form) -> Response:
    """Make a name somebody or something, a name of one that there is, or never offer it again."""
    stores, project_id = visit.served.stores, visit.served.project_id
    name, decision = form.get("name", "").strip(), form.get("decision", "")
    if not name:
        raise UserInputError("which name is decided on is not said; choose one of the list")
    if decision == "confirm":
        kind = next((each for each in KINDS if each == form.get("kind")), None)
        decided = StoryNameCandidates(stores, project_id).confirm_candidate(name=name, kind=kind)
    elif decision == "name":
        keep = form.get("keep", "").strip()
        if not keep:
            raise UserInputError(f"whose name {name!r} is, is not said; write a name of a card")
        decided = StoryNameCandidates(stores, project_id).merge_candidate(keep=keep, other=name)
    elif decision == "drop":
        decided = StoryNameCandidates(stores, project_id).drop_candidate(name=name)
    else:
        raise UserInputError(f"{decision!r} is no decision on a name; choose confirm, name or drop")
    undo = undo_by_number("entity_change", decided.change.change_id)
    done = "confirm_card" if decision == "confirm" else decision
    return led_back(form.get("back", ""), done, told=name, undo=undo)


def _name(form: dict[str, str]) -> str:
    name = form.get("entity", "").strip()
    if not name:
        raise UserInputError("which card is changed is not said; open it from the list of cards")
    return name


def _card(visit: Visit, form: dict[str, str], *, is_cut: bool = False) -> Entity:
    """Return the entity of a form: as the page shows it, or whole."""
    as_of = (visit.as_of or END_OF_STORY) if is_cut else None
    return StoryEntities(visit.served.stores, visit.served.project_id).entity(name=_name(form), as_of=as_of).entity


def _edited(
    visit: Visit,
    form: dict[str, str],
    whole: Entity,
    *,
    changes: dict[str, Any],
    before: dict[str, Any],
    done: str,
    told: str,
) -> Response:
    StoryEntities(visit.served.stores, visit.served.project_id).edit_entity(name=whole.entity_id, changes=changes)
    undo = TakingBack(kind="card", entity=whole.entity_id, changes=before)
    return led_back(form.get("back", ""), done, told=told, undo=undo.packed())


def _names_of(entity: Entity) -> dict[str, Any]:
    return {
        "name": entity.name,
        "aliases": [each.model_dump() for each in entity.aliases],
        "name_first_chapter": entity.name_first_chapter,
        "name_first_scene": entity.name_first_scene,
    }


def _renaming(entity: Entity, name: str) -> dict[str, Any]:
    """Return the names of an entity listed under another one: the old one stays one of its names."""
    own = next((each for each in entity.aliases if each.alias == name), EntityAlias(alias=name))
    before = EntityAlias(
        alias=entity.name, first_chapter=entity.name_first_chapter, first_scene=entity.name_first_scene
    )
    others = [each for each in entity.aliases if each.alias not in (name, entity.name)]
    return {
        "name": name,
        "aliases": [each.model_dump() for each in (before, *others)],
        "name_first_chapter": own.first_chapter,
        "name_first_scene": own.first_scene,
    }


def _value(visit: Visit, attribute: str, text: str, old: Any) -> Any:
    """Return what a form says of an attribute, in the shape that it had: a list has one entry a line."""
    if not text:
        return None
    if old is not None and not isinstance(old, str | list):
        raise UserInputError(f"{attribute!r} is neither a text nor a list; correct it over HTTP or in Python")
    lines = [line.strip() for line in text.split("\n") if line.strip()]
    olds = old if isinstance(old, list) else [old]
    if attribute in ID_ATTRIBUTES or any(isinstance(each, str) and is_entity_id(each) for each in olds):
        lines = [_meant(visit, line) for line in lines]
    return lines if isinstance(old, list) else "\n".join(lines)


def _meant(visit: Visit, text: str) -> str:
    """Return the id of whom a text names, or the text."""
    try:
        found = StoryEntities(visit.served.stores, visit.served.project_id).entity(
            name=text, as_of=visit.as_of or END_OF_STORY
        )
    except UnknownEntityError:
        return text
    return found.entity.entity_id


def _places(text: str) -> list[StoryPosition]:
    asked = re.split(r"[,，、\s]+", text)
    return [place for each in asked if (place := place_of(each, "scenes")) is not None]


def _near(name: str, bearers: dict[str, str]) -> Sequence[str]:
    near = nearest_names(name, bearers, at_most=3)
    return list(dict.fromkeys(bearers[each] for each in near))
