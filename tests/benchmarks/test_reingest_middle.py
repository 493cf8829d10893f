"""Taking a changed scene in again changes what came from it, and nothing else."""

from pathlib import Path

from tests.benchmarks.reingest_middle import BOOKKEEPING, measure

BOOK = Path(__file__).parents[1] / "data" / "bench_book"


def test_only_what_came_from_the_scene_changes() -> None:
    """Rows of all tables are compared whole; outside of the scene only the project's revision moves."""
    found = measure(BOOK)
    assert set(found["of_everything_else"]) <= BOOKKEEPING
    assert set(found["taken_back_differs"]) <= BOOKKEEPING
    assert {"memory_chunks", "scenes", "state_changes"} <= set(found["of_the_scene"])
    assert found["memories"]["added"] >= 1
    assert found["index_agrees"]
