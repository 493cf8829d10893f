"""An entity as users write it down, with plain or detailed aliases."""

from __future__ import annotations

from typing import Any

from pydantic import Field, field_validator

from novelgen.models.entity import Entity, EntityAlias, EntityType
from novelgen.models.entity import ALIAS_TRANSLATIONS, TRANSLATION
from novelgen.models.user_file import UserFileModel


class AliasEntry(UserFileModel):
    """An alias with what is known of it; a plain string in the file stands for its name alone."""

    alias: str = Field(min_length=1)
    language: str | None = None
    speaker: str | None = None
    translation: str | dict[str, Any] = Field(default="", description="Kept in the entity's profile.")
    first_chapter: int | None = Field(default=None, ge=0)
    first_scene: int | None = Field(default=None, ge=0)


class EntityEntry(UserFileModel):
    """One entity of a file; fields that it does not know become part of the entity's profile."""

    entity_id: str = Field(min_length=1)
    entity_type: EntityType
    name: str = Field(min_length=1)
    aliases: list[AliasEntry] = Field(default_factory=list)
    role: str = ""
    description: str = ""
    translation: str | dict[str, Any] = Field(default="", description="Kept in the profile.")
    profile: dict[str, Any] = Field(default_factory=dict)
    first_chapter: int | None = Field(default=None, ge=0)
    first_scene: int | None = Field(default=None, ge=0)
    name_first_chapter: int | None = Field(default=None, ge=0)
    name_first_scene: int | None = Field(default=None, ge=0)

    @field_validator("aliases", mode="before")
    @classmethod
    def _plain_aliases(cls, value: Any) -> Any:
        if not isinstance(value, list):
            return value
        return [{"alias": each} if isinstance(each, str) else each for each in value]

    def entity(self) -> Entity:
        """Return the entity."""
        known = self.model_dump(exclude={"extra", "aliases", "profile", "translation"})
        return Entity(
            **known,
            aliases=[
                EntityAlias(**each.model_dump(exclude={"extra", "translation"})) for each in self.aliases
            ],
            profile={**self._translations(), **self.extra, **self.profile},
        )

    def _translations(self) -> dict[str, Any]:
        by_alias = {each.alias: each.translation for each in self.aliases if each.translation}
        told = {TRANSLATION: self.translation, ALIAS_TRANSLATIONS: by_alias}
        return {name: value for name, value in told.items() if value}
