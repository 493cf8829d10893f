"""What commands show to people: contexts with their receipts and differences, memories, states."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from novelgen.context.labels import labels_for
from novelgen.context.lines import (
    SECTION_ORDER,
    render_left_off,
    render_timeline_entry,
    render_told_before,
    render_value,
)
from novelgen.models.context import (
    ContextDifference,
    ContextItem,
    ContextReport,
    HiddenContext,
    MemoryDifference,
    ReportIssue,
    SceneMemoryContext,
    StateDifference,
    TimelineDifference,
)
from novelgen.models.memory import StoryMemoryChunk
from novelgen.models.state import PRESENCE_ATTRIBUTE, EntityStateSnapshot
from runtime.doors.cli.labels import ViewLabels, place_text, view_labels_for
from runtime.doors.cli.output import print_heading, print_pairs, print_table, print_text


def print_context(context: SceneMemoryContext, *, language: str, written_to: Path | None) -> None:
    """Print a context."""
    labels, words = view_labels_for(language), labels_for(language)
    report = context.report or ContextReport()
    place = place_text(context.chapter_index, context.scene_index, labels)
    print_heading(labels.context.format(place=place, project=context.project_id))
    print_heading(words.states)
    if context.entity_states:
        print_states(context.entity_states, report.names, language=language)
    else:
        print_text(labels.nothing)
    if context.story_so_far:
        print_heading(words.story_so_far)
        for told in context.story_so_far:
            print_text(render_told_before(told, labels=words))
    if context.left_off is not None:
        print_heading(words.left_off)
        for line in render_left_off(context.left_off, report.names, labels=words):
            print_text(line)
    print_heading(words.timeline)
    _print_timeline(context, report, language=language)
    print_heading(words.memories)
    if report.items:
        print_items(report.items, labels)
    else:
        print_text(labels.nothing)
    if context.hidden is not None:
        _print_hidden(context, report, language=language)
    print_issues(report.issues, labels)
    print_summary(report, labels, written_to)


def _print_hidden(context: SceneMemoryContext, report: ContextReport, *, language: str) -> None:
    """Print what the point of view does not know, in the order of the rest."""
    labels, words = view_labels_for(language), labels_for(language)
    hidden, view = context.hidden or HiddenContext(), report.point_of_view
    names = {**report.names, **hidden.names}
    print_heading(words.hidden.format(report.names.get(view.character_id or "", view.name) if view else ""))
    if hidden.entity_states:
        print_states(hidden.entity_states, names, language=language)
    if hidden.timeline_context:
        apart = context.model_copy(update={"timeline_context": hidden.timeline_context})
        _print_timeline(apart, report.model_copy(update={"names": names}), language=language)
    for told in hidden.story_so_far:
        print_text(render_told_before(told, labels=words))
    if hidden.items:
        print_items(hidden.items, labels)


def print_items(items: list[ContextItem], labels: ViewLabels) -> None:
    """Print memories, best first, each with its source scene, its cost and why it is in."""
    rows = [
        (
            number,
            place_text(item.chapter_index, item.scene_index, labels),
            item.tokens,
            labels.forms[item.form],
            item.text + (f"\n  ← {labels.reason('; '.join(item.reasons))}" if item.reasons else ""),
        )
        for number, item in enumerate(items, start=1)
    ]
    print_table((labels.number, labels.place, labels.tokens, labels.form, labels.text), rows, wide=4)


def _print_timeline(context: SceneMemoryContext, report: ContextReport, *, language: str) -> None:
    words = labels_for(language)
    timeline = context.timeline_context or {}
    for section in SECTION_ORDER:
        entries = timeline.get(section) or []
        if entries:
            print_text(f"{getattr(words, section)}{words.colon.strip()}")
        for entry in entries:
            print_text(f"  {render_timeline_entry(section, entry, report.names, labels=words)}")
    if not any(timeline.values()):
        print_text(view_labels_for(language).nothing)


def print_issues(issues: list[ReportIssue], labels: ViewLabels) -> None:
    """Print what is missing or degraded; nothing where nothing is."""
    if issues:
        print_heading(labels.issues)
        for issue in issues:
            print_text(f"  - {issue.stage} ({issue.kind}): {issue.message}")


def print_summary(report: ContextReport, labels: ViewLabels, written_to: Path | None) -> None:
    """Print how a context came about in a few lines; what stands among its issues is not told again."""
    spent = labels.reason(", ".join(f"{need} {tokens}" for need, tokens in report.tokens_per_need.items()))
    why = report.planner.reason
    for issue in report.issues:
        why = why.removesuffix(f": {issue.message}")
    reason = f" ({labels.reasons.get(why, why)})" if why else ""
    print_text()
    print_pairs(
        {
            labels.planner: f"{labels.reason(report.planner.used)}{reason}",
            labels.total: f"{sum(report.tokens.values())} ({spent})" if spent else "0",
            labels.unresolved: ", ".join(_strangers(report)),
            labels.issues: "" if report.issues or report.unresolved_names else labels.no_issues,
            labels.written: written_to or labels.not_written,
        }
    )


def _strangers(report: ContextReport) -> list[str]:
    """Return the plan's names that no entity bears and the text does not hold either: of the others no issue speaks."""
    told = [issue.message for issue in report.issues if issue.kind == "unresolved"]
    return [name for name in report.unresolved_names if any(repr(name) in message for message in told)]


