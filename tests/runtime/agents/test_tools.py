"""LangChain tools in the hands of a model: a real tool-calling loop with a scripted one, cut at the planned scene."""

import json
from pathlib import Path
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain_core.messages import AIMessage, ToolMessage
from langchain_core.utils.function_calling import convert_to_openai_tool

import novelgen
from novelgen.errors import UserInputError
from novelgen.models.position import StoryPosition
from novelgen.settings import ChunkContextSettings
from runtime.doors.langchain import attachment_guidance, build_memory_tools, build_story_tools
from runtime.stores import MemoryStores
from runtime.story.story import Story
from runtime.story.threads import StoryThreads
from tests.runtime.agents.conftest import Call
from tests.runtime.story.drowned_story import DEAD_ACT, tell_drowned_story
from tests.support.scripted_chat_model import ScriptedChatModel, answering, calling

HERE = StoryPosition(2, 1)


def _run(model: ScriptedChatModel, tools: Any) -> list[dict[str, Any]]:
    state = create_agent(model, tools).invoke({"messages": [{"role": "user", "content": "Plan the next scene."}]})
    return [json.loads(each.content) for each in state["messages"] if isinstance(each, ToolMessage)]


@pytest.mark.slow
def test_a_model_plans_a_scene_by_calling_tools(stores: MemoryStores, project: str) -> None:
    """Search, create, relate, look up, promise and answer: each answer is JSON that the next call builds on."""
    model = answering(
        calling("memory_search", "1", query="mapmaker", entity_types=["character"]),
        calling("character_generate", "2", name="Ines Holt", description="A lighthouse keeper", traits=["patient"]),
        calling(
            "relationship_create",
            "3",
            character_a="Ines Holt",
            character_b="C0",
            relationship_type="strangers",
            perspective_a="she looks lost",
            perspective_b="she knows the coast",
        ),
        calling("relationship_update", "4", character_a="C0", character_b="C3", event="a shared supper"),
        calling("relationship_query", "5", character_id="C0", status_filter="neutral"),
        calling("add_open_loop", "6", description="Who lit the lamp?", characters=["C3"]),
        calling("resolve_open_loop", "7", loop_id="OL0", summary="It leads to the lake."),
        "Done.",
    )
    found, made, related, updated, listed, planted, ended = _run(model, Story(stores, project).as_tools(as_of=(3, 1)))
    assert found["results"][0]["entity_id"] == "C0"
    assert made["entity"]["entity_id"] == "C3"
    assert related["relationship_id"] == updated["relationship_id"] == "R2"
    assert [each["character_name"] for each in listed["relationships"]] == ["Odile Brandt", "Ines Holt"]
    assert (planted["loop_id"], ended["loop_id"], ended["status"]) == ("OL1", "OL0", "resolved")


def test_a_model_recovers_from_a_refused_call(stores: MemoryStores, project: str) -> None:
    """A refusal names its kind, who is known and the tool that tells more, so that the next call can be right."""

    def answer(messages: list[Any]) -> AIMessage | str:
        results = [json.loads(each.content) for each in messages if isinstance(each, ToolMessage)]
        if not results:
            return calling("relationship_query", character_id="Marc the Bold")
        if "error" in results[-1]:
            assert "Marcus Vale" in results[-1]["error"]["message"]
            return calling("relationship_query", "call-2", character_id="C1")
        return "Done."

    refused, found = _run(ScriptedChatModel(answer=answer), Story(stores, project).as_tools(as_of=(3, 1)))
    assert refused["error"]["kind"] == "unknown-entity"
    assert "memory_search" in refused["error"]["fix"]
    assert found["relationships"]


