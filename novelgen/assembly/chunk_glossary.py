"""Whom and what a piece of text names, with their translations."""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import BaseModel, Field

from novelgen.models.chunk_context import GlossaryEntry, GlossaryName
from novelgen.models.entity import Entity
from novelgen.models.translation import translation_of
from novelgen.names.resolver import Mention, NameResolver
from novelgen.text.sentences import split_sentences


class TextMention(BaseModel):
    """An entity that a text names, and the sentences that do."""

    entry: GlossaryEntry
    sentences: list[str] = Field(default_factory=list, description="In the order of the text.")


def mentioned_in(
    text: str, known: Sequence[Entity], *, newly_shown: Sequence[Entity] = ()
) -> list[TextMention]:
    """Find the entities that a text names.

    Args:
        text: A piece of the story.
        known: Entities and names that the story had shown before the text.
        newly_shown: Entities as the text's own chapter shows them; of those that are not known yet only the
            names that stand in the text are told, for the rest may come after it.

    Returns:
        One per entity, in the order of first mention.
    """
    known_ids = {entity.entity_id for entity in known}
    new = [entity for entity in newly_shown if entity.entity_id not in known_ids]
    entities = {entity.entity_id: entity for entity in [*known, *new]}
    found: dict[str, list[Mention]] = {}
    for mention in NameResolver([*known, *new]).find_mentions(text):
        found.setdefault(mention.entity_id, []).append(mention)
    return [
        TextMention(
            entry=_entry(entities[entity_id])
            if entity_id in known_ids
            else _entry_of_new(entities[entity_id], mentions),
            sentences=_sentences_with(text, mentions),
        )
        for entity_id, mentions in found.items()
    ]


def _entry(entity: Entity) -> GlossaryEntry:
    return GlossaryEntry(
        entity_id=entity.entity_id,
        entity_type=entity.entity_type,
        name=entity.name,
        translation=translation_of(entity, entity.name),
        aliases=[_name(entity, alias) for alias in entity.names()[1:]],
        description=entity.description or entity.role,
    )


def _entry_of_new(entity: Entity, mentions: Sequence[Mention]) -> GlossaryEntry:
    first, *others = dict.fromkeys(mention.name for mention in mentions)
    return GlossaryEntry(
        entity_id=entity.entity_id,
        entity_type=entity.entity_type,
        name=first,
        translation=translation_of(entity, first),
        aliases=[_name(entity, each) for each in others],
    )


def _name(entity: Entity, name: str) -> GlossaryName:
    return GlossaryName(name=name, translation=translation_of(entity, name))


def _sentences_with(text: str, mentions: Sequence[Mention]) -> list[str]:
    spans = (
        span
        for span in split_sentences(text)
        if any(span.start <= mention.start < span.end for mention in mentions)
    )
    return [text[span.start : span.end] for span in spans]
