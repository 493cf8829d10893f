"""What a model may write in the fields of a record, and what becomes of a form that it uses wrongly."""

import json
from typing import Any

import pytest

from novelgen.language.language import StoryLanguage
from novelgen.model_calls.prompting import read_prompt_example
from novelgen.models.entity import Entity, EntityAlias
from novelgen.models.record import SceneRecord
from novelgen.models.state import OpenLoop
from novelgen.reading.request import PromptMemory
from tests.novelgen.reading.keeper_scene import ANSWER, ENTITIES, TEXT_ZH, answer, extracted, recorded

GUARD = Entity(entity_id="F0", entity_type="faction", name="the lifeboat crew", aliases=[EntityAlias(alias="救生艇队")])
LIGHT = Entity(entity_id="I1", entity_type="item", name="the walking light", aliases=[EntityAlias(alias="会走的灯光")])
EVERYBODY_ELSE = [
    Entity(entity_id="C5", entity_type="character", name="Osric", aliases=[EntityAlias(alias="奥斯里克")]),
    GUARD,
    LIGHT,
]
CAST = [*ENTITIES, *EVERYBODY_ELSE]
MEMORIES = [
    PromptMemory(memory_id=f"m-{number}", says=says, chapter_index=1, scene_index=number, entities=["C0", "C1"])
    for number, says in enumerate(
        ("Ada says that the light walks by itself.", "Ben has the key.", "The lamp burns, and Osric tends it."), start=1
    )
]
LOOPS = [OpenLoop(loop_id="OL0", category="promise", description="Will Ben keep the lamp burning?")]

IDS = {"Ada": "C0", "Ben": "C1", "key": "I0", "lamp room": "L1", "crew": "F0", "light": "I1", "loop": "OL0"}
NAMES = {
    "Ada": "Ada",
    "Ben": "the lamplighter",
    "key": "The brass key",
    "lamp room": "the lamp room",
    "crew": "The lifeboat crew",
    "light": "the walking light",
    "loop": "Will Ben keep the lamp burning",
}
CHINESE_NAMES = {
    "Ada": "阿黛",
    "Ben": "阿本",
    "key": "铜钥匙",
    "lamp room": "灯室",
    "crew": "救生艇队",
    "light": "会走的灯光",
    "loop": "Will Ben keep the lamp burning?",
}


def answer_with(names: dict[str, str]) -> str:
    """Return an answer that says whom and what it means by these names, in every field that can."""
    ada, ben, key, room, crew, light = (names[one] for one in ("Ada", "Ben", "key", "lamp room", "crew", "light"))
    return answer(
        pov=ada,
        location=room,
        characters_present=[ada, ben],
        new_entities=[],
        state_changes=[
            {"entity": key, "attribute": "holder", "value": ben, "evidence": "Ben took the key"},
            {"entities": [ada, ben], "attribute": "location_id", "value": room, "evidence": "the lamp room"},
            {"entity": crew, "attribute": "members", "op": "add", "value": [ben], "evidence": "Ben"},
            {"entity": light, "attribute": "identity", "value": ben, "evidence": "trimming the wick"},
            {"entity": ada, "attribute": "disguise", "value": ben, "evidence": "said Ada"},
        ],
        relationship_changes=[{"character_a": ada, "character_b": ben, "status": "strained", "intensity": 6}],
        open_loops_created=[{"description": "Why does Thorne want the key?", "entities": [ada, key, room, crew]}],
        open_loops_moved=[{"id": names["loop"], "note": "it went out", "outcome": "part"}],
        memories=[
            {
                "content": "Ada gave Ben the brass key.",
                "entities": [ada, ben, key],
                "slot": f"{key}.holder",
                "known_by": [ada],
                "hidden_from": [crew],
                "evidence": "Ben took the key",
            }
        ],
        learned=[
            {"who": [ben], "memories": ["M1"], "from_whom": ada, "quote": "said Ada"},
            {"who": ben, "memories": "N1", "how": "witnessed", "quote": "Ben took the key"},
        ],
    )


def read(given: str, **changes: Any) -> SceneRecord:
    """Return the record of an answer, in a story with more people, things and memories."""
    more: dict[str, Any] = {"entities": CAST, "memories": MEMORIES, "open_loops": LOOPS}
    return recorded(given, **{**more, **changes})


