"""Search by words: BM25 over the memories before a position, the same on SQLite and PostgreSQL."""

from __future__ import annotations

import json
import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from sqlalchemy import select, text

from runtime.storage.filters import filter_conditions
from runtime.storage.lexical_index import scope_token
from runtime.storage.lexical_terms import lexical_terms, term_tokens
from runtime.storage.records import LexicalHit, MemoryFilter
from runtime.storage.session import StorageSession
from runtime.storage.tables import CHUNKS, PROJECTS

SATURATION = 1.2
LENGTH_SHARE = 0.75
"""k1 and b of BM25 (Robertson and Zaragoza 2009, 3.4.3)."""

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


class _Place(NamedTuple):
    chunk_id: str
    length: int
    is_wanted: bool


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
        """Search for one query; see `search_many`."""
        return self.search_many(project_id, [query], memory_filter=memory_filter, limit=limit)[0]

    def search_many(
        self,
        project_id: str,
        queries: Sequence[str | Sequence[str]],
        *,
        memory_filter: MemoryFilter | None = None,
        limit: int = 50,
    ) -> list[list[LexicalHit]]:
        """Search for several queries at once, which shares most of the work.

        Args:
            project_id: The project.
            queries: Texts of any kind, or lists of terms as `lexical_terms` gives them. Of each, the first
                `TERMS_PER_QUERY` distinct terms count.
            memory_filter: Which memories may be found; None finds all active ones.
            limit: At most so many per query.

        Returns:
            For each query its hits, best first, equal scores in order of chunk id; none for a query without
            words that are stored.
        """
        wanted = [_terms(query) for query in queries]
        terms = list(dict.fromkeys(term for query in wanted for term in query))
        places = self._places(project_id, memory_filter or MemoryFilter()) if terms else {}
        if not places:
            return [[] for _ in queries]
        weights = _Weights(places)
        rows_by_term = self._matches(project_id, terms, places)
        return [_ranked(query, rows_by_term, places, weights, limit) for query in wanted]

    def _places(self, project_id: str, memory_filter: MemoryFilter) -> dict[int, _Place]:
        cut_only = MemoryFilter(as_of=memory_filter.as_of, statuses=memory_filter.statuses)
        every = select(CHUNKS.c.row_id, CHUNKS.c.chunk_id, CHUNKS.c.term_count).where(
            *filter_conditions(project_id, cut_only)
        )
        rows = self._session.rows(every)
        if cut_only == memory_filter:
            return {row_id: _Place(chunk_id, length, True) for row_id, chunk_id, length in rows}
        wanted = set(
            self._session.connection.scalars(
                select(CHUNKS.c.row_id).where(*filter_conditions(project_id, memory_filter))
            )
        )
        return {row_id: _Place(chunk_id, length, row_id in wanted) for row_id, chunk_id, length in rows}

    def _matches(
        self, project_id: str, terms: Sequence[str], places: Mapping[int, _Place]
    ) -> dict[str, list[int]]:
        scope = scope_token(self._project_number(project_id))
        if self._session.is_sqlite:
            phrases = json.dumps([_sqlite_phrase(term, scope) for term in terms])
            found = {
                row[0]: json.loads(row[1]) for row in self._session.rows(_SQLITE_MATCHES, {"terms": phrases})
            }
        else:
            listed = [_postgres_phrase(term, scope) for term in terms]
            found = {row[0]: row[1] for row in self._session.rows(_POSTGRES_MATCHES, {"terms": listed})}
        return {
            terms[place]: [row_id for row_id in row_ids if row_id in places]
            for place, row_ids in found.items()
        }

    def _project_number(self, project_id: str) -> int:
        statement = select(PROJECTS.c.project_number).where(PROJECTS.c.project_id == project_id)
        return self._session.connection.execute(statement).scalar_one()


class _Weights:
    """BM25's statistics over the memories before the position."""

    def __init__(self, places: Mapping[int, _Place]) -> None:
        self._count = len(places)
        self._mean_length = max(1.0, sum(place.length for place in places.values()) / max(1, self._count))

    def rarity(self, matches: int) -> float:
        return math.log(1 + (self._count - matches + 0.5) / (matches + 0.5))

    def share(self, length: int) -> float:
        relative = 1 - LENGTH_SHARE + LENGTH_SHARE * length / self._mean_length
        return (SATURATION + 1) / (1 + SATURATION * relative)


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


def _ranked(
    query: Sequence[str],
    rows_by_term: Mapping[str, Sequence[int]],
    places: Mapping[int, _Place],
    weights: _Weights,
    limit: int,
) -> list[LexicalHit]:
    scores: dict[int, float] = defaultdict(float)
    for term in query:
        rows = rows_by_term.get(term, ())
        rarity = weights.rarity(len(rows))
        for row_id in rows:
            if places[row_id].is_wanted:
                scores[row_id] += rarity
    hits = [
        (-score * weights.share(places[row_id].length), places[row_id].chunk_id)
        for row_id, score in scores.items()
    ]
    return [LexicalHit(chunk_id=chunk_id, score=-negative) for negative, chunk_id in sorted(hits)[:limit]]
