"""What a scene's reading says in one record holds before the next scene: states, knowledge and threads."""

import itertools
import json
from typing import Any, Literal

import pytest

from novelgen.models.entity import Entity
from novelgen.models.memory import StoryMemoryChunk
from novelgen.models.position import StoryPosition
from novelgen.models.record import SceneRecord
from runtime.ingest.entities import store_entities
from runtime.ingest.extraction import extract_scenes
from runtime.ingest.ingest import ingest_scenes
from runtime.ingest.scene_input import SceneInput
from runtime.stores import MemoryStores
from runtime.story.story import Story
from tests.runtime.story.key_story import fact, heard, scene
from tests.support.scripted_chat_model import ScriptedChatModel

Language = Literal["en", "zh"]
BEFORE, AFTER = StoryPosition(1, 2), StoryPosition(1, 3)
_numbers = itertools.count(1)

TEXTS: dict[Language, str] = {
    "en": (
        "Ada and Ben waited by the mill until the light came over the marsh. It was no ghost: Cornelius set his "
        "lantern on the wall. “So you lied to the whole town,” said Ada, “nothing walks here and nothing drowned.” "
        "Ben's burnt hand shook with fever. He had stood guard for Dora as he had sworn, this night too. Ada, who was "
        "a widow no more, called Ben her husband. Dora slept in the loft and heard none of it."
    ),
    "zh": (
        "阿黛和阿本在磨坊边等到那点灯光过了沼泽。不是鬼：是科内留斯把提灯放在墙上。“你骗了全镇的人，”阿黛说，“这里没有东西在走，"
        "也没有淹死过什么。”阿本烧伤的手因发烧而发抖。他这一夜照旧守着多拉，不负誓言。阿黛不再是寡妇，叫阿本作丈夫。多拉睡在阁楼上，"
        "什么也没有听见。"
    ),
}
PEOPLE: dict[Language, dict[str, str]] = {
    "en": {"C0": "Ada", "C1": "Ben", "C2": "Cornelius", "C3": "Dora"},
    "zh": {"C0": "阿黛", "C1": "阿本", "C2": "科内留斯", "C3": "多拉"},
}
LIGHT: dict[Language, str] = {"en": "the marsh light", "zh": "沼泽的灯光"}
QUOTES: dict[Language, dict[str, str]] = {
    "en": {"lie": "So you lied to the whole town", "light": "set his lantern", "fever": "shook with fever"},
    "zh": {"lie": "你骗了全镇的人", "light": "把提灯放在墙上", "fever": "因发烧而发抖"},
}
EVERYBODY: dict[Language, str] = {"en": "everybody present", "zh": "在场的人"}


def answer(language: Language, numbers: dict[str, str]) -> str:
    """Return what a model says of the scene: by plain names, and by the numbers that its prompt gives."""
    ada, ben, cornelius, dora = PEOPLE[language].values()
    quotes, light, everybody = QUOTES[language], LIGHT[language], EVERYBODY[language]
    record: dict[str, Any] = {
        "characters_present": [ada, ben, cornelius, dora],
        "summary": [TEXTS[language][:60]],
        "state_changes": [
            {"entity": light, "attribute": "identity", "value": cornelius, "evidence": quotes["light"]},
            {"entity": ben, "attribute": "physical_state", "op": "add", "value": "fever", "evidence": quotes["fever"]},
            {"entity": ada, "attribute": "description", "value": "Ben's wife", "evidence": quotes["lie"]},
        ],
        "open_loops_moved": [
            {"id": "OL1", "note": "kept this night", "outcome": "advanced"},
            {"id": "OL2", "note": "the light is Cornelius", "outcome": "part", "description": "Who drowned the sheep?"},
        ],
        "open_loops_created": [
            {"description": f"Why did {cornelius} lie that the light drowned three sheep?", "entities": [cornelius]}
        ],
        "memories": [
            {
                "content": f"{cornelius} lied that the light walks and drowned three sheep: he carried a lantern.",
                "event_type": "discovery",
                "entities": [cornelius, light],
                "known_by": [everybody],
                "hidden_from": [dora],
                "supersedes": [numbers["walks"], numbers["drowned"]],
                "evidence": quotes["lie"],
            }
        ],
        "learned": [
            {"who": [ben], "memories": ["N1"], "how": "told", "from_whom": ada, "quote": quotes["lie"]},
            {"who": [dora], "memories": [numbers["fever"]], "kind": "doubts", "quote": quotes["fever"]},
        ],
    }
    return json.dumps(record, ensure_ascii=False)


