"""The gate of the server: who may come in, the bounds of bodies, whose turn it is, and requests that come again."""

import asyncio
import base64
import hmac
import logging
import re
import uuid
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from hashlib import sha256
from typing import Literal
from urllib.parse import urlsplit

from pydantic import SecretStr
from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from runtime.doors.http.problems import Refusal
from runtime.doors.http.settings import Limits, ServerSettings
from runtime.doors.http.telemetry import Telemetry

logger = logging.getLogger(__name__)

OPEN_PATHS = frozenset({"/health", "/ready"})
"""What watches over the server needs no token: they tell nothing of stories."""

UPLOAD_PATHS = re.compile(r"/v1/projects/[^/]+/manuscript|/page/(?:imports|text)")
"""Where manuscripts come in, which may be longer than other bodies."""
METRICS_PATH = "/metrics"
"""What Prometheus reads: how much is asked of which route, so a token opens it, one for reading is enough."""

AGENTS_PATH = "/mcp"
"""Where agents talk MCP."""

Access = Literal["all", "read"]
"""What a caller may do; stands in the scope of a request as `access`."""

Answering = Callable[[Request, Refusal], Response]
"""Makes the answer to a request that is refused, as who asked can read it."""

_ASK_A_PERSON = 'Basic realm="novelgen", charset="UTF-8"'
_OWN_SITE = frozenset({"same-origin", "none"})
_GIVEN_REQUEST_ID = re.compile(r"[A-Za-z0-9._-]{1,64}")
_PORT = re.compile(r":[0-9]{1,5}$")


class Gate:
    """Lets in who may come in, and says who came: ASGI middleware, around all that answers."""

    def __init__(self, app: ASGIApp, *, settings: ServerSettings, telemetry: Telemetry, answer: Answering) -> None:
        self._app = app
        self._settings = settings
        self._telemetry = telemetry
        self._answer = answer

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        given = headers.get("x-request-id", "")
        request_id = scope["request_id"] = given if _GIVEN_REQUEST_ID.fullmatch(given) else uuid.uuid4().hex
        told = _Told(send, request_id)
        with self._telemetry.request(scope, told):
            try:
                scope["access"] = self._access(scope, headers)
                await self._app(scope, receive, told)
                return
            except Refusal as error:
                refusal = error
            except asyncio.CancelledError:
                # The server ends and has waited as long as it may.
                if told.status:
                    raise
                refusal = Refusal(503, "ending", "the server ends; what it was at may be stored, send it again")
            except Exception:
                # The server's outermost border: whoever asked gets an answer, whoever runs it the traceback.
                logger.exception("request %s failed", request_id)
                refusal = Refusal(500, "bug", "a bug in novelgen; the server's log has more under the request's id")
            if not told.status:
                await self._answer(Request(scope), refusal)(scope, receive, told)

    def _access(self, scope: Scope, headers: Headers) -> Access:
        # What a page of another site lets a browser send here is refused.
        host = headers.get("host", "")
        name = _PORT.sub("", host).strip("[]")
        if not self._settings.may_be_called(name):
            raise Refusal(
                421,
                "unknown-host",
                f"this server is not {name[:100]!r}; call it by its address, or start it with --allow-host",
            )
        origin = headers.get("origin")
        is_own = origin is None or urlsplit(origin).netloc == host
        if not is_own or headers.get("sec-fetch-site", "none") not in _OWN_SITE:
            raise Refusal(403, "cross-site", "pages of other sites may not use this server")
        if self._settings.token is None or scope["path"] in OPEN_PATHS:
            return "all"
        given = _given_token(headers.get("authorization", ""))
        tokens: tuple[tuple[Access, SecretStr | None], ...] = (
            ("all", self._settings.token),
            ("read", self._settings.read_token),
        )
        for access, token in tokens:
            if token is not None and hmac.compare_digest(given, token.get_secret_value().encode()):
                return access
        raise Refusal(
            401,
            "unauthorized",
            "no token, or a wrong one; send `Authorization: Bearer …` with the server's token",
            # A browser asks its user for a name and a password; the token is the password, the name is anything.
            headers={"WWW-Authenticate": _ASK_A_PERSON if _is_page(scope["path"]) else "Bearer"},
        )


class _Told:
    """Sends an answer with the headers that every answer has, and notes its status."""

    def __init__(self, send: Send, request_id: str) -> None:
        self._send = send
        self._request_id = request_id
        self.status = 0

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
            headers = MutableHeaders(scope=message)
            headers["X-Request-Id"] = self._request_id
            headers["X-Content-Type-Options"] = "nosniff"
            # The page has a policy of its own, which lets in its own style and script.
            headers.setdefault("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'")
            headers.setdefault("Cache-Control", "no-store")
        await self._send(message)


