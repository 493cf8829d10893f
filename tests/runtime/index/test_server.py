"""The same body works on a Chroma server, outlives its faults, is let in by a token, and shares it with others."""

import logging
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import httpx
import pytest

from novelgen.deadlines import Deadline
from novelgen.errors import ConfigurationError, DeadlineExceededError, VectorIndexError
from novelgen.models.position import StoryPosition
from runtime.index.locations import ChromaServer
from runtime.index.process import IndexProcess
from runtime.ingest import indexing
from runtime.ingest.indexing import reindex, verify_index
from runtime.ingest.ingest import ingest_scene
from runtime.settings import NovelgenSettings, load_settings
from runtime.stores import MemoryStores
from tests.runtime.index.conftest import OpenIndex, ServerProcess, index_in, process_of
from tests.runtime.index.story_rows import expected, make_rows, random_vectors
from tests.support.demo_project import settings_for
from tests.support.marked_scenes import marked_scene


@pytest.mark.slow
def test_rows_are_stored_found_cut_and_verified(open_index: OpenIndex, server: ServerProcess) -> None:
    """What holds for the embedded index holds here."""
    index = open_index(ChromaServer(server.url), "红楼梦")
    rows = make_rows(60, project_id="红楼梦", positions=[(chapter, 1) for chapter in range(6)])
    index.add(rows, timeout_s=30)
    texts = index.texts_before([rows[8].vector], StoryPosition(3), top_k=30)[0]
    assert texts[0].chunk_id == "c0008"
    assert {text.chapter_index for text in texts} == {0, 1, 2}
    assert len(texts) == 30
    assert index.verify(*expected(rows)).is_sound
    index.drop()
    assert index.list_ids() == set()


@pytest.mark.slow
def test_a_collection_that_another_program_removed_is_told(open_index: OpenIndex, server: ServerProcess) -> None:
    """As after its rebuild: SQL says what is live, and the next question opens that."""
    index = open_index(ChromaServer(server.url), "swapped")
    index.add(make_rows(5, project_id="swapped"), timeout_s=30)
    other = IndexProcess(ChromaServer(server.url))
    index_in(other, "swapped").drop(timeout_s=60)
    other.close()
    with pytest.raises(VectorIndexError, match="NotFoundError"):
        index.query(random_vectors(1), top_k=1)
    assert index.query(random_vectors(1), top_k=1) == [[]]


@pytest.mark.slow
def test_a_killed_server_is_told_at_once_and_is_found_again(open_index: OpenIndex, server: ServerProcess) -> None:
    """Each call fails while it is gone, none opens the breaker, and nothing acknowledged is lost."""
    project_index = open_index(ChromaServer(server.url), "returning")
    project_index.add(make_rows(7, project_id="returning"), timeout_s=30)
    server.kill()
    for _ in range(4):
        with pytest.raises(VectorIndexError, match="server cannot be reached"):
            project_index.query(random_vectors(1), top_k=1)
    assert not project_index.is_refusing
    server.start()
    assert len(project_index.list_ids()) == 7


@pytest.mark.slow
def test_a_frozen_server_ends_each_call_in_its_time(open_index: OpenIndex, server: ServerProcess) -> None:
    """Chroma's client has no timeout of its own; a deadline of ours ends it, and the next call works."""
    project_index = open_index(ChromaServer(server.url))
    assert project_index.list_ids(timeout_s=30) == set()
    server.freeze()
    try:
        with pytest.raises(DeadlineExceededError, match="did not return in time"):
            project_index.query(random_vectors(1), top_k=1, deadline=Deadline.after(0.5))
    finally:
        server.thaw()
    assert project_index.query(random_vectors(1), top_k=1, deadline=Deadline.after(30)) == [[]]


@pytest.mark.slow
def test_an_address_where_nothing_listens_is_named(open_index: OpenIndex) -> None:
    """The message names the address and how to start a server."""
    project_index = open_index(ChromaServer("http://127.0.0.1:9"))
    with pytest.raises(VectorIndexError, match=r"server 'http://127\.0\.0\.1:9' cannot be reached.*chroma run"):
        project_index.list_ids(timeout_s=30)


TOKEN = "open-sesame-1234567890"


