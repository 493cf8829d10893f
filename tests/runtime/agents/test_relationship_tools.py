"""Relationships and open loops by tool, as of a position."""

from novelgen.models.position import StoryPosition
from runtime.stores import MemoryStores
from tests.runtime.agents.conftest import Call

BEFORE, AFTER = StoryPosition(2, 1), StoryPosition(2, 2)


def test_status_and_views_are_those_before_the_position(call: Call) -> None:
    """With the names of both; on entering 2:1, scene S003 does not exist."""
    answer = call("relationship_query", as_of=BEFORE, character="Elena Thorne")
    (elena,) = answer["relationships"]
    assert (elena["character_a"], elena["character_b"], elena["status"]) == ("C0", "C1", "strained")
    assert (elena["perspective_a"], elena["intensity"]) == ("he hides something", 7)
    assert answer["names"] == {"C0": "Elena Thorne", "C1": "Marcus Vale"}
    later = call("relationship_query", as_of=AFTER, character="C0")["relationships"]
    assert [(each["character_b"], each["status"]) for each in later] == [("C1", "hostile"), ("C2", "neutral")]
    assert call("relationship_query", as_of=AFTER, character="C0", status="strained")["relationships"] == []
    answer = call("relationship_update", as_of=BEFORE, first="C0", second="C1", event="x", scene_id="S003")
    assert "no scene 'S003' is stored before 2:1" in answer["error"]["message"]


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
