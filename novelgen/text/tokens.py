"""What a text costs in a prompt."""

from __future__ import annotations

from collections.abc import Callable

from novelgen.text.cjk import count_cjk

TokenCounter = Callable[[str], int]
"""Counts the tokens of a text; a model's own tokenizer comes from `runtime`."""

OTHER_CHARACTERS_PER_TOKEN = 4


def estimate_tokens(text: str) -> int:
    """Estimate the tokens of a text without a tokenizer.

    One token per Chinese character and one per four other characters, rounded up for the whole text, so
    that a sum of estimates never undercounts.

    Args:
        text: Any text; an empty one costs nothing.

    Returns:
        Tokens, at least 0.
    """
    chinese = count_cjk(text)
    return chinese + -(-(len(text) - chinese) // OTHER_CHARACTERS_PER_TOKEN)
