"""Nodes for LangGraph: one puts the context of a planned scene into the graph's state, one takes a finished scene in.

A node is a Runnable over the state, a mapping, a Pydantic model or a dataclass, and gives what it adds to it as plain
data; LangGraph runs it with and without an event loop.
"""

import dataclasses
import logging
import sys
from collections.abc import Callable, Coroutine, Mapping, Sequence
from types import FrameType
from typing import Any

from langchain_core.runnables import Runnable, RunnableConfig, RunnableLambda
from pydantic import BaseModel, Field

from novelgen.chains.stepwise_chain import StoryStep
from novelgen.context.difference_block import difference_lines
from novelgen.errors import NovelgenError, UserInputError
from novelgen.models.context import IssueKind, MemoryContextRequest, ReportIssue, SceneMemoryContext
from novelgen.models.position import GREATEST_INDEX
from novelgen.models.story_difference import StoryDifference
from runtime.story.extraction import ExtractionReport
from runtime.story.ingest import IngestReport

logger = logging.getLogger(__name__)

PROMPT_KEY = "story_context"

CONTEXT_KEY = "story_context_json"

TEXT_KEY = "scene_text"

RECORD_KEY = "scene_record"

REPORT_KEY = "scene_report"

_ASKED = ("chapter_index", "scene_index", "scene_plan", "chapter_plan", "pov", "hints", "knowledge", "top_k")
"""What the context of a scene is asked for by; other keys of a state are the graph's own."""


class SceneReport(BaseModel):
    """What became of a scene that a graph wrote."""

    is_stored: bool = False
    outcome: str = Field(default="", description="added, replaced or unchanged; empty where it could not be stored.")
    is_read: bool = Field(
        default=False, description="Whether what it establishes is known: by a record, or read by a model."
    )
    changed: list[str] = Field(default_factory=list, description="What it changed, in lines in the story's language.")
    issues: list[ReportIssue] = Field(default_factory=list, description="What failed or is missing.")


def build_context_node(
    build: Callable[[Mapping[str, Any]], SceneMemoryContext], *, prompt_key: str | None, json_key: str | None
) -> Runnable[Any, dict[str, Any]]:
    """Return the node that `Story.as_context_node` tells of.

    Args:
        build: Builds a context of what the state asks for.
        prompt_key: Key of the state for the block of a prompt; None leaves it out.
        json_key: Key for the context as JSON; None leaves it out.
    """

    def node(state: Any, config: RunnableConfig) -> dict[str, Any]:
        _require_keys(config, [each for each in (prompt_key, json_key) if each is not None])
        given = _fields_of(state)
        context = build({name: given[name] for name in _ASKED if given.get(name) is not None})
        update: dict[str, Any] = {}
        if prompt_key is not None:
            update[prompt_key] = context.as_prompt()
        if json_key is not None:
            update[json_key] = context.model_dump(mode="json")
        return update

    return RunnableLambda(node).with_config(run_name="story_context")


def build_scene_node(
    ingest: Callable[..., IngestReport],
    extract: Callable[..., ExtractionReport] | None,
    what_changed: Callable[..., StoryDifference],
    *,
    text_key: str,
    record_key: str,
    report_key: str,
) -> Runnable[Any, dict[str, Any]]:
    """Return the node that `Story.as_scene_node` tells of.

    Args:
        ingest: Takes a scene in, as `Story.ingest`.
        extract: Reads a stored scene, as `Story.extract`; None where no model is set.
        what_changed: Tells what it changed, as `Story.what_changed`.
        text_key: Key of the state for the text.
        record_key: Key for what it established.
        report_key: Key for what became of it.
    """

    def node(state: Any, config: RunnableConfig) -> dict[str, Any]:
        _require_keys(config, [report_key])
        given = _fields_of(state)
        missing = [each for each in ("chapter_index", "scene_index", text_key) if given.get(each) is None]
        if missing:
            raise UserInputError(
                f"the state has no {missing[0]!r}; the node before must put it there, or name the key that holds it"
            )
        chapter, scene = given["chapter_index"], given["scene_index"]
        record = given.get(record_key)
        report = _stored(ingest, text=given[text_key], record=record, chapter_index=chapter, scene_index=scene)
        if report.is_stored and not report.is_read and extract is not None:
            _read_out(extract, report, (chapter, scene))
        if report.is_read:
            _tell_changes(what_changed, report, (chapter, scene))
        return {report_key: report.model_dump(mode="json")}

    return RunnableLambda(node).with_config(run_name="take_scene_in")


