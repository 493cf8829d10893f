"""A context for people: states, timeline, memories with reasons and costs, and what is missing."""

from __future__ import annotations

from pathlib import Path

from novelgen.models.context import ContextItem, ContextReport, ReportIssue, SceneMemoryContext
from novelgen.rendering.labels import labels_for
from novelgen.rendering.lines import SECTION_ORDER, render_timeline_entry
from runtime.cli.labels import ViewLabels, place_text, view_labels_for
from runtime.cli.output import print_heading, print_pairs, print_table, print_text
from runtime.cli.views.states import print_states


def print_context(context: SceneMemoryContext, *, language: str, written_to: Path | None) -> None:
    """Print a context.

    Args:
        context: What the chain returned.
        language: Language of the headings.
        written_to: Its file; None when it was not written.
    """
    labels, words = view_labels_for(language), labels_for(language)
    report = context.report or ContextReport()
    place = place_text(context.chapter_index, context.scene_index, labels)
    print_heading(labels.context.format(place=place, project=context.project_id))
    print_heading(words.states)
    if context.entity_states:
        print_states(context.entity_states, report.names, language=language)
    else:
        print_text(labels.nothing)
    print_heading(words.timeline)
    _print_timeline(context, report, language=language)
    print_heading(words.memories)
    if report.items:
        print_items(report.items, labels)
    else:
        print_text(labels.nothing)
    print_issues(report.issues, labels)
    _print_summary(report, labels, written_to)


def print_items(items: list[ContextItem], labels: ViewLabels) -> None:
    """Print memories, best first, each with its source scene, its cost and why it is in."""
    rows = [
        (
            number,
            place_text(item.chapter_index, item.scene_index, labels),
            item.tokens,
            labels.forms[item.form],
            item.text + (f"\n  ← {'; '.join(item.reasons)}" if item.reasons else ""),
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


def _print_summary(report: ContextReport, labels: ViewLabels, written_to: Path | None) -> None:
    spent = ", ".join(f"{need} {tokens}" for need, tokens in report.tokens_per_need.items())
    reason = f" ({report.planner.reason})" if report.planner.reason else ""
    print_text()
    print_pairs(
        {
            labels.planner: f"{report.planner.used}{reason}",
            labels.total: f"{sum(report.tokens.values())} ({spent})" if spent else "0",
            labels.issues: "" if report.issues else labels.no_issues,
            labels.written: written_to or labels.not_written,
        }
    )
