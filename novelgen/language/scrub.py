"""Cleaning text and bounding data at the border, so that the same story is the same text everywhere."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from novelgen.errors import UserInputError

SCENE_CHARACTER_LIMIT = 2_000_000

_LINE_ENDS = re.compile("\r\n?|\u0085|\u2028|\u2029")

_UNWANTED = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f"  # control characters but tab and line feed
    "\ud800-\udfff"  # lone surrogates
    "\u200e\u200f\u061c\u202a-\u202e\u2066-\u2069"  # direction marks, which can make text read otherwise
    "\ufeff\ufffe\uffff]"  # byte order marks and non-characters
)


def scrub_text(text: str) -> str:
    """Clean a text that comes from outside.

    Line ends become "\\n"; control characters but tab and line feed, lone surrogates, direction marks and
    byte order marks go. Scrubbing twice changes nothing more.
    """
    return _UNWANTED.sub("", _LINE_ENDS.sub("\n", text))


def scrub_tree(value: Any) -> Any:
    """Clean every text of plain data, as a JSON file holds it."""
    if isinstance(value, str):
        return scrub_text(value)
    if isinstance(value, Mapping):
        return {scrub_tree(key): scrub_tree(each) for key, each in value.items()}
    if isinstance(value, list):
        return [scrub_tree(each) for each in value]
    return value


def texts_within(value: Any) -> Iterator[str]:
    """Yield every text of plain data, in its order."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping | list | tuple):
        for each in value.values() if isinstance(value, Mapping) else value:
            yield from texts_within(each)


def require_size(text: str, what: str, *, limit_characters: int = SCENE_CHARACTER_LIMIT) -> None:
    """Refuse a text that is too long to be taken in."""
    if len(text) > limit_characters:
        raise UserInputError(
            f"{what} has {len(text):,} characters, more than the limit of {limit_characters:,}; split it"
        )


DEEPEST = 100
"""Levels to which what comes in may nest: what is stored is shown, exported and imported again."""


def is_deeper(value: Any, *, than: int) -> bool:
    """Tell whether lists and mappings nest deeper than so many levels; takes no stack."""
    level = [value]
    for _ in range(than):
        level = [
            child
            for item in level
            if isinstance(item, dict | list)
            for child in (item.values() if isinstance(item, dict) else item)
        ]
    return any(isinstance(item, dict | list) for item in level)
