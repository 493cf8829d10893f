"""Which fields a genre's cards have, as data: one TOML file per genre, with the names of its fields in both languages.

`plain` holds for every story; a genre adds to it. Authors write files of the same form. A field is kept under its `key`
where novelgen knows it by one, else under its name in the story's language: so it reads well wherever it is told.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from functools import cache
from importlib import resources
from typing import Any

from pydantic import ConfigDict, Field, ValidationError, model_validator

from novelgen.errors import InvalidFileError, UserInputError
from novelgen.models.base import Model
from novelgen.models.entity import EntityType
from novelgen.nearest import did_you_mean

PLAIN = "plain"
"""The template whose fields every card has."""

GENRES = (PLAIN, "xianxia", "mystery", "romance")


class CardField(Model):
    """One field of a card.

    `name` stands for both languages where a template is written in one.
    """

    model_config = ConfigDict(extra="forbid")

    key: str = Field(default="", description="Under which it is kept; empty: its name in the story's language.")
    name: str = ""
    en: str = ""
    zh: str = ""
    changes: bool = Field(default=False, description="It is an attribute of the state: it may change with the story.")
    many: bool = Field(default=False, description="A list of values.")
    card: EntityType | None = Field(default=None, description="Its value is the name of a card of this kind.")

    @model_validator(mode="after")
    def _has_a_name(self) -> CardField:
        if not any((self.key, self.name, self.en, self.zh)):
            raise ValueError("a field needs a name, or names in en and zh")
        return self

    def called(self, language: str) -> str:
        """Return its name in a language."""
        own, other = (self.zh, self.en) if language == "zh" else (self.en, self.zh)
        return own or self.name or self.key or other

    def kept_as(self, language: str) -> str:
        """Return under which name it is kept in a story of a language."""
        return self.key or self.called(language)

    @property
    def names(self) -> set[str]:
        """By what it is meant in either language, whatever the case."""
        return {each.casefold() for each in (self.key, self.name, self.en, self.zh) if each}


class CardTemplate(Model):
    """The fields that the cards of a genre have, by kind."""

    model_config = ConfigDict(extra="forbid")

    title: str = ""
    en: str = ""
    zh: str = ""
    character: list[CardField] = Field(default_factory=list)
    location: list[CardField] = Field(default_factory=list)
    item: list[CardField] = Field(default_factory=list)
    faction: list[CardField] = Field(default_factory=list)
    term: list[CardField] = Field(default_factory=list)

    def called(self, language: str) -> str:
        """Return the name of the genre in a language."""
        own, other = (self.zh, self.en) if language == "zh" else (self.en, self.zh)
        return own or self.title or other

    def titles(self) -> list[str]:
        """Return by what it is called in either language."""
        return [each for each in (self.title, self.en, self.zh) if each]

    def fields(self, kind: EntityType) -> list[CardField]:
        """Return the fields of a kind of card."""
        listed: list[CardField] = getattr(self, kind)
        return listed

    def with_fields_of(self, other: CardTemplate) -> CardTemplate:
        """Return both together; a field of the other takes the place of one of the same name."""
        kinds: dict[str, Any] = {
            kind: [
                *(each for each in self.fields(kind) if not any(each.names & one.names for one in other.fields(kind))),
                *other.fields(kind),
            ]
            for kind in KINDS
        }
        return self.model_copy(update={**kinds, "title": other.title, "en": other.en, "zh": other.zh})


KINDS: tuple[EntityType, ...] = ("character", "location", "item", "faction", "term")


def read_card_template(text: str, *, where: str) -> CardTemplate:
    """Read a template."""
    try:
        return CardTemplate.model_validate(tomllib.loads(text))
    except tomllib.TOMLDecodeError as error:
        raise InvalidFileError(f"{where} is no TOML: {error}; compare it with docs/cards.md") from error
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        place = ".".join(str(part) for part in first["loc"])
        raise InvalidFileError(
            f"{where}: {place} cannot be {first.get('input')!r}: {first['msg']}; kinds are {', '.join(KINDS)}, and a"
            f" field has some of {', '.join(CardField.model_fields)}"
        ) from error


@cache
def shipped_templates() -> Mapping[str, CardTemplate]:
    """Return the templates that come with novelgen, by name."""
    folder = resources.files(__name__)
    return {
        name: read_card_template(folder.joinpath(f"{name}.toml").read_text(encoding="utf-8"), where=f"{name}.toml")
        for name in GENRES
    }


def template_of(name: str, templates: Mapping[str, CardTemplate]) -> CardTemplate:
    """Return the fields of every card with those of a genre."""
    plain = templates[PLAIN]
    if not name or name == PLAIN:
        return plain
    found = templates.get(name) or next((each for each in templates.values() if name in each.titles()), None)
    if found is None:
        raise UserInputError(
            f"no card template {name!r}{did_you_mean(name, templates)}; there are {', '.join(templates)}"
        )
    return plain.with_fields_of(found)


def said_under_kept_names(said: Mapping[str, Any], fields: Sequence[CardField], *, language: str) -> dict[str, Any]:
    """Return what is said of a card by the names under which it is kept; a list where a field has many values."""
    kept: dict[str, Any] = {}
    for name, value in said.items():
        field = next((each for each in fields if name.casefold() in each.names), None)
        if field is not None and field.many and isinstance(value, str):
            value = [part.strip() for part in re.split("[、，,；;\n]", value) if part.strip()]
        kept[name if field is None else field.kept_as(language)] = value
    return kept
