"""What a server of models may answer: too much, packed too much, another host, and what is no answer."""

import gzip
import json
import zlib
from collections.abc import Callable

import pytest
from pydantic import BaseModel

from novelgen.errors import EmbeddingError, ModelError, ModelUnavailableError
from novelgen.model_calls.json_model import Question
from novelgen.model_calls.model_answer import described
from runtime.model_providers.chat_models import build_chat_model
from runtime.model_providers.embeddings import build_embeddings
from runtime.model_providers.model_client import MAX_CHAT_MEGABYTES, MEGABYTE
from tests.support.openai_stub import OpenAiStub, StubCall, completion, openai_stub

Respond = Callable[[StubCall], None]


class Pet(BaseModel):
    """What is asked for."""

    name: str


def ask(stub: OpenAiStub) -> Pet:
    """Ask the model at a stub for a pet."""
    model = build_chat_model("openai:tiny", base_url=stub.base_url)
    assert model is not None
    question = Question(model, Pet, prompt="summarise_scene", repair="repair_scene_summary", stage="t", keys=("name",))
    return question.ask(question.begin(30), "en", [], accept=lambda pet: pet)


def failure_of(respond: Respond) -> tuple[ModelError, OpenAiStub]:
    """Return how asking a server ends that answers like this."""
    with openai_stub(respond) as stub, pytest.raises(ModelError) as caught:
        ask(stub)
    return caught.value, stub


def send_bytes(call: StubCall, body: bytes, **headers: str) -> None:
    """Answer with bytes and headers."""
    handler = call.handler
    handler.send_response(200)
    for name, value in {"Content-Type": "application/json", "Content-Length": str(len(body)), **headers}.items():
        handler.send_header(name.replace("_", "-"), value)
    handler.end_headers()
    handler.wfile.write(body)


def packed_spaces(megabytes: int) -> bytes:
    """Return a JSON object behind so many spaces, packed."""
    packer = zlib.compressobj(9, zlib.DEFLATED, zlib.MAX_WBITS | 16)
    pieces = [packer.compress(b" " * MEGABYTE) for _ in range(megabytes)]
    return b"".join([*pieces, packer.compress(b"{}"), packer.flush()])


def test_a_packed_answer_is_unpacked() -> None:
    """A server that packs with gzip is understood."""
    body = gzip.compress(json.dumps(completion('{"name": "Ada"}')).encode())
    with openai_stub(lambda call: send_bytes(call, body, Content_Encoding="gzip")) as stub:
        assert ask(stub) == Pet(name="Ada")


@pytest.mark.parametrize("is_packed", [False, True])
def test_an_answer_without_end_is_not_read_on(is_packed: bool) -> None:
    """Neither what comes nor what it unpacks to goes beyond the bound."""
    sent: list[int] = []

    def respond(call: StubCall) -> None:
        if is_packed:
            send_bytes(call, packed_spaces(MAX_CHAT_MEGABYTES + 1), Content_Encoding="gzip")
            return
        call.handler.send_response(200)
        call.handler.send_header("Content-Type", "application/json")
        call.handler.end_headers()
        for _ in range(20 * MAX_CHAT_MEGABYTES):
            call.handler.wfile.write(b" " * MEGABYTE)
            sent.append(1)

    error, _ = failure_of(respond)
    assert "larger than 16 MB and was not read on" in str(error)
    assert len(sent) < 2 * MAX_CHAT_MEGABYTES


def test_what_is_packed_otherwise_is_refused() -> None:
    """An encoding that was not asked for, and one that is not what it says."""
    error, _ = failure_of(lambda call: send_bytes(call, b"x", Content_Encoding="br"))
    assert "packed its answer as 'br'" in str(error)
    error, _ = failure_of(lambda call: send_bytes(call, b"x" * 20, Content_Encoding="gzip"))
    assert "is no 'gzip', as it says" in str(error)


@pytest.mark.parametrize("status", [301, 302, 307, 308])
def test_no_other_host_gets_the_prompt(status: int) -> None:
    """A redirect to another address is named, and nothing is sent there; one within the host is followed."""
    with openai_stub(lambda call: call.say('{"name": "Thief"}')) as other:
        location = {"Location": f"{other.base_url}/chat/completions"}
        error, _ = failure_of(lambda call: call.send("", status=status, headers=location))
        assert not other.calls
    assert "redirects to" in str(error)
    assert "AttributeError" not in str(error)


def test_a_redirect_within_the_host_is_followed() -> None:
    """A path that moved; one that moves for ever is left."""

    def moved(call: StubCall) -> None:
        if call.handler.path.endswith("/new"):
            call.say('{"name": "Ada"}')
        else:
            call.send("", status=308, headers={"Location": "/v1/new"})

    with openai_stub(moved) as stub:
        assert ask(stub) == Pet(name="Ada")
    error, _ = failure_of(lambda call: call.send("", status=307, headers={"Location": "/v1/again"}))
    assert "redirects without end" in str(error)


