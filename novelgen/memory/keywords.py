"""Keys of an author's note: words at which it is read, kept among its tags as `key:…`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from novelgen.language.language import has_cjk
from novelgen.language.matching import NameFinder

KEY_TAG = "key:"

_WORD = re.compile(r"[^\W_]+")


def keys_of(tags: Iterable[str]) -> list[str]:
    """Return the keys among tags."""
    return [each.removeprefix(KEY_TAG) for each in tags if each.startswith(KEY_TAG)]


def with_keys(tags: Iterable[str], keys: Iterable[str]) -> list[str]:
    """Return tags with keys among them, without repeats."""
    return list(dict.fromkeys([*tags, *(KEY_TAG + clean for each in keys if (clean := " ".join(each.split())))]))


def is_called(tags: Sequence[str], text: str) -> bool:
    """Tell whether one of the keys stands in a text: Chinese anywhere, other words whole, in any case."""
    keys = keys_of(tags)
    if any(each in text for each in keys if has_cjk(each)):
        return True
    folded = text.casefold()
    # Of thousands of keys nearly none begins with a word of the text, and a finder for each would take its time.
    latin = [each.casefold() for each in keys if not has_cjk(each)]
    near = [each for each in latin if (word := _WORD.search(each)) and word.group() in folded]
    return bool(near and NameFinder(near).find(folded))
