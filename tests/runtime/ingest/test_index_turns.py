"""Several programs on one Chroma server: a rebuild has the index for itself, and nobody's writes are lost by it."""

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from novelgen.errors import VectorIndexError
from runtime.ingest.indexing import drain_outbox, reindex, verify_index
from runtime.ingest.ingest import ingest_scene
from runtime.settings import NovelgenSettings
from runtime.stores import MemoryStores
from tests.crash.victim import PROJECT, scene_of
from tests.runtime.index.conftest import chroma_server
from tests.support.databases import BOTH, postgres_database, postgres_for_tests
from tests.support.demo_project import settings_for
from tests.support.variants import variants

pytestmark = pytest.mark.slow

PAUSE_S = 0.2
"""Between two scenes of the third program, so that the two that rebuild get the processors."""


@pytest.fixture(params=BOTH)
def settings(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[NovelgenSettings]:
    with chroma_server(tmp_path / "chroma") as url:
        given = settings_for(tmp_path / "projects", vector_store={"url": url, "write_timeout_s": 30.0})
        if request.param == "sqlite":
            yield given
            return
        with postgres_for_tests() as server, postgres_database(server) as database_url:
            yield given.model_copy(update={"database_url": database_url})


def _hurried(settings: NovelgenSettings) -> NovelgenSettings:
    store = settings.memory.vector_store.model_copy(update={"write_timeout_s": 0.3})
    return settings.model_copy(update={"memory": settings.memory.model_copy(update={"vector_store": store})})


def test_who_writes_during_anothers_rebuild_is_told_and_loses_nothing(settings: NovelgenSettings) -> None:
    """What waits is done by the next writer; a second rebuild says that there is one."""
    with MemoryStores(settings) as first, MemoryStores(_hurried(settings)) as second:
        first.ensure_project(PROJECT, language="en")
        ingest_scene(first, PROJECT, scene_of(1, "before"))
        with first.database(PROJECT).index_turn(is_rebuild=True, timeout_s=30):
            told = ingest_scene(second, PROJECT, scene_of(2, "meanwhile")).indexing
            with pytest.raises(VectorIndexError, match="another program"):
                reindex(second, PROJECT)
        assert told.waiting > 0
        assert "another program" in told.issues[0].message
        assert drain_outbox(first, PROJECT).waiting == 0
        assert verify_index(first, PROJECT).is_sound


@pytest.mark.parametrize("settings", variants(BOTH), indirect=True)
def test_two_programs_that_rebuild_at_once_lose_nothing_of_a_third(settings: NovelgenSettings, tmp_path: Path) -> None:
    """Both end well while scenes are stored, and the index holds what SQL says."""
    variables = {
        "NOVELGEN_PROJECTS_DIR": str(settings.projects_dir),
        "NOVELGEN_MEMORY__EMBEDDING_MODEL": "fake:64",
        "NOVELGEN_MEMORY__VECTOR_STORE__URL": str(settings.memory.vector_store.url),
        "NOVELGEN_MEMORY__VECTOR_STORE__WRITE_TIMEOUT_S": "60",
    }
    if settings.database_url is not None:
        variables["NOVELGEN_DATABASE_URL"] = settings.database_url
    with MemoryStores(settings) as stores:
        stores.ensure_project(PROJECT, language="en")
        ingest_scene(stores, PROJECT, scene_of(1, "before"))
        command = [sys.executable, "-m", "novelgen", "reindex", PROJECT]
        programs = [
            subprocess.Popen(command, cwd=tmp_path, env=os.environ | variables, stderr=subprocess.PIPE, text=True)
            for _ in range(2)
        ]
        place = 1
        while any(program.poll() is None for program in programs) and place < 40:
            place += 1
            ingest_scene(stores, PROJECT, scene_of(place, "meanwhile"))
            time.sleep(PAUSE_S)
        for program in programs:
            _, said = program.communicate(timeout=120)
            assert program.returncode == 0, said
        assert drain_outbox(stores, PROJECT).waiting == 0
        assert verify_index(stores, PROJECT).is_sound
