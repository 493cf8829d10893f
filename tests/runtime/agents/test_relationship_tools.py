"""Relationships and open loops by tool, as of a position."""

from __future__ import annotations

import pytest

from novelgen.models.position import StoryPosition
from runtime.stores import MemoryStores
from tests.runtime.agents.conftest import Call

BEFORE, AFTER = StoryPosition(2, 1), StoryPosition(2, 2)


def test_status_and_views_are_those_before_the_position(call: Call) -> None:
    """What a relationship is before the position, with the names of both; names work as ids do."""
    answer = call("relationship_query", as_of=BEFORE, character="Elena Thorne")
    (elena,) = answer["relationships"]
    assert (elena["character_a"], elena["character_b"], elena["status"]) == ("C0", "C1", "strained")
    assert (elena["perspective_a"], elena["intensity"]) == ("he hides something", 7)
    assert answer["names"] == {"C0": "Elena Thorne", "C1": "Marcus Vale"}
    later = call("relationship_query", as_of=AFTER, character="C0")["relationships"]
    assert [(each["character_b"], each["status"]) for each in later] == [("C1", "hostile"), ("C2", "neutral")]
    assert call("relationship_query", as_of=AFTER, character="C0", status="strained")["relationships"] == []


@pytest.mark.parametrize(("first", "second"), [("C0", "C1"), ("C1", "C0")])
def test_an_update_finds_the_pair_in_either_order(call: Call, first: str, second: str) -> None:
    """Both orders mean the same relationship, and views are not swapped by it."""
    answer = call("relationship_update", first=first, second=second, status="reconciled", event="they talked")
    assert (answer["relationship"]["relationship_id"], answer["is_changed"]) == ("R0", True)
    (marcus,) = call("relationship_query", character="C1")["relationships"]
    assert (marcus["status"], marcus["perspective_b"]) == ("reconciled", "she asks too many questions")


def test_an_update_changes_type_views_and_one_side(stores: MemoryStores, project: str, call: Call) -> None:
    """Seeds 000.23 and 002.36: a tool changes type and views, and the feelings of character_a alone."""
    answer = call(
        "relationship_update",
        first="C1",
        second="C0",
        relationship_type="hunter and prey",
        perspective_a="she is mine to catch",
        dimensions={"fear": 20},
        mutual_dimensions={"trust": -60},
    )
    assert (answer["relationship"]["relationship_id"], answer["is_changed"]) == ("R0", True)
    with stores.database(project).read() as unit:
        relation = unit.relationships.between("C0", "C1")
    assert relation is not None
    assert relation.relationship_type == "prey and hunter"
    assert (relation.perspective_a, relation.perspective_b) == ("he hides something", "she is mine to catch")
    assert (relation.dimensions, relation.dimensions_a, relation.dimensions_b) == ({"trust": -60}, {}, {"fear": 20})
    wrong = call("relationship_update", first="C1", second="C0", dimensions={"trust": 101})
    assert "trust=101" in wrong["error"]["message"]


def test_an_update_at_a_scene_holds_from_there(stores: MemoryStores, project: str, call: Call) -> None:
    """The event stands in the history at its scene; what came later stays later."""
    call("relationship_update", first="C0", second="C1", event="a quarrel", scene_id="S002")
    with stores.database(project).read() as unit:
        relation = unit.relationships.between("C1", "C0")
    assert relation is not None
    assert [(each.event, each.chapter_index, each.scene_index) for each in relation.history] == [
        ("", 1, 2),
        ("a quarrel", 1, 2),
        ("he betrayed her", 2, 1),
    ]
    assert relation.status == "hostile"


def test_an_update_that_says_nothing_new_changes_nothing(stores: MemoryStores, project: str, call: Call) -> None:
    """The same status again is no event."""
    answer = call("relationship_update", first="C0", second="C1", status="hostile")
    assert (answer["relationship"]["relationship_id"], answer["is_changed"]) == ("R0", False)
    with stores.database(project).read() as unit:
        relation = unit.relationships.between("C0", "C1")
    assert relation is not None
    assert len(relation.history) == 2


@pytest.mark.parametrize(
    ("tool", "arguments", "message"),
    [
        ("relationship_update", {"first": "C0", "second": "C1"}, "nothing to update"),
        ("relationship_update", {"first": "C1", "second": "C2", "status": "x"}, "relationship_create"),
        ("relationship_update", {"first": "C0", "second": "C1", "event": "x", "scene_id": "S009"}, "S009"),
        ("relationship_update", {"first": "C0", "second": "the Archive", "status": "x"}, "no character"),
        ("relationship_query", {"character": "nobody"}, "known are C0 (Elena Thorne)"),
    ],
)
def test_calls_that_cannot_be_done_say_what_to_do(
    call: Call, tool: str, arguments: dict[str, str], message: str
) -> None:
    """Each refusal names the other tool, the missing argument or the known ids."""
    answer = call(tool, **arguments)
    assert message in answer["error"]["message"]


def test_a_pair_has_one_relationship(call: Call) -> None:
    """Creating it twice is refused with its id; so is a relationship with oneself."""
    views = {"perspective_a": "x", "perspective_b": "y", "relationship_type": "rivals"}
    again = call("relationship_create", first="C1", second="C0", **views)
    assert "relationship R0 already; use relationship_update" in again["error"]["message"]
    alone = call("relationship_create", first="C0", second="the Cartographer", **views)
    assert alone["error"]["kind"] == "user-input"


def test_a_scene_of_the_future_is_not_known(call: Call) -> None:
    """On entering 2:1, scene S003 does not exist."""
    answer = call("relationship_update", as_of=BEFORE, first="C0", second="C1", event="x", scene_id="S003")
    assert "no scene 'S003' is stored before 2:1" in answer["error"]["message"]


def test_loops_are_planted_and_end_at_their_places(stores: MemoryStores, project: str, call: Call) -> None:
    """A loop planted while planning 2:1 is open there, and abandoned only after it was abandoned."""
    made = call(
        "open_loop_create",
        as_of=BEFORE,
        description="Who was her father?",
        category="mystery",
        importance="critical",
        characters=["Elena Thorne"],
        locations=["the Archive"],
    )
    assert made["loop_id"] == "OL1"
    ended = call("open_loop_abandon", thread_id="OL1", summary="dropped")
    assert (ended["loop_id"], ended["status"]) == ("OL1", "abandoned")
    with stores.database(project).read() as unit:
        before = unit.threads.list_as_of(as_of=BEFORE)
        due = unit.threads.due(as_of=BEFORE)
        after = unit.threads.get("OL1")
    assert [loop.loop_id for loop in before] == ["OL0", "OL1"]
    assert before[1].related_entities == ["C0", "L0"]
    assert [loop.loop_id for loop in due] == ["OL0", "OL1"]
    assert after is not None
    assert (after.status, after.resolution_summary) == ("abandoned", "dropped")


def test_a_loop_that_is_not_open_cannot_end(call: Call) -> None:
    """Neither one that was never planted nor one that ended already; the open ones are listed."""
    unknown = call("open_loop_resolve", thread_id="OL7", summary="x")
    assert "open are OL0 (What does the fragment lead to?)" in unknown["error"]["message"]
    call("open_loop_resolve", thread_id="OL0", summary="x")
    again = call("open_loop_resolve", thread_id="OL0", summary="x")
    assert "no thread 'OL0' is open; open are none" in again["error"]["message"]
