"""Databases of different programs on one Chroma server."""

from pathlib import Path

import pytest

from runtime.ingest import indexing
from runtime.ingest.indexing import reindex, verify_index
from runtime.ingest.ingest import ingest_scene
from runtime.settings import NovelgenSettings
from runtime.stores import MemoryStores
from tests.runtime.index.conftest import ServerProcess
from tests.support.demo_project import settings_for
from tests.support.marked_scenes import marked_scene

PROJECT = "same-id"


def _settings(folder: Path, server: ServerProcess) -> NovelgenSettings:
    return settings_for(folder, vector_store={"url": server.url, "write_timeout_s": 60.0})


def test_databases_with_one_project_id_never_meet_on_a_server(tmp_path: Path, server: ServerProcess) -> None:
    """Neither finds, replaces nor drops rows of the other; a copy of a database has the index of its original."""
    with (
        MemoryStores(_settings(tmp_path / "mine", server)) as mine,
        MemoryStores(_settings(tmp_path / "theirs", server)) as theirs,
    ):
        for number, stores in enumerate((mine, theirs)):
            stores.create_project(PROJECT, language="en")
            # The same place, so that the ids of their memories are the same as well.
            result = ingest_scene(stores, PROJECT, marked_scene(number, 0, 1))
            assert (result.indexing.waiting, result.indexing.issues) == (0, [])
        reindex(mine, PROJECT)
        assert verify_index(mine, PROJECT).is_sound
        assert verify_index(theirs, PROJECT).is_sound
        mine.database(PROJECT).backup(tmp_path / "copy" / PROJECT / "data" / "novel.db")
        with MemoryStores(_settings(tmp_path / "copy", server)) as copied:
            assert verify_index(copied, PROJECT).is_sound
        mine.vectors(PROJECT).drop(PROJECT)
        assert verify_index(theirs, PROJECT).is_sound
        assert not verify_index(mine, PROJECT).is_sound


def test_an_index_on_a_server_is_not_built_anew_by_itself(
    tmp_path: Path, server: ServerProcess, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What others store there meanwhile would be lost: the result names the command, and nothing is said after it."""
    monkeypatch.setattr(indexing, "SPARE_VECTORS", 3)
    monkeypatch.setattr(indexing, "MAX_KEPT_PER_MEMORY", 2)
    with MemoryStores(_settings(tmp_path, server)) as stores:
        stores.create_project("edited", language="en")

        def messages(version: int) -> list[str]:
            result = ingest_scene(stores, "edited", marked_scene(0, 0, version))
            return [issue.message for issue in result.indexing.issues]

        assert messages(1) == []
        (said,) = [message for version in range(2, 5) for message in messages(version)][-1:]
        assert "run `novelgen reindex edited` when that suits" in said
        reindex(stores, "edited")
        assert verify_index(stores, "edited").is_sound
        assert messages(5) == []
