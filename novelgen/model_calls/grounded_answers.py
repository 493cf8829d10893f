"""Whether what a model wrote is whole, and says no more than what it was shown."""

from __future__ import annotations

from collections.abc import Sequence

from novelgen.model_calls.parsing import UnusableAnswerError
from novelgen.names.matching import NameFinder
from novelgen.text.sentences import SENTENCE_ENDS
from novelgen.text.significant import significant_words
from novelgen.text.tokens import estimate_tokens

SHARED_SHARE = 1 / 3
"""At least this share of the answer's words stands in what was shown."""


def whole_sentences(text: str, *, field: str, max_tokens: int) -> str:
    """Return what a model wrote on one line, or refuse it.

    Args:
        text: What the model wrote.
        field: Where in the answer it stands; the message names it.
        max_tokens: Bound, in estimated tokens.

    Raises:
        UnusableAnswerError: With fault "empty", or "schema" when it is too long or broken off.
    """
    line = " ".join(text.split())
    if not line:
        raise UnusableAnswerError("empty", f"{field} is empty")
    if estimate_tokens(line) > max_tokens:
        raise UnusableAnswerError("schema", f"{field} is longer than {max_tokens} tokens")
    if line[-1] not in SENTENCE_ENDS:
        raise UnusableAnswerError("schema", f"{field} does not end with a whole sentence: {line[-20:]!r}")
    return line


def require_grounded(text: str, *, shown: str, names: Sequence[str]) -> None:
    """Refuse a text that names or tells what was not shown.

    Args:
        text: What the model wrote.
        shown: What it was shown.
        names: Every name that the story knows, later ones too: none may come in that was not shown. A name that
            stands within a shown one, such as 悟空 in 孙悟空, was shown.

    Raises:
        UnusableAnswerError: With fault "ungrounded".
    """
    for name in sorted({match.name for match in NameFinder(names).find(text)}):
        if not NameFinder([name]).find(shown):
            raise UnusableAnswerError("ungrounded", f"{name!r} is not named in what was to be summed up")
    words = significant_words(text)
    if len(words & significant_words(shown)) < SHARED_SHARE * len(words):
        raise UnusableAnswerError("ungrounded", "the answer does not tell what was to be summed up")
