"""The same body works on a Chroma server, and outlives its faults."""

import pytest

from novelgen.deadlines import Deadline
from novelgen.errors import DeadlineExceededError, VectorIndexDamagedError, VectorIndexError
from novelgen.models.position import StoryPosition
from runtime.index.locations import ChromaServer
from tests.runtime.index.conftest import OpenManager, ServerProcess, run_program
from tests.runtime.index.story_rows import expected, make_rows, random_vectors

SECOND_WRITER = """
import sys
from runtime.index.locations import ChromaServer
from runtime.index.manager import VectorStoreManager
from tests.runtime.index.story_rows import DIMENSION, MODEL, make_rows
manager = VectorStoreManager(ChromaServer(sys.argv[1]), embedding_model=MODEL, dimension=DIMENSION)
rows = make_rows(30, project_id=sys.argv[2], seed=8)
manager.rebuild(sys.argv[2], rows)
"""


def test_rows_are_stored_found_cut_and_verified(open_manager: OpenManager, server: ServerProcess) -> None:
    """What holds for the embedded index holds here."""
    manager = open_manager(ChromaServer(server.url))
    rows = make_rows(60, project_id="红楼梦", positions=[(chapter, 1) for chapter in range(6)])
    manager.upsert(rows, timeout_s=30)
    hits = manager.query("红楼梦", [rows[8].vector], top_k=30, as_of=StoryPosition(3))[0]
    assert hits[0].chunk_id == "c0008"
    assert {hit.chapter_index for hit in hits} == {0, 1, 2}
    assert len(hits) == 30
    found = manager.query("红楼梦", [rows[8].vector], top_k=3, chunk_ids=["unknown", "c0001"])[0]
    assert [hit.chunk_id for hit in found] == ["c0001"]
    assert manager.verify("红楼梦", *expected(rows)).is_sound
    manager.drop("红楼梦")
    assert manager.count("红楼梦") == 0


def test_a_rebuild_by_another_program_is_followed(open_manager: OpenManager, server: ServerProcess) -> None:
    """A manager that had the old collection open finds the new one."""
    manager = open_manager(ChromaServer(server.url))
    manager.upsert(make_rows(5, project_id="swapped"), timeout_s=30)
    run_program(SECOND_WRITER, server.url, "swapped")
    assert manager.count("swapped") == 30
    hits = manager.query("swapped", [make_rows(30, seed=8)[21].vector], top_k=1)[0]
    assert hits[0].chunk_id == "c0021"


def test_a_killed_server_is_told_at_once_and_is_found_again(open_manager: OpenManager, server: ServerProcess) -> None:
    """Each call fails while it is gone, none opens the breaker, and nothing acknowledged is lost."""
    manager = open_manager(ChromaServer(server.url))
    manager.upsert(make_rows(7, project_id="returning"), timeout_s=30)
    server.kill()
    for _ in range(4):
        with pytest.raises(VectorIndexError, match="server cannot be reached"):
            manager.query("returning", random_vectors(1), top_k=1)
    assert not manager.process.breaker.is_open
    server.start()
    assert manager.count("returning") == 7


def test_a_frozen_server_ends_each_call_in_its_time(open_manager: OpenManager, server: ServerProcess) -> None:
    """Chroma's client has no timeout of its own; a deadline of ours ends it, and the next call works."""
    manager = open_manager(ChromaServer(server.url))
    assert manager.count("frozen", timeout_s=30) == 0
    server.freeze()
    try:
        with pytest.raises(DeadlineExceededError, match="did not return in time"):
            manager.query("frozen", random_vectors(1), top_k=1, deadline=Deadline.after(0.5))
    finally:
        server.thaw()
    assert manager.query("frozen", random_vectors(1), top_k=1, deadline=Deadline.after(30)) == [[]]


def test_a_project_that_the_server_lost_is_told(open_manager: OpenManager, server: ServerProcess) -> None:
    """A server without files of ours: who knows that rows were written is told they are gone."""
    manager = open_manager(ChromaServer(server.url))
    assert manager.query("elsewhere", random_vectors(1), top_k=1, deadline=Deadline.after(30)) == [[]]
    with pytest.raises(VectorIndexDamagedError, match=r"'elsewhere'.*are gone, or this is another index"):
        manager.query("elsewhere", random_vectors(1), top_k=1, must_exist=True, deadline=Deadline.after(30))
    with pytest.raises(VectorIndexDamagedError, match="rebuild it"):
        manager.upsert(make_rows(1, project_id="elsewhere"), must_exist=True, timeout_s=30)


def test_an_address_where_nothing_listens_is_named(open_manager: OpenManager) -> None:
    """The message names the address and how to start a server."""
    manager = open_manager(ChromaServer("http://127.0.0.1:9"))
    with pytest.raises(VectorIndexError, match=r"server 'http://127\.0\.0\.1:9' cannot be reached.*chroma run"):
        manager.count("demo", timeout_s=30)
