"""Prints the table of pages in README.md and docs/benchmarks.md from runs over books.

python -m tests.benchmarks BOOK_DIR --pages --json > one.json
python -m tests.benchmarks.page_table one.json other.json
"""

import sys
from collections.abc import Sequence
from pathlib import Path

from tests.benchmarks.pages import PageReport


def markdown_table(reports: Sequence[PageReport]) -> str:
    """Return the table: a row per kind of page, `all · far (tokens)` per book and length."""
    headings = [f"{report.book}, {page:,}" for report in reports for page in report.pages]
    kinds = dict.fromkeys(score.kind for report in reports for score in report.scores)
    lines = [_line(["page", *headings]), _line(["---"] * (len(headings) + 1))]
    lines += [_line([kind, *(cell for report in reports for cell in _cells(report, kind))]) for kind in kinds]
    return "\n".join(lines)


def _cells(report: PageReport, kind: str) -> list[str]:
    """Return the cells of a book; what has no length of its own stands in the first."""
    cells_by_page = {
        score.page: f"{_share(score.all)} · {_share(score.far)} ({score.tokens:,.0f})"
        for score in report.scores
        if score.kind == kind
    }
    cells = [cells_by_page.get(page, "") for page in report.pages]
    return [cells_by_page[None], *cells[1:]] if None in cells_by_page else cells


def _share(value: float) -> str:
    return f"{value:.2f}".removeprefix("0")


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


if __name__ == "__main__":
    texts = (Path(name).read_text("utf-8") for name in sys.argv[1:])
    print(markdown_table([PageReport.model_validate_json(text) for text in texts]))
