"""The extraction of scene records with the real ChatOpenAI against a server on loopback."""

import json
from typing import Any

from langchain_openai import ChatOpenAI

from novelgen.chains.scene_record_chain import SceneRecordChain
from novelgen.reading.request import SceneRecordResult
from tests.novelgen.reading.keeper_scene import answer, request
from tests.support.openai_stub import OpenAiStub, openai_stub

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
