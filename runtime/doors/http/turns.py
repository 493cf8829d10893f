"""Whose turn it is: bounds on the requests at work and waiting, and on the time of each, as ASGI middleware."""

from __future__ import annotations

import asyncio
import contextlib
import re
from collections.abc import AsyncIterator

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from runtime.doors.http.gate import AGENTS_PATH, METRICS_PATH, OPEN_PATHS, UPLOAD_PATHS
from runtime.doors.http.problems import Refusal, problem_answer
from runtime.doors.http.settings import Limits

_REPLY = re.compile(r"/v1/projects/[^/]+/characters/[^/]+/reply")
_AT_ONCE = OPEN_PATHS | {METRICS_PATH}
"""Who watches over a server must see it when it is full, too."""

_READS_BOOKS = re.compile(r"/page/imports/[^/]+")
"""A preview parses what was uploaded, which may take a minute: it must not take the turns of what is quick."""

_EVENTS = re.compile(r"/v1/jobs/[^/]+/events")


class Lane:
    """Lets so many requests work at once, and so many wait for so long."""

    def __init__(self, *, at_once: int, waiting: int, waiting_s: float) -> None:
        self._turns = asyncio.Semaphore(at_once)
        self._room = waiting
        self._waiting_s = waiting_s
        self._at_once = at_once
        self.waiting = 0

    async def take(self) -> None:
        """Wait for a turn; `give_back` ends it."""
        if self._turns.locked() and self.waiting >= self._room:
            raise Refusal(
                503, "busy", f"{self._at_once} requests are at work and {self._room} wait for a turn; try later"
            )
        self.waiting += 1
        try:
            # `wait_for` asks in a task of its own before Python 3.12, and who comes meanwhile would not see it.
            async with asyncio.timeout(self._waiting_s):
                await self._turns.acquire()
        except TimeoutError as error:
            raise Refusal(503, "busy", f"no turn came within {self._waiting_s:g} s; try later") from error
        finally:
            self.waiting -= 1

    def give_back(self) -> None:
        """End a turn."""
        self._turns.release()


class Turns:
    """Gives requests their turns, and an answer to each in its time.

    A request that is out of time is answered, and keeps its turn until its work has really ended: a thread cannot be
    stopped, and work that nobody counts would pile up.
    """

    def __init__(self, app: ASGIApp, *, limits: Limits) -> None:
        self._app = app
        self._limits = limits
        self._work = Lane(at_once=limits.at_once, waiting=limits.waiting, waiting_s=limits.waiting_s)
        self._talk = Lane(at_once=limits.replies_at_once, waiting=0, waiting_s=limits.waiting_s)
        self._agents = Lane(at_once=limits.agents_at_once, waiting=limits.agents_at_once, waiting_s=limits.waiting_s)
        self._uploads = Lane(at_once=limits.uploads_at_once, waiting=limits.uploads_at_once, waiting_s=limits.waiting_s)
        self._late: set[asyncio.Task[None]] = set()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http" or scope["path"] in _AT_ONCE or _EVENTS.fullmatch(scope["path"]):
            await self._app(scope, receive, send)
        elif scope["path"] == AGENTS_PATH:
            # What a tool does has bounds of its own; its answer may be a stream.
            async with _turn(self._agents):
                await self._app(scope, _body_within(receive, self._limits.body_s), send)
        elif _REPLY.fullmatch(scope["path"]):
            async with _turn(self._talk):
                await self._app(scope, receive, send)
        elif _READS_BOOKS.fullmatch(scope["path"]) and scope["method"] in ("GET", "HEAD"):
            await self._in_time(self._uploads, self._limits.body_s, scope, receive, send)
        elif UPLOAD_PATHS.fullmatch(scope["path"]):
            await self._in_time(self._uploads, self._limits.request_s, scope, receive, send)
        else:
            await self._in_time(self._work, self._limits.body_s, scope, receive, send)

    async def _in_time(self, lane: Lane, body_s: float, scope: Scope, receive: Receive, send: Send) -> None:
        await lane.take()
        outgoing = _Outgoing(send)
        incoming = _body_within(receive, body_s)
        task = asyncio.ensure_future(self._app(scope, incoming, outgoing))
        task.add_done_callback(lambda _: lane.give_back())
        try:
            done, _ = await asyncio.wait({task}, timeout=self._limits.request_s)
        except asyncio.CancelledError:
            task.cancel()
            raise
        if done:
            task.result()
            return
        self._late.add(task)
        task.add_done_callback(self._ended_late)
        if not outgoing.is_begun:
            outgoing.is_closed = True
            late = Refusal(
                504, "out-of-time", f"not done within {self._limits.request_s:g} s; what it stores may still be stored"
            )
            await problem_answer(late.problem, request_id=scope.get("request_id", ""))(scope, receive, send)

    def _ended_late(self, task: asyncio.Task[None]) -> None:
        self._late.discard(task)
        if not task.cancelled():
            # Nobody waits for its outcome any more; asking for it keeps asyncio from complaining.
            task.exception()


class _Outgoing:
    """Sends an answer unless another was given in its place."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self.is_begun = False
        self.is_closed = False

    async def __call__(self, message: Message) -> None:
        if self.is_closed:
            return
        self.is_begun = True
        await self._send(message)


def _body_within(receive: Receive, body_s: float) -> Receive:
    """Receive a body in bounded time: who sends a byte now and then must not keep a turn."""
    ends = asyncio.get_running_loop().time() + body_s
    is_whole = False

    async def receive_in_time() -> Message:
        nonlocal is_whole
        if is_whole:
            return await receive()
        try:
            async with asyncio.timeout_at(ends):
                message = await receive()
        except TimeoutError as error:
            raise Refusal(408, "slow-body", f"the body was not there within {body_s:g} s; send it again") from error
        is_whole = not message.get("more_body", False)
        return message

    return receive_in_time


@contextlib.asynccontextmanager
async def _turn(lane: Lane) -> AsyncIterator[None]:
    await lane.take()
    try:
        yield
    finally:
        lane.give_back()
