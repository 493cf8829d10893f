"""How a model is asked to answer in JSON, from the strictest way to the prompt alone."""

from __future__ import annotations

from typing import Any

from langchain_core.language_models import BaseChatModel
from pydantic import BaseModel

ResponseFormat = dict[str, Any]

STATUS_CODES_OF_A_REFUSED_FORMAT = frozenset({400, 404, 415, 422, 500, 501})
"""Answers of servers that may mean that they do not know a response format; llama-cpp-python says 500."""


def response_formats(model: BaseChatModel, schema: type[BaseModel]) -> list[ResponseFormat | None]:
    """Return the ways to ask a model for JSON, the strictest first; None is the prompt alone.

    Args:
        model: Any chat model. Those of the OpenAI-compatible clients take `response_format`; others are
            asked by prompt alone.
        schema: What the answer must fit.
    """
    if "openai_api_base" not in type(model).model_fields:
        return [None]
    json_schema = {"name": schema.__name__, "schema": strict_schema(schema), "strict": True}
    return [{"type": "json_schema", "json_schema": json_schema}, {"type": "json_object"}, None]


def strict_schema(schema: type[BaseModel]) -> dict[str, Any]:
    """Return the JSON schema of a model in the strict form that OpenAI documents.

    Every property is required, none is added, none has a default; counts stay bounded by maxItems.
    """
    return _strict(schema.model_json_schema())


def _strict(node: Any) -> Any:
    if isinstance(node, list):
        return [_strict(item) for item in node]
    if not isinstance(node, dict):
        return node
    strict = {key: _strict(value) for key, value in node.items() if key not in ("default", "title")}
    if "properties" in strict:
        strict |= {"required": list(strict["properties"]), "additionalProperties": False}
    return strict