@pytest.mark.parametrize("names", [NAMES, CHINESE_NAMES], ids=["names", "Chinese aliases"])
def test_every_field_takes_the_id_or_the_plain_name_of_anybody_known(names: dict[str, str]) -> None:
    """Ids, English names and Chinese aliases give the same record."""
    by_id = read(answer_with(IDS))
    assert read(answer_with(names)) == by_id
    [link] = [change for change in by_id.state_changes if "identity" in change.changes]
    assert (link.entity_id, link.changes) == ("I1", {"identity": "C1"})
    assert by_id.open_loops_created[0].related_characters == ["C0", "F0"]
    assert by_id.memories[0].slot_type == "I0.holder"
    assert [(learning.character_id, learning.from_id) for learning in by_id.learned] == [("C1", "C0"), ("C1", None)]
    assert by_id.learned[1].memory_ids == [by_id.memories[0].memory_id]


@pytest.mark.parametrize(
    "everybody",
    ["everybody", "everybody present", "Everyone", "all", "all present", "在场的人", "众人", "所有在场的人", "大家"],
)
def test_everybody_means_all_who_are_present_in_every_list_of_people(everybody: str) -> None:
    """One word in place of their ids, in English and in Chinese; a group of that name would come first."""
    given = answer(
        new_entities=[],
        state_changes=[
            {"entities": [everybody], "attribute": "location_id", "value": "L1", "evidence": "the lamp room"},
            {"entity": "F0", "attribute": "members", "op": "add", "value": [everybody], "evidence": "Ben"},
        ],
        open_loops_created=[{"description": "Who told Thorne?", "entities": [everybody]}],
        memories=[{**ANSWER["memories"][0], "entities": [everybody], "known_by": everybody}],
        learned=[{"who": everybody, "memories": ["M1"], "from_whom": "Osric", "quote": "said Ada"}],
    )
    record = read(given)
    assert [change.entity_id for change in record.state_changes if "location_id" in change.changes] == ["C0", "C1"]
    assert [change.changes for change in record.state_changes if "members" in change.changes] == [
        {"members": ["C0", "C1"]}
    ]
    assert record.open_loops_created[0].related_characters == ["C0", "C1"]
    assert (record.memories[0].entities, record.memories[0].known_by) == (["C0", "C1"], ["C0", "C1"])
    assert [learning.character_id for learning in record.learned] == ["C0", "C1"]
    crew = Entity(entity_id="F1", entity_type="faction", name=everybody)
    named = read(given, entities=[*CAST, crew])
    assert named.memories[0].entities == ["F1"]


@pytest.mark.parametrize("said", [["M1", "M3"], "M1, M3", "M1 和 M3", ["M1", "M1", "M3", "M77"]])
def test_one_memory_may_end_several(said: object) -> None:
    """A list or a text of numbers; a number that no list has is told and ends nothing."""
    given = answer(new_entities=[], memories=[{**ANSWER["memories"][0], "supersedes": said}])
    record = read(given)
    assert (record.memories[0].supersedes, record.memories[0].also_supersedes) == ("m-1", ["m-3"])
    assert record.memories[0].superseded_ids == ["m-1", "m-3"]


def test_a_lie_keeps_its_claimant_what_refutes_it_and_those_who_believe_it() -> None:
    """The memory ends the claim that was known, the liar knows it, and another is deceived, in the same record."""
    lie = {
        "content": "Ben claimed falsely that the light walks by itself: it was the crew's lantern.",
        "entities": ["C1", "F0"],
        "supersedes": ["M1"],
        "known_by": ["C1"],
        "hidden_from": ["everybody"],
        "evidence": "said Ada",
    }
    learning = {"who": ["Ada"], "memories": ["N1"], "kind": "deceived", "from_whom": "Ben", "quote": "said Ada"}
    record = read(answer(new_entities=[], memories=[lie], learned=[learning]))
    [memory] = record.memories
    assert (memory.supersedes, memory.known_by, memory.hidden_from) == ("m-1", ["C1"], ["C0"])
    [told] = record.learned
    assert (told.character_id, told.kind, told.from_id, told.memory_ids) == ("C0", "deceived", "C1", [memory.memory_id])


WRONG: list[tuple[dict[str, Any], str]] = [
    ({"memories": [{**ANSWER["memories"][0], "supersedes": ["M77"]}]}, "M77"),
    ({"memories": [{**ANSWER["memories"][0], "entities": ["nobody known"]}]}, "nobody known"),
    ({"learned": [{"who": ["Ada"], "memories": ["N9"], "quote": "said Ada"}]}, "N9"),
    ({"learned": [{"who": ["a stranger"], "memories": ["M1"], "quote": "said Ada"}]}, "a stranger"),
    ({"state_changes": [{"entity": "I1", "attribute": "identity", "value": "C99", "evidence": "Ada"}]}, "C99"),
    ({"state_changes": [{"entity": "C99", "attribute": "disguise", "value": "Ben", "evidence": "Ada"}]}, "C99"),
    ({"open_loops_moved": [{"id": "OL99", "outcome": "part"}]}, "OL99"),
    ({"known_names": [{"entity": "Ada", "name": "Ben", "quote": "said Ada", "former": "Osric"}]}, "C1 bears it"),
]


