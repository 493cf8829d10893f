"""What a person changes in the story: facts, texts, places of scenes; every change of a fact can be taken back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, get_args

from fastapi import APIRouter
from starlette.responses import Response

from novelgen.errors import UnknownSceneError, UserInputError
from novelgen.models.position import StoryPosition
from runtime.doors.http.routes.jobs import ExtractScenes
from runtime.page.notices import named_by_words, undo_by_number
from runtime.page.taking_back import led_back
from runtime.page.visits import Form, PageRoute, Visit, Visited, names_in, number_in
from runtime.story import memories as memory_services
from runtime.story.extraction import build_extraction_model
from runtime.story.memories import StoryMemories
from runtime.story.scene_editing import RecordedFactKind, StorySceneEditing
from runtime.story.scene_reading import EstablishedFact, StorySceneReading
from runtime.story.scenes import StoryScenes
from runtime.story.summaries import StorySummarizing

router = APIRouter(route_class=PageRoute, include_in_schema=False)

DECISIONS: dict[str, Callable[..., memory_services.MemoryChange]] = {
    "confirm": StoryMemories.confirm_memory,
    "delete": StoryMemories.delete_memory,
    "pin": StoryMemories.pin_memory,
    "unpin": StoryMemories.unpin_memory,
    "ban": StoryMemories.ban_memory,
    "unban": StoryMemories.unban_memory,
}


@router.post("/page/projects/{project_id}/memory")
def decide_on_memory(visit: Visited, form: Form) -> Response:
    """Confirm, reject or pin a memory, leave it out, or lift that; then go back to where it stood."""
    decide = DECISIONS.get(form.get("decision", ""))
    memory_id = form.get("memory", "")
    if decide is None or not memory_id:
        raise UserInputError(f"which memory, or what is decided, is not said; decide one of {', '.join(DECISIONS)}")
    change = decide(StoryMemories(visit.served.stores, visit.served.project_id), memory_id=memory_id)
    return told_of_memory(form, "check" if form["decision"] == "confirm" else form["decision"], change)


@router.post("/page/projects/{project_id}/story/fact")
def edit_fact(visit: Visited, form: Form) -> Response:
    """Change a memory: what it says, its weight and kind, whom it is about, and the words that prove it."""
    stores, project_id = visit.served.stores, visit.served.project_id
    place = _place(visit, form)
    read = StorySceneReading(stores, project_id).read_scene(position=place, as_of=visit.as_of)
    memory_id = form.get("memory", "")
    fact = next(
        (each for each in [*read.facts, *read.rejected] if (each.kind, each.source_id) == ("memory", memory_id)), None
    )
    if fact is None:
        raise UserInputError(f"scene {place} holds no fact {memory_id[:100]!r}; look at the scene again")
    changes = _differing(form, fact, read.scene.text or "")
    if not changes:
        return _back(form, "same")
    change = StoryMemories(stores, project_id).edit_memory(memory_id=memory_id, as_of=visit.as_of, **changes)
    return told_of_memory(form, "change", change)


@router.post("/page/projects/{project_id}/story/add")
def add_fact(visit: Visited, form: Form) -> Response:
    """Note a fact that a scene established; it is read from the next scene on."""
    place = _place(visit, form)
    added = StoryMemories(visit.served.stores, visit.served.project_id).note(
        text=form.get("text", ""),
        entities=names_in(form.get("about", "")),
        start=StoryPosition(place.chapter_index, (place.scene_index or 0) + 1),
        importance=_importance(form),
        event_type=form.get("event_type") or None,
        evidence=form.get("evidence") or None,
        as_of=visit.as_of,
    )
    return _back(form, "add", change_id=added.change_id)


@router.post("/page/projects/{project_id}/story/recorded")
def amend_fact(visit: Visited, form: Form) -> Response:
    """Take a state, a relationship, a move of a thread or a learning out of the record, or say it otherwise."""
    kind = form.get("kind", "")
    if kind not in get_args(RecordedFactKind):
        raise UserInputError(f"{kind[:50]!r} is no fact of a record")
    edit = StorySceneEditing(visit.served.stores, visit.served.project_id).amend_recorded_fact(
        position=_place(visit, form),
        kind=kind,  # type: ignore[arg-type]
        source_id=form.get("source", ""),
        text=form.get("text", "") if form.get("action") == "edit" else None,
        as_of=visit.as_of,
    )
    return _back(form, "record" if edit.change_id else "same", change_id=edit.change_id)


@router.post("/page/projects/{project_id}/story/text")
def edit_text(visit: Visited, form: Form) -> Response:
    """Tell what a new text would do to the facts of its scene, or store it."""
    stores, project_id = visit.served.stores, visit.served.project_id
    place = _place(visit, form)
    record = "drop" if form.get("record") == "drop" else "keep"
    text, title = form.get("text", ""), form.get("title", "")
    if form.get("step") == "preview":
        read = StorySceneReading(stores, project_id).read_scene(position=place, as_of=visit.as_of)
        outcome = StorySceneEditing(stores, project_id).preview_scene_text(position=place, text=text)
        return visit.frame("story").page(
            "scene_text", read=read, text=text, title=title, outcome=outcome, record=record
        )
    edit = StorySceneEditing(stores, project_id).edit_scene(
        place=place,
        text=text,
        title=title,
        record=record,  # type: ignore[arg-type]
    )
    told = "same" if edit.change_id is None else "text"
    back = {**form, "back": _story(visit, place.chapter_index, place.scene_index)}
    return _back(back, told, change_id=edit.change_id, lost=len(edit.lost))


@router.post("/page/projects/{project_id}/story/place")
def rearrange(visit: Visited, form: Form) -> Response:
    """Insert a scene before one, move it, or delete it, once that is confirmed."""
    stores, project_id = visit.served.stores, visit.served.project_id
    place = _place(visit, form)
    action = form.get("action")
    if form.get("sure") != "yes":
        raise UserInputError("tick that this is meant; scenes change their numbers by it")
    if action == "insert":
        text, title = form.get("text", ""), form.get("title", "")
        StoryScenes(stores, project_id).insert_scene(position=place, text=text, title=title)
    elif action == "move":
        target = StoryPosition(number_in(form, "to_chapter"), number_in(form, "to_scene"))
        if target.chapter_index is None or target.scene_index is None:
            raise UserInputError("where the scene shall stand is not said; give a chapter and a scene")
        StoryScenes(stores, project_id).move_scene(source=place, target=target)
        place = target
    elif action == "delete":
        StoryScenes(stores, project_id).delete_scene(position=place)
    else:
        raise UserInputError("what becomes of the scene is not said; insert, move or delete")
    gone = visit.address("story", show="scenes")
    back = gone if action != "insert" else _story(visit, place.chapter_index, place.scene_index)
    return _back({"back": back}, f"scene_{action}")


@router.post("/page/projects/{project_id}/story/model")
def let_model_read(visit: Visited, form: Form) -> Response:
    """Let a model read a scene or a chapter, as a job."""
    served = visit.served
    chapter, scene = number_in(form, "chapter"), number_in(form, "scene")
    if chapter is None:
        raise UserInputError("which chapter is to be read is not said")
    build_extraction_model(served.stores.settings, served.house.chat_model)
    if scene is None:
        asked = ExtractScenes(chapter_index=chapter, retry_failed=True)
        place = next((each for each in visit.here().places if each[0] == chapter), (chapter, 1))
    else:
        place = (chapter, scene)
        asked = ExtractScenes(scenes=[str(_place(visit, form))])
    served.house.jobs.start("extract", served.project_id, asked.model_dump(mode="json"))
    return _back({"back": _story(visit, *place)}, "read")


@router.post("/page/projects/{project_id}/story/summary")
def write_summary(visit: Visited, form: Form) -> Response:
    """Store a person's summary of a chapter or part; an empty one lets the made one hold again."""
    number = number_in(form, "number")
    level = form.get("level", "")
    if number is None or level not in ("chapter", "part"):
        raise UserInputError("which chapter or part is summed up is not said")
    StorySummarizing(visit.served.stores, visit.served.project_id).write_author_summary(
        level=level,  # type: ignore[arg-type]
        number=number,
        text=form.get("text", ""),
    )
    return _back({**form, "at": f"{level}-{number}"}, "summary")


