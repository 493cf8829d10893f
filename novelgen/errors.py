"""Every error that novelgen raises on purpose, in one tree.

NovelgenError
├── UserInputError            the caller must change what was passed
│   ├── InvalidProjectIdError
│   ├── InvalidPositionError
│   ├── InvalidFileError      a project file does not have the documented shape
│   ├── UnknownProjectError
│   ├── UnknownEntityError
│   ├── UnknownMemoryError
│   ├── UnknownSceneError
│   ├── StaleVersionError     what is to be changed was changed since it was read
│   └── ConfigurationError    a setting names something that does not exist or cannot be loaded
├── StoreError                the world failed; retrying or repairing may help
│   ├── DatabaseError
│   │   ├── DatabaseBusyError
│   │   ├── DatabaseFullError
│   │   └── SchemaVersionError
│   ├── VectorIndexError
│   │   ├── VectorIndexOwnedError   another process owns the embedded index
│   │   └── VectorIndexDamagedError
│   ├── EmbeddingError
│   └── ContextWriteError
├── ModelError                the language model failed or answered badly
│   ├── ModelUnavailableError
│   │   └── ModelRefusedError     it would refuse every other request, too: key, model, quota, address
│   └── ModelOutputError      an answer came, but it cannot be used
├── MemoryToolError           a memory of the caller's own lacks a tool
│   └── MemoryAnswerError         a tool answered with something of another type
└── DeadlineExceededError     a call did not return in its time
"""

from collections.abc import Mapping, Sequence
from typing import Any


class NovelgenError(Exception):
    """Base of every error that novelgen raises on purpose."""

    is_retryable = False
    """Whether the same call may succeed later without a change by the caller."""


class UserInputError(NovelgenError, ValueError):
    """The caller's input must change.

    The message names the value and the fix.
    """


class InvalidProjectIdError(UserInputError):
    """A project id is not a plain, path-free string."""


class InvalidRequestError(UserInputError):
    """Arguments that are missing, unknown or out of bounds, where a door reads them."""


class InvalidPositionError(UserInputError):
    """A chapter or scene number is out of bounds, or a scene was given without its chapter."""


class InvalidFileError(UserInputError):
    """A project file has an invalid form."""


class UnknownProjectError(UserInputError):
    """No project of that id is stored."""


class ForeignDatabaseError(UnknownProjectError):
    """The database in a project's folder is that of other projects, as in a copied folder."""


class ProjectExistsError(UserInputError):
    """A project of that id is stored already."""


class UnknownEntityError(UserInputError):
    """No entity of that id or name is stored."""


class UnknownMemoryError(UserInputError):
    """No memory of that id is stored."""


class UnknownSceneError(UserInputError):
    """No scene stands at that position."""


class UnknownIdError(UserInputError):
    """No thread, conflict, waiver, secret or change of that id is stored."""


class StaleVersionError(UserInputError):
    """A change names an outdated version, and nothing was stored.

    Args:
        message: What was changed, and the fix.
        version: The version that stands now.
        stored: What stands now, under the names of what was sent.
        sent: What the change says.
    """

    def __init__(
        self, message: str, *, version: str, stored_fields: Mapping[str, Any], sent_fields: Mapping[str, Any]
    ) -> None:
        super().__init__(message)
        self.version = version
        self.stored = dict(stored_fields)
        self.sent = dict(sent_fields)


class ConfigurationError(UserInputError):
    """A setting names something that does not exist or cannot be loaded."""


class StoreError(NovelgenError):
    """A store (database, vector index, embeddings, disk) failed."""

    is_retryable = True


class DatabaseError(StoreError):
    """The SQL database failed."""


class DatabaseBusyError(DatabaseError):
    """The database stayed locked by another process for longer than the busy timeout."""


class DatabaseFullError(DatabaseError):
    """The disk that holds the database is full."""


class DatabaseReadOnlyError(DatabaseFullError):
    """The database is read-only, and nothing was stored."""


class SchemaVersionError(DatabaseError):
    """The database has a schema that this version cannot read or migrate."""

    is_retryable = False


class VectorIndexError(StoreError):
    """The vector index failed.

    SQL is unharmed, and the index can be rebuilt.
    """


class VectorIndexOwnedError(VectorIndexError):
    """Another process owns the embedded index."""


class VectorIndexDamagedError(VectorIndexError):
    """The index is unreadable.

    `novelgen reindex` rebuilds it from SQL.
    """


class VectorIndexGoneError(VectorIndexDamagedError):
    """The index lost its rows.

    The next write rebuilds it from SQL.
    """


class EmbeddingMismatchError(VectorIndexError):
    """The index belongs to another embedding model or dimension.

    `novelgen reindex` rebuilds it.
    """

    is_retryable = False


class EmbeddingError(StoreError):
    """The embedding model failed or returned unusable vectors."""


class VectorsWithoutDirectionError(EmbeddingError):
    """Some vectors of an embedding model are zeros, or too long or too short to compare.

    Args:
        message: What is wrong.
        vectors: The vectors in the order of their texts, None in the place of an unusable one.
    """

    def __init__(self, message: str, vectors: Sequence[list[float] | None] = ()) -> None:
        super().__init__(message)
        self.vectors = tuple(vectors)


class ContextWriteError(StoreError):
    """A context file could not be written."""


class ModelError(NovelgenError):
    """The language model failed."""


class ModelUnavailableError(ModelError):
    """The model could not be reached or refused the request.

    Args:
        message: What was said, and the fix.
        retry_after_s: After how many seconds the provider wants to be asked again, where it says so.
    """

    is_retryable = True

    def __init__(self, message: str, *, retry_after_s: float | None = None) -> None:
        super().__init__(message)
        self.retry_after_s = retry_after_s


class ModelRefusedError(ModelUnavailableError):
    """Every request would meet the same: no right to ask, no such model, nothing left to pay with, nobody there.

    Args:
        message: What was said, and the fix.
        is_nobody_there: Whether nothing listens at the address; a server that starts again may, a moment later.
    """

    is_retryable = False

    def __init__(self, message: str, *, is_nobody_there: bool = False) -> None:
        super().__init__(message)
        self.is_nobody_there = is_nobody_there


class ModelOutputError(ModelError):
    """The model answered, but the answer cannot be used."""


class MemoryToolError(NovelgenError):
    """A memory lacks a tool, or a tool failed in part.

    Args:
        message: The tool, and what went wrong.
        usable: The part of the answer that can be used; None where there is none.
    """

    def __init__(self, message: str, *, usable: Any = None) -> None:
        super().__init__(message)
        self.usable = usable


class MemoryAnswerError(MemoryToolError):
    """A tool of a memory answered with something of another type."""


class DeadlineExceededError(NovelgenError, TimeoutError):
    """A call did not return within its time."""

    is_retryable = True
