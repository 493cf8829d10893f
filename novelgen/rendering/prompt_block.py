"""A context becomes a block of a writer's prompt."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from novelgen.models.context import ContextItem, SceneMemoryContext
from novelgen.rendering.fence import fence_mark, fenced
from novelgen.rendering.labels import Labels, labels_for
from novelgen.rendering.states import render_states
from novelgen.rendering.timeline import SECTION_ORDER, place_of, render_timeline_entry
from novelgen.text.tokens import estimate_tokens


def render_context(
    context: SceneMemoryContext,
    *,
    language: str = "en",
    state_budget: int = 600,
    count_tokens: Callable[[str], int] = estimate_tokens,
) -> str:
    """Render a context for the prompt of a scene writer.

    Hard facts come first (states), then the timeline, then the memories in story order, each with its
    source scene. Story text stands between fences that it cannot forge. The same context gives the same
    text.

    Args:
        context: What the chain returned; without a report, memories are rendered in full.
        language: Language of the headings, `zh…` or `en`.
        state_budget: Token bound for the states.
        count_tokens: Token counter for that bound.

    Returns:
        The block, ending in a line break; a context that holds nothing gives an empty string.
    """
    labels = labels_for(language)
    names = dict(context.report.names) if context.report else {}
    sections = {
        labels.states: _state_lines(context, names, labels, state_budget, count_tokens),
        labels.timeline: _timeline_lines(context, names, labels),
        labels.memories: _memory_lines(context, labels),
    }
    mark = fence_mark(line for lines in sections.values() for line in lines)
    blocks = [
        "\n".join([f"## {heading}", *fenced(lines, mark)]) for heading, lines in sections.items() if lines
    ]
    if not blocks:
        return ""
    return "\n\n".join([f"# {labels.title}\n{labels.note}", *blocks]) + "\n"


def prompt_order(items: list[ContextItem]) -> list[ContextItem]:
    """Return the items in the order of the prompt: without a position first, then in story order."""
    return sorted(items, key=_story_key)


def _story_key(item: ContextItem) -> tuple[int, int, str]:
    chapter = -1 if item.chapter_index is None else item.chapter_index
    scene = -1 if item.scene_index is None else item.scene_index
    return (chapter, scene, item.chunk_id)


def _state_lines(
    context: SceneMemoryContext,
    names: Mapping[str, str],
    labels: Labels,
    budget: int,
    count_tokens: Callable[[str], int],
) -> list[str]:
    rendered = render_states(
        context.entity_states, names, labels=labels, budget_tokens=budget, count_tokens=count_tokens
    )
    return list(rendered.lines.values())


def _timeline_lines(context: SceneMemoryContext, names: Mapping[str, str], labels: Labels) -> list[str]:
    timeline = context.timeline_context or {}
    lines: list[str] = []
    for section in SECTION_ORDER:
        entries = timeline.get(section) or []
        if entries:
            lines.append(f"{getattr(labels, section)}{labels.colon.strip()}")
            lines += [render_timeline_entry(section, entry, names, labels=labels) for entry in entries]
    return lines


def _memory_lines(context: SceneMemoryContext, labels: Labels) -> list[str]:
    outdated = {chunk.chunk_id for chunk in context.relevant_memories if chunk.superseded_by is not None}
    if context.report and context.report.items:
        items = prompt_order(context.report.items)
        return [
            f"- [{place_of(item.model_dump(), labels)}] {item.text}"
            f"{labels.outdated if item.chunk_id in outdated else ''}"
            for item in items
        ]
    chunks = sorted(
        context.relevant_memories,
        key=lambda chunk: (chunk.chapter_index or -1, chunk.scene_index or -1, chunk.chunk_id),
    )
    return [
        f"- [{place_of(chunk.model_dump(), labels)}] {chunk.content}"
        f"{labels.outdated if chunk.chunk_id in outdated else ''}"
        for chunk in chunks
    ]
