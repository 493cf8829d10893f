"""A backup is the database alone, taken while it is in use; the index is rebuilt from it."""

import shutil
import threading
from pathlib import Path

from runtime.care.checks import repair_index
from runtime.context_chain import build_context_chain
from runtime.ingest.indexing import verify_index
from runtime.ingest.ingest import ingest_scene
from runtime.ingest.scene_input import SceneInput
from runtime.stores import MemoryStores
from tests.support.demo_project import demo_request, settings_for


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


def _write_until(stores: MemoryStores, stop: threading.Event) -> None:
    """Store scenes after the planned one, until told to stop."""
    for number in range(1, 10_000):
        ingest_scene(stores, "demo", SceneInput(chapter_index=60, scene_index=number, text=f"Later {number}."))
        if stop.is_set():
            return
