"""`python -m tests.benchmarks`."""

import json
import sys
from pathlib import Path

import pytest

from tests.benchmarks import cost
from tests.benchmarks.__main__ import main
from tests.benchmarks.retrieval.book import load_bench_book

BOOK = str(Path(__file__).parents[2] / "data" / "bench_book")


@pytest.mark.slow
def test_the_table_names_each_system(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """There is a table for people, also of the text alone."""
    monkeypatch.setattr(sys, "argv", ["bench", BOOK, "--no-records", "--budgets", "100", "--limit-plans", "1"])
    with pytest.raises(SystemExit) as ended:
        main()
    assert not ended.value.code
    told = capsys.readouterr().out
    assert all(each in told for each in ("bench_book, text only, 1 plans", "far@100", "rules planner"))


def test_a_recorded_selector_needs_its_file(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither option says anything without the other."""
    monkeypatch.setattr(sys, "argv", ["bench", BOOK, "--selector", "recorded"])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code
    assert "--selections FILE" in capsys.readouterr().err


@pytest.mark.slow
def test_pages_are_measured_beside_what_programs_do_without_a_memory(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """One table for people: what each kind of page conveys at each length, and what it costs."""
    plan = load_bench_book(Path(BOOK)).plans[0]
    selections = tmp_path / "selections.jsonl"
    selections.write_text(json.dumps({"plan_id": plan.plan_id, "memory_ids": ["M001"]}), "utf-8")
    monkeypatch.setattr(sys, "argv", ["bench", BOOK, "--pages", "--selections", str(selections)])
    with pytest.raises(SystemExit) as ended:
        main()
    assert not ended.value.code
    told = capsys.readouterr().out
    kinds = ("rules", "selection by a model", "text alone, no record", "recap", "plain chunks", "whole text")
    assert all(kind in told for kind in ("bench_book, 1 plans", "1,000", "2,000", "3,300", *kinds))


@pytest.mark.slow
def test_cost_is_measured_at_the_sizes_asked_for(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Fillers bring a project to its size, beside another one; the report tells both."""
    cost.main([BOOK, "80/60", "--runs", "2", "--work-dir", str(tmp_path)])
    (size,) = json.loads(capsys.readouterr().out)["sizes"]
    assert (size["in_project"], size["stored"], size["problems"]) == (80, 140, [])
    assert size["chain"]["p95_ms"] >= size["chain"]["p50_ms"] > 0
    assert {"search", "select", "total"} <= size["stages_ms"].keys()
