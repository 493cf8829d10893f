"""The memory context chain, over a story in stores of its own."""

import json
import logging
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from novelgen.chains.memory_context_chain import MemoryContextChain
from novelgen.errors import ContextWriteError, DatabaseError, UserInputError, VectorIndexError
from novelgen.memory.outline import StoryOutline
from novelgen.memory.search import SearchRequest, SearchResult
from novelgen.models.context import ReportIssue, SceneMemoryContext
from novelgen.models.plan import ChapterPlan
from novelgen.models.position import StoryPosition
from novelgen.models.state import EntityStateSnapshot
from novelgen.models.user_file import Settings
from novelgen.settings import ContextSettings
from tests.support.stored_story import StoredStory, patient
from tests.support.stories import NOW, PROJECT, lighthouse_memory, lighthouse_request

SHORT_DEADLINES = ContextSettings(tool_timeout_s=3.0)


def chain(memory: Any = None, **arguments: Any) -> MemoryContextChain:
    """Return a chain over the lighthouse story with a fixed clock."""
    settings = patient(arguments.pop("settings", None))
    arguments = {"clock": lambda: NOW, "propagate_bugs": True, "settings": settings, **arguments}
    return MemoryContextChain(memory or lighthouse_memory(), **arguments)


class BrokenMemory(StoredStory):
    """The lighthouse story with some tools that raise, or hang until they are released."""

    def __init__(self, broken: dict[str, Exception], hanging: Sequence[str] = ()) -> None:
        double = lighthouse_memory()
        self.__dict__.update(double.__dict__)
        self._broken = broken
        self._hanging = hanging
        self.released = threading.Event()

    def _maybe_fail(self, tool: str) -> None:
        if tool in self._hanging:
            self.released.wait(30)
        if tool in self._broken:
            raise self._broken[tool]

    def search(self, request: SearchRequest) -> SearchResult:
        """Search, or fail."""
        self._maybe_fail("search")
        return super().search(request)

    def get_entity_states(
        self, project_id: str, entity_ids: Sequence[str], *, as_of: StoryPosition
    ) -> list[EntityStateSnapshot]:
        """Read states, or fail."""
        self._maybe_fail("states")
        return super().get_entity_states(project_id, entity_ids, as_of=as_of)

    def get_entity_state(self, *arguments: Any, **keywords: Any) -> EntityStateSnapshot | None:
        """Read one state, or fail."""
        self._maybe_fail("states")
        return super().get_entity_state(*arguments, **keywords)

    def get_recent_timeline(self, *arguments: Any, **keywords: Any) -> list[EntityStateSnapshot]:
        """Read the timeline, or fail."""
        self._maybe_fail("timeline")
        return super().get_recent_timeline(*arguments, **keywords)

    def outline(self, project_id: str, *, as_of: StoryPosition) -> StoryOutline:
        """Read the outline, or fail."""
        self._maybe_fail("outline")
        return super().outline(project_id, as_of=as_of)


def source_ids(context: SceneMemoryContext) -> list[str | None]:
    """Return the source ids of the relevant memories, best first."""
    return [memory.source_id for memory in context.relevant_memories]


def issues(context: SceneMemoryContext) -> set[tuple[str, str]]:
    """Return stage and kind of every issue."""
    return {(issue.stage, issue.kind) for issue in context.report.issues}


def test_a_plan_brings_states_memories_and_timeline_of_before() -> None:
    """Who has the key, the promise and where it was hidden; the sale of chapter 3 is nowhere in the whole JSON."""
    context = chain().invoke(lighthouse_request())
    assert {"M1", "M2"} <= set(source_ids(context))
    assert [state.entity_id for state in context.entity_states][:2] == ["C0", "C1"]
    assert {state.entity_id: state.state_data for state in context.entity_states}["I0"] == {"holder": "C0"}
    assert context.timeline_context is not None
    assert context.timeline_context["open_loops"][0]["loop_id"] == "OL0"
    assert context.retrieval_timestamp == NOW
    text = chain().invoke(lighthouse_request()).model_dump_json()
    assert "M4" not in text
    assert "Cornelius" not in text
    assert "harbour master" not in text
    assert "The key is sold" not in text


