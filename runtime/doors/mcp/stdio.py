"""The server over the standard streams of a process, as editors and desktops start it."""

from __future__ import annotations

from langchain_core.language_models import BaseChatModel

from runtime.doors.mcp.server import build_mcp_server
from runtime.doors.mcp.shelf import Shelf
from runtime.story.project_stores import ProjectStores


def serve_stdio(
    stores: ProjectStores,
    *,
    project_id: str | None = None,
    is_read_only: bool = False,
    chat_model: BaseChatModel | None = None,
) -> None:
    """Serve until the client closes the standard input; nothing but messages goes to the standard output."""
    try:
        shelf = Shelf(stores, project_id=project_id, chat_model=chat_model)
        if project_id is not None:
            shelf.story()
        build_mcp_server(shelf, is_read_only=is_read_only).run("stdio")
    finally:
        stores.close()
