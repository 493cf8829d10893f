"""What changed between the context on disk and the one of now, for people."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from novelgen.models.context import (
    ContextDifference,
    MemoryDifference,
    StateDifference,
    TimelineDifference,
)
from novelgen.rendering.labels import labels_for
from novelgen.rendering.lines import render_timeline_entry
from runtime.cli.labels import ViewLabels, place_text, view_labels_for
from runtime.cli.output import print_heading, print_pairs, print_table, print_text
from runtime.cli.views.context import print_issues
from runtime.cli.views.states import value_text


def print_difference(difference: ContextDifference, *, language: str, file: Path) -> None:
    """Print what changed in the context of a planned scene.

    Args:
        difference: From the context on disk to the one of now.
        language: Language of the headings.
        file: The context's file, which was left as it is.
    """
    labels, words = view_labels_for(language), labels_for(language)
    place = place_text(difference.chapter_index, difference.scene_index, labels)
    print_heading(labels.difference.format(place=place, project=difference.project_id))
    if difference.is_empty:
        print_text(labels.unchanged)
    if difference.states:
        print_heading(words.states)
        _print_states(difference.states, difference.names, language=language)
    if difference.timeline:
        print_heading(words.timeline)
        _print_timeline(difference.timeline, difference.names, language=language)
    if difference.memories:
        print_heading(words.memories)
        _print_memories(difference.memories, labels)
    print_issues(difference.issues, labels)
    _print_summary(difference, labels, file)


def _print_states(states: list[StateDifference], names: Mapping[str, str], *, language: str) -> None:
    labels, words = view_labels_for(language), labels_for(language)
    rows = []
    for state in states:
        mark = "" if state.change == "changed" else f" ({labels.changes[state.change]})"
        entity = f"{names.get(state.entity_id, state.entity_id)}{mark}"
        if not state.attributes:
            rows.append((entity, "", "", ""))
        for each in state.attributes:
            was, now = (
                value_text(each.attribute, value, names, language=language) for value in (each.was, each.now)
            )
            rows.append((entity, words.attribute(each.attribute), was, now))
    print_table((labels.entity, labels.attribute, labels.was, labels.now), rows, wide=3)


def _print_timeline(entries: list[TimelineDifference], names: Mapping[str, str], *, language: str) -> None:
    labels, words = view_labels_for(language), labels_for(language)
    rows = []
    for each in entries:
        lines = [
            render_timeline_entry(each.section, entry, names, labels=words).removeprefix("- ")
            for entry in (each.was, each.now)
            if entry is not None
        ]
        rows.append((labels.changes[each.change], getattr(words, each.section), _arrow(lines)))
    print_table((labels.change, labels.section, labels.text), rows, wide=2)


def _print_memories(memories: list[MemoryDifference], labels: ViewLabels) -> None:
    rows = []
    for each in memories:
        wordings = [wording for wording in (each.was, each.now) if wording is not None]
        rows.append(
            (
                labels.changes[each.change],
                place_text(each.chapter_index, each.scene_index, labels),
                " → ".join(dict.fromkeys(labels.forms[wording.form] for wording in wordings)),
                _arrow([wording.text for wording in wordings]),
            )
        )
    print_table((labels.change, labels.place, labels.form, labels.text), rows, wide=3)


def _arrow(texts: list[str]) -> str:
    return "\n→ ".join(dict.fromkeys(texts))


def _print_summary(difference: ContextDifference, labels: ViewLabels, file: Path) -> None:
    planners = [
        f"{planner.used} ({planner.reason})" if planner.reason else planner.used
        for planner in (difference.planner_was, difference.planner_now)
    ]
    versions = [version or "?" for version in (difference.story_version_was, difference.story_version_now)]
    print_text()
    print_pairs(
        {
            labels.planner: " → ".join(dict.fromkeys(planners)),
            labels.story_version: " → ".join(dict.fromkeys(versions)),
            labels.left_as_it_is: file,
        }
    )
