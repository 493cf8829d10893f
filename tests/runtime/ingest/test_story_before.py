"""What an extraction is given of the story before a scene, read from real stores."""

import json

import pytest
from langchain_core.messages import BaseMessage

from novelgen.models.position import StoryPosition
from novelgen.reading.request import SceneRecordRequest
from runtime.ingest.entities import store_entities
from runtime.ingest.extraction import extract_scenes
from runtime.ingest.ingest import ingest_scenes
from runtime.ingest.story_before import record_request
from runtime.stores import MemoryStores
from runtime.story.conflicts import StoryConflicts
from tests.runtime.ingest.made_up_story import ENTITIES, record, scene
from tests.support.scripted_chat_model import ScriptedChatModel

SEEN = (
    "Sexton Pike stood by the gate of the churchyard with his spade and saw Tom Hale go by with the lamp under his "
    "coat. He said nothing of it to anybody, then or later, and the rain began."
)
AGAIN = (
    "On Sunday the sexton told Mary Grey what he had seen by the gate: Tom Hale had gone by with the lamp under his "
    "coat. She thanked him, and shut the door, and sat in the dark until the bells were over."
)


def before(stores: MemoryStores, project: str, chapter: int, number: int) -> SceneRecordRequest:
    """Return what is given of a stored scene."""
    with stores.database(project).read() as unit:
        return record_request(unit, unit.scenes.require(StoryPosition(chapter, number)), max_bullets=5)


@pytest.fixture
def story(stores: MemoryStores, project: str) -> str:
    """Three scenes with records, and one that waits to be read."""
    store_entities(stores, project, ENTITIES)
    told = [
        scene(*place, record=record(*place, story_time=f"day {day}"))
        for day, place in enumerate([(1, 1), (1, 2), (2, 1)], start=1)
    ]
    ingest_scenes(stores, project, [*told, scene(3, 1, SEEN)], index=False)
    return project


@pytest.mark.slow
def test_only_what_stands_before_a_scene_is_given(stores: MemoryStores, story: str) -> None:
    """Last scenes, memories and sightings; from the scene that unmasks on the mask stands for the other."""
    given = before(stores, story, 2, 1)
    assert given.story_places == [(1, 1), (1, 2)]
    assert [each.story_time for each in given.scenes_before] == ["day 1", "day 2"]
    assert [each.memory_id for each in given.memories] == ["M11", "M12"]
    assert (given.sightings["C0"].chapter_index, given.sightings["C0"].scene_index) == (1, 2)
    assert given.sightings["C0"].scenes == 2
    assert before(stores, story, 1, 1).sightings == {}
    one, other = (entity.entity_id for entity in ENTITIES if entity.entity_type == "character")
    with stores.database(story).write() as unit:
        unit.merges.unmask(one, other, at=StoryPosition(2, 1))
    for place, stand_ins in (((1, 2), {}), ((2, 1), {other: one}), ((3, 1), {other: one})):
        given = before(stores, story, *place)
        assert given.stand_ins == stand_ins
        listed = {each.entity_id for each in given.entities}
        assert (other in listed) == (not stand_ins)


def test_a_superseded_memory_is_not_given(stores: MemoryStores, project: str) -> None:
    """What another memory ended before the scene is no known fact of it; before that one it is."""
    store_entities(stores, project, ENTITIES)
    ended = {"memory_id": "M12", "content": "The lamp is lost.", "supersedes": "M11"}
    told = [scene(1, 1, record=record(1, 1)), scene(1, 2, record=record(1, 2, memories=[ended]))]
    ingest_scenes(stores, project, [*told, scene(2, 1)], index=False)
    assert [each.memory_id for each in before(stores, project, 2, 1).memories] == ["M12"]
    assert [each.memory_id for each in before(stores, project, 1, 2).memories] == ["M11"]


def reading(messages: list[BaseMessage]) -> str:
    """Introduce the sexton in the first scene; in the second tell the fact again, and another against it."""
    is_first = "said nothing of it" in messages[1].text
    content = "Sexton Pike saw Tom Hale go by with the lamp."
    seen = {"content": content, "entities": ["Sexton Pike", "C1"], "evidence": "saw Tom Hale go by with the lamp"}
    told = {**seen, "entities": ["C1"], "evidence": "Tom Hale had gone by with the lamp"}
    number = next((line.split(" | ")[0] for line in messages[1].text.splitlines() if content in line), "")
    spoke = {"content": "The sexton told Mary Grey of it.", "entities": ["C0"], "evidence": "told Mary Grey what"}
    answer = {
        "summary": ["Pike sees Tom." if is_first else "Mary hears of it."],
        "new_entities": [
            {"name": "Sexton Pike", "entity_type": "character", "description": "Digs the graves; saw the lamp."}
        ],
        "memories": [seen] if is_first else [{**told, "repeats": number}, {**spoke, "contradicts": number}],
    }
    return json.dumps(answer)


def test_a_description_that_a_model_gave_is_shown_to_the_next_scene(stores: MemoryStores, story: str) -> None:
    """It says no more than the scene that brought the entity, so the next may be told; that scene itself is not."""
    ingest_scenes(stores, story, [scene(3, 2, AGAIN)], index=False)
    model = ScriptedChatModel(answer=reading)
    extract_scenes(stores, story, model)
    first, second = (prompt[1].text for prompt in model.prompts)
    assert "C2 | character | Sexton Pike | Digs the graves; saw the lamp." in second
    assert "C2 | @3:1" in second
    assert "Digs the graves" not in first
    again = {each.entity_id: each.description for each in before(stores, story, 3, 1).entities}
    assert again["C2"] == ""


def test_a_repetition_is_stored_as_a_link_and_a_contradiction_listed(stores: MemoryStores, story: str) -> None:
    """The told-again fact stays one memory that the record names; what cannot stand beside it is a conflict."""
    ingest_scenes(stores, story, [scene(3, 2, AGAIN)], index=False)
    extract_scenes(stores, story, ScriptedChatModel(answer=reading))
    with stores.database(story).read() as unit:
        first = unit.scenes.require(StoryPosition(3, 1)).record
        second = unit.scenes.require(StoryPosition(3, 2)).record
    assert first is not None
    assert second is not None
    [memory] = first.memories
    assert [link.memory_id for link in second.memories_repeated] == [memory.memory_id]
    assert [each.content for each in second.memories] == ["The sexton told Mary Grey of it."]
    [conflict] = [each.conflict for each in StoryConflicts(stores, story).list()]
    assert (conflict.kind, conflict.first.says, conflict.second.says) == (
        "memories_disagree",
        memory.content,
        "The sexton told Mary Grey of it.",
    )


def test_an_unread_scene_before_gives_its_names_and_its_end(stores: MemoryStores, story: str) -> None:
    """Read side by side, a scene sees whole last sentences of the unread one before it, and whom that names."""
    ingest_scenes(stores, story, [scene(3, 2, AGAIN)], index=False)
    *_, last = before(stores, story, 3, 2).scenes_before
    assert "Sexton Pike" in last.names
    assert SEEN.endswith(last.last_words)
    assert last.summary == []
    long = scene(3, 1, f"{SEEN} {'The rain fell on the churchyard and on the gate. ' * 40}Pike ran.")
    ingest_scenes(stores, story, [long], index=False)
    *_, last = before(stores, story, 3, 2).scenes_before
    assert last.last_words.startswith("The rain fell")
    assert last.last_words.endswith("Pike ran.")
    assert len(last.last_words) < 700
