"""Both transports with the SDK's client: a process of its own over stdio, and the server's /mcp over HTTP."""

import asyncio
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import httpx
import httpx2
import pytest
from fastapi.testclient import TestClient
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from runtime.doors.http.settings import Limits, ServerSettings
from tests.runtime.doors.cli.conftest import Run
from tests.runtime.doors.http.serving import READ_TOKEN, TOKEN, client_of
from tests.runtime.doors.mcp.agents import READING, ROOT, STORING, names_of, over_stdio, text_of
from tests.support.served_process import FAKE_EMBEDDINGS, ServedProcess

MODES = ("auto", "legacy")
"""The protocol of today and the one with a handshake, which older clients speak."""

CALL = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "tools/call",
    "params": {"name": "list_scenes", "arguments": {"project_id": "demo", "limit": 1}},
}
HEADERS = {"Accept": "application/json, text/event-stream", "MCP-Protocol-Version": "2025-06-18"}


@pytest.mark.slow
def test_clients_of_either_protocol_share_a_story_over_stdio(demo_folder: Path, tmp_path: Path) -> None:
    """Each looks up and stores in the story that the command names; the index is the first one's, which answers the
    second, too; both see all notes, and the log holds no message.
    """

    async def answers(client: Client, tool: str, arguments: dict[str, Any]) -> Any:
        return (await client.call_tool(tool, arguments)).structured_content

    async def run(log: Any) -> None:
        query = {"query": "the heron key", "top_k": 1}
        async with (
            over_stdio(demo_folder, "demo", log=log, mode=MODES[0]) as first,
            over_stdio(demo_folder, "demo", log=log, mode=MODES[1]) as second,
        ):
            found = [await answers(each, "search_story_memory", query) for each in (first, second)]
            assert found[0]["memories"]
            assert found[0]["issues"] == []
            assert found[1] == found[0]
            for client, other, text in (
                (first, second, "Sparrow fears geese."),
                (second, first, "Ines lends nothing."),
            ):
                assert names_of((await client.list_tools()).tools) == READING | STORING
                assert "list_entities" in text_of(await client.call_tool("get_entity_card", {"entity_id": "Nobody"}))
                await answers(client, "create_memory", {"content": text, "attached_to": ["Ines"]})
                later = await answers(other, "search_story_memory", {"query": text, "top_k": 50})
                assert text in {each["content"] for each in later["memories"]}

    with (tmp_path / "log").open("w+", encoding="utf-8") as log:
        asyncio.run(run(log))
        log.seek(0)
        assert "jsonrpc" not in log.read()


