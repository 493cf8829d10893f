"""A story in a LangGraph: nodes that build contexts and take finished scenes in, and a store of its memories.

A node is a Runnable over the state, a mapping, a Pydantic model or a dataclass, and gives what it adds to it as plain
data; LangGraph runs it with and without an event loop. Namespaces of the store are `(project, target)`: an entity's id,
name or alias, `chapter:3`, or `book`. What the story established is read, as of a point of the story; what a program
puts is a note under a key of its own, and the only thing that it can change or delete.
"""

import asyncio
import dataclasses
import logging
import sys
from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence
from contextvars import copy_context
from operator import ge, gt, le, lt
from types import FrameType
from typing import Any, get_args

from langchain_core.runnables import Runnable, RunnableConfig, RunnableLambda
from langgraph.store import base
from langgraph.store.base import validate_op_namespace as require_labels
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from novelgen.chains.stepwise_chain import StoryStep
from novelgen.context.difference_block import difference_lines
from novelgen.errors import NovelgenError, UserInputError
from novelgen.model_calls.usage import ModelUsage
from novelgen.models.context import IssueKind, MemoryContextRequest, ReportIssue, SceneMemoryContext
from novelgen.models.memory import DISTILLED_TYPES, ContentType, StoryMemoryChunk
from novelgen.models.position import GREATEST_INDEX, StoryPosition
from novelgen.models.story_difference import StoryDifference
from novelgen.nearest import did_you_mean
from runtime.files.file_reading import described
from runtime.memory_tools import MAX_TOP_K
from runtime.stores import MemoryStores
from runtime.story.base import stored_position
from runtime.story.extraction import ExtractionReport
from runtime.story.ingest import IngestReport
from runtime.story.lore import StoryKeyedNotes, home_of, is_former_value, key_under
from runtime.story.memories import StoryMemories
from runtime.story.search import StorySearch

logger = logging.getLogger(__name__)

PROMPT_KEY = "story_context"

CONTEXT_KEY = "story_context_json"

TEXT_KEY = "scene_text"

RECORD_KEY = "scene_record"

REPORT_KEY = "scene_report"

_REQUEST_FIELDS = (
    "chapter_index",
    "scene_index",
    "scene_plan",
    "chapter_plan",
    "pov",
    "hints",
    "knowledge",
    "top_k",
    "selector",
)
"""What the context of a scene is asked for by; other keys of a state are the graph's own."""


class SceneReport(BaseModel):
    """The report of a scene written by a graph."""

    is_stored: bool = False
    outcome: str = Field(default="", description="added, replaced or unchanged; empty where it could not be stored.")
    is_read: bool = Field(
        default=False, description="Whether what it establishes is known: by a record, or read by a model."
    )
    changed: list[str] = Field(default_factory=list, description="What it changed, in lines in the story's language.")
    issues: list[ReportIssue] = Field(default_factory=list, description="What failed or is missing.")
    model_calls: int = Field(default=0, description="Requests to the model, those at the end of a chapter included.")
    usage: ModelUsage = Field(default_factory=ModelUsage, description="The tokens that its provider counted.")


def build_context_node(
    build: Callable[[Mapping[str, Any]], SceneMemoryContext], *, prompt_key: str | None, json_key: str | None
) -> Runnable[Any, dict[str, Any]]:
    """Return the node of `Story.as_context_node`.

    `build` makes a context from the state.
    """

    def node(state: Any, config: RunnableConfig) -> dict[str, Any]:
        _require_keys(config, [key for key in (prompt_key, json_key) if key is not None])
        payload = _fields_of(state)
        context = build({name: payload[name] for name in _REQUEST_FIELDS if payload.get(name) is not None})
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
    """Return the node of `Story.as_scene_node`.

    Without `extract` no model reads the scene.
    """

    def node(state: Any, config: RunnableConfig) -> dict[str, Any]:
        _require_keys(config, [report_key])
        payload = _fields_of(state)
        missing = [
            entity_id for entity_id in ("chapter_index", "scene_index", text_key) if payload.get(entity_id) is None
        ]
        if missing:
            raise UserInputError(
                f"the state has no {missing[0]!r}; the node before must put it there, or name the key that holds it"
            )
        chapter, scene = payload["chapter_index"], payload["scene_index"]
        record = payload.get(record_key)
        report = _stored(ingest, text=payload[text_key], record=record, chapter_index=chapter, scene_index=scene)
        if report.is_stored and not report.is_read and extract is not None:
            _read_out(extract, report, (chapter, scene))
        if report.is_read:
            _tell_changes(what_changed, report, (chapter, scene))
        return {report_key: report.model_dump(mode="json")}

    return RunnableLambda(node).with_config(run_name="take_scene_in")


