"""Pages of the small book that is read or noted in part, with real stores and hashed embeddings."""

from pathlib import Path

import pytest

from tests.benchmarks.retrieval.book import BenchBook
from tests.benchmarks.shares import measure_shares, part_of_scenes


@pytest.mark.slow
def test_no_further_record_or_note_loses_a_needed_fact(tmp_path: Path, book: BenchBook) -> None:
    """Up to half of the records, and from one note to a note a scene, nothing falls off the page.

    Where every scene is read, distilled memories take the place of the passages, and one fact of this book goes.
    """
    report = measure_shares(book, tmp_path, page=1000)
    assert [(score.by, score.percent) for score in report.scores] == [
        *(("records", percent) for percent in (0, 1, 10, 50, 100)),
        *(("notes", percent) for percent in (0, 1, 10, 100)),
    ]
    lost = {(score.by, score.percent): score.lost for score in report.scores}
    assert lost.pop(("records", 100)) <= 0.1
    assert set(lost.values()) == {0}
    assert all(score.all > 0 for score in report.scores)


@pytest.mark.parametrize(("percent", "count"), [(0, 0), (1, 1), (10, 2), (50, 10), (100, 20)])
def test_a_greater_part_holds_a_lesser_one(percent: int, count: int) -> None:
    """So that what is lost is lost by what was added."""
    places = [(1, number) for number in range(1, 21)]
    part = part_of_scenes(places, percent)
    assert len(part) == count
    assert part_of_scenes(places, 100)[:count] == part
