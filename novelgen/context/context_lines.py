"""The lines of a context as a writer reads them, each with what it is of, for whoever looks at it piece by piece."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Literal

from pydantic import BaseModel, Field

from novelgen.context.labels import Labels, labels_for
from novelgen.context.lines import SECTION_ORDER, render_left_off, render_states, render_timeline_entry
from novelgen.context.timeline import TimelineLine
from novelgen.language.language import estimate_tokens
from novelgen.models.context import DEFAULT_STATE_BUDGET, ContextItem, ContextReport, LeftOff, SceneMemoryContext
from novelgen.models.memory import PASSAGE_TYPES
from novelgen.models.state import EntityStateSnapshot

ContextNeed = Literal["states", "left_off", "obligations", "relations", "timeline", "memories", "passages"]

NEEDS: tuple[ContextNeed, ...] = ("states", "left_off", "obligations", "relations", "timeline", "memories", "passages")
"""In the order in which a report tells their tokens."""


class ContextLine(BaseModel):
    """One line of a context's block, and what it is of."""

    need: ContextNeed
    section: str = Field(description="states, left_off, memories, or the timeline's own: open_loops, recent_events, …")
    id: str = Field(default="", description="Of the memory, entity, thread or relationship; empty: none has one.")
    text: str
    tokens: int = Field(ge=0)
    chapter_index: int | None = None
    scene_index: int | None = None
    entity_ids: list[str] = Field(default_factory=list, description="Whom and what it is about.")
    is_hidden: bool = Field(default=False, description="Whether the point of view does not know it.")
    item: ContextItem | None = Field(default=None, description="Why it was chosen; of memories alone.")


def context_lines(
    context: SceneMemoryContext, *, count_tokens: Callable[[str], int] = estimate_tokens
) -> list[ContextLine]:
    """Return the lines of a context in the order of the needs, memories best first, then what is hidden."""
    report = context.report or ContextReport()
    labels = labels_for(report.language)
    lines = [
        *_states(context.entity_states, report.names, labels, report.tokens, count_tokens),
        *_left_off(context.left_off, report.names, labels, count_tokens),
        *_timeline(context.timeline_context, report.names, labels, count_tokens),
        *_memories(report.items, context),
    ]
    hidden = context.hidden
    if hidden is not None:
        names = {**report.names, **hidden.names}
        lines += [
            each.model_copy(update={"is_hidden": True})
            for each in (
                *_states(hidden.entity_states, names, labels, hidden.tokens, count_tokens),
                *_timeline(hidden.timeline_context, names, labels, count_tokens),
                *_memories(hidden.items, context),
            )
        ]
    order = {need: place for place, need in enumerate(NEEDS)}
    return sorted(lines, key=lambda each: (each.is_hidden, order[each.need]))


def _states(
    states: list[EntityStateSnapshot],
    names: Mapping[str, str],
    labels: Labels,
    tokens: Mapping[str, int],
    count_tokens: Callable[[str], int],
) -> Iterator[ContextLine]:
    budget_tokens = max(DEFAULT_STATE_BUDGET, tokens.get("states", 0))
    rendered = render_states(states, names, labels=labels, budget_tokens=budget_tokens, count_tokens=count_tokens)
    for entity_id, text in rendered.lines.items():
        yield ContextLine(
            need="states", section="states", id=entity_id, text=text, tokens=count_tokens(text), entity_ids=[entity_id]
        )


def _left_off(
    left_off: LeftOff | None, names: Mapping[str, str], labels: Labels, count_tokens: Callable[[str], int]
) -> Iterator[ContextLine]:
    if left_off is None:
        return
    for line in render_left_off(left_off, names, labels=labels):
        yield ContextLine(
            need="left_off",
            section="left_off",
            text=line,
            tokens=count_tokens(line),
            chapter_index=left_off.chapter_index,
            scene_index=left_off.scene_index,
            entity_ids=left_off.present,
        )


def _timeline(
    timeline: Mapping[str, Any] | None, names: Mapping[str, str], labels: Labels, count_tokens: Callable[[str], int]
) -> Iterator[ContextLine]:
    for section in SECTION_ORDER:
        for depth, entry in enumerate((timeline or {}).get(section) or ()):
            text = render_timeline_entry(section, entry, names, labels=labels)
            line = TimelineLine(section, depth, entry, text, count_tokens(text))
            named = [entry.get(name) for name in ("entity_id", "character_a", "character_b")]
            yield ContextLine(
                need=line.need,
                section=section,
                id=entry.get("loop_id") or entry.get("relationship_id") or entry.get("entity_id") or "",
                text=text,
                tokens=line.tokens,
                chapter_index=entry.get("chapter_index"),
                scene_index=entry.get("scene_index"),
                entity_ids=[each for each in named if each] or list(entry.get("related_entities") or ()),
            )


def _memories(items: list[ContextItem], context: SceneMemoryContext) -> Iterator[ContextLine]:
    hidden = context.hidden.memories if context.hidden else []
    chunks = {each.chunk_id: each for each in (*context.relevant_memories, *hidden)}
    for item in items:
        chunk = chunks.get(item.chunk_id)
        is_passage = chunk is not None and chunk.content_type in PASSAGE_TYPES
        yield ContextLine(
            need="passages" if is_passage else "memories",
            section="memories",
            id=item.source_id or item.chunk_id,
            text=item.text,
            tokens=item.tokens,
            chapter_index=item.chapter_index,
            scene_index=item.scene_index,
            entity_ids=list(chunk.entities_mentioned) if chunk else [],
            item=item,
        )
