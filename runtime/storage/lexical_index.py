"""Keeping the lexical index in step with the chunks: FTS5 on SQLite, a tsvector table on PostgreSQL."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import TextClause, text

from runtime.storage.lexical_terms import index_tokens
from runtime.storage.session import StorageSession

_SQLITE_ADD = text("INSERT INTO memory_terms(rowid, scope, terms) VALUES (:row_id, :scope, :terms)")
# SQLite 3.40 has no contentless_delete: a row leaves a contentless table by the values that it came with.
_SQLITE_REMOVE = text(
    "INSERT INTO memory_terms(memory_terms, rowid, scope, terms) VALUES ('delete', :row_id, :scope, :terms)"
)
_POSTGRES_ADD = text(
    "INSERT INTO memory_terms(chunk_row_id, terms)"
    " VALUES (:row_id, array_to_tsvector(ARRAY[CAST(:scope AS text)]) || to_tsvector('simple', :terms))"
)
_POSTGRES_REMOVE = text("DELETE FROM memory_terms WHERE chunk_row_id = :row_id")


class LexicalIndex:
    """Adds and removes chunks of one project.

    Args:
        session: A writing session.
        project_number: The project's number; its token keeps projects apart inside the index.
    """

    def __init__(self, session: StorageSession, project_number: int) -> None:
        self._session = session
        self._scope = scope_token(project_number)

    def add(self, rows: Sequence[tuple[int, str]]) -> None:
        """Index texts, given as (row_id, text); each row must be new to the index."""
        self._run(_SQLITE_ADD if self._session.is_sqlite else _POSTGRES_ADD, rows)

    def remove(self, rows: Sequence[tuple[int, str]]) -> None:
        """Take out texts, given as (row_id, text as it was added)."""
        self._run(_SQLITE_REMOVE if self._session.is_sqlite else _POSTGRES_REMOVE, rows)

    def _run(self, statement: TextClause, rows: Sequence[tuple[int, str]]) -> None:
        parameters = [
            {"row_id": row_id, "scope": self._scope, "terms": " ".join(index_tokens(body))}
            for row_id, body in rows
        ]
        if parameters:
            self._session.run(statement, parameters)


def scope_token(project_number: int) -> str:
    """Return the word that marks a project's rows inside the index.

    It is in capitals, which no folded word of a text or query is.
    """
    return f"SCOPE{project_number}X"


def searchable_text(content: str, short: str | None) -> str:
    """Return the text of a chunk that can be found by words."""
    return f"{content}\n{short}" if short else content
