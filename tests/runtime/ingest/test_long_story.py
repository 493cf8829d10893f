"""What a scene costs does not grow with the story before it, nor what a merge asks the database."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from sqlite3 import Connection
from typing import Any

import pytest
from sqlalchemy import Engine, event

from runtime.care.exporting import MemoryDocuments
from runtime.ingest.entities import store_entities
from runtime.ingest.ingest import ingest_scenes
from runtime.stores import MemoryStores
from runtime.story.story import Story
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


def test_a_merge_asks_the_database_as_often_in_a_long_story(stores: MemoryStores) -> None:
    """What changes goes to it in lists: a merge and its undoing make as many updates in 16 scenes as in 8."""
    counts = [_updates_of_a_merge(stores, f"p{scenes}", scenes) for scenes in (8, 16)]
    assert counts[0] == counts[1]


def _updates_of_a_merge(stores: MemoryStores, project_id: str, scenes: int) -> list[int]:
    stores.create_project(project_id, language="en")
    store_entities(stores, project_id, ENTITIES)
    ingest_scenes(stores, project_id, [marked_scene(0, place, 1) for place in range(scenes)], index=False)
    story, engine = Story(stores, project_id), stores.database(project_id).database._engine
    told = []
    for act in (lambda: story.merge_entities(keep="C0", gone="C1"), story.undo):
        with _counted(engine) as statements:
            act()
        told.append(sum(each.startswith("UPDATE") for each in statements))
    return told


@contextmanager
def _counted(engine: Engine) -> Iterator[list[str]]:
    statements: list[str] = []

    def note(_connection: Any, _cursor: Any, statement: str, *_: Any) -> None:
        statements.append(statement)

    event.listen(engine, "before_cursor_execute", note)
    yield statements
    event.remove(engine, "before_cursor_execute", note)


class LookedThrough(list[Any]):
    """A list that counts how often somebody goes through it."""

    times = 0

    def __iter__(self) -> Iterator[Any]:
        """Go through it once more."""
        self.times += 1
        return super().__iter__()


def test_an_export_goes_through_the_memories_once(stores: MemoryStores) -> None:
    """Not once for every scene."""
    stores.create_project("p", language="en")
    store_entities(stores, "p", ENTITIES)
    ingest_scenes(stores, "p", [marked_scene(0, place, 1) for place in range(4)], index=False)
    with stores.database("p").read() as unit:
        contents = unit.exchange.contents()
    memories, states = LookedThrough(contents.memories), LookedThrough(contents.states)
    documents = MemoryDocuments(contents.model_copy(update={"memories": memories, "states": states}))
    written = [documents.scene(scene) for scene in contents.scenes] + [documents.entity(contents.entities[0])]
    assert sum(len(each.get("memories", [])) for each in written) == len(memories) > 4
    assert (memories.times, states.times) == (1, 1)
