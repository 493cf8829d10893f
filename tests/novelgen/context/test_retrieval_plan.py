"""The plan that a model fills, and the merging of plans."""

from typing import Any

import pytest
from pydantic import ValidationError

from novelgen.context.retrieval_plan import (
    MAX_ENTITIES,
    MAX_QUERIES,
    MAX_THREADS,
    ModelRetrievalPlan,
    RetrievalPlan,
    merge_plans,
    with_further,
)
from novelgen.memory.search import SearchQuery
from novelgen.models.context import PlannerReport, ReportIssue


def filled(**fields: Any) -> ModelRetrievalPlan:
    """Return a model's plan with these fields."""
    return ModelRetrievalPlan.model_validate({"entities": [], "queries": [], **fields})


def test_repeats_blanks_and_excess_are_dropped() -> None:
    """What says nothing or comes again is left out, and what is too much is cut off."""
    plan = filled(
        entities=["C1", "C1", "", None, *(f"E{number}" for number in range(40))],
        queries=[{"query": f"q{number}"} for number in range(40)],
    )
    assert plan.entities[:2] == ["C1", "E0"]
    assert (len(plan.entities), len(plan.queries)) == (MAX_ENTITIES, MAX_QUERIES)


def test_threads_are_optional_and_spoil_no_answer() -> None:
    """Only texts count, each once, as many as fit; those of both rounds are merged, the first one's first."""
    assert filled().threads == []
    assert filled(threads=None).threads == filled(threads="OL1").threads == filled(threads=[{"id": 1}]).threads == []
    said = filled(threads=[" OL2 ", "OL2", 7, *(f"OL{number}" for number in range(40))]).threads
    assert said[:2] == ["OL2", "OL0"]
    assert len(said) == MAX_THREADS
    rules, first = RetrievalPlan(entity_ids=["C1"]), RetrievalPlan(thread_ids=["OL2", "OL1"])
    further = RetrievalPlan(thread_ids=["OL1", "OL3"])
    assert with_further(merge_plans(rules, first), further).thread_ids == ["OL2", "OL1", "OL3"]


@pytest.mark.parametrize(
    ("given", "kept"),
    [("scene", "scene"), ("character", None), ("application/json", None), ("null", None), (None, None)],
)
def test_unknown_content_type_becomes_none(given: str | None, kept: str | None) -> None:
    """A filter that does not exist does not filter."""
    assert filled(queries=[{"query": "a", "content_type": given}]).queries[0].content_type == kept


@pytest.mark.parametrize(
    ("fields", "place"),
    [
        ({"entities": "C1"}, "entities"),
        ({"entities": [{"entity_id": 1}]}, "entities"),
        ({"entities": None}, "entities"),
        ({"queries": ["just text"]}, "queries"),
        ({"queries": [[{"query": "a"}]]}, "queries"),
        ({"queries": [{"text": "a"}]}, "query"),
        ({"queries": {"query": "a"}}, "queries"),
        ({"queries": [{"query": "a", "content_type": ["scene"]}], "events": 3}, "events"),
    ],
)
def test_wrong_types_are_errors(fields: dict[str, Any], place: str) -> None:
    """An item of a wrong type is an error that names its place, never a guess."""
    with pytest.raises(ValidationError, match=place):
        filled(**fields)


def query(text: str, origin: Any = "rules", **filters: Any) -> SearchQuery:
    """Return a query."""
    return SearchQuery(text=text, origin=origin, **filters)


def test_model_adds_to_the_rules() -> None:
    """All of the rules stays in front; of the model only what is new is added; the reports are joined."""
    issue = ReportIssue(stage="plan", kind="unresolved", message="who?")
    rules = RetrievalPlan(
        entity_ids=["C1", "C2"],
        queries=[query("The oath"), query("the drains")],
        unresolved_names=["Hask"],
        issues=[issue],
    )
    model = RetrievalPlan(
        entity_ids=["C9", "C1"],
        queries=[query("the  OATH", "llm"), query("the oath", "llm", entities=["C9"]), query("bells", "llm")],
        planner=PlannerReport(used="llm", reason="asked"),
    )
    merged = merge_plans(rules, model)
    assert merged.entity_ids == ["C1", "C2", "C9"]
    assert [(each.text, each.origin) for each in merged.queries] == [
        ("The oath", "rules"),
        ("the drains", "rules"),
        ("the oath", "llm"),
        ("bells", "llm"),
    ]
    assert (merged.unresolved_names, merged.issues, merged.planner.used) == (["Hask"], [issue], "llm")
