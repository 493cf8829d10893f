"""The author's characters as entities of the story."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from novelgen.models.entity import Entity, EntityAlias
from novelgen.models.user_file import Character, CharactersConfig
from novelgen.names.normalise import name_key

_PROFILE_FIELDS = (
    "age",
    "gender",
    "appearance",
    "personality",
    "background",
    "motivation",
    "abilities",
    "relationships",
)


def entities_of_characters(
    characters: CharactersConfig, *, known: Sequence[Entity], take_id: Callable[[], str]
) -> list[Entity]:
    """Return the entities of an author's characters, holding what the author wrote and nothing else.

    Args:
        characters: The characters; they have no ids of their own.
        known: Entities of the project. A character is one of them by display name, else by an alias that
            only one of them has; id, display name and first appearance are then taken from there.
        take_id: Gives out the next character id.

    Returns:
        One entity per character, in order; the profile holds what the author filled in.
    """
    return [
        _entity(character, _known_bearer(character.name, known), take_id)
        for character in characters.everyone()
    ]


def _known_bearer(name: str, known: Sequence[Entity]) -> Entity | None:
    people = [entity for entity in known if entity.entity_type == "character"]
    by_name = [each for each in people if name_key(each.name) == name_key(name)]
    by_alias = [each for each in people if name_key(name) in map(name_key, each.names())]
    return next((found[0] for found in (by_name, by_alias) if len(found) == 1), None)


def _entity(character: Character, known: Entity | None, take_id: Callable[[], str]) -> Entity:
    base = known or Entity(entity_id=take_id(), entity_type="character", name=character.name)
    names = dict.fromkeys(name for name in [character.name, *character.aliases] if name and name != base.name)
    return base.model_copy(
        update={
            "aliases": [EntityAlias(alias=name) for name in names],
            "role": character.role,
            "description": character.background or character.personality,
            "profile": _profile(character),
        }
    )


def _profile(character: Character) -> dict[str, Any]:
    filled = {name: getattr(character, name) for name in _PROFILE_FIELDS}
    return {
        **character.extra,
        **{name: value for name, value in filled.items() if value not in (None, "", [], {})},
    }
