"""Running the server: socket, timely connections, signals and shutdown."""

import asyncio
import contextlib
import os
import signal
import socket
import threading
from collections.abc import Callable, Iterator
from functools import partial
from types import FrameType
from typing import Any

import uvicorn
from opentelemetry.trace import TracerProvider
from uvicorn.protocols.http.h11_impl import H11Protocol

from novelgen.errors import ConfigurationError
from runtime.doors.http.app import build_app
from runtime.doors.http.app_state import AppState
from runtime.doors.http.settings import ServerSettings, announced
from runtime.doors.http.telemetry import exporting_provider
from runtime.story.projects import ProjectStores

OPEN_REQUESTS_END_S = 1
"""Requests that are open at the end have so long."""

END_AT_LAST_S = 3.0
"""After a signal, whatever is at work: all waits of an end together. To take a program off a machine that is full of
work needs another second, so that the end is within 5 s."""

SPANS_END_MS = 500

MAX_CONNECTIONS = 1_000

HEADERS_S = 10.0
"""Longest time from the opening of a connection, or the answer before, to the end of a request's headers."""

TAKING_S = 30.0
FEWEST_TAKEN_BYTES = 1 << 16
"""Of its answer a client takes so many bytes in so long, or it is not at all there."""

MOST_WAITING = 500
"""So many connections may be at their headers; one more ends that which has been at them longest."""

WaitingConnections = dict["TimelyConnection", None]
"""Connections that are at their headers, the one that began first at the front."""


def serve(stores: ProjectStores, settings: ServerSettings, *, on_listening: Callable[[str], Any]) -> None:
    """Serve until SIGTERM or SIGINT.

    Stored data stays stored.
    """
    spans = exporting_provider()
    with _listening(settings) as listener, _sent(spans):
        port = listener.getsockname()[1]
        host = f"[{settings.host}]" if ":" in settings.host else settings.host
        url = f"http://{host}:{port}"
        with announced(stores.settings.projects_dir, url):
            app = build_app(stores, settings, tracer_provider=spans)
            app.state.novelgen.is_early = True
            config = uvicorn.Config(
                app,
                http=timely_connections(),
                log_config=None,
                access_log=False,
                server_header=False,
                proxy_headers=False,
                ws="none",
                lifespan="on",
                limit_concurrency=MAX_CONNECTIONS,
                timeout_graceful_shutdown=OPEN_REQUESTS_END_S,
            )
            server = _Server(config, app.state.novelgen, on_started=lambda: on_listening(url))
            server.run(sockets=[listener])


@contextlib.contextmanager
def _sent(spans: TracerProvider | None) -> Iterator[None]:
    """Send the remaining spans at the end, within a short time."""
    try:
        yield
    finally:
        if spans is not None:
            spans.force_flush(SPANS_END_MS)  # type: ignore[attr-defined]


class _Server(uvicorn.Server):
    """Server that ends itself on a signal, streams first."""

    def __init__(self, config: uvicorn.Config, app_state: AppState, *, on_started: Callable[[], Any]) -> None:
        super().__init__(config)
        self._app_state = app_state
        self._on_started = on_started

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets=sockets)
        if self.started:
            self._on_started()

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        # Python waits for its threads, and one may be at work for minutes: what it was to store is not half stored.
        last_resort = threading.Timer(END_AT_LAST_S, os._exit, (0,))
        last_resort.daemon = True
        last_resort.start()
        super().handle_exit(sig, frame)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._app_state.jobs.stop()
        await super().shutdown(sockets=sockets)

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Unlike uvicorn's own, it does not raise the signal again, which would end the program untidied."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        before = {kind: signal.signal(kind, self.handle_exit) for kind in (signal.SIGINT, signal.SIGTERM)}
        try:
            yield
        finally:
            for signals, handler in before.items():
                signal.signal(signals, handler)


@contextlib.contextmanager
def _listening(settings: ServerSettings) -> Iterator[socket.socket]:
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    try:
        listener = socket.create_server((settings.host, settings.port), family=family, backlog=256)
    except OSError as error:
        raise ConfigurationError(
            f"cannot listen at {settings.host!r}, port {settings.port}: {error.strerror or error}; take another --port"
        ) from error
    with listener:
        yield listener


class TimelyConnection(H11Protocol):
    """A connection that sends the headers of each of its requests in time, or is closed.

    Who drips a byte now and then would keep a connection for as long as he likes, and a thousand of them the server:
    they come before any token is asked for.
    """

    def __init__(
        self, *args: Any, waiting_connections: WaitingConnections, headers_s: float, taking_s: float, **options: Any
    ) -> None:
        super().__init__(*args, **options)
        self._waiting = waiting_connections
        self._headers_s = headers_s
        self._taking_s = taking_s
        self._deadline: asyncio.TimerHandle | None = None
        self._taking_deadline: asyncio.TimerHandle | None = None

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
        self._stop_taking()
        super().connection_lost(exc)

    def pause_writing(self) -> None:
        """Start waiting for the client to read its answer."""
        super().pause_writing()
        self._await_taking()

    def resume_writing(self) -> None:
        """Go on with the answer."""
        self._stop_taking()
        super().resume_writing()

    def handle_events(self) -> None:
        """Handle protocol events, with whole headers as a request."""
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

    def _await_taking(self) -> None:
        self._stop_taking()
        self._taking_deadline = self.loop.call_later(self._taking_s, self._end_unless_taken, self._untaken_bytes)

    def _end_unless_taken(self, untaken_before: int) -> None:
        if untaken_before - self._untaken_bytes < FEWEST_TAKEN_BYTES:
            self.transport.abort()
        else:
            self._await_taking()

    @property
    def _untaken_bytes(self) -> int:
        return self.transport.get_write_buffer_size()

    def _stop_taking(self) -> None:
        if self._taking_deadline is not None:
            self._taking_deadline.cancel()
            self._taking_deadline = None


def timely_connections(*, headers_s: float = HEADERS_S, taking_s: float = TAKING_S) -> Any:
    """Return the connection class for uvicorn."""
    return partial(TimelyConnection, waiting_connections={}, headers_s=headers_s, taking_s=taking_s)
