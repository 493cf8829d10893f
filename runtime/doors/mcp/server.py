"""The MCP server: tools, resources and prompts over the stories of a shelf, by standard streams or HTTP."""

from __future__ import annotations

from typing import Any

from langchain_core.language_models import BaseChatModel
from mcp.server.mcpserver import MCPServer
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.server.transport_security import TransportSecuritySettings

from novelgen import __version__
from runtime.doors.mcp.prompts import add_prompts
from runtime.doors.mcp.resources import add_resources
from runtime.doors.mcp.tools import Shelf, build_tools
from runtime.story.projects import ProjectStores

_INSTRUCTIONS = (
    "The memory of long fiction: what a story has established, as of any scene. Places are written chapter:scene, such"
    " as 3:2; what is read as_of a place lies strictly before it. Ask in the story's language.\n"
    "Before you write a scene: build_scene_context with its plan; look up with search_story_memory, get_entity_state or"
    " get_character_knowledge what it does not say. After you wrote it: check_draft.\n"
)
_STORING = (
    "When the author has approved a scene: ingest_scene, then extract_scene. add_note keeps what the author decided and"
    " no scene tells.\n"
)
_READING = "You may read alone: nothing can be stored here.\n"
_MANY = "There are several stories: list_projects tells their ids, and every tool takes one as `project`.\n"


def build_mcp_server(shelf: Shelf, *, is_read_only: bool = False) -> MCPServer[Any]:
    """Build the server."""
    which = _MANY if shelf.project_id is None else f"The story is {shelf.project_id!r}.\n"
    server: MCPServer[Any] = MCPServer(
        "novelgen",
        title="novelgen",
        description="A story memory for long fiction.",
        instructions=_INSTRUCTIONS + (_READING if is_read_only else _STORING) + which,
        version=__version__,
        tools=build_tools(shelf, is_read_only=is_read_only),
        log_level="WARNING",
    )
    add_resources(server, shelf)
    add_prompts(server, shelf)
    return server


def serve_stdio(stores: ProjectStores, *, project_id: str | None = None, is_read_only: bool = False) -> None:
    """Serve until the client closes the standard input; nothing but messages goes to the standard output."""
    try:
        shelf = Shelf(stores, project_id=project_id)
        if project_id is not None:
            shelf.story()
        build_mcp_server(shelf, is_read_only=is_read_only).run("stdio")
    finally:
        stores.close()


def build_session_manager(
    stores: ProjectStores, *, is_read_only: bool, chat_model: BaseChatModel | None = None, body_bytes: int
) -> StreamableHTTPSessionManager:
    """Build what answers requests while its `run()` is entered; it checks neither hosts nor tokens."""
    server = build_mcp_server(Shelf(stores, chat_model=chat_model), is_read_only=is_read_only)
    server.streamable_http_app(
        stateless_http=True,
        max_request_body_size=body_bytes,
        transport_security=TransportSecuritySettings(enable_dns_rebinding_protection=False),
    )
    return server.session_manager
