"""The table of pages in the documents."""

from tests.benchmarks.page_table import markdown_table
from tests.benchmarks.pages import PageReport, PageScores


def test_the_table_has_a_row_per_kind_and_a_column_per_book_and_length() -> None:
    scores = [
        PageScores(kind="rules", page=1000, all=0.5, far=0.25, tokens=990.4),
        PageScores(kind="rules", page=2000, all=0.75, far=0.5, tokens=1990),
        PageScores(kind="whole text", page=None, all=1, far=1, tokens=20_000),
    ]
    report = PageReport(book="one", plans=8, pages=[1000, 2000], scores=scores)
    assert markdown_table([report, report.model_copy(update={"book": "two"})]).splitlines() == [
        "| page | one, 1,000 | one, 2,000 | two, 1,000 | two, 2,000 |",
        "| --- | --- | --- | --- | --- |",
        "| rules | .50 · .25 (990) | .75 · .50 (1,990) | .50 · .25 (990) | .75 · .50 (1,990) |",
        "| whole text | 1.00 · 1.00 (20,000) |  | 1.00 · 1.00 (20,000) |  |",
    ]
