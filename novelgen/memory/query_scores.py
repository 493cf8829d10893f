"""Candidates laid out as columns, and many queries and two retrievers made comparable: standardised, pooled scores."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from novelgen.language.language import CJK_RANGES, idf, is_cjk
from novelgen.memory.search import NAME_KINDS, SEMANTIC_RETRIEVER, Candidate, RankedMemory, SelectionScene, Vector
from novelgen.models.memory import DISTILLED_TYPES, SCENE_RECORD_TYPES, SUMMARY_TYPE, StoryMemoryChunk
from novelgen.models.position import Place

Vectors = NDArray[np.float32]
Mask = NDArray[np.bool_]


def stack_vectors(candidates: Sequence[Candidate]) -> tuple[Vectors, Mask]:
    """Stack the candidates' embeddings."""
    present = np.array([candidate.vector is not None for candidate in candidates], dtype=bool)
    size = next((len(c.vector) for c in candidates if c.vector is not None), 0)
    rows = [np.zeros(size, np.float32) if c.vector is None else c.vector for c in candidates]
    return np.array(rows, dtype=np.float32).reshape(len(rows), size), present


def unit_rows(vectors: Sequence[Sequence[float]] | Sequence[float] | Sequence[Vectors] | Vectors) -> Vectors:
    """Return vectors of length one as rows, zero vectors unchanged."""
    rows = np.atleast_2d(np.asarray(vectors, dtype=np.float32))
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.divide(rows, np.where(lengths > 0, lengths, 1.0), dtype=np.float32)


Column = NDArray[np.float64]
Matrix = NDArray[np.float64]

CLIP = 4.0
"""Greatest standardised value, so that one odd outlier does not decide alone."""


def standardise(values: Matrix, reference: Mask) -> Matrix:
    """Bring rows to mean 0 and deviation 1 over the reference columns."""
    known_rows = np.where(reference, values, np.nan)
    row_counts = np.maximum((~np.isnan(known_rows)).sum(axis=-1, keepdims=True), 1)
    mean = np.nansum(known_rows, axis=-1, keepdims=True) / row_counts
    deviation = np.sqrt(np.nansum((known_rows - mean) ** 2, axis=-1, keepdims=True) / row_counts)
    has_spread = deviation > 1e-9
    scaled = np.where(has_spread, (values - mean) / np.where(has_spread, deviation, 1.0), 0.0)
    return np.clip(np.nan_to_num(scaled, nan=0.0), -CLIP, CLIP)


def pool_best(scores: Matrix, best: int) -> Column:
    """Average each column's best rows."""
    if not len(scores):
        return np.zeros(scores.shape[1])
    return np.sort(scores, axis=0)[-best:].mean(axis=0)


def semantic_scores(
    scene: SelectionScene, queries: Sequence[int], candidates: Sequence[Candidate], reference: Mask
) -> Matrix:
    """Score candidates by centred cosine, or by the semantic retriever's scores."""
    vectors, present = stack_vectors(candidates)
    query_vectors = [scene.vectors[number] for number in queries] if len(scene.vectors) == len(scene.queries) else []
    if not present.any() or not query_vectors or any(vector is None for vector in query_vectors):
        return retriever_scores(SEMANTIC_RETRIEVER, queries, candidates)
    counted_mask = present & reference if (present & reference).any() else present
    common = vectors[counted_mask].mean(axis=0)
    cosine = unit_rows(np.array(query_vectors, dtype=np.float32) - common) @ unit_rows(vectors - common).T
    return np.where(present, cosine, np.nan).astype(np.float64)


def retriever_scores(retriever: str, queries: Sequence[int], candidates: Sequence[Candidate]) -> Matrix:
    """Collect one retriever's scores by query number."""
    rows = {number: row for row, number in enumerate(queries)}
    scores = np.full((len(queries), len(candidates)), np.nan)
    for column, candidate in enumerate(candidates):
        for hit in candidate.hits:
            if hit.retriever == retriever and hit.query_index in rows:
                scores[rows[hit.query_index], column] = hit.worth
    for row in scores:
        known_scores = row[~np.isnan(row)]
        floor = float(known_scores.min()) if retriever == SEMANTIC_RETRIEVER and len(known_scores) else 0.0
        np.nan_to_num(row, copy=False, nan=floor)
    return scores


