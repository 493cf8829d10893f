"""Base of the models that are read from users' files."""

from __future__ import annotations

import logging
from contextvars import ContextVar
from typing import Any, Self

from pydantic import BaseModel, ConfigDict, Field, ModelWrapValidatorHandler, model_validator

logger = logging.getLogger(__name__)

_unknown_fields: ContextVar[list[str] | None] = ContextVar("unknown_fields", default=None)


class UserFileModel(BaseModel):
    """A model whose files may hold more fields than it knows.

    Unknown fields are kept under `extra`; one warning names all of a file, nested ones included.
    Wrong types raise pydantic's ValidationError, which names the field and the value.
    """

    model_config = ConfigDict(extra="forbid", str_strip_whitespace=False)

    extra: dict[str, Any] = Field(default_factory=dict, description="Fields that this model does not know.")

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
        unknown = [name for name in data if name not in cls.model_fields]
        if not unknown:
            return data
        collected.extend(f"{cls.__name__}.{name}" for name in unknown)
        kept = {name: value for name, value in data.items() if name in cls.model_fields}
        extra = kept.get("extra") or {}
        return {**kept, "extra": {**extra, **{name: data[name] for name in unknown}}}
