"""How much the server takes on at once, and what it does with the rest."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from starlette.types import Message, Receive, Scope, Send

from runtime.doors.http.app import refused
from runtime.doors.http.gate import Gate, IdempotencyCache
from runtime.doors.http.problems import PROBLEM_TYPE, Refusal
from runtime.doors.http.serving import MAX_CONNECTIONS, MOST_WAITING
from runtime.doors.http.settings import Limits, ServerSettings
from runtime.doors.http.telemetry import Telemetry
from runtime.doors.http.turns import RequestQueue
from tests.runtime.doors.http.serving import READ_TOKEN, TOKEN


class HeldWork:
    """An application that answers once it is let go, and counts what is at work."""

    def __init__(self) -> None:
        self.go = asyncio.Event()
        self.begun = asyncio.Event()
        self.at_work = 0
        self.most = 0
        self.calls = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self.calls += 1
        self.at_work += 1
        self.most = max(self.most, self.at_work)
        self.begun.set()
        try:
            while (await receive()).get("more_body"):
                pass
            await self.go.wait()
        finally:
            self.at_work -= 1
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-type", b"text/plain")]})
        await send({"type": "http.response.body", "body": str(self.calls).encode()})


async def ask(
    app: Any, method: str = "POST", path: str = "/v1/projects", *, body: bytes | None = b"", **headers: str
) -> tuple[int, dict[str, str], bytes]:
    """Send one request to an ASGI application; a body that is None never comes, after 1,000 bytes of it."""
    sent: list[Message] = []
    pieces = [{"type": "http.request", "body": b"." * 1_000, "more_body": True}]

    async def receive() -> Message:
        if body is None and pieces:
            return pieces.pop()
        if body is None:
            await asyncio.Event().wait()
        return {"type": "http.request", "body": body, "more_body": False}

    async def send(message: Message) -> None:
        sent.append(message)

    told = [(b"host", b"localhost"), *((n.replace("_", "-").encode(), v.encode()) for n, v in headers.items())]
    scope = {
        "type": "http",
        "method": method,
        "path": path,
        "query_string": b"",
        "headers": told,
        "scheme": "http",
        "server": ("localhost", 80),
    }
    await app(scope, receive, send)
    answered = {name.decode().lower(): value.decode() for name, value in sent[0]["headers"]}
    return sent[0]["status"], answered, b"".join(each.get("body", b"") for each in sent[1:])


OWNER = "Bearer a-token-that-opens-everything"
READER = "Bearer a-token-that-opens-for-reading"


def behind_gate(work: Any, *, has_readers: bool = False, **limits: Any) -> Any:
    """Return an application as the server stacks it."""
    bounds = Limits(**limits)
    turns = RequestQueue(IdempotencyCache(work), limits=bounds)
    tokens = {"token": TOKEN, "read_token": READ_TOKEN} if has_readers else {}
    settings = ServerSettings(limits=bounds, **tokens)
    return Gate(turns, settings=settings, telemetry=Telemetry(list), answer=refused)


async def until(is_so: Callable[[], bool]) -> None:
    """Let others go on until something is so."""
    while not is_so():
        await asyncio.sleep(0)


def test_a_person_reads_a_refusal_on_a_page_and_a_program_as_json() -> None:
    """A browser asks for HTML; on the page there is a button to try again, and the header says when."""

    async def work(*_: Any) -> None:
        raise Refusal(503, "busy", "16 requests are at work and 64 wait for a turn; try later")

    person = asyncio.run(ask(behind_gate(work), "GET", "/page/projects/demo/story", accept="text/html,*/*;q=0.8"))
    program = asyncio.run(ask(behind_gate(work), "GET", "/page/projects/demo/places", accept="*/*"))
    assert (person[0], person[1]["content-type"][:9], program[1]["content-type"]) == (503, "text/html", PROBLEM_TYPE)
    assert b'href="/page/projects/demo/story">Try again' in person[2]
    assert person[1]["retry-after"] == program[1]["retry-after"]


@pytest.mark.asyncio
async def test_no_more_work_at_once_than_bound() -> None:
    """Two work, two wait, and the fifth is told to come again later."""
    work = HeldWork()
    app = behind_gate(work, at_once=2, waiting=2, waiting_s=60)
    held = [asyncio.ensure_future(ask(app)) for _ in range(4)]
    while work.at_work < 2:
        await asyncio.sleep(0)
    for _ in range(50):
        await asyncio.sleep(0)
    status, headers, body = await ask(app)
    assert (status, headers["retry-after"]) == (503, "2")
    assert b"urn:novelgen:busy" in body
    work.go.set()
    assert [each[0] for each in await asyncio.gather(*held)] == [200] * 4
    assert work.most == 2


async def full(**limits: Any) -> tuple[HeldWork, Any, asyncio.Future[Any]]:
    """Return work, a server whose only turn it has, and who waits for its answer."""
    work = HeldWork()
    app = behind_gate(work, **{"at_once": 1, "waiting": 0, "waiting_s": 60} | limits)
    held = asyncio.ensure_future(ask(app))
    await work.begun.wait()
    return work, app, held


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "/v1/projects"),
        ("GET", "/health"),
        ("POST", "/page/projects/mill/undo"),
        ("DELETE", "/v1/jobs/4f0c"),
        ("POST", "/mcp"),
    ],
)
@pytest.mark.asyncio
async def test_programs_send_nobody_else_away(method: str, path: str) -> None:
    """While programs take every turn, who looks or watches is answered, somebody saves on the page, a job is ended, and
    an agent is answered.
    """
    work, app, held = await full(looks_at_once=1, looks_waiting=0)
    other = asyncio.ensure_future(ask(app, method, path))
    while work.at_work < 2 and not other.done():
        await asyncio.sleep(0)
    assert (await ask(app, "PUT"))[0] == 503
    work.go.set()
    assert [(await held)[0], (await other)[0]] == [200, 200]


@pytest.mark.asyncio
async def test_looks_are_bounded_too() -> None:
    """Those that look have turns of their own, and no more than these."""
    work, app, held = await full(looks_at_once=1, looks_waiting=0)
    look = asyncio.ensure_future(ask(app, "GET"))
    while work.at_work < 2:
        await asyncio.sleep(0)
    assert (await ask(app, "GET"))[0] == 503
    work.go.set()
    assert [(await held)[0], (await look)[0]] == [200, 200]


@pytest.mark.asyncio
async def test_a_wait_ends() -> None:
    """Who waits too long for a turn is told so, and takes no turn afterwards."""
    work, app, first = await full(waiting=5, waiting_s=0.01)
    status, headers, body = await ask(app)
    assert (status, "retry-after" in headers) == (503, True)
    assert b"urn:novelgen:busy" in body
    work.go.set()
    assert (await first)[0] == 200
    assert (await ask(app))[0] == 200
    assert work.calls == 2


@pytest.mark.asyncio
async def test_work_that_is_late_keeps_its_turn() -> None:
    """A request out of time is answered; its turn is free only once its work has really ended."""
    work = HeldWork()
    app = behind_gate(work, at_once=1, waiting=0, waiting_s=60, request_s=0.01)
    status, _, body = await ask(app)
    assert (status, b"out-of-time" in body) == (504, True)
    assert (await ask(app))[0] == 503
    work.go.set()
    while work.at_work:
        await asyncio.sleep(0)
    await asyncio.sleep(0)
    assert (await ask(app))[0] == 200


@pytest.mark.asyncio
async def test_a_body_that_does_not_come_keeps_no_turn() -> None:
    """Who opens a request and sends nothing is turned away, and the turn is free again."""
    work = HeldWork()
    work.go.set()
    app = behind_gate(work, at_once=1, waiting=0, waiting_s=60, body_s=0.01)
    status, _, body = await ask(app, "POST", body=None)
    assert (status, b"slow-body" in body) == (408, True)
    assert (await ask(app))[0] == 200


@pytest.mark.parametrize(
    "bound", [{"bodies_at_once": 2}, {"bodies_bytes": 2_500, "body_bytes": 2_500}], ids=["how many", "how many bytes"]
)
@pytest.mark.asyncio
async def test_slow_bodies_keep_nobody_out(bound: dict[str, int]) -> None:
    """They take no turn; one too many ends the one that has been coming longest, and a whole one is answered."""
    work = HeldWork()
    work.go.set()
    app = behind_gate(work, at_once=1, waiting=0, waiting_s=60, **bound)
    slow = [asyncio.ensure_future(ask(app, "PATCH", body=None)) for _ in range(3)]
    await until(lambda: slow[0].done())
    status, headers, body = slow[0].result()
    assert (status, "retry-after" in headers, b"urn:novelgen:busy" in body) == (503, True, True)
    assert (await ask(app, "PATCH", body=b"{}"))[0] == 200
    for request in slow[1:]:
        request.cancel()


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("POST", "/v1/projects/mill/search"),
        ("GET", "/v1/projects"),
        ("GET", "/v1/jobs/4f0c/events"),
        ("POST", "/mcp"),
        ("POST", "/page/text"),
    ],
)
@pytest.mark.asyncio
async def test_readers_send_no_owner_away(method: str, path: str) -> None:
    """Who may only read has turns, bodies and streams of their own, and an owner keeps theirs."""
    work = HeldWork()
    few = {"at_once": 1, "waiting": 0, "looks_at_once": 1, "looks_waiting": 0, "agents_waiting": 0}
    app = behind_gate(work, has_readers=True, **few, bodies_at_once=1, streams_at_once=1, uploads_at_once=1)
    drip = asyncio.ensure_future(ask(app, "POST", body=None, authorization=READER))
    held = [asyncio.ensure_future(ask(app, method, path, authorization=READER)) for _ in range(4)]
    await until(lambda: any(request.done() for request in held))
    assert next(request.result()[0] for request in held if request.done()) == 503
    owners = asyncio.ensure_future(ask(app, method, path, authorization=OWNER))
    at_work = work.at_work
    await until(lambda: work.at_work > at_work or owners.done())
    work.go.set()
    assert (await owners)[0] == 200
    drip.cancel()
    await asyncio.wait([drip, *held])


@pytest.mark.asyncio
async def test_streams_have_a_share_of_the_connections() -> None:
    """One too many is told to come again, while others are answered; one that ends makes room."""
    work = HeldWork()
    app = behind_gate(work, streams_at_once=2)
    streams = [asyncio.ensure_future(ask(app, "GET", "/v1/jobs/4f0c/events")) for _ in range(2)]
    await until(lambda: work.at_work == 2)
    assert (await ask(app, "GET", "/v1/jobs/4f0c/events"))[0] == 503
    work.go.set()
    assert [(await request)[0] for request in streams] == [200, 200]
    assert (await ask(app, "GET", "/v1/jobs/4f0c/events"))[0] == 200


def test_all_shares_leave_connections_for_who_watches() -> None:
    """What may be open at once, with both kinds of tokens, is less than the server takes."""
    limits = Limits()
    owner = (
        *(limits.at_once, limits.waiting, limits.looks_at_once, limits.looks_waiting, limits.replies_at_once),
        *(limits.at_once, limits.agents_waiting, 2 * limits.uploads_at_once, limits.streams_at_once),
        limits.bodies_at_once,
    )
    assert MOST_WAITING + 1.5 * sum(owner) < MAX_CONNECTIONS - 50


@pytest.mark.asyncio
async def test_a_repeated_write_is_done_once() -> None:
    """Under one Idempotency-Key a write is done once and answered alike; at work it is said to be so."""
    work = HeldWork()
    app = behind_gate(work)
    first = asyncio.ensure_future(ask(app, "POST", body=b"a", idempotency_key="k"))
    await work.begun.wait()
    assert (await ask(app, "POST", body=b"a", idempotency_key="k"))[0] == 409
    work.go.set()
    status, _, body = await first
    again = await ask(app, "POST", body=b"a", idempotency_key="k")
    assert (status, body, work.calls) == (200, b"1", 1)
    assert (again[0], again[2], again[1]["idempotency-replayed"]) == (200, b"1", "true")
    other = await ask(app, "POST", body=b"b", idempotency_key="k")
    assert (other[0], b"idempotency-key-reused" in other[2]) == (422, True)
    assert (await ask(app, "POST", body=b"a", idempotency_key="k2"))[2] == b"2"
    assert (await ask(app, "POST", body=b"a"))[2] == b"3"


@pytest.mark.asyncio
async def test_a_write_that_failed_is_tried_again() -> None:
    """An answer that may go better the next time is not kept under its key."""
    calls = []

    async def failing(scope: Scope, receive: Receive, send: Send) -> None:
        calls.append(scope["path"])
        await send({"type": "http.response.start", "status": 503 if len(calls) == 1 else 201, "headers": []})
        await send({"type": "http.response.body", "body": b""})

    app = behind_gate(failing)
    assert (await ask(app, "POST", idempotency_key="k"))[0] == 503
    assert (await ask(app, "POST", idempotency_key="k"))[0] == 201


@pytest.mark.asyncio
async def test_what_the_end_of_the_server_cuts_off_is_told_to_come_again() -> None:
    """A request that is at work when the server ends is refused as one to be sent again, not as a bug."""
    work = HeldWork()
    request = asyncio.ensure_future(ask(behind_gate(work), "PUT"))
    await work.begun.wait()
    request.cancel()
    status, headers, body = await request
    assert (status, "retry-after" in headers, b"urn:novelgen:ending" in body) == (503, True, True)