def _given_token(authorization: str) -> bytes:
    """Return the token of a header: that of a program (bearer), or the password of a person (basic)."""
    scheme, _, given = authorization.partition(" ")
    token = given.strip().encode("utf-8", "surrogateescape")
    if scheme.lower() == "basic":
        try:
            return base64.b64decode(token, validate=True).partition(b":")[2]
        except ValueError:
            return b""
    return token if scheme.lower() == "bearer" else b""


def _is_page(path: str) -> bool:
    return path == "/" or path.startswith("/page/")


def _received(receive: Receive, headers: Headers, *, most_bytes: int, within_s: float) -> Receive:
    """Receive a body of bounded length in bounded time: who sends a byte now and then must not keep a turn."""
    told = headers.get("content-length", "")
    too_large = Refusal(413, "too-large", f"the body is longer than {most_bytes:,} bytes; send less at once")
    if told.isdecimal() and int(told[:20]) > most_bytes:
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


_REPLY = re.compile(r"/v1/projects/[^/]+/characters/[^/]+/reply")
_AT_ONCE = OPEN_PATHS | {METRICS_PATH}
"""Who watches over a server must see it when it is full, too."""

_READS_BOOKS = re.compile(r"/page/imports/[^/]+")
"""A preview parses what was uploaded, which may take a minute: it must not take the turns of what is quick."""

_LOOKS = ("/page/", "/v1/jobs/")
"""Below these whatever is asked has the turns of those that look."""

_EVENTS = re.compile(r"/v1/jobs/[^/]+/events")


class Lane:
    """Lets so many requests work at once, and so many wait for so long."""

    def __init__(self, at_once: int, waiting: int, waiting_s: float) -> None:
        self._turns = asyncio.Semaphore(at_once)
        self._room = waiting
        self._waiting_s = waiting_s
        self._at_once = at_once
        self._waiting = 0

    async def take(self) -> None:
        """Wait for a turn; `give_back` ends it."""
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


class Turns:
    """Gives requests their turns, and an answer to each in its time.

    A request that is out of time is answered, and keeps its turn until its work has really ended: a thread cannot be
    stopped, and work that nobody counts would pile up.

    What only looks is quick, and many may wait; the page is asked by people, who are few and shall not be sent away
    because of programs; and who ends a job gives others room. What else stores, searches or composes shares the
    processor for as long as it takes, so that each takes as long as all at work together: few are let in, and the
    others told at once. Agents have turns of their own, as few, and ask again less readily: more of them may wait.
    """

    def __init__(self, app: ASGIApp, *, limits: Limits) -> None:
        self._app = app
        self._limits = limits
        self._looks = Lane(limits.looks_at_once, limits.looks_waiting, limits.waiting_s)
        self._work = Lane(limits.at_once, limits.waiting, limits.waiting_s)
        self._talk = Lane(limits.replies_at_once, 0, limits.waiting_s)
        self._agents = Lane(limits.at_once, limits.agents_waiting, limits.waiting_s)
        self._uploads = Lane(limits.uploads_at_once, limits.uploads_at_once, limits.waiting_s)
        self._late: set[asyncio.Task[None]] = set()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        path, limits, headers = scope["path"], self._limits, Headers(scope=scope)
        most_bytes, within_s = limits.body_bytes, limits.body_s
        if UPLOAD_PATHS.fullmatch(path):
            most_bytes, within_s = limits.upload_bytes, limits.request_s
        incoming = _received(receive, headers, most_bytes=most_bytes, within_s=within_s)
        if path in _AT_ONCE or _EVENTS.fullmatch(path):
            await self._app(scope, incoming, send)
        elif path == AGENTS_PATH or _REPLY.fullmatch(path):
            # What a tool does has bounds of its own; both answers may be streams.
            lane = self._agents if path == AGENTS_PATH else self._talk
            await lane.take()
            try:
                await self._app(scope, incoming, send)
            finally:
                lane.give_back()
        else:
            await self._in_time(self._lane(scope["method"] in ("GET", "HEAD"), path), scope, incoming, send)

    def _lane(self, is_get: bool, path: str) -> Lane:
        if UPLOAD_PATHS.fullmatch(path) or (is_get and _READS_BOOKS.fullmatch(path)):
            return self._uploads
        return self._looks if is_get or path.startswith(_LOOKS) else self._work

    async def _in_time(self, lane: Lane, scope: Scope, receive: Receive, send: Send) -> None:
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
            done, _ = await asyncio.wait({task}, timeout=self._limits.request_s)
        except asyncio.CancelledError:
            task.cancel()
            raise
        if done:
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


WRITING = frozenset({"POST", "PUT", "PATCH", "DELETE"})

MAX_KEPT = 1_000
MAX_KEPT_BYTES = 32 * 2**20
LONGEST_KEY = 200

