"""The base of models that commands load at their start, and a walk through the texts of a model."""

from collections.abc import Callable
from typing import Any

from pydantic import BaseModel, ConfigDict


class Model(BaseModel):
    """A model whose validator is built at its first use: a command loads two hundred models and uses twenty.

    Models that are loaded only where they are used gain nothing by it and are Pydantic's own.
    """

    model_config = ConfigDict(defer_build=True)


def with_texts(value: Any, changed: Callable[[str, str], str], *, field: str = "") -> Any:
    """Return a model with each text transformed, including nested ones."""
    if isinstance(value, BaseModel):
        fields = {name: with_texts(getattr(value, name), changed, field=name) for name in value.model_fields_set}
        return value.model_copy(update=fields)
    if isinstance(value, list):
        return [with_texts(item, changed, field=field) for item in value]
    return changed(field, value) if isinstance(value, str) else value
