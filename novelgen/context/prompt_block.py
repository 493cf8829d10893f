"""A context as lines and as a fenced prompt block."""

import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Literal, TypeVar, get_args

from pydantic import BaseModel, Field

from novelgen.context.card_facts import render_card_facts
from novelgen.context.labels import Labels, labels_for
from novelgen.context.point_of_view import doubted_by_notes
from novelgen.context.rendering import (
    SECTION_ORDER,
    render_left_off,
    render_states,
    render_timeline_entry,
    render_told_before,
)
from novelgen.context.timeline_section import need_of
from novelgen.language.language import TokenCounter, estimate_tokens, story_language
from novelgen.model_calls.prompt_data import as_data_lines
from novelgen.models.context import DEFAULT_STATE_BUDGET, ContextItem, HiddenContext, HoldsNow, SceneMemoryContext
from novelgen.models.memory import NOTE_ID, PASSAGE_TYPES, StoryMemoryChunk, memory_place_text, over_from
from novelgen.models.position import StoryPosition, story_place

MemoryLike = TypeVar("MemoryLike", ContextItem, StoryMemoryChunk)

ContextNeed = Literal[
    "states", "timeline", "story_so_far", "left_off", "relations", "obligations", "memories", "passages"
]

NEEDS: tuple[ContextNeed, ...] = get_args(ContextNeed)
"""In the order in which a report tells their tokens."""

_GROUPS: Mapping[str, tuple[str, ...]] = {
    "states": ("states", "snapshots", "cards"),
    "left_off": ("story_so_far", "ended"),
    "people": ("relationships", "minds"),
    "open_loops": ("open_loops",),
    "memories": ("memories",),
}
"""Headings of the block in a writer's order, and the sections below each; each but the first has its own line."""

_PLAIN_NAME = re.compile(r"[\w .'’·-]{1,40}")
"""A heading stands outside of the fences, so that a name in it must be no more than a name."""


class ContextLine(BaseModel):
    """One line of a context's block, and its subject."""

    need: ContextNeed
    section: str = Field(
        description="states, snapshots, cards, story_so_far, ended, relationships, minds, open_loops or memories."
    )
    id: str = Field(default="", description="Of the memory, entity, thread or relationship; empty: none has one.")
    text: str
    tokens: int = Field(ge=0)
    chapter_index: int | None = None
    scene_index: int | None = None
    entity_ids: list[str] = Field(default_factory=list, description="Whom and what it is about.")
    is_hidden: bool = Field(default=False, description="Whether the point of view does not know it.")
    item: ContextItem | None = Field(default=None, description="Why it was chosen; of memories alone.")


def context_lines(context: SceneMemoryContext, *, count_tokens: TokenCounter = estimate_tokens) -> list[ContextLine]:
    """Return the lines of a context: needs, memories best first, hidden facts."""
    report = context.report
    labels = labels_for(report.language)
    lines = [*_lines_of(context, report.names, labels, count_tokens), *_memories(report.own_items, context)]
    hidden = context.hidden
    if hidden is not None:
        apart = [*_hidden(hidden, report.names, labels, count_tokens), *_memories(hidden.items, context)]
        lines += [context_line.model_copy(update={"is_hidden": True}) for context_line in apart]
    return sorted(lines, key=lambda context_line: (context_line.is_hidden, NEEDS.index(context_line.need)))


def _lines_of(
    context: SceneMemoryContext | HiddenContext, names: Mapping[str, str], labels: Labels, count_tokens: TokenCounter
) -> Iterator[ContextLine]:
    """The lines of all groups but the memories."""
    report = context.report if isinstance(context, SceneMemoryContext) else None
    tokens = context.tokens if isinstance(context, HiddenContext) else report.tokens if report else {}
    rendered_states = render_states(
        context.entity_states,
        names,
        labels=labels,
        budget_tokens=tokens.get("states", DEFAULT_STATE_BUDGET),
        count_tokens=count_tokens,
        also_called=report.also_called if report else None,
    )
    entries = {section: list(_entries(context, section, names, labels, count_tokens)) for section in SECTION_ORDER}

    def of_states(section: Literal["states", "minds"], texts: Mapping[str, str]) -> Iterator[ContextLine]:
        for entity_id, text in texts.items():
            tokens = count_tokens(text)
            yield ContextLine(
                need="states", section=section, id=entity_id, text=text, tokens=tokens, entity_ids=[entity_id]
            )

    yield from of_states("states", rendered_states.lines)
    yield from entries["snapshots"]
    for facts in context.cards if isinstance(context, SceneMemoryContext) else ():
        yield ContextLine(
            need="states",
            section="cards",
            id=facts.entity_id,
            text=render_card_facts(facts, names, labels=labels),
            tokens=facts.tokens,
            entity_ids=[facts.entity_id],
        )
    for before in context.story_so_far:
        yield ContextLine(
            need="story_so_far",
            section="story_so_far",
            text=render_told_before(before, labels=labels),
            tokens=before.tokens,
            chapter_index=before.chapter_index,
            scene_index=before.scene_index,
        )
    left_off = context.left_off if isinstance(context, SceneMemoryContext) else None
    for line in render_left_off(left_off, names, labels=labels) if left_off else ():
        yield ContextLine(
            need="left_off",
            section="ended",
            text=line,
            tokens=count_tokens(line),
            chapter_index=left_off.chapter_index if left_off else None,
            scene_index=left_off.scene_index if left_off else None,
            entity_ids=left_off.present if left_off else [],
        )
    yield from entries["relationships"]
    yield from of_states("minds", rendered_states.minds)
    yield from entries["open_loops"]


