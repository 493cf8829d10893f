"""Rows 1-4: the files of the index are lost or damaged; SQL rebuilds them. tests/runtime/index has every damage."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from novelgen.models.context import MemoryContextRequest, SceneMemoryContext
from runtime.ingest.ingest import ingest_scene
from runtime.ingest.scene_input import SceneInput
from tests.acceptance.test_memory_context_retrieval import damage_index
from tests.faults.expectations import both_fallbacks, rebuild, require_healthy, require_without_index
from tests.faults.matrix import covers


def _put_file_in_place(index: Path) -> None:
    shutil.rmtree(index)
    index.write_text("not a folder", encoding="utf-8")


DAMAGES: dict[int, Callable[[Path], None]] = {
    2: lambda demo: _put_file_in_place(demo / "data" / "vectors"),
    4: damage_index,
}
"""Files that cannot be opened, and such as hold garbage; every damage ends as one of these errors of the index."""


@pytest.mark.parametrize("row", [pytest.param(row, marks=covers(row)) for row in DAMAGES])
def test_damaged_index_files_cost_memories_only_and_are_rebuilt(
    demo_folder: Path, request_in_demo: MemoryContextRequest, healthy_demo: SceneMemoryContext, row: int
) -> None:
    """The context goes on without the index and says so; a rebuild from SQL brings all back."""
    DAMAGES[row](demo_folder / "demo")
    with both_fallbacks(demo_folder) as stores:
        require_without_index(stores, request_in_demo, healthy_demo)
        rebuild(stores.on, "demo")
        require_healthy(stores.off, request_in_demo, healthy_demo)


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
