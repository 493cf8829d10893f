"""Extracting the records of stored scenes with a scripted model, in real stores, for the first time and again."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from langchain_core.messages import BaseMessage

from novelgen.errors import UnknownSceneError, UserInputError
from novelgen.models.position import END_OF_STORY, StoryPosition
from runtime.ingest.entities import store_entities
from runtime.ingest.extraction import ExtractionReport, extract_scenes
from runtime.ingest.ingest import ingest_scene, ingest_scenes
from runtime.ingest.scene_passes import SceneChoice
from runtime.storage.models import MemoryEdit, MemoryFilter, StoredMemory
from runtime.storage.records import Scene
from runtime.stores import MemoryStores
from runtime.story.undo import StoryUndo
from tests.runtime.ingest.made_up_story import ENTITIES, record, scene
from tests.support.scripted_chat_model import ScriptedChatModel

PROMISE = (
    "Tom Hale took the lamp from Mary Grey and promised to return it on Friday. Old Sexton Pike saw it from the gate "
    "of the churchyard and said nothing to anybody, then or later. The rain began before Mary Grey was home."
)
BROKEN = (
    "Friday came and Tom Hale had sold the lamp to a pedlar. He told Mary Grey so at her own door in Baker Street, and "
    "she shut it. Pike went by with his spade and looked at neither of them."
)
RETRY = SceneChoice(retry_failed=True)
TEXTS = {(1, 1): PROMISE, (1, 2): BROKEN}


def answers(**changes: dict[str, Any]) -> Callable[[list[BaseMessage]], str]:
    """Return what the model says of the two scenes; `promise` and `broken` change their answers."""
    promise = {
        "location": "",
        "characters_present": ["C0", "C1"],
        "new_entities": [{"name": "Sexton Pike", "entity_type": "character", "aliases": ["Pike"]}],
        "summary": ["Tom takes the lamp.", "He promises to return it.", "Pike sees it."],
        "state_changes": [{"entity": "I0", "attribute": "holder", "value": "C1", "evidence": "Tom Hale took the lamp"}],
        "relationship_changes": [
            {"character_a": "C0", "character_b": "C1", "status": "trusting", "event": "the lamp is lent"}
        ],
        "open_loops_created": [{"description": "Will Tom return the lamp?", "entities": ["C1", "I0"]}],
        "memories": [
            {
                "content": "Tom Hale promised Mary Grey to return the lamp on Friday; Sexton Pike saw it.",
                "event_type": "promise_made",
                "importance": 5,
                "entities": ["C0", "C1", "Sexton Pike"],
                "evidence": "promised to return it on Friday",
            },
            {"content": "Sexton Pike keeps a secret.", "entities": ["Pike"], "evidence": "he never spoke of it"},
        ],
        **changes.get("promise", {}),
    }
    broken = {
        "characters_present": ["C0", "C1", "Pike"],
        "summary": ["Tom has sold the lamp."],
        "open_loops_moved": [{"id": "OL0", "note": "sold", "outcome": "resolved"}],
        "memories": [
            {
                "content": "Tom Hale broke his promise to Mary Grey: he sold the lamp to a pedlar.",
                "event_type": "promise_broken",
                "entities": ["C0", "C1"],
                "evidence": "had sold the lamp to a pedlar",
            }
        ],
        **changes.get("broken", {}),
    }
    # The prompt of the second scene shows how an unread first one ends.
    return lambda messages: json.dumps(
        promise if "promised to return it" in messages[1].text.rpartition("the text =====")[2] else broken
    )


def extracted(stores: MemoryStores, project: str, answer: Callable[..., str], **options: Any) -> ExtractionReport:
    """Extract what waits with a model that answers so."""
    return extract_scenes(stores, project, ScriptedChatModel(answer=answer), **options)


def stored_scene(stores: MemoryStores, project: str, chapter: int, number: int) -> Scene:
    """Return a stored scene with its text."""
    with stores.database(project).read() as unit:
        return unit.scenes.require(StoryPosition(chapter, number))


@pytest.fixture
def story(stores: MemoryStores, project: str) -> str:
    """A project with two scenes that have no record."""
    store_entities(stores, project, ENTITIES)
    ingest_scenes(stores, project, [scene(*place, text) for place, text in TEXTS.items()])
    return project


@pytest.fixture
def read_story(stores: MemoryStores, story: str) -> str:
    """The same after a model has read both scenes."""
    assert extracted(stores, story, answers()).count("done") == 2
    return story


@pytest.mark.slow
def test_scenes_get_records_people_and_threads(stores: MemoryStores, story: str) -> None:
    """What the model found is stored as extracted; new people and threads get ids from the counters."""
    report = extracted(stores, story, answers())
    assert [(each.outcome, each.memories, each.model_calls) for each in report.scenes] == [
        ("done", 2, 1),
        ("done", 1, 1),
    ]
    first = stored_scene(stores, story, 1, 1)
    assert (first.extraction_status, first.record_origin, first.participants) == ("done", "extracted", ["C0", "C1"])
    with stores.database(story).read() as unit:
        pike = unit.entities.get("C2")
        loop = unit.threads.get("OL0")
        relationships = unit.relationships.list_as_of()
        [lamp] = unit.states.snapshots(["I0"])
    assert pike is not None
    assert (pike.entity.name, pike.origin, pike.entity.first_chapter) == ("Sexton Pike", "extracted", 1)
    assert loop is not None
    assert (loop.status, loop.related_entities) == ("resolved", ["C1", "I0"])
    assert [each.status for each in relationships] == ["trusting"]
    assert lamp.state_data["holder"] == "C1"
    assert [each.says for each in report.scenes[0].unverified] == ["Sexton Pike keeps a secret."]
    assert report.indexing.waiting == 0


def test_one_undo_takes_a_reading_back(stores: MemoryStores, story: str) -> None:
    """All scenes of the run are as they were, with what the end of the chapter put right; cards that came stay."""
    reading = answers(broken={"open_loops_moved": []})
    ended = [{"id": "OL0", "scene": "1:2", "note": "sold", "quote": "had sold the lamp to a pedlar"}]
    right = json.dumps({"same_entities": [], "threads_ended": ended, "importance": [{"id": "M1", "importance": 9}]})

    def answer(messages: list[BaseMessage]) -> str:
        return right if "memories of the chapter" in messages[1].text else reading(messages)

    report = extracted(stores, story, answer, reconcile=True)
    assert [(each.ended_threads, each.weighed_memories) for each in report.chapters] == [(["OL0"], 1)]
    undone = StoryUndo(stores, story).undo(change_id=report.change_id)
    assert (undone.change.kind, undone.what) == ("extract", "1:1–1:2")
    for place in TEXTS:
        scene = stored_scene(stores, story, *place)
        assert (scene.record, scene.extraction_status, scene.text) == (None, "none", TEXTS[place])
    with stores.database(story).read() as unit:
        assert unit.threads.get("OL0") is None
        assert unit.entities.get("C2") is not None
    assert extracted(stores, story, answers()).count("done") == 2


def test_the_next_scene_knows_what_the_one_before_brought(stores: MemoryStores, story: str) -> None:
    """People, threads and states of scene 1 stand in the prompt of scene 2, and scene 2 in no earlier prompt."""
    model = ScriptedChatModel(answer=answers())
    extract_scenes(stores, story, model)
    first, second = (prompt[1].text for prompt in model.prompts)
    assert "C2 | character | Sexton Pike; Pike" in second
    assert "OL0 | medium | 1:1 | C1, I0 | Will Tom return the lamp?" in second
    assert "| @1:1 | holder: C1" in second
    assert "pedlar" not in first
    assert "OL0" not in first


def test_memories_bear_their_evidence_and_end_others(stores: MemoryStores, read_story: str) -> None:
    """A quote that is not there makes one unverified; a promise is kept, and over from the scene on that broke it."""
    with stores.database(read_story).read() as unit:
        found = unit.memories.list_matching(MemoryFilter(content_types=["memory"]))
        unverified = unit.memories.list_matching(MemoryFilter(unverified_only=True))
        before = unit.memories.by_entities(["C0"], as_of=StoryPosition(1, 2), limit=10)
        after = unit.memories.by_entities(["C0"], as_of=END_OF_STORY, limit=10)
    spans = {stored.chunk.content[:9]: stored.chunk.source_span for stored in found}
    start, end = spans["Tom Hale "] or (0, 0)
    assert BROKEN[start:end] == "had sold the lamp to a pedlar"
    assert [stored.chunk.content for stored in unverified] == ["Sexton Pike keeps a secret."]
    promise = [chunk for chunk in before if chunk.event_type == "promise_made"]
    assert [chunk.superseded_by for chunk in promise] == [None]
    [over] = [chunk for chunk in after if chunk.event_type == "promise_made"]
    [broken] = [chunk for chunk in after if chunk.event_type == "promise_broken"]
    assert over.superseded_by == broken.source_id


def test_what_is_done_is_not_done_again(stores: MemoryStores, story: str) -> None:
    """A second run asks nothing; a changed text is taken up again."""
    extracted(stores, story, answers())
    assert extracted(stores, story, answers()).scenes == []
    ingest_scene(stores, story, scene(1, 2, f"{BROKEN} Nobody spoke."))
    again = extracted(stores, story, answers())
    assert [(each.chapter_index, each.scene_index, each.outcome) for each in again.scenes] == [(1, 2, "done")]


def test_failed_scenes_keep_their_text_and_say_why(stores: MemoryStores, story: str) -> None:
    """A failure is stored with its reason, the other scene is done, and only a retry takes it up again."""
    report = extracted(stores, story, answers(promise={"memories": "none"}))
    assert [(each.outcome, each.fault) for each in report.scenes] == [("failed", "schema"), ("done", None)]
    failed = stored_scene(stores, story, 1, 1)
    assert (failed.extraction_status, failed.text, failed.record) == ("failed", PROMISE, None)
    assert "does not fit the schema" in str(failed.failure_reason)
    assert extracted(stores, story, answers()).scenes == []
    assert [each.outcome for each in extracted(stores, story, answers(), choice=RETRY).scenes] == ["done"]
    assert stored_scene(stores, story, 1, 1).failure_reason is None


def test_what_the_author_writes_meanwhile_wins(stores: MemoryStores, story: str) -> None:
    """A record that arrives while the model reads stays, and the answer is dropped aloud; so does another title."""

    def slow(messages: list[BaseMessage]) -> str:
        if "promised to return it" in messages[1].text.rpartition("the text =====")[2]:
            ingest_scene(stores, story, scene(1, 1, PROMISE, record=record(1, 1), record_origin="author"))
        else:
            ingest_scene(stores, story, scene(1, 2, BROKEN, title="Sold"))
        return answers()(messages)

    report = extracted(stores, story, slow)
    assert [each.outcome for each in report.scenes] == ["overtaken", "done"]
    stored = stored_scene(stores, story, 1, 1)
    assert stored.record is not None
    assert (stored.record_origin, stored.record.memories[0].memory_id) == ("author", "M11")
    assert stored_scene(stores, story, 1, 2).title == "Sold"


def test_one_chapter_alone_and_progress(stores: MemoryStores, story: str) -> None:
    """Only the chapter that is asked for is extracted, and progress is told."""
    ingest_scene(stores, story, scene(2, 1, BROKEN.replace("Friday", "Monday")))
    seen: list[tuple[int, int]] = []
    report = extracted(
        stores,
        story,
        answers(),
        choice=SceneChoice(chapter_index=1),
        progress=lambda done, total: seen.append((done, total)),
    )
    assert {each.chapter_index for each in report.scenes} == {1}
    assert seen == [(1, 2), (2, 2)]
    assert report.count("done") == 2


def test_the_number_of_bullets_is_a_setting(stores: MemoryStores, story: str) -> None:
    """The stored summary has at most as many bullets as the setting says."""
    extracted(stores, story, answers(promise={"summary": [f"Bullet {number}." for number in range(20)]}))
    stored = stored_scene(stores, story, 1, 1)
    assert stored.record is not None
    assert len(stored.record.summary) == stores.settings.memory.summarization.max_bullets


def test_a_known_person_gets_a_name_and_two_entries_become_one(stores: MemoryStores, project: str) -> None:
    """What a scene tells of who is who is stored from that scene on: names, merges, another one of a kind."""
    store_entities(stores, project, ENTITIES)
    for place, text in TEXTS.items():
        ingest_scene(stores, project, scene(*place, text=text))
    told = {
        "new_entities": [{"name": "the spade man", "entity_type": "character", "quote": "Pike went by with his spade"}],
        "known_names": [
            {"entity": "C1", "name": "pedlar's friend", "quote": "Tom Hale had sold the lamp to a pedlar"},
            {"entity": "C0", "name": "Napoleon", "quote": "stands nowhere"},
        ],
        "same_entities": [{"a": "Pike", "b": "the spade man", "quote": "Pike went by with his spade"}],
        "characters_present": ["C0", "C1", "the spade man"],
    }
    report = extract_scenes(stores, project, ScriptedChatModel(answer=answers(broken=told)))
    assert [each.outcome for each in report.scenes] == ["done", "done"]
    with stores.database(project).read() as unit:
        early = {each.entity_id: set(each.names()) for each in unit.entities.list_as_of(as_of=StoryPosition(1, 2))}
        late = {each.entity_id: set(each.names()) for each in unit.entities.list_as_of(as_of=END_OF_STORY)}
        changes = unit.merges.list_all()
        stored = unit.scenes.require(StoryPosition(1, 2))
    assert "pedlar's friend" not in early["C1"]
    assert "pedlar's friend" in late["C1"]
    assert [(each.entity_id, each.other_id) for each in changes] == [("C2", "C3")]
    assert late["C2"] == {"Sexton Pike", "Pike", "the spade man"}
    assert stored.record is not None
    assert stored.record.characters_present == ["C0", "C1", "C2"]
    assert any("Napoleon" in item.text for item in report.scenes[1].unplaced)


def test_the_end_of_a_chapter_is_reconciled_and_a_failure_told(stores: MemoryStores, project: str) -> None:
    """After the last scene of a chapter the model is asked once; after a failure the next run asks again."""
    store_entities(stores, project, ENTITIES)
    for place, text in TEXTS.items():
        ingest_scene(stores, project, scene(*place, text=text))
    reading = answers()
    said = {"is_usable": False}

    def answer(messages: list[BaseMessage]) -> str:
        if "memories of the chapter" not in messages[1].text:
            return reading(messages)
        ended = [{"id": "OL0", "scene": "1:2", "note": "sold", "quote": "had sold the lamp to a pedlar"}]
        return json.dumps({"same_entities": [], "threads_ended": ended}) if said["is_usable"] else "no JSON"

    model = ScriptedChatModel(answer=answer)
    report = extract_scenes(stores, project, model, reconcile=True)
    assert [each.outcome for each in report.scenes] == ["done", "done"]
    assert [(each.chapter_index, each.outcome) for each in report.chapters] == [(1, "failed")]
    assert report.chapters[0].issues[-1].kind == "malformed"
    said["is_usable"] = True
    again = extract_scenes(stores, project, model, reconcile=True)
    assert [(each.chapter_index, each.outcome) for each in again.chapters] == [(1, "done")]
    assert extract_scenes(stores, project, model, reconcile=True).chapters == []


def test_a_flashback_leaves_the_present_alone(stores: MemoryStores, story: str) -> None:
    """A scene of an earlier time moves nobody and nothing; its memories and people stay."""
    past = {"is_flashback": True, "location": "Baker Street"}
    extracted(stores, story, answers(promise=past))
    with stores.database(story).read() as unit:
        states = unit.states.snapshots(["C0", "C1", "I0"], as_of=StoryPosition(1, 2))
        scene_read = unit.scenes.require(StoryPosition(1, 1))
    assert states == []
    assert scene_read.record is not None
    assert (scene_read.record.is_flashback, len(scene_read.record.memories)) == (True, 2)
    assert "C0" in scene_read.participants
    # Read again as a scene of the present, it counts.
    extracted(stores, story, answers(), choice=SceneChoice(scenes=(StoryPosition(1, 1),), again=True))
    with stores.database(story).read() as unit:
        [lamp] = unit.states.snapshots(["I0"], as_of=StoryPosition(1, 2))
    assert lamp.state_data == {"holder": "C1"}


TOLD_BY_ME = {
    (1, 1): "“Who is there?” said I. Nobody answered, and I went down to the boat alone.",
    (1, 2): "“Well, Tom Hale,” said Mary Grey, “and where is my lamp?” I told her that I had sold it.",
}


@pytest.mark.parametrize("name", ["the narrator", "Tom Hale"])
def test_a_narrator_without_a_name_becomes_who_the_book_names(stores: MemoryStores, project: str, name: str) -> None:
    """The name is one more of the same person from its scene on, whether the model gives it so or as somebody new."""
    ingest_scenes(stores, project, [scene(*place, text) for place, text in TOLD_BY_ME.items()])
    one = {"name": "the narrator", "entity_type": "character", "quote": "said I"}
    named = {"known_names": [{"entity": "C0", "name": "Tom Hale", "quote": "Well, Tom Hale"}]}
    if name == "Tom Hale":
        named = {
            "new_entities": [{"name": name, "entity_type": "character"}],
            "same_entities": [{"a": "C0", "b": name, "quote": "Well, Tom Hale"}],
        }
    rest = {"summary": ["I act."], "pov": "C0", "characters_present": ["C0"]}
    first = {**rest, "pov": one["name"], "characters_present": [one["name"]], "new_entities": [one]}
    memory = {"content": "The narrator was alone at the boat.", "evidence": "I went down to the boat alone"}
    told = {"content": "Tom Hale sold the lamp.", "entities": [name], "evidence": "I told her that I had sold it"}

    def answer(messages: list[BaseMessage]) -> str:
        is_first = "Who is there" in messages[1].text.rpartition("the text =====")[2]
        return json.dumps({**first, "memories": [memory]} if is_first else {**rest, **named, "memories": [told]})

    extracted(stores, project, answer)
    with stores.database(project).read() as unit:
        [before] = unit.entities.list_as_of(as_of=StoryPosition(1, 2))
        [after] = unit.entities.list_as_of(as_of=END_OF_STORY)
        records = [each.record for each in unit.scenes.list_as_of()]
    assert before.names() == ["the narrator"]
    assert set(after.names()) == {"the narrator", "Tom Hale"}
    assert [each and each.pov_character_id for each in records] == [after.entity_id] * 2


def test_what_somebody_holds_is_told_as_of_a_position(stores: MemoryStores, story: str) -> None:
    """An inventory that names a known thing is its holder; who holds it is derived from there on, and no earlier."""
    carry = {"entity": "C1", "attribute": "inventory", "op": "add", "value": ["I0", "a spade"]}
    leave = {"entity": "I0", "attribute": "holder", "value": "C0", "evidence": "Tom Hale had sold the lamp"}
    promise = {"state_changes": [{**carry, "evidence": "Tom Hale took the lamp"}]}
    extracted(stores, story, answers(promise=promise, broken={"state_changes": [leave]}))

    def held(as_of: StoryPosition) -> dict[str, list[str]]:
        with stores.database(story).read() as unit:
            return {each.entity_id: each.holds for each in unit.states.snapshots(["C0", "C1"], as_of=as_of)}

    assert held(StoryPosition(1, 1)) == {}
    assert held(StoryPosition(1, 2)) == {"C0": [], "C1": ["I0"]}
    assert held(END_OF_STORY) == {"C0": ["I0"], "C1": []}
    with stores.database(story).read() as unit:
        [tom] = unit.states.snapshots(["C1"])
        assert unit.states.unverified() == []
    assert tom.state_data["inventory"] == ["a spade"]
    # The second scene is read again without the sale: Tom has the lamp to the end.
    extracted(stores, story, answers(promise=promise), choice=SceneChoice(scenes=(StoryPosition(1, 2),), again=True))
    assert held(END_OF_STORY) == {"C0": [], "C1": ["I0"]}


FIRST = SceneChoice(scenes=(StoryPosition(1, 1),), again=True)
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


def test_one_scene_is_read_anew(stores: MemoryStores, read_story: str) -> None:
    """What the old extraction brought is gone everywhere, the new one stands, the other scene is untouched."""
    other = stored_scene(stores, read_story, 1, 2)
    report = extracted(stores, read_story, answers(promise=BETTER), choice=FIRST)
    assert [(each.outcome, each.had_record, each.model_calls) for each in report.scenes] == [("done", True, 1)]
    assert list(memories(stores, read_story)) == [
        "Tom Hale has Mary Grey's lamp until Friday.",
        "Tom Hale broke his promise to Mary Grey: he sold the lamp to a pedlar.",
    ]
    with stores.database(read_story).read() as unit:
        states = unit.states.changes_of()
        assert unit.relationships.list_as_of() == []
    stated = [(each.entity_id, each.attribute) for each in states if each.kind == "explicit"]
    assert stated == [("I0", "holder")], "an inventory that names a known thing is its holder"
    assert stored_scene(stores, read_story, 1, 2) == other
    assert report.indexing.waiting == 0


def test_a_thread_keeps_its_id(stores: MemoryStores, read_story: str) -> None:
    """A loop that is told in other words stays the one that a later scene resolved."""
    extracted(stores, read_story, answers(promise=BETTER), choice=FIRST)
    with stores.database(read_story).read() as unit:
        loop = unit.threads.get("OL0")
    assert loop is not None
    assert (loop.description, loop.status) == ("Tom must return the lamp by Friday.", "resolved")


def test_what_an_author_changed_survives(stores: MemoryStores, read_story: str) -> None:
    """An edited and a pinned memory of the old extraction stay beside the new ones."""
    old = memories(stores, read_story)
    pinned = old["Sexton Pike keeps a secret."].chunk.chunk_id
    edited = next(each.chunk.chunk_id for text, each in old.items() if "Pike" in text and each.chunk.chunk_id != pinned)
    with stores.database(read_story).write() as unit:
        unit.memories.edit(edited, MemoryEdit(content="Pike saw it all."))
        unit.memories.decide(pinned, "pin")
    extracted(stores, read_story, answers(promise=BETTER), choice=AGAIN)
    assert {"Pike saw it all.", "Sexton Pike keeps a secret."} < set(memories(stores, read_story))


def test_a_failure_keeps_the_record(stores: MemoryStores, read_story: str) -> None:
    """What was stored stays whole, the scene is not marked failed, and the report says why."""
    before, kept = stored_scene(stores, read_story, 1, 1), memories(stores, read_story)
    report = extracted(stores, read_story, lambda _: "I cannot.", choice=FIRST)
    assert [(each.outcome, each.fault, each.had_record) for each in report.scenes] == [("failed", "not_json", True)]
    assert stored_scene(stores, read_story, 1, 1) == before
    assert memories(stores, read_story) == kept


def test_again_takes_up_what_models_read_and_what_waits(stores: MemoryStores, read_story: str) -> None:
    """Scenes with a record of a person are not sent; without `again` only what waits is."""
    ingest_scene(stores, read_story, scene(1, 2, BROKEN, record=record(1, 2), record_origin="author"))
    ingest_scene(stores, read_story, scene(2, 1, PROMISE.replace("Friday", "Monday")))
    model = ScriptedChatModel(answer=answers(promise=BETTER))
    report = extract_scenes(stores, read_story, model, choice=AGAIN)
    assert [(each.chapter_index, each.scene_index) for each in report.scenes] == [(1, 1), (2, 1)]
    assert stored_scene(stores, read_story, 1, 2).record_origin == "author"


def test_a_scene_that_is_named_twice_is_read_once(stores: MemoryStores, read_story: str) -> None:
    """In story order and no other; one that is not stored is refused by name."""
    places = tuple(StoryPosition(1, number) for number in (2, 1, 2))
    report = extracted(stores, read_story, answers(), choice=SceneChoice(scenes=places, again=True))
    assert [each.scene_index for each in report.scenes] == [1, 2]
    # Without `again` a scene that was read says nothing new.
    assert extracted(stores, read_story, answers(), choice=SceneChoice(scenes=places)).model_calls == 0
    with pytest.raises(UnknownSceneError, match="9:9"):
        extracted(stores, read_story, answers(), choice=SceneChoice(scenes=(StoryPosition(9, 9),)))


@pytest.mark.parametrize(("origin", "said"), [("author", "written by its author"), ("supplied", "supplied")])
def test_a_record_of_a_person_is_refused(stores: MemoryStores, read_story: str, origin: str, said: str) -> None:
    """A scene whose record no model made is passed over; where it is named, the run stops before anything is read."""
    ingest_scene(stores, read_story, scene(1, 2, BROKEN, record=record(1, 2), record_origin=origin))
    model = ScriptedChatModel(answer=answers())
    places = (StoryPosition(1, 1), StoryPosition(1, 2))
    with pytest.raises(UserInputError, match=rf"'1:2' has a record that was {said}.*record edit"):
        extract_scenes(stores, read_story, model, choice=SceneChoice(scenes=places))
    assert extract_scenes(stores, read_story, model, choice=RETRY).scenes == []
    assert model.prompts == []