def _entries(
    context: SceneMemoryContext | HiddenContext,
    section: str,
    names: Mapping[str, str],
    labels: Labels,
    count_tokens: TokenCounter,
) -> Iterator[ContextLine]:
    for entry in (context.timeline_context or {}).get(section) or ():
        text = render_timeline_entry(section, entry, names, labels=labels)
        named_ids = [entry.get(name) for name in ("entity_id", "character_a", "character_b")]
        yield ContextLine(
            need=need_of(section),
            section=section,
            id=entry.get("loop_id") or entry.get("relationship_id") or entry.get("entity_id") or "",
            text=text,
            tokens=count_tokens(text),
            chapter_index=entry.get("chapter_index"),
            scene_index=entry.get("scene_index"),
            entity_ids=[item for item in named_ids if item] or list(entry.get("related_entities") or ()),
        )


def _hidden(
    hidden: HiddenContext, names: Mapping[str, str], labels: Labels, count_tokens: TokenCounter
) -> Iterator[ContextLine]:
    return _lines_of(hidden, {**names, **hidden.names}, labels, count_tokens)


def _memories(items: list[ContextItem], context: SceneMemoryContext) -> Iterator[ContextLine]:
    chunks = {memory.chunk_id: memory for memory in _memories_of(context)}
    marks = memory_marks(context, labels_for(context.report.language))
    for item in items:
        chunk = chunks.get(item.chunk_id)
        is_passage = chunk is not None and chunk.content_type in PASSAGE_TYPES
        yield ContextLine(
            need="passages" if is_passage else "memories",
            section="memories",
            id=item.memory_id,
            text=item.text + marks.get(item.chunk_id, ""),
            tokens=item.tokens,
            chapter_index=item.chapter_index,
            scene_index=item.scene_index,
            entity_ids=list(chunk.entities_mentioned) if chunk else [],
            item=item,
        )


def fence_mark(texts: Iterable[str]) -> str:
    """Return a hash that occurs in none of the texts."""
    body = "\x00".join(texts)
    attempt = 0
    while True:
        mark = hashlib.sha256(f"{attempt}\x00{body}".encode("utf-8", "surrogatepass")).hexdigest()[:12]
        if mark not in body:
            return mark
        attempt += 1


def fenced(lines: Iterable[str], mark: str) -> list[str]:
    """Return the lines as data between an opening and a closing fence; line breaks inside a line become spaces."""
    data = (as_data_lines(" ".join(line.splitlines())) for line in lines)
    return [f"<story-data {mark}>", *data, f"</story-data {mark}>"]


def render_context(context: SceneMemoryContext, *, language: str | None = None) -> str:
    """Render a context for a scene writer's prompt.

    See `SceneMemoryContext.as_prompt`.
    """
    told_in = context.report.language or story_language(" ".join(chunk.content for chunk in context.relevant_memories))
    labels = labels_for(language or told_in)
    names = dict(context.report.names)
    fields = {
        section: [context_line.text for context_line in lines]
        for section, lines in groupby(
            _lines_of(context, names, labels, estimate_tokens), key=lambda context_line: context_line.section
        )
    }
    fields["memories"] = _memory_lines(context, names, labels)
    sections = {
        getattr(labels, heading): [
            line
            for place, section in enumerate(below)
            if fields.get(section)
            for line in ([f"{getattr(labels, section)}{labels.colon.strip()}"] if place else []) + fields[section]
        ]
        for heading, below in _GROUPS.items()
    }
    view = context.report.point_of_view
    name = names.get(view.character_id or "", view.name) if view else ""
    plain_name = name if _PLAIN_NAME.fullmatch(name) else labels.point_of_view
    heading = labels.hidden.format(plain_name)
    hidden = _hidden_lines(context, names, labels)
    mark = fence_mark(line for lines in (*sections.values(), hidden, [heading]) for line in lines)
    if hidden:
        sections[heading] = hidden
    blocks = ["\n".join([f"## {title}", *fenced(lines, mark)]) for title, lines in sections.items() if lines]
    if not blocks:
        return ""
    notes = [labels.note]
    if view is not None and view.guessed_scenes:
        notes.append(labels.guessed.format(plain_name))
    if view is not None and hidden and (view.doubted_scenes or doubted_by_notes(context)):
        notes.append(labels.doubted.format(plain_name))
    if view is not None and view.doubted_notes and hidden:
        notes.append(labels.doubted_note.format(plain_name))
    if context.report.unread_scenes:
        notes.append(labels.unread.format(unread=context.report.unread_scenes, scenes=context.report.scenes_before))
    return "\n\n".join(["\n".join([f"# {labels.title}", *notes]), *blocks]) + "\n"


