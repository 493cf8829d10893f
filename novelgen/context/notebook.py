"""Notebook tables of contexts, states and lists, as HTML or text.

Nothing of a story is ever HTML: every text is escaped, cut to a length that one reads, and kept from being taken for
mathematics. No colours are set and no styles are needed, so that it reads alike in light and dark.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import singledispatch
from html import escape
from typing import Any

from novelgen.context.card_facts import render_card_facts
from novelgen.context.difference_block import difference_lines
from novelgen.context.labels import Labels, labels_for
from novelgen.context.prompt_block import memory_marks
from novelgen.context.rendering import (
    NEUTRAL_STATUS,
    SECTION_ORDER,
    place_of,
    render_left_off,
    render_timeline_entry,
    render_told_before,
    state_parts,
)
from novelgen.language.language import story_language
from novelgen.language.normalise import scrub_text
from novelgen.memory.search import RankedMemory
from novelgen.models.context import ContextItem, ReportIssue, SceneMemoryContext
from novelgen.models.continuity import ContinuityFinding, DraftCheck, TouchedMatter
from novelgen.models.entity import Entity
from novelgen.models.memory import StoryMemoryChunk, memory_place_text
from novelgen.models.shown import Shown, ShownList
from novelgen.models.state import EntityStateSnapshot, OpenLoop, Relationship
from novelgen.models.story_difference import StoryDifference
from novelgen.models.story_time import SceneTime, SceneTimes
from novelgen.words import Words, words

MAX_ROWS = 12
"""So many rows of a table are shown; the rest is counted."""

MAX_CELL = 240
"""Characters of a cell."""

MAX_BLOCK = 20_000
"""Characters of a block of a prompt."""


@dataclass(frozen=True, slots=True)
class Table:
    """Rows under headings."""

    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    heading: str = ""


@dataclass(frozen=True, slots=True)
class Sheet:
    """The tables of one object, before rendering."""

    language: str
    title: str = ""
    tables: Sequence[Table] = ()
    notes: Sequence[str] = ()
    block: str = ""

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to show but a title."""
        return not self.block and not any(table.rows for table in self.tables)

    @property
    def words(self) -> Mapping[str, str]:
        """The words of its language."""
        return _words(labels_for(self.language))


def shown_html(thing: Any) -> str:
    """Return a thing as HTML that any notebook shows, also where styles are taken out."""
    sheet = sheet_of(thing)
    words = sheet.words
    parts = [f"<p><strong>{_text(sheet.title)}</strong></p>"] if sheet.title else []
    parts += [_table_html(table, words) for table in sheet.tables if table.rows]
    if sheet.is_empty and not sheet.title:
        parts.append(f"<p>{_text(words['nothing'])}</p>")
    parts += [f"<p><small>{_text(note)}</small></p>" for note in sheet.notes]
    if sheet.block:
        block = f'<pre dir="auto" style="white-space: pre-wrap">{_text(sheet.block, MAX_BLOCK)}</pre>'
        is_folded = any(table.rows for table in sheet.tables)
        parts.append(f"<details><summary>{_text(words['block'])}</summary>{block}</details>" if is_folded else block)
    language = labels_for(sheet.language).language
    return f'<div class="tex2jax_ignore mathjax_ignore" lang="{language}">{"".join(parts)}</div>'


def shown_text(thing: Any) -> str:
    """Return a thing as lines of plain text."""
    sheet = sheet_of(thing)
    lines = [sheet.title] if sheet.title else []
    for table in sheet.tables:
        if not table.rows:
            continue
        lines += [table.heading] if table.heading else []
        lines += ["  " + "  ".join(_cut(cell) for cell in row if cell) for row in table.rows[:MAX_ROWS]]
        lines += _more(table, sheet.words)
    if not any(table.rows for table in sheet.tables) and sheet.block:
        lines.append(sheet.block.rstrip())
    if sheet.is_empty and not sheet.title:
        lines.append(sheet.words["nothing"])
    return scrub_text("\n".join([*lines, *sheet.notes]))


@singledispatch
def sheet_of(thing: Any) -> Sheet:
    """Return the sheet of an object."""
    if isinstance(thing, Shown):
        return sheet_of(thing.in_simpler_terms())
    return Sheet(language=story_language(str(thing)), block=str(thing))


