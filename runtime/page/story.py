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
from runtime.files.chapter_text import chapter_number
from runtime.page.forms import scene_meant
from runtime.page.visits import Form, Name, Shown, Visit, Visited, router
from runtime.story.base import as_part
from runtime.story.scene_editing import RECORDED_WITH_WORDS
from runtime.story.scene_reading import ListedState, ReadScene, StorySceneStates, reading_state
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
    known_places = visit.here.known_places
    if show == "changes":
        return visit.page("changes", changes=visit.story.changes.list(as_of=visit.as_of))
    if not known_places:
        return visit.page("story", read=None, chapters=[], before=None, after=None)
    if show == "scenes":
        return _scenes_page(visit, shown)
    if show == "summaries":
        return _summaries_page(visit, chapter)
    place = known_places[-1] if chapter is None or scene is None else (chapter, scene)
    return _scene_page(visit, place, edit)


def _scene_page(visit: Visit, place: tuple[int, int], edit: str) -> Response:
    reading = visit.story.scenes.read(position=StoryPosition(*place), as_of=visit.as_of)
    known_places = visit.here.known_places
    index = known_places.index(place)
    states = visit.kept(as_part(visit.story, StorySceneStates).list_states, with_counts=False)
    chapters = [
        (chapter, chapter_title(scenes), [(state, _state(state)) for state in scenes])
        for chapter, scenes in _chapters(states).items()
    ]
    jobs = visit.served.app_state.jobs.list(visit.project_id)
    return visit.page(
        "story",
        read=reading,
        state=_state(reading.scene),
        facts=list(enumerate(reading.facts, start=1)),
        chapters=chapters,
        heading=reading.scene.title or next(title for chapter, title, _ in chapters if chapter == place[0]),
        before=known_places[index - 1] if index else None,
        after=known_places[index + 1] if index + 1 < len(known_places) else None,
        places=[entity.name for entity in visit.story.entities.list("location", as_of=visit.as_of)],
        edited=edit,
        edited_version=visit.story.memories.get(edit).version if edit else "",
        with_words=RECORDED_WITH_WORDS,
        event_types=sorted(EVENT_TYPES),
        unproved=sum(not established_fact.is_verified for established_fact in reading.facts),
        running=_running(jobs, place),
        reading=_last_reading(jobs, place),
    )


def _scenes_page(visit: Visit, shown_count: int) -> Response:
    states = visit.kept(as_part(visit.story, StorySceneStates).list_states)
    counts = Counter(map(_state, states))
    by_day: Counter[str] = Counter()
    for state in states:
        by_day[str(state.created_at)[:10]] += state.words
    return visit.page(
        "scenes",
        scenes=[(state, _state(state)) for state in states[:shown_count]],
        count=len(states),
        counts=counts,
        by_day=sorted(by_day.items(), reverse=True)[:DAYS_SHOWN],
        words=by_day.total(),
        chapters={
            number: (chapter_title(scenes), sum(state.words for state in scenes), len(scenes))
            for number, scenes in _chapters(states).items()
        },
        unread={state.chapter_index for state in states if not state.has_record and state.characters},
    )


def _summaries_page(visit: Visit, chapter: int | None) -> Response:
    listed_summaries = visit.story.summaries.list(as_of=visit.as_of)
    states = visit.kept(as_part(visit.story, StorySceneStates).list_states, with_counts=False)
    # Texts and records of one chapter alone are read.
    by_scene = [_read(visit, *place) for place in visit.here.known_places if place[0] == chapter]
    parts, chapters = (
        [summary for summary in listed_summaries if summary.level == level] for level in ("part", "chapter")
    )

    def runs(part: ListedSummary) -> list[tuple[bool, list[ListedSummary]]]:
        of_part = (summary for summary in chapters if part.first_chapter <= summary.number <= part.last_chapter)
        rendered_groupby = groupby(
            of_part, lambda summary: bool(summary.told or summary.written) or summary.number == chapter
        )
        return [(is_told, list(run)) for is_told, run in rendered_groupby]

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
    reading = _read(visit, chapter, scene)
    return visit.page(
        "scene_text",
        read=reading,
        text=reading.scene.text or "",
        title=reading.scene.title,
        outcome=None,
        record="keep",
        version=reading.version,
    )


@router.get("/page/projects/{project_id}/story/place")
def place_page(visit: Visited, chapter: int, scene: int) -> Response:
    """Offer to insert a scene before one, to move it, or to delete it."""
    reading = _read(visit, chapter, scene)
    goes_along = [fact for fact in reading.facts if fact.kind == "memory" and not fact.is_note]
    return visit.page("scene_place", read=reading, facts=len(goes_along))


@router.post("/page/projects/{project_id}/story/text/preview")
def preview_text(visit: Visited, form: Form) -> Response:
    """Show the effect of a new text on its scene's facts."""
    place = scene_meant(visit, form)
    reading = visit.story.scenes.read(position=place, as_of=visit.as_of)
    text = form.get("text", reading.scene.text or "")
    outcome = visit.story.scenes.preview_text(position=place, text=text)
    return visit.page(
        "scene_text",
        read=reading,
        text=text,
        title=form.get("title", reading.scene.title),
        outcome=outcome,
        # A preview compares with what stands; what the form saw first is what it must still meet.
        version=form.get("version", ""),
        record="drop" if form.get("record") == "drop" else "keep",
    )


def _read(visit: Visit, chapter: int, scene: int) -> ReadScene:
    return visit.story.scenes.read(position=StoryPosition(chapter, scene), as_of=visit.as_of)


def chapter_title(scenes: Sequence[ListedState]) -> str:
    """Return a chapter's title, without scene titles."""
    titles = list(dict.fromkeys(title for scene in scenes if (title := scene.title.partition(" · ")[0])))
    if len(titles) > 1:
        titles = [title for title in titles if chapter_number(title) == scenes[0].chapter_index]
    return titles[0] if titles else ""


def _chapters(scenes: Sequence[ListedState]) -> dict[int, list[ListedState]]:
    return {number: list(part) for number, part in groupby(scenes, key=lambda state: state.chapter_index)}


def _state(scene: Any) -> str:
    has_record = scene.has_record if isinstance(scene, ListedState) else scene.record is not None
    return reading_state(
        has_record=has_record, record_origin=scene.record_origin, extraction_status=scene.extraction_status
    )


def _running(jobs: list[Job], place: tuple[int, int]) -> Job | None:
    """Return the job that reads a scene now or will, if any."""
    name = f"{place[0]}:{place[1]}"
    for job in jobs:
        requested_fields = job.arguments
        is_named = not requested_fields.get("scenes") or name in requested_fields["scenes"]
        is_meant = is_named and requested_fields.get("chapter_index") in (None, place[0])
        if job.kind == "extract" and job.state not in OVER and is_meant:
            return job
    return None


def _last_reading(jobs: list[Job], place: tuple[int, int]) -> dict[str, Any] | None:
    """Return the usage of a scene's last reading, while its job is kept."""
    for job in jobs:
        result = job.result if job.kind == "extract" and isinstance(job.result, dict) else {}
        for item in result.get("scenes") or ():
            if (item.get("chapter_index"), item.get("scene_index")) == place:
                usage = item.get("usage") or {}
                tokens = {name: usage.get(name) or 0 for name in ("input_tokens", "output_tokens")}
                return {"job_id": job.job_id, **tokens}
    return None