def _stored(ingest: Callable[..., IngestReport], **scene: Any) -> SceneReport:
    """Store a scene, reporting a failure without stopping the graph.

    The finished text goes in also where its record, which a model may have written, cannot be read.
    """
    try:
        ingest_report = ingest(**scene)
    except NovelgenError as error:
        if scene["record"] is not None and isinstance(error, UserInputError):
            report = _stored(ingest, **scene | {"record": None})
            report.issues.append(_issue("record", f"the record was left out: {error}", kind="not_written"))
            return report
        logger.error("scene %s:%s was not stored: %s", scene["chapter_index"], scene["scene_index"], error)
        return SceneReport(is_stored=False, issues=[_issue("ingest", str(error), kind="not_written")])
    issues = [_issue("ingest", failure, kind="not_written") for failure in ingest_report.failures]
    report = SceneReport(issues=[*issues, *ingest_report.indexing.issues])
    for result in ingest_report.scenes:
        report.is_stored, report.outcome = True, result.outcome
        report.is_read = scene["record"] is not None
        report.issues += result.issues
    return report


def _read_out(extract: Callable[..., ExtractionReport], report: SceneReport, scene: tuple[int, int]) -> None:
    """Let a model read a stored scene, with its failures as issues."""
    try:
        reading = extract(scenes=[scene])
    except NovelgenError as error:
        logger.error("scene %s:%s was not read: %s", *scene, error)
        report.issues.append(_issue("extract", str(error)))
        return
    report.model_calls, report.usage = reading.model_calls, reading.usage
    # Nothing is left to read where it was read before and has not changed.
    report.is_read = reading.stopped is None and all(extraction.outcome == "done" for extraction in reading.scenes)
    reasons = [*(extraction.reason for extraction in reading.scenes), reading.stopped]
    report.issues += [_issue("extract", reason) for reason in reasons if reason is not None]
    report.issues += [issue for work in (*reading.scenes, *reading.chapters) for issue in work.issues]
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
        """The input type for LangChain's schemas, or a mapping of its fields."""
        return MemoryContextRequest

    def invoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Any:
        """Build a context."""
        _require_no_graph(sys._getframe(1))
        return super().invoke(input, config, **kwargs)

    def ainvoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Coroutine[Any, Any, Any]:
        """Run without blocking the event loop.

        It is no coroutine function, so that it sees its caller.
        """
        _require_no_graph(sys._getframe(1))
        return super().ainvoke(input, config, **kwargs)


def _require_no_graph(caller: FrameType) -> None:
    # What a graph hands its node and what a node hands a step of its own are alike but for who calls.
    if str(caller.f_globals.get("__name__", "")).startswith("langgraph."):
        raise UserInputError(
            "as_runnable() is a step of chains and no node of a graph, whose state would not keep its context; take "
            "story.as_context_node()"
        )


def _require_keys(config: RunnableConfig, keys: Sequence[str]) -> None:
    """Reject results without a key in the graph's state, which LangGraph would drop."""
    reading = config.get("configurable", {}).get(_READ_STATE)
    if reading is None:
        return
    for key in keys:
        try:
            reading(key, False)
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
        return {field.name: getattr(state, field.name) for field in dataclasses.fields(state)}
    raise UserInputError(
        f"a node takes the state of a graph, a mapping, a Pydantic model or a dataclass, not {type(state).__name__}"
    )


class PutValue(BaseModel):
    """A value that a program can put."""

    model_config = ConfigDict(extra="forbid")

    content: str = Field(pattern=r"\S")
    short: str | None = None
    importance: int | None = Field(default=None, ge=1, le=10)
    tags: list[str] = Field(default_factory=list)


ITEM_VALUE_FIELDS = (
    "content",
    "short",
    "importance",
    "tags",
    "content_type",
    "event_type",
    "chapter_index",
    "scene_index",
    "entities_mentioned",
    "source_id",
    "superseded_by",
    "verified",
)
"""Fields of `StoryMemoryChunk` that the value of a stored item has."""

AS_OF = "as_of"
"""Filter that is no field: a place such as `5:4` before which a search reads."""


