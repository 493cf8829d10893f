"""What agents are offered, held against the lists beside this file: nothing comes, goes or is renamed unnoticed."""

import asyncio
import contextlib
import json
import tempfile
from collections.abc import Iterable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from langchain_core.tools import BaseTool
from mcp import Client
from mcp.types import Tool

from runtime.doors.mcp.server import Shelf, build_mcp_server
from runtime.doors.tools import ToolSet
from runtime.stores import MemoryStores
from runtime.story.story import Story
from tests.regenerate import HOW
from tests.runtime.doors.http.serving import project_stores
from tests.support.demo_project import copy_shipped_demos, ingest_demo, settings_for

FOLDER = Path(__file__).with_name("offered")
HINTS = ("read_only_hint", "destructive_hint", "idempotent_hint", "open_world_hint")


def over_mcp(projects_dir: Path, tool_set: ToolSet = "story") -> list[str]:
    """Return the tools over MCP: name, arguments (`!`: needed) and the hints that are set."""

    async def listed() -> list[Tool]:
        with contextlib.closing(project_stores(projects_dir)) as stores:
            async with Client(build_mcp_server(Shelf(stores), tool_set=tool_set)) as client:
                return (await client.list_tools()).tools

    lines = []
    for tool in asyncio.run(listed()):
        hints = [name.removesuffix("_hint") for name in HINTS if getattr(tool.annotations, name, False)]
        lines.append(f"{tool.name}({_arguments(tool.input_schema)}) {' '.join(hints)}".strip())
    return lines


def in_langchain(projects_dir: Path) -> list[str]:
    """Return the LangChain tools of a story and of a character, each with who is given it."""
    with MemoryStores(settings_for(projects_dir)) as stores:
        story = Story(stores, "demo")
        return [
            *_tools("planner", story.as_tools()),
            *_tools("editor", story.as_tools(kind="editor")),
            *_tools("attachments", story.as_tools(kind="attachments")),
            *_tools("character", story.character("Ines").as_tools()),
        ]


def _tools(who: str, tools: Iterable[BaseTool]) -> list[str]:
    return [f"{who}: {tool.name}({_arguments(dict(tool.tool_call_schema))})" for tool in tools]


def _arguments(schema: dict[str, Any]) -> str:
    needed = schema.get("required", [])
    return ", ".join(name + ("!" if name in needed else "") for name in schema.get("properties", {}))


DOORS = {"mcp": over_mcp, "mcp_game": partial(over_mcp, tool_set="game"), "langchain": in_langchain}


@pytest.mark.parametrize("door", DOORS)
def test_the_offer_is_the_list(demo_folder: Path, door: str) -> None:
    """Each door offers what its list says, with these arguments."""
    assert sorted(DOORS[door](demo_folder)) == json.loads((FOLDER / f"{door}.json").read_text(encoding="utf-8")), HOW


def write() -> None:
    """Write the lists anew."""
    with tempfile.TemporaryDirectory() as folder:
        copy_shipped_demos(Path(folder))
        with MemoryStores(settings_for(Path(folder))) as stores:
            ingest_demo(stores, "demo")
        for door, listed in DOORS.items():
            text = json.dumps(sorted(listed(Path(folder))), indent=1, ensure_ascii=False)
            (FOLDER / f"{door}.json").write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    write()
