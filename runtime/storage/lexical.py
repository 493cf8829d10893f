"""Search by words: BM25 over the memories before a position, the same on SQLite and PostgreSQL."""

from __future__ import annotations

import json
from collections.abc import Sequence

from sqlalchemy import ColumnElement, case, func, select, text

from novelgen.models.memory import CONTENT_TYPES
from runtime.storage.filters import filter_conditions
from runtime.storage.lexical_index import scope_token
from runtime.storage.lexical_scores import LexicalMatches, RowIds, score_matches
from runtime.storage.lexical_terms import lexical_terms, term_tokens
from runtime.storage.records import LexicalHit, MemoryFilter
from runtime.storage.session import StorageSession, parsed_integers
from runtime.storage.tables import CHUNKS, PROJECTS

TERMS_PER_QUERY = 200

_SQLITE_MATCHES = text(
    "SELECT wanted.key, (SELECT group_concat(rowid) FROM memory_terms WHERE memory_terms MATCH wanted.value)"
    " FROM json_each(:terms) AS wanted"
)
_POSTGRES_MATCHES = text(
    "SELECT wanted.place - 1, string_agg(memory_terms.chunk_row_id::text, ',')"
    " FROM unnest(CAST(:terms AS text[])) WITH ORDINALITY AS wanted(phrase, place)"
    " JOIN memory_terms ON memory_terms.terms @@ CAST(wanted.phrase AS tsquery) GROUP BY wanted.place"
)
_KIND: ColumnElement[int] = case(
    *((CHUNKS.c.content_type == name, number) for number, name in enumerate(CONTENT_TYPES)), else_=-1
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
        query: str | Sequence[str],
        *,
        memory_filter: MemoryFilter | None = None,
        limit: int = 50,
    ) -> list[LexicalHit]:
        """Search for one query with one filter; see `match` and `best`."""
        wanted = memory_filter or MemoryFilter()
        return self.best(self.match([query], wanted), wanted, limit=limit)[0]

    def match(self, queries: Sequence[str | Sequence[str]], memory_filter: MemoryFilter) -> LexicalMatches:
        """Score all memories before a position for several queries at once, which shares most of the work.

        Args:
            queries: Texts of any kind, or lists of terms as `lexical_terms` gives them. Of each, the first
                `TERMS_PER_QUERY` distinct terms count.
            memory_filter: Its position and statuses count; the rest narrows `best`.

        Returns:
            The scores, from which `best` takes what each filter admits.
        """
        wanted = [_terms(query) for query in queries]
        terms = list(dict.fromkeys(term for query in wanted for term in query))
        found = self._matches(terms) if terms else {}
        cut_only = MemoryFilter(as_of=memory_filter.as_of, statuses=memory_filter.statuses)
        row_ids, kinds, lengths = self._session.integers(
            (CHUNKS.c.row_id, _KIND, CHUNKS.c.term_count),
            *filter_conditions(self._session.project_id, cut_only),
        )
        return score_matches(wanted, found, row_ids=row_ids, kinds=kinds, lengths=lengths)

    def best(
        self, matches: LexicalMatches, memory_filter: MemoryFilter, *, limit: int = 50
    ) -> list[list[LexicalHit]]:
        """Return for each query the best of its matches that a filter admits.

        Args:
            matches: What `match` found at the same position.
            memory_filter: Which memories may be found.
            limit: At most so many per query.

        Returns:
            Hits per query, best first, equal scores in order of chunk id; none for a query without words
            that are stored.
        """
        best = self._admitted(matches, memory_filter).best(limit)
        chunk_ids = self._chunk_ids({row_id for hits in best for row_id, _ in hits})
        ranked = (sorted((-score, chunk_ids[row_id]) for row_id, score in hits) for hits in best)
        return [
            [LexicalHit(chunk_id=chunk_id, score=-negative) for negative, chunk_id in hits[:limit]]
            for hits in ranked
        ]

    def _admitted(self, matches: LexicalMatches, memory_filter: MemoryFilter) -> LexicalMatches:
        """Return the matches that a filter admits; kinds are at hand, the rest is asked of the database."""
        if not matches.has_any:
            return matches
        kinds = memory_filter.content_types
        cut_only = MemoryFilter(as_of=memory_filter.as_of, statuses=memory_filter.statuses)
        if memory_filter.model_copy(update={"content_types": []}) != cut_only:
            conditions = filter_conditions(self._session.project_id, memory_filter)
            return matches.among(self._session.integers((CHUNKS.c.row_id,), *conditions)[0])
        return matches.of_kinds([CONTENT_TYPES.index(kind) for kind in kinds]) if kinds else matches

    def _chunk_ids(self, row_ids: set[int]) -> dict[int, str]:
        statement = select(CHUNKS.c.row_id, CHUNKS.c.chunk_id, CHUNKS.c.project_id).where(
            self._session.among(CHUNKS.c.row_id, row_ids)
        )
        return {row.row_id: row.chunk_id for row in self._session.own(self._session.rows(statement))}

    def _matches(self, terms: Sequence[str]) -> dict[str, RowIds]:
        """Return the row ids of all memories of the project that hold a term, later ones too."""
        scope = self._scope()
        if self._session.is_sqlite:
            phrases = json.dumps([_sqlite_phrase(term, scope) for term in terms])
            rows = self._session.rows(_SQLITE_MATCHES, {"terms": phrases})
        else:
            listed = [_postgres_phrase(term, scope) for term in terms]
            rows = self._session.rows(_POSTGRES_MATCHES, {"terms": listed})
        return {terms[row[0]]: parsed_integers(row[1]) for row in rows}

    def _scope(self) -> str | None:
        """Return the project's word in the index; None where it is the only project, which saves half the work."""
        others = self._session.connection.scalar(
            select(func.count())
            .select_from(PROJECTS)
            .where(PROJECTS.c.project_id != self._session.project_id)
        )
        statement = select(PROJECTS.c.project_number).where(self._session.owns(PROJECTS))
        return scope_token(self._session.connection.execute(statement).scalar_one()) if others else None


def _terms(query: str | Sequence[str]) -> list[str]:
    if isinstance(query, str):
        return lexical_terms(query)[:TERMS_PER_QUERY]
    # Terms of a caller go through the same analysis: no mark of theirs reaches the query language.
    return list(dict.fromkeys(term for given in query for term in lexical_terms(given)))[:TERMS_PER_QUERY]


def _sqlite_phrase(term: str, scope: str | None) -> str:
    phrase = f'terms : "{" ".join(term_tokens(term))}"'
    return phrase if scope is None else f'scope : "{scope}" AND {phrase}'


def _postgres_phrase(term: str, scope: str | None) -> str:
    phrase = " <-> ".join(f"'{token}'" for token in term_tokens(term))
    return phrase if scope is None else f"'{scope}' & ({phrase})"
