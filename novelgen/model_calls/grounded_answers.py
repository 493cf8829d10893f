"""Whether what a model wrote says no more than what it was shown."""

from __future__ import annotations

from collections.abc import Sequence

from novelgen.model_calls.parsing import UnusableAnswerError
from novelgen.names.matching import NameFinder
from novelgen.text.significant import significant_words

SHARED_SHARE = 1 / 3
"""At least this share of the answer's words stands in what was shown."""


def require_grounded(text: str, *, shown: str, names: Sequence[str]) -> None:
    """Refuse a text that names or tells what was not shown.

    Args:
        text: What the model wrote.
        shown: What it was shown.
        names: Every name that the story knows, later ones too: none may come in that was not shown.

    Raises:
        UnusableAnswerError: With fault "ungrounded".
    """
    finder = NameFinder(names)
    known = {match.name for match in finder.find(shown)}
    foreign = sorted({match.name for match in finder.find(text)} - known)
    if foreign:
        raise UnusableAnswerError("ungrounded", f"{foreign[0]!r} is not named in what was to be summed up")
    words = significant_words(text)
    if len(words & significant_words(shown)) < SHARED_SHARE * len(words):
        raise UnusableAnswerError("ungrounded", "the answer does not tell what was to be summed up")
