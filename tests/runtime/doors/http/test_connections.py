"""Connections that do not say what they want: they end, and keep nobody else out."""

import contextlib
import socket
import threading
from collections.abc import Iterator

import httpx
import uvicorn
from starlette.responses import PlainTextResponse
from starlette.types import Receive, Scope, Send

from runtime.doors.http.serving import MOST_WAITING, timely_connections

PART = b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: a"


LARGE = 64 * 2**20

large_answers_ended = threading.Semaphore(0)


async def _answer(scope: Scope, receive: Receive, send: Send) -> None:
    if scope["path"] == "/large":
        try:
            await PlainTextResponse(b"." * LARGE)(scope, receive, send)
        finally:
            large_answers_ended.release()
    else:
        await PlainTextResponse("here")(scope, receive, send)


class _Server(uvicorn.Server):
    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.is_up = threading.Event()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets=sockets)
        self.is_up.set()


@contextlib.contextmanager
def served(*, headers_s: float, taking_s: float = 600) -> Iterator[tuple[str, int]]:
    """A server whose headers must come, and whose answers be taken, within so long."""
    with socket.create_server(("127.0.0.1", 0), backlog=2_000) as listener:
        connections = timely_connections(headers_s=headers_s, taking_s=taking_s)
        config = uvicorn.Config(_answer, http=connections, log_config=None, lifespan="off")
        server = _Server(config)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
        thread.start()
        assert server.is_up.wait(60)
        try:
            yield listener.getsockname()
        finally:
            server.should_exit = True
            thread.join()


def _ended(connection: socket.socket) -> bool:
    """Wait until the other side ends."""
    try:
        return connection.recv(1) == b""
    except ConnectionResetError:
        return True


def test_headers_that_never_end_end_the_connection() -> None:
    """A connection whose headers are not whole in time is closed, the first request of it and the next ones."""
    with served(headers_s=0.2) as address:
        for before in (b"", b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"):
            with socket.create_connection(address, timeout=60) as connection:
                if before:
                    connection.sendall(before)
                    assert connection.recv(9) == b"HTTP/1.1 "
                    while not connection.recv(4096).endswith(b"here"):
                        pass
                connection.sendall(PART)
                assert _ended(connection)


def test_a_body_that_nobody_reads_ends_with_its_answer() -> None:
    """Who goes on dripping a body after the answer has come is not served for ever."""
    with served(headers_s=0.2) as address, socket.create_connection(address, timeout=60) as connection:
        connection.sendall(b"POST / HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 1000\r\n\r\na")
        with contextlib.suppress(OSError):
            while True:
                connection.sendall(b"a")


def test_dripping_connections_keep_nobody_out() -> None:
    """However many connections drip, one that asks is answered; those that drip longest make room."""
    with served(headers_s=600) as address, contextlib.ExitStack() as opened:
        slow = [opened.enter_context(socket.create_connection(address, timeout=60)) for _ in range(MOST_WAITING + 20)]
        for each in slow:
            with contextlib.suppress(OSError):
                each.sendall(PART)
        assert httpx.get(f"http://{address[0]}:{address[1]}/", timeout=60).text == "here"
        assert all(_ended(each) for each in slow[:20])


def test_an_answer_that_nobody_takes_ends_with_its_connection() -> None:
    """The request is at work no longer; who takes the answer gets all of it."""
    with served(headers_s=600, taking_s=1) as address:
        with socket.create_connection(address, timeout=60) as connection:
            connection.sendall(b"GET /large HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
            assert large_answers_ended.acquire(timeout=60)
        assert len(httpx.get(f"http://{address[0]}:{address[1]}/large", timeout=60).content) == LARGE
