"""A backup is the database alone, taken while it is in use; the index is rebuilt from it."""

import shutil
import subprocess
import threading
from pathlib import Path

import pytest
from sqlalchemy import make_url

import novelgen
from runtime.care.checks import repair_index
from runtime.context_chain import build_context_chain
from runtime.front_door import Memory
from runtime.ingest.indexing import verify_index
from runtime.ingest.ingest import ingest_scene
from runtime.ingest.scene_input import SceneInput
from runtime.stores import MemoryStores
from tests.runtime.index.conftest import chroma_server
from tests.support.databases import postgres_database, postgres_for_tests
from tests.support.demo_project import demo_request, settings_for

pytestmark = pytest.mark.slow


def test_a_restored_backup_gives_the_same_context(demo_folder: Path, tmp_path: Path) -> None:
    """Taken while another thread writes, put in an empty project's place and repaired, nothing is embedded anew."""
    backup = tmp_path / "backups" / "demo.db"
    request = demo_request("demo", 5, 4)
    with MemoryStores(settings_for(demo_folder)) as stores:
        before = build_context_chain(stores, write_files=False).invoke(request)
        stop = threading.Event()
        writer = threading.Thread(target=_write_until, args=(stores, stop))
        writer.start()
        stores.database("demo").backup(backup)
        stop.set()
        writer.join()
    restored = tmp_path / "restored"
    data = restored / "demo" / "data"
    data.mkdir(parents=True)
    shutil.copy(backup, data / "novel.db")
    with MemoryStores(settings_for(restored)) as stores:
        repairs = [finding.message for finding in repair_index(stores, "demo")]
        assert any("0 texts embedded anew" in message for message in repairs)
        assert verify_index(stores, "demo").is_sound
        after = build_context_chain(stores, write_files=False).invoke(request)
    assert after.entity_states == before.entity_states
    assert after.relevant_memories == before.relevant_memories


@pytest.mark.postgres
def test_a_restored_dump_of_postgresql_gives_the_same_context(tmp_path: Path) -> None:
    """Taken by pg_dump while another thread writes, restored beside a Chroma server that knows nothing; repaired, it
    is the story, and the index is whole.
    """
    plan = {"characters": ["Ada"], "purpose": "Ada opens the mill."}
    with postgres_for_tests() as server, postgres_database(server) as first, postgres_database(server) as other:
        with chroma_server(tmp_path / "chroma") as url, _opened(tmp_path / "first", first, url) as stories:
            story = stories.create("mill", language="en")
            story.entities.add_character(name="Ada")
            for number, text in enumerate(("Ada found the brass key.", "Ada gave Bo the brass key."), start=1):
                story.ingest(text=text, chapter_index=1, scene_index=number)
            before = story.context(2, 1, plan)
            stop = threading.Event()
            writer = threading.Thread(target=_write_until, args=(story._stores, stop, "mill"))
            writer.start()
            dump = subprocess.run(["pg_dump", "-Fc", _plain(first)], capture_output=True, check=True).stdout
            stop.set()
            writer.join()
        subprocess.run(["pg_restore", "--no-owner", "--exit-on-error", "-d", _plain(other)], input=dump, check=True)
        with chroma_server(tmp_path / "new") as url, _opened(tmp_path / "other", other, url) as stories:
            story = stories.story("mill")
            repairs = [each.message for each in story.project.check_health(repair=True).repairs]
            # Where writes waited, following them meets that the index is gone, and builds it.
            assert any("0 texts embedded anew" in each or "brought to the index" in each for each in repairs)
            assert verify_index(story._stores, "mill").is_sound
            after = story.context(2, 1, plan)
    assert "Ada gave Bo the brass key." in before.as_prompt()
    assert after.as_prompt() == before.as_prompt()


def _opened(folder: Path, database_url: str, index_url: str) -> Memory:
    memory = {"embedding_model": "fake:64", "vector_store": {"url": index_url}}
    return novelgen.open(projects_dir=folder, database_url=database_url, model="", memory=memory)


def _plain(url: str) -> str:
    """The address as PostgreSQL's own programs take it."""
    return make_url(url).set(drivername="postgresql").render_as_string(hide_password=False)


def _write_until(stores: MemoryStores, stop: threading.Event, project: str = "demo") -> None:
    """Store scenes after the planned one, until told to stop."""
    for number in range(1, 10_000):
        ingest_scene(stores, project, SceneInput(chapter_index=60, scene_index=number, text=f"Later {number}."))
        if stop.is_set():
            return