def print_explanation(report: ContextReport, *, language: str) -> None:
    """Print the receipts of a context."""
    labels = view_labels_for(language)
    print_heading(labels.queries)
    queries = [(labels.reason(each.origin), labels.reason(each.purpose), each.text) for each in report.queries]
    print_table((labels.origin, labels.purpose, labels.text), queries, wide=2)
    print_heading(f"{labels_for(language).memories}: {labels.score}")
    _print_scores(report, labels)
    if report.left_out:
        print_heading(labels.left_out)
        _print_left_out(report, labels)
    if strangers := _strangers(report):
        print_heading(labels.unresolved)
        print_text(", ".join(strangers))
    print_heading(labels.timings)
    print_pairs({stage: f"{seconds:.3f}" for stage, seconds in report.timings_s.items()})


def _print_scores(report: ContextReport, labels: ViewLabels) -> None:
    rows = [
        (
            number,
            place_text(item.chapter_index, item.scene_index, labels),
            item.source_id or item.chunk_id,
            f"{item.score:.3f}",
            labels.reason(", ".join(f"{part} {value:.2f}" for part, value in item.score_parts.items())),
            labels.reason(", ".join(f"{retriever} {rank}" for retriever, rank in item.arm_ranks.items())),
        )
        for number, item in enumerate(report.items, start=1)
    ]
    headings = (labels.number, labels.place, labels.entity_id, labels.score, labels.score_parts, labels.retrievers)
    print_table(headings, rows, wide=4)


def _print_left_out(report: ContextReport, labels: ViewLabels) -> None:
    rows = [
        (
            labels.reason(each.section),
            each.source_id or each.id,
            each.tokens,
            "" if each.score is None else f"{each.score:.3f}",
            f"{each.text}\n  ← {labels.reason(each.reason)}",
        )
        for each in report.left_out
    ]
    headings = (labels.section, labels.entity_id, labels.tokens, labels.score, labels.text)
    print_table(headings, rows, wide=4)


def print_difference(difference: ContextDifference, *, language: str, file: Path) -> None:
    """Print what changed in the context of a planned scene."""
    labels, words = view_labels_for(language), labels_for(language)
    place = place_text(difference.chapter_index, difference.scene_index, labels)
    print_heading(labels.difference.format(place=place, project=difference.project_id))
    if difference.is_empty:
        print_text(labels.unchanged)
    if difference.states:
        print_heading(words.states)
        _print_state_differences(difference.states, difference.names, language=language)
    if difference.has_other_end:
        print_heading(words.left_off)
        print_text(f"- {difference.left_off_was or labels.nothing}\n+ {difference.left_off_now or labels.nothing}")
    if difference.timeline:
        print_heading(words.timeline)
        _print_timeline_differences(difference.timeline, difference.names, language=language)
    if difference.memories:
        print_heading(words.memories)
        _print_memory_differences(difference.memories, labels)
    print_issues(difference.issues, labels)
    _print_difference_summary(difference, labels, file)


