"""Which entities, and which of their names, the story has introduced before a position."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from novelgen.models.entity import Entity, EntityAlias, profile_with_names
from novelgen.models.position import END_OF_STORY, StoryPosition, story_place
from runtime.storage.records import StoredEntity

FirstMentions = Mapping[tuple[str, str], tuple[int, int]]
"""(entity_id, name) to the first scene of the stored text that holds the name, as (chapter, scene)."""


class Introduction(NamedTuple):
    """Where something first stands in the story, as far as it is known; None, None: from the start."""

    chapter_index: int | None
    scene_index: int | None


def entity_as_of(
    stored: StoredEntity, mentions: FirstMentions, author_aliases: frozenset[str], as_of: StoryPosition
) -> Entity | None:
    """Return an entity as the story had shown it before a position, or None when it had not.

    An entity counts from its explicit position, else from the first scene that mentions it, else always. Of
    its names only those are shown that were introduced by then; a display name that occurs later gives way to
    the earliest alias, and where there is none, to the entity's id: a name must not tell what is to come.
    Role, description and profile are shown when an author wrote them; how a shown name is translated
    always is. After the end of the story everything is told.

    Args:
        stored: The entity whole.
        mentions: First mentions of its names in all stored text.
        author_aliases: Those of its aliases that an author wrote; they count although no text has them.
        as_of: Position of the read.
    """
    entity = stored.entity
    first = first_appearance(entity, mentions)
    if not as_of.admits(*first):
        return None
    own_name = _introduction_of_name(entity, first, mentions)
    is_over = as_of == END_OF_STORY
    is_told = is_over or stored.origin == "author"
    if is_over:
        author_aliases = frozenset(entity.names())
    aliases = _introduced_aliases(entity, first, mentions, author_aliases, as_of)
    name = entity.name
    if not as_of.admits(*own_name):
        name = aliases[0].alias if aliases else entity.entity_id
    shown_names = [name, *(alias.alias for alias in aliases)]
    return Entity(
        entity_id=entity.entity_id,
        entity_type=entity.entity_type,
        name=name,
        aliases=[alias for alias in aliases if alias.alias != name],
        role=entity.role if is_told else "",
        description=entity.description if is_told else "",
        profile=profile_with_names(entity, shown_names, is_told=is_told),
        first_chapter=first.chapter_index,
        first_scene=first.scene_index,
        name_first_chapter=own_name.chapter_index if name == entity.name else None,
        name_first_scene=own_name.scene_index if name == entity.name else None,
    )


def first_appearance(entity: Entity, mentions: FirstMentions) -> Introduction:
    """Return where the story first shows an entity: its explicit position, else its first mention."""
    if entity.first_chapter is not None:
        return Introduction(entity.first_chapter, entity.first_scene)
    places = [mentions[key] for name in entity.names() if (key := (entity.entity_id, name)) in mentions]
    return Introduction(*min(places)) if places else Introduction(None, None)


def _introduction_of_name(entity: Entity, first: Introduction, mentions: FirstMentions) -> Introduction:
    if entity.name_first_chapter is not None:
        return Introduction(entity.name_first_chapter, entity.name_first_scene)
    place = mentions.get((entity.entity_id, entity.name))
    return first if place is None else Introduction(*place)


def _introduced_aliases(
    entity: Entity,
    first: Introduction,
    mentions: FirstMentions,
    author_aliases: frozenset[str],
    as_of: StoryPosition,
) -> list[EntityAlias]:
    placed: list[tuple[Introduction, EntityAlias]] = []
    for alias in entity.aliases:
        place = mentions.get((entity.entity_id, alias.alias))
        if alias.first_chapter is not None:
            introduction = Introduction(alias.first_chapter, alias.first_scene)
        elif place is not None:
            introduction = Introduction(*place)
        elif alias.alias in author_aliases:
            introduction = first
        else:
            continue
        if as_of.admits(*introduction):
            placed.append((introduction, alias))
    placed.sort(key=lambda pair: story_place(pair[0]))
    return [
        alias.model_copy(update={"first_chapter": place.chapter_index, "first_scene": place.scene_index})
        for place, alias in placed
    ]
