"""Rows 29-32, 35 and 50: the SQL database is locked, damaged, of another schema, exhausted, or all is down."""

import hashlib
import sqlite3
import time
from collections.abc import Callable
from contextlib import ExitStack, closing
from pathlib import Path

import pytest

from novelgen.errors import DatabaseBusyError, DatabaseError, SchemaVersionError
from novelgen.models.context import MemoryContextRequest, SceneMemoryContext
from novelgen.models.plan import GeneratedScene
from runtime.context_chain import build_context_chain
from runtime.ingest.ingest import ingest_scene
from runtime.ingest.scene_input import SceneInput
from runtime.orchestrator import WrittenScene, build_scene_pipeline
from runtime.storage.database import DatabaseManager
from runtime.stores import MemoryStores
from runtime.story.story import Story
from tests.acceptance.test_memory_context_retrieval import damage_database, damage_index
from tests.faults.disks import immutable
from tests.faults.expectations import (
    HANG_GUARD_S,
    TIGHT,
    awake,
    context_of,
    leave_write_ahead_log,
    locked,
    require_healthy,
    require_nothing_later,
    require_without_database,
    stages,
)
from tests.faults.matrix import covers
from tests.support.demo_project import settings_for

pytestmark = pytest.mark.usefixtures("impatient_databases")

SCENE = SceneInput(chapter_index=40, scene_index=1, text="Ines found the heron key in the salt.")

# A tool waits much longer than a connection is waited for, or the index would never be asked.
BEYOND_A_BUSY_DATABASE = {**TIGHT, "tool_timeout_s": 10.0}


def _file(folder: Path) -> Path:
    return folder / "demo" / "data" / "novel.db"


@pytest.mark.slow
@covers(29)
def test_a_locked_database_is_read_and_refuses_a_save_clearly(
    demo_folder: Path, request_in_demo: MemoryContextRequest, healthy_demo: SceneMemoryContext
) -> None:
    """With the write-ahead log readers do not wait for a writer; the save is refused and can be repeated."""
    with MemoryStores(settings_for(demo_folder)) as stores:
        awake(stores, "demo")
        with locked(_file(demo_folder)):
            require_healthy(stores, request_in_demo, healthy_demo)
            with pytest.raises(DatabaseBusyError, match="another process or thread is writing; try again"):
                ingest_scene(stores, "demo", SCENE)
        assert ingest_scene(stores, "demo", SCENE).count("added") == 1


@pytest.mark.slow
@covers(29)
def test_a_database_locked_against_readers_costs_states_only(
    demo_folder: Path, request_in_demo: MemoryContextRequest
) -> None:
    """Without the log readers wait too: the context comes from the index while the lock stands."""
    leave_write_ahead_log(_file(demo_folder))
    with MemoryStores(settings_for(demo_folder, **BEYOND_A_BUSY_DATABASE)) as stores:
        # Asked for its id, the database would keep a log again.
        stores.vectors("demo", index_id=None).list_ids(timeout_s=HANG_GUARD_S)
        with locked(_file(demo_folder)):
            started_s = time.monotonic()
            require_without_database(context_of(stores, request_in_demo))
            assert time.monotonic() - started_s < HANG_GUARD_S


def _drop_column(folder: Path) -> None:
    with closing(sqlite3.connect(_file(folder), isolation_level=None)) as connection:
        connection.execute("ALTER TABLE scenes RENAME COLUMN scene_index TO scene_number")
        connection.execute("ALTER TABLE memory_chunks RENAME COLUMN content TO body")
        connection.execute("ALTER TABLE state_changes RENAME COLUMN attribute TO named")


def _claim_unknown_version(folder: Path) -> None:
    with closing(sqlite3.connect(_file(folder), isolation_level=None)) as connection:
        connection.execute("UPDATE alembic_version SET version_num = '9999'")


def _damage(folder: Path) -> None:
    damage_database(folder / "demo")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("damage", "error", "is_opened"),
    [
        pytest.param(_damage, DatabaseError, False, marks=covers(31), id="garbage"),
        pytest.param(_drop_column, SchemaVersionError, True, marks=covers(32), id="columns gone"),
        pytest.param(_claim_unknown_version, SchemaVersionError, False, marks=covers(32), id="unknown version"),
    ],
)
def test_an_unusable_database_costs_states_only_and_is_left_as_it_is(
    demo_folder: Path,
    request_in_demo: MemoryContextRequest,
    damage: Callable[[Path], None],
    error: type[DatabaseError],
    is_opened: bool,
) -> None:
    """Memories come from the index, cut by position; a save is refused by name; nothing else is done to the file."""
    damage(demo_folder)
    before = hashlib.sha256(_file(demo_folder).read_bytes()).hexdigest()
    with MemoryStores(settings_for(demo_folder)) as stores:
        context = context_of(stores, request_in_demo)
        require_without_database(context)
        require_nothing_later(context, request_in_demo)
        with pytest.raises(error, match=r"."):
            ingest_scene(stores, "demo", SCENE)
        if error is SchemaVersionError and not is_opened:
            with pytest.raises(error, match=r"."):
                Story(stores, "demo").search("the heron key")
    # Opening a sound file may checkpoint its log.
    assert is_opened or hashlib.sha256(_file(demo_folder).read_bytes()).hexdigest() == before


def _hold_every_connection(database: DatabaseManager, held: ExitStack) -> None:
    for _ in range(1000):
        held.enter_context(database.read())


@pytest.mark.slow
@covers(35)
def test_an_exhausted_pool_costs_states_only(
    demo_folder: Path, request_in_demo: MemoryContextRequest, healthy_demo: SceneMemoryContext
) -> None:
    """While every connection is held the index answers; when they are free again all is as before."""
    with MemoryStores(settings_for(demo_folder, **BEYOND_A_BUSY_DATABASE)) as stores:
        awake(stores, "demo")
        database = stores.database("demo")
        with ExitStack() as held:
            with pytest.raises(DatabaseBusyError, match="no free database connection"):
                _hold_every_connection(database, held)
            started_s = time.monotonic()
            require_without_database(context_of(stores, request_in_demo))
            assert time.monotonic() - started_s < HANG_GUARD_S
        require_healthy(stores, request_in_demo, healthy_demo)


@pytest.mark.slow
@covers(50)
def test_with_all_stores_down_the_scene_is_still_written(
    demo_folder: Path, request_in_demo: MemoryContextRequest
) -> None:
    """Index, database and disk fail at once: the writer gets an empty, valid context, and its scene is kept."""
    damage_index(demo_folder / "demo")
    damage_database(demo_folder / "demo")
    written = WrittenScene(scene=GeneratedScene(scene_number=4, content="Ines opened the door."))
    with MemoryStores(settings_for(demo_folder)) as stores, immutable(demo_folder / "demo"):
        pipeline = build_scene_pipeline(stores, build_context_chain(stores), lambda brief: written)
        outcome = pipeline.invoke(request_in_demo)
    context = outcome.context
    assert (context.entity_states, context.relevant_memories, context.timeline_context) == ([], [], None)
    assert {"outline", "states", "timeline", "semantic", "lexical", "write"} <= stages(context)
    assert outcome.scene == written.scene
    assert outcome.ingest is None
    assert [(issue.stage, issue.kind) for issue in outcome.issues] == [("ingest", "not_written")]
