"""Keys of an author's note: words at which it is read, kept among its tags as `key:…`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from novelgen.language.language import has_cjk
from novelgen.language.matching import NameFinder

KEY_TAG = "key:"


def keys_of(tags: Iterable[str]) -> list[str]:
    """Return the keys among tags."""
    return [each.removeprefix(KEY_TAG) for each in tags if each.startswith(KEY_TAG)]


def with_keys(tags: Iterable[str], keys: Iterable[str]) -> list[str]:
    """Return tags with keys among them, without repeats."""
    return list(dict.fromkeys([*tags, *(KEY_TAG + clean for each in keys if (clean := " ".join(each.split())))]))


def is_called(tags: Sequence[str], text: str) -> bool:
    """Tell whether one of the keys stands in a text: Chinese anywhere, other words whole, in any case."""
    keys = keys_of(tags)
    chinese = [each for each in keys if has_cjk(each)]
    latin = [each.casefold() for each in keys if not has_cjk(each)]
    return any(each in text for each in chinese) or bool(latin and NameFinder(latin).find(text.casefold()))
