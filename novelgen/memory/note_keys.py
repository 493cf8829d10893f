"""Keys of notes: words of a text that call a note into a context."""

import re
from collections.abc import Iterable, Sequence

from novelgen.language.language import has_cjk
from novelgen.language.matching import NameFinder

KEY_TAG = "key:"
_WORD = re.compile(r"[^\W_]+")


def keys_of(tags: Iterable[str]) -> list[str]:
    """Return the keys among tags."""
    return [tag.removeprefix(KEY_TAG) for tag in tags if tag.startswith(KEY_TAG)]


def with_keys(tags: Iterable[str], keys: Iterable[str]) -> list[str]:
    """Return tags with keys among them, without repeats."""
    return list(dict.fromkeys([*tags, *(KEY_TAG + clean for key in keys if (clean := " ".join(key.split())))]))


def is_called(tags: Sequence[str], text: str) -> bool:
    """Return whether a text holds one of the keys among tags, in any case.

    A key of a script without blanks between words, or of symbols, counts anywhere; others count as whole words.
    """
    folded_text = text.casefold()
    keys = [key.casefold() for key in keys_of(tags)]
    if any(key in folded_text for key in keys if _counts_anywhere(key)):
        return True
    # Of thousands of keys nearly none begins with a word of the text, and a finder for each would take its time.
    spaced = [key for key in keys if not _counts_anywhere(key)]
    near = [key for key in spaced if (word := _WORD.search(key)) and word.group() in folded_text]
    return bool(near and NameFinder(near).find(folded_text))


_UNSPACED = re.compile(
    r"[\u0e00-\u0eff\u1000-\u109f\u1100-\u11ff\u1780-\u17ff\u3040-\u30ff\u3130-\u318f\u31f0-\u31ff\uac00-\ud7af\uff66-\uff9f]"
)
"""Thai, Lao, Burmese, Hangul, Khmer and kana: words are written together, or with endings."""


def _counts_anywhere(key: str) -> bool:
    return has_cjk(key) or _UNSPACED.search(key) is not None or _WORD.search(key) is None
