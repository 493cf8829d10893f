"""What the shapes of models' answers are made of: bounded texts, and parts in which null says nothing."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, model_validator

MAX_TEXT_CHARACTERS = 1000

Text = Annotated[str, AfterValidator(lambda value: " ".join(value.split())[:MAX_TEXT_CHARACTERS])]
Texts = Annotated[list[Text], AfterValidator(lambda texts: [text for text in texts if text])]


def at_most(limit: int) -> BeforeValidator:
    """Cut a list off after so many items."""
    return BeforeValidator(lambda value: value[:limit] if isinstance(value, list) else value)


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
