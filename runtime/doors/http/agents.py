"""The door for agents: MCP over streamable HTTP, behind the same gate as every route."""

from __future__ import annotations

import asyncio
import contextlib
import importlib
import importlib.util
from collections.abc import AsyncIterator
from typing import Any

from starlette.requests import ClientDisconnect
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from runtime.doors.http.gate import AGENTS_PATH
from runtime.doors.http.house import House
from runtime.doors.http.problems import Refusal

ENDING_S = 0.5
"""Longest wait at the end for calls that are open."""


class AgentDoor:
    """Answers MCP requests over the stories of a house: those with a reading token are offered nothing that writes.

    A request stands by itself, without a session, so that a restart of the server breaks no client.
    """

    def __init__(self, house: House) -> None:
        self._house = house
        self._managers: dict[str, Any] = {}
        self.route = Route(AGENTS_PATH, endpoint=self, methods=["POST"], name="mcp")

    @contextlib.asynccontextmanager
    async def opened(self) -> AsyncIterator[None]:
        """Be open; without the SDK it only tells what to install."""
        if importlib.util.find_spec("mcp") is None:
            yield
            return
        is_open, ends = asyncio.Event(), asyncio.Event()
        serving = asyncio.create_task(self._serve(is_open, ends))
        opening = asyncio.create_task(is_open.wait())
        await asyncio.wait({serving, opening}, return_when=asyncio.FIRST_COMPLETED)
        opening.cancel()
        if serving.done():
            serving.result()
        try:
            yield
        finally:
            ends.set()
            # A call in a thread cannot be stopped; it ends when the stores close.
            await asyncio.wait({serving}, timeout=ENDING_S)
            self._managers.clear()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        scope["route"] = self.route
        manager = self._managers.get(scope.get("access", "read"))
        if manager is None:
            raise Refusal(
                404, "unknown-route", "this server has no MCP; run pip install 'novelgen[mcp]' and start it again"
            )
        try:
            await manager.handle_request(scope, receive, send)
        except ClientDisconnect:
            # Agents go away in the middle of a request; nobody is left to be answered.
            return

    async def _serve(self, is_open: asyncio.Event, ends: asyncio.Event) -> None:
        house = self._house
        # Late, as `novelgen[server]` does not bring the SDK.
        server = importlib.import_module("runtime.doors.mcp.server")
        async with contextlib.AsyncExitStack() as stack:
            for access in ("all", "read"):
                manager = server.build_session_manager(
                    house.stores,
                    is_read_only=access == "read",
                    chat_model=house.chat_model,
                    body_bytes=house.settings.limits.body_bytes,
                )
                await stack.enter_async_context(manager.run())
                self._managers[access] = manager
            is_open.set()
            await ends.wait()