def read_story(stores: MemoryStores, language: Language) -> Story:
    """Store a story of which the second scene is read by a scripted model."""
    facts = [
        fact("walks", "The light on the marsh walks by itself, Cornelius says.", "C2", "I0"),
        fact("drowned", "The light drowned three sheep, Cornelius says.", "C2", "I0"),
        fact("fever", "Ben once had the fever of the marsh.", "C1"),
    ]
    before = scene(
        (1, 1),
        PEOPLE[language]["C2"],
        "C0 C1 C2 C3",
        memories=facts,
        state_changes=[{"entity_id": "C1", "changes": {"physical_state": "hand burnt"}}],
        open_loops_created=[
            {"id": "OL1", "description": "Ben swore to stand guard for Dora every night.", "category": "promise"},
            {"id": "OL2", "description": "What is the light, and who drowned the sheep?"},
        ],
        learned=[heard("C3", "walks", "C2")],
    )
    project_id = f"marsh-{next(_numbers)}"
    stores.create_project(project_id, language=language)
    first = {"first_chapter": 1, "first_scene": 0, "name_first_chapter": 1, "name_first_scene": 0}
    known = [
        *(Entity(entity_id=one, entity_type="character", name=name, **first) for one, name in PEOPLE[language].items()),
        Entity(entity_id="I0", entity_type="item", name=LIGHT[language], **first),
    ]
    store_entities(stores, project_id, known, origin="author")
    unread = SceneInput(chapter_index=1, scene_index=2, text=TEXTS[language])
    ingest_scenes(stores, project_id, [before, unread], index=False)

    def said(messages: list[Any]) -> str:
        lines = [line.split(" | ") for line in messages[1].text.splitlines() if line.startswith("M")]
        contents = {each["memory_id"]: each["content"] for each in facts}
        numbers = {name: next(line[0] for line in lines if line[-1] == text) for name, text in contents.items()}
        return answer(language, numbers)

    report = extract_scenes(stores, project_id, ScriptedChatModel(answer=said))
    assert (report.count("done"), [one.unplaced for one in report.scenes]) == (1, [[]])
    return Story(stores, project_id)


def memories_at(stores: MemoryStores, story: Story, place: StoryPosition) -> dict[str, StoryMemoryChunk]:
    """Return the memories before a place by id, each with what ended it by then."""
    listing = story.memories.list(content_types=["memory"], as_of=place)
    with stores.database(story.project_id).read() as unit:
        return unit.memories.by_source_ids([stored.chunk.memory_id for stored in listing.memories], as_of=place)


def threads_on_the_page(story: Story, pov: str = "") -> set[str]:
    """Return the threads that the page of the next scene tells as known."""
    plan = {"scene_number": 3, "characters": list(PEOPLE["en"]), "purpose": "They go home."}
    page = story.context(1, 3, plan, pov=pov)
    return {loop["loop_id"] for loop in page.timeline_context.get("open_loops", ())}


@pytest.fixture(scope="module", params=["en", "zh"])
def marsh(request: pytest.FixtureRequest, stores: MemoryStores) -> Story:
    """The story after the reading, in either language."""
    return read_story(stores, request.param)