def _print_state_differences(states: list[StateDifference], names: Mapping[str, str], *, language: str) -> None:
    labels, words = view_labels_for(language), labels_for(language)
    rows = []
    for state in states:
        mark = "" if state.change == "changed" else f" ({labels.changes[state.change]})"
        entity = f"{names.get(state.entity_id, state.entity_id)}{mark}"
        if not state.attributes:
            rows.append((entity, "", "", ""))
        for each in state.attributes:
            was, now = (value_text(each.attribute, value, names, language=language) for value in (each.was, each.now))
            rows.append((entity, words.attribute(each.attribute), was, now))
    print_table((labels.entity, labels.attribute, labels.was, labels.now), rows, wide=3)


def _print_timeline_differences(entries: list[TimelineDifference], names: Mapping[str, str], *, language: str) -> None:
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


def _print_memory_differences(memories: list[MemoryDifference], labels: ViewLabels) -> None:
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


def _print_difference_summary(difference: ContextDifference, labels: ViewLabels, file: Path) -> None:
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


def print_memories(chunks: Sequence[StoryMemoryChunk], labels: ViewLabels) -> None:
    """Print memories in their order, each with its id, source scene and weight."""
    rows = [
        (
            chunk.source_id or chunk.chunk_id,
            place_text(chunk.chapter_index, chunk.scene_index, labels),
            labels.value(chunk.content_type),
            chunk.importance,
            marked_text(chunk, labels),
        )
        for chunk in chunks
    ]
    if not rows:
        print_text(labels.nothing)
        return
    print_table((labels.entity_id, labels.place, labels.kind, labels.importance, labels.text), rows, wide=4)


def marked_text(chunk: StoryMemoryChunk, labels: ViewLabels) -> str:
    """Return the text of a memory, and where something replaced it, what."""
    if chunk.superseded_by is None:
        return chunk.content
    return f"{chunk.content} {labels.outdated.format(source=chunk.superseded_by)}"


def print_states(snapshots: Sequence[EntityStateSnapshot], names: Mapping[str, str], *, language: str) -> None:
    """Print states, one row per snapshot, in their order."""
    labels = view_labels_for(language)
    rows = [
        (
            names.get(each.entity_id, each.entity_id),
            place_text(each.chapter_index, each.scene_index, labels),
            facts_text(each, names, language=language),
        )
        for each in snapshots
    ]
    print_table((labels.entity, labels.place, labels.facts), rows, wide=2)


def facts_text(snapshot: EntityStateSnapshot, names: Mapping[str, str], *, language: str) -> str:
    """Return a state as one line: attributes in their own order, where somebody was last seen at the end.

    An attribute that no quote of its scene proves says so.
    """
    words, state = labels_for(language), snapshot.state_data
    texts = {
        name: f"{words.attribute(name)}{words.colon}{value_text(name, value, names, language=language)}"
        f"{words.unverified if name in snapshot.unverified else ''}"
        for name, value in state.items()
    }
    seen_last = [texts.pop(PRESENCE_ATTRIBUTE)] if PRESENCE_ATTRIBUTE in texts else []
    return words.separator.join([*texts.values(), *seen_last])


def value_text(attribute: str, value: object, names: Mapping[str, str], *, language: str) -> str:
    """Return an attribute's value as text: names for ids, nothing for None, presence as a place and its scene."""
    words = labels_for(language)
    if value is None:
        return ""
    if attribute != PRESENCE_ATTRIBUTE or not isinstance(value, Mapping):
        return render_value(value, names, words)
    scene = place_text(value.get("chapter_index"), value.get("scene_index"), view_labels_for(language))
    location = value.get("location_id")
    return f"{render_value(location, names, words)} ({scene})" if location else scene
