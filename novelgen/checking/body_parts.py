"""Parts of a body in texts."""

import re

from novelgen.language.language import patterns

_PARTS = {name: re.compile(words, re.IGNORECASE) for name, words in patterns("body_parts").items()}
"""Parts of a body: what the story says of one may be in quite other words than the draft's."""


def body_parts(text: str) -> frozenset[str]:
    """Return the parts of a body that a text names."""
    return frozenset(name for name, pattern in _PARTS.items() if pattern.search(text))
