"""`python -m tests.benchmarks`."""

import sys
from pathlib import Path

import pytest

from tests.benchmarks import whole_page
from tests.benchmarks.__main__ import main

BOOK = str(Path(__file__).parents[2] / "data" / "bench_book")


def test_the_table_names_each_system(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """There is a table for people, also of the text alone."""
    monkeypatch.setattr(sys, "argv", ["bench", BOOK, "--no-records", "--budgets", "100", "--limit-plans", "1"])
    with pytest.raises(SystemExit) as ended:
        main()
    assert not ended.value.code
    told = capsys.readouterr().out
    assert all(each in told for each in ("bench_book, text only, 1 plans", "far@100", "rules planner"))


def test_a_page_is_measured_beside_a_recap(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Both are told with what they convey and what they cost."""
    assert whole_page.main([BOOK, "--work-dir", str(tmp_path)]) == 0
    recap, context = capsys.readouterr().out.splitlines()
    assert (recap.split()[0], context.split()[0]) == ("recap", "context")
    assert float(context.split()[2]) > 0
