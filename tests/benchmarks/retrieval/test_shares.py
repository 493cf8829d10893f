"""Pages of the small book that is read or noted in part, with real stores and hashed embeddings."""

from pathlib import Path

import pytest

from tests.benchmarks.retrieval.book import BenchBook
from tests.benchmarks.shares import measure_shares, part_of_scenes


def test_no_further_record_or_note_loses_a_needed_fact(tmp_path: Path, book: BenchBook) -> None:
    """With 0, 1, 10, 50 and 100 % of the records, and with one note to a note a scene: nothing falls off the page."""
    report = measure_shares(book, tmp_path, page=1000)
    assert [(each.by, each.percent) for each in report.scores] == [
        *(("records", percent) for percent in (0, 1, 10, 50, 100)),
        *(("notes", percent) for percent in (0, 1, 10, 100)),
    ]
    assert {each.lost for each in report.scores} == {0}
    assert all(each.all > 0 for each in report.scores)


@pytest.mark.parametrize(("percent", "count"), [(0, 0), (1, 1), (10, 2), (50, 10), (100, 20)])
def test_a_greater_part_holds_a_lesser_one(percent: int, count: int) -> None:
    """So that what is lost is lost by what was added."""
    places = [(1, number) for number in range(1, 21)]
    part = part_of_scenes(places, percent)
    assert len(part) == count
    assert part_of_scenes(places, 100)[:count] == part
