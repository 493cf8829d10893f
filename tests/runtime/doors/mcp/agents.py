"""Clients of the SDK over the demo projects, in process and over both transports."""

import asyncio
import contextlib
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, TypeVar

from langchain_core.language_models import BaseChatModel
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.types import CallToolResult, TextContent

from runtime.doors.mcp.server import Shelf, build_mcp_server
from runtime.doors.tools import MCP_TOOLS, ToolSet
from tests.runtime.doors.http.serving import project_stores
from tests.support.served_process import FAKE_EMBEDDINGS, ServedProcess

ROOT = Path(__file__).parents[4]
Result = TypeVar("Result")

READING = {each.mcp for each in MCP_TOOLS if each.reads and "story" in each.tool_sets}
STORING = {each.mcp for each in MCP_TOOLS if "story" in each.tool_sets} - READING


def asked(
    projects_dir: Path,
    ask: Callable[[Client], Awaitable[Result]],
    *,
    project_id: str | None = "demo",
    tool_set: ToolSet = "story",
    is_read_only: bool = False,
    chat_model: BaseChatModel | None = None,
) -> Result:
    """Return what a client gets of a server in this process; without a project its calls name one."""

    async def run() -> Result:
        with contextlib.closing(project_stores(projects_dir)) as stores:
            shelf = Shelf(stores, project_id=project_id, chat_model=chat_model)
            async with Client(build_mcp_server(shelf, tool_set=tool_set, is_read_only=is_read_only)) as client:
                return await ask(client)

    return asyncio.run(run())


@contextlib.asynccontextmanager
async def over_stdio(
    projects_dir: Path, *arguments: str, log: Any = sys.stderr, mode: str = "auto"
) -> AsyncIterator[Client]:
    """A client of `novelgen mcp` in a process of its own."""
    server = StdioServerParameters(
        command=sys.executable,
        args=["-m", "novelgen", "--projects-dir", str(projects_dir), "mcp", *arguments],
        cwd=ROOT,
        env=FAKE_EMBEDDINGS,
    )
    async with Client(stdio_client(server, errlog=log), mode=mode) as client:
        yield client


@contextlib.contextmanager
def running_server(projects_dir: Path, **variables: str) -> Iterator[str]:
    """The address of a `novelgen serve` in a process of its own."""
    process = ServedProcess(projects_dir, FAKE_EMBEDDINGS | variables)
    try:
        yield process.url
    finally:
        process.end()


def text_of(result: CallToolResult) -> str:
    """Return the one text of an answer."""
    [content] = result.content
    assert isinstance(content, TextContent)
    return content.text


def names_of(items: Sequence[Any]) -> set[str]:
    """Return the names of tools, prompts or resources."""
    return {each.name for each in items}
