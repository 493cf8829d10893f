"""The commented config.yaml of a new project, written from the settings themselves."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from runtime.settings import NovelgenSettings

_NOT_IN_THE_FILE = frozenset({"projects_dir", "model_api_key", "chroma_token", "chroma_headers"})
"""The folder is known before the file is read, and keys do not belong into a project's files."""

_HEADER = """\
# Settings of this project. Every line is a default: take the "# " away to change it.
# The environment wins over this file: NOVELGEN_MODEL, NOVELGEN_MEMORY__MEMORY_BUDGET and so on.
# The key of a model belongs into the environment: NOVELGEN_MODEL_API_KEY, or the provider's own variable.
# So do those of a Chroma server: NOVELGEN_CHROMA_TOKEN, or NOVELGEN_CHROMA_HEADERS='{"X-Chroma-Token": "…"}'.
"""


def config_template() -> str:
    """Return the text of a config.yaml in which every setting stands, commented out, with its default."""
    return _HEADER + "\n" + "\n".join(_lines(NovelgenSettings, indent="")) + "\n"


def _lines(model: type[BaseModel], *, indent: str) -> Iterator[str]:
    for name, field in model.model_fields.items():
        if name in _NOT_IN_THE_FILE:
            continue
        if isinstance(field.default, BaseModel):
            yield f"# {indent}{name}:"
            yield from _lines(type(field.default), indent=indent + "  ")
        else:
            yield f"# {indent}{name}: {_yaml_value(field.default)}{_remark(field)}"


def _yaml_value(value: Any) -> str:
    """JSON is YAML."""
    return json.dumps(sorted(value) if isinstance(value, frozenset) else value)


def _remark(field: FieldInfo) -> str:
    return f"  # {field.description}" if field.description else ""