class StoryStore(base.BaseStore):
    """A story as LangGraph's long-term memory, safe between threads.

    `Story.as_store` builds it.

    `put` takes `{"content": "…"}`, and where one likes `short`, `importance` (1 to 10) and `tags`. A value that is put
    as of a scene is read from that scene on; those before it read what was there before. `search` with a query searches
    all that the memory holds by meaning and by words; without one it lists facts and notes in story order. Filters
    compare fields of values (`{"content_type": "note"}`, `{"importance": {"$gte": 7}}`); `{"as_of": "5:4"}` reads
    strictly before that place.

    Args:
        stores: Open stores; they are not closed here.
        project_id: The only project that the store reaches.
        as_of: Only what lies strictly before is read, and what is put is read from there on; None means the end of what
            is stored, and that what is put holds everywhere.
    """

    supports_ttl = False

    def __init__(self, stores: MemoryStores, project_id: str, *, as_of: StoryPosition | None = None) -> None:
        self._stores = stores
        self._project_id = project_id
        self._as_of = as_of
        self._notes = StoryKeyedNotes(stores, project_id)
        self.label = project_id.replace(".", "_")

    def __repr__(self) -> str:
        return f"StoryStore({self._project_id!r}, as_of={str(self._as_of) if self._as_of else None!r})"

    def batch(self, ops: Iterable[base.Op]) -> list[base.Result]:
        """Run several operations, reads before writes.

        The last put of a key wins.

        Raises:
            UserInputError: When something is asked that a story's memory does not do; says what it does instead.
            UnknownEntityError: When something is put under somebody unknown; names who is near.
            StoreError: When the database fails, or nothing of a search could answer.
            ValueError: When a namespace has a label that none can have, or an operation is unknown.
        """
        operations = list(ops)
        puts: dict[tuple[tuple[str, ...], str], base.PutOp] = {}
        for item in operations:
            require_labels(item)
            if isinstance(item, base.PutOp):
                self._require_can_put(item)
                puts[item.namespace, item.key] = item
        results = [self._read(item) for item in operations]
        for put in puts.values():
            self._write(put)
        return results

    async def abatch(self, ops: Iterable[base.Op]) -> list[base.Result]:
        """Do the same as `batch` without blocking the event loop."""
        return await asyncio.to_thread(copy_context().run, self.batch, list(ops))

    # --- Reading ---

    def _read(self, op: base.Op) -> base.Result:
        if isinstance(op, base.GetOp):
            if len(op.namespace) != 2 or op.namespace[0] != self.label:
                return None
            memory = self._notes.find_keyed_memory(target=op.namespace[1], key=op.key, as_of=self._as_of)
            if memory is None:
                return None
            return base.Item(
                value=_value_of(memory),
                key=op.key,
                namespace=op.namespace,
                created_at=memory.created_at,
                updated_at=memory.created_at,
            )
        if isinstance(op, base.SearchOp):
            return self._search(op)
        if isinstance(op, base.ListNamespacesOp):
            targets = self._notes.list_memory_targets(as_of=self._as_of)
            namespaces = [(self.label, target_id) for target_id in targets]
            fitting = [
                namespace
                for namespace in namespaces
                if all(_matches(one, namespace) for one in op.match_conditions or ())
            ]
            listing = sorted({pair[: op.max_depth] for pair in fitting})
            return list(listing[op.offset : op.offset + op.limit])
        if isinstance(op, base.PutOp):
            return None
        raise ValueError(f"{type(op).__name__} is no operation that a store knows")

    def _search(self, op: base.SearchOp) -> list[base.SearchItem]:
        if len(op.namespace_prefix) > 2 or op.namespace_prefix[:1] not in ((), (self.label,)):
            return []
        filters = dict(op.filter or {})
        position = self._earlier(filters.pop(AS_OF, None))
        for name in filters:
            if name not in ITEM_VALUE_FIELDS:
                raise UserInputError(
                    f"a memory has no field {name!r} to filter by{did_you_mean(str(name), ITEM_VALUE_FIELDS)}; there "
                    f"are {', '.join(ITEM_VALUE_FIELDS)}, and as_of"
                )
        target = None
        if len(op.namespace_prefix) == 2:
            target = self._notes.known_target(target=op.namespace_prefix[1], as_of=position)
            if target is None:
                return []
        ranking = self._rank_memories(op, target, filters, position)
        fitting = [pair for pair in ranking if not is_former_value(pair[0]) and _fits(_value_of(pair[0]), filters)]
        return [
            self._search_item(chunk, score, target or home_of(chunk))
            for chunk, score in fitting[op.offset : op.offset + op.limit]
        ]

    def _rank_memories(
        self, op: base.SearchOp, target: str | None, filters: Mapping[str, Any], position: StoryPosition | None
    ) -> list[tuple[StoryMemoryChunk, float | None]]:
        """Return the search results, with scores for a query."""
        content_type = filters.get("content_type")
        kind: ContentType | None = content_type if content_type in get_args(ContentType) else None
        under = [] if target is None else [target]
        if op.query and op.query.strip():
            shown_list = StorySearch(self._stores, self._project_id).search(
                op.query, entities=under, content_type=kind, top_k=MAX_TOP_K, as_of=position
            )
            return [(found_memory, found_memory.score) for found_memory in shown_list]
        listed_memory_listing = StoryMemories(self._stores, self._project_id).list(
            attached_to=under,
            content_types=DISTILLED_TYPES if "content_type" not in filters else [kind] if kind else (),
            limit=None,
            as_of=position,
        )
        return [(memory.chunk, None) for memory in listed_memory_listing.memories]

    def _search_item(self, chunk: StoryMemoryChunk, score: float | None, target: str) -> base.SearchItem:
        return base.SearchItem(
            namespace=(self.label, target),
            key=key_under(chunk, target),
            value=_value_of(chunk),
            created_at=chunk.created_at,
            updated_at=chunk.created_at,
            score=score,
        )

    def _earlier(self, place: object) -> StoryPosition | None:
        """Return the position of a search: that of its filter, which cannot read on beyond the store's own."""
        if place is None:
            return self._as_of
        position = stored_position(self._notes, place)
        return position if self._as_of is None else min(position, self._as_of)

    # --- Writing ---

    def _require_can_put(self, op: base.PutOp) -> None:
        """Reject puts that a story cannot hold, before any operation runs."""
        if op.namespace[:1] != (self.label,) or len(op.namespace) != 2:
            raise UserInputError(
                f"namespace {op.namespace!r} is none of this store; write ({self.label!r}, TARGET), the target an"
                " entity's id, name or alias, chapter:3, or book"
            )
        if op.ttl is not None:
            raise UserInputError(f"a story forgets nothing by itself; put {op.key!r} without a ttl, or delete it")
        if op.value is None:
            return
        if op.index is not None and list(op.index or ()) != ["content"]:
            raise UserInputError(
                f"index={op.index!r} cannot be heeded: everything in a story's memory is found by its content; leave it"
                " out, or keep what shall not be found elsewhere"
            )
        try:
            PutValue.model_validate(dict(op.value))
        except ValidationError as error:
            raise UserInputError(
                f"the value for key {op.key!r} cannot be kept: {described(error)}; a value has content, a fact in the"
                " story's language, and where you like short, importance (1 to 10) and tags"
            ) from error

    def _write(self, op: base.PutOp) -> None:
        place: dict[str, Any] = {"target": op.namespace[1], "key": op.key, "as_of": self._as_of}
        if op.value is None:
            self._notes.delete_keyed_note(**place)
        else:
            self._notes.put_keyed_note(**place, **dict(PutValue.model_validate(dict(op.value))))


