"""Story data as it stands in a prompt: on one line each, and unable to pass for anything else."""

from __future__ import annotations

import re
from collections.abc import Sequence

from novelgen.models.entity import Entity
from novelgen.text.language import StoryLanguage, estimate_tokens
from novelgen.text.scrub import scrub_text

MAX_LISTED_ENTITIES = 80
MAX_LISTING_TOKENS = 1500
MAX_NAMES_PER_ENTITY = 6
NOTHING: dict[StoryLanguage, str] = {"en": "(none)", "zh": "（无）"}
"""Stands where a list of the prompt is empty."""

_FENCE = re.compile(r"={4,}")
_CHAT_MARKER = re.compile(r"<(?=\|)|(?<=\|)>")


def listed_entities(
    entities: Sequence[Entity],
    *,
    first_ids: Sequence[str] = (),
    max_entities: int = MAX_LISTED_ENTITIES,
    max_tokens: int = MAX_LISTING_TOKENS,
) -> list[Entity]:
    """Choose the entities that a prompt has room for.

    Args:
        entities: The entities as of the position, their names already cut to it.
        first_ids: Entities that come before all others, in this order.
        max_entities: Longest listing, in lines.
        max_tokens: Longest listing, in estimated tokens.

    Returns:
        The entities in the order of their lines.
    """
    by_id = {entity.entity_id: entity for entity in entities}
    ordered = dict.fromkeys([*(each for each in first_ids if each in by_id), *by_id])
    listed: list[Entity] = []
    spent = 0
    for entity_id in list(ordered)[:max_entities]:
        spent += estimate_tokens(_entity_line(by_id[entity_id])) + 1
        if spent > max_tokens:
            break
        listed.append(by_id[entity_id])
    return listed


def entities_text(entities: Sequence[Entity], language: StoryLanguage) -> str:
    """List entities by id, kind and names, one per line; roles and descriptions would give the story away."""
    return "\n".join(map(_entity_line, entities)) or NOTHING[language]


def as_data(text: str) -> str:
    """Return a text on one line that cannot forge the prompt's dividing lines or a model's chat markers."""
    return as_data_lines(" ".join(text.split()))


def as_data_lines(text: str) -> str:
    """Return a text line by line that cannot forge the prompt's dividing lines or a model's chat markers."""
    return _CHAT_MARKER.sub(" ", _FENCE.sub("===", scrub_text(text)))


def _entity_line(entity: Entity) -> str:
    names = [as_data(name)[:60] for name in entity.names()[:MAX_NAMES_PER_ENTITY]]
    return f"{as_data(entity.entity_id)} | {entity.entity_type} | {'; '.join(names)}"
