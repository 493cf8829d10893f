"""Views for people: contexts, differences, memories and states."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from novelgen.context.card_facts import render_card_facts
from novelgen.context.prompt_block import memory_marks
from novelgen.context.rendering import (
    SECTION_ORDER,
    belief_mark,
    render_left_off,
    render_timeline_entry,
    render_told_before,
    render_value,
    shown_state,
)
from novelgen.language.sentences import split_sentences
from novelgen.models.context import (
    ContextDifference,
    ContextItem,
    ContextReport,
    HiddenContext,
    ReportIssue,
    SceneMemoryContext,
    SelectorReport,
    StateDifference,
    TimelineDifference,
)
from novelgen.models.state import PRESENCE_ATTRIBUTE, EntityStateSnapshot
from runtime.doors.cli.labels import ViewLabels
from runtime.doors.cli.output import last_rows, print_cut, print_heading, print_pairs, print_table, print_text


def print_context(context: SceneMemoryContext, labels: ViewLabels, written_to: Path | None) -> None:
    """Print a context."""
    prompt = labels.prompt
    report = context.report
    place = labels.place(context.chapter_index, context.scene_index)
    print_heading(labels["head.context"].format(place=place, project=context.project_id))
    print_heading(prompt.states)
    if context.entity_states:
        print_states(context.entity_states, report.names, labels)
    else:
        print_text(labels["head.nothing"])
    if context.cards:
        print_heading(prompt.cards)
        for facts in context.cards:
            print_text(render_card_facts(facts, report.names, labels=prompt))
    if context.story_so_far:
        print_heading(prompt.story_so_far)
        for notice in context.story_so_far:
            print_text(render_told_before(notice, labels=prompt))
    if context.left_off is not None:
        print_heading(prompt.left_off)
        for line in render_left_off(context.left_off, report.names, labels=prompt):
            print_text(line)
    print_heading(prompt.timeline)
    _print_timeline(context, report, labels)
    print_heading(prompt.memories)
    if report.own_items:
        print_items(report.own_items, labels, memory_marks(context, labels.prompt))
    else:
        print_text(labels["head.nothing"])
    if context.hidden is not None:
        _print_hidden(context, report, labels)
    print_issues(report.issues, labels)
    _print_unread(context.project_id, report, labels)
    print_summary(report, labels, written_to)


FIRST_LINES = {"states": 6, "left_off": 3, "open_loops": 5, "memories": 10}
"""So many lines of each part stand on the first screen of a context."""


def print_first_screen(context: SceneMemoryContext, labels: ViewLabels) -> None:
    """Print the essential lines of a context: constraints, cast and threads."""
    prompt = labels.prompt
    report = context.report
    place = labels.place(context.chapter_index, context.scene_index)
    print_heading(labels["head.context"].format(place=place, project=context.project_id))
    states: dict[bool, list[str]] = {True: [], False: []}
    for snapshot in context.entity_states:
        name = report.names.get(snapshot.entity_id, snapshot.entity_id)
        facts = facts_text(snapshot, report.names, labels)
        is_here = snapshot.entity_type == "character" and snapshot.entity_id in report.entities
        states[is_here].append(f"{name}{prompt.colon}{facts}")
    left_off = []
    if (omission := context.left_off) is not None:
        statements = [omission.text[span.start : span.end] for span in split_sentences(omission.text)]
        left_off = [render_left_off(omission, report.names, labels=prompt)[0], *statements]
    loops = (context.timeline_context or {}).get("open_loops") or []
    threads = [render_timeline_entry("open_loops", loop, report.names, labels=prompt)[2:] for loop in loops]
    marks = memory_marks(context, prompt)
    memories = [f"[{labels.memory_place(item)}] {item.text}{marks.get(item.chunk_id, '')}" for item in report.own_items]
    parts = {
        "must_hold": states[False][: FIRST_LINES["states"]],
        "we_left_off": [*left_off[:1], *last_rows(left_off[1:], FIRST_LINES["left_off"] - 1)],
        "who_is_here": states[True][: FIRST_LINES["states"]],
        "is_open": threads[: FIRST_LINES["open_loops"]],
        "weighs_most": memories[: FIRST_LINES["memories"]],
    }
    for heading, lines in parts.items():
        if lines:
            print_heading(labels[f"line.{heading}"])
            print_cut(lines)
    print_issues(report.issues, labels)
    _print_unread(context.project_id, report, labels)
    print_text()
    left_over = len(memories) - len(parts["weighs_most"])
    print_text(labels["line.more_of_context" if left_over else "line.all_of_context"].format(count=left_over))


def _print_hidden(context: SceneMemoryContext, report: ContextReport, labels: ViewLabels) -> None:
    """Print the facts hidden from the point of view."""
    prompt = labels.prompt
    hidden, view = context.hidden or HiddenContext(), report.point_of_view
    names = {**report.names, **hidden.names}
    print_heading(prompt.hidden.format(report.names.get(view.character_id or "", view.name) if view else ""))
    if hidden.entity_states:
        print_states(hidden.entity_states, names, labels)
    if hidden.timeline_context:
        apart = context.model_copy(update={"timeline_context": hidden.timeline_context})
        _print_timeline(apart, report.model_copy(update={"names": names}), labels)
    for notice in hidden.story_so_far:
        print_text(render_told_before(notice, labels=prompt))
    if hidden.items:
        print_items(hidden.items, labels, memory_marks(context, labels.prompt))


def _why(item: ContextItem) -> list[str]:
    """The reasons for a memory, without those of its form."""
    return [reason for reason in item.reasons if not reason.startswith("full form: ")]


def print_items(items: list[ContextItem], labels: ViewLabels, marks: Mapping[str, str]) -> None:
    """Print memories, best first, each with its source scene, its cost and why it is in."""
    rows = [
        (
            number,
            labels.memory_place(item),
            item.tokens,
            labels[f"forms.{item.form}"],
            item.text
            + marks.get(item.chunk_id, "")
            + (f"\n  ← {labels.prompt.separator.join(map(labels.reason, why))}" if (why := _why(item)) else ""),
        )
        for number, item in enumerate(items, start=1)
    ]
    print_table(("number", "place", "tokens", "form", "text"), rows, labels=labels)


def _print_timeline(context: SceneMemoryContext, report: ContextReport, labels: ViewLabels) -> None:
    prompt = labels.prompt
    timeline = context.timeline_context or {}
    for section in SECTION_ORDER:
        entries = timeline.get(section) or []
        if entries:
            print_text(f"{getattr(prompt, section)}{prompt.colon.strip()}")
        for entry in entries:
            print_text(f"  {render_timeline_entry(section, entry, report.names, labels=prompt)}")
    if not any(timeline.values()):
        print_text(labels["head.nothing"])


def print_issues(issues: list[ReportIssue], labels: ViewLabels) -> None:
    """Print issues, if any."""
    if issues:
        print_heading(labels["head.issues"])
        for issue in issues:
            print_text(f"  - {labels.issue(issue.stage, issue.kind, issue.message)}")


def _print_unread(project_id: str, report: ContextReport, labels: ViewLabels) -> None:
    """Print the number of unread scenes and the remedy."""
    if report.unread_scenes:
        text = labels["line.unread"]
        counts = {"unread": report.unread_scenes, "scenes": report.scenes_before}
        print_text()
        print_text(text.format(project=project_id, **counts))


def print_summary(report: ContextReport, labels: ViewLabels, written_to: Path | None) -> None:
    """Print a context's summary, without repeating issues."""
    spent_text = labels.reason(labels.listing(f"{need} {tokens}" for need, tokens in report.tokens_per_need.items()))
    why = report.planner.reason
    for issue in report.issues:
        why = why.removesuffix(f": {issue.message}")
    reason = labels.in_brackets(labels.get(f"reason.{why}", why)) if why else ""
    print_text()
    print_pairs(
        {
            "planner": f"{labels.reason(report.planner.used)}{reason}",
            "selector": _selected(report.selector, labels),
            "total": f"{sum(report.tokens.values())}{labels.in_brackets(spent_text)}" if spent_text else "0",
            "unresolved": labels.listing(_strangers(report)),
            "issues": "" if report.issues or report.unresolved_names else labels["head.no_issues"],
            "written": written_to or labels["head.not_written"],
        },
        labels,
    )


