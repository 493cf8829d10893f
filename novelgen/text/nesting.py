"""How deep data nests."""

from __future__ import annotations

from typing import Any


def is_deeper(value: Any, *, than: int) -> bool:
    """Tell whether lists and mappings nest deeper than so many levels; takes no stack.

    Args:
        value: Plain data, as JSON holds it.
        than: Levels that are allowed; a number or text has none.
    """
    level = [value]
    for _ in range(than):
        level = [
            child
            for item in level
            if isinstance(item, dict | list)
            for child in (item.values() if isinstance(item, dict) else item)
        ]
    return any(isinstance(item, dict | list) for item in level)
