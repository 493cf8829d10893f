"""Who of the cast knows what, and the reader: a picture of facts by people, and the author's word on its cells."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from starlette.responses import Response

from novelgen.errors import UserInputError
from novelgen.memory.knowledge_rules import why_unknown
from novelgen.models.knowledge import KNOWLEDGE_KINDS, KNOWLEDGE_SOURCES, READER, KnownMemory, UnknownMemory
from runtime.page.frame import Frame
from runtime.page.visits import Name, Offset, Visited, router
from runtime.story.knowledge import Knower, KnowledgeRow, MemoryKnowers, Unaware

FACTS_AT_ONCE = 30
MAX_PEOPLE = 300
"""So many characters are offered in a list; of a greater cast the rest is asked by name."""
MAX_WORDS = 60
NARROWINGS = ("all", "known", "unknown", "irony", "secret")
UNSURE_BELOW = 0.8
"""What a rule or a record says with less than the certainty of somebody concerned who was away."""

SYMBOLS = {
    "first_hand": "●",
    "second_hand": "◐",
    "might": "◌",
    "hidden": "✕",
    "deceived": "≠",
    "doubts": "?",
    "unknown": "·",
}
"""The marks of the picture, each another shape, so that colour says nothing alone."""


class Cell(NamedTuple):
    """A cell of the picture: its mark, what it says in words, and the words of the story that prove it."""

    mark: str
    label: str
    words: str = ""
    is_said: bool = False


@router.get("/page/projects/{project_id}/knowledge")
def knowledge_page(
    visit: Visited,
    about: Name = "",
    of: Name = "",
    only: Name = "all",
    alone: Name = "",
    offset: Offset = 0,
    cell: Name = "",
) -> Response:
    """Show who of the cast knows what, since when and how; the reader, too."""
    frame = visit.frame("knowledge")
    known = visit.story.entities(as_of=visit.as_of)
    names = {each.entity_id: each.name for each in known} | {READER: frame.word("reader")}
    whose = of.strip() or None
    narrowing = only if only in NARROWINGS and (whose or only not in ("known", "unknown")) else "all"
    table = visit.story.knowledge_table(
        as_of=visit.as_of,
        about=about.strip() or None,
        narrowing=narrowing,  # type: ignore[arg-type]
        of=whose,
        is_of_one=bool(alone and whose),
        offset=offset,
        limit=FACTS_AT_ONCE,
    )
    rows = [
        (row, [(who, _cell(frame, row, who, told, names)) for who, told in zip(table.cast, row.cells, strict=True)])
        for row in table.rows
    ]
    return frame.page(
        "knowledge",
        table=table,
        rows=rows,
        names=names,
        people=[each for each in known if each.entity_type == "character"][:MAX_PEOPLE],
        about=about,
        of=whose or "",
        only=narrowing,
        alone=bool(alone and whose),
        offset=offset,
        at_once=FACTS_AT_ONCE,
        symbols=SYMBOLS,
        narrowings=NARROWINGS,
        kinds=KNOWLEDGE_KINDS,
        sources=[each for each in KNOWLEDGE_SOURCES if each != "author"],
        shown=_shown(visit, frame, cell, names) if cell else None,
    )


def _cell(
    frame: Frame, row: KnowledgeRow, who: str, told: KnownMemory | UnknownMemory, names: Mapping[str, str]
) -> Cell:
    name, is_said = names.get(who, who), who in row.said_of
    if isinstance(told, UnknownMemory):
        return _unknown_cell(frame, name, told, names, is_said=is_said)
    how = frame.word("unsaid_how" if told.how == "author" and not is_said else told.how)
    parts = [how]
    if told.learned_from is not None and told.learned_from in names:
        parts.append(frame.word("told_by", name=names[told.learned_from]))
    if told.since_chapter is not None:
        parts.append(frame.word("since", place=frame.place(told.since_chapter, told.since_scene)))
    if told.certainty < UNSURE_BELOW:
        parts.append(frame.word("rumour"))
    if is_said and told.how != "author":
        parts.append(frame.word("author"))
    second_hand = told.how in ("told", "overheard", "read", "deduced") and who != READER
    return Cell(
        "second_hand" if second_hand or told.certainty < UNSURE_BELOW else "first_hand",
        frame.word("cell_knows", name=name, how=frame.comma.join(parts)),
        told.quote[:MAX_WORDS],
        is_said,
    )


def _unknown_cell(frame: Frame, name: str, told: UnknownMemory, names: Mapping[str, str], *, is_said: bool) -> Cell:
    why = why_unknown(told.why, frame.language)
    if told.might_know_from is not None and told.might_know_from in names:
        why += frame.comma + frame.word("might_know_from", name=names[told.might_know_from])
    if is_said:
        why += frame.comma + frame.word("author")
    plain = "might" if told.might_know else "unknown"
    return Cell(
        plain if told.kind == "unknown" else told.kind, frame.word("cell_unknown", name=name, why=why), is_said=is_said
    )


class ShownCell(NamedTuple):
    """A cell that was asked for: its fact, what it says, and who knows the fact."""

    fact: MemoryKnowers
    character_id: str
    name: str
    told: Cell
    words: str
    knowers: list[tuple[str, str]]


def _shown(visit: Visited, frame: Frame, cell: str, names: Mapping[str, str]) -> ShownCell:
    """Return a cell by its name, `M001:C0`."""
    memory_id, _, character = cell.rpartition(":")
    fact = visit.story.who_knows(memory_id=memory_id, as_of=visit.as_of)
    everybody: list[Knower | Unaware] = [*fact.known_by, *fact.not_known_by]
    asked = next((each for each in everybody if each.character_id == character), None)
    if asked is None:
        raise UserInputError(f"nobody {character!r} is known by then; choose a cell of the table")
    said = visit.story.author_words(character=character, memory_id=memory_id)
    row = KnowledgeRow(source_id=fact.source_id, content="", said_of=[character] if said else [])
    return ShownCell(
        fact=fact,
        character_id=character,
        name=names.get(character, asked.name),
        told=_cell(frame, row, character, asked, names),
        words=asked.quote if isinstance(asked, KnownMemory) else "",
        knowers=[(each.character_id, names.get(each.character_id, each.name)) for each in fact.known_by],
    )
