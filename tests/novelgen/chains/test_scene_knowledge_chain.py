"""Who knows what when a scene ends, with a scripted model and no store."""

import json
from typing import Any

import pytest

from novelgen.chains.scene_record_chain import SceneKnowledgeChain, SceneKnowledgeResult
from novelgen.errors import InvalidProjectIdError
from novelgen.memory.knowledge_story import KnowledgeMemory, KnowledgeScene, KnowledgeStory
from novelgen.models.entity import Entity
from novelgen.models.position import StoryPosition
from novelgen.models.record import RecordedLearning, SceneRecord
from novelgen.reading.knowledge_reading import (
    CastMember,
    SceneKnowledge,
    SceneKnowledgeRequest,
    earlier_memories,
    with_knowledge,
    without_learnings,
)
from novelgen.reading.request import PromptMemory
from tests.support.scripted_chat_model import answering

TEXT = "Ada hid the silver key. 'I have it from Ben that the mill burnt,' she told Cora. Dan slept in the corner."
CAST = [("C0", "Ada", True), ("C1", "Ben", False), ("C2", "Cora", True), ("C3", "Dan", True)]


def request(**changes: Any) -> SceneKnowledgeRequest:
    """Return a scene with one memory, one earlier one, and three on stage."""
    return SceneKnowledgeRequest(
        **{
            "project_id": "mill",
            "chapter_index": 2,
            "scene_index": 3,
            "text": TEXT,
            "language": "en",
            "cast": [
                CastMember(entity=Entity(entity_id=each, entity_type="character", name=name), is_present=present)
                for each, name, present in CAST
            ],
            "memories": [PromptMemory(memory_id="K2", says="Ada hid the silver key.", entities=["C0"])],
            "earlier": [
                PromptMemory(
                    memory_id="K1", says="The mill burnt.", chapter_index=1, scene_index=1, known_by=["C0", "C1"]
                )
            ],
            **changes,
        }
    )


def said(*answers: dict[str, Any] | str, **changes: Any) -> SceneKnowledgeResult:
    """Return what becomes of these answers."""
    texts = [each if isinstance(each, str) else json.dumps(each) for each in answers]
    return SceneKnowledgeChain(answering(*texts)).invoke(request(**changes))


def knowledge(*answers: dict[str, Any] | str, **changes: Any) -> SceneKnowledge:
    """Return what is read of answers that can be used."""
    result = said(*answers, **changes)
    assert result.knowledge is not None
    return result.knowledge


def test_names_and_ids_of_the_cast_are_resolved() -> None:
    """Who is said to know and not to know it does not; an empty list of knowers hides it from all who might."""
    read = knowledge({"memories": [{"id": "N1", "known_by": ["Ada", "C2", "C3"], "hidden_from": ["Dan"]}]})
    assert read.knowers["K2"].known_by == ["C0", "C2"]
    assert read.knowers["K2"].hidden_from == ["C3"]
    read = knowledge({"memories": [{"id": "N1", "known_by": []}]})
    assert read.knowers["K2"].known_by == []
    assert read.knowers["K2"].hidden_from == ["C0", "C2", "C3"]


@pytest.mark.parametrize("everybody", ["everybody present", "all", "在场的人", "众人"])
def test_everybody_on_stage_may_be_said_in_one_word(everybody: str) -> None:
    """Of those from whom it is hidden, all but who is said to know it; of learners, all but who tells it."""
    read = knowledge(
        {
            "memories": [{"id": "N1", "known_by": ["Ada"], "hidden_from": everybody}],
            "learned": [{"who": everybody, "memories": ["M1"], "from_whom": "Ada", "quote": "the mill burnt"}],
        }
    )
    assert (read.knowers["K2"].known_by, read.knowers["K2"].hidden_from) == (["C0"], ["C2", "C3"])
    assert [learning.character_id for learning in read.learned] == ["C2", "C3"]
    read = knowledge({"memories": [{"id": "N1", "known_by": [everybody, "Ben"]}]})
    assert read.knowers["K2"].known_by == ["C0", "C2", "C3", "C1"]


def test_lies_and_whole_tales_are_learnt_too() -> None:
    """A memory of the scene itself can be believed wrongly; `all` is what the teller has lived through."""
    read = knowledge(
        {
            "memories": [{"id": "N1", "known_by": ["C0"]}],
            "learned": [
                {"who": ["C3"], "memories": ["N1"], "kind": "deceived", "quote": "Dan slept in the corner"},
                {"who": ["C2", "C0"], "memories": ["all"], "from_whom": "C0", "quote": "she told Cora"},
                {"who": ["C2"], "memories": ["all"], "quote": "she told Cora"},
            ],
        }
    )
    assert [(each.character_id, each.memory_ids, each.kind, each.from_id) for each in read.learned] == [
        ("C3", ["K2"], "deceived", None),
        ("C2", [], "knows", "C0"),
    ]


