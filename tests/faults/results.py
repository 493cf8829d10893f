"""A pytest plugin that writes what became of the fault matrix to `tests/RESULTS.md`, when asked to."""

import platform
import sqlite3
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

import pytest

from tests.faults.matrix import MARKER, ROWS, FaultRow

RESULTS_FILE = Path(__file__).parents[1] / "RESULTS.md"
_PROPERTY = "fault_rows"


@dataclass(frozen=True, slots=True)
class _Run:
    """One test of a row: its name without parameters, how it ended, and why it was skipped."""

    test: str
    outcome: str
    reason: str


class ResultsWriter:
    """Collects the outcomes of tests that cover rows; also those of xdist's workers."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._runs: dict[int, list[_Run]] = defaultdict(list)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Note the outcome of a test, once: its failure in setup or its call."""
        if report.when != "call" and report.outcome == "passed":
            return
        numbers = next((rows for name, rows in report.user_properties if name == _PROPERTY), [])
        for number in numbers:  # type: ignore[attr-defined]
            test = report.nodeid.split("[")[0].removeprefix("tests/")
            self._runs[number].append(_Run(test, report.outcome, _skip_reason(report)))

    def pytest_sessionfinish(self) -> None:
        """Write the table."""
        self._file.write_text(render(self._runs), encoding="utf-8")


def render(runs: dict[int, list[_Run]]) -> str:
    """Return the table of all rows with the tests that ran."""
    lines = [
        "# The fault matrix: results",
        "",
        "Written by `pytest --write-results` from the tests that ran; SQLite unless a row names PostgreSQL.",
        f"Python {platform.python_version()}, SQLite {sqlite3.sqlite_version}, chromadb {version('chromadb')}.",
        "",
        "| # | Fault | Expectation | Tests | Result |",
        "|-|-|-|-|-|",
        *(_line(row, runs.get(number, [])) for number, row in ROWS.items()),
    ]
    return "\n".join(lines) + "\n"


def _line(row: FaultRow, runs: list[_Run]) -> str:
    tests = "<br>".join(f"`{test}`" for test in dict.fromkeys(run.test for run in runs)) or "–"
    return f"| {row.number} | {row.fault} | {row.expectation} | {tests} | {_result(runs)} |"


def _result(runs: Iterable[_Run]) -> str:
    by_outcome: dict[str, list[_Run]] = defaultdict(list)
    for run in runs:
        by_outcome[run.outcome].append(run)
    if not by_outcome:
        return "not run"
    parts = [f"{len(found)} {outcome}" for outcome, found in sorted(by_outcome.items())]
    reasons = dict.fromkeys(run.reason for run in by_outcome["skipped"])
    return "; ".join([*parts, *reasons])


def _skip_reason(report: pytest.TestReport) -> str:
    if report.outcome != "skipped" or not isinstance(report.longrepr, tuple):
        return ""
    return str(report.longrepr[2]).removeprefix("Skipped: ").replace("|", "/")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add `--write-results`."""
    parser.addoption("--write-results", action="store_true", help="write tests/RESULTS.md from this run")


def pytest_configure(config: pytest.Config) -> None:
    """Register the marker, and the writer where it was asked for."""
    config.addinivalue_line("markers", f"{MARKER}(*numbers): proves rows of the fault matrix")
    is_worker = hasattr(config, "workerinput")
    if config.getoption("--write-results") and not is_worker:
        config.pluginmanager.register(ResultsWriter(RESULTS_FILE))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Let each test's report say which rows it covers."""
    for item in items:
        numbers = sorted({number for mark in item.iter_markers(MARKER) for number in mark.args})
        if numbers:
            item.user_properties.append((_PROPERTY, numbers))
