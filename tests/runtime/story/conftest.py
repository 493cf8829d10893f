"""A village whose people remember, for tests of characters."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

import novelgen
from runtime.front_door import Memory
from runtime.stores import MemoryStores
from runtime.story.story import Story
from tests.support.copied_stories import copied

START = datetime(2031, 3, 1, 9, tzinfo=UTC)


class Calendar:
    """A game's own clock, which goes on when it is told to."""

    def __init__(self) -> None:
        self.now = START

    def __call__(self) -> datetime:
        return self.now

    def pass_days(self, days: float) -> None:
        self.now += timedelta(days=days)


@pytest.fixture
def calendar() -> Calendar:
    return Calendar()


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with novelgen.open(tmp_path, embeddings="fake:64") as opened:
        yield opened


@pytest.fixture
@copied
def village(memory: Memory) -> Story:
    """A game without scenes, in which three people are known."""
    made = memory.create("village", language="en")
    for name in ("Gregor", "Mira", "Bjorn"):
        made.character(name, create=True)
    return made


@pytest.fixture
def guild(stores: MemoryStores, project: str) -> Story:
    """The story that is stored for a test."""
    return Story(stores, project)


@pytest.fixture
def unindexed_edits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave the vector index for later, where it is not what is looked at: it takes longer than all else."""
    monkeypatch.setattr("runtime.story.base.ENTRIES_OF_AN_EDIT", 0)
