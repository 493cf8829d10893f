"""Reading a benchmark book."""

from pathlib import Path

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
