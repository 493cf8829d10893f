"""The story: a scene beside what it established, its summaries, how far scenes were read, and the latest changes."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from itertools import groupby
from typing import Annotated, Any, NamedTuple

from fastapi import APIRouter, Query
from starlette.responses import Response

from novelgen.errors import ConfigurationError, UserInputError
from novelgen.models.memory import EVENT_TYPES
from novelgen.models.position import StoryPosition
from runtime.doors.http.job_routes import ExtractScenes
from runtime.doors.http.jobs import OVER, Job
from runtime.page.forms import led_back, scene_meant
from runtime.page.frame import Here
from runtime.page.visits import Form, Name, PageRoute, Shown, Visit, Visited, number_in
from runtime.story.author_changes import StoryAuthorChanges
from runtime.story.extraction import StoryExtraction, build_extraction_model
from runtime.story.scene_editing import RECORDED_WITH_WORDS, StorySceneEditing
from runtime.story.scene_reading import ListedState, ReadScene, StorySceneReading, reading_state
from runtime.story.summaries import StorySummarizing

router = APIRouter(route_class=PageRoute, include_in_schema=False)

Part = Annotated[str, Query(pattern="^(scenes|summaries|changes|)$")]

SCENES_AT_ONCE = 200


class Reading(NamedTuple):
    """What the last reading of a scene by a model took, as far as its job is still kept."""

    job_id: str
    ended_at: datetime | None
    input_tokens: int
    output_tokens: int


@router.get("/page/projects/{project_id}/story")
def story_page(
    visit: Visited,
    chapter: int | None = None,
    scene: int | None = None,
    show: Part = "",
    edit: Name = "",
    shown: Shown = SCENES_AT_ONCE,
) -> Response:
    """Show a scene beside what it established, or one of the lists that belong to the story."""
    here = visit.here()
    known = here.places[: here.known]
    if show == "changes":
        return _changes_page(visit, here)
    if not known:
        return visit.frame("story", here).page("story", read=None, chapters=[], before=None, after=None)
    if show == "scenes":
        return _scenes_page(visit, here, shown)
    if show == "summaries":
        return _summaries_page(visit, here, chapter)
    place = known[-1] if chapter is None or scene is None else (chapter, scene)
    return _scene_page(visit, here, place, edit)


def _scene_page(visit: Visit, here: Here, place: tuple[int, int], edit: str) -> Response:
    stores, project_id = visit.served.stores, visit.served.project_id
    read = StorySceneReading(stores, project_id).read_scene(position=StoryPosition(*place), as_of=visit.as_of)
    known = here.places[: here.known]
    index = known.index(place)
    states = visit.kept(StorySceneReading.list_scene_states, with_counts=False)
    chapters = [
        (chapter, chapter_title(scenes), [(each, _state(each)) for each in scenes])
        for chapter, scenes in ((number, list(part)) for number, part in groupby(states, _chapter))
    ]
    jobs = visit.served.house.jobs.list(project_id)
    return visit.frame("story", here).page(
        "story",
        read=read,
        state=_state(read.scene),
        facts=list(enumerate(read.facts, start=1)),
        chapters=chapters,
        before=known[index - 1] if index else None,
        after=known[index + 1] if index + 1 < len(known) else None,
        edited=edit,
        with_words=RECORDED_WITH_WORDS,
        event_types=sorted(EVENT_TYPES),
        unproved=sum(not each.is_verified for each in read.facts),
        running=_running(jobs, place),
        reading=_last_reading(jobs, place),
    )


def _scenes_page(visit: Visit, here: Here, shown: int) -> Response:
    states = StorySceneReading(visit.served.stores, visit.served.project_id).list_scene_states(as_of=visit.as_of)
    counts: dict[str, int] = {}
    for each in states:
        counts[_state(each)] = counts.get(_state(each), 0) + 1
    return visit.frame("story", here).page(
        "scenes",
        scenes=[(each, _state(each)) for each in states[:shown]],
        count=len(states),
        counts=counts,
        unread={each.chapter_index for each in states if not each.has_record and each.characters},
        at_once=SCENES_AT_ONCE,
    )


def _summaries_page(visit: Visit, here: Here, chapter: int | None) -> Response:
    stores, project_id = visit.served.stores, visit.served.project_id
    listed = StorySummarizing(stores, project_id).list_summaries(as_of=visit.as_of)
    by_scene = []
    if chapter is not None:
        places = [each for each in here.places[: here.known] if each[0] == chapter]
        # Texts and records of one chapter alone are read.
        by_scene = [
            (read, _bullets(read))
            for place in places
            for read in [
                StorySceneReading(stores, project_id).read_scene(position=StoryPosition(*place), as_of=visit.as_of)
            ]
        ]
    return visit.frame("story", here).page(
        "summaries",
        parts=[each for each in listed if each.level == "part"],
        chapters=[each for each in listed if each.level == "chapter"],
        opened=chapter,
        by_scene=by_scene,
    )


def _bullets(read: ReadScene) -> list[str]:
    return read.summary or read.key_events


def _changes_page(visit: Visit, here: Here) -> Response:
    changes = StoryAuthorChanges(visit.served.stores, visit.served.project_id).author_changes(as_of=visit.as_of)
    return visit.frame("story", here).page("changes", changes=changes)


@router.get("/page/projects/{project_id}/story/text")
def text_page(visit: Visited, chapter: int, scene: int) -> Response:
    """Show a scene's text and title in a form."""
    read = _read(visit, chapter, scene)
    return visit.frame("story").page(
        "scene_text", read=read, text=read.scene.text or "", title=read.scene.title, outcome=None, record="keep"
    )