def test_a_long_scene_is_read_in_parts_and_each_memory_where_its_quote_stands() -> None:
    """Every part asks about its own memories; what the parts say is put together."""
    first = "Ada hid the silver key. " * 30
    second = "They spoke of the weather. " * 25 + "Cora sold the black goat."
    memories = [
        PromptMemory(memory_id="K2", says="Cora sold the goat.", evidence="Cora sold the black goat"),
        PromptMemory(memory_id="K3", says="Ada hid the key.", evidence="Ada hid the silver key"),
        PromptMemory(memory_id="K4", says="It was evening."),
    ]
    answers = [
        {"memories": [{"id": "N1", "known_by": ["C0"]}]},
        {"memories": [{"id": "N1", "known_by": ["C2"]}, {"id": "N2", "known_by": ["C0", "C2"]}]},
    ]
    model = answering(*map(json.dumps, answers))
    chain = SceneKnowledgeChain(model, window_characters=400)
    result = chain.invoke(request(text=first + second, memories=memories))
    assert (result.windows, result.model_calls) == (2, 2)
    assert result.knowledge is not None
    assert {each: one.known_by for each, one in result.knowledge.knowers.items()} == {
        "K3": ["C0"],
        "K2": ["C2"],
        "K4": ["C0", "C2"],
    }
    assert "N1 | Ada hid the key." in model.prompts[0][1].text
    assert len(chain.prompt_tokens(request(text=first + second, memories=memories))) == 2


def test_a_part_that_fails_fails_the_scene() -> None:
    """Half a scene is no reading: nothing of it is handed on."""
    text = "Ada hid the silver key. " * 30 + "Cora sold the black goat. " * 30
    good = json.dumps({"memories": []})
    chain = SceneKnowledgeChain(answering(good, "no", "no"), window_characters=400)
    result = chain.invoke(request(text=text))
    assert (result.status, result.knowledge) == ("failed", None)
    assert [issue.kind for issue in result.issues] == ["malformed"]


def test_what_has_no_room_is_reported() -> None:
    """Earlier memories beyond the budget stay out in whole lines, the likeliest are kept, and it is told."""
    earlier = [PromptMemory(memory_id=f"E{at}", says=f"Fact {at} of the mill.", known_by=[]) for at in range(40)]
    model = answering(json.dumps({"memories": [{"id": "N1", "known_by": ["C0"]}]}))
    result = SceneKnowledgeChain(model, prompt_list_tokens=100).invoke(request(earlier=earlier))
    assert "Fact 0 of the mill." in model.prompts[0][1].text
    assert "Fact 39 of the mill." not in model.prompts[0][1].text
    assert "over_limit" in [issue.kind for issue in result.issues]


def test_a_scene_without_text_asks_nobody() -> None:
    """Nothing is said of it; a project id that is a path is an error of the caller."""
    result = said(text="  ")
    assert (result.status, result.model_calls) == ("done", 0)
    assert knowledge(text="  ") == SceneKnowledge()
    with pytest.raises(InvalidProjectIdError):
        said(project_id="../x")


def test_a_persons_word_in_the_record_outranks_the_model() -> None:
    """What is to be kept stays and is added to; else a later reading replaces an earlier one."""
    record = SceneRecord.model_validate(
        {
            "chapter_index": 1,
            "scene_index": 1,
            "memories": [{"memory_id": "K2", "content": "Ada hid the key.", "known_by": ["C1"]}],
            "learned": [{"character_id": "C1", "memory_ids": ["K0"]}],
        }
    )
    read = SceneKnowledge(
        knowers={"K2": {"known_by": ["C0"]}},  # type: ignore[dict-item]
        learned=[
            RecordedLearning(character_id="C1", memory_ids=["K0", "K1"]),
            RecordedLearning(character_id="C2", memory_ids=["K0"]),
        ],
    )
    kept, replaced = (with_knowledge(record, read, keep=keep) for keep in (True, False))
    assert kept.memories[0].known_by == ["C1"]
    assert [(each.character_id, each.memory_ids) for each in kept.learned] == [
        ("C1", ["K0"]),
        ("C1", ["K1"]),
        ("C2", ["K0"]),
    ]
    assert replaced.memories[0].known_by == ["C0"]
    assert replaced.learned == read.learned
    assert kept.knowledge_read
    assert replaced.knowledge_read


def test_doubts_and_lies_are_kept_of_what_is_known() -> None:
    """Only plain knowledge can be known already: who knows a thing may still be made to doubt it."""
    learned = [
        RecordedLearning(character_id="C0", memory_ids=["K0"]),
        RecordedLearning(character_id="C0", memory_ids=["K0"], kind="doubts"),
        RecordedLearning(character_id="C0", from_id="C1"),
    ]
    assert without_learnings(learned, lambda *_: True) == learned[1:]


def test_what_all_on_stage_know_is_not_offered_and_the_nearest_comes_first() -> None:
    """Earlier memories are those that somebody there may learn, first what the text speaks of."""
    first = StoryPosition(1, 1)
    story = KnowledgeStory(
        as_of=StoryPosition(2, 3),
        scenes=[KnowledgeScene(first, frozenset({"C0", "C1"}))],
        memories=[
            KnowledgeMemory("E1", "Ben and Ada counted sheep.", first, ["C0", "C1"], "event"),
            KnowledgeMemory("E2", "Ben sold the goat.", first, ["C1"], "event"),
            KnowledgeMemory("E3", "Ben let the mill burn down.", first, ["C1"], "event"),
        ],
        names={"C0": ["Ada"], "C1": ["Ben"], "C2": ["Cora"]},
        character_ids=frozenset({"C0", "C1", "C2"}),
    )
    cast = request().cast
    offered = earlier_memories("Then Cora heard that the mill had gone and would burn.", story, cast)
    assert (offered[0].memory_id, offered[0].known_by) == ("E3", ["C1"])
    assert {each.memory_id for each in offered} == {"E1", "E2", "E3"}
    ada_alone = [each for each in cast if each.entity.entity_id == "C0"]
    assert "E1" not in {each.memory_id for each in earlier_memories(TEXT, story, ada_alone)}
