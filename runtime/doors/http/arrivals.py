"""Bodies that arrive: bounded in length and time, and whole before their request takes a turn."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager

from starlette.datastructures import Headers
from starlette.types import Message, Receive

from runtime.doors.http.problems import Refusal


def bounded_body(receive: Receive, headers: Headers, *, most_bytes: int, within_s: float) -> Receive:
    """Return a receiver of a body of bounded length in bounded time.

    Raises:
        Refusal: When the headers tell of a longer body; the receiver raises it for one that is longer or late.
    """
    length = headers.get("content-length", "")
    too_large = Refusal(413, "too-large", f"the body is longer than {most_bytes:,} bytes; send less at once")
    if length.isdecimal() and int(length[:20]) > most_bytes:
        raise too_large
    ends = asyncio.get_running_loop().time() + within_s
    count, is_whole = 0, False

    async def receive_bounded() -> Message:
        nonlocal count, is_whole
        if is_whole:
            return await receive()
        try:
            async with asyncio.timeout_at(ends):
                message = await receive()
        except TimeoutError as error:
            raise Refusal(408, "slow-body", f"the body was not there within {within_s:g} s; send it again") from error
        count += len(message.get("body", b""))
        if count > most_bytes:
            raise too_large
        is_whole = not message.get("more_body", False)
        return message

    return receive_bounded


class Arrivals:
    """Receives bodies, dropping the oldest arrival of a caller's rights when full.

    Args:
        limits: How many may come at once, and how many bytes of them are kept.
    """

    def __init__(self, *, at_once: int, most_bytes: int) -> None:
        self._at_once = at_once
        self._most_bytes = most_bytes
        self._bytes_by_arrival: dict[asyncio.Timeout, int] = {}

    async def whole_body(self, receive: Receive) -> Receive:
        """Receive a body to its end, and return a receiver that gives it at once.

        Raises:
            Refusal: When others need its room before it is whole.
        """
        messages: list[Message] = []
        try:
            async with asyncio.timeout(None) as arrival:
                with self._room(arrival):
                    while not messages or messages[-1].get("more_body", False):
                        messages.append(await receive())
                        self._bytes_by_arrival[arrival] += len(messages[-1].get("body", b""))
                        self._make_room()
        except TimeoutError as error:
            raise Refusal(
                503, "busy", "more bodies came at once than there is room for, and this one was slow; send it again"
            ) from error

        async def receive_again() -> Message:
            return messages.pop(0) if messages else await receive()

        return receive_again

    @contextmanager
    def _room(self, arrival: asyncio.Timeout) -> Iterator[None]:
        self._bytes_by_arrival[arrival] = 0
        self._make_room()
        try:
            yield
        finally:
            self._bytes_by_arrival.pop(arrival, None)

    def _make_room(self) -> None:
        kept_counts = self._bytes_by_arrival
        while len(kept_counts) > self._at_once or sum(kept_counts.values()) > self._most_bytes:
            longest = next(iter(kept_counts))
            del kept_counts[longest]
            longest.reschedule(0)
