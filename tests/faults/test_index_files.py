"""Rows 1-8: the files of the index are lost or damaged; SQL rebuilds them."""

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from novelgen.errors import VectorIndexError
from novelgen.models.context import MemoryContextRequest, SceneMemoryContext
from runtime.ingest.indexing import verify_index
from runtime.ingest.ingest import ingest_scene
from runtime.ingest.scene_input import SceneInput
from runtime.stores import MemoryStores
from tests.faults.expectations import (
    both_fallbacks,
    context_of,
    rebuild,
    require_healthy,
    require_healthy_but_for_order,
    require_without_index,
)
from tests.faults.large_story import EMBEDDINGS, PROJECT, large_request
from tests.faults.matrix import covers
from tests.support.demo_project import settings_for


def _database(index: Path) -> Path:
    return index / "chroma.sqlite3"


def _vector_folder(index: Path) -> Path:
    (folder,) = (entry for entry in index.iterdir() if entry.is_dir())
    return folder


def _put_file_in_place(index: Path) -> None:
    shutil.rmtree(index)
    index.write_text("not a folder", encoding="utf-8")


def _overwrite(file: Path, size_bytes: int) -> None:
    with file.open("r+b") as stream:
        stream.write(os.urandom(size_bytes))


def _randomise(file: Path) -> None:
    _overwrite(file, file.stat().st_size)


DAMAGES: dict[int, Callable[[Path], None]] = {
    1: shutil.rmtree,
    2: _put_file_in_place,
    3: lambda index: os.truncate(_database(index), 0),
    4: lambda index: _overwrite(_database(index), 100),
    5: lambda index: shutil.rmtree(_vector_folder(index)),
    7: lambda index: _randomise(_vector_folder(index) / "data_level0.bin"),
    8: lambda index: os.truncate(_vector_folder(index) / "index_metadata.pickle", 0),
}


@pytest.mark.parametrize("row", [pytest.param(row, marks=covers(row)) for row in DAMAGES])
def test_damaged_index_files_cost_memories_only_and_are_rebuilt(
    large_folder: Path, healthy_large: SceneMemoryContext, row: int
) -> None:
    """The context goes on without the index and says so; a rebuild from SQL brings all back."""
    DAMAGES[row](large_folder / PROJECT / "data" / "vectors")
    request = large_request()
    with both_fallbacks(large_folder, embedding_model=EMBEDDINGS) as stores:
        require_without_index(stores, request, healthy_large)
        rebuild(stores.on, PROJECT)
        require_healthy_but_for_order(stores.off, request, healthy_large)


@covers(1)
def test_a_database_without_its_index_is_not_taken_for_a_new_project(
    demo_folder: Path, request_in_demo: MemoryContextRequest, healthy_demo: SceneMemoryContext
) -> None:
    """As after a restored backup: no file tells that there was an index, but SQL does; nothing half is built."""
    for lost in (demo_folder / "demo" / "data").glob("vectors*"):
        shutil.rmtree(lost)
    with both_fallbacks(demo_folder) as stores:
        require_without_index(stores, request_in_demo, healthy_demo)
        scene = SceneInput(chapter_index=40, scene_index=1, text="Ines found the heron key in the salt.")
        result = ingest_scene(stores.on, "demo", scene)
        assert (result.count("added"), result.indexing.waiting > 0) == (1, True)
        assert "rebuild" in result.issues[0].message
        rebuild(stores.on, "demo")
        require_healthy(stores.off, request_in_demo, healthy_demo)


@covers(6)
def test_halved_vectors_are_found_by_canaries_and_rebuilt(
    large_folder: Path, healthy_large: SceneMemoryContext
) -> None:
    """Chroma answers wrongly without an error, or crashes; verification finds either, a rebuild repairs it."""
    vectors = _vector_folder(large_folder / PROJECT / "data" / "vectors") / "data_level0.bin"
    os.truncate(vectors, vectors.stat().st_size // 2)
    with MemoryStores(settings_for(large_folder, embedding_model=EMBEDDINGS)) as stores:
        assert context_of(stores, large_request()).entity_states == healthy_large.entity_states
        try:
            is_sound = verify_index(stores, PROJECT).is_sound
        except VectorIndexError:
            is_sound = False
        assert not is_sound
        rebuild(stores, PROJECT)
        require_healthy_but_for_order(stores, large_request(), healthy_large)