@sheet_of.register
def _of_context(context: SceneMemoryContext) -> Sheet:
    report = context.report
    statement = " ".join(memory.content for memory in context.relevant_memories)
    language = report.language or story_language(statement)
    labels = labels_for(language)
    words = _words(labels)
    ending_rows: list[tuple[str, ...]] = [
        (render_told_before(notice, labels=labels).removeprefix("- "),) for notice in context.story_so_far
    ]
    ending_rows += (
        [(name,) for name in render_left_off(context.left_off, report.names, labels=labels)] if context.left_off else []
    )
    timeline = [
        (
            getattr(labels, section),
            render_timeline_entry(section, entry, report.names, labels=labels).removeprefix("- "),
        )
        for section in SECTION_ORDER
        for entry in (context.timeline_context or {}).get(section) or []
    ]
    marks = memory_marks(context, labels)
    memories: list[tuple[str, ...]] = [
        (place_of(item.model_dump(), labels), item.text + marks.get(item.chunk_id, ""), _reasons(item, labels))
        for item in report.own_items
    ]
    if not memories:
        memories = [_memory_row(memory, labels)[:2] for memory in context.relevant_memories]
    return Sheet(
        language=language,
        title=words["context"].format(
            f"{context.chapter_index}:{context.scene_index}",
            context.project_id,
            len(context.relevant_memories),
            sum(report.tokens.values()),
        ),
        tables=[
            Table(
                ("who", "how"),
                [_state_row(snapshot, report.names, labels) for snapshot in context.entity_states],
                labels.states,
            ),
            Table(
                ("who",),
                [
                    (render_card_facts(facts, report.names, labels=labels).removeprefix("- "),)
                    for facts in context.cards
                ],
                labels.cards,
            ),
            Table(("memory",), ending_rows, labels.left_off),
            Table(("kind", "memory"), timeline, labels.timeline),
            Table(("where", "memory", "why"), memories, labels.memories),
        ],
        notes=_problems(report.issues, words, labels),
        block=context.as_prompt(),
    )


@sheet_of.register
def _of_check(check: DraftCheck) -> Sheet:
    language = check.language or story_language(" ".join(finding.draft_quote for finding in check.findings))
    labels = labels_for(language)
    words = _words(labels)
    key = "check" if check.checked.is_judged or check.findings else "unjudged"
    title = words[key].format(f"{check.chapter_index}:{check.scene_index}", len(check.findings))
    notes = _problems(check.report.issues, words, labels)
    return Sheet(
        language=language, title=title, tables=[_table_of(check.findings or check.touched, {}, labels)], notes=notes
    )


@sheet_of.register
def _of_difference(difference: StoryDifference) -> Sheet:
    title, *lines = difference_lines(difference)
    return Sheet(language=difference.language, title=title, block="\n".join(lines))


@sheet_of.register
def _of_story_times(timeline: SceneTimes) -> Sheet:
    language = timeline.language or "en"
    return Sheet(language=language, tables=[_table_of(timeline.scenes, timeline.names, labels_for(language))])


@sheet_of.register(list)
def _of_list(items: list[Any]) -> Sheet:
    names = items.names if isinstance(items, ShownList) else {}
    kinds = [_row_of(item) for item in items]
    if None in kinds:
        simpler = [item.in_simpler_terms() if isinstance(item, Shown) else item for item in items]
        return Sheet(language=story_language(str(simpler)), block="\n".join(map(str, simpler)))
    language = story_language(" ".join(map(_words_of, items)))
    by_kind: dict[Any, list[Any]] = {}
    for kind, item in zip(kinds, items, strict=True):
        by_kind.setdefault(kind, []).append(item)
    labels = labels_for(language)
    return Sheet(language=language, tables=[_table_of(group, names, labels) for group in by_kind.values()])


def _words(labels: Labels) -> Words:
    return words("context", labels.language, "notebook")


def _reasons(item: ContextItem, labels: Labels) -> str:
    """Return the reasons for a memory, without those of its form."""
    parts = [reason for reason in item.reasons if ":" not in reason]
    shown_words = words("context", labels.language, "reasons")
    return labels.list_separator.join(shown_words.get(part, part).replace("_", " ") for part in parts)


RowMaker = Callable[[Any, Mapping[str, str], Labels], tuple[str, ...]]


def _memory_row(memory: StoryMemoryChunk, labels: Labels) -> tuple[str, ...]:
    words = _words(labels)
    mark = words["outdated"] if memory.superseded_by else ""
    return memory_place_text(memory, always=labels.everywhere), memory.content + mark, str(memory.importance)


def _state_row(state: EntityStateSnapshot, names: Mapping[str, str], labels: Labels) -> tuple[str, ...]:
    texts = [text for _, text in state_parts(state, names, labels)]
    return names.get(state.entity_id, state.entity_id), labels.separator.join(texts)


def _thread_row(thread: OpenLoop, _names: Mapping[str, str], labels: Labels) -> tuple[str, ...]:
    stage = _words(labels)[getattr(thread, "stage", thread.status)]
    origin = place_of(thread.model_dump(include={"chapter_index", "scene_index", "said_from"}), labels)
    return thread.loop_id, thread.description, stage, origin


def _relationship_row(pair: Relationship, names: Mapping[str, str], labels: Labels) -> tuple[str, ...]:
    first, second = (names.get(entity_id, entity_id) for entity_id in (pair.character_a, pair.character_b))
    views = [f"{first} → {second}{labels.colon}{pair.perspective_a}" if pair.perspective_a else ""]
    views.append(f"{second} → {first}{labels.colon}{pair.perspective_b}" if pair.perspective_b else "")
    status = "" if pair.status == NEUTRAL_STATUS else pair.status
    lines = [pair.relationship_type, status, *views]
    between = " – ".join(names.get(entity_id, entity_id) for entity_id in pair.in_reading_order())
    return between, labels.separator.join(item for item in lines if item)


