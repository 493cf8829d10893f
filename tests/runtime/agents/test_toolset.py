"""The story tools in the hands of a model: a real tool-calling loop with a scripted model."""

from __future__ import annotations

import json
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain_core.messages import AIMessage, ToolMessage
from langchain_core.utils.function_calling import convert_to_openai_tool

from novelgen.errors import InvalidProjectIdError
from novelgen.models.position import StoryPosition
from runtime.agents.toolset import build_story_tools
from runtime.stores import MemoryStores
from runtime.story.threads import StoryThreads
from tests.runtime.story.drowned_story import DEAD_ACT, tell_drowned_story
from tests.support.scripted_chat_model import ScriptedChatModel, answering, calling

NAMES = [
    "memory_search",
    "character_generate",
    "location_generate",
    "relationship_create",
    "relationship_update",
    "relationship_query",
    "knowledge_query",
    "story_time_query",
    "open_loop_create",
    "open_loop_resolve",
    "open_loop_list",
    "story_changes",
    "scene_summarize",
    "continuity_check",
]


def _run(model: ScriptedChatModel, stores: MemoryStores, project: str, as_of: StoryPosition) -> list[Any]:
    agent = create_agent(model, build_story_tools(stores, project, as_of))
    state = agent.invoke({"messages": [{"role": "user", "content": "Plan the next scene."}]})
    return [json.loads(each.content) for each in state["messages"] if isinstance(each, ToolMessage)]


def test_a_model_plans_a_scene_by_calling_tools(stores: MemoryStores, project: str) -> None:
    """Search, create, relate, look up, promise and answer: each answer is JSON that the next call builds on."""
    model = answering(
        calling("memory_search", "1", query="mapmaker", entity_types=["character"]),
        calling(
            "character_generate",
            "2",
            name="Ines Holt",
            role="supporting",
            description="A lighthouse keeper",
            traits=["patient"],
            goals=["keep the lamp lit"],
        ),
        calling("location_generate", "3", name="Holt's Light", description="A lighthouse", atmosphere="lonely"),
        calling(
            "relationship_create",
            "4",
            character_a="Ines Holt",
            character_b="C0",
            relationship_type="strangers",
            perspective_a="she looks lost",
            perspective_b="she knows the coast",
        ),
        calling("relationship_update", "5", character_a="C0", character_b="C3", event="a shared supper"),
        calling("relationship_query", "6", character_id="C0", status_filter="neutral"),
        calling("open_loop_create", "7", description="Who lit the lamp?", related_characters=["C3"]),
        calling("open_loop_resolve", "8", open_loop_id="OL0", resolution_summary="It leads to the lake."),
        "Done.",
    )
    answers = _run(model, stores, project, StoryPosition(3, 1))

    assert model.tool_names == NAMES
    assert answers[0]["results"][0]["entity_id"] == "C0"
    assert answers[1:] == [
        {"success": True, "character_id": "C3", "name": "Ines Holt"},
        {"success": True, "location_id": "L1", "name": "Holt's Light"},
        {"success": True, "relationship_id": "R2"},
        {"success": True, "relationship_id": "R2", "updated": True},
        {
            "relationships": [
                {
                    "character_id": "C3",
                    "character_name": "Ines Holt",
                    "relationship_type": "strangers",
                    "status": "neutral",
                    "your_view": "she knows the coast",
                    "intensity": 5,
                },
                {
                    "character_id": "C2",
                    "character_name": "Odile Brandt",
                    "relationship_type": "business",
                    "status": "neutral",
                    "your_view": "",
                    "intensity": 3,
                },
            ]
        },
        {"success": True, "open_loop_id": "OL1"},
        {"success": True, "open_loop_id": "OL0", "status": "resolved"},
    ]


