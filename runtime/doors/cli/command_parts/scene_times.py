"""Parts of commands on when scenes play and how things stood."""

from __future__ import annotations

import math
from typing import Any

from runtime.doors.cli import output
from runtime.doors.cli.command_view import View, cell, does, guess_text


@does("rows", "list_story_times")
def _scenes_in_order(timeline: Any, view: View) -> Any:
    if not view.asked["is_lived"]:
        return timeline.scenes
    return sorted(timeline.scenes, key=lambda item: (item.lived_order or math.inf, item.told_order))


@cell
def _told_time(scene: Any, _: View) -> str:
    text = scene.told.text if scene.told is not None else ""
    return f"“{text}”" if scene.said_in == "text" else text


@cell
def _day(scene: Any, _: View) -> str:
    if scene.story_day is None:
        return "?"
    mark = {"told": "", "inferred": "~", "at_least": "≥"}.get(scene.certainty, "?")
    until = f"–{scene.until_day}" if scene.until_day is not None else ""
    return f"{mark}{scene.story_day}{until}"


@cell
def _days_since(scene: Any, view: View) -> str:
    span, labels = scene.since_previous, view.labels
    if span is None:
        return ""
    if span.max_days is None:
        return labels["line.days_or_more"].format(span.min_days)
    if not span.is_exact:
        return labels["line.days"].format(f"{span.min_days}–{span.max_days}")
    key = {0: "same_day", 1: "next_day"}.get(span.min_days, "days")
    return labels[f"line.{key}"].format(span.min_days)


@cell
def _lived(scene: Any, view: View) -> str:
    order = "?" if scene.lived_order is None else str(scene.lived_order)
    if not scene.is_flashback:
        return order
    key = "line.before_the_story" if scene.lived == "before_story" else "value.flashback"
    return order + view.labels.in_brackets(view.labels[key])


@cell
def _who_and_where(scene: Any, view: View) -> str:
    who = view.labels.listing(map(view.name, scene.participants)) + _mark(scene, "participants", view) * bool(
        scene.participants
    )
    where = view.name(scene.location_id) + _mark(scene, "location_id", view) if scene.location_id else ""
    return " @ ".join(filter(None, (who, where)))


@cell
def _location(item: Any, view: View) -> str:
    location_id = item.scene.location_id
    return view.name(location_id) + _mark(item, "location_id", view) if location_id else ""


@cell
def _on_stage(item: Any, view: View) -> str:
    return view.labels.listing(item.on_stage) + (_mark(item, "participants", view) if item.on_stage else "")


@cell
def _sure(item: Any, view: View) -> str:
    if item.certainty == 1:
        return ""
    return f"{item.certainty}{guess_text(view) if item.is_guess else ''}"


def _mark(item: Any, field: str, view: View) -> str:
    return guess_text(view) if field in item.guessed else ""


@does("show", "get_recent_timeline")
def _show_standing(result: Any, view: View) -> None:
    from runtime.doors.cli.views import print_states

    if result.snapshots:
        print_states(result.snapshots, result.names, view.labels)
    else:
        output.print_text(view.labels["head.nothing"])
