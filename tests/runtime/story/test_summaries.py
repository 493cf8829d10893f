"""The summaries of a story, listed, and written by a person and a model."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from langchain_core.messages import BaseMessage

from novelgen.errors import UnknownProjectError, UserInputError
from novelgen.models.position import StoryPosition
from runtime.ingest.entities import store_entities
from runtime.ingest.ingest import ingest_scenes
from runtime.ingest.scene_input import SceneInput
from runtime.memory_tools import StoryMemoryTools
from runtime.settings import load_settings
from runtime.stores import MemoryStores
from runtime.story.story import Story
from runtime.story.undo import StoryUndo
from tests.runtime.ingest.made_up_story import ENTITIES, record, recorded_scenes, scene
from tests.support.scripted_chat_model import ScriptedChatModel, answering

pytestmark = pytest.mark.usefixtures("unindexed_edits")

PROJECT = "demo"


@pytest.fixture
def stores(tmp_path: Path) -> Iterator[MemoryStores]:
    """A story of two chapters with records, parts of one chapter."""
    memory = {"embedding_model": "fake:32", "summarization": {"chapters_per_part": 1}}
    with MemoryStores(load_settings(projects_dir=tmp_path, memory=memory)) as opened:
        opened.create_project(PROJECT, language="en")
        store_entities(opened, PROJECT, ENTITIES, origin="author")
        ingest_scenes(opened, PROJECT, recorded_scenes(), index=False)
        yield opened


def told(stores: MemoryStores, chapter: int) -> dict[int, str]:
    """Return what a context in a chapter is told of those before."""
    outline = StoryMemoryTools(stores).outline(PROJECT, as_of=StoryPosition(chapter, 1))
    return {each.chapter_index: each.summary for each in outline.chapter_summaries}


def repeating(messages: list[BaseMessage]) -> str:
    """Answer with the events that are to be summed up."""
    events = str(messages[-1].content).split("=====")[2].replace("- ", "").split("\n")
    return json.dumps({"summary": " ".join(f"In short, {event}." for event in events if event.strip())})


def states(stores: MemoryStores) -> list[tuple[str, int, str, str]]:
    """Return level, number, origin and state of all that is listed."""
    return [(each.level, each.number, each.origin, each.state) for each in Story(stores, PROJECT).summaries.list()]


def test_every_chapter_and_part_is_listed(stores: MemoryStores) -> None:
    """With who wrote it; what is not stored, or a person wrote, no model writes."""
    assert states(stores) == [
        ("chapter", 1, "made", "current"),
        ("chapter", 2, "made", "current"),
        ("part", 1, "made", "current"),
        ("part", 2, "made", "current"),
    ]
    assert Story(stores, PROJECT).summaries.get(level="chapter", number=1).told == "event 11. event 12."
    with pytest.raises(UserInputError, match=r"of chapter 7 of 'demo'; there are \[1, 2\]"):
        Story(stores, PROJECT).summaries.write(level="chapter", number=7, text="Mine.")
    with pytest.raises(UnknownProjectError, match="none"):
        Story(stores, "none").summaries.list()
    Story(stores, PROJECT).summaries.write(level="part", number=1, text="Mine.")
    with pytest.raises(UserInputError, match="you wrote 'part 1' yourself"):
        Story(stores, PROJECT).summaries.write_with_model(model=answering(), only=("part", 1))


def test_a_chapter_of_which_only_the_text_is_known_is_not_written(stores: MemoryStores) -> None:
    """The model is not asked, and the error names the command that makes records."""
    ingest_scenes(stores, PROJECT, [SceneInput(chapter_index=3, scene_index=1, text="Fog.")], index=False)
    with pytest.raises(UserInputError, match=r"no record tells what happens in 'chapter 3'.*novelgen extract demo"):
        Story(stores, PROJECT).summaries.write_with_model(model=answering(), only=("chapter", 3))


def test_a_part_that_goes_on_is_listed_as_not_over(stores: MemoryStores) -> None:
    """Nothing is told of it, and no model writes it."""
    longer = stores.settings.memory.summarization.model_copy(update={"chapters_per_part": 5})
    memory = stores.settings.memory.model_copy(update={"summarization": longer})
    with MemoryStores(stores.settings.model_copy(update={"memory": memory})) as opened:
        listed = Story(opened, PROJECT).summaries.get(level="part", number=1)
        assert (listed.state, listed.told) == ("unfinished", "")
        with pytest.raises(UserInputError, match="'part 1' is not over yet"):
            Story(opened, PROJECT).summaries.write_with_model(model=answering(), only=("part", 1))


@pytest.mark.slow
def test_a_model_writes_what_is_missing_and_leaves_the_persons_alone(stores: MemoryStores) -> None:
    """Its words are told until the scenes change; then those that are made are, and a further run writes anew."""
    Story(stores, PROJECT).summaries.write(level="chapter", number=2, text="Mine.")
    model = ScriptedChatModel(answer=repeating)
    result = Story(stores, PROJECT).summaries.write_with_model(model=model)
    assert [(each.level, each.number) for each in result.written] == [("chapter", 1), ("part", 1), ("part", 2)]
    assert told(stores, 3) == {1: "In short, event 11. In short, event 12.", 2: "Mine."}
    assert Story(stores, PROJECT).summaries.write_with_model(model=answering()).written == []
    ingest_scenes(stores, PROJECT, [scene(1, 1, text="Another.", record=record(1, 1))], index=False)
    assert told(stores, 3)[1] == "event 11. event 12."
    listed = Story(stores, PROJECT).summaries.get(level="chapter", number=1)
    assert (listed.state, listed.written) == ("outdated", "In short, event 11. In short, event 12.")
    again = Story(stores, PROJECT).summaries.write_with_model(model=model)
    assert [(each.level, each.number) for each in again.written] == [("chapter", 1), ("part", 1)]
    StoryUndo(stores, PROJECT).undo()
    StoryUndo(stores, PROJECT).undo()
    assert told(stores, 3)[1] == "event 11. event 12."


def test_a_model_that_names_who_comes_later_is_not_believed(stores: MemoryStores) -> None:
    """The made summary stays, and the issue says whose and why."""
    bad = json.dumps({"summary": "event 11 and event 12 befall Mary Grey."})
    result = Story(stores, PROJECT).summaries.write_with_model(model=answering(bad, bad), only=("chapter", 1))
    assert result.written == []
    [issue] = result.issues
    assert (issue.kind, issue.message.startswith("chapter 1: ")) == ("malformed", True)
    assert "'Mary Grey' is not named" in issue.message
    assert told(stores, 2) == {1: "event 11. event 12."}


def test_scenes_that_change_meanwhile_make_the_answer_void(stores: MemoryStores) -> None:
    """What was written of other scenes is not stored."""

    def answer(messages: list[BaseMessage]) -> str:
        ingest_scenes(stores, PROJECT, [scene(1, 1, text="Another.", record=record(1, 1))], index=False)
        return repeating(messages)

    result = Story(stores, PROJECT).summaries.write_with_model(
        model=ScriptedChatModel(answer=answer), only=("chapter", 1)
    )
    assert result.written == []
    assert [(issue.kind, issue.message) for issue in result.issues] == [
        ("stale", "chapter 1 changed meanwhile; what the model wrote was dropped")
    ]


def test_a_person_who_writes_meanwhile_is_heard(stores: MemoryStores) -> None:
    """The model's words do not take the place of theirs."""

    def answer(messages: list[BaseMessage]) -> str:
        Story(stores, PROJECT).summaries.write(level="chapter", number=1, text="Mine.")
        return repeating(messages)

    Story(stores, PROJECT).summaries.write_with_model(model=ScriptedChatModel(answer=answer), only=("chapter", 1))
    assert told(stores, 2) == {1: "Mine."}