@contextmanager
def door(server: ServerProcess, *, name: str, value: str) -> Iterator[str]:
    """Pass requests with this header on to a server; answer others, as proxies do, with more than they should say."""

    class Door(BaseHTTPRequestHandler):
        def answer(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            if self.headers.get(name) != value:
                self._send(401, f"no entry with {self.headers.get(name)}".encode())
                return
            url = f"{server.url}{self.path}"
            kept = {"Content-Type": self.headers.get("Content-Type", "application/json")}
            reply = httpx.request(self.command, url, content=body, headers=kept, timeout=60)
            self._send(reply.status_code, reply.content)

        do_GET = do_POST = do_PUT = do_DELETE = answer  # noqa: N815 - named by the library

        def _send(self, status: int, content: bytes) -> None:
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, format: str, *arguments: object) -> None:
            """Say nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Door) as proxy:
        threading.Thread(target=proxy.serve_forever, daemon=True).start()
        try:
            yield f"http://127.0.0.1:{proxy.server_port}"
        finally:
            proxy.shutdown()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("header", "settings"),
    [
        (("Authorization", f"Bearer {TOKEN}"), {"chroma_token": TOKEN}),
        (("X-Chroma-Token", TOKEN), {"chroma_headers": {"X-Chroma-Token": TOKEN}}),
    ],
)
def test_the_settings_open_the_door(
    tmp_path: Path, server: ServerProcess, header: tuple[str, str], settings: dict[str, object]
) -> None:
    """A scene is stored and found through a proxy that asks for the token or the header."""
    with door(server, name=header[0], value=header[1]) as url:
        memory = settings_for(tmp_path, vector_store={"url": url, "write_timeout_s": 60.0}).memory.model_dump()
        with MemoryStores(load_settings(projects_dir=tmp_path, memory=memory, **settings)) as stores:
            stores.create_project("behind", language="en")
            result = ingest_scene(stores, "behind", marked_scene(0, 0, 1))
            assert (result.indexing.waiting, result.indexing.issues) == (0, [])
            assert verify_index(stores, "behind").is_sound


@pytest.mark.slow
def test_a_wrong_token_is_refused_without_being_shown(
    open_index: OpenIndex, server: ServerProcess, caplog: pytest.LogCaptureFixture
) -> None:
    """The message names the settings; what the proxy quotes of the token is left out, and the process lives on."""
    wrong = "wrong-9876543210"
    with door(server, name="Authorization", value=f"Bearer {TOKEN}") as url, caplog.at_level(logging.DEBUG):
        location = ChromaServer(url, token=wrong)
        project_index = open_index(location)
        pids = set()
        for _ in range(4):
            with pytest.raises(VectorIndexError, match=r"refused .* chroma_token and chroma_headers") as refused:
                project_index.list_ids(timeout_s=30)
            assert wrong not in str(refused.value)
            pids.add(process_of(project_index).pid)
    assert len(pids) == 1
    assert wrong not in caplog.text + repr(location) + str(location)


def test_the_environment_gives_token_and_headers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither is shown by the settings that hold them."""
    monkeypatch.setenv("NOVELGEN_CHROMA_TOKEN", TOKEN)
    monkeypatch.setenv("NOVELGEN_CHROMA_HEADERS", f'{{"X-Door": "{TOKEN}"}}')
    settings = load_settings()
    assert settings.chroma_token is not None
    assert settings.chroma_token.get_secret_value() == TOKEN
    assert settings.chroma_headers["X-Door"].get_secret_value() == TOKEN
    assert TOKEN not in repr(settings) + settings.model_dump_json()


@pytest.mark.parametrize("headers", [f'["{TOKEN}"]', f'{{"X": ["{TOKEN}"]}}', f'{{"X": "{TOKEN}"'])
def test_headers_that_are_none_are_refused_unseen(monkeypatch: pytest.MonkeyPatch, headers: str) -> None:
    """The error names the setting and how to write it, and quotes nothing."""
    monkeypatch.setenv("NOVELGEN_CHROMA_HEADERS", headers)
    with pytest.raises(ConfigurationError, match="chroma_headers") as refused:
        load_settings()
    assert TOKEN not in str(refused.value)


PROJECT = "same-id"


def _settings(folder: Path, server: ServerProcess) -> NovelgenSettings:
    return settings_for(folder, vector_store={"url": server.url, "write_timeout_s": 60.0})


@pytest.mark.slow
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
        mine.vectors(PROJECT).drop()
        assert verify_index(theirs, PROJECT).is_sound
        assert not verify_index(mine, PROJECT).is_sound


@pytest.mark.slow
def test_an_index_on_a_server_is_built_anew_when_it_is_bloated(
    tmp_path: Path, server: ServerProcess, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was removed or written over is counted in SQL; the writer who finds it too much builds the index anew."""
    monkeypatch.setattr(indexing, "SPARE_VECTORS", 3)
    monkeypatch.setattr(indexing, "MAX_KEPT_PER_MEMORY", 2)
    with MemoryStores(_settings(tmp_path, server)) as stores:
        project = stores.create_project("edited", language="en")
        seen = {project.index_id}
        for version in range(1, 6):
            assert ingest_scene(stores, "edited", marked_scene(0, 0, version)).indexing.issues == []
            seen.add(stores.database("edited").reading(lambda unit: unit.projects.require().index_id))
        assert len(seen) == 2
        assert verify_index(stores, "edited").is_sound
