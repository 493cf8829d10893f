"""How a context came about: queries, scores, what was left out, and where the time went."""

from __future__ import annotations

from novelgen.models.context import ContextReport
from novelgen.rendering.labels import labels_for
from runtime.cli.labels import ViewLabels, place_text, view_labels_for
from runtime.cli.output import print_heading, print_pairs, print_table, print_text


def print_explanation(report: ContextReport, *, language: str) -> None:
    """Print the receipts of a context.

    Args:
        report: The context's report.
        language: Language of the headings.
    """
    labels = view_labels_for(language)
    print_heading(labels.queries)
    queries = [(each.origin, each.purpose, each.text) for each in report.queries]
    print_table((labels.origin, labels.purpose, labels.text), queries, wide=2)
    print_heading(f"{labels_for(language).memories}: {labels.score}")
    _print_scores(report, labels)
    if report.left_out:
        print_heading(labels.left_out)
        _print_left_out(report, labels)
    if report.unresolved_names:
        print_heading(labels.unresolved)
        print_text(", ".join(report.unresolved_names))
    print_heading(labels.timings)
    print_pairs({stage: f"{seconds:.3f}" for stage, seconds in report.timings_s.items()})


def _print_scores(report: ContextReport, labels: ViewLabels) -> None:
    rows = [
        (
            number,
            place_text(item.chapter_index, item.scene_index, labels),
            item.source_id or item.chunk_id,
            f"{item.score:.3f}",
            ", ".join(f"{part} {value:.2f}" for part, value in item.score_parts.items()),
            ", ".join(f"{retriever} {rank}" for retriever, rank in item.arm_ranks.items()),
        )
        for number, item in enumerate(report.items, start=1)
    ]
    headings = (
        labels.number,
        labels.place,
        labels.entity_id,
        labels.score,
        labels.score_parts,
        labels.retrievers,
    )
    print_table(headings, rows, wide=4)


def _print_left_out(report: ContextReport, labels: ViewLabels) -> None:
    rows = [
        (
            each.section,
            each.source_id or each.id,
            each.tokens,
            "" if each.score is None else f"{each.score:.3f}",
            f"{each.text}\n  ← {each.reason}",
        )
        for each in report.left_out
    ]
    headings = (labels.section, labels.entity_id, labels.tokens, labels.score, labels.text)
    print_table(headings, rows, wide=4)
