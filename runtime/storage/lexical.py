"""Search by words: BM25 over the memories before a position, the same on SQLite and PostgreSQL."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import numpy as np
from sqlalchemy import ColumnElement, func, select, text

from runtime.storage.filters import filter_conditions
from runtime.storage.lexical_index import scope_token
from runtime.storage.lexical_scores import LexicalMatches, RowIds, score_matches
from runtime.storage.lexical_terms import lexical_terms, term_tokens
from runtime.storage.records import LexicalHit, MemoryFilter
from runtime.storage.session import StorageSession
from runtime.storage.tables import CHUNKS, PROJECTS

TERMS_PER_QUERY = 200

_SQLITE_MATCHES = text(
    "SELECT wanted.key, json_group_array(memory_terms.rowid) FROM json_each(:terms) AS wanted"
    " CROSS JOIN memory_terms WHERE memory_terms MATCH wanted.value GROUP BY wanted.key"
)
_POSTGRES_MATCHES = text(
    "SELECT wanted.place - 1, array_agg(memory_terms.chunk_row_id)"
    " FROM unnest(CAST(:terms AS text[])) WITH ORDINALITY AS wanted(phrase, place)"
    " JOIN memory_terms ON memory_terms.terms @@ CAST(wanted.phrase AS tsquery) GROUP BY wanted.place"
)


class LexicalRepository:
    """Searches the lexical index.

    Rarity and average length are those of the memories before the position, so what the story tells later,
    or another project, changes no score. A term counts once per memory: memories are short.

    Args:
        session: The transaction to work in.
    """

    def __init__(self, session: StorageSession) -> None:
        self._session = session

    def search(
        self,
        project_id: str,
        query: str | Sequence[str],
        *,
        memory_filter: MemoryFilter | None = None,
        limit: int = 50,
    ) -> list[LexicalHit]:
        """Search for one query with one filter; see `match` and `best`."""
        wanted = memory_filter or MemoryFilter()
        return self.best(project_id, self.match(project_id, [query], wanted), wanted, limit=limit)[0]

    def match(
        self, project_id: str, queries: Sequence[str | Sequence[str]], memory_filter: MemoryFilter
    ) -> LexicalMatches:
        """Score all memories before a position for several queries at once, which shares most of the work.

        Args:
            project_id: The project.
            queries: Texts of any kind, or lists of terms as `lexical_terms` gives them. Of each, the first
                `TERMS_PER_QUERY` distinct terms count.
            memory_filter: Its position and statuses count; the rest narrows `best`.

        Returns:
            The scores, from which `best` takes what each filter admits.
        """
        wanted = [_terms(query) for query in queries]
        terms = list(dict.fromkeys(term for query in wanted for term in query))
        cut_only = MemoryFilter(as_of=memory_filter.as_of, statuses=memory_filter.statuses)
        columns = (CHUNKS.c.row_id, CHUNKS.c.chunk_id, CHUNKS.c.term_count)
        row_ids, chunk_ids, lengths = self._columns(project_id, cut_only, columns) if terms else ([], [], [])
        found = self._matches(project_id, terms) if row_ids else {}
        return score_matches(wanted, found, row_ids=row_ids, chunk_ids=chunk_ids, lengths=lengths)

    def best(
        self, project_id: str, matches: LexicalMatches, memory_filter: MemoryFilter, *, limit: int = 50
    ) -> list[list[LexicalHit]]:
        """Return for each query the best of its matches that a filter admits.

        Args:
            project_id: The project.
            matches: What `match` found at the same position.
            memory_filter: Which memories may be found.
            limit: At most so many per query.

        Returns:
            Hits per query, best first, equal scores in order of chunk id; none for a query without words
            that are stored.
        """
        if not matches.has_any:
            return [[] for _ in range(matches.queries)]
        is_whole = memory_filter == MemoryFilter(as_of=memory_filter.as_of, statuses=memory_filter.statuses)
        admitted = None if is_whole else self._columns(project_id, memory_filter, (CHUNKS.c.row_id,))[0]
        return [
            [LexicalHit(chunk_id=chunk_id, score=score) for chunk_id, score in hits]
            for hits in matches.best(admitted, limit=limit)
        ]

    def _columns(
        self, project_id: str, memory_filter: MemoryFilter, columns: Sequence[ColumnElement[Any]]
    ) -> list[list[Any]]:
        """Read columns whole: the database gathers each, which spares an object per row."""
        if self._session.is_sqlite:
            gathered: list[ColumnElement[Any]] = [func.json_group_array(column) for column in columns]
        else:
            gathered = [func.array_agg(column) for column in columns]
        statement = select(*gathered).where(*filter_conditions(project_id, memory_filter))
        values = self._session.connection.execute(statement).one()
        return [json.loads(value) if isinstance(value, str) else value or [] for value in values]

    def _matches(self, project_id: str, terms: Sequence[str]) -> dict[str, RowIds]:
        """Return the row ids of all memories of the project that hold a term, later ones too."""
        scope = scope_token(self._project_number(project_id))
        if self._session.is_sqlite:
            phrases = json.dumps([_sqlite_phrase(term, scope) for term in terms])
            rows = self._session.rows(_SQLITE_MATCHES, {"terms": phrases})
            return {terms[row[0]]: np.array(json.loads(row[1]), dtype=np.int64) for row in rows}
        listed = [_postgres_phrase(term, scope) for term in terms]
        rows = self._session.rows(_POSTGRES_MATCHES, {"terms": listed})
        return {terms[row[0]]: np.array(row[1], dtype=np.int64) for row in rows}

    def _project_number(self, project_id: str) -> int:
        statement = select(PROJECTS.c.project_number).where(PROJECTS.c.project_id == project_id)
        return self._session.connection.execute(statement).scalar_one()


def _terms(query: str | Sequence[str]) -> list[str]:
    if isinstance(query, str):
        return lexical_terms(query)[:TERMS_PER_QUERY]
    # Terms of a caller go through the same analysis: no mark of theirs reaches the query language.
    return list(dict.fromkeys(term for given in query for term in lexical_terms(given)))[:TERMS_PER_QUERY]


def _sqlite_phrase(term: str, scope: str) -> str:
    return f'scope : "{scope}" AND terms : "{" ".join(term_tokens(term))}"'


def _postgres_phrase(term: str, scope: str) -> str:
    phrase = " <-> ".join(f"'{token}'" for token in term_tokens(term))
    return f"'{scope}' & ({phrase})"
