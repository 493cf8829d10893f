"""Reading a benchmark book."""

import json
from pathlib import Path

import pytest

from novelgen.errors import InvalidFileError
from tests.benchmarks.retrieval.book import BenchBook, load_bench_book


def test_everything_of_the_folder_is_read(book: BenchBook, folder: Path) -> None:
    """Scenes, records, plans, covers, shorts and other plots; covers.jsonl and shorts.jsonl may be missing."""
    assert len(book.book.scenes) == len(book.book.records) == 8
    assert [plan.plan_id for plan in book.plans] == ["P001", "P002"]
    assert book.covers["P001", 0] == {"M001", "1:1:summary:0"}
    assert book.shorts["P001", 2] == {"M004"}
    assert book.other_plots == {(3, 2)}
    assert book.language == "en"
    (folder / "covers.jsonl").unlink()
    (folder / "shorts.jsonl").unlink()
    read = load_bench_book(folder)
    assert (read.covers, read.shorts) == ({}, {})


@pytest.mark.parametrize("name", ["scenes.jsonl", "entities.jsonl", "records.jsonl", "plans.jsonl", "meta.json"])
def test_a_missing_file_is_named(folder: Path, name: str) -> None:
    """Without one of its files the book is refused by that file's name."""
    (folder / name).unlink()
    with pytest.raises(InvalidFileError, match=name):
        load_bench_book(folder)


def test_a_wrong_value_is_named_with_its_line(folder: Path) -> None:
    """A plan whose grade is out of bounds is refused with line, field and value."""
    file = folder / "plans.jsonl"
    first, second = file.read_text(encoding="utf-8").splitlines()
    plan = json.loads(second)
    plan["gold"][0]["grade"] = 9
    file.write_text(f"{first}\n{json.dumps(plan)}\n", encoding="utf-8")
    with pytest.raises(InvalidFileError, match=r"line 2.*gold\[0\]\.grade cannot be 9"):
        load_bench_book(folder)
