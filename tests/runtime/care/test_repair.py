"""`doctor --repair`: the index is brought to what the database says, and nothing else is changed."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from novelgen.errors import VectorIndexOwnedError
from runtime.care.checks import check_breaker, check_index, repair_index
from runtime.index.locations import ChromaFolder
from runtime.index.ownership import IndexOwnership
from runtime.ingest.indexing import verify_index
from runtime.ingest.ingest import ingest_scenes
from runtime.stores import MemoryStores
from tests.runtime.index.conftest import process_of
from tests.runtime.ingest.made_up_story import recorded_scenes
from tests.support.demo_project import settings_for

pytestmark = pytest.mark.slow

PROJECT = "story"


@pytest.fixture
def stores(tmp_path: Path) -> Iterator[MemoryStores]:
    """Stores with a small project, taken in."""
    with MemoryStores(settings_for(tmp_path)) as opened:
        opened.create_project(PROJECT, language="en")
        ingest_scenes(opened, PROJECT, recorded_scenes())
        yield opened


def _repaired(stores: MemoryStores) -> list[tuple[str, str, str]]:
    return [(each.level, each.what, each.message) for each in repair_index(stores, PROJECT)]


def test_a_sound_index_is_left_alone(stores: MemoryStores) -> None:
    """And says how it stands; where changes wait the outbox alone brings them to it."""
    index = stores.vectors(PROJECT)
    pid = process_of(index).pid
    assert _repaired(stores) == [("ok", "vector index", "agrees with the database")]
    assert process_of(index).pid == pid
    with stores.database(PROJECT).write() as unit:
        unit.outbox.queue(sorted(unit.memories.index_ids()), "upsert")
    first, last = _repaired(stores)
    assert first[:2] == ("ok", "outbox")
    assert first[2].startswith("9 waiting memories brought to the index")
    assert last == ("ok", "vector index", "agrees with the database")


def test_an_index_that_only_waits_is_not_to_be_rebuilt(stores: MemoryStores) -> None:
    """Where no more differs than waits, going on is advised; a rebuild where more does."""
    stores.vectors(PROJECT).drop()
    with stores.database(PROJECT).write() as unit:
        unit.outbox.queue(sorted(unit.memories.index_ids()), "upsert")
    assert check_index(stores, PROJECT, waiting_count=9) is None
    assert check_index(stores, PROJECT, waiting_count=8).fix == f"run `novelgen reindex {PROJECT}`"


@pytest.mark.parametrize("is_damaged", [True, False])
def test_a_lost_index_is_rebuilt_from_the_database(stores: MemoryStores, is_damaged: bool) -> None:
    """Files that are gone and rows that are gone alike; no text is embedded again."""
    if is_damaged:
        stores.close()
        shutil.rmtree(stores.paths(PROJECT).vectors)
    else:
        stores.vectors(PROJECT).drop()
    assert check_index(stores, PROJECT, waiting_count=0).level == "degraded"
    rebuilt, last = _repaired(stores)
    assert rebuilt[:2] == ("ok", "vector index")
    assert "rebuilt from the database, because it" in rebuilt[2]
    assert "9 memories, 0 texts embedded anew" in rebuilt[2]
    assert last[0] == "ok"
    assert verify_index(stores, PROJECT).is_sound


def test_an_open_breaker_is_shown_and_closed_by_the_repair(
    stores: MemoryStores, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The user's repair is let through although the index is left alone."""
    assert check_breaker(stores, PROJECT).level == "ok"
    for _ in range(3):
        process_of(stores.vectors(PROJECT)).breaker.failed("it crashed")
    shown = check_breaker(stores, PROJECT)
    assert (shown.level, shown.fix) == ("degraded", f"run `novelgen doctor {PROJECT} --repair`")
    assert _repaired(stores)[-1] == ("ok", "vector index", "agrees with the database")
    assert check_breaker(stores, PROJECT).level == "ok"


def test_a_dead_embedding_model_is_what_is_to_be_mended(stores: MemoryStores, tmp_path: Path) -> None:
    """Where the index cannot be opened for want of its embedding model, no rebuild is advised: it would fail, too."""
    stores.close()
    nobody = "http://127.0.0.1:9/v1"
    with MemoryStores(settings_for(tmp_path, embedding_model="openai:x", embedding_base_url=nobody)) as without_model:
        findings = [check_index(without_model, PROJECT, waiting_count=0), check_breaker(without_model, PROJECT)]
    assert [(each.level, each.fix) for each in findings] == [
        ("degraded", "put the embedding model right first; the index waits for it, and nothing is lost")
    ] * 2


def test_an_index_that_another_process_owns_is_not_touched(tmp_path: Path) -> None:
    """The refusal names the owner; the repair does not build over its head."""
    with MemoryStores(settings_for(tmp_path)) as stores:
        stores.create_project(PROJECT, language="en")
        location = ChromaFolder(stores.paths(PROJECT).vectors)
        owner = IndexOwnership(location)
        owner.acquire()
        ingest_scenes(stores, PROJECT, recorded_scenes())
        with pytest.raises(VectorIndexOwnedError, match="is owned by process"):
            repair_index(stores, PROJECT)
        owner.release()
        assert repair_index(stores, PROJECT)[-1].level == "ok"
