"""An index that was interrupted at work is verified by the next writer, and rebuilt where it lost vectors."""

import contextlib
import os
import signal
from pathlib import Path

import pytest

from novelgen.errors import VectorIndexError
from runtime.ingest import indexing
from runtime.ingest.indexing import IndexingResult, verify_index
from runtime.ingest.ingest import IngestResult, ingest_scene
from runtime.stores import MemoryStores
from tests.support.demo_project import settings_for
from tests.support.marked_scenes import marked_scene

PROJECT = "interrupted"


def _ingest(stores: MemoryStores, place: int) -> IngestResult:
    stores.ensure_project(PROJECT, language="en")
    return ingest_scene(stores, PROJECT, marked_scene(0, place, 1))


def _lose_rows(stores: MemoryStores) -> None:
    """Take rows out of the index behind the back of SQL, as a kill may."""
    index = stores.vectors(PROJECT)
    index.delete(PROJECT, sorted(index.list_ids(PROJECT))[:2])


def _kill_the_index(stores: MemoryStores) -> None:
    pid = stores.vectors(PROJECT).process.pid
    assert pid is not None
    os.kill(pid, signal.SIGKILL)
    # The call may meet the process while it ends, or start the next at once.
    with contextlib.suppress(VectorIndexError):
        stores.vectors(PROJECT).count(PROJECT, timeout_s=60)


def test_vectors_lost_by_a_kill_are_back_after_the_next_scene(tmp_path: Path) -> None:
    """The kill puts the index in doubt; the next ingest finds the loss and builds the index anew."""
    with MemoryStores(settings_for(tmp_path)) as stores:
        _ingest(stores, 1)
        _lose_rows(stores)
        _kill_the_index(stores)
        assert stores.vectors(PROJECT).process.in_doubt
        assert _ingest(stores, 2).indexing.issues == []
        assert not stores.vectors(PROJECT).process.in_doubt
        assert verify_index(stores, PROJECT).is_sound


def test_doubt_outlives_the_program(tmp_path: Path) -> None:
    """A program that ends before anything was proven leaves the doubt to the next, which proves the index."""
    with MemoryStores(settings_for(tmp_path)) as stores:
        _ingest(stores, 1)
        _lose_rows(stores)
        _kill_the_index(stores)
    with MemoryStores(settings_for(tmp_path)) as stores:
        assert _ingest(stores, 2).indexing.issues == []
        assert verify_index(stores, PROJECT).is_sound
    with MemoryStores(settings_for(tmp_path)) as stores:
        stores.vectors(PROJECT).count(PROJECT, timeout_s=60)
        assert not stores.vectors(PROJECT).process.in_doubt


def test_a_sound_index_is_not_built_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A kill that cost nothing costs one verification."""
    monkeypatch.setattr(indexing, "reindex", _forbidden)
    with MemoryStores(settings_for(tmp_path)) as stores:
        _ingest(stores, 1)
        _kill_the_index(stores)
        assert _ingest(stores, 2).indexing.issues == []
        assert not stores.vectors(PROJECT).process.in_doubt


def test_a_proof_that_fails_is_said_and_the_scene_stands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The scene is stored and indexed; the issue names the repair, and the doubt stays."""

    def failing(*_: object) -> None:
        raise VectorIndexError("no answer")

    with MemoryStores(settings_for(tmp_path)) as stores:
        _ingest(stores, 1)
        _kill_the_index(stores)
        monkeypatch.setattr(indexing, "verify_index", failing)
        result = _ingest(stores, 2)
        (issue,) = result.indexing.issues
        assert "no answer" in issue.message
        assert "doctor --repair" in issue.message
        assert (result.count("added"), result.indexing.waiting) == (1, 0)
        assert stores.vectors(PROJECT).process.in_doubt


def _forbidden(*_: object) -> IndexingResult:
    raise AssertionError("the index was built anew")
