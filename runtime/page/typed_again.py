"""The page of a form that could not be stored, with what was typed in it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from starlette.responses import Response

from novelgen.models.entity import EntityType
from runtime.doors.http.problems import Problem
from runtime.page.frame import Frame, own_address

WORDS_OF_FIELDS: Mapping[str, str] = {
    "about": "about",
    "alias": "add_alias",
    "aliases": "also_called",
    "attribute": "attribute",
    "cast": "on_stage",
    "category": "kind_of_thread",
    "chapter": "chapter_number",
    "characters": "who",
    "content": "what_holds",
    "description": "description",
    "due_by": "due_by_scene",
    "due_from": "due_from_scene",
    "evidence": "evidence",
    "importance": "importance_of_ten",
    "keep": "is_name_of",
    "key_actions": "actions",
    "keys": "lore_keys",
    "learned_from": "from_whom",
    "location": "location",
    "memory_budget": "memory_budget",
    "name": "name",
    "names": "names_mean",
    "new_name": "new_name",
    "note": "note",
    "own_name": "own_field",
    "own_value": "own_value",
    "parts": "in_parts",
    "pay_off": "what_it_needs",
    "plan_text": "plan_text",
    "pov": "pov",
    "project_id": "project",
    "purpose": "purpose",
    "role": "role",
    "scene": "scene_number",
    "scene_id": "in_scene",
    "scenes": "scenes_that_go",
    "since": "known_from",
    "start": "known_from",
    "state_budget": "state_budget",
    "summary": "summary",
    "text": "scene_text",
    "timeline_budget": "timeline_budget",
    "title": "title",
    "to_chapter": "chapter_number",
    "to_scene": "scene_number",
    "top_k": "top_k",
    "value": "new_value",
}
"""Fields that people type into, each with its word; further ones are sent again as they came."""

LONG_FIELDS = frozenset(
    ("content", "description", "evidence", "key_actions", "names", "plan_text", "purpose", "text", "value")
)
LONG = 600
"""Characters from which a field is shown in a high box."""


class TypedField(NamedTuple):
    """A field of a form with what was typed in it."""

    name: str
    label: str
    value: str
    rows: int
    """Lines of its box, 0 of a field of one line."""


class OfferedCard(NamedTuple):
    """A card that the form makes where it is ticked."""

    field: str
    name: str
    kind: EntityType


def typed_again(
    frame: Frame, form: Mapping[str, str], problem: Problem, *, cards: Sequence[OfferedCard] = ()
) -> Response | None:
    """Return the page with what was typed and what is wrong with it, None where nothing was typed."""
    fields = [_typed(frame, name, value) for name, value in form.items() if _word_of(name) is not None]
    if not any(field.value.strip() for field in fields):
        return None
    kept_names = {field.name for field in fields} | {card.field for card in cards}
    query = frame.request.url.query
    return frame.page(
        "typed_again",
        status=problem.status,
        problem=problem,
        fields=fields,
        cards=cards,
        ticked={name for name, value in form.items() if value == "yes"},
        rest=[(name, value) for name, value in form.items() if name not in kept_names],
        action=frame.request.url.path + (f"?{query}" if query else ""),
        back_to=own_address(form["back"]) if form.get("back") else "",
    )


def _word_of(name: str) -> str | None:
    """Return the word of a field, one of a card's or a side's own fields among them."""
    field, _, part = name.partition(":")
    return part if field in ("fields", "dimensions") else WORDS_OF_FIELDS.get(name)


def _typed(frame: Frame, name: str, value: str) -> TypedField:
    is_long = name in LONG_FIELDS or "\n" in value
    rows = (16 if len(value) > LONG else 4) if is_long else 0
    return TypedField(name, frame.word_or(_word_of(name) or name), value, rows)
