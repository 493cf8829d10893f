"""The page in the browser: views over the services, for people."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from starlette.responses import RedirectResponse, Response

from novelgen.models.plan import ScenePlan
from novelgen.models.position import StoryPosition
from novelgen.models.state import PRESENCE_ATTRIBUTE, EntityStateSnapshot
from novelgen.rendering.labels import Labels, labels_for
from novelgen.rendering.lines import render_value
from runtime.server.house import READS, Project, TheHouse
from runtime.server.page.drawing import HEIGHT, WIDTH, relationship_graph
from runtime.server.page.frame import LANGUAGE_COOKIE, THEME_COOKIE, VIEWS, Frame, Here, project_address
from runtime.server.page.visits import Form, Known, PageRoute, Visited, number_in, own_address
from runtime.server.problems import Refusal
from runtime.server.routes.projects import check_health, list_projects, repair_project
from runtime.services import attachments as attachment_services
from runtime.services import continuity as continuity_services
from runtime.services import entities as entity_services
from runtime.services import knowledge as knowledge_services
from runtime.services import relationships as relationship_services
from runtime.services.condition import story_condition
from runtime.services.scene_reading import read_scene
from runtime.services.states import state_history
from runtime.services.story_time import story_timeline
from runtime.services.thread_ledger import thread_ledger

router = APIRouter(route_class=PageRoute, include_in_schema=False)

STATIC = Path(__file__).parent / "static"
STATIC_TYPES = {"page.css": "text/css", "page.js": "text/javascript", "icon.svg": "image/svg+xml"}

YEAR_S = 365 * 24 * 3600

CARDS_AT_ONCE = 60
MEMORIES_AT_ONCE = 40
MAX_MEMORIES = 1000
ENDED_AT_ONCE = 12
SCENES_AT_ONCE = 100
FACTS_AT_ONCE = 40
MAX_LANES = 10

BOARD = ("overdue", "due", "moved", "planted")
KINDS = ("character", "location", "item", "faction", "term")

Shown = Annotated[int, Query(ge=1, le=MAX_MEMORIES, description="How many to show.")]
Name = Annotated[str, Query(max_length=400)]


@router.get("/")
def projects_page(request: Request, house: TheHouse) -> Response:
    """Show the projects of the folder."""
    return Frame(request).page("projects", projects=list_projects(house).projects)


@router.get("/page/static/{name}")
def static_file(name: str) -> Response:
    """Give the page's own style or script."""
    if name not in STATIC_TYPES:
        raise Refusal(404, "unknown-route", f"the page has no file {name[:100]!r}")
    return Response((STATIC / name).read_bytes(), media_type=f"{STATIC_TYPES[name]}; charset=utf-8")


@router.get("/page/look")
def change_look(
    back: Annotated[str, Query(max_length=4000)] = "/", language: str = "", theme: str = ""
) -> Response:
    """Keep the language or the colours that somebody chose, and go back to where they were."""
    # A link of another site must not lead through here to anywhere else.
    answer = RedirectResponse(own_address(back), status_code=303)
    for cookie, value, allowed in (
        (LANGUAGE_COOKIE, language, ("en", "zh")),
        (THEME_COOKIE, theme, ("system", "light", "dark")),
    ):
        if value in allowed:
            answer.set_cookie(cookie, value, max_age=YEAR_S, httponly=True, samesite="strict", path="/")
    return answer


@router.get("/page/projects/{project_id}/at/{view}")
def move_to(visit: Visited, view: str, known: Known = None, entity: Name = "") -> Response:
    """Lead to a view at the place where the slider was put; a card stays the card of the same."""
    places = visit.here().places
    as_of = "" if known is None or known >= len(places) else "{}:{}".format(*places[known])
    shown = "card" if entity else view if view in VIEWS else VIEWS[0]
    address = project_address(visit.served.project_id, shown, entity=entity, as_of=as_of)
    return RedirectResponse(address, status_code=303)


@router.get("/page/projects/{project_id}/places")
def list_places(visit: Visited) -> dict[str, Any]:
    """Return chapter and scene of every stored scene, which the slider names while it moves."""
    return {"places": visit.here().places}


@router.get("/page/projects/{project_id}/story")
def story_page(visit: Visited, chapter: int | None = None, scene: int | None = None) -> Response:
    """Show a scene beside what it established."""
    here = visit.here()
    frame = visit.frame("story", here)
    known = here.places[: here.known]
    if not known:
        return frame.page("story", read=None, chapters={}, before=None, after=None)
    place = known[-1] if chapter is None or scene is None else (chapter, scene)
    read = read_scene(
        visit.served.stores, visit.served.project_id, position=StoryPosition(*place), as_of=visit.as_of
    )
    index = known.index(place)
    chapters: dict[int, list[int]] = {}
    for chapter_index, scene_index in known:
        chapters.setdefault(chapter_index, []).append(scene_index)
    return frame.page(
        "story",
        read=read,
        facts=list(enumerate(read.facts, start=1)),
        chapters=chapters,
        before=known[index - 1] if index else None,
        after=known[index + 1] if index + 1 < len(known) else None,
    )


