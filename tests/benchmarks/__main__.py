"""Measure retrieval on a book with an answer key: `python -m tests.benchmarks DIR`."""

import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import click

from novelgen.errors import UserInputError
from runtime.doors.cli.error_handling import run_guarded
from runtime.doors.cli.output import print_heading, print_json, print_pairs, print_table
from runtime.doors.cli.parameters import COUNT, FILE, FOLDER, settle_imports
from tests.benchmarks.pages import RECORDED, PageReport, measure_pages, page_rows
from tests.benchmarks.retrieval.book import load_bench_book
from tests.benchmarks.retrieval.quality import QualityReport, SystemScores
from tests.benchmarks.rivals import measure_with_rivals
from tests.benchmarks.shares import ShareReport, measure_shares

_EXAMPLES = """\b
Examples:
  python -m tests.benchmarks books/sign_of_four --work-dir bench-work
  python -m tests.benchmarks books/sign_of_four --no-records --budgets 1000,2000
  python -m tests.benchmarks books/sign_of_four_read --pages"""


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
@click.option("--limit-plans", type=COUNT, help="Only the first so many plans.")
@click.option(
    "--work-dir", type=FOLDER, help="Keeps imported projects and vectors for the next run.  [default: none kept]"
)
@click.option("--rivals", is_flag=True, help="Also what novelgen is measured against.")
@click.option("--planner", type=click.Choice(["rules", "garbage", "recorded"]), default="rules", show_default=True)
@click.option("--selector", type=click.Choice(["rules", "recorded"]), default="rules", show_default=True)
@click.option(
    "--selections", type=FILE, help="With --selector recorded: the memories of each plan; only its plans count."
)
@click.option(
    "--pages",
    is_flag=True,
    help="Instead the share of the needed facts on whole pages; by the selections of the plans that are recorded for "
    "the book, or of --selections.",
)
@click.option(
    "--shares",
    is_flag=True,
    help="Instead the share of the needed facts on pages with a part of the records, and with notes alone, and what "
    "each further part loses.",
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON, and nothing else, on stdout.")
def bench(
    folder: Path,
    records: bool,
    budgets: str,
    ablation: bool,
    limit_plans: int | None,
    work_dir: Path | None,
    rivals: bool,
    planner: str,
    selector: str,
    selections: Path | None,
    pages: bool,
    shares: bool,
    as_json: bool,
) -> None:
    """Measure retrieval on a book with an answer key.

    DIR holds scenes.jsonl, entities.jsonl, records.jsonl, plans.jsonl, meta.json and, where a memory conveys a
    fact in other words, covers.jsonl and shorts.jsonl. far@B is the share of the facts from more than three
    scenes back that stand within the first B tokens.
    """
    if not pages and (selector == "recorded") != (selections is not None):
        raise UserInputError("--selector recorded and --selections FILE go together; give both or neither")
    book = load_bench_book(folder)
    tokens = _budgets(budgets)
    settle_imports()
    with tempfile.TemporaryDirectory(prefix="novelgen-bench-") as temporary:
        if pages:
            own_file = RECORDED / f"{folder.resolve().name}.selections.jsonl"
            file = selections or (own_file if own_file.exists() else None)
            pages_report = measure_pages(book, work_dir or Path(temporary), selections=file)
            print_json(pages_report) if as_json else print_pages(pages_report)
            return
        if shares:
            parts = measure_shares(book, work_dir or Path(temporary), limit_plans=limit_plans)
            print_json(parts) if as_json else print_shares(parts)
            return
        report = measure_with_rivals(
            book,
            work_dir or Path(temporary),
            planner=planner,
            selections=selections,
            with_rivals=rivals,
            records=records,
            budgets=tokens,
            ablation=ablation,
            limit_plans=limit_plans,
        )
    if as_json:
        print_json(report)
    else:
        print_quality(report)


def _budgets(text: str) -> list[int]:
    parts = [part.strip() for part in text.split(",")]
    if not all(part.isascii() and part.isdigit() and int(part) for part in parts):
        raise UserInputError(f"--budgets {text!r} cannot be used; write positive numbers such as 500,1000")
    return sorted({int(part) for part in parts})


def print_quality(report: QualityReport) -> None:
    """Print a quality run: one row per system, then state accuracy."""
    records = "with records" if report.records else "text only"
    print_heading(f"{report.book}, {records}, {report.plans} plans, {report.embedding_model}")
    print_table(_quality_headings(report.budgets), (_row(system, report.budgets) for system in report.systems))
    if report.states is not None:
        print_heading("Entity states")
        print_pairs(report.states.model_dump())
    for problem in report.problems:
        print_pairs({"problem": problem})


def print_pages(report: PageReport) -> None:
    """Print what pages convey: a row per kind, a column per length."""
    print_heading(f"{report.book}, {report.plans} plans: all facts · those from far back (tokens)")
    print_table(["page", *(f"{page:,}" for page in report.pages)], page_rows(report))


def print_shares(report: ShareReport) -> None:
    """Print what pages of a book that is read in part convey, a row per part."""
    print_heading(f"{report.book}, {report.plans} plans, pages of {report.page:,} tokens")
    print_table(
        ["scenes with", "%", "all", "far", "lost", "gained"],
        (
            [each.by, str(each.percent), *map(_share, (each.all, each.far, each.lost, each.gained))]
            for each in report.scores
        ),
    )


def _quality_headings(budgets: Sequence[int]) -> list[str]:
    """Return the headings of the table of systems."""
    far = " / ".join(str(budget) for budget in budgets)
    return ["group", "system", f"far@{far}", f"evidence@{budgets[-1]}", "scene@10", "leak"]


def _row(system: SystemScores, budgets: Sequence[int]) -> list[str]:
    scores = system.scores
    far = " / ".join(_share(scores.get(f"far@{budget}")) for budget in budgets)
    rest = (scores.get(name) for name in (f"evidence@{budgets[-1]}", "scene@10", "leak"))
    return [system.group, system.name, far, *(_share(value) for value in rest)]


def _share(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}"


def main() -> None:
    """Run the command; what is wrong ends as one line and an exit code, as for `novelgen`."""
    sys.exit(run_guarded(lambda: bench.main(prog_name="python -m tests.benchmarks", standalone_mode=False)))


if __name__ == "__main__":
    main()
