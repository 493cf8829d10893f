"""Relationships and open loops by tool, as of a position, with the arguments and answers of seed 000."""

import pytest

from novelgen.models.position import StoryPosition
from runtime.stores import MemoryStores
from tests.runtime.agents.conftest import Call

BEFORE, AFTER = StoryPosition(2, 1), StoryPosition(2, 2)


@pytest.mark.slow
def test_each_side_has_its_own_view_as_of_the_position(call: Call) -> None:
    """Status and view are those before the position, told from the asked side; names work as ids do."""
    assert call("relationship_query", as_of=BEFORE, character_id="Elena Thorne")["relationships"] == [
        {
            "character_id": "C1",
            "character_name": "Marcus Vale",
            "relationship_type": "student-mentor",
            "status": "strained",
            "your_view": "he hides something",
            "intensity": 7,
        }
    ]
    [marcus] = call("relationship_query", as_of=BEFORE, character_id="C1")["relationships"]
    assert (marcus["character_name"], marcus["relationship_type"]) == ("Elena Thorne", "mentor-student")
    later = call("relationship_query", as_of=AFTER, character_id="C0")["relationships"]
    assert [(each["character_id"], each["status"]) for each in later] == [("C1", "hostile"), ("C2", "neutral")]
    assert call("relationship_query", as_of=AFTER, character_id="C0", status_filter="strained") == {"relationships": []}
    answer = call("relationship_update", as_of=BEFORE, character_a="C0", character_b="C1", event="x", scene_id="S003")
    assert "no scene 'S003' is stored before 2:1" in answer["error"]["message"]


@pytest.mark.slow
def test_what_an_answer_names_is_what_the_next_call_takes(call: Call) -> None:
    """A model that repeats the ids that it read is understood."""
    views = {"perspective_a": "He lies.", "perspective_b": "She is slow."}
    made = call("relationship_create", character_a="C1", character_b="C2", relationship_type="rivals", **views)
    assert made == {"success": True, "relationship_id": "R2"}
    [rival] = [
        each for each in call("relationship_query", character_id="C1")["relationships"] if each["status"] == "neutral"
    ]
    changed = call("relationship_update", character_a="C1", character_b=rival["character_id"], status="hostile")
    assert changed == {"success": True, "relationship_id": "R2", "updated": True}
    again = call("relationship_update", character_a="C2", character_b="C1", status="hostile")
    assert again == {"success": True, "relationship_id": "R2", "updated": False}
    planted = call("add_open_loop", description="Who lit the lamp?")
    ended = call("resolve_open_loop", loop_id=planted["loop_id"], scene_id="S003", summary="Elena did.")
    assert (ended["loop_id"], ended["status"]) == (planted["loop_id"], "resolved")


@pytest.mark.parametrize(
    ("tool", "arguments", "message"),
    [
        ("relationship_update", {"character_a": "C0", "character_b": "C1"}, "nothing to update"),
        ("relationship_update", {"character_a": "C1", "character_b": "C2", "status": "x"}, "relationship_create"),
        ("relationship_query", {"character_id": "nobody"}, "known are Elena Thorne"),
        ("relationship_query", {"character": "C0"}, "did you mean 'character_id'?"),
    ],
)
def test_calls_that_cannot_be_done_say_what_to_do(
    call: Call, tool: str, arguments: dict[str, str], message: str
) -> None:
    """Each refusal names the other tool, the missing argument or the known ids."""
    assert message in call(tool, **arguments)["error"]["message"]


def test_an_update_at_a_scene_holds_from_there(stores: MemoryStores, project: str, call: Call) -> None:
    """The event stands in the history at its scene; what came later stays later."""
    call("relationship_update", character_a="C0", character_b="C1", event="a quarrel", scene_id="S002")
    with stores.database(project).read() as unit:
        relation = unit.relationships.between("C1", "C0")
    assert relation is not None
    assert [(each.event, each.chapter_index, each.scene_index) for each in relation.history] == [
        ("", 1, 2),
        ("a quarrel", 1, 2),
        ("he betrayed her", 2, 1),
    ]
    assert relation.status == "hostile"


@pytest.mark.slow
def test_an_update_changes_type_views_and_one_side(stores: MemoryStores, project: str, call: Call) -> None:
    """Seeds 000.23 and 002.36: a tool changes type and views, and the feelings of character_a alone."""
    answer = call(
        "relationship_update",
        character_a="C1",
        character_b="C0",
        relationship_type="hunter and prey",
        perspective_a="she is mine to catch",
        dimensions={"fear": 20},
        mutual_dimensions={"trust": -60},
    )
    assert answer == {"success": True, "relationship_id": "R0", "updated": True}
    with stores.database(project).read() as unit:
        relation = unit.relationships.between("C0", "C1")
    assert relation is not None
    assert relation.relationship_type == "prey and hunter"
    assert (relation.perspective_a, relation.perspective_b) == ("he hides something", "she is mine to catch")
    assert (relation.dimensions, relation.dimensions_a, relation.dimensions_b) == ({"trust": -60}, {}, {"fear": 20})
    wrong = call("relationship_update", character_a="C1", character_b="C0", dimensions={"trust": 101})
    assert "trust=101" in wrong["error"]["message"]