@pytest.mark.slow
@pytest.mark.parametrize("asked", [{}, {"as_of": "9:9"}], ids=["without", "beyond"])
def test_nothing_of_the_planned_scene_is_read(stores: MemoryStores, project: str, asked: dict[str, str]) -> None:
    """Whatever position a call names, nothing at the planned scene or later is told."""
    drowned = f"drowned-{project}"
    tell_drowned_story(stores, drowned)
    tools = {each.name: each for each in Story(stores, project).as_tools(as_of=HERE)}
    told = [
        tools["search_story_memory_tool"].invoke({"query": "frozen lake", **asked}),
        tools["get_entity_state_tool"].invoke({"entity_id": "Elena Thorne", **asked}),
        tools["get_recent_timeline_tool"].invoke({"chapter_index": 2, **asked}),
        tools["knowledge_query"].invoke({"character_id": "C0", **asked}),
        tools["list_open_loops"].invoke({**asked}),
        tools["story_time_query"].invoke({**asked}),
        tools["memory_search"].invoke({"query": "Odile Brandt", **asked}),
        tools["story_changes"].invoke({"until": "9:9"} if asked else {}),
    ]
    assert [each for each in told if "error" in each] == []
    assert told[1]["state"]["state_data"]["emotional_state"] == "anxious"
    assert "Elena Thorne – Marcus Vale: student-mentor" in told[-1]["block"]
    assert "Odile" not in json.dumps(told)
    assert '"chapter_index": 2' not in json.dumps(told)
    check = {each.name: each for each in Story(stores, drowned).as_tools(as_of=HERE)}["continuity_check"]
    early = check.invoke({"text": DEAD_ACT, "chapter_index": 3, "scene_index": 1, "use_model": False})
    assert (early["chapter_index"], early["findings"]) == (2, [])


@pytest.mark.slow
def test_threads_are_cut_as_they_are_asked(stores: MemoryStores, project: str, call: Call) -> None:
    """What presses most comes first, by limit, stage and kind; those that are over are not told unless asked for."""
    StoryThreads(stores, project).add(description="Who lit the lamp?", importance="critical", characters=["C1"])
    StoryThreads(stores, project).edit(loop_id="OL1", category="mystery")
    whole = call("list_open_loops")
    assert [each["loop_id"] for each in whole["entries"]] == ["OL1", "OL0"]
    one = call("list_open_loops", limit=1)
    assert ([each["loop_id"] for each in one["entries"]], one["more"]) == (["OL1"], 1)
    assert call("list_open_loops", stages=["due", "overdue"])["entries"] == []
    assert [each["loop_id"] for each in call("list_open_loops", category="a riddle")["entries"]] == ["OL1"]
    call("resolve_open_loop", loop_id="OL0", summary="It leads to the lake.")
    assert [each["loop_id"] for each in call("list_open_loops")["entries"]] == ["OL1"]
    assert [each["loop_id"] for each in call("list_open_loops", stages=["over"])["entries"]] == ["OL0"]


@pytest.mark.slow
def test_a_model_sums_a_scene_up(stores: MemoryStores, project: str, call: Call) -> None:
    """Seed 000.36: the tool answers with bullets, of the story's model where there is one, else of the scene itself."""
    arguments = {"text": "Elena hid the map. It rained. She swore to find her father.", "max_bullets": 2}
    by_rules = call("scene_summarize", **arguments)
    assert by_rules["bullets"] == ["Elena hid the map.", "She swore to find her father."]
    model = answering(json.dumps({"summary": ["Elena hid the map.", "She swore to find him."]}))
    tools = {each.name: each for each in Story(stores, project, chat_model=model).as_tools()}
    by_model = tools["scene_summarize"].invoke(arguments)
    assert (by_model["bullets"][1], by_model["made_by"]) == ("She swore to find him.", "model")


