"""Reading scenes that have a record for who knows what, with a scripted model, in real stores."""

import json
from typing import Any

import pytest
from langchain_core.messages import BaseMessage

from novelgen.errors import UnknownSceneError, UserInputError
from novelgen.memory.knowledge_rules import Knowing, KnowledgeRules
from novelgen.models.entity import Entity
from novelgen.models.position import END_OF_STORY, StoryPosition
from novelgen.models.record import SceneRecord
from runtime.ingest.entities import store_entities
from runtime.ingest.ingest import IngestResult, ingest_scene
from runtime.ingest.scene_input import SceneInput
from runtime.ingest.scene_passes import KnowledgeReport, SceneChoice, estimate_knowledge, read_knowledge
from runtime.storage.records import Scene
from runtime.stores import MemoryStores
from runtime.story.undo import StoryUndo
from tests.support.scripted_chat_model import ScriptedChatModel

TEXTS = {
    (1, 1): "Ada hid the silver key behind the loose brick. Ben slept on the bench and saw nothing of it.",
    (1, 2): "Ada met Cora at the well. 'The silver key is behind the brick,' Ada told her. Cora nodded.",
    (2, 1): "Cora and Ben mended the roof all day and spoke of nothing but the weather and the tiles.",
}
PRESENT = {(1, 1): ["C0", "C1"], (1, 2): ["C0", "C2"], (2, 1): ["C1", "C2"]}
MEMORIES = {
    (1, 1): [("K1", "Ada hid the silver key behind the loose brick.", ["C0", "C1"])],
    (1, 2): [("K2", "Ada and Cora met at the well.", ["C0", "C2"])],
    (2, 1): [("K3", "Cora and Ben mended the roof.", ["C1", "C2"])],
}
ANSWERS: dict[tuple[int, int], dict[str, Any]] = {
    (1, 1): {"memories": [{"id": "N1", "known_by": ["C0"], "hidden_from": ["C1"]}], "learned": []},
    (1, 2): {
        "memories": [{"id": "N1", "known_by": ["C0", "C2"]}],
        "learned": [
            {"who": ["C2"], "memories": ["M1"], "from_whom": "C0", "quote": "The silver key is behind the brick"}
        ],
    },
    (2, 1): {"memories": [{"id": "N1", "known_by": ["C1", "C2"]}]},
}


@pytest.fixture
def story(stores: MemoryStores, project: str) -> str:
    """Three scenes with supplied records that say nothing of who knows what."""
    people = [
        Entity(entity_id=f"C{at}", entity_type="character", name=name, first_chapter=1, first_scene=1)
        for at, name in enumerate(("Ada", "Ben", "Cora"))
    ]
    store_entities(stores, project, people, origin="supplied")
    for place in TEXTS:
        supply(stores, project, place)
    return project


def supply(stores: MemoryStores, project: str, place: tuple[int, int], **more: Any) -> IngestResult:
    """Store a scene with its supplied record; `more` goes into its only memory."""
    record = SceneRecord.model_validate(
        {
            "chapter_index": place[0],
            "scene_index": place[1],
            "characters_present": PRESENT[place],
            "memories": [
                {"memory_id": name, "content": says, "entities": about, "event_type": "secret_kept", **more}
                for name, says, about in MEMORIES[place]
            ],
        }
    )
    scene = SceneInput(chapter_index=place[0], scene_index=place[1], text=TEXTS[place], record=record)
    return ingest_scene(stores, project, scene)


def place_of(messages: list[BaseMessage]) -> tuple[int, int]:
    """Tell which scene a prompt shows."""
    return next(place for place, text in TEXTS.items() if text in messages[-1].text or text in messages[1].text)


def model_that_reads(**changed: Any) -> ScriptedChatModel:
    """Return a model that answers about each scene; `at_1_2="…"` has another answer there."""

    def answer(messages: list[BaseMessage]) -> str:
        place = place_of(messages)
        said = changed.get(f"at_{place[0]}_{place[1]}", ANSWERS[place])
        if isinstance(said, Exception):
            raise said
        return said if isinstance(said, str) else json.dumps(said)

    return ScriptedChatModel(answer=answer)


def read(stores: MemoryStores, project: str, model: ScriptedChatModel | None = None, **more: Any) -> KnowledgeReport:
    """Read the story for who knows what."""
    return read_knowledge(stores, project, model or model_that_reads(), **more)


