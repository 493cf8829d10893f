"""The running server: found by its folder, ended by a signal within seconds, and refused where it must be."""

import contextlib
import inspect
import json
import signal
import socket
import sys
import threading
from collections.abc import Iterator
from http.client import HTTPResponse
from pathlib import Path

import httpx
import pytest
from filelock import FileLock

from novelgen.errors import ConfigurationError
from runtime.doors.http import serving
from runtime.doors.http.app import CLOSING_S
from runtime.doors.http.jobs import Jobs
from runtime.doors.http.serving import END_AT_LAST_S, OPEN_REQUESTS_END_S, SPANS_END_MS
from runtime.doors.http.settings import Limits, announced, running_server
from runtime.files.book_formats import READ_TIMEOUT_S
from tests.runtime.doors.cli.conftest import Run
from tests.support.freezing import freeze
from tests.support.hostile_files import endless_epub
from tests.support.served_process import FAKE_EMBEDDINGS, ServedProcess

AT_ONCE = 2


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Run:
    """Run a command in this process over a folder of projects."""
    monkeypatch.setenv("NOVELGEN_PROJECTS_DIR", str(tmp_path / "projects"))
    return Run()


@pytest.fixture
def server(tmp_path: Path) -> Iterator[ServedProcess]:
    """A server of its own process over an empty folder, with as many turns as its settings say."""
    process = ServedProcess(tmp_path, FAKE_EMBEDDINGS | {"NOVELGEN_SERVER_AT_ONCE": str(AT_ONCE)})
    yield process
    if process.is_alive:
        process.end(signal.SIGKILL)


@pytest.mark.slow
def test_a_signal_ends_the_server_clean(server: ServedProcess, tmp_path: Path) -> None:
    """While previews of a hostile book are parsed others are answered; SIGTERM ends it all, what is stored stays."""
    book = endless_epub(tmp_path / "endless.epub").read_bytes()
    with httpx.Client(base_url=server.url, timeout=60) as client:
        assert client.post("/v1/projects", json={"project_id": "mill"}).status_code == 201
        text = "Ada met Bo at the mill and gave him the key."
        assert client.put("/v1/projects/mill/scenes/1/1", json={"text": text}).status_code == 200
        kept = client.post("/page/imports", files=[("files", ("endless.epub", book))])
        address = kept.headers["location"]
        previews = [threading.Thread(target=_give_up_on, args=(server.url + address,)) for _ in range(3)]
        for each in previews:
            each.start()
        for each in previews:
            each.join()
        assert client.get("/v1/projects").status_code == 200
        assert running_server(tmp_path) == server.url
        assert server.end(signal.SIGTERM, timeout_s=READ_TIMEOUT_S - 10)[0] == 0
    assert running_server(tmp_path) is None
    assert not (tmp_path / ".server" / "server.json").exists()
    assert (tmp_path / "mill" / "data" / "novel.db").exists()


def test_a_folder_has_one_server(tmp_path: Path) -> None:
    """A second one is told where the first is; the waits of an end fit into the time after which it comes anyway."""
    assert OPEN_REQUESTS_END_S + CLOSING_S + SPANS_END_MS / 1000 <= END_AT_LAST_S < 4
    assert inspect.signature(Jobs.close).parameters["timeout_s"].default < CLOSING_S
    with announced(tmp_path, "http://127.0.0.1:4711"), pytest.raises(ConfigurationError, match="4711"):  # noqa: SIM117
        with announced(tmp_path, "http://127.0.0.1:4712"):
            raise AssertionError("two servers")
    with announced(tmp_path, "http://127.0.0.1:4712"):
        pass


@pytest.mark.slow
def test_bodies_that_never_come_keep_nobody_out(server: ServedProcess, tmp_path: Path) -> None:
    """The next one ends that which has been coming longest, and whoever sends all of it is answered."""
    too_many = 6
    address = httpx.URL(server.url)
    asked = f"POST /v1/projects HTTP/1.1\r\nHost: {address.host}:{address.port}\r\nContent-Length: 9\r\n\r\n".encode()
    with contextlib.ExitStack() as opened:
        slow = []
        for _ in range(Limits().bodies_at_once + too_many):
            slow.append(opened.enter_context(socket.create_connection((address.host, address.port), timeout=60)))
            slow[-1].sendall(asked)
        assert httpx.get(f"{server.url}/health", timeout=60).status_code == 200
        for connection in slow[:too_many]:
            answer = HTTPResponse(connection)
            answer.begin()
            assert (answer.status, answer.getheader("Retry-After") is not None) == (503, True)
            assert b"send it again" in answer.read()
        created = httpx.post(f"{server.url}/v1/projects", json={"project_id": "mill"}, timeout=60)
        assert created.status_code == 201
    server.end(signal.SIGKILL)
    assert (tmp_path / ".server" / "server.json").exists()
    assert running_server(tmp_path) is None
    with announced(tmp_path, "http://127.0.0.1:1"):
        assert running_server(tmp_path) == "http://127.0.0.1:1"