@router.get("/page/projects/{project_id}/threads")
def threads_page(visit: Visited, ended: Shown = ENDED_AT_ONCE) -> Response:
    """Show where every thread stands."""
    stores, project_id = visit.served.stores, visit.served.project_id
    ledger = thread_ledger(stores, project_id, as_of=visit.as_of)
    here = visit.here()
    over = sorted(
        ledger.at("over"),
        key=lambda each: (each.last_chapter_index or 0, each.last_scene_index or 0),
        reverse=True,
    )
    return visit.frame(
        "threads", here
    ).page(
        "threads",
        board=[(stage, ledger.at(stage)) for stage in BOARD],  # type: ignore[arg-type]
        over=over[:ended],
        over_count=len(over),
        names=entity_services.entity_names(stores, project_id, as_of=visit.as_of),
        greatest=max((each.pressure for each in ledger.entries), default=0.0),
        last=here.places[here.known - 1] if here.known else None,
    )


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
        more=min(about.more, MAX_MEMORIES - shown),
        shown=shown,
        at_once=MEMORIES_AT_ONCE,
        names=names,
        history=[
            (each, labels.attribute(each.attribute), _told_value(each.value, names, labels))
            for each in state_history(stores, project_id, entity=entity_id, as_of=as_of)[::-1]
        ],
        state=[] if card.state is None else _told_state(card.state, names, labels),
    )


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


@router.get("/page/projects/{project_id}/timeline")
def timeline_page(visit: Visited, shown: Shown = SCENES_AT_ONCE) -> Response:
    """Show when scenes play, where, and who is on stage, with a lane for each of the cast."""
    told = story_timeline(visit.served.stores, visit.served.project_id, as_of=visit.as_of)
    seen = Counter(each for scene in told.scenes for each in scene.participants)
    return visit.frame("timeline").page(
        "timeline",
        scenes=told.scenes[-shown:],
        count=len(told.scenes),
        names=told.names,
        lanes=[each for each, _ in seen.most_common(MAX_LANES) if each in told.names],
        at_once=SCENES_AT_ONCE,
    )


@router.get("/page/projects/{project_id}/knowledge")
def knowledge_page(visit: Visited, about: Name = "", shown: Shown = FACTS_AT_ONCE) -> Response:
    """Show who of the cast knows what, since when and how; the reader, too."""
    stores, project_id = visit.served.stores, visit.served.project_id
    table = knowledge_services.knowledge_table(
        stores, project_id, as_of=visit.as_of, about=about.strip() or None, limit=shown
    )
    names = entity_services.entity_names(stores, project_id, as_of=visit.as_of)
    return visit.frame("knowledge").page(
        "knowledge", table=table, names=names, about=about, at_once=FACTS_AT_ONCE
    )


@router.get("/page/projects/{project_id}/context")
def context_form(visit: Visited) -> Response:
    """Show the form of a scene's plan."""
    here = visit.here()
    return visit.frame("context", here).page("context", form=_blank_form(here), context=None, prompt="")


@router.post("/page/projects/{project_id}/context", openapi_extra=READS)
def context_page(visit: Visited, form: Form) -> Response:
    """Show the context of a planned scene: the block for the prompt, and why what is in it."""
    here = visit.here()
    filled = {**_blank_form(here), **form}
    chapter_index, scene_index = _scene_of(filled, here)
    plan = ScenePlan(
        location=filled["location"].strip(),
        characters=[each.strip() for each in re.split(r"[,，、;；\n]", filled["characters"]) if each.strip()],
        purpose=filled["purpose"].strip(),
        key_actions=[each.strip() for each in filled["key_actions"].splitlines() if each.strip()],
    )
    context = visit.served.story.context(chapter_index, scene_index, plan, pov=filled["pov"].strip())
    return visit.frame("context", here).page(
        "context", form=filled, context=context, prompt=context.as_prompt()
    )


@router.get("/page/projects/{project_id}/check")
def check_form(visit: Visited) -> Response:
    """Show the form for a draft."""
    here = visit.here()
    return visit.frame("check", here).page("check", form=_blank_form(here), check=None)


@router.post("/page/projects/{project_id}/check", openapi_extra=READS)
def check_page(visit: Visited, form: Form) -> Response:
    """Show what a draft contradicts, beside its text."""
    here = visit.here()
    filled = {**_blank_form(here), **form}
    chapter_index, scene_index = _scene_of(filled, here)
    check = continuity_services.check_draft(
        visit.served.stores,
        visit.served.project_id,
        text=filled["text"],
        chapter_index=chapter_index,
        scene_index=scene_index,
        model=visit.served.house.chat_model,
        uses_model=bool(filled.get("with_model")),
    )
    return visit.frame("check", here).page(
        "check", form=filled, check=check, found=list(enumerate(check.issues, start=1))
    )


@router.get("/page/projects/{project_id}/health")
def health_page(visit: Visited, project: Project) -> Response:
    """Show how a project stands, and what the doctor found."""
    return _health(visit, check_health(project))


@router.post("/page/projects/{project_id}/health")
def repair_page(visit: Visited, project: Project) -> Response:
    """Put the index right, and show how the project stands."""
    return _health(visit, repair_project(project))


def _health(visit: Visited, diagnosis: Any) -> Response:
    condition = story_condition(visit.served.stores, visit.served.project_id)
    return visit.frame("health").page("health", diagnosis=diagnosis, condition=condition)


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


def _blank_form(here: Here) -> dict[str, str]:
    chapter_index, scene_index = here.next_scene
    names = ("location", "characters", "purpose", "key_actions", "pov", "text", "with_model")
    return {**dict.fromkeys(names, ""), "chapter": str(chapter_index), "scene": str(scene_index)}


def _scene_of(form: dict[str, str], here: Here) -> tuple[int, int]:
    """Return the scene that a form is about, never later than the page's position."""
    chapter_index, scene_index = number_in(form, "chapter"), number_in(form, "scene")
    if chapter_index is None or scene_index is None:
        return here.next_scene
    asked = (chapter_index, scene_index)
    return asked if here.as_of is None else min(asked, here.next_scene)