def test_a_model_asks_which_threads_wait(stores: MemoryStores, project: str) -> None:
    """What presses most comes first, cut at the planned scene and by the limit; a name that nobody bears is refused."""
    StoryThreads(stores, project).add_thread(description="Who lit the lamp?", importance="critical", characters=["C1"])
    StoryThreads(stores, project).edit_thread(thread_id="OL1", category="mystery")
    model = answering(
        calling("open_loop_list", "1", on_stage=["Marcus Vale"]),
        calling("open_loop_list", "2", limit=1),
        calling("open_loop_list", "3", only_due=True),
        calling("open_loop_list", "4", on_stage=["Nobody"]),
        calling("open_loop_list", "5", category="a riddle"),
        "Done.",
    )
    whole, one, due, refused, riddles = _run(model, stores, project, StoryPosition(3, 1))
    assert [each["loop_id"] for each in whole["open_loops"]] == ["OL1", "OL0"]
    assert (whole["open_loops"][1]["stage"], whole["open_loops"][1]["age_scenes"]) == ("planted", 2)
    assert ([each["loop_id"] for each in one["open_loops"]], one["waiting_in_all"]) == (["OL1"], 2)
    assert due == {"open_loops": [], "waiting_in_all": 0}
    assert not refused["success"]
    assert [each["loop_id"] for each in riddles["open_loops"]] == ["OL1"]
    early = answering(calling("open_loop_list", "1"), "Done.")
    assert [each["open_loops"] for each in _run(early, stores, project, StoryPosition(1, 1))] == [[]]


def test_a_model_asks_what_the_last_scene_changed(stores: MemoryStores, project: str) -> None:
    """Cut at the planned scene: of the last one before it, or all from one on; a turned stretch is refused."""
    model = answering(
        calling("story_changes", "1"),
        calling("story_changes", "2", chapter_index=1),
        calling("story_changes", "3", chapter_index=7),
        "Done.",
    )
    last, all_before, refused = _run(model, stores, project, StoryPosition(2, 1))
    assert last["changes"][0] == "What scene 1:2 changed:"
    assert "  - Elena Thorne – Marcus Vale: mentor-student; strained" in last["changes"]
    assert all_before["changes"][0] == "What changed from scene 1:1 to 1:2:"
    assert "  - planted: What does the fragment lead to?" in all_before["changes"]
    assert not any("Odile" in line for line in (*last["changes"], *all_before["changes"]))
    assert not refused["success"]


def test_a_model_asks_when_the_last_scenes_play(stores: MemoryStores, project: str) -> None:
    """The last ones in story order, cut at the planned scene and by the limit; nobody's scenes are refused."""
    model = answering(
        calling("story_time_query", "1"),
        calling("story_time_query", "2", limit=1),
        calling("story_time_query", "3", character_id="Nobody"),
        "Done.",
    )
    whole, one, refused = _run(model, stores, project, StoryPosition(2, 1))
    assert whole["scenes_in_all"] == len(whole["scenes"]) > 0
    assert {each["chapter_index"] for each in whole["scenes"]} == {1}
    assert one["scenes"] == whole["scenes"][-1:]
    assert not refused["success"]


def test_a_model_asks_what_somebody_knows(stores: MemoryStores, project: str) -> None:
    """Seed 002.2: known and unknown memories come apart, latest first, cut at the planned scene and by the limit."""
    with stores.database(project).write() as unit:
        for text, about in (("The map is false.", "C0"), ("She is ill.", "C2"), ("He limps.", "C0")):
            unit.memories.add_note(text, at=StoryPosition(1, 1), entities=[about])
    model = answering(
        calling("knowledge_query", "1", character_id="C0"),
        calling("knowledge_query", "2", character_id="C0", limit=1),
        calling("knowledge_query", "3", character_id="Nobody"),
        "Done.",
    )
    whole, one, refused = _run(model, stores, project, StoryPosition(3, 1))
    assert (whole["character_id"], whole["known_in_all"], whole["not_known_in_all"]) == ("C0", 2, 1)
    assert [each["content"] for each in whole["known"]] == ["He limps.", "The map is false."]
    assert [(each["content"], bool(each["why"])) for each in whole["not_known"]] == [("She is ill.", True)]
    assert (one["known"], one["known_in_all"]) == (whole["known"][:1], 2)
    assert not refused["success"]
    early = _run(
        answering(calling("knowledge_query", "1", character_id="C0"), "Done."), stores, project, StoryPosition(1, 1)
    )
    assert (early[0]["known"], early[0]["not_known"]) == ([], [])


