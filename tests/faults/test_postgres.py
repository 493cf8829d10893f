"""Rows 33, 34 and 36: the PostgreSQL server is killed, frozen, and the reply to a commit is lost."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from novelgen.errors import DatabaseError
from novelgen.models.context import MemoryContextRequest, SceneMemoryContext
from runtime.ingest.indexing import drain_outbox, verify_index
from runtime.ingest.ingest import ingest_scene
from runtime.ingest.scene_input import SceneInput
from runtime.stores import MemoryStores
from tests.faults.expectations import (
    HANG_GUARD_S,
    TIGHT,
    awake,
    context_of,
    require_healthy,
    require_without_database,
    stages,
)
from tests.faults.matrix import covers
from tests.support.cutting_proxy import cutting_proxy
from tests.support.demo_project import copy_shipped_demos, ingest_demo, settings_for
from tests.support.postgres_server import PostgresServer, postgres_server, why_there_is_no_server

pytestmark = pytest.mark.postgres
SCENE = SceneInput(chapter_index=40, scene_index=1, text="Ines found the heron key in the salt.")


@pytest.fixture(scope="module")
def projects(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A projects folder with the demo's files and index."""
    folder = tmp_path_factory.mktemp("projects")
    copy_shipped_demos(folder)
    return folder


@pytest.fixture(scope="module")
def server(projects: Path) -> Iterator[PostgresServer]:
    """A server of our own that holds the demo."""
    reason = why_there_is_no_server()
    if reason is not None:
        pytest.skip(reason)
    with postgres_server() as started:
        with _opened(projects, started.url()) as stores:
            ingest_demo(stores, "demo")
        yield started


@pytest.fixture(scope="module")
def healthy(server: PostgresServer, projects: Path, request_in_demo: MemoryContextRequest) -> SceneMemoryContext:
    """The context while all is well."""
    with _opened(projects, server.url()) as stores:
        context = context_of(stores, request_in_demo)
    assert stages(context) == set()
    assert context.entity_states
    return context


@contextmanager
def _opened(projects: Path, url: str, **memory: float) -> Iterator[MemoryStores]:
    settings = settings_for(projects, **memory).model_copy(update={"database_url": url})
    with MemoryStores(settings) as stores:
        yield stores


@pytest.mark.slow
@covers(33)
def test_a_server_killed_in_a_transaction_costs_states_only(
    server: PostgresServer, projects: Path, request_in_demo: MemoryContextRequest, healthy: SceneMemoryContext
) -> None:
    """The transaction is undone and told; contexts come from the index; the next start is found again."""
    with _opened(projects, server.url()) as stores:
        context_of(stores, request_in_demo)
        with pytest.raises(DatabaseError, match="check that the database server runs"):
            _update_while_the_server_dies(stores, server)
        require_without_database(context_of(stores, request_in_demo))
        server.start()
        require_healthy(stores, request_in_demo, healthy)
        with stores.database("demo").read() as unit:
            assert unit.projects.require().name == "demo"


def _update_while_the_server_dies(stores: MemoryStores, server: PostgresServer) -> None:
    with stores.database("demo").write() as unit:
        unit.projects.update(name="half done")
        server.kill()
        unit.projects.require()


@pytest.mark.slow
@covers(34)
def test_a_frozen_server_costs_states_only(
    server: PostgresServer, projects: Path, request_in_demo: MemoryContextRequest, healthy: SceneMemoryContext
) -> None:
    """The context comes from the index while the server stands still."""
    with _opened(projects, server.url(), **TIGHT) as stores:
        awake(stores, "demo")
        require_healthy(stores, request_in_demo, healthy)
        server.freeze()
        try:
            started_s = time.monotonic()
            require_without_database(context_of(stores, request_in_demo))
            assert time.monotonic() - started_s < HANG_GUARD_S
        finally:
            server.thaw()
        require_healthy(stores, request_in_demo, healthy)


@pytest.mark.slow
@covers(36)
def test_a_lost_commit_reply_makes_no_duplicate(server: PostgresServer, projects: Path) -> None:
    """The caller hears of a failure although the scene is stored; saving it again changes nothing."""
    with cutting_proxy(server.port) as proxy, _opened(projects, server.url(proxy.port)) as stores:
        stores.create_project("lost-reply", language="en")
        proxy.cut_after = b"COMMIT"
        with pytest.raises(DatabaseError, match=r".") as caught:
            ingest_scene(stores, "lost-reply", SCENE)
        assert caught.value.is_retryable
        assert proxy.cuts == 1
        result = ingest_scene(stores, "lost-reply", SCENE)
        assert result.count("unchanged") == 1
        drain_outbox(stores, "lost-reply")
        assert verify_index(stores, "lost-reply").is_sound
        with stores.database("lost-reply").read() as unit:
            assert len(unit.scenes.list_as_of()) == 1
            contents = [each.chunk.content for each in unit.memories.list_matching()]
        assert len(contents) == len(set(contents))