@pytest.mark.parametrize(
    ("respond", "words"),
    [
        (
            lambda call: call.send('{"error": {"message": "Provider returned error: overloaded", "code": 502}}'),
            "HTTP 200 with an error: 'Provider returned error: overloaded'",
        ),
        (
            lambda call: call.send('{"error": {"message": "Provider error", "metadata": {"raw": "no GPU is free"}}}'),
            "'Provider error; no GPU is free'",
        ),
        (lambda call: call.send('{"error": "model is loading"}'), "with an error: 'model is loading'"),
        (lambda call: call.send('{"code": 1302, "msg": "并发过高", "choices": null}'), "with an error: '并发过高'"),
        (lambda call: call.send('{"id": "x", "choices": []}'), """without an answer: '{"id": "x", "choices": []}'"""),
        (
            lambda call: call.send("<html><title>502 Bad  Gateway</title></html>", content_type="text/html"),
            "HTTP 200 with a web page (text/html): '502 Bad Gateway'",
        ),
        (lambda call: call.send("<!doctype html><p>Log in", content_type="text/html"), "with a web page (text/html)"),
        (lambda call: call.send("upstream timed out", content_type="text/plain"), "no JSON (text/plain): 'upstream"),
        (lambda call: call.send("[]"), "with what is no answer: '[]'"),
        (lambda call: send_bytes(call, b"\x89PNG\x00\xff\xfe"), "characters of binary data"),
    ],
)
def test_what_is_no_answer_is_told_in_the_servers_words(respond: Respond, words: str) -> None:
    """An error with status 200, no choices, a web page and binary data are named as what they are."""
    error, stub = failure_of(respond)
    assert words in str(error)
    assert isinstance(error, ModelUnavailableError)
    assert "Error:" not in str(error)
    assert len(stub.calls) == 1


@pytest.mark.parametrize(
    ("respond", "wait_s"),
    [
        (lambda call: call.send('{"error": {"message": "rate limit, wait 200 s", "code": 429}}'), 200),
        (lambda call: call.refuse(429, "slow down", headers={"Retry-After": "120"}), 120),
        (lambda call: call.refuse(429, "slow down", headers={"retry-after-ms": "90500"}), 90.5),
        (lambda call: call.refuse(503, "overloaded, please try again in 2m"), 120),
        (lambda call: call.refuse(429, "请求过快，请在 60 秒后重试"), 60),
    ],
)
def test_the_time_to_wait_is_kept(respond: Respond, wait_s: float) -> None:
    """By header or in words; where it is longer than a call may wait, it is told."""
    error, stub = failure_of(respond)
    assert isinstance(error, ModelUnavailableError)
    assert error.retry_after_s == wait_s
    assert f"it asks to wait {wait_s:g} s" in str(error)
    assert len(stub.calls) == 1


def test_a_short_wait_is_waited_for_once() -> None:
    """A provider that asks for a pause is asked again after it."""

    def busy_at_first(call: StubCall) -> None:
        if call.index == 0:
            call.refuse(429, "busy", headers={"Retry-After": "0"})
        else:
            call.say('{"name": "Ada"}')

    with openai_stub(busy_at_first) as stub:
        assert ask(stub) == Pet(name="Ada")
    _, stub = failure_of(lambda call: call.refuse(429, "busy", headers={"Retry-After": "0"}))
    assert len(stub.calls) == 2


@pytest.mark.parametrize(
    "message",
    [
        "This model's maximum context length is 8192 tokens. However, your messages resulted in 9100 tokens.",
        "the request exceeds the available context size (4096 tokens), try increasing it",
        "prompt is too long: 210000 tokens > 200000 maximum",
        "输入超出模型最大长度限制",
    ],
)
def test_a_context_that_is_too_long_is_named(message: str) -> None:
    """It is asked once, not once for each response format, and the fix is the model's context."""
    error, stub = failure_of(lambda call: call.refuse(400, message))
    assert "num_ctx" in str(error)
    assert message[:40] in str(error)
    assert len(stub.calls) == 1


def test_embeddings_are_bounded_and_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """Vectors come through the same client."""
    monkeypatch.setattr("runtime.model_providers.model_client.MAX_EMBEDDING_MEGABYTES", 1)
    with openai_stub(lambda call: send_bytes(call, packed_spaces(2), Content_Encoding="gzip")) as stub:
        embeddings = build_embeddings("openai:tiny", base_url=stub.base_url)
        with pytest.raises(EmbeddingError, match="larger than 1 MB"):
            embeddings.embed_query("x")
    with openai_stub(lambda call: call.send("<html><title>Login</title>", content_type="text/html")) as stub:
        embeddings = build_embeddings("openai:tiny", base_url=stub.base_url)
        with pytest.raises(EmbeddingError, match=r"web page \(text/html\): 'Login'"):
            embeddings.embed_query("x")
    with openai_stub(lambda call: call.embed([[1.0, 2.0]])) as stub:
        assert build_embeddings("openai:tiny", base_url=stub.base_url).embed_query("x") == [1.0, 2.0]


def test_a_stream_comes_piece_by_piece_and_what_is_none_is_named() -> None:
    """The same bounds and words hold for replies, which are streamed."""
    with openai_stub(lambda call: call.speak(["Come ", "in."])) as stub:
        model = build_chat_model("openai:tiny", base_url=stub.base_url)
        assert model is not None
        assert [piece.text for piece in model.stream("Hello") if piece.text] == ["Come ", "in."]
    with openai_stub(lambda call: call.send("<title>Log in</title>", content_type="text/html")) as stub:
        model = build_chat_model("openai:tiny", base_url=stub.base_url)
        assert model is not None
        with pytest.raises(ModelUnavailableError, match="a web page") as caught:
            list(model.stream("Hello"))
        assert described(caught.value).startswith("the server answered HTTP 200 with a web page (text/html): 'Log in'")
