"""The server's gate: access and repeated requests."""

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
from runtime.doors.http.settings import ServerSettings
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
    """ASGI middleware that authenticates callers."""

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
        value = headers.get("x-request-id", "")
        request_id = scope["request_id"] = value if _GIVEN_REQUEST_ID.fullmatch(value) else uuid.uuid4().hex
        text = _AnswerHeaders(send, request_id)
        with self._telemetry.request(scope, text):
            try:
                scope["access"] = self._access(scope, headers)
                await self._app(scope, receive, text)
                return
            except Refusal as error:
                refusal = error
            except asyncio.CancelledError:
                # The server ends and has waited as long as it may.
                if text.status:
                    raise
                refusal = Refusal(503, "ending", "the server ends; what it was at may be stored, send it again")
            except Exception:
                # The server's outermost border: whoever asked gets an answer, whoever runs it the traceback.
                logger.exception("request %s failed", request_id)
                refusal = Refusal(500, "bug", "a bug in novelgen; the server's log has more under the request's id")
            if not text.status:
                await self._answer(Request(scope), refusal)(scope, receive, text)

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
        payload = _given_token(headers.get("authorization", ""))
        tokens: tuple[tuple[Access, SecretStr | None], ...] = (
            ("all", self._settings.token),
            ("read", self._settings.read_token),
        )
        for access, token in tokens:
            if token is not None and hmac.compare_digest(payload, token.get_secret_value().encode()):
                return access
        raise Refusal(
            401,
            "unauthorized",
            "no token, or a wrong one; send `Authorization: Bearer …` with the server's token",
            # A browser asks its user for a name and a password; the token is the password, the name is anything.
            headers={"WWW-Authenticate": _ASK_A_PERSON if _is_page(scope["path"]) else "Bearer"},
        )


class _AnswerHeaders:
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
    scheme, _, value = authorization.partition(" ")
    token = value.strip().encode("utf-8", "surrogateescape")
    if scheme.lower() == "basic":
        try:
            return base64.b64decode(token, validate=True).partition(b":")[2]
        except ValueError:
            return b""
    return token if scheme.lower() == "bearer" else b""


def _is_page(path: str) -> bool:
    return path == "/" or path.startswith("/page/")


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


class IdempotencyCache:
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
        kept_answer = self._kept.get(call)
        if kept_answer is not None:
            if kept_answer.body_hash != body_hash:
                raise Refusal(
                    422,
                    "idempotency-key-reused",
                    f"Idempotency-Key {key!r} came with another body before; take a new one",
                )
            await send(
                {**kept_answer.start, "headers": [*kept_answer.start["headers"], (b"idempotency-replayed", b"true")]}
            )
            await send({"type": "http.response.body", "body": kept_answer.body, "more_body": False})
            return
        if call in self._under_way:
            raise Refusal(
                409,
                "still-at-work",
                f"the request with Idempotency-Key {key!r} is still at work; ask again",
                headers={"Retry-After": "1"},
            )
        self._under_way.add(call)
        values: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]
        answer_messages: list[Message] = []

        async def receive_given() -> Message:
            return values.pop() if values else await receive()

        async def send_and_keep(message: Message) -> None:
            if not answer_messages or not _is_stream(answer_messages[0]):
                answer_messages.append(message)
            await send(message)

        try:
            await self._app(scope, receive_given, send_and_keep)
        finally:
            self._under_way.discard(call)
        self._keep(call, body_hash, answer_messages)

    def _keep(self, call: Call, body_hash: str, answer_messages: list[Message]) -> None:
        """Store an answer for repeats of its request, unless a retry may succeed."""
        if not answer_messages or answer_messages[-1].get("more_body") or _is_stream(answer_messages[0]):
            return
        start, *parts = answer_messages
        if start["status"] >= 500 or start["status"] in (409, 429):
            return
        answer = Answer(body_hash, start, b"".join(part.get("body", b"") for part in parts))
        self._kept[call] = answer
        self._kept_bytes += len(answer.body)
        while len(self._kept) > MAX_KEPT or self._kept_bytes > MAX_KEPT_BYTES:
            _, removed_answer = self._kept.popitem(last=False)
            self._kept_bytes -= len(removed_answer.body)


class _Tagged:
    """ASGI middleware that adds content ETags and answers 304."""

    def __init__(self, send: Send, known_tag: str) -> None:
        self._send = send
        self._known = known_tag
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
        headers = MutableHeaders(scope=start)
        # What can be edited has a version, which stands before what else the answer holds: If-Match reads it.
        version = headers.get("etag", "").strip('"')
        body_hash = sha256(message.get("body", b"")).hexdigest()[:32]
        tag = f'"{version}-{body_hash}"' if version else f'"{body_hash}"'
        headers["ETag"] = tag
        headers["Cache-Control"] = "private, no-cache"
        headers["Vary"] = "Accept, Authorization"
        if self._known == "*" or tag in {text.strip().removeprefix("W/") for text in self._known.split(",")}:
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