def _selected(selector: SelectorReport | None, labels: ViewLabels) -> str:
    """Return by whom the memories were chosen and of how many; empty where no model was asked."""
    if selector is None:
        return ""
    return labels.reason(selector.used) + labels.in_brackets(f"{selector.chosen} / {selector.listed}")


def _strangers(report: ContextReport) -> list[str]:
    """Return plan names without an entity or a mention in the text."""
    lines = [issue.message for issue in report.issues if issue.kind == "unresolved"]
    return [name for name in report.unresolved_names if any(repr(name) in message for message in lines)]


def print_explanation(report: ContextReport, labels: ViewLabels) -> None:
    """Print the receipts of a context."""
    print_heading(labels["head.queries"])
    queries = [
        (labels.reason(reported_query.origin), labels.reason(reported_query.purpose), reported_query.text)
        for reported_query in report.queries
    ]
    print_table(("origin", "purpose", "text"), queries, labels=labels)
    print_heading(f"{labels.prompt.memories}: {labels['head.score']}")
    rows = [
        (
            number,
            labels.memory_place(item),
            item.memory_id,
            f"{item.score:.3f}",
            labels.reason(labels.listing(f"{part} {value:.2f}" for part, value in item.score_parts.items())),
            labels.reason(labels.listing(f"{retriever} {rank}" for retriever, rank in item.retriever_ranks.items())),
        )
        for number, item in enumerate(report.own_items, start=1)
    ]
    headings = ("number", "place", "entity_id", "score", "score_parts", "retrievers")
    print_table(headings, rows, labels=labels)
    if left_out_of_prompt := report.left_out_of_prompt:
        print_heading(labels["head.left_out"])
        left_out = [
            (
                labels.reason(omission.section),
                omission.source_id or omission.id,
                omission.tokens,
                "" if omission.score is None else f"{omission.score:.3f}",
                f"{omission.text}\n  ← {labels.reason(omission.reason)}",
            )
            for omission in left_out_of_prompt
        ]
        print_table(("section", "entity_id", "tokens", "score", "text"), left_out, labels=labels)
    if strangers := _strangers(report):
        print_heading(labels["head.unresolved"])
        print_text(labels.listing(strangers))
    print_heading(labels["head.timings"])
    print_pairs({labels.stage(stage): f"{seconds:.3f}" for stage, seconds in report.timings_s.items()})