MIN_DISTILLED = 12
"""Fewer distilled memories than this are no measure for the rest."""


@dataclass(frozen=True, eq=False)
class CandidateTable:
    """The candidates of one choice."""

    candidates: tuple[Candidate, ...]
    measure: Mask
    summaries: Mask
    scenes: tuple[Place, ...]
    ordinals: NDArray[np.intp]
    scene_of: NDArray[np.intp]

    @property
    def is_distilled(self) -> bool:
        """Whether scenes were told in other words than the text's: an author's few notes do not count."""
        return any(row.chunk.content_type in SCENE_RECORD_TYPES for row in self.candidates)

    def of_scenes(self, scene_indices: NDArray[np.intp]) -> CandidateTable:
        """Return the table limited to some scenes."""
        places = np.full(len(self.scenes) + 1, -1, dtype=np.intp)
        places[scene_indices] = np.arange(len(scene_indices))
        scenes = tuple(self.scenes[index] for index in scene_indices)
        return replace(self, scenes=scenes, ordinals=self.ordinals[scene_indices], scene_of=places[self.scene_of])

    def spread(self, scene_values: Column) -> Column:
        """Map scene values to candidates, NaN without a known scene."""
        values = np.append(scene_values, np.nan)
        return values[self.scene_of]

    def best_of_scene(self, values: Column, mask: Mask) -> Column:
        """Return each scene's best value, NaN without one."""
        rows = np.flatnonzero(mask & (self.scene_of >= 0))
        best = np.full(len(self.scenes), -np.inf)
        np.maximum.at(best, self.scene_of[rows], values[rows])
        return np.where(np.isinf(best), np.nan, best)


def lay_out(candidates: Sequence[Candidate], scene: SelectionScene) -> CandidateTable:
    """Lay out candidates for scoring."""
    rows = tuple(sorted(candidates, key=lambda candidate: candidate.chunk.chunk_id))
    known_places = {place for row in rows if (place := row.chunk.place) in scene.ordinals and place is not None}
    scenes = tuple(sorted(known_places, key=lambda place: scene.ordinals[place]))
    places: dict[Place | None, int] = {scene: index for index, scene in enumerate(scenes)}
    distilled = np.array([row.chunk.content_type in DISTILLED_TYPES for row in rows], dtype=bool)
    recorded = np.array([row.chunk.content_type == "memory" for row in rows], dtype=bool)
    everything = np.ones(len(rows), dtype=bool)
    return CandidateTable(
        candidates=rows,
        # An author's notes alone are no measure for the text of a book without records.
        measure=distilled if recorded.any() and distilled.sum() >= MIN_DISTILLED else everything,
        summaries=np.array([row.chunk.content_type == SUMMARY_TYPE for row in rows], dtype=bool),
        scenes=scenes,
        ordinals=np.array([scene.ordinals[other_scene] for other_scene in scenes], dtype=np.intp),
        scene_of=np.array([places.get(row.chunk.place, -1) for row in rows], dtype=np.intp),
    )


SATURATION = 1.5

LENGTH_SHARE = 0.75
"""k1 and b of BM25 (Robertson and Zaragoza 2009, 3.4.3)."""

_RUN = re.compile(rf"[{CJK_RANGES}]+|[^\W_{CJK_RANGES}]+")


def word_scores(texts: Sequence[str], queries: Sequence[str]) -> Matrix:
    """Score texts by shared query words, with their own rarity and length."""
    asked_entries = [dict.fromkeys(_terms(query)) for query in queries]
    results: dict[str, list[tuple[int, int]]] = {term: [] for terms in asked_entries for term in terms}
    lengths = np.zeros(len(texts))
    for place, text in enumerate(texts):
        terms = _terms(text)
        lengths[place] = len(terms)
        for term, count in Counter(term for term in terms if term in results).items():
            results[term].append((place, count))
    relative = lengths / max(1.0, float(lengths.mean())) if len(texts) else lengths
    norms = SATURATION * (1 - LENGTH_SHARE + LENGTH_SHARE * relative)
    scores = np.zeros((len(queries), len(texts)))
    for term, entries in results.items():
        if entries:
            places, times = np.array(entries).T
            rarity = idf(len(places), len(texts))
            holding = np.array([term in terms for terms in asked_entries])
            scores[np.ix_(holding, places)] += rarity * times * (SATURATION + 1) / (times + norms[places])
    return scores


