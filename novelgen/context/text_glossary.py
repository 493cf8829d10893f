"""Whom and what a piece of text names, with the translations that hold there."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from pydantic import BaseModel, Field

from novelgen.language.language import has_cjk
from novelgen.language.resolver import Mention, NameResolver
from novelgen.language.sentences import split_sentences
from novelgen.models.chunk_context import GlossaryEntry, GlossaryName
from novelgen.models.dated_values import entity_at
from novelgen.models.entity import ALIAS_TRANSLATIONS, TRANSLATION, Entity, EntityAlias, is_entity_id, translation_of
from novelgen.models.position import END_OF_STORY, StoryPosition

_NOTES = ("definition", "usage")
"""Fields of a profile that tell a translator what a term means."""


class TextMention(BaseModel):
    """An entity that a text names, and the sentences that do."""

    entry: GlossaryEntry
    sentences: list[str] = Field(default_factory=list, description="In the order of the text.")
    is_meant: bool = Field(default=True, description="Whether the text means it, of several who bear its names here.")


class _Bearer(BaseModel):
    """An entity with all names that its text may show."""

    entity: Entity
    known_names: list[str]


def mentioned_in(
    text: str,
    known: Sequence[Entity],
    *,
    newly_shown: Sequence[Entity] = (),
    position: StoryPosition = END_OF_STORY,
    into: str = "",
) -> list[TextMention]:
    """Find the entities that a text names.

    A name with a translation is found wherever it stands, and lists all who bear it. Others are found as everywhere:
    descriptions and ambiguous ones where the text tells whom they mean.

    Args:
        text: A piece of the story.
        known: Entities before the text.
        newly_shown: Entities after the chapter of the text: of names that are new there only those in the text count.
        position: Where translations, descriptions and notes are read.
        into: Language of the translations; empty takes the first of each.

    Returns:
        Those whom the text names, in its order.
    """
    bearers = _bearers(known, newly_shown, position)
    entities = [bearer.entity for bearer in bearers.values()]
    literal = {name for one in entities for name in one.names() if translation_of(one, name, into=into)}
    by_id: dict[str, list[Mention]] = defaultdict(list)
    for mention in NameResolver(entities, literal_names=literal).find_mentions(text):
        by_id[mention.entity_id].append(mention)
    speakers = {entity.entity_id: entity.name for entity in known}
    speakers |= {entity_id: _first_name(bearers[entity_id], by_id[entity_id]) for entity_id in by_id}
    sentences = split_sentences(text)
    mentions = []
    for entity_id, places in by_id.items():
        spans = [span for span in sentences if any(span.start <= one.start < span.end for one in places)]
        mentions.append(
            TextMention(
                entry=_entry(bearers[entity_id], places, text, speakers, into=into),
                sentences=[text[span.start : span.end] for span in spans],
                is_meant=any(one.is_meant for one in places),
            )
        )
    return mentions


def _bearers(
    known_entities: Sequence[Entity], newly_shown: Sequence[Entity], position: StoryPosition
) -> dict[str, _Bearer]:
    before = {entity.entity_id: entity for entity in known_entities}
    after = {entity.entity_id: entity_at(entity, position) for entity in newly_shown}
    # Who turns out in the chapter to be somebody else keeps the names: to move them would tell it.
    masked = {name for one in known_entities if newly_shown and one.entity_id not in after for name in one.names()}
    bearers = {}
    for entity_id in dict.fromkeys([*before, *after]):
        early, late = before.get(entity_id), after.get(entity_id)
        if early is None and late is not None:
            own = late.model_copy(update={"aliases": [alias for alias in late.aliases if alias.alias not in masked]})
            bearers[entity_id] = _Bearer(entity=own, known_names=[])
        elif early is not None:
            fresh = [name for name in late.names() if name not in masked] if late is not None else []
            entity = _with_names(early, late, fresh) if late is not None else early
            bearers[entity_id] = _Bearer(entity=entity, known_names=early.names())
    return bearers


def _with_names(early: Entity, late: Entity, names: Iterable[str]) -> Entity:
    """Return an entity as it was known, with names that it has later and their translations."""
    fresh = [name for name in names if name not in early.names()]
    aliases = {alias.alias: alias for alias in late.aliases}
    by_alias = late.profile.get(ALIAS_TRANSLATIONS)
    translated: dict[str, Any] = dict(by_alias) if isinstance(by_alias, Mapping) else {}
    if TRANSLATION in late.profile:
        translated[late.name] = late.profile[TRANSLATION]
    own = early.profile.get(ALIAS_TRANSLATIONS)
    new_translations = {name: translated[name] for name in fresh if name in translated}
    profile = {**early.profile, ALIAS_TRANSLATIONS: {**new_translations, **(own if isinstance(own, Mapping) else {})}}
    return early.model_copy(
        update={
            "aliases": [*early.aliases, *(aliases.get(name, EntityAlias(alias=name)) for name in fresh)],
            "profile": profile if new_translations else early.profile,
        }
    )


def _first_name(bearer: _Bearer, places: Sequence[Mention]) -> str:
    """Return the name under which an entity is listed."""
    shown_names = [*bearer.known_names[:1], *(one.name for one in places)]
    return bearer.entity.name if bearer.entity.name in shown_names else shown_names[0]


def _entry(
    bearer: _Bearer, places: Sequence[Mention], text: str, speakers: Mapping[str, str], *, into: str
) -> GlossaryEntry:
    entity, first = bearer.entity, _first_name(bearer, places)
    # In the characters of the text, which may be traditional where those of the card are simplified.
    spelled = {one.name: text[one.start : one.end] for one in reversed(places) if _is_other_script(one, text)}
    names = dict.fromkeys([first, *bearer.known_names, *(one.name for one in places)])
    return GlossaryEntry(
        entity_id=entity.entity_id,
        entity_type=entity.entity_type,
        name=spelled.get(first, first),
        translation=translation_of(entity, first, into=into),
        aliases=[_name(entity, name, spelled.get(name, name), speakers, into=into) for name in names if name != first],
        description=_note(entity),
    )


def _is_other_script(mention: Mention, text: str) -> bool:
    written_form = text[mention.start : mention.end]
    return written_form != mention.name and len(written_form) == len(mention.name) and not mention.name.isascii()


def _name(entity: Entity, name: str, spelled: str, speakers: Mapping[str, str], *, into: str) -> GlossaryName:
    alias = next((alias for alias in entity.aliases if alias.alias == name), None)
    speaker = (alias and alias.speaker) or ""
    if is_entity_id(speaker):
        # Who is neither known nor named in the text is not told to use it.
        speaker = speakers.get(speaker, "")
    return GlossaryName(
        name=spelled,
        translation=translation_of(entity, name, into=into),
        language=(alias and alias.language) or "",
        speaker=speaker,
    )


def _note(entity: Entity) -> str:
    """Return what a translator must know of an entity."""
    values = [entity.profile.get(field) for field in _NOTES]
    notes = [value.strip() for value in values if isinstance(value, str) and value.strip()]
    lines = [text for text in [entity.description or ("" if notes else entity.role), *notes] if text]
    return ("；" if any(map(has_cjk, lines)) else "; ").join(dict.fromkeys(lines))
