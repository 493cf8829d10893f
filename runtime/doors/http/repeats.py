"""Requests that come again: `Idempotency-Key` for writes, `ETag` for reads, as ASGI middleware."""

from collections import OrderedDict
from dataclasses import dataclass
from hashlib import sha256

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from runtime.doors.http.problems import Refusal

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