def _place(visit: Visit, form: dict[str, str]) -> StoryPosition:
    """Return the scene that a form is about, which must lie before the position of the page."""
    place = StoryPosition(number_in(form, "chapter"), number_in(form, "scene"))
    if place.chapter_index is None or place.scene_index is None:
        raise UserInputError("which scene is meant is not said")
    if visit.as_of is not None and not visit.as_of.admits(place.chapter_index, place.scene_index):
        raise UnknownSceneError(f"scene {place} does not lie before {visit.as_of}; move the slider first")
    return place


def _differing(form: dict[str, str], fact: EstablishedFact, text: str) -> dict[str, Any]:
    """Return what a form says otherwise than a fact, as `edit_memory` takes it.

    Whom a memory is about, but is not known yet at the position, is not in the form, and stays.
    """
    changes: dict[str, Any] = {}
    said = form.get("text", "").strip()
    if said != fact.text:
        changes["content"] = said
    importance = _importance(form)
    if importance is not None and importance != fact.importance:
        changes["importance"] = importance
    if form.get("event_type") and form["event_type"] != fact.event_type:
        changes["event_type"] = form["event_type"]
    evidence = form.get("evidence", "").strip()
    if evidence != ("" if fact.span is None else text[slice(*fact.span)].strip()):
        changes["evidence"] = evidence
    named = names_in(form.get("about", ""))
    standing = {each.name: each.entity_id for each in fact.entities}
    attach = [each for each in named if each not in standing and each not in standing.values()]
    detach = [entity_id for name, entity_id in standing.items() if not {name, entity_id} & set(named)]
    return {**changes, **({"attach": attach} if attach else {}), **({"detach": detach} if detach else {})}


def _importance(form: dict[str, str]) -> int | None:
    told = number_in(form, "importance")
    if told is not None and not 1 <= told <= 10:
        raise UserInputError(f"a weight of {told} is none; give 1 to 10")
    return told


def _story(visit: Visit, chapter: int | None, scene: int | None) -> str:
    return visit.address("story", chapter=chapter, scene=scene)


def told_of_memory(form: dict[str, str], done: str, change: memory_services.MemoryChange) -> Response:
    """Lead back to where a form stood, telling there what became of a memory."""
    told = named_by_words(change.memory.chunk.content)
    return _back(form, done, told=told, change_id=change.change_id)


def _back(form: dict[str, str], done: str, *, told: str = "", lost: int = 0, change_id: int | None = None) -> Response:
    """Lead back to where a form stood, telling there what was done; `at` names the element to come back to."""
    undo = undo_by_number("author_change", change_id)
    return led_back(form.get("back", ""), done, told=told, lost=lost, undo=undo, at=form.get("at", ""))
