"""Nodes of LangGraph over a story: a context goes in, a finished scene comes out and is remembered."""

import asyncio
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypedDict

import pytest
from langchain_core.messages import BaseMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, StateGraph
from pydantic import BaseModel

import novelgen
from novelgen import Memory, Story
from novelgen.errors import UserInputError
from novelgen.models import SceneMemoryContext
from tests.support.scripted_chat_model import ScriptedChatModel, answering

RECORD = {
    "summary": ["Ben finds the lamp."],
    "memories": [{"memory_id": "M7", "event_type": "discovery", "content": "Ben found the lamp.", "importance": 7}],
}


class Writing(TypedDict, total=False):
    """The state of a graph that writes scenes, with keys of its own."""

    chapter_index: int
    scene_index: int
    scene_plan: dict[str, Any]
    settings: str
    story_context: str
    story_context_json: dict[str, Any]
    scene_text: str
    scene_record: dict[str, Any]
    scene_report: dict[str, Any]


@pytest.fixture(scope="module")
def memory(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Memory]:
    """A memory in a folder of its own."""
    folder: Path = tmp_path_factory.mktemp("graphs")
    with novelgen.open(folder, embedding_model="fake:64", tool_timeout_s=60, chain_timeout_s=120) as opened:
        yield opened


@pytest.fixture
def story(memory: Memory) -> Story:
    """A story of one scene and one note, the test's own."""
    opened = memory.create(f"lamp-{len(memory.projects())}", language="en")
    opened.ingest(text="Ada hid the lamp under the stair.", chapter_index=1, scene_index=1)
    opened.memories.add("Ada fears the dark.")
    return opened


def graph_of(story: Story, *, record: dict[str, Any] | None = None) -> Any:
    """Return a graph that asks the memory, writes by a script, and has the scene remembered."""

    def write(state: Writing) -> Writing:
        told = "Ada fears the dark" in state["story_context"]
        return {
            "scene_text": f"Ben looked under the stair. He {'knew' if told else 'forgot'}.",
            "scene_record": record or {},
        }

    building = StateGraph(Writing)
    building.add_node("remember", story.as_context_node())
    building.add_node("write", write)
    building.add_node("keep", story.as_scene_node())
    for first, then in ((START, "remember"), ("remember", "write"), ("write", "keep"), ("keep", END)):
        building.add_edge(first, then)
    return building.compile(checkpointer=InMemorySaver())


ASKED: Writing = {
    "chapter_index": 1,
    "scene_index": 2,
    "scene_plan": {"purpose": "Ben looks for the lamp in the dark."},
    "settings": "a key of the graph's own",
}


@pytest.mark.slow
@pytest.mark.parametrize("is_async", [False, True])
def test_a_graph_writes_a_scene_and_remembers_it(story: Story, is_async: bool) -> None:
    """With and without an event loop; what nodes put into the state is plain data that checkpoints keep."""
    graph, config = graph_of(story, record=RECORD), {"configurable": {"thread_id": "1"}}
    done = asyncio.run(graph.ainvoke(ASKED, config)) if is_async else graph.invoke(ASKED, config)
    assert done["scene_text"].endswith("He knew.")
    context = SceneMemoryContext.model_validate(done["story_context_json"])
    assert context.as_prompt() == done["story_context"]
    assert (done["scene_report"]["is_stored"], done["scene_report"]["is_read"]) == (True, True)
    assert any("Ben found the lamp." in line for line in done["scene_report"]["changed"])
    assert [each.content for each in story.search("Who found the lamp?", content_type="memory")] == [
        "Ben found the lamp."
    ]


@pytest.mark.slow
def test_what_fails_is_reported_and_stops_nothing(story: Story) -> None:
    """A scene that has no text is not stored; a model that fails leaves the text."""
    report = story.as_scene_node().invoke(
        {"chapter_index": 1, "scene_index": 2, "scene_text": " ", "scene_record": {"memories": 7}}
    )["scene_report"]
    assert (report["is_stored"], report["issues"][0]["stage"]) == (False, "ingest")
    assert "no text" in report["issues"][0]["message"]
    reading = Story(story._stores, story.project_id, chat_model=answering("no JSON", "no JSON", "no JSON", "no JSON"))
    report = reading.as_scene_node().invoke({"chapter_index": 1, "scene_index": 2, "scene_text": "Ben slept."})[
        "scene_report"
    ]
    assert (report["is_stored"], report["is_read"]) == (True, False)
    assert {each["stage"] for each in report["issues"]} == {"extract"}


@pytest.mark.slow
def test_a_state_may_be_a_model_or_a_dataclass(story: Story) -> None:
    """Under the graph's own keys, and without what it does not want."""

    class State(BaseModel):
        chapter_index: int = 1
        scene_index: int = 2
        scene_plan: dict[str, str] = {"purpose": "Ben looks for the lamp."}
        pov: str | None = None

    @dataclass
    class Draft:
        chapter_index: int = 1
        scene_index: int = 2
        draft: str = "Ben slept."

    [(key, block)] = story.as_context_node(prompt_key="memory", json_key=None).invoke(State()).items()
    assert key == "memory"
    assert "Ada fears the dark" in block
    kept = story.as_scene_node(text_key="draft", report_key="kept").invoke(Draft())
    assert kept["kept"]["outcome"] == "added"


