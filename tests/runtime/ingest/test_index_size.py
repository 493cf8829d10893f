"""The vector index stays as small as what it holds."""

import os
from pathlib import Path

import pytest

from novelgen.errors import VectorIndexError
from novelgen.models.record import SceneRecord
from runtime.care.checks import repair_index
from runtime.index.locations import VECTOR_FILE, ChromaServer, EmbeddedIndex, kept_vectors, swollen_file
from runtime.index.manager import VectorStoreManager
from runtime.ingest import indexing
from runtime.ingest.indexing import IndexingResult, reindex, verify_index
from runtime.ingest.ingest import IngestResult, ingest_scene
from runtime.ingest.scene_input import SceneInput
from runtime.stores import MemoryStores
from tests.support.demo_project import settings_for
from tests.support.marked_scenes import marked_scene

PROJECT = "edited"


def _edited(stores: MemoryStores, times: int, *, memories: int = 1) -> list[IngestResult]:
    stores.ensure_project(PROJECT, language="en")
    return [ingest_scene(stores, PROJECT, _scene(version, memories)) for version in range(times)]


def _scene(version: int, memories: int) -> SceneInput:
    record = SceneRecord.model_validate(
        {
            "chapter_index": 1,
            "scene_index": 1,
            "memories": [
                {"memory_id": f"M{version}-{number}", "content": f"Anna hid ring {number} of night {version}."}
                for number in range(memories)
            ],
        }
    )
    return SceneInput(chapter_index=1, scene_index=1, text=f"Anna came on night {version}.", record=record)


def _kept(stores: MemoryStores) -> int:
    index = stores.vectors(PROJECT)
    return kept_vectors(index.location, index.dimension)


def test_an_index_of_mostly_dead_vectors_is_built_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Once the files hold far more than what stands, they are replaced by ones that do not, and the index is sound."""
    monkeypatch.setattr(indexing, "SPARE_VECTORS", 100)
    rebuilds: list[int] = []

    def told(stores: MemoryStores, project_id: str) -> IndexingResult:
        rebuilds.append(_kept(stores))
        return reindex(stores, project_id)

    monkeypatch.setattr(indexing, "reindex", told)
    with MemoryStores(settings_for(tmp_path)) as stores:
        results = _edited(stores, 6, memories=240)
        assert len(rebuilds) == 1
        assert rebuilds[0] > 800
        assert _kept(stores) < rebuilds[0]
        assert [issue for result in results for issue in result.indexing.issues] == []
        assert verify_index(stores, PROJECT).is_sound


def test_a_failing_rebuild_is_said_and_harms_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The scene is stored and indexed, the old index stands, and the result says that it was not made smaller."""

    def failing(*_: object, **__: object) -> int:
        raise VectorIndexError("no room")

    with MemoryStores(settings_for(tmp_path)) as stores:
        _edited(stores, 2)
        monkeypatch.setattr(indexing, "SPARE_VECTORS", 0)
        monkeypatch.setattr(indexing, "MAX_KEPT_PER_MEMORY", 0)
        monkeypatch.setattr(VectorStoreManager, "rebuild", failing)
        result = ingest_scene(stores, PROJECT, _scene(99, 1))
        assert [issue.message for issue in result.indexing.issues if "not made smaller: no room" in issue.message]
        assert verify_index(stores, PROJECT).is_sound


def test_what_others_store_during_a_rebuild_is_not_lost(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A scene that is stored after a rebuild was asked for, and before it begins to write, is in the new index."""
    rebuild = VectorStoreManager.rebuild

    def late(self: VectorStoreManager, *arguments: object, **options: object) -> int:
        monkeypatch.setattr(VectorStoreManager, "rebuild", rebuild)
        ingest_scene(stores, PROJECT, marked_scene(0, 1, 7))
        return rebuild(self, *arguments, **options)  # type: ignore[arg-type]

    with MemoryStores(settings_for(tmp_path)) as stores:
        _edited(stores, 1)
        monkeypatch.setattr(VectorStoreManager, "rebuild", late)
        reindex(stores, PROJECT)
        assert verify_index(stores, PROJECT).is_sound


def test_sizes_are_told_from_the_files(tmp_path: Path) -> None:
    """A file of 10 vectors of 16 values counts as 10; no files and a server count as none."""
    folder = tmp_path / "vectors"
    assert kept_vectors(EmbeddedIndex(folder), 16) == 0
    assert kept_vectors(ChromaServer("http://127.0.0.1:9"), 16) == 0
    (folder / "segment").mkdir(parents=True)
    (folder / "segment" / VECTOR_FILE).write_bytes(bytes(10 * (132 + 16 * 4 + 8)))
    assert kept_vectors(EmbeddedIndex(folder), 16) == 10


def test_repair_rebuilds_an_index_whose_files_are_far_too_large(tmp_path: Path) -> None:
    """Files of gigabytes for a few memories are replaced, although the index still answers."""
    with MemoryStores(settings_for(tmp_path)) as stores:
        _edited(stores, 1)
        vectors = stores.paths(PROJECT).vectors
        swollen = next(vectors.glob("*/")) / "swollen.bin"
        swollen.touch()
        os.truncate(swollen, 2**32)
        messages = [finding.message for finding in repair_index(stores, PROJECT)]
        assert any("'swollen.bin' takes 4096 MB" in message for message in messages)
        assert swollen_file(EmbeddedIndex(vectors)) is None
        assert verify_index(stores, PROJECT).is_sound