def _hidden_lines(context: SceneMemoryContext, names: Mapping[str, str], labels: Labels) -> list[str]:
    """The facts unknown to the point of view: identities, states and events."""
    hidden = context.hidden
    if hidden is None:
        return []
    lines = [
        f"- {names[entity_id]} {labels.real_name} {name}"
        for entity_id, name in hidden.names.items()
        if entity_id in names and names[entity_id] != name
    ]
    lines += [context_line.text for context_line in _hidden(hidden, names, labels, estimate_tokens)]
    marks = memory_marks(context, labels)
    return lines + [
        f"- [{memory_place_text(item, always=labels.everywhere)}] {item.text}{marks.get(item.chunk_id, '')}"
        for item in prompt_order(hidden.items)
    ]


def prompt_order(items: Sequence[MemoryLike]) -> list[MemoryLike]:
    """Return memories in the order of the prompt: without a position first, then in story order."""
    return sorted(items, key=lambda item: (*story_place(item), item.chunk_id))


def _memory_lines(context: SceneMemoryContext, names: Mapping[str, str], labels: Labels) -> list[str]:
    marks = memory_marks(context, labels)
    verbatim = {memory.chunk_id for memory in context.relevant_memories if memory.content_type in PASSAGE_TYPES}
    is_marked = context.report.point_of_view is not None

    def line(memory: ContextItem | StoryMemoryChunk, text: str) -> str:
        place = memory_place_text(memory, always=labels.everywhere)
        return f"- [{place}] {text}{marks.get(memory.chunk_id, '')}"

    def knowers(item: ContextItem) -> str:
        """Return the cast members without knowledge of a memory, empty if none."""
        if is_marked and item.chunk_id in verbatim:
            return ""
        unknown_to = item.not_known_by if is_marked else item.kept_from
        if is_marked and len(item.known_by) == 1 and len(unknown_to) > 1:
            return labels.known_to_alone.format(names.get(item.known_by[0], item.known_by[0]))
        text = labels.list_separator.join(names.get(entity_id, entity_id) for entity_id in unknown_to)
        return labels.unknown_to.format(text) if unknown_to else ""

    if context.report.items:
        return [f"{line(item, item.text)}{knowers(item)}" for item in prompt_order(context.report.own_items)]
    return [line(chunk, chunk.content) for chunk in prompt_order(context.relevant_memories)]


def memory_marks(context: SceneMemoryContext, labels: Labels) -> dict[str, str]:
    """Return what to append to each outdated, continued or guessed memory of a context, by its id."""
    hidden_items = context.hidden.items if context.hidden else []
    items_by_id = {item.chunk_id: item for item in (*context.report.items, *hidden_items)}
    marks = {chunk_id: labels.guess for chunk_id, item in items_by_id.items() if item.guessed_in}
    for memory in _memories_of(context):
        if memory.superseded_by:
            item = items_by_id.get(memory.chunk_id)
            newer = item.holds_now if item is not None else None
            is_over = bool(memory.slot_type) or memory.superseded_by.startswith(NOTE_ID)
            ended_place = over_from(memory.superseded_by)
            if ended_place is not None:
                followed = labels.over.format(StoryPosition(*ended_place))
            else:
                followed = _what_followed(newer, labels, is_over=is_over)
            marks[memory.chunk_id] = followed + marks.get(memory.chunk_id, "")
    return marks


def _memories_of(context: SceneMemoryContext) -> list[StoryMemoryChunk]:
    return [*context.relevant_memories, *(context.hidden.memories if context.hidden else [])]


def _what_followed(newer: HoldsNow | None, labels: Labels, *, is_over: bool) -> str:
    """Return the successor of a memory: a kept promise or a moved thing."""
    if newer is None:
        return labels.outdated if is_over else ""
    place = memory_place_text(newer, always=labels.everywhere, after=labels.after, is_scene=lambda _: False)
    text = f"[{place}] {newer.text}".rstrip()
    return (labels.changed if is_over else labels.later).format(text)