@pytest.mark.parametrize(("changes", "told"), WRONG)
def test_a_reference_that_means_nothing_is_dropped_and_told(changes: dict[str, Any], told: str) -> None:
    """The rest of the answer is the record of the scene."""
    given = answer(new_entities=[], **changes)
    result = extracted(given, "{}", entities=CAST, memories=MEMORIES, open_loops=LOOPS)
    assert result.status == "done"
    assert result.record is not None
    assert result.record.memories
    assert told in " ".join([*(issue.message for issue in result.issues), *map(str, result.unplaced)])


MISFITS: list[tuple[str, dict[str, Any]]] = [
    ("state_changes", {"entity": "C0", "attribute": "disguise", "op": "replace", "value": "Ben"}),
    ("state_changes", {"entity": "C0", "attribute": "status", "when": "once", "value": "a lie"}),
    ("open_loops_moved", {"id": "OL0", "outcome": "kept and goes on"}),
    ("learned", {"who": ["Ada"], "memories": ["N1"], "kind": "lied to"}),
    ("same_entities", {"a": "C0", "b": "I1", "how": "across kinds"}),
    ("memories", {"content": "Ben has the key.", "importance": "weighty"}),
    ("new_entities", {"name": "the wick", "entity_type": "wick"}),
]


@pytest.mark.parametrize(("name", "item"), MISFITS, ids=[f"{name} {list(item)[-1]}" for name, item in MISFITS])
def test_an_item_that_no_schema_fits_costs_itself_alone(name: str, item: dict[str, Any]) -> None:
    """The model is asked once more; where it repeats the item, that is dropped and told, and the scene is read."""
    wrong = json.dumps({**ANSWER, name: [*ANSWER.get(name, []), item]})
    result = extracted(wrong, wrong)
    assert (result.status, result.model_calls) == ("done", 2)
    assert result.record == recorded(answer())
    [issue] = [issue for issue in result.issues if issue.kind == "malformed"]
    assert f"{name}[{len(ANSWER.get(name, []))}]" in issue.message


def test_an_answer_of_which_no_memory_fits_is_refused() -> None:
    """Where nothing fits that was asked for, its shape is wrong, and the report says how."""
    result = extracted(*[answer(memories=["Ben has the key."])] * 2)
    assert (result.status, result.fault) == ("failed", "schema")
    assert "memories.0" in str(result.reason)


def test_two_kinds_are_not_made_one_but_told_by_the_state_of_what_it_was_taken_for() -> None:
    """The walking light stays a thing, and its state says in the story's id who it was."""
    change = {"entity": "会走的灯光", "attribute": "身份", "value": "阿本", "evidence": "阿本正用左手修灯芯"}
    given = answer(new_entities=[], state_changes=[change], memories=[{**ANSWER["memories"][0], "evidence": "灭了"}])
    record = read(given, text=TEXT_ZH)
    assert [(one.entity_id, one.changes) for one in record.state_changes] == [("I1", {"identity": "C1"})]


@pytest.mark.parametrize(("outcome", "moved"), [("advanced", (1, False)), ("part", (1, True)), ("kept", (0, False))])
def test_a_standing_promise_that_was_kept_goes_on(outcome: str, moved: tuple[int, bool]) -> None:
    """Kept once more it is advanced, with a note of it; half answered it is still open; kept for good it is over."""
    move = {"id": "OL0", "note": "He kept it burning this night.", "outcome": outcome}
    record = read(answer(new_entities=[], open_loops_moved=[move]))
    assert (len(record.open_loops_advanced), any(one.pays_part for one in record.open_loops_advanced)) == moved
    assert len(record.open_loops_resolved) == 1 - moved[0]


def test_a_known_thread_may_get_a_term() -> None:
    """The words that the text sets for it stand on its move."""
    move = {"id": "OL0", "note": "Ada gives him a week.", "outcome": "advanced", "pay_off": "within a week"}
    [advanced] = read(answer(new_entities=[], open_loops_moved=[move])).open_loops_advanced
    assert (advanced.id, advanced.pay_off) == ("OL0", "within a week")


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_example_adds_a_bodily_state_to_those_that_are_there(language: StoryLanguage) -> None:
    """As the instructions ask: a second injury does not take the first one's place."""
    example = json.loads(read_prompt_example("scene_record", language))
    [body] = [one for one in example["state_changes"] if one["attribute"] == "physical_state"]
    assert body["op"] == "add"