def knowing(stores: MemoryStores, project: str, who: str, memory_id: str, *place: int) -> Knowing:
    """Tell whether somebody knows a memory at a position."""
    as_of = StoryPosition(*place) if place else END_OF_STORY
    with stores.database(project).read() as unit:
        rules = KnowledgeRules(unit.knowledge_story(as_of=as_of))
    return rules.knows(who, next(each for each in rules.story.memories if each.source_id == memory_id))


def stored(stores: MemoryStores, project: str, *place: int) -> Scene:
    """Return a stored scene."""
    with stores.database(project).read() as unit:
        return unit.scenes.require(StoryPosition(*place))


def record_of(stores: MemoryStores, project: str, *place: int) -> SceneRecord:
    """Return the record of a scene."""
    record = stored(stores, project, *place).record
    assert record is not None
    return record


@pytest.mark.slow
def test_what_the_model_says_counts_from_its_scene_on(stores: MemoryStores, story: str) -> None:
    """Who slept does not know it though present; who was told knows it from that scene on, and not before."""
    assert knowing(stores, story, "C1", "K1").knows
    report = read(stores, story)
    assert [scene.outcome for scene in report.scenes] == ["done"] * 3
    assert (report.waiting, report.without_record) == (0, 0)
    assert not knowing(stores, story, "C1", "K1").knows
    assert not knowing(stores, story, "C2", "K1", 1, 2).knows
    told = knowing(stores, story, "C2", "K1", 2, 1)
    assert (told.how, told.learned_from, told.since) == ("told", "C0", StoryPosition(1, 2))
    assert told.quote == "The silver key is behind the brick"


def test_the_record_is_still_the_users_and_says_that_it_was_read(stores: MemoryStores, story: str) -> None:
    """The pass adds who knows what and a mark, and leaves whose record it is and what it says."""
    before = record_of(stores, story, 2, 1)
    read(stores, story)
    scene, after = stored(stores, story, 2, 1), record_of(stores, story, 2, 1)
    assert scene.record_origin == "supplied"
    assert after.knowledge_read
    assert not before.knowledge_read
    unsaid = {"knowledge_read": True, "memories": {0: {"known_by", "hidden_from"}}}
    assert after.model_dump(exclude=unsaid) == before.model_dump(exclude=unsaid)


def test_what_was_read_goes_back_with_its_scene(stores: MemoryStores, story: str) -> None:
    """That a scene came anew can be undone after the pass wrote into its record."""
    before = record_of(stores, story, 1, 1)
    change_id = supply(stores, story, (1, 1), importance=9).change_id
    read(stores, story)
    StoryUndo(stores, story).undo(change_id)
    assert record_of(stores, story, 1, 1) == before


def test_a_scene_that_was_read_and_told_nothing_is_not_guessed_at(stores: MemoryStores, story: str) -> None:
    """Rules find no retelling in a scene of which the model says that nobody learnt anything in it."""
    silent = {"memories": [{"id": "N1", "known_by": ["C0", "C2"]}], "learned": []}
    assert knowing(stores, story, "C2", "K1").knows
    read(stores, story, model_that_reads(at_1_2=silent))
    assert not knowing(stores, story, "C2", "K1").knows
    with stores.database(story).read() as unit:
        assert all(scene.tells_knowledge for scene in unit.knowledge_story(as_of=END_OF_STORY).scenes)


def test_a_prompt_shows_nothing_of_its_own_or_later_scenes(stores: MemoryStores, story: str) -> None:
    """The prompt of a scene lists memories of earlier scenes alone, each with who knows it by then."""
    model = model_that_reads()
    read(stores, story, model)
    first, second, _ = (messages[1].text for messages in model.prompts)
    assert "K2" not in first
    assert "met at the well" not in first
    assert "M1 | 1:1 | Ada hid the silver key behind the loose brick. | known by: C0" in second
    assert "mended the roof" not in second


def test_a_run_goes_on_where_it_stopped(stores: MemoryStores, story: str) -> None:
    """A scene that was read is not read again unless it is asked for; then the later word replaces the earlier."""
    read(stores, story, choice=SceneChoice(chapter_index=1))
    model = model_that_reads()
    assert [scene.chapter_index for scene in read(stores, story, model).scenes] == [2]
    assert read(stores, story, model).scenes == []
    other = {"memories": [{"id": "N1", "known_by": ["C0", "C1"]}]}
    again = SceneChoice(again=True, chapter_index=1)
    read(stores, story, model_that_reads(at_1_1=other), choice=again)
    assert record_of(stores, story, 1, 1).memories[0].known_by == ["C0", "C1"]
    assert record_of(stores, story, 1, 1).memories[0].hidden_from == []