@pytest.mark.slow
def test_one_memory_ended_two_and_both_held_until_then(stores: MemoryStores, marsh: Story) -> None:
    """Whoever knows the lie was told of it, and no read of an earlier place knows."""
    before, after = (memories_at(stores, marsh, place) for place in (BEFORE, AFTER))
    [lie] = [memory for memory in after.values() if memory.also_supersedes]
    assert {before[name].superseded_by for name in ("walks", "drowned")} == {None}
    assert {after[name].superseded_by for name in ("walks", "drowned")} == {lie.memory_id}
    assert after["fever"].superseded_by is None
    knowers = {knower.character_id for knower in marsh.knowledge.who_knows(lie.memory_id, as_of=AFTER).known_by}
    assert {"C0", "C1", "C2"} <= knowers
    assert "C3" not in knowers
    assert "walks" in {memory.source_id for memory in marsh.knowledge.list("C3", as_of=AFTER).known}


def test_what_was_taken_for_a_thing_says_who_it_is(marsh: Story) -> None:
    """By the id of the other kind, from that scene on; neither is merged away."""
    state = marsh.entities.state("I0", as_of=AFTER)
    assert state is not None
    assert state.state_data["identity"] == "C2"
    before = marsh.entities.state("I0", as_of=BEFORE)
    assert before is None or "identity" not in before.state_data
    assert {"I0", "C2"} <= {entity.entity_id for entity in marsh.entities.list(as_of=AFTER)}


def test_bodily_states_and_descriptions_are_those_of_the_place(marsh: Story) -> None:
    """A fever stands beside a burn; what somebody is by now stands from its scene on."""
    ben, ada = (marsh.entities.state(name, as_of=AFTER) for name in ("C1", "C0"))
    assert ben is not None
    assert ada is not None
    assert ben.state_data["physical_state"] == ["hand burnt", "fever"]
    assert ada.state_data["description"] == "Ben's wife"
    page = marsh.context(1, 3, {"scene_number": 3, "characters": list(PEOPLE["en"]), "purpose": "They go home."})
    assert "Ben's wife" in page.as_prompt()
    earlier = marsh.entities.state("C0", as_of=BEFORE)
    assert earlier is None or "description" not in earlier.state_data


def test_a_promise_that_was_kept_and_a_question_half_answered_go_on(marsh: Story) -> None:
    """Both are open before the next scene, the half answered one in its new words."""
    threads = {thread.loop_id: thread for thread in marsh.threads.list(as_of=AFTER)}
    assert {"OL1", "OL2"} <= threads.keys()
    assert threads["OL2"].description == "Who drowned the sheep?"
    assert {"OL1", "OL2"} <= threads_on_the_page(marsh)


def test_who_does_not_know_the_memory_does_not_know_the_thread_of_it(marsh: Story) -> None:
    """Ben, who was told of the lie, asks why; Dora, who slept, does not know that there is a question."""
    [thread] = [
        thread.loop_id for thread in marsh.threads.list(as_of=AFTER) if thread.description.startswith("Why did")
    ]
    assert thread in threads_on_the_page(marsh, "C1")
    assert thread not in threads_on_the_page(marsh, "C3")


def test_one_undo_takes_back_what_a_memory_ended(stores: MemoryStores) -> None:
    """What it ended holds again; the same record read from its export ends them again."""
    story = read_story(stores, "en")
    record = story.scenes.get("1:2").scene.record
    assert record is not None
    exported = json.loads(record.model_dump_json())
    [said] = exported["memories"]
    assert (said["supersedes"], said["also_supersedes"]) == ("walks", ["drowned"])
    said["supersedes"] = [said["supersedes"], *said.pop("also_supersedes")]
    assert SceneRecord.model_validate(exported) == record
    story.undo()
    left = memories_at(stores, story, AFTER)
    assert {name: memory.superseded_by for name, memory in left.items()} == dict.fromkeys(("walks", "drowned", "fever"))


@pytest.mark.slow
def test_a_record_that_ends_one_or_none_is_written_as_before() -> None:
    """No key of the new form, so that the mark of a stored scene stays what it was."""
    for ended in (None, "walks", ["walks"], []):
        record = {"chapter_index": 1, "scene_index": 1, "memories": [fact("M1", "It is so.", supersedes=ended)]}
        [memory] = SceneRecord.model_validate(record).model_dump(mode="json")["memories"]
        assert memory["supersedes"] in (None, "walks")
        assert "also_supersedes" not in memory
