"""Thirty answers of small models, read by a person first: which plans may be used, and why the others not."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from novelgen.context.model_planner import ModelPlanner
from novelgen.context.retrieval_plan import RetrievalPlan
from novelgen.model_calls.answers import AnswerFault
from tests.novelgen.context.sample_scenes import SCENES
from tests.support.scripted_chat_model import ScriptedChatModel, finished

SAMPLES = {
    sample["id"]: sample
    for sample in map(
        json.loads, (Path(__file__).parents[2] / "data" / "llm_samples.jsonl").read_text(encoding="utf-8").splitlines()
    )
}

REASONS: dict[str, str] = {
    "cut": "cut at its token limit",
    "not_json": "no readable JSON object",
    "schema": "does not fit the schema",
    "empty": "the plan is empty",
    "echo": "repeats",
    "ungrounded": "nothing in the plan belongs to this story",
}


@dataclass(frozen=True)
class Accepted:
    """The plan is used, with these entities and this many queries."""

    entity_ids: list[str]
    queries: int


Verdict = Accepted | AnswerFault

VERDICTS: dict[str, Verdict] = {
    "schema-echo-nested-loop": "cut",
    "fence-preamble-missing-comma": "cut",
    "prose-retells-scene": "not_json",
    "prose-gibberish-zh": "cut",
    "object-wrong-keys": "schema",
    "object-wrong-keys-nested": "schema",
    "string-loop-cut-by-max-tokens": "cut",
    "grammar-valid-id-loop": "ungrounded",
    "grammar-cut-by-max-tokens": "cut",
    "grammar-valid-one-letter-entities": "ungrounded",
    "bounded-valid-dates-cut": "cut",
    "bounded-valid-clipped-mid-word": Accepted(["L2"], queries=2),
    "bounded-valid-foreign-names": "ungrounded",
    "entities-are-objects": "cut",
    "broken-brackets": "schema",
    "key-missing-entities": "schema",
    "valid-but-repeats": Accepted(["C1", "C2", "I1"], queries=2),
    "valid-example-leak-zh": "ungrounded",
    "lost-prompt-valid-empty-plan": "empty",
    "lost-prompt-empty-object": "schema",
    "echo-of-prompt-and-schema": "cut",
    "echo-of-format-example": "echo",
    "chat-markers-in-text": "cut",
    "json-then-junk": "cut",
    "valid-plan-is-the-prompt-example": "ungrounded",
    "duplicate-keys-repaired-to-empty": "cut",
    "good-fenced-zh": Accepted(["I2", "I1", "C4"], queries=4),
    "queries-list-of-lists": "schema",
    "queries-are-ref-strings": "cut",
    "good-one-shot": Accepted(["C1", "L1", "I2", "C2", "C4", "I1", "F1", "T1"], queries=7),
}

VERDICTS_IF_THE_SERVER_HID_THE_CUT: dict[str, Verdict | str] = {
    "schema-echo-nested-loop": "ends within its JSON object",
    "fence-preamble-missing-comma": "schema",
    "prose-gibberish-zh": "not_json",
    "string-loop-cut-by-max-tokens": "ends within its JSON object",
    "grammar-cut-by-max-tokens": "ends within its JSON object",
    "bounded-valid-dates-cut": "ends within its JSON object",
    "entities-are-objects": "ends within its JSON object",
    "echo-of-prompt-and-schema": "echo",
    "chat-markers-in-text": "not_json",
    "json-then-junk": Accepted(["C1", "T1"], queries=0),
    "duplicate-keys-repaired-to-empty": Accepted(["C1"], queries=0),
    "queries-are-ref-strings": "ends within its JSON object",
}


def planned(sample: dict[str, Any], finish_reason: str) -> tuple[RetrievalPlan, ScriptedChatModel]:
    """Plan the sample's scene with a model that always gives the sample's answer."""
    scene = SCENES[sample["scene_id"]]
    model = ScriptedChatModel(answer=lambda _: finished(sample["raw"], finish_reason))
    plan = (
        ModelPlanner(model)
        .plan(scene.request, entities=scene.entities, names=scene.names, language=scene.language)
        .plan
    )
    return plan, model


def assert_verdict(plan: RetrievalPlan, model: ScriptedChatModel, verdict: Verdict | str) -> None:
    """Compare a plan with what a person said of the answer."""
    if isinstance(verdict, Accepted):
        assert (plan.planner.used, plan.entity_ids) == ("llm", verdict.entity_ids)
        assert len(plan.queries) == verdict.queries
        assert plan.issues == []
        assert len(model.prompts) == 1
    else:
        assert (plan.planner.used, plan.entity_ids, plan.queries) == ("rules", [], [])
        assert REASONS.get(verdict, verdict) in plan.planner.reason
        assert [issue.stage for issue in plan.issues] == ["plan"]
        assert len(model.prompts) == 2


def test_every_sample_has_a_verdict() -> None:
    """No recorded answer is left out of the tables."""
    cut = {name for name, sample in SAMPLES.items() if sample["finish_reason"] == "length"}
    assert set(VERDICTS) == set(SAMPLES)
    assert set(VERDICTS_IF_THE_SERVER_HID_THE_CUT) == cut
    assert len(SAMPLES) == 30


@pytest.mark.parametrize("name", VERDICTS)
def test_answer_is_judged_as_a_reader_judges_it(name: str) -> None:
    """A recorded answer is used or refused as expected; a refused one is asked for exactly once more."""
    sample = SAMPLES[name]
    plan, model = planned(sample, sample["finish_reason"])
    assert_verdict(plan, model, VERDICTS[name])


@pytest.mark.parametrize("name", VERDICTS_IF_THE_SERVER_HID_THE_CUT)
def test_cut_answer_is_never_closed_silently(name: str) -> None:
    """Where a server says "stop" for a cut answer, an incomplete object is still refused."""
    plan, model = planned(SAMPLES[name], "stop")
    assert_verdict(plan, model, VERDICTS_IF_THE_SERVER_HID_THE_CUT[name])


def test_queries_keep_what_is_known_and_drop_the_rest() -> None:
    """Filters of a query hold known ids only, an unknown content type becomes none, repeats are gone."""
    plan, _ = planned(SAMPLES["good-fenced-zh"], "stop")
    assert [(query.text, query.entities, query.content_type, query.purpose) for query in plan.queries] == [
        ("雁回岭一战", ["L2"], None, "model"),
        ("青鸾印的来历", ["I2"], None, "model"),
        ("霜眠剑折断的原因", ["I1"], None, "model"),
        ("沈怀舟对苏晚晴立下的誓言保持一致", ["C4"], None, "model"),
    ]
