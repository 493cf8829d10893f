"""Extracting scenes anew that a model read before, in real stores."""

import pytest
from langchain_core.messages import BaseMessage

from novelgen.errors import UnknownSceneError, UserInputError
from novelgen.models.position import StoryPosition
from runtime.ingest.entities import store_entities
from runtime.ingest.extraction import extract_scenes
from runtime.ingest.ingest import ingest_scene, ingest_scenes
from runtime.ingest.scene_passes import SceneChoice
from runtime.storage.records import MemoryEdit, MemoryFilter, StoredMemory
from runtime.stores import MemoryStores
from tests.runtime.ingest.made_up_story import ENTITIES, record, scene
from tests.runtime.ingest.test_extraction import BROKEN, PROMISE, TEXTS, answers, extracted, stored_scene
from tests.support.scripted_chat_model import ScriptedChatModel

FIRST = SceneChoice(scenes=(StoryPosition(1, 1),))
AGAIN = SceneChoice(again=True)
BETTER = {
    "state_changes": [{"entity": "C1", "attribute": "inventory", "value": ["lamp"], "evidence": "took the lamp"}],
    "relationship_changes": [],
    "open_loops_created": [{"description": "Tom must return the lamp by Friday.", "entities": ["C1"]}],
    "memories": [
        {
            "content": "Tom Hale has Mary Grey's lamp until Friday.",
            "entities": ["C0", "C1"],
            "evidence": "promised to return it on Friday",
        }
    ],
}


def memories(stores: MemoryStores, project: str) -> dict[str, StoredMemory]:
    """Return the distilled memories by their text."""
    with stores.database(project).read() as unit:
        found = unit.memories.list_matching(MemoryFilter(content_types=["memory"]))
    return {stored.chunk.content: stored for stored in found}


@pytest.fixture
def story(stores: MemoryStores, project: str) -> str:
    """A project with two scenes that a model has read."""
    store_entities(stores, project, ENTITIES)
    ingest_scenes(stores, project, [scene(*place, text) for place, text in TEXTS.items()])
    assert extracted(stores, project, answers()).count("done") == 2
    return project


def test_one_scene_is_read_anew(stores: MemoryStores, story: str) -> None:
    """What the old extraction brought is gone everywhere, the new one stands, the other scene is untouched."""
    other = stored_scene(stores, story, 1, 2)
    report = extracted(stores, story, answers(promise=BETTER), choice=FIRST)
    assert [(each.outcome, each.had_record, each.model_calls) for each in report.scenes] == [("done", True, 1)]
    assert list(memories(stores, story)) == [
        "Tom Hale has Mary Grey's lamp until Friday.",
        "Tom Hale broke his promise to Mary Grey: he sold the lamp to a pedlar.",
    ]
    with stores.database(story).read() as unit:
        states = unit.states.changes_of()
        assert unit.relationships.list_as_of() == []
    stated = [(each.entity_id, each.attribute) for each in states if each.kind == "explicit"]
    assert stated == [("I0", "holder")], "an inventory that names a known thing is its holder"
    assert stored_scene(stores, story, 1, 2) == other
    assert report.indexing.waiting == 0


def test_a_thread_keeps_its_id(stores: MemoryStores, story: str) -> None:
    """A loop that is told in other words stays the one that a later scene resolved."""
    extracted(stores, story, answers(promise=BETTER), choice=FIRST)
    with stores.database(story).read() as unit:
        loop = unit.threads.get("OL0")
    assert loop is not None
    assert (loop.description, loop.status) == ("Tom must return the lamp by Friday.", "resolved")


def test_what_an_author_changed_survives(stores: MemoryStores, story: str) -> None:
    """An edited and a pinned memory of the old extraction stay beside the new ones."""
    old = memories(stores, story)
    pinned = old["Sexton Pike keeps a secret."].chunk.chunk_id
    edited = next(each.chunk.chunk_id for text, each in old.items() if "Pike" in text and each.chunk.chunk_id != pinned)
    with stores.database(story).write() as unit:
        unit.memories.edit(edited, MemoryEdit(content="Pike saw it all."))
        unit.memories.decide(pinned, "pin")
    extracted(stores, story, answers(promise=BETTER), choice=AGAIN)
    assert {"Pike saw it all.", "Sexton Pike keeps a secret."} < set(memories(stores, story))


def test_a_failure_keeps_the_record(stores: MemoryStores, story: str) -> None:
    """What was stored stays whole, the scene is not marked failed, and the report says why."""
    before, kept = stored_scene(stores, story, 1, 1), memories(stores, story)
    report = extracted(stores, story, lambda _: "I cannot.", choice=FIRST)
    assert [(each.outcome, each.fault, each.had_record) for each in report.scenes] == [("failed", "not_json", True)]
    assert stored_scene(stores, story, 1, 1) == before
    assert memories(stores, story) == kept


def test_again_takes_up_what_models_read_and_what_waits(stores: MemoryStores, story: str) -> None:
    """Scenes with a record of a person are not sent; without `again` only what waits is."""
    ingest_scene(stores, story, scene(1, 2, BROKEN, record=record(1, 2), record_origin="author"))
    ingest_scene(stores, story, scene(2, 1, PROMISE.replace("Friday", "Monday")))
    model = ScriptedChatModel(answer=answers(promise=BETTER))
    report = extract_scenes(stores, story, model, choice=AGAIN)
    assert [(each.chapter_index, each.scene_index) for each in report.scenes] == [(1, 1), (2, 1)]
    assert stored_scene(stores, story, 1, 2).record_origin == "author"


def test_a_scene_that_is_named_twice_is_read_once(stores: MemoryStores, story: str) -> None:
    """In story order and no other; one that is not stored is refused by name."""
    places = tuple(StoryPosition(1, number) for number in (2, 1, 2))
    report = extracted(stores, story, answers(), choice=SceneChoice(scenes=places))
    assert [each.scene_index for each in report.scenes] == [1, 2]
    with pytest.raises(UnknownSceneError, match="9:9"):
        extracted(stores, story, answers(), choice=SceneChoice(scenes=(StoryPosition(9, 9),)))


@pytest.mark.parametrize(("origin", "said"), [("author", "written by its author"), ("supplied", "supplied")])
def test_a_record_of_a_person_is_refused(stores: MemoryStores, story: str, origin: str, said: str) -> None:
    """A scene that is named although no model made its record stops the run before anything is read."""
    ingest_scene(stores, story, scene(1, 2, BROKEN, record=record(1, 2), record_origin=origin))
    model = ScriptedChatModel(answer=answers())
    places = (StoryPosition(1, 1), StoryPosition(1, 2))
    with pytest.raises(UserInputError, match=rf"'1:2' has a record that was {said}.*record edit"):
        extract_scenes(stores, story, model, choice=SceneChoice(scenes=places))
    assert model.prompts == []


def test_a_record_that_changes_meanwhile_wins(stores: MemoryStores, story: str) -> None:
    """An author who edits the record while the model reads is not overwritten."""

    def slow(messages: list[BaseMessage]) -> str:
        ingest_scene(stores, story, scene(1, 1, PROMISE, record=record(1, 1), record_origin="author"))
        return answers()(messages)

    report = extracted(stores, story, slow, choice=FIRST)
    assert [each.outcome for each in report.scenes] == ["overtaken"]
    assert stored_scene(stores, story, 1, 1).record_origin == "author"
