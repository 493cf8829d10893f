"""`novelgen entity candidates`, `confirm`, `merge` of candidates, and `drop`."""

from pathlib import Path

import pytest

from tests.runtime.doors.cli.conftest import Run

pytestmark = pytest.mark.slow

BOOK = """# Chapter 1

Rain fell on Gull Harbour. “We sail,” said Ada Morris. “When?” said Ben. Then Ada Morris left Gull Harbour with Ben.

# Chapter 2

“Where is Ben?” asked Captain Morris. “Here, Ada,” said Miss Holt. Ada saw Miss Holt, and Ben ran to Miss Holt.
All Gull Harbour knew Miss Holt.
"""


def _offered(run: Run, *options: str) -> list[str]:
    return [each["name"] for each in run.json("entity", "candidates", "gulls", *options)["candidates"]]


@pytest.fixture
def story(run: Run, tmp_path: Path) -> None:
    """A manuscript that was imported as text alone."""
    book = tmp_path / "gulls.md"
    book.write_text(BOOK, encoding="utf-8")
    run.well("import", str(book), "--project", "gulls", "--yes")


@pytest.mark.usefixtures("story")
def test_candidates_are_shown_confirmed_merged_dropped_and_that_is_undone(run: Run) -> None:
    """JSON tells names, counts and places, the table what to do next; each step says how it is undone, and `entity
    changes` lists it.
    """
    (holt,) = [
        each
        for each in run.json("entity", "candidates", "gulls", "--kind", "character")["candidates"]
        if each["name"] == "Miss Holt"
    ]
    score = holt.pop("score")
    assert 0 < score <= 1
    assert holt == {
        "name": "Miss Holt",
        "kind": "character",
        "variants": [{"name": "Miss Holt", "count": 4, "first": "2:1"}],
        "count": 4,
        "scenes": 1,
        "first": "2:1",
        "last": "2:1",
        "speaks": 1,
        "same_as": "",
    }
    shown = run("entity", "candidates", "gulls").stdout
    assert "Captain Morris" in shown
    assert "novelgen entity confirm gulls" in shown
    assert run.json("entity", "confirm", "gulls", "Ada")["confirmed"][0]["entity"]["entity_id"] == "C0"
    merged = run("entity", "merge", "gulls", "Ada", "Ben", "--yes")
    assert "C0 (Ada Morris) is named Ben, too" in " ".join(merged.stdout.split())
    assert "undo: novelgen undo gulls 5" in run("entity", "drop", "gulls", "Miss Holt").stdout
    assert _offered(run) == ["Gull Harbour"]
    kinds = [each["kind"] for each in run.json("entity", "changes", "gulls")["changes"]]
    assert kinds == ["confirm", "name", "drop"]
    for number in ("5", "4", "3"):
        run.well("undo", "gulls", number)
    assert {"Ada Morris", "Ben", "Miss Holt"} <= set(_offered(run))
    assert run.json("card", "list", "gulls")["entities"] == []


@pytest.mark.usefixtures("story")
def test_an_import_of_text_is_taken_back_whole(run: Run, tmp_path: Path) -> None:
    """All its scenes go in one undo by its number, also one that was deleted and came back; no files are named."""
    assert "chapters/" not in run("scene", "delete", "gulls", "2:1", "--yes").stderr
    run.well("undo", "gulls")
    assert "1:1–2:1" in run("undo", "gulls").stderr
    assert "scenes taken in of 1:1–2:1" in run("undo", "gulls", "2").stdout
    assert run.json("scene", "list", "gulls")["scenes"] == []
    book = tmp_path / "volumes.txt"
    book.write_text("VOLUME I\n\nCHAPTER I\n\nRain.\n\nVOLUME II\n\nCHAPTER I\n\nSun.\n", encoding="utf-8")
    assert "undo: novelgen undo volumes" in run("import", str(book), "--project", "volumes", "--yes").stdout


@pytest.mark.usefixtures("story")
def test_a_name_of_the_text_is_no_stranger_in_the_summary(run: Run) -> None:
    """What a context says of names that nobody bears leaves out those that the text holds."""
    run.well("entity", "confirm", "gulls", "Ben")
    told = run("context", "gulls", "--purpose", "They sail", "--with", "Ada Morris", "--with", "Zebedee").stdout
    assert "not known to the story  Zebedee" in told
