"""The tools in an agent of LangChain, by langchain-mcp-adapters, which speak an older version of the protocol."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.runtime.doors.mcp.agents import READING, ROOT, STORING, running_server
from tests.support.served_process import FAKE_EMBEDDINGS

ADAPTERS_VARIABLE = "NOVELGEN_TEST_MCP_ADAPTERS"
"""Folder with what `.ci/mcp-adapters.txt` names, which cannot stand beside the SDK that novelgen needs."""

PROGRAM = Path(__file__).with_name("adapters_client.py")


@pytest.fixture
def adapters() -> str:
    """The folder of the adapters; skips where there is none."""
    folder = os.environ.get(ADAPTERS_VARIABLE, "")
    if not folder:
        pytest.skip(f"{ADAPTERS_VARIABLE} names no folder with langchain-mcp-adapters")
    return folder


def look(adapters: str, connection: dict[str, Any], project_id: str) -> dict[str, Any]:
    """Return what an agent of LangChain got."""
    done = subprocess.run(
        [sys.executable, "-P", str(PROGRAM), json.dumps(connection), project_id],
        env={**os.environ, "PYTHONPATH": str(Path(adapters).absolute())},
        capture_output=True,
        text=True,
        timeout=150,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def assert_is_whole(found: dict[str, Any]) -> None:
    """Check what an agent needs: text to read, structured answers, errors as data, hints, resources and prompts."""
    assert set(found["reads"]) >= READING
    assert "Ines Marrow" in found["context"]["text"]
    assert found["context"]["structured"]["block"] in found["context"]["text"] + "\n"
    [memory] = found["search"]["structured"]["memories"]
    assert memory["source_id"] in found["search"]["text"]
    assert found["note"]["status"] == "success"
    assert found["wrong"]["status"] == "error"
    assert "search_story_memory" in found["wrong"]["text"]
    assert json.loads(found["card"])["entity"]["entity_id"] == "C0"
    assert "Ines hides the key" in found["prompt"]


def test_an_agent_over_http(adapters: str, demo_folder: Path) -> None:
    """Over HTTP the agent names the story in each call."""
    with running_server(demo_folder) as url:
        found = look(adapters, {"transport": "streamable_http", "url": f"{url}/mcp"}, "demo")
    assert set(found["tools"]) == READING | STORING | {"list_projects"}
    assert_is_whole(found)


def test_an_agent_over_stdio(adapters: str, demo_folder: Path) -> None:
    """Over stdio the command has fixed the story."""
    connection = {
        "transport": "stdio",
        "command": sys.executable,
        "args": ["-m", "novelgen", "--projects-dir", str(demo_folder), "mcp", "demo"],
        "env": {"PATH": os.environ["PATH"], **FAKE_EMBEDDINGS},
        "cwd": str(ROOT),
    }
    found = look(adapters, connection, "")
    assert set(found["tools"]) == READING | STORING
    assert_is_whole(found)
