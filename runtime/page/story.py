"""The story: scenes with facts, summaries, readings and changes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import groupby
from typing import Any, Literal

from starlette.responses import Response

from novelgen.models.memory import EVENT_TYPES
from novelgen.models.position import StoryPosition
from runtime.doors.http.jobs import OVER, Job
from runtime.page.forms import scene_meant
from runtime.page.visits import Form, Name, Shown, Visit, Visited, router
from runtime.story.scene_editing import RECORDED_WITH_WORDS
from runtime.story.scene_reading import ListedState, ReadScene, reading_state
from runtime.story.story import Story
from runtime.story.summaries import ListedSummary

DAYS_SHOWN = 31

UNTOLD_AT_ONCE = 3
"""So many chapters in a row without a summary are told one by one, more are folded."""


@router.get("/page/projects/{project_id}/story")
def story_page(
    visit: Visited,
    chapter: int | None = None,
    scene: int | None = None,
    show: Literal["", "scenes", "summaries", "changes"] = "",
    edit: Name = "",
    shown: Shown = 200,
) -> Response:
    """Show a scene with its facts, or a list of the story."""
    known = visit.here.known_places
    if show == "changes":
        return visit.page("changes", changes=visit.story.author_changes(as_of=visit.as_of))
    if not known:
        return visit.page("story", read=None, chapters=[], before=None, after=None)
    if show == "scenes":
        return _scenes_page(visit, shown)
    if show == "summaries":
        return _summaries_page(visit, chapter)
    place = known[-1] if chapter is None or scene is None else (chapter, scene)
    return _scene_page(visit, place, edit)


def _scene_page(visit: Visit, place: tuple[int, int], edit: str) -> Response:
    read = visit.story.read_scene(position=StoryPosition(*place), as_of=visit.as_of)
    known = visit.here.known_places
    index = known.index(place)
    states = visit.kept(Story.list_scene_states, with_counts=False)
    chapters = [
        (chapter, chapter_title(scenes), [(each, _state(each)) for each in scenes])
        for chapter, scenes in _chapters(states).items()
    ]
    jobs = visit.served.house.jobs.list(visit.project_id)
    return visit.page(
        "story",
        read=read,
        state=_state(read.scene),
        facts=list(enumerate(read.facts, start=1)),
        chapters=chapters,
        before=known[index - 1] if index else None,
        after=known[index + 1] if index + 1 < len(known) else None,
        places=[each.name for each in visit.story.entities("location", as_of=visit.as_of)],
        edited=edit,
        edited_version=visit.story.find_memory(edit).version if edit else "",
        with_words=RECORDED_WITH_WORDS,
        event_types=sorted(EVENT_TYPES),
        unproved=sum(not each.is_verified for each in read.facts),
        running=_running(jobs, place),
        reading=_last_reading(jobs, place),
    )


def _scenes_page(visit: Visit, shown: int) -> Response:
    states = visit.kept(Story.list_scene_states)
    counts = Counter(map(_state, states))
    by_day: Counter[str] = Counter()
    for each in states:
        by_day[str(each.created_at)[:10]] += each.words
    return visit.page(
        "scenes",
        scenes=[(each, _state(each)) for each in states[:shown]],
        count=len(states),
        counts=counts,
        by_day=sorted(by_day.items(), reverse=True)[:DAYS_SHOWN],
        words=by_day.total(),
        chapters={
            number: (chapter_title(scenes), sum(each.words for each in scenes), len(scenes))
            for number, scenes in _chapters(states).items()
        },
        unread={each.chapter_index for each in states if not each.has_record and each.characters},
    )


def _summaries_page(visit: Visit, chapter: int | None) -> Response:
    listed = visit.story.list_summaries(as_of=visit.as_of)
    states = visit.kept(Story.list_scene_states, with_counts=False)
    # Texts and records of one chapter alone are read.
    by_scene = [_read(visit, *place) for place in visit.here.known_places if place[0] == chapter]
    parts, chapters = ([each for each in listed if each.level == level] for level in ("part", "chapter"))

    def runs(part: ListedSummary) -> list[tuple[bool, list[ListedSummary]]]:
        of_part = (each for each in chapters if part.first_chapter <= each.number <= part.last_chapter)
        told = groupby(of_part, lambda each: bool(each.told or each.written) or each.number == chapter)
        return [(is_told, list(run)) for is_told, run in told]

    return visit.page(
        "summaries",
        parts=parts,
        runs={part.number: runs(part) for part in parts},
        unfolded=UNTOLD_AT_ONCE,
        titles={number: chapter_title(scenes) for number, scenes in _chapters(states).items()},
        opened=chapter,
        by_scene=by_scene,
    )


@router.get("/page/projects/{project_id}/story/text")
def text_page(visit: Visited, chapter: int, scene: int) -> Response:
    """Show a scene's text and title in a form."""
    read = _read(visit, chapter, scene)
    return visit.page(
        "scene_text",
        read=read,
        text=read.scene.text or "",
        title=read.scene.title,
        outcome=None,
        record="keep",
        version=read.version,
    )


@router.get("/page/projects/{project_id}/story/place")
def place_page(visit: Visited, chapter: int, scene: int) -> Response:
    """Offer to insert a scene before one, to move it, or to delete it."""
    read = _read(visit, chapter, scene)
    own = [each for each in read.facts if each.kind == "memory"]
    return visit.page("scene_place", read=read, facts=len(own))


@router.post("/page/projects/{project_id}/story/text/preview")
def preview_text(visit: Visited, form: Form) -> Response:
    """Show the effect of a new text on its scene's facts."""
    place = scene_meant(visit, form)
    read = visit.story.read_scene(position=place, as_of=visit.as_of)
    text = form.get("text", read.scene.text or "")
    outcome = visit.story.preview_scene_text(position=place, text=text)
    return visit.page(
        "scene_text",
        read=read,
        text=text,
        title=form.get("title", read.scene.title),
        outcome=outcome,
        # A preview compares with what stands; what the form saw first is what it must still meet.
        version=form.get("version", ""),
        record="drop" if form.get("record") == "drop" else "keep",
    )


def _read(visit: Visit, chapter: int, scene: int) -> ReadScene:
    return visit.story.read_scene(position=StoryPosition(chapter, scene), as_of=visit.as_of)


def chapter_title(scenes: Sequence[ListedState]) -> str:
    """Return a chapter's title, without scene titles."""
    titles = {each.title.partition(" · ")[0] for each in scenes}
    return titles.pop() if len(titles) == 1 else ""


def _chapters(scenes: Sequence[ListedState]) -> dict[int, list[ListedState]]:
    return {number: list(part) for number, part in groupby(scenes, key=lambda each: each.chapter_index)}


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


def _last_reading(jobs: list[Job], place: tuple[int, int]) -> dict[str, Any] | None:
    """Return the usage of a scene's last reading, while its job is kept."""
    for job in jobs:
        result = job.result if job.kind == "extract" and isinstance(job.result, dict) else {}
        for each in result.get("scenes") or ():
            if (each.get("chapter_index"), each.get("scene_index")) == place:
                usage = each.get("usage") or {}
                tokens = {name: usage.get(name) or 0 for name in ("input_tokens", "output_tokens")}
                return {"job_id": job.job_id, **tokens}
    return None
