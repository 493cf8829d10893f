"""What agents are offered: each tool once, with its name over MCP and in LangChain, and what an answer tells of it."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from novelgen.context.difference_block import difference_lines
from runtime.doors.operations import BY_NAME
from runtime.doors.tools import Tool

_BLOCKS: dict[str, Callable[[Any], str]] = {
    "build_context": lambda context: context.as_prompt(),
    "list_changes": lambda difference: "\n".join(difference_lines(difference)),
    "extract_scenes": lambda report: "" if report.changes is None else "\n".join(difference_lines(report.changes)),
    "recall_memories": lambda recall: recall.as_prompt(),
}
"""What makes of a result the text that stands for it."""


def _tools() -> tuple[Tool, ...]:
    offered = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
    parts = offered.pop("parts")
    return tuple(_tool(name, told, parts) for name, told in offered.items())


def _tool(name: str, told: dict[str, Any], parts: Mapping[str, str]) -> Tool:
    whole = {
        each: re.sub(r"\$(\w+)", lambda found: parts[found[1]], told.get(each, "")) for each in ("hint", "include")
    }
    told["hint"] = " ".join(whole["hint"].split())
    if "include" in told:
        told["include"] = _included(iter(re.findall(r"[\w*]+|\[\d\]|[()]", whole["include"])))
    for each in told.keys() & {"without", "needs"}:
        told[each] = tuple(told[each])
    return Tool(operation=BY_NAME[name], block=_BLOCKS.get(name), **told)


def _included(words: Iterator[str]) -> dict[Any, Any]:
    """Return what pydantic includes, of words up to the bracket that closes: `a*(b)` is each `b` of a list `a`."""
    included: dict[Any, Any] = {}
    name, first = "", 0
    for word in words:
        if word == ")":
            break
        if word == "(":
            part = _included(words)
            within = dict.fromkeys(range(first), part) if first else {"__all__": part}
            included[name.removesuffix("*")] = within if first or name.endswith("*") else part
            first = 0
        elif word.startswith("["):
            first = int(word.strip("[]"))
        else:
            name = word
            included[name.removesuffix("*")] = True
    return included


TOOLS = _tools()
"""In the order in which they are listed."""

MCP_TOOLS = tuple(each for each in TOOLS if each.mcp)

MCP_NAMES = {each.operation.name: each.mcp for each in MCP_TOOLS} | {"list_projects": "list_projects"}

LANGCHAIN_NAMES = {
    "list_entities": "memory_search",
    "list_scenes": "memory_search",
    "list_projects": "the program",
    "ingest_scene": "it is finished",
    "extract_scenes": "ingest",
    "get_entity": "memory_search",
} | {each.operation.name: each.langchain for each in TOOLS if each.langchain}
"""What a LangChain tool calls another; what has none there is called by what does its work."""