@router.get("/page/projects/{project_id}/story/place")
def place_page(visit: Visited, chapter: int, scene: int) -> Response:
    """Offer to insert a scene before one, to move it, or to delete it."""
    read = _read(visit, chapter, scene)
    own = [each for each in read.facts if each.kind == "memory"]
    return visit.frame("story").page("scene_place", read=read, facts=len(own))


@router.get("/page/projects/{project_id}/story/model")
def model_page(visit: Visited, chapter: int, scene: int | None = None) -> Response:
    """Show what it would take to let a model read a scene or a chapter; nothing is asked of it."""
    stores, project_id = visit.served.stores, visit.served.project_id
    here = visit.here()
    places = [each for each in here.places[: here.known] if each[0] == chapter and scene in (None, each[1])]
    try:
        build_extraction_model(stores.settings, visit.served.house.chat_model)
        trouble = ""
    except ConfigurationError as error:
        trouble = str(error)
    if scene is None:
        estimate = StoryExtraction(stores, project_id).estimate_project(chapter_index=chapter, retry_failed=True)
    else:
        estimate = StoryExtraction(stores, project_id).estimate_project(
            scenes=[StoryPosition(*each) for each in places]
        )
    return visit.frame("story", here).page(
        "scene_model",
        chapter=chapter,
        scene=scene,
        places=places,
        estimate=estimate,
        trouble=trouble,
        model=stores.settings.memory.summarization.model or stores.settings.model or "",
    )


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
        asked = ExtractScenes(scenes=[str(StoryPosition(*place))])
    served.house.jobs.start("extract", served.project_id, asked.model_dump(mode="json"))
    return led_back(visit.address("story", chapter=place[0], scene=place[1]), "read")


@router.post("/page/projects/{project_id}/story/text/preview")
def preview_text(visit: Visited, form: Form) -> Response:
    """Tell what a new text would do to the facts of its scene."""
    stores, project_id = visit.served.stores, visit.served.project_id
    place, text = scene_meant(visit, form), form.get("text", "")
    outcome = StorySceneEditing(stores, project_id).preview_scene_text(position=place, text=text)
    return visit.frame("story").page(
        "scene_text",
        read=StorySceneReading(stores, project_id).read_scene(position=place, as_of=visit.as_of),
        text=text,
        title=form.get("title", ""),
        outcome=outcome,
        record="drop" if form.get("record") == "drop" else "keep",
    )


def _read(visit: Visit, chapter: int, scene: int) -> ReadScene:
    return StorySceneReading(visit.served.stores, visit.served.project_id).read_scene(
        position=StoryPosition(chapter, scene), as_of=visit.as_of
    )


def chapter_title(scenes: Sequence[ListedState]) -> str:
    """Return what all scenes of a chapter are called by; a scene's own title stands behind it."""
    titles = {each.title.partition(" · ")[0] for each in scenes}
    return titles.pop() if len(titles) == 1 else ""


def _chapter(scene: ListedState) -> int:
    return scene.chapter_index


def _state(scene: Any) -> str:
    has_record = scene.has_record if isinstance(scene, ListedState) else scene.record is not None
    return reading_state(
        has_record=has_record, record_origin=scene.record_origin, extraction_status=scene.extraction_status
    )


def _running(jobs: list[Job], place: tuple[int, int]) -> Job | None:
    """Return the job that reads a scene now or will, if any."""
    name = f"{place[0]}:{place[1]}"
    for job in jobs:
        asked = job.arguments
        is_named = not asked.get("scenes") or name in asked["scenes"]
        is_meant = is_named and asked.get("chapter_index") in (None, place[0])
        if job.kind == "extract" and job.state not in OVER and is_meant:
            return job
    return None


def _last_reading(jobs: list[Job], place: tuple[int, int]) -> Reading | None:
    for job in jobs:
        result = job.result if job.kind == "extract" and isinstance(job.result, dict) else {}
        for each in result.get("scenes") or ():
            if (each.get("chapter_index"), each.get("scene_index")) == place:
                usage = each.get("usage") or {}
                tokens = usage.get("input_tokens") or 0, usage.get("output_tokens") or 0
                return Reading(job.job_id, job.ended_at, *tokens)
    return None
