"""A Chroma server behind a door that asks for a token or a header."""

import logging
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import httpx
import pytest

from novelgen.errors import ConfigurationError, VectorIndexError
from runtime.index.locations import ChromaServer
from runtime.ingest.indexing import verify_index
from runtime.ingest.ingest import ingest_scene
from runtime.settings import load_settings
from runtime.stores import MemoryStores
from tests.runtime.index.conftest import OpenManager, ServerProcess
from tests.support.demo_project import settings_for
from tests.support.marked_scenes import marked_scene

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


def test_a_wrong_token_is_refused_without_being_shown(
    open_manager: OpenManager, server: ServerProcess, caplog: pytest.LogCaptureFixture
) -> None:
    """The message names the settings; what the proxy quotes of the token is left out, and the process lives on."""
    wrong = "wrong-9876543210"
    with door(server, name="Authorization", value=f"Bearer {TOKEN}") as url, caplog.at_level(logging.DEBUG):
        location = ChromaServer(url, token=wrong)
        manager = open_manager(location)
        pids = set()
        for _ in range(4):
            with pytest.raises(VectorIndexError, match=r"refused .* chroma_token and chroma_headers") as refused:
                manager.count("demo", timeout_s=30)
            assert wrong not in str(refused.value)
            pids.add(manager.process.pid)
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
