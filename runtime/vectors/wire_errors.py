"""Errors of novelgen on the channel between the program and the process of its index."""

from __future__ import annotations

from novelgen.errors import (
    EmbeddingMismatchError,
    VectorIndexDamagedError,
    VectorIndexError,
)

_BY_NAME: dict[str, type[VectorIndexError]] = {
    error.__name__: error for error in (VectorIndexError, VectorIndexDamagedError, EmbeddingMismatchError)
}


def error_to_wire(error: VectorIndexError) -> dict[str, str]:
    """Write an error for the channel: the name of its nearest known class, and its message."""
    name = next(kind.__name__ for kind in type(error).__mro__ if kind.__name__ in _BY_NAME)
    return {"kind": name, "message": str(error)}


def error_from_wire(document: dict[str, str]) -> VectorIndexError:
    """Read back what `error_to_wire` wrote."""
    return _BY_NAME[document["kind"]](document["message"])