def test_the_server_has_as_many_turns_as_its_settings_say(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """As many work, and as many wait."""
    taken: list[Limits] = []
    monkeypatch.setattr(serving, "serve", lambda _, settings, **__: taken.append(settings.limits))
    monkeypatch.setenv("NOVELGEN_SERVER_AT_ONCE", str(AT_ONCE))
    run.well("serve", "--no-open")
    assert [(limits.at_once, limits.waiting) for limits in taken] == [(AT_ONCE, AT_ONCE)]


def _give_up_on(url: str) -> None:
    with contextlib.suppress(httpx.HTTPError):
        httpx.get(url, timeout=1)


EVENTS = (
    "Ada met Bo at the mill and gave him the key.",
    "Bo hid the key below the third stair of the tower.",
    "Rain fell for nine days, and the river took the bridge.",
    "Cara sold the white mare to a pedlar from the coast.",
    "The pedlar asked after a door that no key of his would open.",
    "Ada burned the letters of her father in the kitchen.",
)


@pytest.fixture
def served_mill(server: ServedProcess, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[httpx.Client]:
    """A client of a server that has opened the index of a story; commands of this process see the same folder."""
    monkeypatch.setenv("NOVELGEN_PROJECTS_DIR", str(tmp_path))
    monkeypatch.setenv("NOVELGEN_MEMORY__EMBEDDING_MODEL", "fake:64")
    with httpx.Client(base_url=server.url, timeout=60) as client:
        for project in ("mill", "mill2"):
            client.post("/v1/projects", json={"project_id": project}).raise_for_status()
            for number, event in enumerate(EVENTS, 1):
                text = f"{event} So it was told in {project}."
                client.put(f"/v1/projects/{project}/scenes/{number}/1", json={"text": text}).raise_for_status()
            client.post(f"/v1/projects/{project}/search", json={"query": "the key"}).raise_for_status()
        yield client


COMMANDS = (["search", "mill", "the key", "--json"], ["context", "mill", "--action", "Bo looks for the key", "--json"])


@pytest.mark.slow
def test_commands_work_beside_a_server_with_its_index_and_without_one_that_hangs(
    served_mill: httpx.Client, server: ServedProcess
) -> None:
    """Search and context give the same items beside a server as once it is gone, and say nothing; repairs go through
    it. Where it hangs a line says so, and search goes on; the index of one that was killed is taken over.
    """
    beside = [_items(command) for command in COMMANDS]
    for command in (["reindex", "mill"], ["doctor", "mill", "--repair"]):
        Run().well(*command)
    found = served_mill.post("/v1/projects/mill/search", json={"query": "the key"}).json()["memories"]
    assert found
    freeze(server.pid)
    for command in COMMANDS:
        done = Run().well(*command)
        assert "Ada met Bo" in done.stdout
        [line] = done.stderr.splitlines()
        assert f"owned by process {server.pid}" in line
    server.end(signal.SIGKILL)
    assert [_items(command) for command in COMMANDS] == beside


def _items(command: list[str]) -> list[str]:
    """Run a command that must have nothing to say beside its answer, and return the memories that it found."""
    done = Run().well(*command)
    assert done.stderr == ""
    answer = json.loads(done.stdout)
    found = answer["memories"] if "memories" in answer else answer["relevant_memories"]
    assert found
    assert "mill2" not in done.stdout
    return [each["content"] for each in found]


@pytest.mark.parametrize("left", ["", "{", "[]", '{"pid": 1}'])
def test_a_torn_file_is_no_server(tmp_path: Path, left: str) -> None:
    """A file that tells no address names no server, whoever holds the lock."""
    (tmp_path / ".server").mkdir()
    (tmp_path / ".server" / "server.json").write_text(left)
    with FileLock(tmp_path / ".server" / "server.lock", thread_local=False):
        assert running_server(tmp_path) is None


def test_an_open_address_without_a_token_is_refused(run: Run) -> None:
    """Nothing listens for other machines; a port that is taken is named with what to do."""
    run.refused("serve", "--host", "0.0.0.0", told="NOVELGEN_SERVER_TOKEN")
    with socket.create_server(("127.0.0.1", 0)) as taken:
        run.refused("serve", "--port", str(taken.getsockname()[1]), told="--port")


@pytest.mark.parametrize("package", ["fastapi", "jinja2"])
def test_without_the_extra_its_name_is_told(run: Run, monkeypatch: pytest.MonkeyPatch, package: str) -> None:
    """Where a package of the extra is not installed the command names what to install."""
    monkeypatch.setitem(sys.modules, package, None)
    for name in [
        each
        for each in sys.modules
        if each.startswith(("runtime.doors.http.", "runtime.page")) and "presence" not in each
    ]:
        monkeypatch.delitem(sys.modules, name)
    run.refused("serve", told="pip install 'novelgen[server]'")
