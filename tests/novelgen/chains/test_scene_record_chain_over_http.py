"""The extraction of scene records with the real ChatOpenAI against a server on loopback."""

from __future__ import annotations

import json
from typing import Any

from langchain_openai import ChatOpenAI

from novelgen.chains.scene_record_chain import SceneRecordChain
from novelgen.reading.request import SceneRecordResult
from tests.novelgen.reading.keeper_scene import ANSWER, TEXT_ZH, answer, request
from tests.support.openai_stub import OpenAiStub, StubCall, openai_stub

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