@pytest.mark.slow
def test_a_model_keeps_attachments(stores: MemoryStores, project: str, call: Call) -> None:
    """Seed 003.19: memories are made, listed, attached as they tell it themselves, taken off, and found by mention."""
    made = call("create_memory", content="She hates cold tea.", attached_to=["Elena Thorne", "chapter:1"])["note"]
    assert [each["id"] for each in made["attached_to"]] == ["C0", "chapter:1"]
    memory = made["source_id"]
    moved = call("update_memory", memory_id=memory, attached_to=[{"type": "character", "id": "C1"}, "chapter:2"])
    assert [each["id"] for each in moved["memory"]["chunk"]["attached_to"]] == ["C1", "chapter:2"]
    listed = call("list_memories", attached_to=["chapter:2"])
    assert (listed["total"], listed["memories"][0]["chunk"]["source_id"]) == (1, memory)
    given = {"memory_ids": [memory], "targets": ["book"]}
    assert [each["target"] for each in call("memory_attach", **given)["attachments"][memory]][-1] == "book"
    after = call("memory_detach", memory_ids=[memory], targets=["C1"])
    assert "C1" not in [each["target"] for each in after["attachments"][memory]]
    with stores.database(project).write() as unit:
        unit.memories.add_note("The Cartographer never sleeps in the Archive.")
    looked = call("memory_attach_by_mention", entity_id="Elena Thorne")
    assert (looked["is_attached"], len(looked["memories"])) == (False, 1)
    assert call("memory_attach_by_mention", entity_id="C0", is_applied=True)["is_attached"] is True
    assert call("memory_attach_by_mention", entity_id="C0")["memories"] == []


@pytest.mark.slow
def test_a_translator_is_told_what_a_passage_needs(stores: MemoryStores, project: str, call: Call) -> None:
    """Seed 003: glossary and memories in one block; who is shown what is noted where that is asked for."""
    Story(stores, project).entities.edit("Elena Thorne", {"translation": "艾琳娜"})
    rule = call("create_memory", content="Elena Thorne is always called by her first name.")["note"]["source_id"]
    told = call("build_chunk_context", text="Elena Thorne left.", chapter_index=2)
    assert "- Elena Thorne → 艾琳娜 (character)" in told["block"]
    assert "always called by her first name" in told["block"]
    assert rule in [each["chunk"]["source_id"] for each in told["memories"]]


@pytest.mark.slow
@pytest.mark.parametrize("reads_only", [True, False])
def test_a_reader_notes_nothing(stores: MemoryStores, project: str, reads_only: bool) -> None:
    """Where the settings note what was shown, tools that store nothing do not."""
    touching = ChunkContextSettings(touch=True)
    memory = stores.settings.memory.model_copy(update={"chunk_context": touching})
    with MemoryStores(stores.settings.model_copy(update={"memory": memory})) as opened:
        story = Story(opened, project)
        rule = story.memories.add("Elena Thorne is always called by her first name.").note.chunk_id
        tools = build_story_tools(opened, story, "attachments", reads_only=reads_only)
        {each.name: each for each in tools}["build_chunk_context"].invoke({"text": "Elena Thorne left."})
        with opened.database(project).read() as unit:
            assert (rule in unit.memories.read_moments([rule])) is not reads_only


def test_a_chunk_context_reads_nothing_of_later(stores: MemoryStores, project: str) -> None:
    """A position cuts the chapter that a call names, and the whole book."""
    story = Story(stores, project)
    story.entities.edit("Odile Brandt", {"description": "A traitor"}, start=(3, 1))
    tools = build_story_tools(stores, story, "attachments", as_of=HERE)
    chunk = {each.name: each for each in tools}["build_chunk_context"]
    for asked in ({}, {"chapter_index": 9}):
        told = chunk.invoke({"text": "Odile Brandt left the frozen lake.", **asked})
        assert (told["chapter_index"], told["memories"]) == (2, [])
        assert ("A smuggler" in told["block"], "traitor" in told["block"]) == (True, False)


@pytest.mark.slow
def test_what_goes_wrong_is_data(call: Call) -> None:
    """A model reads what to correct, names near what it wrote included; the project is no argument at all."""
    cases: list[tuple[str, dict[str, Any], str]] = [
        ("create_memory", {"content": "x", "attached_to": ["Markus Vale"]}, "near it: Marcus Vale"),
        ("update_memory", {"memory_id": "M9", "content": "x"}, "'M9'"),
        ("list_memories", {"attached_to": ["book:other"]}, "is another book than this one"),
        ("memory_detach", {"memory_ids": [], "targets": ["C0"]}, "at least one memory"),
        ("memory_attach_by_mention", {"entity_id": "nobody"}, "no entity 'nobody' is known"),
        ("memory_search", {}, "query is missing"),
        ("memory_search", {"query": "x", "entity_types": ["planet"]}, "entity_types"),
        ("memory_search", {"query": "x", "project_id": "other"}, "project_id"),
        ("add_open_loop", {"description": "x", "importance": "huge"}, "importance"),
    ]
    for tool, arguments, message in cases:
        assert message in call(tool, **arguments)["error"]["message"]


