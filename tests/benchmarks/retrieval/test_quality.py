"""A whole quality run over the hand-made book, with real stores and hashed embeddings."""

import pytest

from tests.benchmarks.retrieval.book import BenchBook
from tests.benchmarks.retrieval.quality import SCORED_PARTS, QualityReport, SystemScores, measure_quality


@pytest.fixture(scope="module")
def reports(tmp_path_factory: pytest.TempPathFactory, book: BenchBook) -> dict[str, QualityReport]:
    """Runs with records, each part of the choice changed, and with the text alone, in one work folder."""
    work_dir = tmp_path_factory.mktemp("bench")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("NOVELGEN_MEMORY__EMBEDDING_MODEL", "fake:64")
        return {
            "records": measure_quality(book, work_dir, budgets=[30, 200], ablation=True),
            "text": measure_quality(book, work_dir, budgets=[200], records=False, limit_plans=1),
        }


def system(report: QualityReport, name: str) -> SystemScores:
    """Return the scores of a system by name."""
    return next(each for each in report.systems if each.name == name)


@pytest.mark.slow
def test_the_chain_finds_and_leaks_nothing(reports: dict[str, QualityReport]) -> None:
    """All of before fits 200 tokens, and states are the fold of the records."""
    scores = system(reports["records"], "rules planner").scores
    assert scores["far@200"] == pytest.approx(5 / 6, abs=1e-4)
    assert scores["leak"] == 0
    assert reports["records"].problems == []
    states = reports["records"].states
    assert states is not None
    assert (states.accuracy, states.stale, states.later) == (1, 0, 0)
    assert reports["text"].states is None


@pytest.mark.slow
def test_an_ablation_changes_one_thing_at_a_time(reports: dict[str, QualityReport]) -> None:
    """The whole choice stands first and scores as the chain does; every part has its row."""
    rows = [each for each in reports["records"].systems if each.group == "ablation"]

    assert rows[0].name == "whole"
    assert rows[0].scores == system(reports["records"], "rules planner").scores
    assert {f"without {part}" for part in SCORED_PARTS} < {each.name for each in rows}
    assert any(each.scores != rows[0].scores for each in rows)
