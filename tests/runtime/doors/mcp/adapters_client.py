"""What an agent of LangChain does with the tools, in a process that has langchain-mcp-adapters: run as a program.

Its arguments are connections of the adapters as JSON and the id of a story (empty: the tools know it); it prints what
it got as JSON.
"""

import asyncio
import json
import sys
from typing import Any

from langchain_core.tools import BaseTool
from langchain_mcp_adapters.client import MultiServerMCPClient
from langchain_mcp_adapters.prompts import load_mcp_prompt
from langchain_mcp_adapters.resources import load_mcp_resources
from langchain_mcp_adapters.tools import load_mcp_tools


async def look(connection: dict[str, Any], project_id: str) -> dict[str, Any]:
    """Return what the tools, a resource and a prompt of a server give."""
    client = MultiServerMCPClient({"story": connection})
    async with client.session("story") as session:
        return await look_in(session, {"project_id": project_id} if project_id else {})


async def look_in(session: Any, here: dict[str, str]) -> dict[str, Any]:
    """Return the same of a session."""
    tools: dict[str, BaseTool] = {each.name: each for each in await load_mcp_tools(session)}

    async def call(name: str, **arguments: Any) -> Any:
        given = {"type": "tool_call", "id": "1", "name": name, "args": {**here, **arguments}}
        message = await tools[name].ainvoke(given)
        structured = (message.artifact or {}).get("structured_content")
        return {"status": message.status, "text": message.text, "structured": structured}

    plan = {"location": "the Three Herons", "characters": ["Ines", "Sparrow"], "purpose": "Ines hides the key"}
    [card] = await load_mcp_resources(session, uris="novelgen://projects/demo/entities/Ines")
    given = {**here, "chapter_index": "3", "scene_index": "1", "purpose": "Ines hides the key"}
    [prompt] = await load_mcp_prompt(session, "write_next_scene", arguments=given)
    return {
        "tools": sorted(tools),
        "reads": sorted(name for name, each in tools.items() if (each.metadata or {}).get("readOnlyHint")),
        "context": await call("build_scene_context", chapter_index=3, scene_index=1, scene_plan=plan),
        "search": await call("search_story_memory", query="the heron key", top_k=1),
        "note": await call("create_memory", content="Sparrow is afraid of geese."),
        "wrong": await call("who_knows", memory_id="M99999"),
        "card": card.as_string(),
        "prompt": prompt.text,
    }


if __name__ == "__main__":
    print(json.dumps(asyncio.run(look(json.loads(sys.argv[1]), sys.argv[2]))))
