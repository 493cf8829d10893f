"""What could not be placed is asked about once more, in the same conversation; what a scene brings gets ids."""

import json
from collections import Counter
from typing import Any

import pytest
from langchain_core.messages import AIMessage

from novelgen.chains.scene_record_chain import SceneRecordChain
from novelgen.reading.answer_reading import is_worth_asking
from novelgen.reading.conclusion import AllocatedKind, with_given_ids
from novelgen.reading.request import SceneRecordResult, UnplacedItem
from tests.novelgen.reading.keeper_scene import ANSWER, answer, extracted, recorded, request
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


def asked(*answers: str | AIMessage) -> tuple[SceneRecordResult, ScriptedChatModel]:
    """Extract the sample scene with these answers, and return the model, too."""
    model = answering(*answers)
    return SceneRecordChain(model).invoke(request()), model


def states(result: SceneRecordResult) -> list[tuple[str, dict[str, Any]]]:
    """Return the state changes of a record."""
    assert result.record is not None
    return [(change.entity_id, change.changes) for change in result.record.state_changes]


def test_a_corrected_item_enters_the_record() -> None:
    """The model says whom it meant; the first item is gone from the list of what could not be placed."""
    meant = {**LOST, "entity": "C1"}
    result, model = asked(answer(state_changes=[LOST]), correction(state_changes=[meant]))
    assert ("C1", {"status": "gone"}) in states(result)
    assert result.unplaced == []
    assert result.model_calls == 2
    shown = model.prompts[1][-1].text
    assert "state_changes[0].entity: a pedlar from Hythe" in shown
    assert model.prompts[1][-2].type == "ai"


def test_what_is_not_corrected_is_listed() -> None:
    """Nobody asks a third time; the reason tells a wrong type from an unknown name."""
    result, model = asked(answer(state_changes=[LOST]), correction())
    assert [(item.field, item.text) for item in result.unplaced] == [("state_changes[0].entity", "a pedlar from Hythe")]
    assert len(model.prompts) == 2
    [wrong] = unplaced(location="C0")
    [unknown] = unplaced(pov="Atlantis")
    assert wrong.reason == "C0 is a character, not a location"
    assert "nor a plain name" in unknown.reason


def test_only_what_was_asked_about_is_taken() -> None:
    """Whatever else the second answer says, the first one stands."""
    second = correction(
        summary=["Something else."],
        memories=[{"content": "A new fact.", "evidence": "keeper"}],
        relationship_changes=[{"character_a": "C1", "character_b": "C2", "status": "hostile"}],
    )
    record, first = recorded(answer(state_changes=[LOST]), second), recorded(answer())
    assert record.summary == first.summary
    assert [each.content for each in record.memories] == [each.content for each in first.memories]
    assert record.relationship_changes == first.relationship_changes


@pytest.mark.parametrize("second", ["I cannot.", ""], ids=["prose", "nothing"])
def test_a_bad_second_answer_costs_only_itself(second: str) -> None:
    """The record of the first answer is kept, and what could not be placed is listed."""
    result = extracted(answer(state_changes=[LOST]), second)
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
    result = extracted(answer(**changes))
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
    result = extracted(answer(location=words))
    assert result.unplaced == []
    assert result.record is not None
    assert result.record.location_id is None
    assert result.model_calls == 1


@pytest.mark.parametrize("said", ["C0 (Ada)", "L77"])
def test_an_id_that_is_no_place_is_asked_about(said: str) -> None:
    """Somebody's id, and one that nobody bears, are mistakes and not words."""
    assert [(each.field, each.text) for each in unplaced(location=said)] == [("location", said)]


class Counters:
    """Gives out ids as the program's counters do."""

    def __init__(self) -> None:
        self.given: Counter[str] = Counter()

    def __call__(self, kind: AllocatedKind) -> str:
        self.given[kind] += 1
        prefix = {"character": "C", "item": "I", "open_loop": "OL"}[kind]
        return f"{prefix}{10 + self.given[kind]}"


def test_temporary_ids_are_replaced_everywhere() -> None:
    """Entities, loops, memories, states and slots speak of the given ids; texts stay as they are."""
    holder = {"entity": "the Marigold", "attribute": "holder", "value": "Mr. Thorne", "evidence": "The Marigold came"}
    ship = {"name": "the Marigold", "entity_type": "item"}
    memory = {
        "content": "Mr. Thorne owns new-1.",
        "entities": ["Mr. Thorne"],
        "slot": "Mr. Thorne.status",
        "evidence": "The Marigold came past",
    }
    told = {"state_changes": [holder], "new_entities": [*ANSWER["new_entities"], ship], "memories": [memory]}
    said = answer(**told, characters_present=["C0", "Mr. Thorne"])
    result, entities = with_given_ids(extracted(said), Counters())
    record = result.record
    assert record is not None
    assert [(each.entity_id, each.name, each.first_chapter, each.first_scene) for each in entities] == [
        ("C11", "Mr. Thorne", 3, 2),
        ("I11", "the Marigold", 3, 2),
    ]
    assert [(each.name_first_chapter, each.name_first_scene) for each in entities] == [(3, 2), (3, 2)]
    assert [(each.entity_id, each.changes) for each in record.state_changes] == [("I11", {"holder": "C11"})]
    assert record.characters_present == ["C0", "C11"]
    [loop] = record.open_loops_created
    assert (loop.id, loop.related_characters, loop.related_items) == ("OL11", ["C11"], ["I0"])
    [kept] = record.memories
    assert (kept.entities, kept.slot_type, kept.content) == (["C11"], "C11.status", "Mr. Thorne owns new-1.")


def test_a_loop_that_is_known_keeps_its_id() -> None:
    """Nothing is allocated for it; entities are given theirs as ever."""
    result = extracted(answer())
    assert result.record is not None
    [loop] = result.record.open_loops_created
    counters = Counters()
    known, _ = with_given_ids(result, counters, known_loops={loop.id: "OL3"})
    assert known.record is not None
    assert [each.id for each in known.record.open_loops_created] == ["OL3"]
    assert "open_loop" not in counters.given
    assert counters.given["character"] == 1