def _terms(text: str) -> list[str]:
    """Folded words, and every two neighbouring Chinese characters."""
    terms: list[str] = []
    for run in _RUN.findall(text.casefold()):
        is_chinese = len(run) > 1 and is_cjk(run[0])
        terms += [run[at : at + 2] for at in range(len(run) - 1)] if is_chinese else [run]
    return terms


COMPARED_SCENES = 5
"""Novelty is judged by so many of the earlier scenes that are most like a passage: one may be alike by chance."""

WIDEST_GAP = 16
"""Most characters between two passages that stand side by side: line breaks and marks, no sentence."""


def shared_words(table: CandidateTable, scene: SelectionScene) -> Column:
    """Weigh the words that each candidate shares with the plan as one query, rare ones most, beside its names."""
    is_name = np.array([query.kind in NAME_KINDS for query in scene.queries], dtype=bool)
    is_whole = np.array([query.kind == "plan" for query in scene.queries], dtype=bool)
    is_plan = is_whole if is_whole.any() else ~is_name
    scores = word_scores(
        [row.chunk.content for row in table.candidates], [search_query.text for search_query in scene.queries]
    )
    by_plan, by_names = (scores[rows].sum(axis=0) for rows in (is_plan, is_name))
    return standardise(by_plan, table.measure) + standardise(by_names, table.measure)


def novelty(table: CandidateTable) -> Column:
    """Score each candidate's novelty against earlier scenes."""
    vectors, present = stack_vectors(table.candidates)
    rows = np.flatnonzero(present & (table.scene_of >= 0))
    told_rows = np.full(len(table.candidates), np.nan)
    if not len(rows):
        return told_rows
    rows = rows[np.argsort(table.scene_of[rows], kind="stable")]
    apart = unit_rows(vectors[rows] - vectors[rows].mean(axis=0))
    scenes, begins = np.unique(table.scene_of[rows], return_index=True)
    closest = np.maximum.reduceat(apart @ apart.T, begins, axis=1)
    closest[scenes >= table.scene_of[rows][:, np.newaxis]] = np.nan
    # Sorted, the unknown come last; what is alike has the least negative.
    best = np.sort(-closest, axis=1)[:, :COMPARED_SCENES]
    is_known = ~np.isnan(best)
    counts = is_known.sum(axis=1)
    sums = np.where(is_known, best, 0.0).sum(axis=1)
    told_rows[rows] = np.where(counts > 0, sums / np.maximum(counts, 1), np.nan)
    return told_rows


def beside_in_text(candidates: Iterable[Candidate]) -> dict[str, tuple[str, ...]]:
    """Find which passages of one scene stand side by side."""
    by_scene: dict[Place | None, list[tuple[int, int, str]]] = defaultdict(list)
    for candidate in candidates:
        if candidate.chunk.source_span is not None:
            by_scene[candidate.chunk.place].append((*candidate.chunk.source_span, candidate.chunk.chunk_id))
    beside: dict[str, tuple[str, ...]] = defaultdict(tuple)
    for passages in by_scene.values():
        ordered = sorted(passages)
        for (_, end, before), (start, _, after) in pairwise(ordered):
            if start - end <= WIDEST_GAP:
                beside[before] += (after,)
                beside[after] += (before,)
    return dict(beside)


RETOLD_SHARE = 0.8
"""What a summary's bullet or a passage is worth beside a distilled memory that fits the query as well.

Bullets and passages mostly retell a memory of their scene, in words that fit a query by chance. Measured on the
demos and both development books, short and long: a memory's own short form finds it first for .988 to .997 of the
memories, against .095 to .974 without it, and the planner's questions find as many of the facts they are after.
"""


