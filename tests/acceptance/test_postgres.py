"""PostgreSQL as the main database: settings only, and the same story comes back."""

import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from novelgen.models.context import SceneMemoryContext
from runtime.context_chain import build_context_chain
from runtime.ingest.indexing import drain_outbox, verify_index
from runtime.ingest.ingest import ingest_scenes
from runtime.ingest.scene_input import SceneInput
from runtime.memory_tools import search_story_memory_tool
from runtime.stores import MemoryStores
from tests.acceptance import test_zero_knowledge_leak as secretive
from tests.acceptance import test_zero_leak as marked
from tests.support.databases import postgres_database
from tests.support.demo_project import DEMOS, copy_shipped_demos, demo_request, ingest_demo, settings_for

pytestmark = pytest.mark.postgres


@contextmanager
def on_server(postgres_url: str, folder: Path) -> Iterator[MemoryStores]:
    """Stores in a database of the server that goes away with the tests."""
    with postgres_database(postgres_url) as url:
        settings = settings_for(folder).model_copy(update={"database_url": url})
        with MemoryStores(settings) as opened:
            yield opened


@pytest.fixture(scope="module")
def stores(postgres_url: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[MemoryStores]:
    """Both demos in one database."""
    folder = tmp_path_factory.mktemp("projects")
    copy_shipped_demos(folder)
    with on_server(postgres_url, folder) as opened:
        for demo in DEMOS:
            ingest_demo(opened, demo)
        yield opened


@pytest.fixture(scope="module")
def marked_stores(postgres_url: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[MemoryStores]:
    """The story whose later scenes leave marks wherever they can, on the server."""
    with on_server(postgres_url, tmp_path_factory.mktemp("marked")) as opened:
        marked.tell(opened, with_records=True)
        yield opened


@pytest.fixture(scope="module")
def secretive_stores(postgres_url: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[MemoryStores]:
    """The story of which Ben does not know all, on the server."""
    with on_server(postgres_url, tmp_path_factory.mktemp("secretive")) as opened:
        secretive.tell(opened)
        yield opened


@pytest.mark.slow
@pytest.mark.parametrize("cut", secretive.NEXT)
def test_nothing_is_told_that_the_point_of_view_does_not_know(
    secretive_stores: MemoryStores, cut: tuple[int, int]
) -> None:
    """What holds on SQLite of who knows what holds here."""
    secretive.test_what_ben_does_not_know_is_nowhere_when_it_is_excluded(secretive_stores, cut)
    secretive.test_secrets_stand_in_the_block_of_their_own_alone(secretive_stores, cut)
    secretive.test_anna_knows_her_own_secrets(secretive_stores, cut, "exclude")


@pytest.mark.slow
@pytest.mark.parametrize("cut", marked.CUTS)
def test_nothing_later_is_told(marked_stores: MemoryStores, cut: tuple[int, int]) -> None:
    """What holds on SQLite of contexts, tools and names holds here."""
    marked.test_no_later_mark_is_in_context_prompt_card_or_name(marked_stores, cut)
    marked.test_every_tool_is_cut(marked_stores, cut)


@pytest.mark.slow
@pytest.mark.parametrize("project_id", DEMOS)
def test_a_context_is_that_of_sqlite(stores: MemoryStores, ingested_demos: Path, project_id: str) -> None:
    """States and timeline are the same; nothing is reported; memories are cut alike and largely the same."""
    request = demo_request(project_id, 5, 4)
    on_server = build_context_chain(stores, write_files=False).invoke(request)
    with MemoryStores(settings_for(ingested_demos)) as sqlite:
        on_file = build_context_chain(sqlite, write_files=False).invoke(request)
    assert [issue for issue in on_server.report.issues if issue.kind != "unresolved"] == []
    assert _told(on_server) == _told(on_file)
    here, there = ({chunk.content for chunk in context.relevant_memories} for context in (on_server, on_file))
    assert all(request.position.admits(each.chapter_index, each.scene_index) for each in on_server.relevant_memories)
    assert len(here & there) >= 0.8 * len(there)


def _told(context: SceneMemoryContext) -> dict[str, Any]:
    """Return states and timeline without the moments at which they were stored."""
    dumped = context.model_dump(include={"entity_states", "timeline_context"})
    return json.loads(json.dumps(dumped, default=lambda moment: None))


@pytest.mark.slow
def test_projects_of_one_database_are_apart(stores: MemoryStores) -> None:
    """Both demos share the database; each finds its own memories only."""
    assert stores.project_ids() == sorted(DEMOS)
    for demo in DEMOS:
        found = search_story_memory_tool(demo, "鹭钥匙 heron key", top_k=50, stores=stores)
        assert found
        assert {chunk.project_id for chunk in found} == {demo}


@pytest.mark.slow
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
            counted[name] = len(unit.scenes.list_as_of())
    assert counted == {"crowded": 16, "other-1": 8, "other-2": 8}
