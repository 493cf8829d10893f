"""Exit codes of the program, and which error ends in which."""

from __future__ import annotations

from enum import IntEnum

from novelgen.errors import DatabaseError, EmbeddingError, NovelgenError, UserInputError, VectorIndexError


class ExitCode(IntEnum):
    """How a command ended."""

    DONE = 0
    FAILED = 1
    BAD_INPUT = 2
    STORE_UNAVAILABLE = 3
    INTERRUPTED = 130


EXIT_CODE_MEANINGS: dict[ExitCode, str] = {
    ExitCode.DONE: "done, also when the result is degraded (it says so)",
    ExitCode.FAILED: "failed, or a part failed",
    ExitCode.BAD_INPUT: "bad input or an unknown project; nothing was created",
    ExitCode.STORE_UNAVAILABLE: "the database, the index or the embedding model is unavailable",
    ExitCode.INTERRUPTED: "interrupted",
}

_STORES = (DatabaseError, VectorIndexError, EmbeddingError)


def exit_code_of(error: NovelgenError) -> ExitCode:
    """Return the exit code that an error ends in."""
    if isinstance(error, UserInputError):
        return ExitCode.BAD_INPUT
    return ExitCode.STORE_UNAVAILABLE if isinstance(error, _STORES) else ExitCode.FAILED
