"""A small hand-made book, and settings that embed nothing for real."""

import shutil
from pathlib import Path

import pytest

from tests.benchmarks.retrieval.book import BenchBook, load_bench_book

BOOK_FOLDER = Path(__file__).parents[2] / "data" / "bench_book"


@pytest.fixture(autouse=True)
def _fake_embeddings(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NOVELGEN_MEMORY__EMBEDDING_MODEL", "fake:64")
    monkeypatch.delenv("NOVELGEN_MODEL", raising=False)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The book's folder, the test's own copy."""
    return Path(shutil.copytree(BOOK_FOLDER, tmp_path / "lighthouse"))


@pytest.fixture(scope="session")
def book() -> BenchBook:
    """The hand-made book."""
    return load_bench_book(BOOK_FOLDER)
