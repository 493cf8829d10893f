"""Story data in prompts: one line per item, escaped, within a budget."""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Generic, TypeVar

from novelgen.language.language import StoryLanguage, estimate_tokens
from novelgen.language.normalise import is_description, scrub_text
from novelgen.models.entity import Entity
from novelgen.models.position import place_text

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


Item = TypeVar("Item")


@dataclass(frozen=True, slots=True)
class Listed(Generic[Item]):
    """The listed part of items: their lines, and the number without room."""

    items: list[Item]
    lines: list[str]
    left_out: int

    def text(self, language: StoryLanguage) -> str:
        """Return the lines as they stand in the prompt."""
        return "\n".join(self.lines) or NOTHING[language]


def listed(
    items: Iterable[Item], line_of: Callable[[Item], str], max_tokens: float, *, stops_at_first: bool = False
) -> Listed[Item]:
    """List the first items with fitting lines, skipping or stopping at long ones."""
    listed_items: list[Item] = []
    lines: list[str] = []
    left_out = used_tokens = 0
    for item in items:
        line = as_data(line_of(item))
        cost = line_tokens(line)
        if used_tokens + cost > max_tokens or (stops_at_first and left_out):
            left_out += 1
            continue
        used_tokens += cost
        listed_items.append(item)
        lines.append(line)
    return Listed(listed_items, lines, left_out)


def line_tokens(line: str) -> int:
    """Return the tokens of a line including its end."""
    return estimate_tokens(line) + 1


_PLACE: Mapping[StoryLanguage, str] = {"en": "chapter {chapter}, scene {scene}", "zh": "第{chapter}章第{scene}场"}


def place_in_words(chapter_index: int | None, scene_index: int | None, language: StoryLanguage) -> str:
    """Return where a scene stands, as prompts tell it."""
    return _PLACE[language].format(chapter=chapter_index, scene=scene_index)


def place_mark(chapter_index: int | None, scene_index: int | None) -> str:
    """Return a place as lists write it: 3:2, 3, or nothing."""
    return place_text(chapter_index, scene_index, always="")


def piped(*parts: str) -> str:
    """Return the line's columns, without empty ones."""
    return " | ".join(part for part in parts if part)
