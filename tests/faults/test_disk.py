"""Rows 22-24 and 26-28: the disk is full, refuses, lies elsewhere, fails, and there are no descriptors."""

import errno
import json
import logging
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from novelgen.errors import DatabaseError, DatabaseFullError
from novelgen.models.context import MemoryContextRequest, SceneMemoryContext
from runtime.context_chain import build_context_chain
from runtime.doors.http.settings import announced
from runtime.ingest.indexing import verify_index
from runtime.ingest.ingest import ingest_scene, ingest_scenes
from runtime.ingest.scene_input import SceneInput
from runtime.stores import MemoryStores
from runtime.story.story import Story
from tests.faults.disks import enlarge_disk, immutable, mount_small_disk, read_only, unmount_disk
from tests.faults.expectations import HANG_GUARD_S, require_same_entities, stages
from tests.faults.matrix import covers
from tests.runtime.doors.http.serving import client_of
from tests.support.demo_project import demo_request, settings_for

REPOSITORY = Path(__file__).resolve().parents[2]
CONTEXT_FILE = "scene_5_4_memory.json"


def _require_not_written(context: SceneMemoryContext, healthy: SceneMemoryContext, log: str) -> None:
    """J: the context is whole, and the failed write is in the report and in the log."""
    assert [(issue.stage, issue.kind) for issue in context.report.issues] == [("write", "not_written")]
    assert "was not written" in log
    assert len(context.relevant_memories) == len(healthy.relevant_memories)
    require_same_entities(context, healthy)


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of 3 MB."""
    folder = tmp_path / "disk"
    mount_small_disk(folder, 3)
    yield folder
    unmount_disk(folder)


def _scenes() -> list[SceneInput]:
    sentence = "Ines carried the heron key from the salt house to the mill number {} and told nobody of it. "
    texts = ["".join(sentence.format(number * 1000 + line) for line in range(150)) for number in range(12)]
    return [SceneInput(chapter_index=1, scene_index=number, text=text) for number, text in enumerate(texts, start=1)]


@pytest.mark.slow
@covers(22)
@pytest.mark.index_started_as_shipped
def test_a_full_disk_refuses_clearly_and_converges_when_there_is_room(small_disk: Path, tmp_path: Path) -> None:
    """What was acknowledged is there, what was refused is not; the same ingest repeated leaves no duplicate."""
    acknowledged: list[int] = []
    with MemoryStores(settings_for(small_disk)) as stores:
        stores.create_project("demo", language="en")
        ingest_scene(stores, "demo", _scenes()[0])
        (small_disk / "leaves little").write_bytes(bytes(_free_bytes(small_disk) - 300_000))
        with pytest.raises(DatabaseError, match=r"full|space|disk"):
            _ingest_one_by_one(stores, acknowledged)
        with pytest.raises(OSError, match="No space left"):
            (small_disk / "leaves nothing").write_bytes(bytes(4 * 1024 * 1024))
        context = build_context_chain(stores).invoke(demo_request("demo", 5, 4))
        assert "write" in stages(context)
        assert not (small_disk / "demo" / CONTEXT_FILE).exists()
    enlarge_disk(small_disk, 200)
    with MemoryStores(settings_for(small_disk)) as stores:
        assert _stored_scenes(stores) == acknowledged
        result = ingest_scenes(stores, "demo", _scenes())
        assert result.count("unchanged") == len(acknowledged)
        assert result.indexing.waiting == 0
        assert verify_index(stores, "demo").is_sound
        converged = _memories(stores)
    with MemoryStores(settings_for(tmp_path / "roomy")) as stores:
        stores.create_project("demo", language="en")
        ingest_scenes(stores, "demo", _scenes(), index=False)
        assert converged == _memories(stores)


def _ingest_one_by_one(stores: MemoryStores, acknowledged: list[int]) -> None:
    for scene in _scenes():
        ingest_scene(stores, "demo", scene)
        acknowledged.append(scene.scene_index)


def _free_bytes(folder: Path) -> int:
    status = os.statvfs(folder)
    return status.f_bavail * status.f_frsize


def _stored_scenes(stores: MemoryStores) -> list[int]:
    with stores.database("demo").read() as unit:
        return [scene.scene_index for scene in unit.scenes.list_as_of()]


def _memories(stores: MemoryStores) -> list[tuple[int | None, str]]:
    with stores.database("demo").read() as unit:
        found = [stored.chunk for stored in unit.memories.list_matching()]
    return sorted((chunk.scene_index, chunk.content) for chunk in found)


@pytest.mark.slow
@covers(23)
def test_a_folder_that_takes_no_file_costs_the_file_only(
    demo_folder: Path, healthy_demo: SceneMemoryContext, caplog: pytest.LogCaptureFixture
) -> None:
    """The context is returned whole; when the folder takes files again it is written."""
    with MemoryStores(settings_for(demo_folder)) as stores:
        chain = build_context_chain(stores)
        with immutable(demo_folder / "demo"), caplog.at_level(logging.ERROR):
            context = chain.invoke(demo_request("demo", 5, 4))
        _require_not_written(context, healthy_demo, caplog.text)
        assert stages(chain.invoke(demo_request("demo", 5, 4))) == set()
    assert (demo_folder / "demo" / CONTEXT_FILE).is_file()


@pytest.mark.slow
@covers(24)
def test_a_link_that_leads_outside_is_not_written_through(
    demo_folder: Path, tmp_path: Path, healthy_demo: SceneMemoryContext, caplog: pytest.LogCaptureFixture
) -> None:
    """The file outside keeps every byte."""
    outside = tmp_path / "outside.json"
    outside.write_text("precious", encoding="utf-8")
    (demo_folder / "demo" / CONTEXT_FILE).symlink_to(outside)
    with MemoryStores(settings_for(demo_folder)) as stores, caplog.at_level(logging.ERROR):
        context = build_context_chain(stores).invoke(demo_request("demo", 5, 4))
    _require_not_written(context, healthy_demo, caplog.text)
    assert outside.read_text(encoding="utf-8") == "precious"


KILLED_BEFORE_RENAME = """
import os, signal, sys
from pathlib import Path
from runtime.files.paths import write_text_atomically
Path.replace = lambda self, target: os.kill(os.getpid(), signal.SIGKILL)
write_text_atomically(Path(sys.argv[1]), "new" * 100_000, root=Path(sys.argv[1]).parent)
"""


@covers(26)
@pytest.mark.parametrize("before", ["old", None])
def test_a_kill_before_the_rename_leaves_the_old_file_or_none(tmp_path: Path, before: str | None) -> None:
    """Never a part of the new file; the next write succeeds."""
    target = tmp_path / CONTEXT_FILE
    if before is not None:
        target.write_text(before, encoding="utf-8")
    finished = subprocess.run(
        [sys.executable, "-c", KILLED_BEFORE_RENAME, str(target)],
        timeout=HANG_GUARD_S,
        env={**os.environ, "PYTHONPATH": str(REPOSITORY)},
    )
    assert finished.returncode == -signal.SIGKILL
    assert (target.read_text(encoding="utf-8") if target.exists() else None) == before
    assert [entry.name for entry in tmp_path.glob("scene_*")] == ([target.name] if before else [])


@pytest.mark.slow
@covers(27)
def test_a_disk_that_cannot_sync_costs_the_file_only(
    demo_folder: Path,
    healthy_demo: SceneMemoryContext,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """A file that may not be on the disk is not put in place of the old one, and no rest is left."""
    folder = demo_folder / "demo"
    (folder / CONTEXT_FILE).write_text("old", encoding="utf-8")

    def fail(descriptor: int) -> None:
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    with MemoryStores(settings_for(demo_folder)) as stores, caplog.at_level(logging.ERROR):
        chain = build_context_chain(stores)
        monkeypatch.setattr(os, "fsync", fail)
        context = chain.invoke(demo_request("demo", 5, 4))
    _require_not_written(context, healthy_demo, caplog.text)
    assert (folder / CONTEXT_FILE).read_text(encoding="utf-8") == "old"
    assert list(folder.glob(".*.tmp")) == []


WITHOUT_DESCRIPTORS = """
import json, os, resource, sys
from pathlib import Path
from runtime.context_chain import build_context_chain
from runtime.stores import MemoryStores
from tests.support.demo_project import demo_request, settings_for

