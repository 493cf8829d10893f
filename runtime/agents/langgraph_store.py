"""A story's memory as a store of LangGraph: what graphs and agents put, get and search, as of a point of the story.

Namespaces are `(project, target)`: an entity's id, name or alias, `chapter:3`, or `book`. What the story established is
read; what a program puts is a note under a key of its own, and the only thing that it can change or delete.
"""

import asyncio
from collections.abc import Callable, Iterable, Mapping
from contextvars import copy_context
from operator import ge, gt, le, lt
from typing import Any, get_args

from langgraph.store.base import (
    BaseStore,
    GetOp,
    Item,
    ListNamespacesOp,
    MatchCondition,
    Op,
    PutOp,
    Result,
    SearchItem,
    SearchOp,
)
from langgraph.store.base import validate_op_namespace as require_labels
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from novelgen.errors import UserInputError
from novelgen.models.memory import DISTILLED_TYPES, ContentType, StoryMemoryChunk
from novelgen.models.position import StoryPosition
from novelgen.nearest import did_you_mean
from runtime.files.file_reading import described
from runtime.search.story_memory import MAX_TOP_K
from runtime.stores import MemoryStores
from runtime.story.base import stored_position
from runtime.story.lore import StoryKeyedNotes, home_of, is_former_value, key_under
from runtime.story.memories import StoryMemories
from runtime.story.search import StorySearch


class PutValue(BaseModel):
    """What a program can put."""

    model_config = ConfigDict(extra="forbid")

    content: str = Field(pattern=r"\S")
    short: str | None = None
    importance: int | None = Field(default=None, ge=1, le=10)
    tags: list[str] = Field(default_factory=list)


