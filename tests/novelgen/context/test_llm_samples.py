"""Thirty answers of small models, read by a person first: which plans may be used, and why the others not."""

import json
from dataclasses import dataclass
from pathlib import Path

import pytest

from novelgen.context.model_planner import ModelPlanner
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


@pytest.mark.parametrize("name", SAMPLES)
def test_answer_is_judged_as_a_reader_judges_it(name: str) -> None:
    """A recorded answer is used or refused as expected; a refused one is asked for exactly once more."""
    sample, verdict = SAMPLES[name], VERDICTS[name]
    scene = SCENES[sample["scene_id"]]
    model = ScriptedChatModel(answer=lambda _: finished(sample["raw"], sample["finish_reason"]))
    planner = ModelPlanner(model)
    plan = planner.plan(scene.request, entities=scene.entities, names=scene.names, language=scene.language).plan
    if isinstance(verdict, Accepted):
        assert (plan.planner.used, plan.entity_ids, len(plan.queries)) == ("llm", verdict.entity_ids, verdict.queries)
        assert (plan.issues, len(model.prompts)) == ([], 1)
    else:
        assert (plan.planner.used, plan.entity_ids, plan.queries) == ("rules", [], [])
        assert REASONS[verdict] in plan.planner.reason
        assert ([issue.stage for issue in plan.issues], len(model.prompts)) == (["plan"], 2)
