"""When scenes play, as a table: the order told or the order lived, with days as far as they are known."""

from __future__ import annotations

import math
from collections.abc import Mapping

from novelgen.models.story_time import DaySpan, SceneTime, StoryTimeline
from runtime.doors.cli.labels import ViewLabels, place_text
from runtime.doors.cli.output import print_table, print_text


def print_story_times(timeline: StoryTimeline, labels: ViewLabels, *, is_lived: bool) -> None:
    """Print when scenes play."""
    if not timeline.scenes:
        print_text(labels.nothing)
        return
    scenes = timeline.scenes
    if is_lived:
        scenes = sorted(scenes, key=lambda each: (each.lived_order or math.inf, each.told_order))
    headings = ("scene", "when", "day", "since the scene before", "lived", "who and where")
    rows = [_row(each, timeline.names, labels) for each in scenes]
    print_table([labels.value(each) for each in headings], rows, wide=5)


def _row(scene: SceneTime, names: Mapping[str, str], labels: ViewLabels) -> tuple[str, ...]:
    told = scene.told.text if scene.told is not None else ""
    if scene.said_in == "text":
        told = f"“{told}”"
    who = ", ".join(names.get(each, each) for each in scene.participants)
    where = names.get(scene.location_id or "", scene.location_id or "")
    return (
        place_text(scene.chapter_index, scene.scene_index, labels),
        told,
        _day(scene),
        _since(scene.since_previous, labels),
        _lived(scene, labels),
        " @ ".join(each for each in (who, where) if each),
    )


def _day(scene: SceneTime) -> str:
    if scene.story_day is None:
        return "?"
    mark = {"told": "", "inferred": "~", "at_least": "≥"}.get(scene.certainty, "?")
    until = f"–{scene.until_day}" if scene.until_day is not None else ""
    return f"{mark}{scene.story_day}{until}"


def _since(span: DaySpan | None, labels: ViewLabels) -> str:
    if span is None:
        return ""
    if span.max_days is None:
        return labels.value("{} days or more").format(span.min_days)
    if not span.is_exact:
        return labels.value("{} days").format(f"{span.min_days}–{span.max_days}")
    if span.min_days == 0:
        return labels.value("same day")
    return labels.value("next day") if span.min_days == 1 else labels.value("{} days").format(span.min_days)


def _lived(scene: SceneTime, labels: ViewLabels) -> str:
    order = "?" if scene.lived_order is None else str(scene.lived_order)
    if not scene.is_flashback:
        return order
    where = labels.value("before the story") if scene.lived == "before_story" else labels.value("flashback")
    return f"{order} ({where})"