VALUE_FIELDS = (
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
"""What the value of an item tells, under the names of `StoryMemoryChunk`."""

AS_OF = "as_of"
"""Filter that is no field: a place such as `5:4` before which a search reads."""


class StoryStore(BaseStore):
    """A story as LangGraph's long-term memory; safe to share between threads. `Story.as_store` gives it.

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
        self.label = project_id.replace(".", "_")

    def __repr__(self) -> str:
        return f"StoryStore({self._project_id!r}, as_of={str(self._as_of) if self._as_of else None!r})"

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        """Do several things, what reads before what writes; of several puts under one key the last counts.

        Raises:
            UserInputError: When something is asked that a story's memory does not do; says what it does instead.
            UnknownEntityError: When something is put under somebody unknown; names who is near.
            StoreError: When the database fails, or nothing of a search could answer.
            ValueError: When a namespace has a label that none can have, or an operation is unknown.
        """
        wanted = list(ops)
        puts: dict[tuple[tuple[str, ...], str], PutOp] = {}
        for each in wanted:
            require_labels(each)
            if isinstance(each, PutOp):
                self._require_can_put(each)
                puts[each.namespace, each.key] = each
        results = [self._read(each) for each in wanted]
        for put in puts.values():
            self._write(put)
        return results

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        """Do the same as `batch` without blocking the event loop."""
        return await asyncio.to_thread(copy_context().run, self.batch, list(ops))

    # --- Reading ---

    def _read(self, op: Op) -> Result:
        if isinstance(op, GetOp):
            if len(op.namespace) != 2 or op.namespace[0] != self.label:
                return None
            found = StoryKeyedNotes(self._stores, self._project_id).find_keyed_memory(
                target=op.namespace[1], key=op.key, as_of=self._as_of
            )
            if found is None:
                return None
            return Item(
                value=_value_of(found),
                key=op.key,
                namespace=op.namespace,
                created_at=found.created_at,
                updated_at=found.created_at,
            )
        if isinstance(op, SearchOp):
            return self._search(op)
        if isinstance(op, ListNamespacesOp):
            targets = StoryKeyedNotes(self._stores, self._project_id).list_memory_targets(as_of=self._as_of)
            namespaces = [(self.label, each) for each in targets]
            fitting = [each for each in namespaces if all(_matches(one, each) for one in op.match_conditions or ())]
            listed = sorted({each[: op.max_depth] for each in fitting})
            return list(listed[op.offset : op.offset + op.limit])
        if isinstance(op, PutOp):
            return None
        raise ValueError(f"{type(op).__name__} is no operation that a store knows")

    def _search(self, op: SearchOp) -> list[SearchItem]:
        if len(op.namespace_prefix) > 2 or op.namespace_prefix[:1] not in ((), (self.label,)):
            return []
        wanted = dict(op.filter or {})
        cut = self._earlier(wanted.pop(AS_OF, None))
        for name in wanted:
            if name not in VALUE_FIELDS:
                raise UserInputError(
                    f"a memory has no field {name!r} to filter by{did_you_mean(str(name), VALUE_FIELDS)}; there are"
                    f" {', '.join(VALUE_FIELDS)}, and as_of"
                )
        target = None
        if len(op.namespace_prefix) == 2:
            target = StoryKeyedNotes(self._stores, self._project_id).known_target(
                target=op.namespace_prefix[1], as_of=cut
            )
            if target is None:
                return []
        ranked = self._ranked(op, target, wanted, cut)
        fitting = [each for each in ranked if not is_former_value(each[0]) and _fits(_value_of(each[0]), wanted)]
        return [
            self._search_item(chunk, score, target or home_of(chunk))
            for chunk, score in fitting[op.offset : op.offset + op.limit]
        ]

    def _ranked(
        self, op: SearchOp, target: str | None, wanted: Mapping[str, Any], cut: StoryPosition | None
    ) -> list[tuple[StoryMemoryChunk, float | None]]:
        """Return what a search may tell, with scores where it asks a query."""
        named = wanted.get("content_type")
        kind: ContentType | None = named if named in get_args(ContentType) else None
        under = [] if target is None else [target]
        if op.query and op.query.strip():
            found = StorySearch(self._stores, self._project_id).search(
                op.query, entities=under, content_type=kind, top_k=MAX_TOP_K, as_of=cut
            )
            return [(each, each.score) for each in found]
        listed = StoryMemories(self._stores, self._project_id).memories(
            attached_to=under,
            content_types=DISTILLED_TYPES if "content_type" not in wanted else [kind] if kind else (),
            limit=None,
            as_of=cut,
        )
        return [(each.chunk, None) for each in listed.memories]

    def _search_item(self, chunk: StoryMemoryChunk, score: float | None, target: str) -> SearchItem:
        return SearchItem(
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
        asked = stored_position(StoryKeyedNotes(self._stores, self._project_id), place)
        return asked if self._as_of is None else min(asked, self._as_of)

    # --- Writing ---

    def _require_can_put(self, op: PutOp) -> None:
        """Refuse what a story's memory cannot keep, before anything of a batch is done."""
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

    def _write(self, op: PutOp) -> None:
        target = op.namespace[1]
        if op.value is None:
            StoryKeyedNotes(self._stores, self._project_id).delete_keyed_note(
                target=target, key=op.key, as_of=self._as_of
            )
            return
        StoryKeyedNotes(self._stores, self._project_id).put_keyed_note(
            target=target, key=op.key, **dict(PutValue.model_validate(dict(op.value))), as_of=self._as_of
        )


def _value_of(chunk: StoryMemoryChunk) -> dict[str, Any]:
    return chunk.model_dump(mode="json", include=set(VALUE_FIELDS))


_COMPARISONS: dict[str, Callable[[float, float], bool]] = {"$gt": gt, "$gte": ge, "$lt": lt, "$lte": le}


def _fits(value: Mapping[str, Any], wanted: Mapping[str, Any]) -> bool:
    return all(_holds(value.get(name), condition) for name, condition in wanted.items())


def _holds(value: Any, condition: Any) -> bool:
    """Tell whether a field fits a condition, as LangGraph's own stores compare; what is not there is in no order."""
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


def _matches(condition: MatchCondition, namespace: tuple[str, ...]) -> bool:
    """Tell whether a namespace begins or ends as a path does, in which `*` stands for any label."""
    path = condition.path
    if len(path) > len(namespace):
        return False
    part = namespace[: len(path)] if condition.match_type == "prefix" else namespace[len(namespace) - len(path) :]
    return all(label in ("*", own) for label, own in zip(path, part, strict=True))
