"""What a scene costs does not grow with the story before it."""

from collections.abc import Iterator
from pathlib import Path
from sqlite3 import Connection
from typing import Any

import pytest
from sqlalchemy import event

from runtime.ingest.entities import store_entities
from runtime.ingest.ingest import ingest_scenes
from runtime.stores import MemoryStores
from tests.benchmarks.marked_scenes import ENTITIES, marked_scene
from tests.support.demo_project import settings_for

STEPS_AT_ONCE = 20
SHORT, LONG = 10, 90


class Steps:
    """Counts what SQLite does, in steps of its machine, which are the same on every computer."""

    def __init__(self) -> None:
        self.count = 0

    def watch(self, connection: Connection, *_: Any) -> None:
        """Count the steps of a connection."""
        connection.set_progress_handler(self._add, STEPS_AT_ONCE)

    def _add(self) -> None:
        self.count += STEPS_AT_ONCE


@pytest.fixture
def stores(tmp_path: Path) -> Iterator[MemoryStores]:
    """Stores on SQLite, whatever the other tests run on."""
    with MemoryStores(settings_for(tmp_path)) as opened:
        yield opened


def test_storing_a_scene_costs_the_same_in_a_long_story(stores: MemoryStores) -> None:
    """A scene after 90 others needs hardly more steps of the database than one after 10."""
    stores.create_project("p", language="en")
    store_entities(stores, "p", ENTITIES)
    steps = Steps()
    database = stores.database("p").database
    database.close()
    event.listen(database._engine, "connect", steps.watch)

    def cost_of(first: int, last: int) -> int:
        before = steps.count
        ingest_scenes(stores, "p", [marked_scene(0, place, 1) for place in range(first, last)], index=False)
        return steps.count - before

    cost_of(0, SHORT)
    short = cost_of(SHORT, SHORT + 10)
    cost_of(SHORT + 10, LONG)
    long = cost_of(LONG, LONG + 10)
    assert short > 0
    assert long < 1.2 * short
