"""Lists of names that people write in one text, between commas of any script, semicolons or on lines."""

import re
from collections.abc import Iterable, Sequence

from novelgen.language.normalise import name_key
from novelgen.models.entity import Entity

_BETWEEN_NAMES = re.compile(r"[(（\[【][^)）\]】]*[)）\]】]|(?P<border>[,，、;；\n])")
"""What separates names; a comma in a remark in brackets separates none."""


def holds_several(text: str) -> bool:
    """Return whether a text looks like several names."""
    return any(match["border"] for match in _BETWEEN_NAMES.finditer(text))


def split_names(texts: Iterable[str], entities: Sequence[Entity] = ()) -> list[str]:
    """Return the single names of texts with one or several names."""
    names = []
    known_keys: set[str] | None = None
    for text in texts:
        ends = [match.end() for match in _BETWEEN_NAMES.finditer(text) if match["border"]]
        borders = [0, *ends, len(text) + 1]
        if len(borders) > 2 and known_keys is None:
            known_keys = {name_key(name) for entity in entities for name in entity.names()}
        first = 0
        while first < len(borders) - 1:
            # The longest run of parts that is a known name, else the first part alone.
            last = len(borders) - 1
            while last > first + 1 and name_key(text[borders[first] : borders[last] - 1]) not in (known_keys or ()):
                last -= 1
            names.append(text[borders[first] : borders[last] - 1].strip())
            first = last
    return [name for name in names if name]
