"""The extraction of scene records with the real ChatOpenAI against a server on loopback."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest
from langchain_openai import ChatOpenAI

from novelgen.chains.scene_record_chain import SceneRecordChain
from novelgen.reading.request import SceneRecordResult
from tests.novelgen.reading.keeper_scene import ANSWER, TEXT_ZH, answer, request
from tests.support.openai_stub import OpenAiStub, Responder, StubCall, openai_stub

HANG_GUARD_S = 30.0
KEY = "sk-verysecretverysecret"
GOOD = answer()


def extracted(
    stub: OpenAiStub, *, timeout_s: float = HANG_GUARD_S, text: str | None = None, **options: Any
) -> SceneRecordResult:
    """Extract the sample scene through a client of its own."""
    model = ChatOpenAI(model="stub", base_url=stub.base_url, api_key=KEY, **options)
    chain = SceneRecordChain(model, timeout_s=timeout_s)
    return chain.invoke(request() if text is None else request(text))


def test_a_record_comes_back_by_json_schema() -> None:
    """One call with the bounded, strict schema gives a record."""
    with openai_stub(lambda call: call.say(GOOD)) as stub:
        result = extracted(stub)
    assert (result.status, result.model_calls, len(stub.calls)) == ("done", 1, 1)
    asked = stub.calls[0]["response_format"]["json_schema"]
    assert asked["strict"] is True
    assert asked["schema"]["additionalProperties"] is False
    assert asked["schema"]["properties"]["memories"]["maxItems"] == 12
    assert "discovery" in asked["schema"]["$defs"]["ModelMemory"]["properties"]["event_type"]["enum"]
    assert "maxLength" not in json.dumps(asked)


def test_a_chinese_scene_travels_whole() -> None:
    """Chinese text arrives and comes back as it is."""
    memory = {**ANSWER["memories"][0], "content": "阿本让灯灭了。", "evidence": "可星期二它灭了"}
    with openai_stub(lambda call: call.say(answer(memories=[memory]))) as stub:
        result = extracted(stub, text=TEXT_ZH)
    assert TEXT_ZH in stub.calls[0]["messages"][1]["content"]
    assert result.record is not None
    assert result.record.memories[0].memory_id not in [fact.id for fact in result.unverified]


def test_a_refused_format_falls_back_and_every_request_counts() -> None:
    """Schema, then JSON mode: both requests are in the count."""

    def respond(call: StubCall) -> None:
        if call.payload.get("response_format", {}).get("type") == "json_object":
            call.say(GOOD)
        else:
            call.refuse(400, "'response_format' of type 'json_schema' is not supported")

    with openai_stub(respond) as stub:
        result = extracted(stub, max_retries=0)
    assert (result.status, result.model_calls, len(stub.calls)) == ("done", 2, 2)


def test_a_cut_record_is_refused_after_one_repair() -> None:
    """A record that stopped at the token limit is never closed silently."""
    with openai_stub(lambda call: call.say(GOOD, finish_reason="length")) as stub:
        result = extracted(stub)
    assert (result.status, result.fault, result.record, len(stub.calls)) == ("failed", "cut", None, 2)
    assert [issue.kind for issue in result.issues] == ["over_limit"]


@pytest.mark.parametrize(
    "respond",
    [
        lambda call: call.hang(),
        lambda call: call.drip(GOOD, seconds_per_byte=0.2),
        lambda call: call.refuse(503, "starting", headers={"Retry-After": "55"}),
    ],
    ids=["hang", "drip", "retry-after"],
)
def test_the_deadline_holds_whatever_the_server_does(respond: Responder) -> None:
    """A hang, a drip and long waits between retries end with the total deadline, as a failed scene."""
    with openai_stub(respond) as stub:
        started = time.monotonic()
        result = extracted(stub, timeout_s=0.5, timeout=60, max_retries=50)
        assert time.monotonic() - started < HANG_GUARD_S / 2
    assert (result.status, result.fault, result.record) == ("failed", "timeout", None)
    assert [(issue.stage, issue.kind) for issue in result.issues] == [("extract", "timeout")]


@pytest.mark.parametrize(
    ("respond", "reason"),
    [
        (lambda call: call.refuse(429, "slow down", headers={"Retry-After": "3600"}), "Error code: 429"),
        (lambda call: call.refuse(500, "broken"), "Error code: 500"),
        (lambda call: call.refuse(401, f"Incorrect API key provided: {KEY}"), "Error code: 401"),
        (lambda call: call.send("<html>Bad gateway</html>", content_type="text/html"), "no answer"),
        (lambda call: call.send('{"id": "x", "choices": []}'), "no answer"),
        (lambda call: call.send(""), "no answer"),
        (lambda call: call.handler.connection.close(), "no answer"),
    ],
    ids=["429", "500", "401", "html", "no-choices", "empty", "closed"],
)
def test_a_broken_server_fails_the_scene_aloud(respond: Responder, reason: str) -> None:
    """Whatever comes instead of a completion is one issue with the reason and without the key."""
    with openai_stub(respond) as stub:
        result = extracted(stub, max_retries=0)
    assert (result.status, result.fault, result.record) == ("failed", "unavailable", None)
    assert reason in str(result.reason)
    assert KEY not in result.model_dump_json()


def test_a_failed_scene_does_not_spoil_the_next() -> None:
    """After an outage the same chain extracts again."""
    with openai_stub(lambda call: call.say(GOOD) if call.index else call.refuse(503, "no")) as stub:
        model = ChatOpenAI(model="stub", base_url=stub.base_url, api_key=KEY, max_retries=0)
        chain = SceneRecordChain(model)
        results = [chain.invoke(request()), chain.invoke(request())]
    assert [result.status for result in results] == ["failed", "done"]