def print_difference(difference: ContextDifference, labels: ViewLabels, file: Path) -> None:
    """Print the changes of a planned scene's context."""
    prompt = labels.prompt
    place = labels.place(difference.chapter_index, difference.scene_index)
    print_heading(labels["head.difference"].format(place=place, project=difference.project_id))
    if difference.is_empty:
        print_text(labels["head.unchanged"])
    if difference.states:
        print_heading(prompt.states)
        _print_state_differences(difference.states, difference.names, labels)
    if difference.has_other_end:
        print_heading(prompt.left_off)
        nothing = labels["head.nothing"]
        print_text(f"- {difference.left_off_was or nothing}\n+ {difference.left_off_now or nothing}")
    if difference.timeline:
        print_heading(prompt.timeline)
        _print_timeline_differences(difference.timeline, difference.names, labels)
    if difference.memories:
        print_heading(prompt.memories)
        rows = []
        for memory_difference in difference.memories:
            wordings = [wording for wording in (memory_difference.was, memory_difference.now) if wording is not None]
            rows.append(
                (
                    labels[f"changes.{memory_difference.change}"],
                    labels.memory_place(memory_difference),
                    " → ".join(dict.fromkeys(labels[f"forms.{wording.form}"] for wording in wordings)),
                    _arrow([wording.text for wording in wordings]),
                )
            )
        print_table(("change", "place", "form", "text"), rows, labels=labels)
    print_issues(difference.issues, labels)
    planners = [
        labels.reason(planner.used) + labels.in_brackets(labels.reason(planner.reason))
        for planner in (difference.planner_was, difference.planner_now)
    ]
    versions = [version or "?" for version in (difference.story_version_was, difference.story_version_now)]
    print_text()
    print_pairs(
        {
            "planner": " → ".join(dict.fromkeys(planners)),
            "story_version": " → ".join(dict.fromkeys(versions)),
            "left_as_it_is": file,
        },
        labels,
    )


