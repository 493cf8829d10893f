"""`python -m tests.benchmarks`."""

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.benchmarks import whole_page
from tests.benchmarks.__main__ import main

BOOK = str(Path(__file__).parents[2] / "data" / "bench_book")


class Result(NamedTuple):
    """What a run printed, and how it ended."""

    exit_code: int
    stdout: str
    stderr: str


Run = Callable[..., Result]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    """Run the command."""

    def run(*arguments: str) -> Result:
        monkeypatch.setattr(sys, "argv", ["tests.benchmarks", *arguments])
        with pytest.raises(SystemExit) as ended:
            main()
        return Result(int(ended.value.code or 0), *capsys.readouterr())

    return run


def test_json_holds_every_system_and_stderr_the_progress(run: Run, tmp_path: Path) -> None:
    """With --json stdout is the report alone; what was imported stays in the work folder."""
    work_dir = tmp_path / "work"
    result = run(BOOK, "--budgets", "200,50", "--limit-plans", "1", "--work-dir", str(work_dir), "--json")
    assert result.exit_code == 0, result.stderr
    report = json.loads(result.stdout)
    assert (report["plans"], report["budgets"], report["records"]) == (1, [50, 200], True)
    assert report["systems"][0]["scores"]["leak"] == 0
    assert "rules planner" in result.stderr
    assert (work_dir / "projects" / "bench-records" / "data" / "novel.db").is_file()


def test_the_table_names_each_system(run: Run) -> None:
    """Without --json there is a table for people, also of the text alone."""
    result = run(BOOK, "--no-records", "--budgets", "100", "--limit-plans", "1")
    assert result.exit_code == 0, result.stderr
    assert "bench_book, text only, 1 plans" in result.stdout
    assert "far@100" in result.stdout
    assert "rules planner" in result.stdout


def test_a_page_is_measured_beside_a_recap(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Both are told with what they convey and what they cost."""
    assert whole_page.main([BOOK, "--work-dir", str(tmp_path)]) == 0
    recap, context = capsys.readouterr().out.splitlines()
    assert (recap.split()[0], context.split()[0]) == ("recap", "context")
    assert float(context.split()[2]) > 0
