"""Story data as it stands in a prompt: on one line each, and unable to pass for anything else."""

from __future__ import annotations

import re

from novelgen.language.language import StoryLanguage
from novelgen.language.normalise import is_description
from novelgen.language.scrub import scrub_text
from novelgen.models.entity import Entity

MAX_NAMES_PER_ENTITY = 6
NOTHING: dict[StoryLanguage, str] = {"en": "(none)", "zh": "（无）"}
"""Stands where a list of the prompt is empty."""

_FENCE = re.compile(r"={4,}")
_CHAT_MARKER = re.compile(r"<(?=\|)|(?<=\|)>")


def telling_names(entity: Entity, text: str = "", *, limit: int = MAX_NAMES_PER_ENTITY) -> list[str]:
    """Return the names by which an entity is likeliest to be known in a text."""
    own, *others = entity.names()
    others.sort(key=lambda name: (name not in text, is_description(name)))
    return [own, *others][:limit]


def as_data(text: str) -> str:
    """Return a text on one line that cannot forge the prompt's dividing lines or a model's chat markers."""
    return as_data_lines(" ".join(text.split()))


def as_data_lines(text: str) -> str:
    """Return a text line by line that cannot forge the prompt's dividing lines or a model's chat markers."""
    return _CHAT_MARKER.sub(" ", _FENCE.sub("===", scrub_text(text)))