def test_a_persons_word_is_kept(stores: MemoryStores, story: str) -> None:
    """What a supplied record says of who knows a memory is not replaced by the model's word."""
    supply(stores, story, (1, 1), known_by=["C0", "C2"])
    read(stores, story)
    assert record_of(stores, story, 1, 1).memories[0].known_by == ["C0", "C2"]


def test_what_somebody_knows_they_do_not_learn_again(stores: MemoryStores, story: str) -> None:
    """A learning of what its character knows by then is dropped, so that they know it since the first time."""
    again = {
        "memories": [{"id": "N1", "known_by": ["C1", "C2"]}],
        "learned": [{"who": ["C2", "C1"], "memories": ["M1"], "from_whom": "C2", "quote": "spoke of nothing but"}],
    }
    read(stores, story, model_that_reads(at_2_1=again))
    assert knowing(stores, story, "C2", "K1").since == StoryPosition(1, 2)
    assert knowing(stores, story, "C1", "K1").since == StoryPosition(2, 1)


def test_a_failure_leaves_the_scene_as_it_was(stores: MemoryStores, story: str) -> None:
    """A scene of which no usable answer came is told of, keeps its record, and waits; the others are read."""
    before = record_of(stores, story, 1, 1)
    report = read(stores, story, model_that_reads(at_1_1="I cannot say."))
    assert [scene.outcome for scene in report.scenes] == ["failed", "done", "done"]
    assert "no readable JSON object" in (report.scenes[0].reason or "")
    assert report.waiting == 1
    assert record_of(stores, story, 1, 1) == before
    assert [scene.scene_index for scene in read(stores, story).scenes] == [1]


def test_a_scene_that_changed_meanwhile_is_overtaken(stores: MemoryStores, story: str) -> None:
    """What the model says of a record that is another by now is dropped."""

    def answer(messages: list[BaseMessage]) -> str:
        supply(stores, story, (1, 1), importance=9)
        return json.dumps(ANSWERS[1, 1])

    report = read(stores, story, ScriptedChatModel(answer=answer), choice=SceneChoice(scenes=(StoryPosition(1, 1),)))
    assert report.scenes[0].outcome == "overtaken"
    assert not record_of(stores, story, 1, 1).knowledge_read


def test_an_estimate_asks_nobody(stores: MemoryStores, story: str) -> None:
    """One call for each scene with a record; one that has none is counted, refused where it is named."""
    model = model_that_reads()
    estimate = estimate_knowledge(stores, story)
    assert (estimate.scenes, estimate.calls) == (3, 3)
    assert estimate.input_tokens > 3 * 1000
    assert model.prompts == []
    assert not record_of(stores, story, 1, 1).knowledge_read
    ingest_scene(stores, story, SceneInput(chapter_index=3, scene_index=1, text="Ben slept."))
    assert read(stores, story).without_record == 1
    with pytest.raises(UserInputError, match="has no record"):
        read(stores, story, choice=SceneChoice(scenes=(StoryPosition(3, 1),)))
    with pytest.raises(UnknownSceneError):
        read(stores, story, choice=SceneChoice(scenes=(StoryPosition(9, 1),)))


def test_the_same_record_taken_in_again_keeps_what_was_read(stores: MemoryStores, story: str) -> None:
    """A file that says nothing of who knows what does not undo the reading; another text does."""
    read(stores, story)
    before = record_of(stores, story, 1, 1)
    supply(stores, story, (1, 1))
    supply(stores, story, (1, 2), importance=9)
    assert record_of(stores, story, 1, 1) == before
    assert record_of(stores, story, 1, 2).memories[0].importance == 9
    assert record_of(stores, story, 1, 2).learned[0].character_id == "C2"
    supply(stores, story, (2, 1), known_by=["C1"])
    assert record_of(stores, story, 2, 1).memories[0].known_by == ["C1"]
    assert record_of(stores, story, 2, 1).knowledge_read
    unread = record_of(stores, story, 1, 1).model_copy(update={"knowledge_read": False})
    ingest_scene(stores, story, SceneInput(chapter_index=1, scene_index=1, text="Ada slept.", record=unread))
    assert not record_of(stores, story, 1, 1).knowledge_read