def test_every_field_is_in_the_json() -> None:
    """Even when there is nothing to tell; two runs of a request differ in their timings alone."""
    empty = chain(StoredStory(PROJECT)).invoke(lighthouse_request())
    dumped = json.loads(empty.model_dump_json())
    required = {"project_id", "chapter_index", "scene_index", "entity_states", "relevant_memories"}
    assert required | {"timeline_context", "retrieval_timestamp", "report"} <= dumped.keys()
    assert dumped["timeline_context"] is None
    assert dumped["entity_states"] == []
    assert dumped["relevant_memories"] == []

    def fixed(context: SceneMemoryContext) -> dict[str, Any]:
        data = context.model_dump(mode="json")
        data["report"].pop("timings_s")
        return data

    assert fixed(chain().invoke(lighthouse_request())) == fixed(chain().invoke(lighthouse_request()))


def test_items_are_the_receipts_of_the_memories_one_to_one() -> None:
    """Every memory has its receipt in the same order, with tokens, reasons and its place in the prompt."""
    context = chain().invoke(lighthouse_request())
    report = context.report
    assert [item.chunk_id for item in report.items] == [each.chunk_id for each in context.relevant_memories]
    assert sorted(item.prompt_index for item in report.items) == list(range(len(report.items)))
    assert report.tokens["memories"] == sum(item.tokens for item in report.items)
    assert all(item.text and item.retriever_ranks for item in report.items)


@pytest.mark.parametrize("budget", [0, 10, 20, 40])
def test_the_memory_budget_holds_and_what_is_left_out_says_why(budget: int) -> None:
    """Memories stay within their tokens, and the rest is listed with the reason."""
    context = chain(settings=ContextSettings(memory_budget=budget)).invoke(lighthouse_request())
    assert context.report.tokens["memories"] <= budget
    assert any(item.section == "memories" and item.reason for item in context.report.left_out)


@pytest.mark.parametrize("error", [VectorIndexError("index gone"), RuntimeError("boom"), OSError("disk")])
def test_a_failing_search_leaves_the_rest_intact(error: Exception, caplog: pytest.LogCaptureFixture) -> None:
    """Without search there are no memories, a warning and an issue; states and timeline are there."""
    with caplog.at_level(logging.WARNING):
        context = chain(BrokenMemory({"search": error})).invoke(lighthouse_request())
    assert context.relevant_memories == []
    assert context.entity_states
    assert context.timeline_context
    assert issues(context) == {("search", "unavailable")}
    assert len([record for record in caplog.records if "search" in record.getMessage()]) == 1


def test_failing_tools_leave_the_rest_intact() -> None:
    """An issue says what is missing, and with all of them down the context is empty, valid and names each."""
    broken = {tool: DatabaseError("locked") for tool in ("states", "timeline")}
    context = chain(BrokenMemory(dict(broken))).invoke(lighthouse_request())
    assert context.entity_states == []
    assert context.relevant_memories
    assert issues(context) == {("states", "unavailable"), ("timeline", "unavailable")}
    broken = {tool: DatabaseError(f"no {tool}") for tool in ("search", "states", "timeline", "outline")}
    context = chain(BrokenMemory(dict(broken))).invoke(lighthouse_request())
    assert (context.entity_states, context.relevant_memories, context.timeline_context) == ([], [], None)
    assert {stage for stage, _ in issues(context)} == set(broken)
    assert SceneMemoryContext.model_validate_json(context.model_dump_json()) == context


@pytest.mark.parametrize("tool", ["search", "states", "timeline", "outline"])
def test_a_hanging_tool_counts_as_a_failure_and_the_rest_answers(tool: str) -> None:
    """A tool that never returns is given up at its deadline, and the others are used."""
    memory = BrokenMemory({}, hanging=[tool])
    started = time.monotonic()
    context = chain(memory, settings=SHORT_DEADLINES).invoke(lighthouse_request())
    assert time.monotonic() - started < 25
    memory.released.set()
    assert (tool, "timeout") in issues(context)
    if tool != "search":
        assert context.relevant_memories
    if tool not in ("states", "outline"):
        assert context.entity_states


