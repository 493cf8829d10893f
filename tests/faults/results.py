"""A pytest plugin that writes what became of the fault matrix to `tests/RESULTS.md`, when asked to."""

import platform
import sqlite3
from collections import Counter, defaultdict
from collections.abc import Iterable
from importlib.metadata import version
from pathlib import Path

import pytest

from tests.faults.matrix import MARKER, ROWS

RESULTS_FILE = Path(__file__).parents[1] / "RESULTS.md"
OUTCOMES = ("passed", "failed", "error", "skipped")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add `--write-results`."""
    parser.addoption("--write-results", action="store_true", help="write tests/RESULTS.md from this run")


def pytest_configure(config: pytest.Config) -> None:
    """Register the marker."""
    config.addinivalue_line("markers", f"{MARKER}(*numbers): proves rows of the fault matrix")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Let each test's report say which rows it covers, also to the process that gathers those of xdist's workers."""
    for item in items:
        numbers = sorted({number for mark in item.iter_markers(MARKER) for number in mark.args})
        if numbers:
            item.user_properties.append((MARKER, numbers))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Write the table."""
    if config.getoption("--write-results"):
        reports = [(outcome, each) for outcome in OUTCOMES for each in terminalreporter.stats.get(outcome, ())]
        RESULTS_FILE.write_text(render(reports), encoding="utf-8")


def render(reports: Iterable[tuple[str, pytest.TestReport]]) -> str:
    """Return the table of all rows with the tests that ran, how they ended, and why they were skipped."""
    tests: dict[int, dict[str, None]] = defaultdict(dict)
    results: dict[int, Counter[str]] = defaultdict(Counter)
    reasons: dict[int, dict[str, None]] = defaultdict(dict)
    for outcome, report in reports:
        numbers: list[int] = dict(report.user_properties).get(MARKER, [])  # type: ignore[assignment]
        for number in numbers:
            tests[number][f"`{report.nodeid.split('[')[0].removeprefix('tests/')}`"] = None
            results[number][outcome] += 1
            if outcome == "skipped" and isinstance(report.longrepr, tuple):
                reasons[number][str(report.longrepr[2]).removeprefix("Skipped: ").replace("|", "/")] = None
    lines = [
        "# The fault matrix: results",
        "",
        "Written by `pytest -m fault_rows --write-results`; SQLite unless a row names PostgreSQL.",
        f"Python {platform.python_version()}, SQLite {sqlite3.sqlite_version}, chromadb {version('chromadb')}.",
        "",
        "| # | Fault | Expectation | Tests | Result |",
        "|-|-|-|-|-|",
    ]
    for number, row in ROWS.items():
        ended = [f"{count} {outcome}" for outcome, count in sorted(results[number].items())]
        told = "; ".join([*ended, *reasons[number]]) or "not run"
        lines.append(f"| {number} | {row.fault} | {row.expectation} | {'<br>'.join(tests[number]) or '–'} | {told} |")
    return "\n".join(lines) + "\n"
