"""What could not be placed is asked about once more, in the same conversation."""

import json
from typing import Any

import pytest
from langchain_core.messages import AIMessage

from novelgen.chains.scene_record_chain import SceneRecordChain
from novelgen.reading.answer_reading import is_worth_asking
from novelgen.reading.request import SceneRecordResult, UnplacedItem
from tests.novelgen.reading.keeper_scene import ANSWER, answer, request
from tests.support.scripted_chat_model import ScriptedChatModel, answering

LOST = {
    "entity": "a pedlar from Hythe",
    "attribute": "status",
    "value": "gone",
    "evidence": ANSWER["memories"][0]["evidence"],
}


def correction(**changes: Any) -> str:
    """Return an answer that corrects what it is given, and nothing else."""
    return json.dumps({"summary": [], "memories": [], **changes})


def extracted(*answers: str | AIMessage) -> tuple[SceneRecordResult, ScriptedChatModel]:
    """Extract the sample scene with these answers."""
    model = answering(*answers)
    return SceneRecordChain(model).invoke(request()), model


def states(result: SceneRecordResult) -> list[tuple[str, dict[str, Any]]]:
    """Return the state changes of a record."""
    assert result.record is not None
    return [(change.entity_id, change.changes) for change in result.record.state_changes]


def test_a_corrected_item_enters_the_record() -> None:
    """The model says whom it meant; the first item is gone from the list of what could not be placed."""
    meant = {**LOST, "entity": "C1"}
    result, model = extracted(answer(state_changes=[LOST]), correction(state_changes=[meant]))
    assert ("C1", {"status": "gone"}) in states(result)
    assert result.unplaced == []
    assert result.model_calls == 2
    asked = model.prompts[1][-1].text
    assert "state_changes[0].entity: a pedlar from Hythe" in asked
    assert model.prompts[1][-2].type == "ai"


def test_what_is_not_corrected_is_listed() -> None:
    """Nobody asks a third time; the reason tells a wrong type from an unknown name."""
    result, model = extracted(answer(state_changes=[LOST]), correction())
    assert [(item.field, item.text) for item in result.unplaced] == [("state_changes[0].entity", "a pedlar from Hythe")]
    assert len(model.prompts) == 2
    [wrong] = unplaced(location="C0")
    [unknown] = unplaced(pov="Atlantis")
    assert wrong.reason == "C0 is a character, not a location"
    assert "nor a name" in unknown.reason


def test_only_what_was_asked_about_is_taken() -> None:
    """Whatever else the second answer says, the first one stands."""
    second = correction(
        summary=["Something else."],
        memories=[{"content": "A new fact.", "evidence": "keeper"}],
        relationship_changes=[{"character_a": "C1", "character_b": "C2", "status": "hostile"}],
    )
    result, _ = extracted(answer(state_changes=[LOST]), second)
    first, _ = extracted(answer())
    assert result.record is not None
    assert first.record is not None
    assert result.record.summary == first.record.summary
    assert [each.content for each in result.record.memories] == [each.content for each in first.record.memories]
    assert result.record.relationship_changes == first.record.relationship_changes


@pytest.mark.parametrize("second", ["I cannot.", ""], ids=["prose", "nothing"])
def test_a_bad_second_answer_costs_only_itself(second: str) -> None:
    """The record of the first answer is kept, and what could not be placed is listed."""
    result, _ = extracted(answer(state_changes=[LOST]), second)
    assert result.status == "done"
    assert [item.text for item in result.unplaced] == ["a pedlar from Hythe"]


def test_a_lost_link_of_a_memory_is_not_worth_a_call() -> None:
    """A lost state, move or place is; where everybody is known nothing is left over."""
    link = UnplacedItem(field="memories[0].entities[1]", text="somebody", reason="nobody bears it")
    move = UnplacedItem(field="open_loops_moved[0].id", text="OL99", reason="no such loop")
    assert not is_worth_asking([link])
    assert is_worth_asking([link, move])
    assert unplaced() == []


def unplaced(**changes: object) -> list[UnplacedItem]:
    """Return what could not be placed of the good answer with some keys changed."""
    result = SceneRecordChain(answering(answer(**changes))).invoke(request())
    assert result.status == "done"
    return result.unplaced


@pytest.mark.parametrize(
    ("changes", "field", "text"),
    [
        ({"pov": "Nobody"}, "pov", "Nobody"),
        ({"location": "C0"}, "location", "C0"),
        ({"characters_present": ["C0", "Zed"]}, "characters_present[1]", "Zed"),
        (
            {"state_changes": [{"entity": "C77", "attribute": "status", "value": "gone"}]},
            "state_changes[0].entity",
            "C77",
        ),
        ({"relationship_changes": [{"character_a": "C0", "character_b": "Ada"}]}, "relationship_changes[0]", "Ada"),
        ({"open_loops_moved": [{"id": "OL9", "note": "n"}]}, "open_loops_moved[0].id", "OL9"),
        (
            {"open_loops_created": [{"description": "Who is Zed?", "entities": ["Zed"]}]},
            "open_loops_created[0].entities[0]",
            "Zed",
        ),
        ({"memories": [{**ANSWER["memories"][0], "slot": "Zed.status"}]}, "memories[0].slot", "Zed"),
    ],
)
def test_what_nobody_bears_is_listed(changes: dict[str, object], field: str, text: str) -> None:
    """Whatever has no place in the record is named with where the answer says it, and a reason."""
    found = unplaced(**changes)
    assert [(each.field, each.text) for each in found] == [(field, text)]
    assert all(each.reason for each in found)


@pytest.mark.parametrize(
    "words", ["in a cab on the Strand", "the rooms of Ben", "Ada's", "Mr. Thorne’s", "the brass key", "I0", "舟中"]
)
def test_a_scene_may_play_in_words(words: str) -> None:
    """A place without an id, a vehicle and a place called by whose it is are no question, and no entity's id."""
    result = SceneRecordChain(answering(answer(location=words))).invoke(request())
    assert result.unplaced == []
    assert result.record is not None
    assert result.record.location_id is None
    assert result.model_calls == 1


@pytest.mark.parametrize("said", ["C0 (Ada)", "L77"])
def test_an_id_that_is_no_place_is_asked_about(said: str) -> None:
    """Somebody's id, and one that nobody bears, are mistakes and not words."""
    assert [(each.field, each.text) for each in unplaced(location=said)] == [("location", said)]
