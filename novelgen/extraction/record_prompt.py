"""The texts that go into the prompt of a scene record."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from novelgen.extraction.scene_so_far import SceneSoFar
from novelgen.model_calls.prompt_data import NOTHING, as_data
from novelgen.models.loop import OpenLoop
from novelgen.models.relationship import Relationship
from novelgen.models.state import PRESENCE_ATTRIBUTE
from novelgen.text.cjk import StoryLanguage
from novelgen.text.tokens import estimate_tokens

MAX_STATE_TOKENS = 1200
MAX_LOOP_TOKENS = 600
MAX_RELATIONSHIP_TOKENS = 400
MAX_LINE_CHARACTERS = 400


def states_text(so_far: SceneSoFar, entity_ids: Sequence[str], language: StoryLanguage) -> str:
    """List the states of the entities that a window names, those first, then the others while there is room."""
    ordered = dict.fromkeys([*(each for each in entity_ids if each in so_far.states), *so_far.states])
    lines = (f"{entity_id} | {_state_line(so_far.states[entity_id])}" for entity_id in ordered)
    return _bounded((line for line in lines if not line.endswith("| ")), MAX_STATE_TOKENS, language)


def loops_text(loops: Sequence[OpenLoop], language: StoryLanguage) -> str:
    """List the open loops by id, category and description."""
    lines = (f"{loop.loop_id} | {loop.category} | {loop.description}" for loop in loops)
    return _bounded(lines, MAX_LOOP_TOKENS, language)


def relationships_text(relationships: Sequence[Relationship], language: StoryLanguage) -> str:
    """List how characters stand: ids, type, status, intensity, dimensions."""
    return _bounded(map(_relationship_line, relationships), MAX_RELATIONSHIP_TOKENS, language)


def _relationship_line(relationship: Relationship) -> str:
    dimensions = ", ".join(f"{name} {value}" for name, value in relationship.dimensions.items())
    parts = [
        f"{relationship.character_a} {relationship.character_b}",
        relationship.relationship_type,
        relationship.status,
        f"intensity {relationship.intensity}",
        dimensions,
    ]
    return " | ".join(part for part in parts if part)


def _state_line(state: dict[str, Any]) -> str:
    shown = {name: value for name, value in state.items() if name != PRESENCE_ATTRIBUTE and value is not None}
    return "; ".join(f"{name}: {_shown(value)}" for name, value in shown.items())


def _shown(value: Any) -> str:
    return "[" + ", ".join(map(str, value)) + "]" if isinstance(value, list) else str(value)


def _bounded(lines: Iterable[str], max_tokens: int, language: StoryLanguage) -> str:
    kept: list[str] = []
    spent = 0
    for line in map(as_data, lines):
        clipped = line[:MAX_LINE_CHARACTERS]
        spent += estimate_tokens(clipped) + 1
        if spent > max_tokens:
            break
        kept.append(clipped)
    return "\n".join(kept) or NOTHING[language]
