"""Cards of entities, and knowledge of the cast and the reader."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, get_args

from starlette.responses import Response

from novelgen.context.labels import labels_for
from novelgen.context.rendering import render_value, shown_state
from novelgen.errors import UserInputError
from novelgen.lorebook import LorebookForm
from novelgen.memory.attributes import is_death
from novelgen.memory.knowledge_rules import why_unknown
from novelgen.models.entity import Entity, EntityType, guessed_names
from novelgen.models.knowledge import KNOWLEDGE_KINDS, KNOWLEDGE_SOURCES, READER, KnownMemory, UnknownMemory
from novelgen.models.position import StoryPosition
from novelgen.models.state import PRESENCE_ATTRIBUTE
from novelgen.nearest import nearest_names
from runtime.page.visits import MAX_SHOWN, Name, Offset, Shown, Visit, Visited, download, router
from runtime.story.base import as_part, story_position
from runtime.story.entities import former_names
from runtime.story.entity_fields import OfferedField
from runtime.story.knowledge import Knower, KnowledgeRow, Narrowing, Unaware, author_words
from runtime.story.renaming import Renaming
from runtime.story.states import AttributeHistory, StoryStateHistories
from runtime.story.who_is_who import Order

FACTS_AT_ONCE = 6
KINDS: tuple[EntityType, ...] = get_args(EntityType)
CHANGES_SHOWN = 30
ORDERS: tuple[Order, ...] = get_args(Order)


EMPTY: tuple[Any, ...] = (None, [], "")

UNTOLD = (
    "metadata",
    "current_state",
    "translation",
    "alias_translations",
    "generic",
    "guessed_names",
    "same_as",
    "dated_values",
)
"""What a profile holds for the program."""


@router.get("/page/projects/{project_id}/cards")
def cards_page(visit: Visited, kind: Name = "", find: Name = "", order: Name = "weight", shown: Shown = 60) -> Response:
    """List characters, places, things, groups and terms."""
    ordered: Order = order if order in ORDERS else "weight"
    known_appearances = visit.kept(visit.story.entities.list_appearances, order=ordered)
    target = find.strip().casefold()
    matching = [
        appearance
        for appearance in known_appearances
        if any(target in name.casefold() for name in appearance.entity.names())
    ]
    counts = {kind: sum(appearance.entity.entity_type == kind for appearance in matching) for kind in KINDS}
    appearances = [appearance for appearance in matching if kind in ("", appearance.entity.entity_type)]
    return visit.page(
        "cards",
        cards=appearances[:shown],
        count=len(appearances),
        counts=counts,
        kind=kind,
        find=find,
        order=ordered,
        orders=ORDERS,
        most=max((appearance.scenes for appearance in known_appearances), default=0),
    )


@router.get("/page/projects/{project_id}/cards/new")
def new_card_page(visit: Visited, kind: Name = "") -> Response:
    """Show the form of a new card, with the fields of its kind."""
    chosen_kind = kind if kind in KINDS else KINDS[0]
    return visit.page(
        "new_card",
        kind=chosen_kind,
        kinds=KINDS,
        fields=[field for field in visit.story.entities.list_fields() if field.kind == chosen_kind],
        names=_names_by_kind(visit),
    )


@router.get("/page/projects/{project_id}/card")
def card_page(visit: Visited, entity: Name, shown: Shown = 20) -> Response:
    """Show an entity: names, state, relationships, knowledge and memories."""
    as_of = visit.as_of
    card = visit.kept(visit.story.entities.get, entity_id=entity, as_of=visit.until)
    entity_id = card.entity.entity_id
    is_person = card.entity.entity_type == "character"
    profile = card.entity.profile
    known_appearances = visit.kept(visit.story.entities.list_appearances)
    names = {appearance.entity.entity_id: appearance.entity.name for appearance in known_appearances}
    about = visit.story.memories.list_about(entity_id, limit=shown, as_of=as_of)
    threads = visit.kept(visit.story.threads.ledger).entries
    labels = labels_for(visit.language)
    histories = visit.kept(as_part(visit.story, StoryStateHistories).attribute_histories, entity_id=entity_id)
    states = {} if card.state is None else shown_state(card.state)
    attributes: dict[bool, list[AttributeHistory]] = {True: [], False: []}
    for attribute_history in histories:
        if attribute_history.attribute != PRESENCE_ATTRIBUTE:
            attributes[states.get(attribute_history.attribute) not in EMPTY].append(attribute_history)
    kind = card.entity.entity_type
    field_rows = [
        offered_field
        for offered_field in visit.story.entities.list_fields()
        if offered_field.kind == kind and not offered_field.changes
    ]
    own = {name for name, value in profile.items() if isinstance(value, str)} - {
        offered_field.key for offered_field in field_rows
    }
    fields = [*field_rows, *(OfferedField(kind=kind, name=name, key=name) for name in sorted(own.difference(UNTOLD)))]
    return visit.page(
        "card",
        card=card,
        appearance=next(appearance for appearance in known_appearances if appearance.entity.entity_id == entity_id),
        profile={
            name: value
            for name, value in profile.items()
            if name not in UNTOLD and value not in (*EMPTY, {}, card.entity.description)
        },
        guessed_names=guessed_names(card.entity),
        fields=[offered_field for offered_field in fields if not isinstance(profile.get(offered_field.key), dict)],
        values=field_values(card.entity, names, visit.word("between_names")),
        names_by_kind=_names_by_kind(visit),
        kinds=KINDS,
        related=visit.kept(visit.story.relationships.query, character_id=entity_id) if is_person else [],
        knows=_facts(visit, entity_id, "known") if is_person else [],
        kept_from=_facts(visit, entity_id, "secret") if is_person else [],
        threads=[thread for thread in threads if entity_id in thread.related_entities],
        memories=about.memories,
        more=min(about.more, MAX_SHOWN - shown),
        shown=shown,
        names=names,
        alike=[
            appearance.entity
            for appearance in known_appearances
            if appearance.entity.entity_type == card.entity.entity_type
        ],
        is_dead=any(is_death(*pair) for pair in states.items()),
        standing=attributes[True],
        over=attributes[False],
        attribute_name=lambda attribute: labels.attribute(attribute, card.entity.entity_type).replace("_", " "),
        worded=lambda value: "—" if value in EMPTY else render_value(value, names, labels),
        in_field=lambda value: _in_field(value, names),
    )


@router.get("/page/projects/{project_id}/card/rename")
def rename_page(visit: Visited, entity: Name, new_name: Name) -> Response:
    """Show the effect of another name."""
    old = visit.kept(visit.story.entities.get, entity_id=entity, as_of=visit.until).entity
    preview = visit.story.entities.rename(old.entity_id, new_name.strip())
    if visit.as_of is not None:
        preview = _before(preview, visit.as_of, known_names=old.names())
    names = visit.names()
    return visit.page("rename", preview=preview, old=old.name, names=names, in_text=False)


def _before(preview: Renaming, as_of: StoryPosition, *, known_names: Sequence[str]) -> Renaming:
    """Return a preview limited to earlier scenes, with counts of the rest."""
    renamed_places = [
        place for place in preview.places if place.held_by == "scene" and story_position(place.id) < as_of
    ]
    names = {old: new for old, new in preview.names.items() if old in known_names}
    others = [name for name in preview.other_names if name in known_names]
    return preview.model_copy(
        update={"places": renamed_places, "names": names, "other_names": others, "kept_within": {}}
    )


@router.get("/page/projects/{project_id}/card/merge")
def merge_page(visit: Visited, keep: Name, gone: Name) -> Response:
    """Show the effect of merging two cards."""
    preview = visit.story.entities.preview_merge(keep=keep, gone=gone, as_of=visit.until)
    return visit.page("merge", preview=preview)


@router.get("/page/projects/{project_id}/lore")
def lore_page(visit: Visited) -> Response:
    """Show the lorebook, with import and export."""
    entries = visit.story.lore.list(as_of=visit.as_of)
    return visit.page("lore", entries=entries, forms=get_args(LorebookForm))


@router.get("/page/projects/{project_id}/lore/{form}")
def export_lorebook(visit: Visited, form: LorebookForm, cards: Name = "") -> Response:
    """Give the lorebook as SillyTavern or NovelAI reads it, with the cards as entries where they are asked for."""
    lorebook = visit.story.lore.export_book(form, cards=bool(cards))
    written_payload = json.dumps(lorebook, ensure_ascii=False, indent=2).encode("utf-8", "replace")
    suffix = "lorebook" if form == "novelai" else "json"
    return download(written_payload, visit.project_id, suffix, "application/json")


@router.get("/page/projects/{project_id}/who-is-who")
def identities_page(visit: Visited, shown: Shown = 30) -> Response:
    """Show unknown names and the latest identity decisions."""
    as_of = visit.as_of
    offered = visit.story.candidates.list(as_of=as_of)
    known_entities = visit.story.entities.list(as_of=visit.until)
    bearers = {name: entity.name for entity in reversed(known_entities) for name in entity.names()}
    changes = visit.story.entities.list_changes()
    # Those who were merged or deleted have no card; the changes still name them.
    names = former_names(changes) | {entity.entity_id: entity.name for entity in known_entities}
    return visit.page(
        "who_is_who",
        candidates=[
            (
                candidate,
                list(dict.fromkeys(bearers[near] for near in nearest_names(candidate.name, bearers, at_most=3))),
            )
            for candidate in offered[:shown]
        ],
        count=len(offered),
        known=known_entities,
        kinds=KINDS,
        # What was decided may tell of what comes later; it is listed where all of the story is shown.
        changes=changes[::-1][:CHANGES_SHOWN] if as_of is None else [],
        names=names,
    )


def _names_by_kind(visit: Visited) -> dict[str, list[str]]:
    known_entities = [appearance.entity for appearance in visit.kept(visit.story.entities.list_appearances)]
    return {kind: [entity.name for entity in known_entities if entity.entity_type == kind] for kind in KINDS}


def field_values(entity: Entity, names: Mapping[str, str], separator: str) -> dict[str, str]:
    """Return a card's field values for a form, lists on one line."""
    return {
        name: separator.join(names.get(text, text) for text in map(str, value if isinstance(value, list) else [value]))
        for name, value in entity.profile.items()
        if not isinstance(value, dict)
    }