@pytest.mark.parametrize(("language", "word"), [("en", "chapter:<number>"), ("zh", "chapter:<章号>")])
def test_a_system_prompt_teaches_attachments(stores: MemoryStores, project: str, language: Any, word: str) -> None:
    """Seed 003.20: the text that is shipped tells of the tools by their names, in the story's language."""
    told = attachment_guidance(language)
    names = {each.name for each in Story(stores, project).as_tools(kind="attachments")}
    assert word in told
    assert {each for each in names if each in told} >= {"update_memory", "memory_attach", "memory_detach"}


def test_every_tool_tells_a_model_what_it_is_for(stores: MemoryStores, project: str) -> None:
    """Names fit function calling, each argument is described; over several stories each call names its project."""
    story = Story(stores, project)
    for tool in [*story.as_tools(), *story.as_tools(kind="editor"), *story.as_tools(kind="attachments")]:
        function = convert_to_openai_tool(tool)["function"]
        assert function["name"].replace("_", "").isalpha()
        assert len(function["description"]) > 40
        assert "{" not in function["description"]
        properties = function["parameters"]["properties"]
        assert all(each.get("description") for each in properties.values()), function["name"]
    search, state, _ = build_memory_tools(stores, as_of=HERE)
    assert search.name == "search_story_memory_tool"
    assert state.invoke({"project_id": project, "entity_id": "the Emperor"})["error"]["kind"] == "unknown-entity"
    assert search.invoke({"project_id": "nowhere", "query": "x"})["error"]["kind"] == "unknown-project"
    assert search.invoke({"project_id": "../guild", "query": "x"})["error"]["kind"] == "invalid-project-id"
    assert search.invoke({"query": "x"})["error"]["kind"] == "invalid-request"


def test_a_model_remembers_and_recalls_for_one_character(tmp_path: Path) -> None:
    """What one character's tool keeps, its own recall brings back, and another's does not; wrong arguments are data."""
    with novelgen.open(tmp_path, embeddings="fake:32") as memory:
        village = memory.create("village")
        gregor, mira = (village.character(name, create=True) for name in ("Gregor", "Mira"))
        remember, recall = gregor.as_tools()
        assert not {"character_id", "to", "story_as_of"} & set(recall.args)
        kept = remember.invoke({"content": "The player gave me a brass compass."})
        answer = recall.invoke({"said": "Do you have the compass?"})
        assert [each["memory"]["memory_id"] for each in answer["items"]] == [kept["memory"]["memory_id"]]
        assert "brass compass" in answer["block"]
        assert mira.as_tools()[1].invoke({"said": "the compass"})["items"] == []
        for wrong in ({"content": ""}, {"content": "   "}, {"words": "The player came."}):
            assert "error" in remember.invoke(wrong)
        assert len(gregor.memories()) == 1


@pytest.mark.slow
def test_an_agent_is_given_only_what_it_needs(stores: MemoryStores, project: str) -> None:
    """Tools are chosen by name, or those alone that change nothing; a name that is none is refused."""
    story = Story(stores, project)
    names = ["get_entity_state_tool", "search_story_memory_tool"]
    assert [each.name for each in story.as_tools(names=names)] == names
    reading = {each.name for each in story.as_tools(reads_only=True)}
    assert {*names, "knowledge_query"} < reading
    assert not reading & {"add_open_loop", "character_generate", "relationship_update"}
    with pytest.raises(UserInputError, match="did you mean 'knowledge_query'"):
        story.as_tools(names=["knowledge_qeury"])
    with pytest.raises(UserInputError, match="no tool that changes nothing 'add_open_loop'"):
        story.as_tools(names=["add_open_loop"], reads_only=True)
