"""Running the benchmark and showing what it found."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import cast

from novelgen.errors import UserInputError
from runtime.bench.book import load_bench_book
from runtime.bench.cost import RUNS, measure_cost, parse_size
from runtime.bench.quality import Planner, StageProgress, measure_quality
from runtime.cli.opening import settle_imports
from runtime.cli.output import print_json, staged_progress
from runtime.cli.views.bench import print_cost, print_quality


def run_quality(
    folder: Path,
    *,
    records: bool,
    budgets: str,
    planner: str,
    peers: bool,
    ablation: bool,
    limit_plans: int | None,
    work_dir: Path | None,
    as_json: bool,
) -> None:
    """Measure what is found within budgets and print it.

    Raises:
        InvalidFileError: When a file of the book is missing or wrong.
        UserInputError: When the budgets are no positive numbers.
    """
    book, tokens = load_bench_book(folder), _budgets(budgets)
    with _working_in(work_dir) as (place, progress):
        report = measure_quality(
            book,
            place,
            records=records,
            budgets=tokens,
            planner=cast(Planner, planner),
            peers=peers,
            ablation=ablation,
            limit_plans=limit_plans,
            progress=progress,
        )
    if as_json:
        print_json(report)
    else:
        print_quality(report)


def run_cost(folder: Path, *, sizes: str, runs: int | None, work_dir: Path | None, as_json: bool) -> None:
    """Measure time and memory at sizes and print them.

    Raises:
        InvalidFileError: When a file of the book is missing or wrong.
        UserInputError: When a size cannot be read.
    """
    book, parsed = load_bench_book(folder), [parse_size(size) for size in sizes.split(",")]
    with _working_in(work_dir) as (place, progress):
        report = measure_cost(book, place, parsed, runs=runs or RUNS, progress=progress)
    if as_json:
        print_json(report)
    else:
        print_cost(report)


@contextmanager
def _working_in(work_dir: Path | None) -> Iterator[tuple[Path, StageProgress]]:
    """Give the folder to work in, a temporary one where none is named, and progress bars."""
    settle_imports()
    with tempfile.TemporaryDirectory(prefix="novelgen-bench-") as temporary, staged_progress() as progress:
        yield work_dir or Path(temporary), progress


def _budgets(text: str) -> list[int]:
    parts = [part.strip() for part in text.split(",")]
    if not all(part.isascii() and part.isdigit() and int(part) for part in parts):
        raise UserInputError(f"--budgets {text!r} cannot be used; write positive numbers such as 500,1000")
    return sorted({int(part) for part in parts})