def _facts(visit: Visited, character: str, narrowing: Narrowing) -> list[tuple[Any, KnownMemory | None]]:
    """Return the latest facts that somebody knows, or that are kept from them, with how they know them."""
    table = visit.story.knowledge.table(
        as_of=visit.as_of, narrowing=narrowing, of=character, is_of_one=True, limit=FACTS_AT_ONCE
    )
    cells = [row.cells[0] for row in table.rows]
    return [(row, cell if isinstance(cell, KnownMemory) else None) for row, cell in zip(table.rows, cells, strict=True)]


def _in_field(value: Any, names: Mapping[str, str]) -> str | None:
    """Return a value for a form, an entry per line, or None."""
    if isinstance(value, list) and all(isinstance(item, str) for item in value):
        return "\n".join(names.get(item, item) for item in value)
    if isinstance(value, str):
        return names.get(value, value)
    return "" if value is None else str(value) if isinstance(value, int | float) else None


ROWS_AT_ONCE = 30
MAX_PEOPLE = 300
"""So many characters are offered in a list; of a greater cast the rest is asked by name."""
MAX_WORDS = 60
NARROWINGS: tuple[Narrowing, ...] = get_args(Narrowing)
UNSURE_BELOW = 0.8
"""What a rule or a record says with less than the certainty of somebody concerned who was away."""


