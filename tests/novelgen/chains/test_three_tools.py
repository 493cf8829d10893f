"""The memory context chain over the three tools of the card alone, over doubles of them, and over mocks."""

from types import SimpleNamespace
from typing import Any
from unittest.mock import MagicMock, Mock, create_autospec

import pytest

from novelgen.chains.memory_context_chain import MemoryContextChain
from novelgen.memory.protocol import MemoryTools, StoryMemory
from novelgen.models.context import SceneMemoryContext
from tests.support.stored_story import patient
from tests.support.stories import NOW, lighthouse_memory, lighthouse_request

TOOLS = ("search_story_memory", "get_entity_state", "get_recent_timeline")


def context_over(memory: Any) -> SceneMemoryContext:
    """Return the context of a scene of the lighthouse story over a memory."""
    return MemoryContextChain(memory, settings=patient(), clock=lambda: NOW).invoke(lighthouse_request())


def problems(context: SceneMemoryContext) -> list[tuple[str, str]]:
    """Return stage and kind of the issues."""
    return [(issue.stage, issue.kind) for issue in context.report.issues]


def three_tools(*, without: str = "") -> SimpleNamespace:
    """Return an object with the three tools over the lighthouse story, or with two of them."""
    story = lighthouse_memory()
    return SimpleNamespace(**{name: getattr(story, name) for name in TOOLS if name != without})


def test_the_three_tools_fill_states_memories_and_timeline() -> None:
    """States are asked by the names of plan and cast; ids and names of the found are in the report; nothing leaks."""
    asked: list[str] = []
    tools = three_tools()
    read_state = tools.get_entity_state

    def get_entity_state(project_id: str, entity_id: str, **place: Any) -> Any:
        asked.append(entity_id)
        return read_state(project_id, entity_id, **place)

    tools.get_entity_state = get_entity_state
    context = context_over(tools)
    report = context.report
    assert problems(context) == []
    request = lighthouse_request()
    cast = [card.name for card in request.characters.everyone()]
    assert asked == list(dict.fromkeys([*request.scene_plan.characters, *cast]))
    assert {"C0", "C1"} <= {state.entity_id for state in context.entity_states}
    assert {"M1", "M2"} <= {memory.source_id for memory in context.relevant_memories}
    assert context.timeline_context is not None
    assert context.timeline_context["snapshots"]
    assert {"C0", "C1"} <= set(report.entities)
    assert report.names["C0"] == "Ada"
    assert "Ada:" in context.as_prompt()
    assert "harbour master" not in context.model_dump_json()


@pytest.mark.parametrize(
    ("missing", "stage"),
    [("search_story_memory", "search"), ("get_entity_state", "states"), ("get_recent_timeline", "timeline")],
)
def test_a_missing_tool_costs_its_part_and_the_report_says_so(missing: str, stage: str) -> None:
    """Seed 001, partial capability: the other two parts are filled."""
    context = context_over(three_tools(without=missing))
    parts = {
        "search": bool(context.relevant_memories),
        "states": bool(context.entity_states),
        "timeline": bool((context.timeline_context or {}).get("snapshots")),
    }
    assert parts == {name: name != stage for name in parts}
    assert problems(context) == [(stage, "unavailable")]
    assert missing in context.report.issues[0].message


WRONG = [5, None, [{"entity_id": "C1"}], Mock()]


@pytest.mark.parametrize("wrong", WRONG, ids=["5", "None", "[{}]", "Mock()"])
@pytest.mark.parametrize("tool", TOOLS)
def test_an_answer_of_another_type_is_an_issue(tool: str, wrong: Any) -> None:
    """Whatever a tool answers a context comes; the issue names tool and answer, and the other parts are filled."""
    tools = three_tools()
    setattr(tools, tool, lambda *_, **__: wrong)
    context = context_over(tools)
    stage = {"search_story_memory": "search", "get_entity_state": "states", "get_recent_timeline": "timeline"}[tool]
    assert problems(context) == ([] if (tool, wrong) == ("get_entity_state", None) else [(stage, "malformed")])
    assert sum(map(bool, (context.relevant_memories, context.entity_states, context.timeline_context))) == 2
    assert SceneMemoryContext.model_validate_json(context.model_dump_json()) == context


@pytest.mark.parametrize("tool", ["outline", "search", "get_entity_states", "get_recent_timeline", "scene_text"])
@pytest.mark.parametrize("wrong", [5, Mock()], ids=["5", "Mock()"])
def test_a_story_memory_with_a_wrong_answer_degrades_too(
    tool: str, wrong: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also what knows the story may answer wrongly, in every tool."""
    story = lighthouse_memory()
    monkeypatch.setattr(story, tool, lambda *_, **__: wrong)
    context = context_over(story)
    stages = {"get_entity_states": "states", "get_recent_timeline": "timeline", "scene_text": "left_off"}
    assert (stages.get(tool, tool), "malformed") in problems(context)


@pytest.mark.parametrize(
    "memory",
    [Mock(spec=MemoryTools), Mock(spec=StoryMemory), Mock(), MagicMock(), create_autospec(MemoryTools, instance=True)],
    ids=["Mock(spec=MemoryTools)", "Mock(spec=StoryMemory)", "Mock()", "MagicMock()", "create_autospec(MemoryTools)"],
)
def test_mocks_without_answers_give_an_empty_context(memory: Any) -> None:
    """The first thing that a test with mocked stores writes runs, and the report says what the mock lacks."""
    context = context_over(memory)
    assert (context.entity_states, context.relevant_memories, context.timeline_context) == ([], [], None)
    assert {("search", "malformed"), ("states", "malformed"), ("timeline", "malformed")} <= set(problems(context))


def test_a_mock_with_answers_is_a_memory() -> None:
    """Return values are the memory, and the mock tells how the chain called it."""
    story = lighthouse_memory()
    memory = Mock(spec=MemoryTools)
    memory.search_story_memory.return_value = story.search_story_memory("lighthouse", "the brass key")
    memory.get_entity_state.return_value = None
    memory.get_recent_timeline.return_value = []
    context = context_over(memory)
    assert problems(context) == []
    assert "M1" in {each.source_id for each in context.relevant_memories}
    assert memory.get_entity_state.called
