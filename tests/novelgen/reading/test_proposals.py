"""Ids for what a scene brings."""

from collections import Counter

from novelgen.chains.scene_record_chain import SceneRecordChain
from novelgen.reading.conclusion import AllocatedKind, with_given_ids
from tests.novelgen.reading.keeper_scene import ANSWER, answer, request
from tests.support.scripted_chat_model import answering


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
    model = answering(
        answer(
            state_changes=[holder],
            new_entities=[*ANSWER["new_entities"], ship],
            memories=[memory],
            characters_present=["C0", "Mr. Thorne"],
        )
    )
    result, entities = with_given_ids(SceneRecordChain(model).invoke(request()), Counters())
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
    result = SceneRecordChain(answering(answer())).invoke(request())
    assert result.record is not None
    [loop] = result.record.open_loops_created
    counters = Counters()
    known, _ = with_given_ids(result, counters, known_loops={loop.id: "OL3"})
    assert known.record is not None
    assert [each.id for each in known.record.open_loops_created] == ["OL3"]
    assert "open_loop" not in counters.given
    assert counters.given["character"] == 1