def _value_of(chunk: StoryMemoryChunk) -> dict[str, Any]:
    return chunk.model_dump(mode="json", include=set(ITEM_VALUE_FIELDS))


_COMPARISONS: dict[str, Callable[[float, float], bool]] = {"$gt": gt, "$gte": ge, "$lt": lt, "$lte": le}


def _fits(value: Mapping[str, Any], filters: Mapping[str, Any]) -> bool:
    return all(_holds(value.get(name), condition) for name, condition in filters.items())


def _holds(value: Any, condition: Any) -> bool:
    """Return whether a field meets a condition, as in LangGraph's own stores."""
    if not isinstance(condition, dict):
        return bool(value == condition)
    for operator, other in condition.items():
        if operator == "$eq":
            fits = value == other
        elif operator == "$ne":
            fits = value != other
        elif operator in _COMPARISONS:
            fits = value is not None and _COMPARISONS[operator](float(value), float(other))
        else:
            raise UserInputError(f"{operator!r} compares nothing; use $eq, $ne, $gt, $gte, $lt or $lte")
        if not fits:
            return False
    return True


def _matches(condition: base.MatchCondition, namespace: tuple[str, ...]) -> bool:
    """Tell whether a namespace begins or ends as a path does, in which `*` stands for any label."""
    path = condition.path
    if len(path) > len(namespace):
        return False
    part = namespace[: len(path)] if condition.match_type == "prefix" else namespace[len(namespace) - len(path) :]
    return all(label in ("*", own) for label, own in zip(path, part, strict=True))
