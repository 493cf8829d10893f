"""Measure retrieval on a book with an answer key: `python -m tests.benchmarks DIR`."""

import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import click

from novelgen.errors import UserInputError
from runtime.doors.cli.error_handling import run_guarded
from runtime.doors.cli.output import print_heading, print_json, print_pairs, print_table, staged_progress
from runtime.doors.cli.parameters import COUNT, FOLDER, json_option, settle_imports
from tests.benchmarks.retrieval.book import load_bench_book
from tests.benchmarks.retrieval.cost import RUNS, CostReport, measure_cost, parse_size
from tests.benchmarks.retrieval.quality import QualityReport, SystemScores, measure_quality

_EXAMPLES = """\b
Examples:
  python -m tests.benchmarks books/sign_of_four --work-dir bench-work
  python -m tests.benchmarks books/sign_of_four --no-records --budgets 1000,2000
  python -m tests.benchmarks books/sign_of_four --cost 1000,20000,2000/100000"""


@click.command(epilog=_EXAMPLES)
@click.argument("folder", metavar="DIR", type=FOLDER)
@click.option(
    "--records/--no-records",
    default=True,
    show_default=True,
    help="Whether novelgen has the scene records, or the text alone.",
)
@click.option("--budgets", default="300,500,1000,2000", show_default=True, help="Tokens, each scored.")
@click.option("--ablation", is_flag=True, help="Also choose with one part of the score changed at a time.")
@click.option(
    "--cost",
    metavar="SIZES",
    help="Measure time and memory instead, at these numbers of memories: 20000, or 2000/100000 for 2,000 in "
    "the project beside another project's 100,000.",
)
@click.option("--limit-plans", type=COUNT, help="Only the first so many plans; with --cost, so many runs.")
@click.option(
    "--work-dir", type=FOLDER, help="Keeps imported projects and vectors for the next run.  [default: none kept]"
)
@json_option
def bench(
    folder: Path,
    records: bool,
    budgets: str,
    ablation: bool,
    cost: str | None,
    limit_plans: int | None,
    work_dir: Path | None,
    as_json: bool,
) -> None:
    """Measure retrieval on a book with an answer key.

    DIR holds scenes.jsonl, entities.jsonl, records.jsonl, plans.jsonl, meta.json and, where a memory conveys a
    fact in other words, covers.jsonl and shorts.jsonl. far@B is the share of the facts from more than three
    scenes back that stand within the first B tokens.
    """
    book = load_bench_book(folder)
    if cost is not None:
        sizes = [parse_size(size) for size in cost.split(",")]
        with _working_in(work_dir) as (place, progress):
            costs = measure_cost(book, place, sizes, runs=limit_plans or RUNS, progress=progress)
        if as_json:
            print_json(costs)
        else:
            _print_cost(costs)
        return
    tokens = _budgets(budgets)
    with _working_in(work_dir) as (place, progress):
        report = measure_quality(
            book, place, records=records, budgets=tokens, ablation=ablation, limit_plans=limit_plans, progress=progress
        )
    if as_json:
        print_json(report)
    else:
        print_quality(report)


@contextmanager
def _working_in(work_dir: Path | None) -> Iterator[tuple[Path, Callable[[str, int, int], None]]]:
    """Give the folder to work in, a temporary one where none is named, and progress bars."""
    settle_imports()
    with tempfile.TemporaryDirectory(prefix="novelgen-bench-") as temporary, staged_progress() as progress:
        yield work_dir or Path(temporary), progress


def _budgets(text: str) -> list[int]:
    parts = [part.strip() for part in text.split(",")]
    if not all(part.isascii() and part.isdigit() and int(part) for part in parts):
        raise UserInputError(f"--budgets {text!r} cannot be used; write positive numbers such as 500,1000")
    return sorted({int(part) for part in parts})


def print_quality(report: QualityReport) -> None:
    """Print a quality run: one row per system, then state accuracy."""
    records = "with records" if report.records else "text only"
    print_heading(f"{report.book}, {records}, {report.plans} plans, {report.embedding_model}")
    print_table(_quality_headings(report.budgets), (_row(each, report.budgets) for each in report.systems), wide=1)
    if report.states is not None:
        print_heading("Entity states")
        print_pairs(report.states.model_dump())
    for problem in report.problems:
        print_pairs({"problem": problem})


def _quality_headings(budgets: Sequence[int]) -> list[str]:
    """Return the headings of the table of systems."""
    far = " / ".join(str(budget) for budget in budgets)
    return ["group", "system", f"far@{far}", f"evidence@{budgets[-1]}", "scene@10", "leak"]


def _print_cost(report: CostReport) -> None:
    """Print a cost run: one row per size, then the profile of the chain at each size."""
    print_heading(f"{report.book}, chain without a model, {report.runs} runs per size")
    headings = ("stored", "in project", "chain p50", "p95", "query", "search", "queries", "goal p95", "peak MB")
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


def main() -> None:
    """Run the command; what is wrong ends as one line and an exit code, as for `novelgen`."""
    sys.exit(run_guarded(lambda: bench.main(prog_name="python -m tests.benchmarks", standalone_mode=False)))


if __name__ == "__main__":
    main()
