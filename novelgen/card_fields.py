"""Fields of cards by kind, with their names in both languages: `card_fields.toml`.

A field is kept under its `key`, whatever the language in which it was typed.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from pydantic import ConfigDict, Field, TypeAdapter

from novelgen.models.base import Model
from novelgen.models.entity import EntityType

NAME_WORDS = frozenset({"alias", "aliases", "nickname", "nicknames", "别名", "化名", "外号", "绰号"})
"""Words for the other names of a card, which are no field of their own."""

KINDS: tuple[EntityType, ...] = ("character", "location", "item", "faction", "term")


class CardField(Model):
    """One field of a card."""

    model_config = ConfigDict(extra="forbid")

    key: str = Field(description="Under which it is kept.")
    en: str
    zh: str
    also: list[str] = Field(default_factory=list, description="Further names by which people mean it.")
    changes: bool = Field(default=False, description="It is an attribute of the state: it may change with the story.")
    many: bool = Field(default=False, description="A list of values.")
    card: EntityType | None = Field(default=None, description="Its value is the name of a card of this kind.")

    def called(self, language: str) -> str:
        """Return its name in a language."""
        return self.zh if language == "zh" else self.en

    @property
    def names(self) -> set[str]:
        """Names by which it is meant, case-folded."""
        return {name.casefold() for name in (self.key, self.en, self.zh, *self.also)}


@cache
def fields_by_kind() -> Mapping[EntityType, Sequence[CardField]]:
    """Return the fields of every kind of card."""
    text = Path(__file__).with_suffix(".toml").read_text(encoding="utf-8")
    return TypeAdapter(dict[EntityType, list[CardField]]).validate_python(tomllib.loads(text))


def card_fields(kind: EntityType) -> Sequence[CardField]:
    """Return the fields of a kind of card."""
    return fields_by_kind().get(kind, ())


def under_keys(values: Mapping[str, Any], fields: Sequence[CardField]) -> dict[str, Any]:
    """Return values by field keys.

    A text becomes a list where a field has many values.
    """
    fields_by_key: dict[str, Any] = {}
    for name, value in values.items():
        field = next((field for field in fields if name.casefold() in field.names), None)
        if field is not None and field.many and isinstance(value, str):
            value = [part.strip() for part in re.split("[、，,；;\n]", value) if part.strip()]
        fields_by_key[name if field is None else field.key] = value
    return fields_by_key