def _print_state_differences(states: list[StateDifference], names: Mapping[str, str], labels: ViewLabels) -> None:
    prompt = labels.prompt
    rows = []
    for state in states:
        mark = "" if state.change == "changed" else f" ({labels[f'changes.{state.change}']})"
        entity = f"{names.get(state.entity_id, state.entity_id)}{mark}"
        if not state.attributes:
            rows.append((entity, "", "", ""))
        for attribute_change in state.attributes:
            was, now = (
                value_text(attribute_change.attribute, value, names, labels)
                for value in (attribute_change.was, attribute_change.now)
            )
            rows.append((entity, prompt.attribute(attribute_change.attribute), was, now))
    print_table(("entity", "attribute", "was", "now"), rows, labels=labels)


def _print_timeline_differences(
    entries: list[TimelineDifference], names: Mapping[str, str], labels: ViewLabels
) -> None:
    prompt = labels.prompt
    rows = []
    for timeline_difference in entries:
        lines = [
            render_timeline_entry(timeline_difference.section, entry, names, labels=prompt).removeprefix("- ")
            for entry in (timeline_difference.was, timeline_difference.now)
            if entry is not None
        ]
        rows.append(
            (
                labels[f"changes.{timeline_difference.change}"],
                getattr(prompt, timeline_difference.section),
                _arrow(lines),
            )
        )
    print_table(("change", "section", "text"), rows, labels=labels)


def _arrow(texts: list[str]) -> str:
    return "\n→ ".join(dict.fromkeys(texts))


def print_states(snapshots: Sequence[EntityStateSnapshot], names: Mapping[str, str], labels: ViewLabels) -> None:
    """Print states, one row per snapshot that says something, in their order."""
    rows = [
        (names.get(snapshot.entity_id, snapshot.entity_id), labels.memory_place(snapshot), facts)
        for snapshot in snapshots
        # What somebody holds is told in the row of the thing.
        if (facts := facts_text(snapshot, names, labels))
    ]
    if rows:
        print_table(("entity", "place", "facts"), rows, labels=labels)


def facts_text(snapshot: EntityStateSnapshot, names: Mapping[str, str], labels: ViewLabels) -> str:
    """Return a state as one line.

    An attribute that no quote of its scene proves says so.
    """
    prompt, state = labels.prompt, shown_state(snapshot)
    texts = {
        name: f"{prompt.attribute(name, snapshot.entity_type)}{prompt.colon}{value_text(name, value, names, labels)}"
        f"{prompt.unverified if name in snapshot.unverified else ''}"
        f"{belief_mark(snapshot.believed.get(name), names, prompt)}"
        f"{guess_mark(labels) if name in snapshot.guessed or name in snapshot.guessed_in else ''}"
        for name, value in state.items()
        if value not in (None, "", [])
    }
    seen_last = [texts.pop(PRESENCE_ATTRIBUTE)] if PRESENCE_ATTRIBUTE in texts else []
    return prompt.separator.join([*texts.values(), *seen_last])


def guess_mark(labels: ViewLabels) -> str:
    """Return what stands behind something that only rules say."""
    return labels.in_brackets(labels["value.guess"])


def value_text(attribute: str, value: object, names: Mapping[str, str], labels: ViewLabels) -> str:
    """Return an attribute's value as text: names for ids, nothing for None, presence as a place and its scene."""
    prompt = labels.prompt
    if value is None:
        return ""
    if attribute != PRESENCE_ATTRIBUTE or not isinstance(value, Mapping):
        return render_value(value, names, prompt)
    scene = labels.place(value.get("chapter_index"), value.get("scene_index"))
    return render_value(value["location_id"], names, prompt) + labels.in_brackets(scene)
