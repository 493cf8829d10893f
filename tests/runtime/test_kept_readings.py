"""Readings of a story that are kept until a write."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from novelgen.errors import UnknownProjectError
from runtime.search.kept_readings import KeptReadings, last_write_of
from runtime.settings import load_settings
from runtime.stores import MemoryStores


@pytest.fixture
def stores(tmp_path: Path) -> Iterator[MemoryStores]:
    """Stores with the empty project `demo`."""
    settings = load_settings(projects_dir=tmp_path, memory={"embedding_model": "fake:32"})
    with MemoryStores(settings) as opened:
        opened.create_project("demo", language="en")
        yield opened


def read_kept(kept: KeptReadings[int], stores: MemoryStores, key: str, read: Any, project_id: str = "demo") -> int:
    """Read as the page does, by the last write."""
    return kept.read(stores, project_id, key, last_write=last_write_of(stores, project_id), read=read)


class Counting:
    """A reading that says how often it was read, and keeps what it was given."""

    def __init__(self) -> None:
        self.formers: list[int | None] = []

    def __call__(self, former: int | None) -> int:
        self.formers.append(former)
        return len(self.formers)


def test_a_reading_is_kept_until_the_project_is_written_to(stores: MemoryStores) -> None:
    """It is read anew after a write, and gets what it had read before."""
    kept: KeptReadings[int] = KeptReadings(2)
    read = Counting()
    assert [read_kept(kept, stores, "a", read) for _ in range(2)] == [1, 1]
    with stores.database("demo").write() as unit:
        unit.projects.update(name="Written to")
    assert [read_kept(kept, stores, "a", read) for _ in range(2)] == [2, 2]
    assert read.formers == [None, 1]


def test_each_question_has_its_own_answer(stores: MemoryStores) -> None:
    """What was read for one position answers no other, and the one asked longest ago is forgotten."""
    kept: KeptReadings[int] = KeptReadings(2)
    read = Counting()
    assert [read_kept(kept, stores, key, read) for key in ("a", "b", "a", "c")] == [1, 2, 1, 3]
    assert [read_kept(kept, stores, key, read) for key in ("a", "b")] == [1, 4]


def test_a_write_while_it_is_read_is_not_missed(stores: MemoryStores) -> None:
    """An answer that somebody wrote past is read again at the next question."""
    kept: KeptReadings[int] = KeptReadings(2)

    def read(former: int | None) -> int:
        with stores.database("demo").write() as unit:
            unit.projects.update(name="Meanwhile")
        return (former or 0) + 1

    assert [read_kept(kept, stores, "a", read) for _ in range(2)] == [1, 2]


def test_nothing_is_kept_of_what_failed(stores: MemoryStores) -> None:
    """An unknown project is an error each time, and a reading that fails is tried again."""
    kept: KeptReadings[int] = KeptReadings(2)

    def fail(former: int | None) -> int:
        raise LookupError("not now")

    with pytest.raises(UnknownProjectError):
        read_kept(kept, stores, "a", Counting(), "nobody")
    with pytest.raises(LookupError):
        read_kept(kept, stores, "a", fail)
    assert read_kept(kept, stores, "a", Counting()) == 1
