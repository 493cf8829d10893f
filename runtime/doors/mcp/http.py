"""The server over streamable HTTP, to be mounted where somebody watches over who comes in."""

from __future__ import annotations

from langchain_core.language_models import BaseChatModel
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.server.transport_security import TransportSecuritySettings

from runtime.doors.mcp.server import build_mcp_server
from runtime.doors.mcp.shelf import Shelf
from runtime.story.project_stores import ProjectStores


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
