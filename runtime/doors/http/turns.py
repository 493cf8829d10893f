"""Request lanes, and the connection shares of owners and readers."""

import asyncio
import re
from dataclasses import dataclass
from typing import Self

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from runtime.doors.http.arrivals import Arrivals, bounded_body
from runtime.doors.http.gate import AGENTS_PATH, METRICS_PATH, OPEN_PATHS, UPLOAD_PATHS, Access
from runtime.doors.http.problems import Refusal
from runtime.doors.http.settings import Limits

_REPLY = re.compile(r"/v1/projects/[^/]+/characters/[^/]+/reply")
_AT_ONCE = OPEN_PATHS | {METRICS_PATH}
"""Who watches over a server must see it when it is full, too."""

_READS_BOOKS = re.compile(r"/page/imports/[^/]+")
"""A preview parses what was uploaded, which may take a minute: it must not take the turns of what is quick."""

_LOOKS = ("/page/", "/v1/jobs/")
"""Below these whatever is asked has the turns of those that look."""

_EVENTS = re.compile(r"/v1/jobs/[^/]+/events")


class ConcurrencyLimiter:
    """Lets so many requests work at once, and so many wait for so long."""

    def __init__(self, at_once: int, max_waiting: int, waiting_s: float) -> None:
        self._turns = asyncio.Semaphore(at_once)
        self._room = max_waiting
        self._waiting_s = waiting_s
        self._at_once = at_once
        self._waiting = 0

    async def take(self) -> None:
        """Wait for a turn.

        `give_back` ends it.
        """
        if self._turns.locked() and self._waiting >= self._room:
            raise Refusal(
                503, "busy", f"{self._at_once} requests are at work and {self._room} wait for a turn; try later"
            )
        self._waiting += 1
        try:
            # `wait_for` asks in a task of its own before Python 3.12, and who comes meanwhile would not see it.
            async with asyncio.timeout(self._waiting_s):
                await self._turns.acquire()
        except TimeoutError as error:
            raise Refusal(503, "busy", f"no turn came within {self._waiting_s:g} s; try later") from error
        finally:
            self._waiting -= 1

    def give_back(self) -> None:
        """End a turn."""
        self._turns.release()


@dataclass(frozen=True, slots=True)
class Share:
    """The lanes and arriving bodies of callers of the same rights."""

    work: ConcurrencyLimiter
    looks: ConcurrencyLimiter
    talk: ConcurrencyLimiter
    agents: ConcurrencyLimiter
    uploads: ConcurrencyLimiter
    events: ConcurrencyLimiter
    arrivals: Arrivals

    @classmethod
    def of(cls, limits: Limits, *, part: int = 1) -> Self:
        """Return the share of limits, or a part of it.

        Args:
            limits: The bounds of a whole share.
            part: 2 for a half of each, rounded up, and so on.
        """

        def lane(at_once: int, max_waiting: int) -> ConcurrencyLimiter:
            return ConcurrencyLimiter(-(-at_once // part), -(-max_waiting // part), limits.waiting_s)

        return cls(
            work=lane(limits.at_once, limits.waiting),
            looks=lane(limits.looks_at_once, limits.looks_waiting),
            talk=lane(limits.replies_at_once, 0),
            agents=lane(limits.at_once, limits.agents_waiting),
            uploads=lane(limits.uploads_at_once, limits.uploads_at_once),
            events=lane(limits.streams_at_once, 0),
            arrivals=Arrivals(
                at_once=-(-limits.bodies_at_once // part),
                most_bytes=max(limits.body_bytes, limits.bodies_bytes // part),
            ),
        )


class RequestQueue:
    """Gives requests their turns, and an answer to each in its time.

    A request that is out of time is answered, and keeps its turn until its work has really ended: a thread cannot be
    stopped, and work that nobody counts would pile up.

    What only looks is quick, and many may wait; the page is asked by people, who are few and shall not be sent away
    because of programs; and who ends a job gives others room. What else stores, searches or composes shares the
    processor for as long as it takes, so that each takes as long as all at work together: few are let in, and the
    others told at once. Agents have turns of their own, as few, and ask again less readily: more of them may wait.

    A body is whole before its request takes a turn, and whoever may only read has turns, bodies and streams of their
    own: neither those who send slowly nor readers keep an owner out.
    """

    def __init__(self, app: ASGIApp, *, limits: Limits) -> None:
        self._app = app
        self._limits = limits
        self._shares: dict[Access, Share] = {"all": Share.of(limits), "read": Share.of(limits, part=2)}
        self._late: set[asyncio.Task[None]] = set()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        path, limits, share = scope["path"], self._limits, self._shares[scope.get("access", "all")]
        is_upload = UPLOAD_PATHS.fullmatch(path) is not None
        most_bytes, within_s = limits.body_bytes, limits.body_s
        if is_upload:
            most_bytes, within_s = limits.upload_bytes, limits.request_s
        incoming = bounded_body(receive, Headers(scope=scope), most_bytes=most_bytes, within_s=within_s)
        if path in _AT_ONCE:
            await self._app(scope, incoming, send)
            return
        if not is_upload:
            incoming = await share.arrivals.whole_body(incoming)
        if _EVENTS.fullmatch(path):
            await self._to_its_end(share.events, scope, incoming, send)
        elif path == AGENTS_PATH or _REPLY.fullmatch(path):
            # What a tool does has bounds of its own; both answers may be streams.
            await self._to_its_end(share.agents if path == AGENTS_PATH else share.talk, scope, incoming, send)
        else:
            await self._in_time(_lane(share, scope["method"] in ("GET", "HEAD"), path), scope, incoming, send)

    async def _to_its_end(self, lane: ConcurrencyLimiter, scope: Scope, receive: Receive, send: Send) -> None:
        await lane.take()
        try:
            await self._app(scope, receive, send)
        finally:
            lane.give_back()

    async def _in_time(self, lane: ConcurrencyLimiter, scope: Scope, receive: Receive, send: Send) -> None:
        await lane.take()
        is_begun = is_closed = False

        async def send_unless_closed(message: Message) -> None:
            nonlocal is_begun
            if not is_closed:
                is_begun = True
                await send(message)

        task = asyncio.ensure_future(self._app(scope, receive, send_unless_closed))
        task.add_done_callback(lambda _: lane.give_back())
        try:
            tasks, _ = await asyncio.wait({task}, timeout=self._limits.request_s)
        except asyncio.CancelledError:
            task.cancel()
            raise
        if tasks:
            task.result()
            return
        self._late.add(task)
        task.add_done_callback(self._ended_late)
        if not is_begun:
            is_closed = True
            raise Refusal(
                504, "out-of-time", f"not done within {self._limits.request_s:g} s; what it stores may still be stored"
            )

    def _ended_late(self, task: asyncio.Task[None]) -> None:
        self._late.discard(task)
        if not task.cancelled():
            # Nobody waits for its outcome any more; asking for it keeps asyncio from complaining.
            task.exception()


def _lane(share: Share, is_get: bool, path: str) -> ConcurrencyLimiter:
    if UPLOAD_PATHS.fullmatch(path) or (is_get and _READS_BOOKS.fullmatch(path)):
        return share.uploads
    return share.looks if is_get or path.startswith(_LOOKS) else share.work