class Cell(NamedTuple):
    """A cell of the knowledge picture: mark, words and proof."""

    mark: str
    label: str
    words: str
    is_said: bool
    is_guess: bool = False


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
    """Show the cast's and the reader's knowledge, with time and source."""
    known_entities = visit.story.entities.list(as_of=visit.as_of)
    names = {entity.entity_id: entity.name for entity in known_entities} | {READER: visit.word("reader")}
    whose = of.strip() or None
    narrowing = only if only in NARROWINGS and (whose or only not in ("known", "unknown")) else "all"
    table = visit.story.knowledge.table(
        as_of=visit.as_of,
        about=about.strip() or None,
        narrowing=narrowing,
        of=whose,
        is_of_one=bool(alone and whose),
        offset=offset,
        limit=ROWS_AT_ONCE,
    )
    rows = [
        (row, [(who, _cell(visit, row, who, text, names)) for who, text in zip(table.cast, row.cells, strict=True)])
        for row in table.rows
    ]
    return visit.page(
        "knowledge",
        table=table,
        rows=rows,
        names=names,
        people=[entity for entity in known_entities if entity.entity_type == "character"][:MAX_PEOPLE],
        about=about,
        of=whose or "",
        only=narrowing,
        alone=bool(alone and whose),
        offset=offset,
        narrowings=NARROWINGS,
        kinds=KNOWLEDGE_KINDS,
        sources=[knowledge_source for knowledge_source in KNOWLEDGE_SOURCES if knowledge_source != "author"],
        shown=_show_cell(visit, cell, names) if cell else None,
    )


