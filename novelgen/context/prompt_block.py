"""A context becomes a block of a prompt, between fences that story text cannot forge."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from novelgen.context.labels import Labels, labels_for
from novelgen.context.lines import SECTION_ORDER, place_of, render_left_off, render_states, render_timeline_entry
from novelgen.language.language import StoryLanguage, estimate_tokens, story_language
from novelgen.models.chunk_context import ChunkMemory, GlossaryEntry, GlossaryName
from novelgen.models.context import DEFAULT_STATE_BUDGET, ContextItem, SceneMemoryContext
from novelgen.models.memory import PASSAGE_TYPES, StoryMemoryChunk
from novelgen.models.position import story_place
from novelgen.models.state import EntityStateSnapshot


def fence_mark(texts: Iterable[str]) -> str:
    """Return a mark that occurs in none of the texts and depends on all of them.

    The mark is a hash of everything that it fences, so that the same context gives the same prompt, and a
    text that tries to hold its own fence changes the mark by holding it.
    """
    body = "\x00".join(texts)
    attempt = 0
    while True:
        mark = hashlib.sha256(f"{attempt}\x00{body}".encode("utf-8", "surrogatepass")).hexdigest()[:12]
        if mark not in body:
            return mark
        attempt += 1


def fenced(lines: Iterable[str], mark: str) -> list[str]:
    """Return the lines between an opening and a closing fence; line breaks inside a line become spaces."""
    return [f"<story-data {mark}>", *(" ".join(line.splitlines()) for line in lines), f"</story-data {mark}>"]


def render_context(
    context: SceneMemoryContext,
    *,
    language: str | None = None,
    state_budget: int = 600,
    count_tokens: Callable[[str], int] = estimate_tokens,
) -> str:
    """Render a context for the prompt of a scene writer.

    Hard facts come first (states), then where the story left off, the timeline, and the memories in story order,
    each with its source scene. Story text stands between fences that it cannot forge. The same context gives the same
    text.

    Args:
        context: What the chain returned; without a report, memories are rendered in full.
        language: Language of the headings, `zh…` or `en`; None takes the story's.
        state_budget: Token bound for the states.
        count_tokens: Token counter for that bound.

    Returns:
        The block, ending in a line break; a context that holds nothing gives an empty string.
    """
    labels = labels_for(language or _language_of(context))
    names = dict(context.report.names) if context.report else {}
    sections = {
        labels.states: _state_lines(context.entity_states, names, labels, state_budget, count_tokens),
        labels.left_off: render_left_off(context.left_off, names, labels=labels) if context.left_off else [],
        labels.timeline: _timeline_lines(context.timeline_context, names, labels),
        labels.memories: _memory_lines(context, names, labels),
    }
    heading = labels.hidden.format(_name_of_view(context, names, labels))
    hidden = _hidden_lines(context, names, labels, count_tokens)
    mark = fence_mark(line for lines in (*sections.values(), hidden, [heading]) for line in lines)
    if hidden:
        sections[heading] = hidden
    blocks = ["\n".join([f"## {title}", *fenced(lines, mark)]) for title, lines in sections.items() if lines]
    if not blocks:
        return ""
    return "\n\n".join([f"# {labels.title}\n{labels.note}", *blocks]) + "\n"


_PLAIN_NAME = re.compile(r"[\w .'’·-]{1,40}")
"""A heading stands outside of the fences, so that a name in it must be no more than a name."""


def _name_of_view(context: SceneMemoryContext, names: Mapping[str, str], labels: Labels) -> str:
    view = context.report.point_of_view if context.report else None
    name = names.get(view.character_id or "", view.name) if view else ""
    return name if _PLAIN_NAME.fullmatch(name) else labels.point_of_view


def _hidden_lines(
    context: SceneMemoryContext, names: Mapping[str, str], labels: Labels, count_tokens: Callable[[str], int]
) -> list[str]:
    """What the point of view does not know: who somebody is, how things stand, what happened."""
    hidden = context.hidden
    if hidden is None:
        return []
    real = {**names, **hidden.names}
    lines = [
        f"- {names[each]} {labels.real_name} {name}"
        for each, name in hidden.names.items()
        if each in names and names[each] != name
    ]
    tokens = max(DEFAULT_STATE_BUDGET, hidden.tokens.get("states", 0))
    lines += _state_lines(hidden.entity_states, real, labels, tokens, count_tokens)
    lines += _timeline_lines(hidden.timeline_context, real, labels)
    return lines + [f"- [{place_of(each.model_dump(), labels)}] {each.text}" for each in prompt_order(hidden.items)]


def prompt_order(items: list[ContextItem]) -> list[ContextItem]:
    """Return the items in the order of the prompt: without a position first, then in story order."""
    return sorted(items, key=_story_key)


def _language_of(context: SceneMemoryContext) -> str:
    """Return the language of the story as the report tells it, else that of the memories."""
    told = context.report.language if context.report else ""
    return told or story_language(" ".join(chunk.content for chunk in context.relevant_memories))


def _story_key(item: ContextItem) -> tuple[int, int, str]:
    return (*story_place(item), item.chunk_id)


def _state_lines(
    states: Sequence[EntityStateSnapshot],
    names: Mapping[str, str],
    labels: Labels,
    budget: int,
    count_tokens: Callable[[str], int],
) -> list[str]:
    rendered = render_states(states, names, labels=labels, budget_tokens=budget, count_tokens=count_tokens)
    return list(rendered.lines.values())


def _timeline_lines(timeline: Mapping[str, Any] | None, names: Mapping[str, str], labels: Labels) -> list[str]:
    lines: list[str] = []
    for section in SECTION_ORDER:
        entries = (timeline or {}).get(section) or []
        if entries:
            lines.append(f"{getattr(labels, section)}{labels.colon.strip()}")
            lines += [render_timeline_entry(section, entry, names, labels=labels) for entry in entries]
    return lines


def _memory_lines(context: SceneMemoryContext, names: Mapping[str, str], labels: Labels) -> list[str]:
    outdated = {each.chunk_id for each in context.relevant_memories if each.slot_type and each.superseded_by}
    verbatim = {each.chunk_id for each in context.relevant_memories if each.content_type in PASSAGE_TYPES}
    is_marked = context.report is not None and context.report.point_of_view is not None

    def line(memory: ContextItem | StoryMemoryChunk, text: str) -> str:
        mark = labels.outdated if memory.chunk_id in outdated else ""
        return f"- [{place_of(memory.model_dump(), labels)}] {text}{mark}"

    def knowers(item: ContextItem) -> str:
        return _knowers(item, names, labels) if is_marked and item.chunk_id not in verbatim else ""

    if context.report and context.report.items:
        return [f"{line(item, item.text)}{knowers(item)}" for item in prompt_order(context.report.items)]
    chunks = sorted(context.relevant_memories, key=lambda chunk: (*story_place(chunk), chunk.chunk_id))
    return [line(chunk, chunk.content) for chunk in chunks]


def _knowers(item: ContextItem, names: Mapping[str, str], labels: Labels) -> str:
    """Say in a few words who of the cast does not know a memory; nothing where all do."""
    if not item.not_known_by:
        return ""
    if len(item.known_by) == 1 and len(item.not_known_by) > 1:
        [knower] = item.known_by
        return labels.known_to_alone.format(names.get(knower, knower))
    unknowing = labels.list_separator.join(names.get(each, each) for each in item.not_known_by)
    return labels.unknown_to.format(unknowing)


_HEADINGS = {
    "en": ("Names and terms in this text", "What the story has established about them"),
    "zh": ("本段出现的人物与术语", "相关记忆"),
}

_MORE = {"en": "… and {0} more", "zh": "……另有 {0} 条"}

_TYPES = {"en": {}, "zh": {"character": "人物", "location": "地点", "item": "物品", "faction": "势力", "term": "术语"}}

_ALSO = {"en": "also {0}", "zh": "又名{0}"}

_SAID_BY = {"en": " (used by {0})", "zh": "（{0}所用）"}


def render_chunk_context(
    glossary: Sequence[GlossaryEntry], memories: Sequence[ChunkMemory], *, more: int, language: str
) -> str:
    """Render names and memories for a prompt: the glossary first, then the memories under their heading.

    Args:
        glossary: Whom and what the text names.
        memories: In the order to show.
        more: How many further ones there are; named after the last one.
        language: Language of the headings, `zh…` or `en`.

    Returns:
        The block, ending in a line break; empty when there is nothing to say.
    """
    labels = labels_for(language)
    code: StoryLanguage = "zh" if labels.language == "zh" else "en"
    names = [_entry_line(entry, code) for entry in glossary]
    told = [f"- [{place_of(each.chunk.model_dump(), labels)}] {each.chunk.content}" for each in memories]
    mark = fence_mark([*names, *told])
    blocks = []
    for heading, lines, rest in zip(_HEADINGS[code], (names, told), (0, more), strict=True):
        if lines:
            counted = [_MORE[code].format(rest)] if rest else []
            blocks.append("\n".join([f"## {heading}", *fenced(lines, mark), *counted]))
    return "\n\n".join([labels.note, *blocks]) + "\n" if blocks else ""


def _entry_line(entry: GlossaryEntry, language: StoryLanguage) -> str:
    chinese = language == "zh"
    kind = _TYPES[language].get(entry.entity_type, entry.entity_type)
    parts = [f"{_name(entry.name, entry.translation)}{f'（{kind}）' if chinese else f' ({kind})'}"]
    if entry.aliases:
        listed = ("、" if chinese else ", ").join(_alias(alias, language) for alias in entry.aliases)
        parts.append(_ALSO[language].format(listed))
    if entry.description:
        parts.append(entry.description)
    return "- " + ("；" if chinese else "; ").join(parts)


def _alias(alias: GlossaryName, language: StoryLanguage) -> str:
    name = _name(alias.name, alias.translation)
    return name + (_SAID_BY[language].format(alias.speaker) if alias.speaker else "")


def _name(name: str, translation: str) -> str:
    return f"{name} → {translation}" if translation else name
