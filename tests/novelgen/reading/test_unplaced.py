"""What an answer says and the record cannot hold is listed with its place and the reason."""

from __future__ import annotations

import pytest

from novelgen.chains.scene_record_chain import SceneRecordChain
from novelgen.reading.request import UnplacedItem
from tests.novelgen.reading.keeper_scene import ANSWER, answer, request
from tests.support.scripted_chat_model import answering


def unplaced(**changes: object) -> list[UnplacedItem]:
    """Return what could not be placed of the good answer with some keys changed."""
    result = SceneRecordChain(answering(answer(**changes))).invoke(request())
    assert result.status == "done"
    return result.unplaced


def test_a_good_answer_leaves_nothing_over() -> None:
    """Where everybody is known, the list is empty."""
    assert unplaced() == []


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


def test_the_reason_tells_a_wrong_type_from_an_unknown_name() -> None:
    """A person given as a place is not the same mistake as an invented name."""
    [wrong] = unplaced(location="C0")
    [unknown] = unplaced(pov="Atlantis")
    assert wrong.reason == "C0 is a character, not a location"
    assert "nor a name" in unknown.reason


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