def _cell(
    visit: Visit, row: KnowledgeRow, who: str, text: KnownMemory | UnknownMemory, names: Mapping[str, str]
) -> Cell:
    name, is_said = names.get(who, who), who in row.said_of
    if isinstance(text, UnknownMemory):
        parts = [why_unknown(text.why, visit.language)]
        if other := names.get(text.might_know_from or ""):
            parts.append(visit.word("might_know_from", name=other))
        if is_said:
            parts.append(visit.word("author"))
        if text.is_guess:
            parts.append(visit.word("guess"))
        mark = text.kind if text.kind != "unknown" else "might" if text.might_know else "unknown"
        return Cell(mark, visit.word("cell_unknown", name=name, why=visit.word("comma").join(parts)), "", is_said)
    parts = [visit.word("unsaid_how" if text.how == "author" and not is_said else text.how)]
    if other := names.get(text.learned_from or ""):
        parts.append(visit.word("told_by", name=other))
    if text.since_chapter is not None:
        parts.append(visit.word("since", place=visit.place(text.since_chapter, text.since_scene)))
    is_unsure = text.certainty < UNSURE_BELOW
    if is_unsure:
        parts.append(visit.word("rumour"))
    if is_said and text.how != "author":
        parts.append(visit.word("author"))
    if text.is_guess:
        parts.append(visit.word("guess"))
    is_second_hand = is_unsure or (text.how in ("told", "overheard", "read", "deduced") and who != READER)
    label = visit.word("cell_knows", name=name, how=visit.word("comma").join(parts))
    known_mark = "second_hand" if is_second_hand else "first_hand"
    return Cell(known_mark, label, text.quote[:MAX_WORDS], is_said, is_guess=text.is_guess)


def _show_cell(visit: Visited, cell: str, names: Mapping[str, str]) -> dict[str, Any]:
    """Return the cell `M001:C0`: fact, statement and knowers."""
    memory_id, _, character = cell.rpartition(":")
    fact = visit.story.knowledge.who_knows(memory_id=memory_id, as_of=visit.as_of)
    everybody: list[Knower | Unaware] = [*fact.known_by, *fact.not_known_by]
    request = next((item for item in everybody if item.character_id == character), None)
    if request is None:
        raise UserInputError(f"nobody {character!r} is known by then; choose a cell of the table")
    statements = author_words(visit.served.stores, visit.project_id, character_id=character, memory_id=memory_id)
    row = KnowledgeRow(source_id=fact.source_id, content="", said_of=[character] if statements else [])
    return {
        "fact": fact,
        "character_id": character,
        "name": names.get(character, request.name),
        "told": _cell(visit, row, character, request, names),
        "words": request.quote if isinstance(request, KnownMemory) else "",
        "knowers": [(knower.character_id, names.get(knower.character_id, knower.name)) for knower in fact.known_by],
    }