def search_order(
    candidates: Iterable[Candidate], query: str, *, holding: Mapping[str, StoryMemoryChunk] | None = None
) -> list[RankedMemory]:
    """Order a query's results: exact words, then score, ended facts last."""
    matching_candidates = [
        candidate for candidate in candidates if any(hit.query_index is not None for hit in candidate.hits)
    ]
    scores = _scores(matching_candidates)
    asked_text = _plain(query)
    own_words = {
        candidate.chunk.chunk_id
        for candidate in matching_candidates
        if asked_text and asked_text in (_plain(candidate.chunk.content), _plain(candidate.chunk.short or ""))
    }
    by_id = {candidate.chunk.chunk_id: candidate for candidate in matching_candidates}
    best_first = sorted(
        by_id,
        key=lambda name: (
            name not in own_words,
            # Of those that say the very same what holds, then what is distilled, comes first.
            name in own_words
            and (by_id[name].chunk.superseded_by is not None, by_id[name].chunk.content_type not in DISTILLED_TYPES),
            -scores[name],
            name,
        ),
    )
    # Lowered further, what is over costs a search: mean reciprocal rank .490 to .483 and .498 to .490 in two books.
    ordered: dict[str, RankedMemory] = {}
    for name in best_first:
        holder = (holding or {}).get(name)
        pair = [(name, by_id[name].chunk, holder)]
        if holder is not None:
            leader = by_id.get(holder.chunk_id)
            pair.insert(int(name in own_words), (holder.chunk_id, leader.chunk if leader else holder, None))
        for chunk_id, chunk, held_by in pair:
            ranks = by_id[chunk_id].best_ranks(of_queries=True) if chunk_id in by_id else {}
            ranked_memory = RankedMemory(
                chunk=chunk, score=scores.get(chunk_id, 0.0), retrievers=ranks, held_by=held_by
            )
            ordered.setdefault(chunk_id, ranked_memory)
    return list(ordered.values())


def _scores(candidates: Sequence[Candidate]) -> dict[str, float]:
    """Return scores from 0 to 1: the mean over the retrievers, each scaled so that its best hit is 1."""
    by_retriever: dict[str, dict[str, float]] = defaultdict(dict)
    for candidate in candidates:
        for hit in candidate.hits:
            if hit.query_index is not None:
                kept_scores = by_retriever[hit.retriever]
                kept_scores[candidate.chunk.chunk_id] = max(
                    hit.worth, kept_scores.get(candidate.chunk.chunk_id, hit.worth)
                )
    scaled = [_scaled(name, found_scores) for name, found_scores in by_retriever.items()]
    return {
        candidate.chunk.chunk_id: sum(part.get(candidate.chunk.chunk_id, 0.0) for part in scaled)
        / len(scaled)
        * (1.0 if candidate.chunk.content_type in DISTILLED_TYPES else RETOLD_SHARE)
        for candidate in candidates
    }


def _scaled(retriever: str, scores: Mapping[str, float]) -> dict[str, float]:
    """Scale scores to a best of 1, and cosines to a worst of 0."""
    best = max(scores.values())
    least = min(scores.values()) if retriever == SEMANTIC_RETRIEVER else 0.0
    if best <= least:
        return dict.fromkeys(scores, 1.0)
    return {name: (score - least) / (best - least) for name, score in scores.items()}


def _plain(text: str) -> str:
    """Return a text without case, width, punctuation and blanks."""
    folded_text = unicodedata.normalize("NFKC", text).casefold()
    return "".join(character for character in folded_text if character.isalnum())


_WORD = re.compile(f"[^\\W_{CJK_RANGES}]+(?:['’-][^\\W_{CJK_RANGES}]+)*")
_CHINESE_RUN = re.compile(f"[{CJK_RANGES}]+")


def relevance(candidate: Candidate, query: str, query_vector: Vector) -> float:
    """Return a memory's relevance to a query, 0 to 1, by cosine or words."""
    wanted_words = _words(query)
    held_words = wanted_words & _words(f"{candidate.chunk.content}\n{candidate.chunk.short or ''}")
    share = len(held_words) / len(wanted_words) if wanted_words else 0.0
    if candidate.vector is None:
        return share
    length = float(np.linalg.norm(candidate.vector) * np.linalg.norm(query_vector))
    cosine = float(candidate.vector @ query_vector) / length if length else 0.0
    return max(share, min(1.0, cosine))


def _words(text: str) -> frozenset[str]:
    """Folded words and Chinese bigrams, with single characters as themselves."""
    words = {word.casefold() for word in _WORD.findall(text)}
    for run in _CHINESE_RUN.findall(text):
        words |= {run[at : at + 2] for at in range(max(1, len(run) - 1))}
    return frozenset(words)
