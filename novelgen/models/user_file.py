"""Authors' files: characters, settings and parts, with extra fields."""

import logging
from contextvars import ContextVar
from itertools import pairwise
from typing import Annotated, Any, Self

from pydantic import AfterValidator, ConfigDict, Field, GetJsonSchemaHandler, ModelWrapValidatorHandler, model_validator
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema

from novelgen.models.base import Model
from novelgen.models.position import ChapterIndex

logger = logging.getLogger(__name__)
_unknown_fields: ContextVar[list[str] | None] = ContextVar("unknown_fields", default=None)


class UserFileModel(Model):
    """A model whose files may have unknown fields.

    Unknown fields are kept under `extra`; one warning names all of a file, nested ones included.
    Wrong types raise pydantic's ValidationError, which names the field and the value.
    """

    model_config = ConfigDict(extra="forbid", str_strip_whitespace=False)

    extra: dict[str, Any] = Field(default_factory=dict, description="Fields that this model does not know.")

    @classmethod
    def __get_pydantic_json_schema__(cls, schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        """Drop `extra` from the schema, so that models invent no fields."""
        fields = handler(schema)
        whole = handler.resolve_ref_schema(fields)
        if handler.mode == "validation":
            whole.get("properties", {}).pop("extra", None)
        return fields

    @model_validator(mode="wrap")
    @classmethod
    def _keep_unknown_fields(cls, data: Any, handler: ModelWrapValidatorHandler[Self]) -> Self:
        if not isinstance(data, dict):
            return handler(data)
        collected = _unknown_fields.get()
        if collected is not None:
            return handler(cls._moved_to_extra(data, collected))
        outermost: list[str] = []
        token = _unknown_fields.set(outermost)
        try:
            model = handler(cls._moved_to_extra(data, outermost))
        finally:
            _unknown_fields.reset(token)
        if outermost:
            names = ", ".join(dict.fromkeys(outermost))
            logger.warning("unknown fields kept under 'extra': %s", names)
        return model

    @classmethod
    def _moved_to_extra(cls, data: dict[str, Any], collected: list[str]) -> dict[str, Any]:
        known_fields_by_id = cls.model_fields
        unknown_names = [name for name in data if name not in known_fields_by_id]
        if not unknown_names:
            return data
        collected.extend(f"{cls.__name__}.{name}" for name in unknown_names)
        own_fields = {name: value for name, value in data.items() if name in known_fields_by_id}
        extra = own_fields.get("extra") or {}
        return {**own_fields, "extra": {**extra, **{name: data[name] for name in unknown_names}}}


class Character(UserFileModel):
    """One character's card."""

    name: str = Field(min_length=1)
    role: str = Field(default="", description="protagonist, antagonist, supporting, or in the author's words.")
    age: int | str | None = None
    gender: str | None = None
    appearance: str = ""
    personality: str = ""
    background: str = ""
    motivation: str = ""
    abilities: list[str] | None = None
    relationships: dict[str, str] | None = Field(default=None, description="Other character's name to text.")
    aliases: list[str] = Field(default_factory=list)


class CharactersConfig(UserFileModel):
    """All characters of a project."""

    protagonist: Character | None = None
    antagonist: Character | None = None
    supporting_characters: list[Character] = Field(default_factory=list)

    def everyone(self) -> list[Character]:
        """Return all characters: protagonist, antagonist, then the supporting ones in order."""
        leads = [character for character in (self.protagonist, self.antagonist) if character is not None]
        return leads + self.supporting_characters


class StoryPart(UserFileModel):
    """A part as the author says it, from its first to its last chapter."""

    title: str = ""
    first_chapter: ChapterIndex
    last_chapter: ChapterIndex = Field(description="Belongs to the part.")

    @model_validator(mode="after")
    def _ends_after_its_beginning(self) -> Self:
        if self.last_chapter < self.first_chapter:
            raise ValueError(f"last_chapter {self.last_chapter!r} lies before first_chapter {self.first_chapter!r}")
        return self


def _in_order(parts: list[StoryPart]) -> list[StoryPart]:
    for earlier, later in pairwise(parts):
        if later.first_chapter <= earlier.last_chapter:
            raise ValueError(
                f"a part that begins with chapter {later.first_chapter!r} follows one that ends with chapter "
                f"{earlier.last_chapter!r}; write the parts in order, no chapter in two of them"
            )
    return parts


StoryParts = Annotated[list[StoryPart], AfterValidator(_in_order)]
"""Parts in order, no chapter in two of them."""


class Settings(UserFileModel):
    """The settings of a story (not of the program): title, language, world, theme."""

    project_name: str = ""
    author: str = ""
    language: str = ""
    genre: str = ""
    world_description: str = ""
    theme_description: str = ""
    parts: StoryParts = Field(
        default_factory=list, description="Without any, parts are as long as the program's settings say."
    )
