"""Comparison of two contexts of one planned scene."""

from collections.abc import Iterator, Mapping
from typing import Any

from novelgen.context.rendering import SECTION_ORDER
from novelgen.models import context as contexts
from novelgen.models.context import SceneMemoryContext
from novelgen.models.memory import StoryMemoryChunk

# By these an entry is the same thing told anew.
_KEYS = {
    "story_so_far": ("level", "first_chapter", "chapter_index", "scene_index"),
    "open_loops": ("loop_id",),
    "relationships": ("relationship_id",),
    "snapshots": ("entity_id", "chapter_index"),
}
# The age of a thread grows with every scene before the position; whether a value is proven is not the value.
_IGNORED_FIELDS = frozenset({"age_scenes", "unverified", "tokens"})
_MemoryKey = tuple[int | None, int | None, str]


def compare_contexts(was: SceneMemoryContext, now: SceneMemoryContext) -> contexts.ContextDifference:
    """Return the changes between an earlier and a later context of a scene.

    Memories are the same by scene and `source_id` (by `chunk_id` where there is none), timeline entries by what
    they are of. Moments, timings, scores, the age of open loops and whether a value is proven do not count.
    """
    before, after = was.report, now.report
    ended_was, ended_now = (
        scene_memory_context.left_off.text if scene_memory_context.left_off else ""
        for scene_memory_context in (was, now)
    )
    has_other_end = ended_was != ended_now
    return contexts.ContextDifference(
        project_id=now.project_id,
        chapter_index=now.chapter_index,
        scene_index=now.scene_index,
        story_version_was=before.story_version,
        story_version_now=after.story_version,
        planner_was=before.planner,
        planner_now=after.planner,
        states=list(_states(was, now)),
        memories=list(_memories(was, now)),
        timeline=list(_timeline(_told_sections(was), _told_sections(now))),
        moves=_moves(_receipts(was), _receipts(now)),
        left_off_was=ended_was if has_other_end else "",
        left_off_now=ended_now if has_other_end else "",
        tokens_was=before.tokens,
        tokens_now=after.tokens,
        names={**before.names, **after.names},
        issues=after.issues,
    )


def _states(was: SceneMemoryContext, now: SceneMemoryContext) -> Iterator[contexts.StateDifference]:
    before, after = _values_by_id(was), _values_by_id(now)
    types = {state.entity_id: state.entity_type for state in (*was.entity_states, *now.entity_states)}
    for entity_id in {**after, **before}:
        attributes = _attributes(before.get(entity_id, {}), after.get(entity_id, {}))
        change = _change(entity_id in before, entity_id in after)
        if attributes or change != "changed":
            yield contexts.StateDifference(
                entity_id=entity_id, entity_type=types.get(entity_id, "character"), change=change, attributes=attributes
            )


def _values_by_id(context: SceneMemoryContext) -> dict[str, dict[str, Any]]:
    """Return what states and cards say of everybody, by attribute."""
    values = {state.entity_id: dict(state.state_data) for state in context.entity_states}
    for facts in context.cards:
        values[facts.entity_id] = {**facts.fields, **values.get(facts.entity_id, {})}
    return values


def _attributes(was: Mapping[str, Any], now: Mapping[str, Any]) -> list[contexts.AttributeChange]:
    return [
        contexts.AttributeChange(attribute=name, was=was.get(name), now=now.get(name))
        for name in {**now, **was}
        if was.get(name) != now.get(name)
    ]


def _memories(was: SceneMemoryContext, now: SceneMemoryContext) -> Iterator[contexts.MemoryDifference]:
    before, after = _wordings(was), _wordings(now)
    for key in {**after, **before}:
        old, new = before.get(key), after.get(key)
        if old == new:
            continue
        chapter_index, scene_index, memory_id = key
        yield contexts.MemoryDifference(
            memory_id=memory_id,
            change=_memory_change(old, new),
            chapter_index=chapter_index,
            scene_index=scene_index,
            was=old,
            now=new,
        )


def _wordings(context: SceneMemoryContext) -> dict[_MemoryKey, contexts.MemoryWording]:
    items = {item.chunk_id: item for item in context.report.items}
    told_ids = {item.chunk_id for item in items.values() if item.told_in is not None}
    wordings: dict[_MemoryKey, contexts.MemoryWording] = {}
    for chunk in context.relevant_memories:
        if chunk.chunk_id in told_ids:
            continue
        item = items.get(chunk.chunk_id)
        wordings[_memory_key(chunk)] = (
            contexts.MemoryWording(form=item.form, text=item.text)
            if item
            else contexts.MemoryWording(form="full", text=chunk.content)
        )
    return wordings


def _moves(
    was: Mapping[_MemoryKey, contexts.ContextItem], now: Mapping[_MemoryKey, contexts.ContextItem]
) -> list[contexts.MemoryMove]:
    """Return the memories of both that stand elsewhere among those of both, those first that moved furthest."""
    ranks_was, ranks_now = (
        {key: rank for rank, key in enumerate((key for key in context_items_by_position if key in other), start=1)}
        for context_items_by_position, other in ((was, now), (now, was))
    )
    moved_memory_moves = [
        contexts.MemoryMove(
            memory_id=key[2], rank_was=ranks_was[key], rank_now=rank, score_was=was[key].score, score_now=now[key].score
        )
        for key, rank in ranks_now.items()
        if ranks_was[key] != rank
    ]
    return sorted(
        moved_memory_moves,
        key=lambda memory_move: (-abs(memory_move.rank_now - memory_move.rank_was), memory_move.rank_now),
    )


def _receipts(context: SceneMemoryContext) -> dict[_MemoryKey, contexts.ContextItem]:
    """Return the receipts by subject, best first."""
    keys = {chunk.chunk_id: _memory_key(chunk) for chunk in context.relevant_memories}
    items = context.report.own_items
    return {keys[item.chunk_id]: item for item in items if item.chunk_id in keys}


def _memory_key(chunk: StoryMemoryChunk) -> _MemoryKey:
    return chunk.chapter_index, chunk.scene_index, chunk.memory_id


def _told_sections(context: SceneMemoryContext) -> dict[str, Any]:
    """The timeline, and the story so far beside it."""
    return {
        **(context.timeline_context or {}),
        "story_so_far": [notice.model_dump() for notice in context.story_so_far],
    }


def _timeline(was: Mapping[str, Any], now: Mapping[str, Any]) -> Iterator[contexts.TimelineDifference]:
    for section in ("story_so_far", *SECTION_ORDER):
        before, after = (_entries(section, timeline.get(section) or ()) for timeline in (was, now))
        for key in {**after, **before}:
            old, new = before.get(key), after.get(key)
            if old is None or new is None or _compared_fields(old) != _compared_fields(new):
                change = _change(old is not None, new is not None)
                yield contexts.TimelineDifference(section=section, change=change, was=old, now=new)


def _entries(section: str, entries: Any) -> dict[tuple[Any, ...], dict[str, Any]]:
    return {tuple(entry.get(name) for name in _KEYS[section]): entry for entry in entries}


def _compared_fields(entry: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in entry.items() if name not in _IGNORED_FIELDS}


def _change(is_before: bool, is_after: bool) -> contexts.Change:
    if is_before and is_after:
        return "changed"
    return "in" if is_after else "out"


def _memory_change(old: contexts.MemoryWording | None, new: contexts.MemoryWording | None) -> contexts.MemoryChange:
    if old is None or new is None:
        return "out" if new is None else "in"
    return "form" if old.form != new.form else "text"
