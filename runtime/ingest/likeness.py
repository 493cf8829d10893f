"""Likeness of two texts: whether one is the other after an edit."""

import re

MIN_LIKENESS = 0.3
"""Share of sentences that a text keeps in an edit, from which on it counts as the same one."""

_ENDS = re.compile(r"[。！？；!?.…;\n]+")


def sentences_of(text: str) -> frozenset[str]:
    """Return the sentences of a text, each once."""
    return frozenset(filter(None, (sentence.strip() for sentence in _ENDS.split(text))))


def likeness(left: frozenset[str], right: frozenset[str]) -> float:
    """Return the share of sentences that two texts have in common."""
    return len(left & right) / max(len(left), len(right), 1)


def are_alike(left: str, right: str) -> bool:
    """Tell whether one text may be the other after an edit."""
    return likeness(sentences_of(left), sentences_of(right)) >= MIN_LIKENESS
