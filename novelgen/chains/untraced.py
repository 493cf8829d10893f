"""Large values that pass between the steps of a chain and do not belong into a trace."""

from __future__ import annotations

from typing import Generic, TypeVar

from novelgen.memory.search import SearchResult

T = TypeVar("T")


class Untraced(Generic[T]):
    """Holds a value that callback handlers see as one line.

    A handler takes every step's input and output apart and sends them away: thousands of candidates with their
    vectors would be 12 MB for each of two steps, in a book of 10,000 memories. This is no dataclass and no model,
    so that tracers ask for its text and nothing else.

    Args:
        value: What is held.
        shown: The line.
    """

    __slots__ = ("shown", "value")

    def __init__(self, value: T, shown: str) -> None:
        self.value = value
        self.shown = shown

    def __repr__(self) -> str:
        return self.shown


def untraced_search(search: SearchResult) -> Untraced[SearchResult]:
    """Hold what all retrievers found; a trace has the best of each retriever in a run of its own."""
    return Untraced(search, f"{len(search.candidates)} candidates")


NOTHING_FOUND = untraced_search(SearchResult())