def test_a_model_recovers_from_a_refused_call(stores: MemoryStores, project: str) -> None:
    """A refusal names who is known, so that the next call can be right."""

    def answer(messages: list[Any]) -> AIMessage | str:
        results = [json.loads(each.content) for each in messages if isinstance(each, ToolMessage)]
        if not results:
            return calling("relationship_query", character_id="Marc the Bold")
        if "error" in results[-1]:
            assert "C1 (Marcus Vale)" in results[-1]["error"]
            return calling("relationship_query", "call-2", character_id="C1")
        return "Done."

    refused, found = _run(ScriptedChatModel(answer=answer), stores, project, StoryPosition(3, 1))

    assert refused["success"] is False
    assert "memory_search" in refused["hint"]
    assert found["relationships"][0]["your_view"] == "she asks too many questions"


@pytest.mark.parametrize(
    ("name", "arguments", "message"),
    [
        ("memory_search", {}, "query: Field required"),
        ("memory_search", {"query": "x", "limit": 0}, "limit: Input should be greater"),
        ("memory_search", {"query": "x", "entity_types": ["planet"]}, "entity_types"),
        ("memory_search", {"query": "x", "project_id": "other"}, "project_id: Extra inputs"),
        ("character_generate", {"name": "", "description": "x"}, "name: String should have at least 1"),
        ("open_loop_create", {"description": "x", "importance": "huge"}, "importance"),
    ],
)
def test_wrong_arguments_come_back_as_data(call: Any, name: str, arguments: dict[str, Any], message: str) -> None:
    """A model is told which argument is wrong; a project_id is not among the arguments at all."""
    answer = call(name, **arguments)
    assert answer["success"] is False
    assert message in answer["error"]
    assert answer["hint"]


def test_every_tool_tells_a_model_what_it_is_for(stores: MemoryStores, project: str) -> None:
    """Names fit function calling, and each tool and each argument but plain ids is described."""
    for tool in build_story_tools(stores, project):
        function = convert_to_openai_tool(tool)["function"]
        assert function["name"].replace("_", "").isalpha()
        assert len(function["description"]) > 40
        properties = function["parameters"]["properties"]
        assert "project_id" not in properties
        assert all("description" in each for each in properties.values()), function["name"]


def test_a_path_is_no_project(stores: MemoryStores) -> None:
    """The bound project id is checked before a model gets any tool."""
    with pytest.raises(InvalidProjectIdError, match="path separator"):
        build_story_tools(stores, "../other")


def test_a_project_that_is_not_stored_is_said_so(stores: MemoryStores) -> None:
    """Tools of a missing project answer with data, too."""
    (search, *_) = build_story_tools(stores, "nowhere")
    answer = search.invoke({"query": "x"})
    assert answer["success"] is False
    assert "nowhere" in answer["error"]
    assert "another call will not help" in answer["hint"]


def test_a_model_sums_a_scene_up(stores: MemoryStores, project: str) -> None:
    """Seed 000.36: the tool answers with bullets, of the bound model where there is one, else of the scene itself."""
    scene = "Elena hid the map. It rained. She swore to find her father."
    arguments = {"scene_text": scene, "max_bullets": 2}
    by_rules = {each.name: each for each in build_story_tools(stores, project)}["scene_summarize"]
    assert by_rules.invoke(arguments) == {"summary": ["Elena hid the map.", "She swore to find her father."]}
    model = answering(json.dumps({"summary": ["Elena hid the map.", "She swore to find him."]}))
    tools = build_story_tools(stores, project, chat_model=model)
    by_model = next(each for each in tools if each.name == "scene_summarize")
    assert by_model.invoke(arguments)["summary"][1] == "She swore to find him."


def test_a_model_checks_its_draft_before_it_is_a_scene(stores: MemoryStores) -> None:
    """Findings come with quotes and evidence; where the toolset stands is the scene, and nothing of it is read."""
    tell_drowned_story(stores, "drowned-tools")
    late, early, last, empty = (
        _run(answering(calling("continuity_check", "1", text=text), "Done."), stores, "drowned-tools", as_of)[0]
        for as_of, text in (
            (StoryPosition(3, 1), DEAD_ACT),
            (StoryPosition(2, 1), DEAD_ACT),
            (StoryPosition(), DEAD_ACT),
            (StoryPosition(3, 1), " "),
        )
    )
    [found] = late["findings"]
    assert (found["kind"], found["by"]) == ("dead_or_absent", "rule")
    assert found["draft_quote"] in DEAD_ACT
    assert found["evidence"][0]["chapter_index"] == 2
    assert (early["chapter_index"], early["findings"]) == (2, [])
    assert (last["chapter_index"], last["scene_index"]) == (3, 2)
    assert empty["success"] is False
