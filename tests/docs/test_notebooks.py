"""The notebooks run from top to bottom without a key and without a network, and show what they keep."""

from pathlib import Path
from typing import Any

import pytest

from tests.docs.notebooks import NOTEBOOKS, read_notebook, run_notebook
from tests.docs.pages import PAGES, text_of
from tests.regenerate import HOW

KINDS = [each.stem for each in NOTEBOOKS]


def forms(outputs: list[list[dict[str, Any]]]) -> list[list[Any]]:
    """Return in which forms each cell shows something."""
    return [[sorted(each.get("data", [each["output_type"]])) for each in cell] for cell in outputs]


@pytest.mark.slow
@pytest.mark.parametrize("path", NOTEBOOKS, ids=KINDS)
def test_a_notebook_runs_and_shows_what_it_keeps(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each cell, with the embedding model of the wheel; tables are tables."""
    for name in ("NOVELGEN_MODEL", "NOVELGEN_DATABASE_URL", "NOVELGEN_PROJECTS_DIR"):
        monkeypatch.delenv(name, raising=False)
    notebook = read_notebook(path)
    outputs = run_notebook(notebook, path.name)
    kept = [cell["outputs"] for cell in notebook["cells"] if cell["cell_type"] == "code"]
    assert forms(outputs) == forms(kept), HOW
    shown = [each["data"]["text/html"] for cell in outputs for each in cell if "text/html" in each.get("data", {})]
    assert len(shown) >= 4
    assert all("<table>" in "".join(each) or "<pre" in "".join(each) for each in shown)


def test_every_notebook_is_linked_and_short() -> None:
    """A page leads to it, and it is small enough to be read in a review."""
    pages = "".join(text_of(page) for page in PAGES)
    for path in NOTEBOOKS:
        assert f"notebooks/{path.name}" in pages
        assert path.stat().st_size < 100_000