def shown(context):
    return {"memories": len(context.relevant_memories), "states": len(context.entity_states),
            "stages": sorted({issue.stage for issue in context.report.issues})}

request = demo_request("demo", 5, 4)
with MemoryStores(settings_for(Path(sys.argv[1]))) as stores:
    chain = build_context_chain(stores)
    results = [shown(chain.invoke(request))]
    stores.close()
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (3, hard))
    results.append(shown(chain.invoke(request)))
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    results.append(shown(chain.invoke(request)))
print(json.dumps(results))
"""


@pytest.mark.slow
@covers(28)
def test_without_descriptors_a_context_is_empty_and_says_so(
    demo_folder: Path, request_in_demo: MemoryContextRequest, healthy_demo: SceneMemoryContext
) -> None:
    """Neither store nor file can be opened; when descriptors are free again all is as before."""
    finished = subprocess.run(
        [sys.executable, "-c", WITHOUT_DESCRIPTORS, str(demo_folder)],
        capture_output=True,
        text=True,
        timeout=HANG_GUARD_S,
        env={**os.environ, "PYTHONPATH": str(REPOSITORY)},
    )
    assert finished.returncode == 0, finished.stderr
    before, without, after = json.loads(finished.stdout.splitlines()[-1])
    assert (without["memories"], without["states"]) == (0, 0)
    assert {"outline", "states", "semantic", "lexical", "write"} <= set(without["stages"])
    healthy = {"memories": len(healthy_demo.relevant_memories), "states": len(healthy_demo.entity_states)}
    assert before == after == healthy | {"stages": []}


@pytest.mark.slow
def test_a_disk_that_can_only_be_read_is_read(demo_folder: Path, request_in_demo: MemoryContextRequest) -> None:
    """States, contexts and searches come, by exact comparison; a write is refused, and a server serves."""
    with read_only(demo_folder):
        with MemoryStores(settings_for(demo_folder)) as stores:
            story = Story(stores, "demo")
            found = story.search("who has the heron key?", top_k=3)
            assert len(found) == 3
            assert {each.stage for each in found.issues} == {"semantic"}
            assert build_context_chain(stores).invoke(request_in_demo).entity_states
            with pytest.raises(DatabaseFullError):
                story.memories.add("Ines owns a boat.")
        with client_of(demo_folder) as client, announced(demo_folder, "http://127.0.0.1:1"):
            assert client.get("/v1/projects/demo/states/Ines").json()["state"]["entity_id"] == "C0"
            assert client.post("/v1/projects/demo/memories", json={"content": "x y"}).status_code == 507
    assert not (demo_folder / ".server" / "server.json").exists()
