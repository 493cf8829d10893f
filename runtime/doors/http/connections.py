"""Connections that have not said yet what they want: how long that may take, and how many of them there may be."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol

HEADERS_S = 10.0
"""Longest time from the opening of a connection, or the answer before, to the end of a request's headers."""

MOST_WAITING = 500
"""So many connections may be at their headers; one more ends that which has been at them longest."""

Waiting = dict["TimelyConnection", None]
"""Connections that are at their headers, the one that began first at the front."""


class TimelyConnection(H11Protocol):
    """A connection that sends the headers of each of its requests in time, or is closed.

    Who drips a byte now and then would keep a connection for as long as he likes, and a thousand of them the server:
    they come before any token is asked for.
    """

    def __init__(self, *args: Any, waiting: Waiting, headers_s: float, **options: Any) -> None:
        super().__init__(*args, **options)
        self._waiting = waiting
        self._headers_s = headers_s
        self._deadline: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin to wait for headers, and make room for it."""
        super().connection_made(transport)
        self._await_headers()
        while len(self._waiting) > MOST_WAITING:
            longest = next(iter(self._waiting))
            longest._stop_waiting()
            longest.transport.abort()

    def connection_lost(self, exc: Exception | None) -> None:
        """Wait no more."""
        self._stop_waiting()
        super().connection_lost(exc)

    def handle_events(self) -> None:
        """Take in what came; whole headers are a request."""
        super().handle_events()
        if self._is_at_work:
            self._stop_waiting()

    def on_response_complete(self) -> None:
        """Begin to wait for the next headers, also while a body comes that nobody reads any more."""
        super().on_response_complete()
        if not self._is_at_work and not self.transport.is_closing():
            self._await_headers()

    @property
    def _is_at_work(self) -> bool:
        return self.cycle is not None and not self.cycle.response_complete

    def _await_headers(self) -> None:
        self._stop_waiting()
        self._waiting[self] = None
        self._deadline = self.loop.call_later(self._headers_s, self.transport.abort)

    def _stop_waiting(self) -> None:
        self._waiting.pop(self, None)
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None


def timely_connections(*, headers_s: float = HEADERS_S) -> Any:
    """Return what uvicorn makes the connections of one server with."""
    return partial(TimelyConnection, waiting={}, headers_s=headers_s)
