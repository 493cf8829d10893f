"""When scenes play, where, who is on stage, what becomes of them, and which chapters name whom."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Annotated, Literal

from fastapi import APIRouter, Query
from starlette.responses import Response

from novelgen.context.labels import Labels, labels_for
from novelgen.context.lines import render_value
from novelgen.models.position import StoryPosition
from novelgen.models.story_time import SceneTime
from runtime.page.lanes import Change, changes_in, heat_map, lane_picture, windows_of
from runtime.page.visits import PageRoute, Visited
from runtime.story.entities import StoryEntities
from runtime.story.states import StatedStretch, StoryStates
from runtime.story.story_time import StoryTimes

router = APIRouter(route_class=PageRoute, include_in_schema=False)

Order = Literal["told", "lived"]
Start = Annotated[int | None, Query(ge=0, le=10_000_000, description="Number of a scene to be shown.")]


@router.get("/page/projects/{project_id}/timeline")
def timeline_page(visit: Visited, start: Start = None, order: Order = "told") -> Response:
    """Show a stretch of the story with a lane for each of its cast, and the whole of it by chapters."""
    told = visit.kept(StoryTimes.story_times).scenes
    names = visit.kept(StoryEntities.entity_names)
    scenes = told if order == "told" else _as_lived(told)
    windows = windows_of(scenes, is_told_order=order == "told")
    asked = len(scenes) - 1 if start is None else min(start, len(scenes) - 1)
    number = next((index for index, (first, end) in enumerate(windows) if first <= asked < end), 0)
    first, end = windows[number] if windows else (0, 0)
    window = scenes[first:end]
    frame = visit.frame("timeline")
    labels = labels_for(frame.language)
    changes = [
        replace(each, words=_told(each, names, labels)) for each in changes_in(_stated(visit, told, window), window)
    ]
    named = visit.kept(StoryTimes.scenes_naming_characters).places
    return frame.page(
        "timeline",
        scenes=window,
        count=len(scenes),
        first=first,
        order=order,
        starts=[each for each, _ in windows],
        number=number,
        names=names,
        picture=lane_picture(window, changes, names),
        heat=heat_map(told, named, names, shown=frozenset(each.place for each in window)),
        changes=_by_place(changes),
    )


def _as_lived(scenes: Sequence[SceneTime]) -> list[SceneTime]:
    """Return scenes in the order lived; those of which nothing says when come last, as they are told."""
    return sorted(scenes, key=lambda each: (each.lived_order is None, each.lived_order or 0, each.told_order))


def _stated(visit: Visited, told: Sequence[SceneTime], window: Sequence[SceneTime]) -> StatedStretch:
    """Return what was stated from the first to the last of some scenes, before the position."""
    if not window:
        return StatedStretch()
    places = [each.place for each in told]
    behind = places.index(max(each.place for each in window)) + 1
    until = visit.as_of if behind == len(places) else StoryPosition(*places[behind])
    return StoryStates(visit.served.stores, visit.served.project_id).stated_within(
        since=StoryPosition(*min(each.place for each in window)), until=until
    )


def _told(change: Change, names: Mapping[str, str], labels: Labels) -> str:
    """Return a change in words, without who and of which kind."""
    stated = change.change
    if change.kind in ("got", "lost"):
        return names.get(stated.entity_id, stated.entity_id)
    told = "—" if stated.value in (None, [], "") else render_value(stated.value, names, labels)
    return f"{labels.attribute(stated.attribute)}: {told}"


def _by_place(changes: Sequence[Change]) -> dict[tuple[int, int], list[Change]]:
    found: dict[tuple[int, int], list[Change]] = {}
    for each in changes:
        found.setdefault(each.place, []).append(each)
    return found
