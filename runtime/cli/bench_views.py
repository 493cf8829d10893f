"""Benchmark reports for people, on stdout."""

from __future__ import annotations

from collections.abc import Sequence

from runtime.bench.cost import CostReport
from runtime.bench.quality import QualityReport, SystemScores
from runtime.cli.output import print_heading, print_pairs, print_table


def print_quality(report: QualityReport) -> None:
    """Print a quality run: one row per system, then state accuracy and what was not measured."""
    records = "with records" if report.records else "text only"
    print_heading(f"{report.book}, {records}, {report.plans} plans, {report.embedding_model}")
    print_table(
        _quality_headings(report.budgets), (_row(each, report.budgets) for each in report.systems), wide=1
    )
    if report.states is not None:
        print_heading("Entity states")
        print_pairs(report.states.model_dump())
    for problem in report.problems:
        print_pairs({"problem": problem})
    print_pairs(dict(report.not_measured))


def _quality_headings(budgets: Sequence[int]) -> list[str]:
    """Return the headings of the table of systems."""
    far = " / ".join(str(budget) for budget in budgets)
    return ["group", "system", f"far@{far}", f"evidence@{budgets[-1]}", "scene@10", "leak"]


def print_cost(report: CostReport) -> None:
    """Print a cost run: one row per size, then the profile of the chain at each size."""
    print_heading(f"{report.book}, chain without a model, {report.runs} runs per size")
    headings = (
        "stored",
        "in project",
        "chain p50",
        "p95",
        "query",
        "search",
        "queries",
        "goal p95",
        "peak MB",
    )
    rows = [
        (
            size.stored,
            size.in_project,
            _ms(size.chain.p50_ms),
            _ms(size.chain.p95_ms),
            _ms(size.bare_embedding.p50_ms),
            _ms(size.bare_search.p50_ms),
            f"{size.queries_mean:.1f}",
            _ms(size.goal_p95_ms),
            f"{size.peak_rss_mb:.0f}",
        )
        for size in report.sizes
    ]
    print_table(headings, rows, wide=0)
    for size in report.sizes:
        print_heading(f"{size.stored} stored, {size.in_project} in the project: median ms per stage")
        print_pairs({stage: f"{value:.1f}" for stage, value in size.stages_ms.items()})
    print_pairs({"import time of --help, s": f"{report.help_import_s:.2f}"})


def _row(system: SystemScores, budgets: Sequence[int]) -> list[str]:
    scores = system.scores
    far = " / ".join(_share(scores.get(f"far@{budget}")) for budget in budgets)
    rest = (scores.get(name) for name in (f"evidence@{budgets[-1]}", "scene@10", "leak"))
    return [system.group, system.name, far, *(_share(value) for value in rest)]


def _share(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}"


def _ms(value: float) -> str:
    return f"{value:.0f} ms"