@pytest.mark.slow
def test_stdio_ends_with_its_input(demo_folder: Path) -> None:
    """When the client goes away the process ends by itself, clean, and has written nothing but messages."""
    hello = {
        "jsonrpc": "2.0",
        "id": 0,
        "method": "initialize",
        "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}},
    }
    ready = {"jsonrpc": "2.0", "method": "notifications/initialized"}
    call = {**CALL, "params": {"name": "list_scenes", "arguments": {"limit": 1}}}
    done = subprocess.run(
        [sys.executable, "-m", "novelgen", "--projects-dir", str(demo_folder), "mcp", "demo", "--read-only"],
        input="".join(json.dumps(each) + "\n" for each in (hello, ready, {"no": "message"}, call)),
        cwd=ROOT,
        env={"PATH": "/usr/bin:/bin", **FAKE_EMBEDDINGS},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert {each.get("id") for each in answers} >= {0}
    assert "Traceback" not in done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("mode", MODES)
def test_http_is_behind_the_token(demo_folder: Path, mode: str) -> None:
    """Without the token nobody comes in; the reading one is offered reading tools alone, the other one all, of every
    story; other routes see at once what an agent stored.
    """
    with client_of(demo_folder, ServerSettings(token=TOKEN, read_token=READ_TOKEN)) as client:

        async def tools_with(token: str) -> set[str]:
            headers = {"Authorization": f"Bearer {token}"}
            transport = httpx2.ASGITransport(app=client.app)
            async with (
                httpx2.AsyncClient(transport=transport, headers=headers, timeout=30) as http,
                Client(streamable_http_client("http://localhost/mcp", http_client=http), mode=mode) as agent,
            ):
                listed = names_of((await agent.list_tools()).tools)
                stored = await agent.call_tool(
                    "create_memory", {"project_id": "demo", "content": f"It rains on {token}."}
                )
                assert stored.is_error == ("create_memory" not in listed)
                found = await agent.call_tool("search_story_memory", {"project_id": "demo-zh", "query": "钥匙"})
                assert json.loads(text_of(found))["memories"]
                [card] = (await agent.read_resource("novelgen://projects/demo/entities/Ines")).contents
                assert json.loads(card.model_dump()["text"])["entity"]["entity_id"] == "C0"
                return listed

        assert client.portal is not None
        token, read_token = TOKEN.get_secret_value(), READ_TOKEN.get_secret_value()
        refused = client.post("/mcp", json=CALL, headers=HEADERS)
        everything, reading = (client.portal.call(tools_with, each) for each in (token, read_token))
        notes = client.get(
            "/v1/projects/demo/memories?content_types=note&limit=200", headers={"Authorization": f"Bearer {read_token}"}
        ).text
    assert refused.status_code == 401
    assert everything == READING | STORING | {"list_projects"}
    assert reading == READING | {"list_projects"}
    assert (f"It rains on {token}." in notes, read_token in notes) == (True, False)


@pytest.mark.slow
def test_a_server_ends_while_agents_are_at_work(demo_folder: Path) -> None:
    """Clients with calls under way do not keep a server from ending, with exit code 0."""

    async def work(url: str) -> None:
        async with Client(f"{url}/mcp") as client:
            while True:
                await client.call_tool("list_scenes", {"project_id": "demo", "limit": 500})

    async def run() -> int:
        server = ServedProcess(demo_folder)
        working = [asyncio.create_task(work(server.url)) for _ in range(4)]
        try:
            async with Client(f"{server.url}/mcp") as client:
                for _ in range(5):
                    await client.call_tool("list_scenes", {"project_id": "demo"})
        finally:
            code, _ = await asyncio.to_thread(server.end)
            for each in working:
                each.cancel()
            await asyncio.gather(*working, return_exceptions=True)
        return code

    assert asyncio.run(run()) == 0


@pytest.mark.slow
def test_the_gate_stands_before_agents(demo_folder: Path) -> None:
    """Foreign hosts and origins, other methods, long bodies and what is no message are refused."""
    settings = ServerSettings(limits=Limits(body_bytes=10_000))
    with client_of(demo_folder, settings) as client:
        good = client.post("/mcp", json=CALL, headers=HEADERS)
        assert good.status_code == 200, good.text
        assert '"scenes":[' in good.text.replace("\\", "").replace(" ", "")
        refusals = [
            client.post("/mcp", json=CALL, headers={**HEADERS, "Host": "evil.example"}),
            client.post("/mcp", json=CALL, headers={**HEADERS, "Origin": "http://evil.example"}),
            client.get("/mcp", headers=HEADERS),
            client.delete("/mcp", headers=HEADERS),
            client.post("/mcp", content=b"x" * 10_001, headers={**HEADERS, "Content-Type": "application/json"}),
            client.post("/mcp", content=b"{", headers={**HEADERS, "Content-Type": "application/json"}),
            client.post("/mcp", json=CALL, headers={"Accept": "text/html"}),
        ]
    assert [each.status_code for each in refusals] == [421, 403, 405, 405, 413, 400, 406]


@pytest.mark.slow
def test_too_many_agents_are_told_to_wait(demo_folder: Path) -> None:
    """Calls beyond the bounds are refused with when to come again, and do no harm to those at work."""
    limits = Limits(at_once=1, agents_waiting=1)
    with client_of(demo_folder, ServerSettings(limits=limits)) as client:

        async def run() -> list[int]:
            transport = httpx.ASGITransport(app=client.app)
            async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as many:
                answers = await asyncio.gather(*(many.post("/mcp", json=CALL, headers=HEADERS) for _ in range(12)))
            assert all("retry-after" in each.headers for each in answers if each.status_code != 200)
            return [each.status_code for each in answers]

        assert client.portal is not None
        statuses = client.portal.call(run)
    assert set(statuses) == {200, 503}


def test_without_the_sdk_the_server_says_what_to_install(demo_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A server without `novelgen[mcp]` runs, and /mcp names what is missing."""
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    client: TestClient
    with client_of(demo_folder) as client:
        assert client.get("/health").status_code == 200
        answer = client.post("/mcp", json=CALL, headers=HEADERS)
    assert answer.status_code == 404
    assert "novelgen[mcp]" in answer.json()["detail"]


@pytest.fixture
def run(demo_folder: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Run a command in this process over the demos."""
    monkeypatch.setenv("NOVELGEN_PROJECTS_DIR", str(demo_folder))
    return Run()


@pytest.mark.parametrize("project", ["nobody", "../demo", "/etc"])
def test_the_command_refuses_what_is_no_project(run: Run, project: str) -> None:
    """A project that is not there ends the command before anything is served."""
    run.refused("mcp", project, told=project)


def test_without_the_extra_the_command_says_what_to_install(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the SDK is not installed the command names the extra."""
    for name in [each for each in sys.modules if each.startswith(("runtime.doors.mcp", "mcp."))]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "mcp", None)
    run.refused("mcp", "demo", told="pip install 'novelgen[mcp]'")


@pytest.mark.slow
def test_an_agent_that_goes_away_is_no_bug(demo_folder: Path, caplog: pytest.LogCaptureFixture) -> None:
    """Who leaves before the request is whole is not answered, and the log does not call it a failure."""
    sent: list[Any] = []

    async def receive() -> dict[str, Any]:
        return {"type": "http.disconnect"}

    async def send(message: Any) -> None:
        sent.append(message)

    with client_of(demo_folder) as client:
        # Of the protocol without a handshake: for the older one the SDK answers by itself.
        modern = {**HEADERS, "MCP-Protocol-Version": "2026-07-28"}
        headers = {"host": "localhost", "content-type": "application/json", **modern}
        scope = {
            "type": "http",
            "http_version": "1.1",
            "method": "POST",
            "scheme": "http",
            "path": "/mcp",
            "raw_path": b"/mcp",
            "query_string": b"",
            "root_path": "",
            "headers": [(name.lower().encode(), value.encode()) for name, value in headers.items()],
            "client": ("127.0.0.1", 1),
            "server": ("localhost", 80),
        }
        assert client.portal is not None
        client.portal.call(client.app, scope, receive, send)
    assert sent == []
    assert "failed" not in caplog.text
