"""What a scene costs does not grow with the story before it, nor what a merge asks the database."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from sqlite3 import Connection
from typing import Any

import pytest
from sqlalchemy import Engine, event

from novelgen.models.entity import Entity, EntityAlias
from runtime.care.exporting import MemoryDocuments
from runtime.ingest.entities import store_entities
from runtime.ingest.ingest import ingest_scenes
from runtime.ingest.scene_input import SceneInput
from runtime.storage.models import MemoryFilter
from runtime.stores import MemoryStores
from runtime.story.story import Story
from tests.support.demo_project import settings_for
from tests.support.marked_scenes import ENTITIES, marked_scene

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


@pytest.mark.slow
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


@pytest.mark.slow
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
    for act in (lambda: story.entities.merge(keep="C0", gone="C1"), story.undo):
        with _counted(engine) as statements:
            act()
        told.append(sum(each.startswith("UPDATE") for each in statements))
    return told


@pytest.mark.slow
def test_a_name_asks_the_database_as_often_in_a_long_story(stores: MemoryStores) -> None:
    """Scenes of text that hold a new name are derived anew together: 16 ask no more than 8."""
    counts = []
    for scenes in (8, 16):
        project_id = f"t{scenes}"
        _stored_texts(stores, project_id, ["Ben met Ada. They sailed."] * scenes)
        with _counted(stores.database(project_id).database._engine) as statements:
            store_entities(stores, project_id, [Entity(entity_id="C9", entity_type="character", name="Ben")])
        counts.append(len(statements))
    assert counts[0] == counts[1]


def test_scenes_derived_together_know_what_those_before_them_bring(stores: MemoryStores) -> None:
    """Whom a description means that several bear is told by the scenes before: as when they were stored in turn."""
    rain = ["Rain fell."] * 3
    texts = ["Ada said no. Ada sat.", "Then the keeper rose.", *rain, "Ben said no. Ben left.", "Then the keeper sat."]
    keepers = [
        Entity(entity_id=entity_id, entity_type="character", name=name, aliases=[EntityAlias(alias="the keeper")])
        for entity_id, name in (("C1", "Ada"), ("C2", "Ben"))
    ]
    _stored_texts(stores, "together", texts)
    store_entities(stores, "together", keepers)
    stores.create_project("in-turn", language="en")
    store_entities(stores, "in-turn", keepers)
    _stored_texts(stores, "in-turn", texts)
    together, in_turn = (_told_of(stores, each) for each in ("together", "in-turn"))
    assert together == in_turn
    assert [each[1] for each in together] == [["C1"], ["C1"], [], [], [], ["C2"], ["C2"]]


def _stored_texts(stores: MemoryStores, project_id: str, texts: list[str]) -> None:
    if project_id not in stores.project_ids():
        stores.create_project(project_id, language="en")
    scenes = [SceneInput(chapter_index=at, scene_index=1, text=text) for at, text in enumerate(texts, 1)]
    ingest_scenes(stores, project_id, scenes, index=False)


def _told_of(stores: MemoryStores, project_id: str) -> list[tuple[list[str], list[str]]]:
    """Who is on stage in each scene, and whom its passage names."""
    with stores.database(project_id).read() as unit:
        memories = unit.memories.list_matching(MemoryFilter())
        return [
            (scene.participants, memory.chunk.entities_mentioned)
            for scene, memory in zip(unit.scenes.list_as_of(), memories, strict=True)
        ]


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