def _stored(ingest: Callable[..., IngestReport], **scene: Any) -> SceneReport:
    """Take a scene in; where that fails, the report says why, and the graph goes on.

    The finished text goes in also where its record, which a model may have written, cannot be read.
    """
    try:
        taken = ingest(**scene)
    except NovelgenError as error:
        if scene["record"] is not None and isinstance(error, UserInputError):
            report = _stored(ingest, **scene | {"record": None})
            report.issues.append(_issue("record", f"the record was left out: {error}", kind="not_written"))
            return report
        logger.error("scene %s:%s was not stored: %s", scene["chapter_index"], scene["scene_index"], error)
        return SceneReport(is_stored=False, issues=[_issue("ingest", str(error), kind="not_written")])
    issues = [_issue("ingest", each, kind="not_written") for each in taken.failures]
    report = SceneReport(issues=[*issues, *taken.indexing.issues])
    for each in taken.scenes:
        report.is_stored, report.outcome = True, each.outcome
        report.is_read = scene["record"] is not None
        report.issues += each.issues
    return report


def _read_out(extract: Callable[..., ExtractionReport], report: SceneReport, scene: tuple[int, int]) -> None:
    """Let a model read a stored scene; its failures are issues, and the text stays."""
    try:
        reading = extract(scenes=[scene], retry_failed=True)
    except NovelgenError as error:
        logger.error("scene %s:%s was not read: %s", *scene, error)
        report.issues.append(_issue("extract", str(error)))
        return
    # Nothing is left to read where it was read before and has not changed.
    report.is_read = reading.stopped is None and all(each.outcome == "done" for each in reading.scenes)
    reasons = [*(each.reason for each in reading.scenes), reading.stopped]
    report.issues += [_issue("extract", each) for each in reasons if each is not None]
    report.issues += [issue for each in reading.scenes for issue in each.issues]
    report.issues += reading.indexing.issues


def _tell_changes(what_changed: Callable[..., StoryDifference], report: SceneReport, scene: tuple[int, int]) -> None:
    chapter, number = scene
    try:
        changes = what_changed(since=scene, until=(chapter, number + 1) if number < GREATEST_INDEX else None)
    except NovelgenError as error:
        report.issues.append(_issue("changes", str(error)))
        return
    report.changed = difference_lines(changes)


def _issue(stage: str, message: str, *, kind: IssueKind = "unavailable") -> ReportIssue:
    return ReportIssue(stage=stage, kind=kind, message=message)


class ContextStep(StoryStep[Any, Any]):
    """A step of chains that gives contexts, and refuses to be a node of a graph.

    LangGraph takes of a model that a node returns the fields that its state has, too: of a context that are the place
    and the plan that were there already, and the rest would be gone without a word.
    """

    @property
    def InputType(self) -> type[MemoryContextRequest]:  # noqa: N802 - LangChain's name
        """What it takes, for LangChain's schemas; a mapping of its fields does as well."""
        return MemoryContextRequest

    def invoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Any:
        """Build a context."""
        _require_no_graph(sys._getframe(1))
        return super().invoke(input, config, **kwargs)

    def ainvoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Coroutine[Any, Any, Any]:
        """Do the same without blocking the event loop; not itself a coroutine, so that it sees who calls."""
        _require_no_graph(sys._getframe(1))
        return super().ainvoke(input, config, **kwargs)


def _require_no_graph(caller: FrameType) -> None:
    # What a graph hands its node and what a node hands a step of its own are alike but for who calls.
    if str(caller.f_globals.get("__name__", "")).startswith("langgraph."):
        raise UserInputError(
            "as_step() is a step of chains and no node of a graph, whose state would not keep its context; take "
            "story.as_context_node()"
        )


def _require_keys(config: RunnableConfig, keys: Sequence[str]) -> None:
    """Refuse to put into a graph's state what it has no key for: LangGraph would drop it without a word."""
    read = config.get("configurable", {}).get(_READ_STATE)
    if read is None:
        return
    for key in keys:
        try:
            read(key, False)
        except KeyError as error:
            raise UserInputError(
                f"the state of the graph has no key {key!r}, where this node puts its result; add it to the state, or "
                "name another key of the node"
            ) from error


_READ_STATE = "__pregel_read"
"""Under which LangGraph lets a node read the channels of its state; a test holds that it still does."""


def _fields_of(state: Any) -> dict[str, Any]:
    """Return the fields of a graph's state, in whichever form the graph keeps it."""
    if isinstance(state, Mapping):
        return dict(state)
    if isinstance(state, BaseModel):
        return {name: getattr(state, name) for name in type(state).model_fields}
    if dataclasses.is_dataclass(state) and not isinstance(state, type):
        return {each.name: getattr(state, each.name) for each in dataclasses.fields(state)}
    raise UserInputError(
        f"a node takes the state of a graph, a mapping, a Pydantic model or a dataclass, not {type(state).__name__}"
    )