def test_our_own_bugs_propagate_in_tests(caplog: pytest.LogCaptureFixture) -> None:
    """In production a KeyError degrades, with its traceback in the log."""
    with pytest.raises(TypeError, match="bad argument"):
        chain(BrokenMemory({"search": TypeError("bad argument")})).invoke(lighthouse_request())
    broken = BrokenMemory({"search": KeyError("lost")})
    with caplog.at_level(logging.ERROR):
        context = chain(broken, propagate_bugs=False).invoke(lighthouse_request())
    assert issues(context) == {("search", "unavailable")}
    assert any(record.exc_info for record in caplog.records)


class Writer:
    """Keeps no context."""

    def __init__(self, error: Exception) -> None:
        self.error = error

    def write(self, context: SceneMemoryContext) -> Path | None:
        """Fail."""
        raise self.error


@pytest.mark.parametrize("error", [ContextWriteError("disk full"), RuntimeError("no such host")])
def test_a_failing_writer_is_logged_and_the_context_returned(
    error: Exception, caplog: pytest.LogCaptureFixture
) -> None:
    """An unwritable file is an error in the log and an issue, never an exception."""
    with caplog.at_level(logging.ERROR):
        context = chain(writer=Writer(error)).invoke(lighthouse_request())
    assert context.relevant_memories
    assert {stage for stage, _ in issues(context)} == {"write"}
    assert str(error) in caplog.text


class RudeMemory(BrokenMemory):
    """Tools that forget to cut: whatever is asked, they answer from the end of the story, for anybody."""

    def __init__(self) -> None:
        super().__init__({})

    def search(self, request: SearchRequest) -> SearchResult:
        """Search the whole story."""
        return super().search(request.model_copy(update={"as_of": StoryPosition()}))

    def get_entity_states(
        self, project_id: str, entity_ids: Sequence[str], *, as_of: StoryPosition
    ) -> list[EntityStateSnapshot]:
        """Read the states of the end."""
        return super().get_entity_states(project_id, entity_ids, as_of=StoryPosition())


def test_what_careless_tools_bring_from_the_future_is_dropped() -> None:
    """The chain cuts once more whatever the tools let through."""
    context = chain(RudeMemory()).invoke(lighthouse_request())
    assert "M4" not in source_ids(context)
    assert "I0" not in [state.entity_id for state in context.entity_states]
    assert "M1" in source_ids(context)


def test_optional_settings_chapter_plan_and_hints_are_accepted() -> None:
    """Extra context is used where given and never required; a hint becomes a query."""
    request = lighthouse_request().model_copy(
        update={
            "settings": Settings(language="en"),
            "chapter_plan": ChapterPlan(chapter_number=2),
            "hints": ["the wreck called the Marigold"],
        }
    )
    context = chain().invoke(request)
    assert "hint" in [query.purpose for query in context.report.queries]
    assert "M3" in source_ids(context)


def test_a_request_without_a_plan_names_the_missing_field() -> None:
    """An issue of the chain's building, such as a missing tokenizer, stands in every report."""
    with pytest.raises(UserInputError, match="needs scene_plan"):
        chain().invoke({"project_id": PROJECT, "chapter_index": 1, "scene_index": 1})
    known = ReportIssue(stage="tokens", kind="unavailable", message="tokens are estimated: no file")
    degraded = chain(known_issues=[known])
    for _ in range(2):
        report = degraded.invoke(lighthouse_request()).report
        assert known in report.issues


def test_a_report_says_for_which_plan_and_what_each_need_cost() -> None:
    """The plan stands there as it was asked; the needs together cost what the sections do."""
    request = lighthouse_request()
    before = request.model_dump()
    report = chain().invoke(request).report
    assert report.scene_plan == request.scene_plan
    assert report.tokens_per_need.keys() == {
        "states", "story_so_far", "left_off", "obligations", "relations", "timeline", "memories", "passages",
    }  # fmt: skip
    assert sum(report.tokens_per_need.values()) == sum(report.tokens.values()) > 0
    assert request.model_dump() == before
