"""What the shapes of models' answers are made of: bounded texts, and parts in which null says nothing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, ConfigDict, GetCoreSchemaHandler, GetJsonSchemaHandler, model_validator
from pydantic_core.core_schema import CoreSchema, no_info_before_validator_function

MAX_TEXT_CHARACTERS = 1000

Text = Annotated[str, AfterValidator(lambda value: " ".join(value.split())[:MAX_TEXT_CHARACTERS])]
Texts = Annotated[list[Text], AfterValidator(lambda texts: [text for text in texts if text])]


@dataclass(frozen=True, slots=True)
class AtMost:
    """Cuts a list off after so many items, and tells the bound in the schema."""

    limit: int

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return no_info_before_validator_function(
            lambda value: value[: self.limit] if isinstance(value, list) else value, handler(source)
        )

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        return {**handler(schema), "maxItems": self.limit}


def within(lowest: float, highest: float) -> AfterValidator:
    """Bring a number within bounds."""
    return AfterValidator(lambda value: max(lowest, min(highest, value)))


def _drop_titles(schema: dict[str, Any]) -> None:
    """Take pydantic's titles, which repeat the names, out of a schema that every prompt has to carry."""
    schema.pop("title", None)
    for shape in schema.get("properties", {}).values():
        shape.pop("title", None)


class ModelPart(BaseModel):
    """A part of the model's answer; null stands for what is not said."""

    model_config = ConfigDict(json_schema_extra=_drop_titles)

    @model_validator(mode="before")
    @classmethod
    def _drop_nulls(cls, given: Any) -> Any:
        return {key: value for key, value in given.items() if value is not None} if isinstance(given, dict) else given
