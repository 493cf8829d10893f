"""Rows 1, 18 and 19: the index is gone, holds rows that SQL does not know, or has lost some; SQL rebuilds it."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from novelgen.memory.search import SearchQuery, SearchRequest
from novelgen.models.context import MemoryContextRequest, SceneMemoryContext
from runtime.index.rows import store_id
from runtime.ingest.indexing import verify_index
from runtime.ingest.ingest import ingest_scene
from runtime.ingest.scene_input import SceneInput
from runtime.memory_tools import StoryMemoryTools
from runtime.stores import MemoryStores
from tests.faults.expectations import HANG_GUARD_S, both_fallbacks, rebuild, require_healthy, require_without_index
from tests.faults.matrix import covers
from tests.support.demo_project import settings_for

pytestmark = pytest.mark.slow

QUERY = "the heron key"

CHROMA_PROGRAM = """
import json, sys
import chromadb
(collection,) = chromadb.PersistentClient(sys.argv[1]).list_collections()
work = json.load(sys.stdin)
if work["delete"]:
    collection.delete(ids=work["delete"])
if work["upsert"]:
    rows = work["upsert"]
    collection.upsert(ids=[row["id"] for row in rows], metadatas=[row["metadata"] for row in rows],
                      documents=[row["document"] for row in rows], embeddings=[row["vector"] for row in rows])
"""


def _change_index(folder: Path, *, upsert: list[dict[str, Any]] = [], delete: list[str] = []) -> None:  # noqa: B006
    """Write to the closed index of the demo behind novelgen's back."""
    work = json.dumps({"upsert": upsert, "delete": delete})
    command = [sys.executable, "-c", CHROMA_PROGRAM, str(folder / "demo" / "data" / "vectors")]
    finished = subprocess.run(
        command, input=work, capture_output=True, text=True, timeout=HANG_GUARD_S, env=dict(os.environ)
    )
    assert finished.returncode == 0, finished.stderr


def _row(stores: MemoryStores, chunk_id: str) -> dict[str, Any]:
    """Return a row that lies exactly where the query asks."""
    metadata = {"project_id": "demo", "chapter_index": 1, "scene_index": 1, "source_id": chunk_id}
    return {
        "id": chunk_id,
        "metadata": metadata | {"content_type": "memory", "chunk_id": chunk_id},
        "document": f"planted {QUERY}",
        "vector": stores.embeddings.embed_query(QUERY),
    }


def _found(stores: MemoryStores) -> set[str]:
    request = SearchRequest(project_id="demo", queries=[SearchQuery(text=QUERY)], timeout_s=HANG_GUARD_S)
    result = StoryMemoryTools(stores).search(request)
    assert result.issues == ()
    assert result.candidates
    return {candidate.chunk.chunk_id for candidate in result.candidates}


@covers(18)
def test_a_row_that_sql_does_not_have_is_never_returned(
    demo_folder: Path, request_in_demo: MemoryContextRequest, healthy_demo: SceneMemoryContext
) -> None:
    """An orphan at the very place of the query is dropped; verification names it and a rebuild removes it."""
    with MemoryStores(settings_for(demo_folder)) as stores:
        row = _row(stores, "orphan")
    _change_index(demo_folder, upsert=[row])
    with MemoryStores(settings_for(demo_folder)) as stores:
        assert "orphan" not in _found(stores)
        assert verify_index(stores, "demo").unexpected_ids == ("orphan",)
        rebuild(stores, "demo")
        require_healthy(stores, request_in_demo, healthy_demo)


@covers(19)
def test_rows_that_the_index_has_lost_are_named_and_brought_back(
    demo_folder: Path, request_in_demo: MemoryContextRequest, healthy_demo: SceneMemoryContext
) -> None:
    """Nothing but the comparison with SQL can tell that rows are missing."""
    with MemoryStores(settings_for(demo_folder)) as stores:
        collection = stores.vectors("demo").collection.name
        lost = stores.database("demo").reading(lambda unit: sorted(unit.memories.index_ids())[:7])
    _change_index(demo_folder, delete=[store_id(collection, chunk_id) for chunk_id in lost])
    with MemoryStores(settings_for(demo_folder)) as stores:
        assert verify_index(stores, "demo").missing_ids == tuple(lost)
        rebuild(stores, "demo")
        require_healthy(stores, request_in_demo, healthy_demo)


@covers(1)
def test_a_database_without_its_index_is_not_taken_for_a_new_project(
    demo_folder: Path, request_in_demo: MemoryContextRequest, healthy_demo: SceneMemoryContext
) -> None:
    """As after a restored backup: no file tells that there was an index, but SQL does, and the next write builds it."""
    for lost in (demo_folder / "demo" / "data").glob("vectors*"):
        shutil.rmtree(lost)
    with both_fallbacks(demo_folder) as stores:
        require_without_index(stores, request_in_demo, healthy_demo)
        scene = SceneInput(chapter_index=40, scene_index=1, text="Ines found the heron key in the salt.")
        result = ingest_scene(stores.on, "demo", scene)
        assert (result.count("added"), result.indexing.waiting, result.issues) == (1, 0, [])
        require_healthy(stores.off, request_in_demo, healthy_demo)
