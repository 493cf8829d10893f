"""Entities of a story: characters, locations, items, factions, terms."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, Field

EntityType = Literal["character", "location", "item", "faction", "term"]
ID_PREFIXES: dict[EntityType, str] = {
    "character": "C",
    "location": "L",
    "item": "I",
    "faction": "F",
    "term": "T",
}


class EntityAlias(BaseModel):
    """Another name of an entity, and from where on in the story it counts.

    A position of None means that the name counts from the entity's own first appearance.
    """

    alias: str = Field(min_length=1)
    language: str | None = None
    speaker: str | None = Field(default=None, description="Who uses it, where it depends on the speaker.")
    first_chapter: int | None = None
    first_scene: int | None = None


class Entity(BaseModel):
    """A person, place, thing, group or term that the story knows.

    `first_chapter` and `first_scene` say where the story first showed it; None means known from the start.
    """

    entity_id: str = Field(min_length=1)
    entity_type: EntityType
    name: str = Field(min_length=1)
    aliases: list[EntityAlias] = Field(default_factory=list)
    role: str = ""
    description: str = ""
    profile: dict[str, Any] = Field(default_factory=dict)
    first_chapter: int | None = None
    first_scene: int | None = None
    name_first_chapter: int | None = Field(
        default=None, description="Where the display name itself first occurs."
    )
    name_first_scene: int | None = None

    def names(self) -> list[str]:
        """Return the display name and every alias, without repeats, in that order."""
        return list(dict.fromkeys([self.name, *(alias.alias for alias in self.aliases)]))