def _entity_row(entity: Entity, _names: Mapping[str, str], labels: Labels) -> tuple[str, ...]:
    also = labels.list_separator.join(entity.names()[1:])
    text = labels.separator.join(text for text in (entity.role, entity.description) if text)
    return entity.entity_id, entity.name, also, text


def _finding_row(finding: ContinuityFinding, _names: Mapping[str, str], labels: Labels) -> tuple[str, ...]:
    evidence = [
        f"[{memory_place_text(evidence_item, always=labels.everywhere)}] {evidence_item.quote or evidence_item.text}"
        for evidence_item in finding.evidence[:1]
    ]
    return finding.message, finding.draft_quote, "".join(evidence)


def _touched_row(matter: TouchedMatter, _names: Mapping[str, str], labels: Labels) -> tuple[str, ...]:
    sayings = [
        f"[{memory_place_text(evidence_item, always=labels.everywhere)}] {evidence_item.text}"
        for evidence_item in matter.sayings
    ]
    return matter.name, matter.draft_quote, "\n".join(sayings)


def _scene_row(scene: SceneTime, names: Mapping[str, str], labels: Labels) -> tuple[str, ...]:
    text = scene.told.text if scene.told is not None else ""
    day = "" if scene.story_day is None else str(scene.story_day)
    who = labels.list_separator.join(names.get(participant_id, participant_id) for participant_id in scene.participants)
    return f"{scene.chapter_index}:{scene.scene_index}", text, day, who


_ROWS: dict[type, tuple[tuple[str, ...], RowMaker]] = {
    StoryMemoryChunk: (("where", "memory", "weight"), lambda one, _, labels: _memory_row(one, labels)),
    RankedMemory: (("where", "memory", "weight"), lambda one, _, labels: _memory_row(one.chunk, labels)),
    EntityStateSnapshot: (("who", "how"), _state_row),
    OpenLoop: (("id", "thread", "stage", "where"), _thread_row),
    Relationship: (("between", "status"), _relationship_row),
    Entity: (("id", "name", "also", "role"), _entity_row),
    ContinuityFinding: (("contradiction", "draft", "evidence"), _finding_row),
    TouchedMatter: (("name", "draft", "evidence"), _touched_row),
    SceneTime: (("where", "when", "day", "who"), _scene_row),
}
"""By its class: the headings of a table of such things, and the row of one; one alone is shown as a list of one."""

for _kind in _ROWS:
    sheet_of.register(_kind, lambda thing: _of_list([thing]))


def _row_of(thing: Any) -> tuple[tuple[str, ...], RowMaker] | None:
    return next((_ROWS[kind] for kind in type(thing).__mro__ if kind in _ROWS), None)


def _table_of(items: Sequence[Any], names: Mapping[str, str], labels: Labels) -> Table:
    """Return items of one kind as a table."""
    columns, make = (_row_of(items[0]) if items else None) or ((), None)
    return Table(columns, [make(item, names, labels) for item in items] if make else [])


def _words_of(thing: Any) -> str:
    """Return a text of a thing by which its language is told."""
    if isinstance(thing, RankedMemory):
        return thing.chunk.content
    if isinstance(thing, EntityStateSnapshot):
        return " ".join(map(str, thing.state_data.values()))
    parts = (getattr(thing, kind, "") for kind in ("content", "description", "name", "message", "status"))
    return " ".join(map(str, parts))


def _problems(issues: Iterable[ReportIssue], words: Mapping[str, str], labels: Labels) -> list[str]:
    return [f"{words['missing']}{labels.colon}{issue.stage}: {issue.message}" for issue in issues]


def _table_html(table: Table, words: Mapping[str, str]) -> str:
    heading = f'<caption style="text-align: left">{_text(table.heading)}</caption>' if table.heading else ""
    columns = "".join(
        f'<th scope="col" style="text-align: left">{_text(words[column])}</th>' for column in table.columns
    )
    rows = "".join(
        "<tr>"
        + "".join(
            f'<td dir="auto" style="text-align: left; vertical-align: top">{_text(cell, MAX_CELL)}</td>' for cell in row
        )
        + "</tr>"
        for row in table.rows[:MAX_ROWS]
    )
    more = "".join(f"<p><small>{_text(word)}</small></p>" for word in _more(table, words))
    return f"<table>{heading}<thead><tr>{columns}</tr></thead><tbody>{rows}</tbody></table>{more}"


def _more(table: Table, words: Mapping[str, str]) -> list[str]:
    remaining_count = len(table.rows) - MAX_ROWS
    return [words["more"].format(remaining_count)] if remaining_count > 0 else []


def _cut(text: str, limit: int = MAX_CELL) -> str:
    return text if len(text) <= limit else f"{text[: limit - 1].rstrip()}…"


def _text(text: str, limit: int = MAX_CELL) -> str:
    return escape(_cut(scrub_text(text), limit))
