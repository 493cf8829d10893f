"""Rows 9, 10, 13 and 14: the process of the index is locked out, frozen, or not alone; tests of the index have more."""

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from novelgen.models.context import MemoryContextRequest, SceneMemoryContext
from runtime.ingest.indexing import drain_outbox, reindex, verify_index
from runtime.ingest.ingest import ingest_scene
from runtime.ingest.scene_input import SceneInput
from runtime.stores import MemoryStores
from tests.faults.expectations import (
    HANG_GUARD_S,
    TIGHT,
    BothFallbacks,
    awake,
    both_fallbacks,
    context_of,
    locked,
    require_healthy,
    require_same_entities,
    require_without_index,
    stages,
)
from tests.faults.matrix import covers
from tests.support.demo_project import settings_for
from tests.support.freezing import freeze

pytestmark = pytest.mark.slow

REPOSITORY = Path(__file__).resolve().parents[2]


def _index_file(folder: Path) -> Path:
    return folder / "demo" / "data" / "vectors" / "chroma.sqlite3"


@pytest.fixture
def demo(demo_folder: Path) -> Iterator[BothFallbacks]:
    """The demo's stores with a running index, and deadlines for what hangs."""
    with both_fallbacks(demo_folder, **TIGHT) as stores:
        awake(stores.on, "demo")
        yield stores


@covers(9)
def test_an_index_locked_for_writing_is_read_and_written_later(
    demo: BothFallbacks, demo_folder: Path, request_in_demo: MemoryContextRequest
) -> None:
    """Reads pass; a scene is acknowledged by SQL, and the index follows when the lock is gone."""
    scene = SceneInput(chapter_index=40, scene_index=1, text="Ines found the heron key in the salt.")
    with locked(_index_file(demo_folder), "IMMEDIATE"):
        context = context_of(demo.on, request_in_demo)
        result = ingest_scene(demo.on, "demo", scene)
    assert context.relevant_memories
    assert result.count("added") == 1
    assert result.indexing.waiting > 0
    assert [issue.stage for issue in result.issues] == ["index"]
    with MemoryStores(settings_for(demo_folder)) as later:
        awake(later, "demo")
        assert drain_outbox(later, "demo").waiting == 0
        assert verify_index(later, "demo").is_sound


@covers(9)
def test_an_index_locked_altogether_costs_memories_only(
    demo_folder: Path, request_in_demo: MemoryContextRequest, healthy_demo: SceneMemoryContext
) -> None:
    """Opening it would freeze the interpreter; every context comes back while the lock stands."""
    started_s = time.monotonic()
    with both_fallbacks(demo_folder, **TIGHT) as stores:
        stores.on.vectors("demo")
        with locked(_index_file(demo_folder)):
            require_without_index(stores, request_in_demo, healthy_demo)
    assert time.monotonic() - started_s < HANG_GUARD_S


@covers(10)
def test_a_frozen_index_process_costs_memories_only(
    demo: BothFallbacks, request_in_demo: MemoryContextRequest, healthy_demo: SceneMemoryContext
) -> None:
    """The context comes back while the process is stopped; a new one answers afterwards."""
    started_s = time.monotonic()
    for stores, has_memories in ((demo.off, False), (demo.on, True)):
        pid = awake(stores, "demo")
        freeze(pid)
        context = context_of(stores, request_in_demo)
        assert bool(context.relevant_memories) == has_memories
        assert "semantic" in stages(context)
        require_same_entities(context, healthy_demo)
    assert time.monotonic() - started_s < HANG_GUARD_S
    assert awake(demo.on, "demo") != pid
    require_healthy(demo.on, request_in_demo, healthy_demo)


SECOND_PROGRAM = """
import sys
from pathlib import Path
from tests.faults.expectations import context_of
from runtime.ingest.ingest import ingest_scene
from runtime.ingest.scene_input import SceneInput
from runtime.stores import MemoryStores
from tests.support.demo_project import demo_request, settings_for
with MemoryStores(settings_for(Path(sys.argv[1]))) as stores:
    context = context_of(stores, demo_request("demo", 5, 4))
    scene = SceneInput(chapter_index=41, scene_index=1, text="Ines left the salt house at dawn.")
    result = ingest_scene(stores, "demo", scene)
    print(bool(context.relevant_memories), bool(context.entity_states), result.count("added"), result.indexing.waiting)
    for issue in [*context.report.issues, *result.issues]:
        print(issue.stage, issue.message)
"""


@covers(13)
def test_a_second_program_works_with_the_index_of_the_first(demo: BothFallbacks, demo_folder: Path) -> None:
    """Its contexts search by meaning and its scenes are indexed at once; the owner is unharmed."""
    pid = awake(demo.on, "demo")
    finished = subprocess.run(
        [sys.executable, "-c", SECOND_PROGRAM, str(demo_folder)],
        capture_output=True,
        text=True,
        timeout=HANG_GUARD_S,
        env={**os.environ, "PYTHONPATH": str(REPOSITORY)},
    )
    assert finished.returncode == 0, finished.stderr
    assert finished.stdout.splitlines() == ["True True 1 0"]
    assert awake(demo.on, "demo") == pid
    assert verify_index(demo.on, "demo").is_sound


@covers(14)
def test_another_dimension_is_refused_until_the_index_is_rebuilt(
    demo_folder: Path, request_in_demo: MemoryContextRequest, healthy_demo: SceneMemoryContext
) -> None:
    """Vectors of two lengths are never mixed: the context says so, and a rebuild embeds everything anew."""
    with both_fallbacks(demo_folder, embedding_model="fake:16") as stores:
        without, fallen_back = (context_of(each, request_in_demo) for each in (stores.off, stores.on))
        assert without.relevant_memories == []
        assert fallen_back.relevant_memories
        for context in (without, fallen_back):
            require_same_entities(context, healthy_demo)
            assert any("novelgen reindex" in issue.message for issue in context.report.issues)
        assert reindex(stores.on, "demo").embedded > 0
        assert stages(context_of(stores.off, request_in_demo)) == set()
        assert verify_index(stores.off, "demo").is_sound
