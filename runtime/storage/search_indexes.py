"""Search indexes: BM25 terms and stored vectors."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
from numpy.typing import NDArray
from sqlalchemy import ColumnElement, exists, func, select, text
from sqlmodel import case, col

from novelgen.errors import EmbeddingError
from novelgen.language.language import idf
from novelgen.models.memory import CONTENT_TYPES, ContentType
from novelgen.models.position import END_OF_STORY, StoryPosition
from runtime.storage.damage import whole_vector
from runtime.storage.entities import with_masks
from runtime.storage.models import LexicalHit, MemoryFilter
from runtime.storage.records import Embedding, MemoryRow, Project
from runtime.storage.session import Repository, alias_of, before, filter_conditions, parsed_integers, visible
from runtime.storage.terms import lexical_terms, scope_token, term_tokens

RowIds = NDArray[np.int64]

Kinds = NDArray[np.int64]

SATURATION = 1.2

LENGTH_SHARE = 0.75
"""k1 and b of BM25 (Robertson and Zaragoza 2009, 3.4.3)."""


@dataclass(frozen=True, eq=False)
class LexicalMatches:
    """Scores of all memories before a position, for several queries."""

    row_ids: RowIds
    kinds: Kinds
    scores: NDArray[np.float64]
    counted: NDArray[np.bool_]

    @property
    def has_any(self) -> bool:
        """Whether any memory matches any query."""
        return bool(self.scores.any())

    def of_kinds(self, kinds: Collection[int]) -> LexicalMatches:
        """Return matches of some kinds, with their scores."""
        return replace(self, counted=self.counted & np.isin(self.kinds, list(kinds)))

    def of_queries(self, numbers: Sequence[int]) -> LexicalMatches:
        """Return the matches of some queries, by their places."""
        return replace(self, scores=self.scores[list(numbers)])

    def among(self, row_ids: RowIds) -> LexicalMatches:
        """Return matches of some rows, with their scores."""
        return replace(self, counted=self.counted & np.isin(self.row_ids, row_ids))

    def best(self, limit: int) -> list[list[tuple[int, float]]]:
        """Return the best matches of each query as (row id, score)."""
        best = []
        for scores in self.scores:
            # Looking for True is many times faster than looking for what is not 0.0.
            places = np.flatnonzero((scores > 0) & self.counted)
            if len(places) > limit > 0:
                border = np.partition(scores[places], len(places) - limit)[len(places) - limit]
                places = places[scores[places] >= border]
            best.append(list(zip(self.row_ids[places].tolist(), scores[places].tolist(), strict=True)))
        return best


def score_matches(
    queries: Sequence[Sequence[str]],
    row_ids_by_word: Mapping[str, RowIds],
    *,
    row_ids: RowIds,
    kinds: Kinds,
    lengths: NDArray[np.int64],
) -> LexicalMatches:
    """Score memories by BM25, a term counting once per memory."""
    order = np.argsort(row_ids)
    rows = row_ids[order]
    places = {term: _places(matched, rows) for term, matched in row_ids_by_word.items()}
    scores = np.zeros((len(queries), len(rows)))
    for query, terms in enumerate(queries):
        for term in terms:
            if term in places:
                scores[query, places[term]] += idf(len(places[term]), len(rows))
    mean_length = max(1.0, float(lengths.mean())) if len(lengths) else 1.0
    relative = 1 - LENGTH_SHARE + LENGTH_SHARE * lengths[order].astype(float) / mean_length
    scores *= (SATURATION + 1) / (1 + SATURATION * relative)
    return LexicalMatches(rows, kinds[order], scores, np.ones(len(rows), dtype=bool))


def _places(matched: RowIds, rows: RowIds) -> NDArray[np.intp]:
    """Return where the matched row ids stand among sorted rows, those that do not left out."""
    if not len(rows):
        return np.zeros(0, dtype=np.intp)
    places = np.minimum(np.searchsorted(rows, matched), len(rows) - 1)
    return places[rows[places] == matched]


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
    *((MemoryRow.content_type == name, number) for number, name in enumerate(CONTENT_TYPES)), else_=-1
)


_OTHER_PROJECT = alias_of(Project, "other_project")


class LexicalRepository(Repository):
    """Searches the lexical index.

    Rarity and average length are those of the memories before the position, so what the story tells later,
    or another project, changes no score. A term counts once per memory: memories are short.
    """

    def search(
        self, query: str | Sequence[str], *, memory_filter: MemoryFilter | None = None, limit: int = 50
    ) -> list[LexicalHit]:
        """Run one filtered query.

        See `match` and `best`.
        """
        wanted_memory_filter = memory_filter or MemoryFilter()
        return self.best(self.match([query], wanted_memory_filter), wanted_memory_filter, limit=limit)[0]

    def match(self, queries: Sequence[str | Sequence[str]], memory_filter: MemoryFilter) -> LexicalMatches:
        """Score all memories before a position for several queries at once, which shares most of the work."""
        terms_by_query = [_terms(query) for query in queries]
        terms = list(dict.fromkeys(term for query in terms_by_query for term in query))
        row_ids_by_term = self._matches(terms) if terms else {}
        cut_only = MemoryFilter(as_of=memory_filter.as_of, statuses=memory_filter.statuses)
        row_ids, kinds, lengths = self._session.integers(
            (col(MemoryRow.row_id), _KIND, col(MemoryRow.term_count)),
            *filter_conditions(self._session.project_id, cut_only),
        )
        return score_matches(terms_by_query, row_ids_by_term, row_ids=row_ids, kinds=kinds, lengths=lengths)

    def best(self, matches: LexicalMatches, memory_filter: MemoryFilter, *, limit: int = 50) -> list[list[LexicalHit]]:
        """Return for each query the best of its matches that a filter admits."""
        return self._named(self._admitted(matches, memory_filter).best(limit), [limit] * len(matches.scores))

    def best_of_kinds(
        self,
        matches: LexicalMatches,
        memory_filter: MemoryFilter,
        *,
        kinds: Sequence[Sequence[ContentType]],
        limit: int = 50,
        least: int = 0,
    ) -> list[list[list[LexicalHit]]]:
        """Return for each of several groups of kinds what `best` returns for it.

        A group takes what the most fruitful query of those before it left of the limit, and at least `least`.
        """
        best: list[list[tuple[int, float]]] = []
        limits: list[int] = []
        for group in kinds:
            admitted_matches = self._admitted(matches, memory_filter.model_copy(update={"content_types": list(group)}))
            hit_lists = admitted_matches.best(limit)
            best += hit_lists
            limits += [limit] * len(hit_lists)
            limit = max(least, limit - max((min(limit, len(hits)) for hits in hit_lists), default=0))
        named_lists, size = self._named(best, limits), len(matches.scores)
        return [named_lists[start : start + size] for start in range(0, len(named_lists), size)]

    def _named(self, best: Sequence[Sequence[tuple[int, float]]], limits: Sequence[int]) -> list[list[LexicalHit]]:
        """Return hits by their chunk ids, of equal ones the first by id, and no more than the limits."""
        statement = select(col(MemoryRow.row_id), col(MemoryRow.chunk_id), col(MemoryRow.project_id)).where(
            self._session.among(MemoryRow.row_id, {row_id for hits in best for row_id, _ in hits})
        )
        chunk_ids = {row.row_id: row.chunk_id for row in self._session.own(self._session.rows(statement))}
        ranking = (sorted((-score, chunk_ids[row_id]) for row_id, score in hits) for hits in best)
        return [
            [LexicalHit(chunk_id=chunk_id, score=-negative) for negative, chunk_id in hits[:limit]]
            for hits, limit in zip(ranking, limits, strict=True)
        ]

    def _admitted(self, matches: LexicalMatches, memory_filter: MemoryFilter) -> LexicalMatches:
        """Return matches admitted by a filter."""
        if not matches.has_any:
            return matches
        kinds = memory_filter.content_types
        cut_only = MemoryFilter(as_of=memory_filter.as_of, statuses=memory_filter.statuses)
        if memory_filter.model_copy(update={"content_types": []}) != cut_only:
            wanted_memory_filter = with_masks(self._session, memory_filter)
            conditions = filter_conditions(self._session.project_id, wanted_memory_filter)
            return matches.among(self._session.integers((col(MemoryRow.row_id),), *conditions)[0])
        return matches.of_kinds([CONTENT_TYPES.index(kind) for kind in kinds]) if kinds else matches

    def _matches(self, terms: Sequence[str]) -> dict[str, RowIds]:
        """Return the row ids of all memories of the project that hold a term, later ones too."""
        # Without the project's word where it is the only one, which saves half the work.
        has_others = exists().where(_OTHER_PROJECT.project_id != self.project_id).label("has_others")
        number, is_shared = self._session.one([col(Project.project_number), has_others]) or (None, False)
        scope = scope_token(number) if is_shared and number is not None else None
        if self._session.is_sqlite:
            start = "" if scope is None else f'scope : "{scope}" AND '
            phrases = [f'{start}terms : "{" ".join(term_tokens(term))}"' for term in terms]
            rows = self._session.rows(_SQLITE_MATCHES, {"terms": json.dumps(phrases)})
        else:
            start = "" if scope is None else f"'{scope}' & "
            quoted_terms = ([f"'{token}'" for token in term_tokens(term)] for term in terms)
            phrases = [f"{start}({' <-> '.join(tokens)})" for tokens in quoted_terms]
            rows = self._session.rows(_POSTGRES_MATCHES, {"terms": phrases})
        return {terms[row[0]]: parsed_integers(row[1]) for row in rows}


def _terms(query: str | Sequence[str]) -> list[str]:
    if isinstance(query, str):
        return lexical_terms(query)[:TERMS_PER_QUERY]
    # Terms of a caller go through the same analysis: no mark of theirs reaches the query language.
    return list(dict.fromkeys(term for value in query for term in lexical_terms(value)))[:TERMS_PER_QUERY]


FloatMatrix = npt.NDArray[np.float32]

_STORED_TYPE = np.dtype("<f4")


class EmbeddingRepository(Repository):
    """Stores and reads vectors."""

    def put(self, model: str, vectors: Mapping[str, Sequence[float] | FloatMatrix]) -> int:
        """Upsert vectors by chunk id for a model."""
        arrays = {chunk_id: np.asarray(vector, dtype=_STORED_TYPE) for chunk_id, vector in vectors.items()}
        shapes = {array.shape for array in arrays.values()}
        if len(shapes) > 1 or any(len(shape) != 1 or shape[0] == 0 for shape in shapes):
            raise EmbeddingError(f"vectors of one call must have one length, but have the shapes {shapes!r}")
        broken = next((chunk_id for chunk_id, array in arrays.items() if not np.isfinite(array).all()), None)
        if broken is not None:
            raise EmbeddingError(f"the vector of {broken!r} holds values that are not finite; embed it again")
        own = {"model": model, "dimension": shapes.pop()[0] if shapes else 0}
        columns = [col(MemoryRow.chunk_id), col(MemoryRow.row_id), col(MemoryRow.content_hash)]
        rows = [
            own | {"chunk_row_id": row_id, "content_hash": marked, "vector": arrays[chunk_id].tobytes()}
            for chunk_id, row_id, marked in self._session.select(
                columns, self._session.among(MemoryRow.chunk_id, arrays)
            )
        ]
        statement = self._session.upsert(Embedding)
        statement = statement.on_conflict_do_update(
            index_elements=["chunk_row_id", "model"],
            set_={name: statement.excluded[name] for name in ("dimension", "content_hash", "vector")},
        )
        if rows:
            self._session.run_many(statement, rows)
        return len(rows)

    def matrix(
        self,
        model: str,
        *,
        dimension: int | None = None,
        as_of: StoryPosition = END_OF_STORY,
        ids: Sequence[str] | None = None,
        with_sources: bool = False,
    ) -> tuple[list[str], FloatMatrix]:
        """Return the vectors of active memories before a position, in one array.

        Args:
            model: Embedding model of the vectors.
            dimension: Length of the vectors; None takes that of the live index, as one array holds one length.
            as_of: Only memories strictly before it.
            ids: Only these memories; None takes all.
            with_sources: Whether memories that a consolidated one stands for are read too.

        Returns:
            The ids, and their vectors in the same order.
        """
        condition = before(as_of, MemoryRow) if with_sources else visible(self._session.project_id, as_of)
        statement = (
            select(col(MemoryRow.chunk_id), col(Embedding.vector))
            .join_from(MemoryRow, Embedding, col(Embedding.chunk_row_id) == col(MemoryRow.row_id))
            .where(
                self._session.owns(MemoryRow),
                col(MemoryRow.status) == "active",
                condition,
                col(Embedding.model) == model,
                whole_vector(),
            )
        )
        # Before an index is built no dimension is the live one: the vectors say it.
        live = select(col(Project.embedding_dimension)).where(self._session.owns(Project)).scalar_subquery()
        wanted_dimension = func.coalesce(live, col(Embedding.dimension)) if dimension is None else dimension
        statement = statement.where(col(Embedding.dimension) == wanted_dimension)
        if ids is not None:
            statement = statement.where(self._session.among(MemoryRow.chunk_id, ids))
        rows = self._session.rows(statement)
        if not rows:
            return [], np.zeros((0, 0), dtype=np.float32)
        joined_bytes = b"".join(row[1] for row in rows)
        matrix = np.frombuffer(joined_bytes, dtype=_STORED_TYPE).reshape(len(rows), -1)
        return [row[0] for row in rows], matrix.astype(np.float32, copy=False)