Call = tuple[str, str, str, bytes, str]
"""What the caller may do, then what is asked: who may only read gets no answer that was given to who may write."""


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer that was given, and to which body."""

    body_hash: str
    start: Message
    body: bytes


class Repeats:
    """Answers a write that is repeated under its key as before, and a read that has not changed with 304.

    Answers are kept in memory, for as long as the server runs, the latest of them.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self._kept: OrderedDict[Call, Answer] = OrderedDict()
        self._kept_bytes = 0
        self._under_way: set[Call] = set()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        headers = Headers(scope=scope) if scope["type"] == "http" else {}
        key = headers.get("idempotency-key")
        if headers and scope["method"] in ("GET", "HEAD"):
            await self._app(scope, receive, _Tagged(send, headers.get("if-none-match", "")))
        elif headers and scope["method"] in WRITING and key is not None:
            await self._once(scope, receive, send, key)
        else:
            await self._app(scope, receive, send)

    async def _once(self, scope: Scope, receive: Receive, send: Send, key: str) -> None:
        if not key or len(key) > LONGEST_KEY:
            raise Refusal(400, "invalid-idempotency-key", f"Idempotency-Key must have 1 to {LONGEST_KEY} characters")
        call: Call = (scope["access"], scope["method"], scope["path"], scope["query_string"], key)
        body = await _whole_body(receive)
        body_hash = sha256(body).hexdigest()
        kept = self._kept.get(call)
        if kept is not None:
            if kept.body_hash != body_hash:
                raise Refusal(
                    422,
                    "idempotency-key-reused",
                    f"Idempotency-Key {key!r} came with another body before; take a new one",
                )
            await send({**kept.start, "headers": [*kept.start["headers"], (b"idempotency-replayed", b"true")]})
            await send({"type": "http.response.body", "body": kept.body, "more_body": False})
            return
        if call in self._under_way:
            raise Refusal(
                409,
                "still-at-work",
                f"the request with Idempotency-Key {key!r} is still at work; ask again",
                headers={"Retry-After": "1"},
            )
        self._under_way.add(call)
        given: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]
        answered: list[Message] = []

        async def receive_given() -> Message:
            return given.pop() if given else await receive()

        async def send_and_keep(message: Message) -> None:
            if not answered or not _is_stream(answered[0]):
                answered.append(message)
            await send(message)

        try:
            await self._app(scope, receive_given, send_and_keep)
        finally:
            self._under_way.discard(call)
        self._keep(call, body_hash, answered)

    def _keep(self, call: Call, body_hash: str, answered: list[Message]) -> None:
        """Keep an answer where a repeated request should have the same one; what may go better is tried again."""
        if not answered or answered[-1].get("more_body") or _is_stream(answered[0]):
            return
        start, *parts = answered
        if start["status"] >= 500 or start["status"] in (409, 429):
            return
        answer = Answer(body_hash, start, b"".join(each.get("body", b"") for each in parts))
        self._kept[call] = answer
        self._kept_bytes += len(answer.body)
        while len(self._kept) > MAX_KEPT or self._kept_bytes > MAX_KEPT_BYTES:
            _, gone = self._kept.popitem(last=False)
            self._kept_bytes -= len(gone.body)


class _Tagged:
    """Gives whole answers an ETag by what they hold, so that none can be stale, and 304 to who has it."""

    def __init__(self, send: Send, known: str) -> None:
        self._send = send
        self._known = known
        self._start: Message | None = None

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            if message["status"] == 200 and not _is_stream(message):
                self._start = message
                return
            await self._send(message)
            return
        start, self._start = self._start, None
        if start is None or message.get("more_body", False):
            if start is not None:
                await self._send(start)
            await self._send(message)
            return
        tag = f'"{sha256(message.get("body", b"")).hexdigest()[:32]}"'
        headers = MutableHeaders(scope=start)
        headers["ETag"] = tag
        headers["Cache-Control"] = "private, no-cache"
        headers["Vary"] = "Accept, Authorization"
        if self._known == "*" or tag in {each.strip().removeprefix("W/") for each in self._known.split(",")}:
            del headers["content-length"]
            await self._send({**start, "status": 304})
            await self._send({**message, "body": b""})
            return
        await self._send(start)
        await self._send(message)


async def _whole_body(receive: Receive) -> bytes:
    body = bytearray()
    while True:
        message = await receive()
        if message["type"] != "http.request":
            raise Refusal(400, "incomplete", "the connection closed before the body was whole")
        body += message.get("body", b"")
        if not message.get("more_body", False):
            return bytes(body)


def _is_stream(start: Message) -> bool:
    return Headers(raw=start["headers"]).get("content-type", "").startswith("text/event-stream")
