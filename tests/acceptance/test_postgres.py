"""PostgreSQL as the main database: settings only, and the same story comes back."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from sqlalchemy import create_engine, make_url, text

from novelgen.models.context import SceneMemoryContext
from runtime.context_chain import build_context_chain
from runtime.ingest.indexing import drain_outbox, verify_index
from runtime.ingest.ingest import ingest_scenes
from runtime.ingest.scene_input import SceneInput
from runtime.memory_tools import search_story_memory_tool
from runtime.stores import MemoryStores
from tests.support.demo_project import DEMOS, copy_shipped_demos, demo_request, ingest_demo, settings_for
from tests.support.postgres_server import postgres_server, why_there_is_no_server

pytestmark = pytest.mark.postgres


@pytest.fixture(scope="module")
def server_url() -> Iterator[str]:
    """The server of NOVELGEN_TEST_POSTGRES_URL, else one of our own."""
    given = os.environ.get("NOVELGEN_TEST_POSTGRES_URL")
    if given:
        yield given
        return
    reason = why_there_is_no_server()
    if reason is not None:
        pytest.skip(reason)
    with postgres_server() as server:
        yield server.url()


@pytest.fixture(scope="module")
def stores(server_url: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[MemoryStores]:
    """Both demos in one database of the server, which goes away with the tests."""
    server = make_url(server_url).set(drivername="postgresql+psycopg")
    name = f"novelgen_{uuid4().hex}"
    admin = create_engine(server, isolation_level="AUTOCOMMIT")
    with admin.connect() as connection:
        connection.execute(text(f"CREATE DATABASE {name}"))
    folder = tmp_path_factory.mktemp("projects")
    copy_shipped_demos(folder)
    url = server.set(database=name).render_as_string(hide_password=False)
    with MemoryStores(settings_for(folder).model_copy(update={"database_url": url})) as opened:
        for demo in DEMOS:
            ingest_demo(opened, demo)
        yield opened
    with admin.connect() as connection:
        connection.execute(text(f"DROP DATABASE {name} WITH (FORCE)"))
    admin.dispose()


@pytest.mark.parametrize("project_id", DEMOS)
def test_a_context_is_that_of_sqlite(stores: MemoryStores, ingested_demos: Path, project_id: str) -> None:
    """States and timeline are the same; nothing is reported; memories are cut alike and largely the same."""
    request = demo_request(project_id, 5, 4)
    on_server = build_context_chain(stores, write_files=False).invoke(request)
    with MemoryStores(settings_for(ingested_demos)) as sqlite:
        on_file = build_context_chain(sqlite, write_files=False).invoke(request)
    assert on_server.report is not None
    assert on_server.report.issues == []
    assert _told(on_server) == _told(on_file)
    here, there = ({chunk.content for chunk in context.relevant_memories} for context in (on_server, on_file))
    assert all(
        request.position.admits(each.chapter_index, each.scene_index) for each in on_server.relevant_memories
    )
    assert len(here & there) >= 0.8 * len(there)


def _told(context: SceneMemoryContext) -> dict[str, Any]:
    """Return states and timeline without the moments at which they were stored."""
    dumped = context.model_dump(include={"entity_states", "timeline_context"})
    return json.loads(json.dumps(dumped, default=lambda moment: None))


def test_projects_of_one_database_are_apart(stores: MemoryStores) -> None:
    """Both demos share the database; each finds its own memories only."""
    assert stores.project_ids() == sorted(DEMOS)
    for demo in DEMOS:
        found = search_story_memory_tool(demo, "鹭钥匙 heron key", top_k=50, stores=stores)
        assert found
        assert {chunk.project_id for chunk in found} == {demo}


def test_workers_at_once_lose_nothing(stores: MemoryStores) -> None:
    """Scenes of one project and of several, taken in by many threads, are all there, once, and in the index."""
    names = ["crowded", "other-1", "other-2"]
    for name in names:
        stores.create_project(name, language="en")

    def work(number: int) -> None:
        name = names[0] if number % 2 else names[1 + number % 4 // 2]
        scenes = [
            SceneInput(chapter_index=number + 1, scene_index=scene, text=f"Anna hid ring {number}-{scene}.")
            for scene in range(4)
        ]
        ingest_scenes(stores, name, scenes, index=False)

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(work, range(8)))
    counted = {}
    for name in names:
        assert drain_outbox(stores, name).waiting == 0
        assert verify_index(stores, name).is_sound
        with stores.database(name).read() as unit:
            counted[name] = len(unit.scenes.list_as_of(name))
    assert counted == {"crowded": 16, "other-1": 8, "other-2": 8}
