"""An index that was interrupted at work is proven by the next writer, and one stays as small as what it holds."""

import contextlib
import os
import signal
from collections.abc import Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import pytest

from novelgen.errors import VectorIndexError
from novelgen.models.record import SceneRecord
from runtime.care.checks import repair_index
from runtime.index.locations import ChromaFolder, swollen_file
from runtime.index.project_index import ProjectIndex
from runtime.ingest import indexing
from runtime.ingest.indexing import IndexingResult, reindex, verify_index
from runtime.ingest.ingest import IngestResult, ingest_scene
from runtime.ingest.scene_input import SceneInput
from runtime.storage.database import ProjectDatabase
from runtime.stores import MemoryStores
from tests.runtime.index.conftest import process_of
from tests.support.demo_project import settings_for
from tests.support.marked_scenes import marked_scene

pytestmark = pytest.mark.slow

PROJECT = "edited"


@pytest.fixture
def stores(tmp_path: Path) -> Iterator[MemoryStores]:
    """Stores of their own, with an index process of their own."""
    with MemoryStores(settings_for(tmp_path)) as opened:
        opened.create_project(PROJECT, language="en")
        yield opened


def _ingest(stores: MemoryStores, place: int) -> IngestResult:
    return ingest_scene(stores, PROJECT, marked_scene(0, place, 1))


def _kill_the_index(stores: MemoryStores) -> None:
    pid = process_of(stores.vectors(PROJECT)).pid
    assert pid is not None
    os.kill(pid, signal.SIGKILL)
    # The call may meet the process while it ends, or start the next at once.
    with contextlib.suppress(VectorIndexError):
        stores.vectors(PROJECT).list_ids(timeout_s=60)


def test_vectors_lost_by_a_kill_are_back_after_the_next_scene(stores: MemoryStores, tmp_path: Path) -> None:
    """The kill puts the index in doubt, which outlives the program; who writes next finds the loss and builds anew."""
    _ingest(stores, 1)
    index = stores.vectors(PROJECT)
    # Rows go behind the back of SQL, as by a kill.
    index.delete(stores.database(PROJECT).reading(lambda unit: sorted(unit.memories.index_ids())[:2]))
    _kill_the_index(stores)
    assert index.is_in_doubt
    stores.close()
    with MemoryStores(settings_for(tmp_path)) as later:
        assert _ingest(later, 2).indexing.issues == []
        assert verify_index(later, PROJECT).is_sound
    with MemoryStores(settings_for(tmp_path)) as last:
        last.vectors(PROJECT).list_ids(timeout_s=60)
        assert not last.vectors(PROJECT).is_in_doubt


def test_a_sound_index_is_not_built_anew(stores: MemoryStores, monkeypatch: pytest.MonkeyPatch) -> None:
    """A kill that cost nothing costs one verification."""
    monkeypatch.setattr(indexing, "reindex", _forbidden)
    _ingest(stores, 1)
    _kill_the_index(stores)
    assert _ingest(stores, 2).indexing.issues == []
    assert not stores.vectors(PROJECT).is_in_doubt


def _forbidden(*_: object) -> IndexingResult:
    raise AssertionError("the index was built anew")


def test_a_proof_that_fails_is_said_and_the_scene_stands(stores: MemoryStores, monkeypatch: pytest.MonkeyPatch) -> None:
    """The scene is stored and indexed; the issue names the repair, and the doubt stays."""

    def failing(*_: object) -> None:
        raise VectorIndexError("no answer")

    _ingest(stores, 1)
    _kill_the_index(stores)
    monkeypatch.setattr(indexing, "verify_index", failing)
    result = _ingest(stores, 2)
    (issue,) = result.indexing.issues
    assert "no answer" in issue.message
    assert "doctor --repair" in issue.message
    assert (result.count("added"), result.indexing.waiting) == (1, 0)
    assert stores.vectors(PROJECT).is_in_doubt


def _edited(stores: MemoryStores, version: int, *, memories: int = 1) -> IngestResult:
    """Store another version of a scene."""
    told = [
        {"memory_id": f"M{version}-{number}", "content": f"Anna hid ring {number} of night {version}."}
        for number in range(memories)
    ]
    record = SceneRecord.model_validate({"chapter_index": 1, "scene_index": 1, "memories": told})
    scene = SceneInput(chapter_index=1, scene_index=1, text=f"Anna came on night {version}.", record=record)
    return ingest_scene(stores, PROJECT, scene)


def _kept(stores: MemoryStores) -> int:
    with stores.database(PROJECT).read() as unit:
        return unit.projects.require().index_removals


def test_an_index_of_mostly_dead_vectors_is_built_anew(stores: MemoryStores, monkeypatch: pytest.MonkeyPatch) -> None:
    """Once the files hold far more than what stands, they are replaced by ones that do not, and the index is sound."""
    monkeypatch.setattr(indexing, "SPARE_VECTORS", 100)
    rebuilds: list[int] = []

    def told(stores: MemoryStores, project_id: str) -> IndexingResult:
        rebuilds.append(_kept(stores))
        return reindex(stores, project_id)

    monkeypatch.setattr(indexing, "reindex", told)
    results = [_edited(stores, version, memories=240) for version in range(6)]
    assert len(rebuilds) == 1
    assert rebuilds[0] > 720
    assert _kept(stores) < rebuilds[0]
    assert [issue for result in results for issue in result.indexing.issues] == []
    assert verify_index(stores, PROJECT).is_sound


def test_a_failing_rebuild_is_said_and_harms_nothing(stores: MemoryStores, monkeypatch: pytest.MonkeyPatch) -> None:
    """The scene is stored and indexed, the old index stands, and the result says that it was not made smaller."""

    def failing(*_: object, **__: object) -> int:
        raise VectorIndexError("no room")

    _edited(stores, 1)
    monkeypatch.setattr(indexing, "SPARE_VECTORS", 0)
    monkeypatch.setattr(indexing, "MAX_KEPT_PER_MEMORY", 0)
    monkeypatch.setattr(ProjectIndex, "verify", failing)
    result = _edited(stores, 2)
    assert [issue.message for issue in result.indexing.issues if "not made smaller: no room" in issue.message]
    monkeypatch.undo()
    assert verify_index(stores, PROJECT).is_sound


def test_what_others_store_during_a_rebuild_is_not_lost(stores: MemoryStores, monkeypatch: pytest.MonkeyPatch) -> None:
    """A scene that is stored after a rebuild was asked for, and before it begins to write, is in the new index."""
    turn = ProjectDatabase.index_turn

    def late(self: ProjectDatabase, **options: Any) -> AbstractContextManager[None]:
        monkeypatch.setattr(ProjectDatabase, "index_turn", turn)
        _ingest(stores, 7)
        return turn(self, **options)

    _edited(stores, 1)
    monkeypatch.setattr(ProjectDatabase, "index_turn", late)
    reindex(stores, PROJECT)
    assert verify_index(stores, PROJECT).is_sound


def test_repair_rebuilds_an_index_whose_files_are_far_too_large(stores: MemoryStores) -> None:
    """Files of gigabytes for a few memories are replaced, although the index still answers."""
    _edited(stores, 1)
    vectors = stores.paths(PROJECT).vectors
    swollen = next(vectors.glob("*/")) / "swollen.bin"
    swollen.touch()
    os.truncate(swollen, 2**32)
    messages = [finding.message for finding in repair_index(stores, PROJECT)]
    assert any("'swollen.bin' takes 4096 MB" in message for message in messages)
    assert swollen_file(ChromaFolder(vectors)) is None
    assert verify_index(stores, PROJECT).is_sound
