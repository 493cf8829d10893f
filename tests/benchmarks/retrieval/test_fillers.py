"""Filling a project with made-up memories."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from novelgen.models.position import StoryPosition
from runtime.ingest.indexing import verify_index
from runtime.ingest.ingest import import_book
from runtime.settings import load_settings
from runtime.stores import MemoryStores
from tests.benchmarks.retrieval.book import BenchBook
from tests.benchmarks.retrieval.fillers import Fillers, chapter_after, fill_project

PROJECT = "filled"


@pytest.fixture
def stores(tmp_path: Path, book: BenchBook) -> Iterator[MemoryStores]:
    """Stores that hold the hand-made book."""
    with MemoryStores(load_settings(projects_dir=tmp_path)) as opened:
        import_book(opened, book.folder, project_id=PROJECT, records=True)
        yield opened


def count(stores: MemoryStores) -> int:
    """Return how many memories the project holds."""
    with stores.database(PROJECT).read() as unit:
        return unit.memories.count()


def test_a_project_is_filled_to_its_size_once(stores: MemoryStores, book: BenchBook) -> None:
    """Fillers come up to the size, a larger size adds to them, and the same size adds nothing."""
    for size in (57, 57, 83):
        assert fill_project(stores, PROJECT, book, size=size, progress=lambda *_: None) == size
        assert count(stores) == size


def test_fillers_are_indexed_and_lie_before_the_chapter_after(stores: MemoryStores, book: BenchBook) -> None:
    """The index holds what SQL says, and the chapter after sees everything."""
    fill_project(stores, PROJECT, book, size=60, progress=lambda *_: None)
    # Fillers lie so close together that the approximate search may pass one over: only ids are compared.
    verified = verify_index(stores, PROJECT)
    assert (verified.missing_ids, verified.unexpected_ids) == ((), ())
    after = StoryPosition(chapter_after(book, memories=60), 1)
    with stores.database(PROJECT).read() as unit:
        assert len(unit.memories.by_ids(unit.memories.filtered_ids(), as_of=after)) == 60


def test_fillers_are_the_same_each_time(book: BenchBook) -> None:
    """Texts, entities and vectors are seeded; the vectors have length one."""
    first, second = (Fillers(book, PROJECT, dimension=16) for _ in range(2))
    chunks = [[each.content for each in next(fillers.scenes()).chunks] for fillers in (first, second)]
    assert chunks[0] == chunks[1]
    vectors = first.vectors(5)
    assert np.array_equal(vectors, second.vectors(5))
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(1)