@pytest.mark.parametrize(
    ("state", "reason"),
    [
        ({"scene_index": 1, "scene_text": "x"}, "chapter_index"),
        ({"chapter_index": 1, "scene_index": 1}, "scene_text"),
        (7, "int"),
    ],
)
def test_a_state_without_a_scene_is_refused(story: Story, state: Any, reason: str) -> None:
    """The error names the key that is missing."""
    with pytest.raises(UserInputError, match=reason):
        story.as_scene_node().invoke(state)


@pytest.mark.slow
def test_a_record_that_is_none_costs_no_text(story: Story) -> None:
    """The finished text is stored, and the report says what was wrong with the record that came with it."""
    state = {"chapter_index": 1, "scene_index": 2, "scene_text": "Ben found the lamp.", "scene_record": {"memorys": []}}
    report = story.as_scene_node().invoke(state)["scene_report"]
    assert (report["is_stored"], report["is_read"], report["issues"][-1]["stage"]) == (True, False, "record")
    assert "did you mean 'memories'" in report["issues"][-1]["message"]


class Bare(TypedDict, total=False):
    """A state that has the place of a scene alone."""

    chapter_index: int
    scene_index: int
    scene_plan: dict[str, Any]


@pytest.mark.slow
@pytest.mark.parametrize("is_async", [False, True])
@pytest.mark.parametrize(
    ("node", "told"), [("as_runnable", "as_context_node"), ("as_context_node", "no key 'story_context'")]
)
def test_a_graph_that_would_lose_the_context_is_refused(story: Story, node: str, told: str, is_async: bool) -> None:
    """A step of chains as a node, and a state without the node's key, are errors: LangGraph would drop it silently."""
    graph = StateGraph(Bare)
    graph.add_node("remember", getattr(story, node)())
    graph.add_edge(START, "remember")
    graph.add_edge("remember", END)
    place = {"chapter_index": 1, "scene_index": 2, "scene_plan": {"purpose": "Ben seeks the lamp."}}
    with pytest.raises(UserInputError, match=told):
        asyncio.run(graph.compile().ainvoke(place)) if is_async else graph.compile().invoke(place)


@pytest.mark.slow
def test_a_node_may_use_a_step_of_its_own(story: Story) -> None:
    """What a node of the caller's does with a step is the caller's."""

    def remember(state: Writing) -> dict[str, Any]:
        return {"story_context": story.as_runnable(as_prompt=True).invoke(state)}

    graph = StateGraph(Writing)
    graph.add_node("remember", remember)
    graph.add_edge(START, "remember")
    graph.add_edge("remember", END)
    place = {"chapter_index": 1, "scene_index": 2, "scene_plan": {"purpose": "Ben seeks the lamp."}}
    assert "Ada hid the lamp" in graph.compile().invoke(place)["story_context"]


def read_by_rule(messages: list[BaseMessage]) -> str:
    """Read a scene of three sentences as three facts; say nothing usable of a chapter."""
    if "memories of the chapter" in messages[1].text:
        return "no JSON"
    lines = [line for line in messages[-1].text.splitlines() if line.startswith("Ada put")]
    facts = [f"{sentence.strip()}." for sentence in lines[-1].split(".") if sentence.strip()]
    memories = [{"content": fact, "importance": 5, "entities": [], "evidence": fact[:-1]} for fact in facts]
    return json.dumps({"summary": facts[:1], "characters_present": [], "new_entities": [], "memories": memories})


@pytest.mark.slow
def test_scene_by_scene_a_chapter_is_put_right_once(story: Story) -> None:
    """Once the next chapter is begun; one that failed is not asked again at each later scene, and calls are counted."""
    model = ScriptedChatModel(answer=read_by_rule)
    node = Story(story._stores, story.project_id, chat_model=model).as_scene_node()

    def chapters_asked() -> int:
        return sum("memories of the chapter" in prompt[1].text for prompt in model.prompts)

    for chapter in (2, 3, 4):
        for scene in (1, 2, 3):
            place = f"{chapter}{scene}"
            text = f"Ada put lamp {place} down. Ada put rope {place} down. Ada put coal {place} down."
            state = {"chapter_index": chapter, "scene_index": scene, "scene_text": text}
            asked_before = len(model.prompts)
            report = node.invoke(state)["scene_report"]
            assert report["is_read"]
            assert report["model_calls"] == len(model.prompts) - asked_before > 0
            assert report["usage"]["uncounted_calls"] == report["model_calls"]
            closes = scene == 1 and chapter > 2
            assert (
                any(f"chapter {chapter - 1} was not reconciled" in each["message"] for each in report["issues"])
                == closes
            )
            # LangGraph runs nodes again at a retry, a resume and after a look back.
            replayed = node.invoke(state)["scene_report"]
            assert (replayed["outcome"], replayed["is_read"], replayed["model_calls"]) == ("unchanged", True, 0)
    # Each of the chapters 2 and 3 once, and once more to mend the answer.
    assert chapters_asked() == 4
