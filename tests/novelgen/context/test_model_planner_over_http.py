"""The model planner with the real ChatOpenAI against a server on loopback."""

import json
import time
from typing import Any

import pytest
from langchain_openai import ChatOpenAI

from novelgen.context.model_planner import ModelPlanner
from novelgen.context.retrieval_plan import MAX_QUERIES, RetrievalPlan
from tests.faults.matrix import covers
from tests.novelgen.context.sample_scenes import SALT_GATE
from tests.support.openai_stub import OpenAiStub, Responder, StubCall, openai_stub

HANG_GUARD_S = 30.0
KEY = "sk-verysecretverysecret"
GOOD = json.dumps(
    {
        "entities": ["C1", "F1"],
        "events": [],
        "queries": [{"query": "how Mara swore her oath", "entities": ["C1"], "content_type": None, "tags": []}],
    }
)
REFUSED_FORMAT = "'response_format' of type '{}' is not supported with this model."


def planner_for(stub: OpenAiStub, *, timeout_s: float = HANG_GUARD_S, **options: Any) -> ModelPlanner:
    """Return a planner whose ChatOpenAI talks to the stub with the client's own timeouts and retries."""
    model = ChatOpenAI(model="stub", base_url=stub.base_url, api_key=KEY, **options)
    return ModelPlanner(model, timeout_s=timeout_s)


def planned(planner: ModelPlanner) -> RetrievalPlan:
    """Plan the sample scene."""
    return planner.plan(SALT_GATE.request, entities=SALT_GATE.entities, names=SALT_GATE.names, language="en").plan


def formats(stub: OpenAiStub) -> list[str | None]:
    """Return the response formats of the calls, in order."""
    return [call.get("response_format", {}).get("type") for call in stub.calls]


def test_good_plan_comes_back_by_json_schema() -> None:
    """The first call asks for the bounded, strict schema; its answer is the plan."""
    with openai_stub(lambda call: call.say(GOOD)) as stub:
        plan = planned(planner_for(stub))
    assert (plan.planner.used, plan.entity_ids, plan.issues) == ("llm", ["C1", "F1"], [])
    assert [query.text for query in plan.queries] == ["how Mara swore her oath"]
    assert formats(stub) == ["json_schema"]
    asked = stub.calls[0]["response_format"]["json_schema"]
    assert asked["strict"] is True
    assert asked["schema"]["required"] == ["entities", "events", "queries", "threads"]
    assert asked["schema"]["additionalProperties"] is False
    assert asked["schema"]["properties"]["queries"]["maxItems"] == MAX_QUERIES
    assert "maxLength" not in json.dumps(asked)


@covers(41)
@pytest.mark.parametrize("supported", ["json_object", None])
@pytest.mark.parametrize("status", [400, 500])
def test_refused_response_format_falls_back_and_is_remembered(supported: str | None, status: int) -> None:
    """Schema, then JSON mode, then the prompt alone; the next plan starts with what the server took."""

    def respond(call: StubCall) -> None:
        wanted = call.payload.get("response_format", {}).get("type")
        if wanted == supported:
            call.say(f"```json\n{GOOD}\n```")
        else:
            call.refuse(status, REFUSED_FORMAT.format(wanted))

    with openai_stub(respond) as stub:
        planner = planner_for(stub, max_retries=0)
        plans = [planned(planner), planned(planner)]
    assert [plan.planner.used for plan in plans] == ["llm", "llm"]
    tried = ["json_schema", "json_object", None]
    assert formats(stub) == [*tried[: tried.index(supported) + 1], supported]


def test_passing_trouble_does_not_demote_the_format() -> None:
    """A server that refuses everything is asked for the schema again next time."""
    healthy = False

    def respond(call: StubCall) -> None:
        if healthy:
            call.say(GOOD)
        else:
            call.refuse(500, "out of memory")

    with openai_stub(respond) as stub:
        planner = planner_for(stub, max_retries=0)
        assert planned(planner).planner.used == "rules"
        healthy = True
        assert planned(planner).planner.used == "llm"
    assert formats(stub) == ["json_schema", "json_object", None, "json_schema"]


def test_cut_plan_is_asked_for_once_more() -> None:
    """`finish_reason` length raises before anything is parsed; a complete second answer counts, a cut one does not."""
    with openai_stub(lambda call: call.say(GOOD, finish_reason="length")) as stub:
        plan = planned(planner_for(stub))
    assert (plan.planner.used, plan.entity_ids) == ("rules", [])
    assert "cut at its token limit" in plan.planner.reason
    assert [issue.kind for issue in plan.issues] == ["over_limit"]
    assert len(stub.calls) == 2
    assert [message["role"] for message in stub.calls[1]["messages"]] == ["system", "user", "assistant", "user"]
    with openai_stub(lambda call: call.say(GOOD, finish_reason="stop" if call.index else "length")) as stub:
        plan = planned(planner_for(stub))
    assert plan.planner.used == "llm"


@covers(38, 39)
@pytest.mark.parametrize(
    ("respond", "kinds"),
    [
        (lambda call: call.hang(), {"timeout"}),
        (lambda call: call.drip(GOOD, seconds_per_byte=0.2), {"timeout"}),
        (lambda call: call.refuse(503, "starting", headers={"Retry-After": "55"}), {"timeout"}),
        # Some versions of the client wait an hour, others give up at once.
        (lambda call: call.refuse(429, "slow down", headers={"Retry-After": "3600"}), {"timeout", "unavailable"}),
    ],
    ids=["hang", "drip", "retry-after-55", "retry-after-3600"],
)
def test_deadline_holds_whatever_the_server_does(respond: Responder, kinds: set[str]) -> None:
    """A hang, a drip that defeats read timeouts, and long waits between retries end with the total deadline."""
    with openai_stub(respond) as stub:
        planner = planner_for(stub, timeout_s=0.5, timeout=60, max_retries=50)
        started = time.monotonic()
        plan = planned(planner)
        assert time.monotonic() - started < HANG_GUARD_S / 2
    assert (plan.planner.used, plan.queries) == ("rules", [])
    assert [issue.stage for issue in plan.issues] == ["plan"]
    assert {issue.kind for issue in plan.issues} <= kinds


@covers(40)
@pytest.mark.parametrize(
    ("respond", "reason"),
    [
        (lambda call: call.refuse(429, "slow down", headers={"Retry-After": "3600"}), "HTTP 429: slow down"),
        (lambda call: call.refuse(500, "broken"), "HTTP 500: broken"),
        (
            lambda call: call.refuse(401, f"Incorrect API key provided: {KEY}"),
            "HTTP 401: Incorrect API key provided: [key]",
        ),
        (lambda call: call.send("<html>Bad gateway</html>"), "HTTP 200 with a web page (application/json)"),
        (lambda call: call.send('{"id": "x", "choices": []}'), "an answer without any choice"),
        (lambda call: call.send(""), "HTTP 200 with what is no JSON"),
        (lambda call: call.handler.connection.close(), "the model gave no answer"),
    ],
    ids=["429", "500", "401", "html-as-json", "no-choices", "empty", "closed"],
)
def test_broken_server_leaves_it_to_the_rules(respond: Responder, reason: str) -> None:
    """Whatever a server answers instead of a completion becomes one issue without the key."""
    with openai_stub(respond) as stub:
        plan = planned(planner_for(stub, max_retries=0))
    assert (plan.planner.used, plan.entity_ids, plan.queries) == ("rules", [], [])
    assert reason in plan.planner.reason
    assert KEY not in plan.model_dump_json()
    assert [(issue.stage, issue.kind) for issue in plan.issues] == [("plan", "unavailable")]
