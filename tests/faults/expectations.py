"""What a context must be while something is down: the letters of the fault matrix."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from novelgen.models.context import MemoryContextRequest, SceneMemoryContext
from runtime.context_chain import build_context_chain
from runtime.ingest.indexing import reindex, verify_index
from runtime.stores import MemoryStores
from tests.runtime.index.conftest import process_of
from tests.support.demo_project import settings_for

HANG_GUARD_S = 120.0
"""No test may take so long; by far more than any deadline in it, so that load alone never fails a test."""

TIGHT = {"tool_timeout_s": 5.0, "chain_timeout_s": 30.0, "vector_store": {"write_timeout_s": 6.0}}
"""For faults that hang: shorter than shipped, and still by far more than what does not hang needs under load."""


@dataclass(frozen=True)
class BothFallbacks:
    """The same project twice, sharing the process of its index: `search_fallback` on and off."""

    on: MemoryStores
    off: MemoryStores


@contextmanager
def both_fallbacks(folder: Path, **memory: Any) -> Iterator[BothFallbacks]:
    """Open the stores of a projects folder with either setting."""
    with (
        MemoryStores(settings_for(folder, search_fallback="on", **memory)) as on,
        MemoryStores(settings_for(folder, search_fallback="off", **memory)) as off,
    ):
        yield BothFallbacks(on, off)


@contextmanager
def locked(file: Path, mode: str = "EXCLUSIVE") -> Iterator[None]:
    """Hold a SQLite database as another program would."""
    with closing(sqlite3.connect(file, isolation_level=None)) as connection:
        connection.execute(f"BEGIN {mode}")
        yield


def leave_write_ahead_log(file: Path) -> None:
    """Let readers of a database wait for the program that writes."""
    with closing(sqlite3.connect(file, isolation_level=None)) as connection:
        assert connection.execute("PRAGMA journal_mode=DELETE").fetchone() == ("delete",)


def require_nothing_later(context: SceneMemoryContext, request: MemoryContextRequest) -> None:
    """Every memory is of the project and lies before the planned scene."""
    for chunk in context.relevant_memories:
        assert chunk.project_id == request.project_id
        assert request.position.admits(chunk.chapter_index, chunk.scene_index)


def context_of(stores: MemoryStores, request: MemoryContextRequest) -> SceneMemoryContext:
    """Build a context without writing it."""
    return build_context_chain(stores, write_files=False).invoke(request)


def stages(context: SceneMemoryContext) -> set[str]:
    """Return the stages that reported an issue."""
    return {issue.stage for issue in context.report.issues}


def awake(stores: MemoryStores, project_id: str) -> int:
    """Wait until the process of the index answers and return its id."""
    index = stores.vectors(project_id)
    index.list_ids(timeout_s=HANG_GUARD_S)
    pid = process_of(index).pid
    assert pid is not None
    return pid


def require_without_index(stores: BothFallbacks, request: MemoryContextRequest, healthy: SceneMemoryContext) -> None:
    """V: no memories without the fallback, memories with it, an issue in either case, all else as it was."""
    without, fallen_back = context_of(stores.off, request), context_of(stores.on, request)
    assert without.relevant_memories == []
    assert fallen_back.relevant_memories
    for context in (without, fallen_back):
        assert "semantic" in stages(context)
        require_same_entities(context, healthy)


def require_same_entities(context: SceneMemoryContext, healthy: SceneMemoryContext) -> None:
    """Entity states and the timeline are those of the healthy context; found memories only order its threads."""
    assert context.entity_states == healthy.entity_states
    assert _timeline(context) == _timeline(healthy)


def _timeline(context: SceneMemoryContext) -> dict[str, Any]:
    timeline = dict(context.timeline_context or {})
    threads = sorted(timeline.pop("open_loops", []), key=lambda thread: str(thread["loop_id"]))
    return {**timeline, "open_loops": threads}


def require_without_database(context: SceneMemoryContext) -> None:
    """D: no states, memories from the index alone, and both said aloud."""
    assert context.entity_states == []
    assert context.relevant_memories
    assert {"outline", "states"} <= stages(context)


def require_healthy(stores: MemoryStores, request: MemoryContextRequest, healthy: SceneMemoryContext) -> None:
    """The context is as it was before the fault, and the index agrees with SQL."""
    context = context_of(stores, request)
    assert _memory_ids(context) == _memory_ids(healthy)
    assert stages(context) == set()
    require_same_entities(context, healthy)
    assert verify_index(stores, context.project_id).is_sound


def _memory_ids(context: SceneMemoryContext) -> list[str]:
    return [memory.chunk_id for memory in context.relevant_memories]


def rebuild(stores: MemoryStores, project_id: str) -> None:
    """Rebuild the index from SQL alone: nothing may have to be embedded again."""
    assert reindex(stores, project_id).embedded == 0
