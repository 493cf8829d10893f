"""The one entry: candidates in, the memories of the planned scene out, scored part by part, each with its receipt."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from novelgen.language.language import TokenCounter, estimate_tokens, rarity_of
from novelgen.memory import query_scores
from novelgen.memory.budget import (
    ChosenForm,
    Filling,
    Priced,
    choose_form,
    fill,
    fill_further,
    forms_of_chosen,
    gain_per_token,
)
from novelgen.memory.query_scores import MIN_DISTILLED, CandidateTable, Column, Mask, lay_out, standardise, unit_rows
from novelgen.memory.retelling import DuplicateFinder
from novelgen.memory.search import CALLED_NOTES_RETRIEVER, LEXICAL_RETRIEVER, Candidate, SelectionScene
from novelgen.memory.weights import DEFAULT_WEIGHTS, SelectionWeights
from novelgen.models.context import ContextItem, LeftOutItem, LeftOutWhy
from novelgen.models.memory import DISTILLED_TYPES, PASSAGE_TYPES, SUMMARY_TYPE, StoryMemoryChunk
from novelgen.models.state import LOOP_WEIGHTS, UNRESOLVED_STATUSES

Places = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class SceneTies:
    """Sparse ties between similar scenes."""

    count: int
    sources: Places
    targets: Places
    shares: Column

    def gathered(self, values: Column) -> Column:
        """Return the weighted mean of tied scenes, 0 without ties."""
        return self._summed(self.sources, self.shares * values[self.targets])

    def passed_on(self, values: Column) -> Column:
        """Let each scene hand its value on to those that it is tied to, by their shares."""
        return self._summed(self.targets, self.shares * values[self.sources])

    def _summed(self, places: Places, values: Column) -> Column:
        return np.asarray(np.bincount(places, values, minlength=self.count), dtype=np.float64)


def surroundings(ordinals: Places, weights: SelectionWeights) -> SceneTies:
    """Tie scenes to those just before and after them."""
    count = len(ordinals)
    earlier = [np.arange(max(0, count - step)) for step in range(1, weights.scene_reach + 1)]
    later = [places + step for step, places in enumerate(earlier, start=1)]
    first, second = joined(earlier), joined(later)
    distance = ordinals[second] - ordinals[first]
    near = distance <= weights.scene_reach
    first, second = first[near], second[near]
    worth = weights.scene_decay ** distance[near].astype(float)
    return _in_shares(count, np.concatenate([first, second]), np.concatenate([second, first]), np.tile(worth, 2))


def similar_scenes(table: CandidateTable, weights: SelectionWeights) -> SceneTies:
    """Tie each scene to the nearest ones by memory embeddings."""
    count = len(table.scenes)
    ties = min(weights.scene_neighbours, count - 1)
    vectors = _scene_vectors(table) if ties >= 1 else None
    if vectors is None:
        return _in_shares(count, joined([]), joined([]), np.zeros(0))
    others = vectors @ vectors.T
    np.fill_diagonal(others, -1.0)
    least = np.partition(others, count - ties, axis=1)[:, count - ties]
    near = others >= np.maximum(least, np.finfo(np.float32).tiny)[:, np.newaxis]
    # One dimension is searched several times faster than two.
    chosen_rows, choice = np.divmod(np.flatnonzero(near), count)
    cells = np.unique(np.concatenate([chosen_rows * count + choice, choice * count + chosen_rows]))
    sources, targets = np.divmod(cells, count)
    return _in_shares(count, sources, targets, others[sources, targets].astype(float))


def spread_evidence(evidence: Column, ties: SceneTies, weights: SelectionWeights) -> Column:
    """Let the evidence of sure scenes flow along ties (personalised PageRank)."""
    seed = np.maximum(evidence, 0.0) ** 2
    if not seed.sum():
        return np.zeros(len(evidence))
    seed = seed / seed.sum()
    share = seed
    for _ in range(weights.spreading_steps):
        share = weights.restart * seed + (1 - weights.restart) * ties.passed_on(share)
    return np.log(share * len(share) + 0.02)


def _scene_vectors(table: CandidateTable) -> NDArray[np.float32] | None:
    """Centred mean vector of each scene's memories, or None without embeddings."""
    vectors, present = query_scores.stack_vectors(table.candidates)
    used_mask = present & table.measure & (table.scene_of >= 0)
    if not used_mask.any():
        return None
    by_scene = np.argsort(table.scene_of[used_mask], kind="stable")
    scenes, begins = np.unique(table.scene_of[used_mask][by_scene], return_index=True)
    apart = unit_rows(vectors[used_mask] - vectors[used_mask].mean(axis=0))
    sums = np.zeros((len(table.scenes), apart.shape[1]), dtype=np.float32)
    sums[scenes] = np.add.reduceat(apart[by_scene], begins)
    return unit_rows(sums)


def _in_shares(count: int, sources: Places, targets: Places, worth: Column) -> SceneTies:
    totals = np.maximum(np.bincount(sources, worth, minlength=count), np.finfo(float).tiny)
    return SceneTies(count, sources, targets, worth / totals[sources])


def joined(parts: list[Places]) -> Places:
    """Concatenate lists of places."""
    return np.concatenate([np.zeros(0, dtype=np.intp), *parts])


MAX_SCENES = 1000
"""So many scenes lend each other evidence: what compares scenes with scenes grows with the square of their number."""


LASTING = {"rule_or_canon": 1, "journey": -1, "arrival": -1, "departure": -1, "plan": -1}
"""Kinds of events that later scenes need more (1) or less (-1) than others of the same importance."""


@dataclass(frozen=True, eq=False)
class Scores:
    """Scores of a table's candidates."""

    total: Column
    parts: dict[str, Column]

    def of(self, row: int) -> dict[str, float]:
        """Points of one candidate, parts that say nothing left out."""
        return {name: round(float(points[row]), 3) for name, points in self.parts.items() if points[row]}


def score_candidates(table: CandidateTable, scene: SelectionScene, weights: SelectionWeights) -> Scores:
    """Score every candidate.

    Passages of unread scenes are scored among themselves, so that a further note or record changes no order of them.
    """
    untold = untold_rows(table, scene)
    if not untold.any() or untold.all():
        return _scores_of_one_kind(table, scene, weights)
    scores = [
        (rows, _scores_of_one_kind(lay_out([table.candidates[row] for row in rows], scene), scene, weights))
        for rows in (np.flatnonzero(~untold), np.flatnonzero(untold))
    ]
    parts: dict[str, Column] = {}
    for rows, group in scores:
        for name, points in group.parts.items():
            parts.setdefault(name, np.zeros(len(table.candidates)))[rows] = points
    parts["unread"] = np.where(untold, _unread_points(table, untold), 0.0)
    return Scores(total=np.sum(list(parts.values()), axis=0), parts=parts)


def untold_rows(table: CandidateTable, scene: SelectionScene) -> Mask:
    """Return the mask of the passages of unread scenes."""
    return np.array(
        [
            candidate.chunk.content_type in PASSAGE_TYPES and candidate.chunk.place in scene.unread_places
            for candidate in table.candidates
        ],
        dtype=bool,
    )


MOST_UNREAD_POINTS = 3.0
"""No passage is worth less than a memory by more."""


def _unread_points(table: CandidateTable, untold: Mask) -> float:
    """Return the points of passages beside memories.

    The facts of a scene are spread over more passages than memories.
    """
    is_memory = np.array([candidate.chunk.content_type == "memory" for candidate in table.candidates], dtype=bool)
    of_scene = [
        mask.sum() / max(1, len(np.unique(table.scene_of[mask & (table.scene_of >= 0)])))
        for mask in (is_memory, untold)
    ]
    ratio = max(of_scene[0], 1.0) / max(of_scene[1], 1.0)
    return float(np.clip(np.log(ratio), -MOST_UNREAD_POINTS, 0.0))


def _scores_of_one_kind(table: CandidateTable, scene: SelectionScene, weights: SelectionWeights) -> Scores:
    """Score candidates: a sum of standardised parts and of fixed points, which reads like log-odds."""
    parts = {
        name: weight * standardise(column, table.measure)
        for name, weight, column in _weighted_columns(table, scene, weights)
    }
    parts |= _fixed_points(table, scene, weights)
    total = np.sum(list(parts.values()), axis=0) if table.candidates else np.zeros(0)
    return Scores(total=total, parts=parts)


def entity_overlap(table: CandidateTable, entity_ids: frozenset[str]) -> Column:
    """Sum the rarity of entities shared with the plan."""
    entity_sets = [frozenset(row.chunk.entities_mentioned) for row in table.candidates]
    counts = Counter(
        entity for row, is_counted in zip(entity_sets, table.measure, strict=True) if is_counted for entity in row
    )
    total = int(table.measure.sum())
    rarity = {e: max(0.0, rarity_of(counts[e], total)) for e in entity_ids}
    return np.array([sum(rarity[e] for e in sorted(row & entity_ids)) for row in entity_sets], dtype=float)


def loop_weights(table: CandidateTable, scene: SelectionScene) -> Column:
    """Return the weight of each scene's weightiest open thread."""
    weights: dict[tuple[int | None, int | None], int] = {}
    for loop in scene.open_loops:
        if loop.status in UNRESOLVED_STATUSES and loop.said_from is None:
            key = (loop.chapter_index, loop.scene_index)
            weights[key] = max(weights.get(key, 0), LOOP_WEIGHTS[loop.importance])
    return np.array([weights.get(scene, 0) for scene in table.scenes], dtype=float)


def _weighted_columns(
    table: CandidateTable, scene: SelectionScene, weights: SelectionWeights
) -> list[tuple[str, float, Column]]:
    voting = [number for number, query in enumerate(scene.queries) if query.kind in weights.voting_kinds]
    similarities = query_scores.semantic_scores(scene, voting, table.candidates, table.measure)
    if table.is_distilled and not similarities.any():
        # The index or its model failed: words stand in for meaning. Passages alone are weighed by words anyway.
        similarities = query_scores.retriever_scores(LEXICAL_RETRIEVER, voting, table.candidates)
    meaning = standardise(similarities, table.measure)
    by_meaning = query_scores.pool_best(meaning, weights.best_queries)
    of_text: list[tuple[str, float, Column]] = []
    if table.is_distilled:
        relevance, related, entities = query_scores.pool_best(meaning, 1), by_meaning, weights.entities
        share = min(1.0, scene.ordinal / weights.whole_story_scenes)
        spreading = share * weights.spreading
    else:
        words = query_scores.shared_words(table, scene)
        of_text = [
            ("words", weights.text_alone_words, words),
            ("novelty", weights.text_alone_novelty, query_scores.novelty(table)),
        ]
        related = by_meaning + weights.lexical_share * words
        relevance, entities, share = by_meaning, weights.text_alone_entities, 1.0
        spreading = weights.text_alone_spreading
    bullets = _lifted(table.best_of_scene(by_meaning, table.summaries))
    everywhere = np.ones(len(table.scenes), dtype=bool)
    memories = _lifted(table.best_of_scene(related, table.measure))
    flow, around = _scene_parts(
        table, weights, standardise(memories, everywhere) + weights.bullet_share * standardise(bullets, everywhere)
    )
    importance = np.array([row.chunk.importance for row in table.candidates], dtype=float)
    return [
        ("relevance", share * weights.relevance + (1 - share) * weights.early_relevance, relevance),
        *of_text,
        ("importance", weights.importance, importance),
        ("entities", entities, entity_overlap(table, scene.entity_ids)),
        ("open_loops", weights.open_loops, table.spread(loop_weights(table, scene))),
        ("spreading", spreading, table.spread(flow)),
        # Passages alone say nothing of what lies around the scenes like theirs.
        ("surroundings", share * weights.surroundings if table.is_distilled else 0.0, table.spread(around)),
        ("summaries", share * weights.summaries, table.spread(bullets)),
    ]


def _scene_parts(table: CandidateTable, weights: SelectionWeights, evidence: Column) -> tuple[Column, Column]:
    """The flow from similar scenes and the surroundings, bounded by `MAX_SCENES`."""
    if len(evidence) <= MAX_SCENES:
        return _parts_of_scenes(table, weights, evidence)
    kept_rows = np.sort(np.argsort(-evidence, kind="stable")[:MAX_SCENES])
    flow, around = np.full((2, len(evidence)), np.nan)
    flow[kept_rows], around[kept_rows] = _parts_of_scenes(table.of_scenes(kept_rows), weights, evidence[kept_rows])
    return _lifted(flow), _lifted(around)


def _parts_of_scenes(table: CandidateTable, weights: SelectionWeights, evidence: Column) -> tuple[Column, Column]:
    """The two parts over all scenes, falling back to story order."""
    near = surroundings(table.ordinals, weights)
    around = near.gathered(evidence)
    if not table.is_distilled:
        return spread_evidence(evidence, near, weights), around
    alike = similar_scenes(table, weights)
    ties = alike if len(alike.sources) else near
    everywhere = np.ones(len(table.scenes), dtype=bool)
    sure = standardise(evidence, everywhere) + standardise(around, everywhere)
    return spread_evidence(sure, ties, weights), ties.gathered(around)


def _lifted(evidence: Column) -> Column:
    """Give scenes without evidence the least that was found: the retrievers looked, and passed them over."""
    known_evidence = evidence[~np.isnan(evidence)]
    return np.nan_to_num(evidence, nan=float(known_evidence.min()) if len(known_evidence) else 0.0)


def _fixed_points(table: CandidateTable, scene: SelectionScene, weights: SelectionWeights) -> dict[str, Column]:
    chunks = [row.chunk for row in table.candidates]
    is_called = [
        row.chunk.tier != "pinned" and any(hit.retriever == CALLED_NOTES_RETRIEVER for hit in row.hits)
        for row in table.candidates
    ]
    border = scene.ordinal - weights.at_hand_scenes
    at_hand = table.spread((table.ordinals >= border).astype(float)) == 1.0
    if scene.told_ids is not None:
        # A memory of a scene at hand is at hand itself only where a line conveys it.
        conveyed = [c.content_type not in DISTILLED_TYPES or c.chunk_id in scene.told_ids for c in chunks]
        at_hand &= np.array(conveyed, dtype=np.bool_)
    beside_memories = not bool(table.measure.all()) or any(c.content_type in DISTILLED_TYPES for c in chunks)
    kinds = {SUMMARY_TYPE: weights.summary_points} if beside_memories else {}
    other = weights.passage_points if beside_memories else 0.0
    kind_points = [
        weights.lasting_points * LASTING.get(c.event_type or "", 0)
        if c.content_type in DISTILLED_TYPES
        else kinds.get(c.content_type, other)
        for c in chunks
    ]
    return {
        "at_hand": np.where(at_hand, weights.at_hand_points, 0.0),
        "superseded": np.array([weights.superseded_points if c.superseded_by else 0.0 for c in chunks]),
        "unverified": np.array([0.0 if c.verified else weights.unverified_points for c in chunks]),
        "consolidated": np.array([weights.consolidated_points if c.is_consolidated else 0.0 for c in chunks]),
        "pinned": np.array([weights.pinned_points if c.tier == "pinned" else 0.0 for c in chunks]),
        "called": np.array([weights.pinned_points if called else 0.0 for called in is_called]),
        "kind": np.array(kind_points, dtype=float),
    }


NOTABLE_POINTS = 0.2
"""Points from which a part is named among an item's reasons."""


@dataclass(frozen=True)
class Selection:
    """The selection: memories best first, receipts and near misses."""

    chunks: tuple[StoryMemoryChunk, ...] = ()
    items: tuple[ContextItem, ...] = ()
    left_out: tuple[LeftOutItem, ...] = ()

    @property
    def tokens(self) -> int:
        """Tokens of all items together."""
        return sum(item.tokens for item in self.items)

    @property
    def passage_tokens(self) -> int:
        """Tokens of those that are verbatim text."""
        pairs = zip(self.items, self.chunks, strict=True)
        return sum(item.tokens for item, chunk in pairs if chunk.content_type in PASSAGE_TYPES)


def select_memories(
    candidates: Iterable[Candidate],
    scene: SelectionScene,
    *,
    weights: SelectionWeights = DEFAULT_WEIGHTS,
    budget_tokens: int = 2000,
    spare_tokens: int = 0,
    count_tokens: TokenCounter = estimate_tokens,
    top_k: int | None = None,
    first_ids: Sequence[str] = (),
) -> Selection:
    """Choose what the planned scene must remember.

    `first_ids` go before all others, in that order; passages of unread scenes may fill `spare_tokens`, too.
    """
    by_score = _Ranked.of(merge_candidates(candidates), scene, weights, count_tokens)
    ranking = by_score.with_first(first_ids, count_tokens, budget_tokens=budget_tokens)
    unlikely = ranking.unlikely(budget_tokens)
    likely = {text: price for text, price in ranking.prices.items() if text not in unlikely}
    stand_in = DuplicateFinder(ranking.table.candidates, weights.near_duplicate_overlap).take
    beside = query_scores.beside_in_text(ranking.passages_alone)
    filling = fill(likely, budget_tokens, stand_in, beside=beside, beside_points=weights.beside_points, top_k=top_k)
    if spare_tokens:
        filling = fill_further(
            filling,
            {chunk_id: likely[chunk_id] for chunk_id in filling.no_room if chunk_id in ranking.untold},
            budget_tokens + spare_tokens - sum(likely[chunk_id].tokens for chunk_id in filling.taken),
            stand_in,
            beside=beside,
            beside_points=weights.beside_points,
            top_k=top_k,
        )
    return Selection(
        chunks=tuple(ranking.candidate(chunk_id).chunk for chunk_id in filling.taken),
        items=tuple(ranking.receipt(chunk_id, filling.lifted.get(chunk_id)) for chunk_id in filling.taken),
        left_out=ranking.left_out(filling, unlikely),
    )


def rank_candidates(
    candidates: Iterable[Candidate], scene: SelectionScene, *, weights: SelectionWeights = DEFAULT_WEIGHTS
) -> list[Candidate]:
    """Return the candidates by score, best first."""
    table = lay_out(merge_candidates(candidates), scene)
    totals = score_candidates(table, scene, weights).total
    return [table.candidates[int(row)] for row in np.argsort(-totals, kind="stable")]


def merge_candidates(candidates: Iterable[Candidate]) -> list[Candidate]:
    """Merge candidates of the same chunk: all hits, the first embedding."""
    merged_candidates_by_id: dict[str, Candidate] = {}
    for candidate in candidates:
        known_candidate = merged_candidates_by_id.get(candidate.chunk.chunk_id)
        if known_candidate is not None:
            vector = known_candidate.vector if known_candidate.vector is not None else candidate.vector
            candidate = Candidate(known_candidate.chunk, known_candidate.hits + candidate.hits, vector)
        merged_candidates_by_id[candidate.chunk.chunk_id] = candidate
    return [merged_candidates_by_id[chunk_id] for chunk_id in sorted(merged_candidates_by_id)]


@dataclass(frozen=True, eq=False)
class _Ranked:
    """The scored table with form, gain and cost by chunk id."""

    table: CandidateTable
    scores: Scores
    weights: SelectionWeights
    rows: dict[str, int]
    forms: dict[str, ChosenForm]
    prices: dict[str, Priced]
    first: Mapping[str, int] = field(default_factory=dict)
    untold: frozenset[str] = frozenset()
    """Passages of scenes without a record: nothing else tells what stands in them."""

    @classmethod
    def of(
        cls, candidates: Sequence[Candidate], scene: SelectionScene, weights: SelectionWeights, count: TokenCounter
    ) -> _Ranked:
        table = lay_out(candidates, scene)
        scores = score_candidates(table, scene, weights)
        rows = {candidate.chunk.chunk_id: row for row, candidate in enumerate(table.candidates)}
        untold = untold_rows(table, scene)
        forms: dict[str, ChosenForm] = {}
        prices: dict[str, Priced] = {}
        for chunk_id, row in rows.items():
            score = float(scores.total[row])
            form = forms[chunk_id] = choose_form(table.candidates[row].chunk, score, weights, count)
            prices[chunk_id] = Priced(gain_per_token(score, form.tokens, weights), form.tokens)
        untold_ids = frozenset(table.candidates[int(row)].chunk.chunk_id for row in np.flatnonzero(untold))
        return cls(table, scores, weights, rows, forms, prices, untold=untold_ids)

    def with_first(self, first_ids: Sequence[str], count: TokenCounter, *, budget_tokens: int) -> _Ranked:
        """Return the ranking with these ids first, ignoring unknown ones."""
        first = {chunk_id: rank for rank, chunk_id in enumerate(first_ids, start=1) if chunk_id in self.rows}
        if not first:
            return self
        chosen_forms_by_id = forms_of_chosen(
            [self.candidate(chunk_id).chunk for chunk_id in first], budget_tokens, count
        )
        above = max(price.gain for price in self.prices.values()) + len(first_ids) + 1
        prices = {
            chunk_id: Priced(above - rank, chosen_forms_by_id[chunk_id].tokens) for chunk_id, rank in first.items()
        }
        return replace(self, forms={**self.forms, **chosen_forms_by_id}, prices={**self.prices, **prices}, first=first)

    @property
    def passages_alone(self) -> list[Candidate]:
        """Passages of unread scenes, or all candidates of a text alone."""
        candidates = self.table.candidates
        if not self.table.is_distilled:
            return list(candidates)
        return [candidate for candidate in candidates if candidate.chunk.chunk_id in self.untold]

    def score(self, chunk_id: str) -> float:
        return float(self.scores.total[self.rows[chunk_id]])

    def candidate(self, chunk_id: str) -> Candidate:
        return self.table.candidates[self.rows[chunk_id]]

    def unlikely(self, budget_tokens: int) -> frozenset[str]:
        """The memories that get no place even where there is room."""
        if len(self.rows) <= MIN_DISTILLED:
            return frozenset()
        holding = [
            candidate.chunk for candidate in self.table.candidates if candidate.chunk.content_type in DISTILLED_TYPES
        ]
        holding = [memory for memory in holding if not memory.superseded_by]
        is_whole = sum(self.prices[memory.chunk_id].tokens for memory in holding) <= budget_tokens
        fitting = {memory.chunk_id for memory in holding} if is_whole else set()
        return frozenset(
            chunk_id
            for chunk_id in self.rows
            if chunk_id not in self.first
            and chunk_id not in self.untold
            and chunk_id not in fitting
            and self.score(chunk_id) < self.weights.least_score
        )

    def receipt(self, chunk_id: str, lifted: float | None) -> ContextItem:
        candidate, chosen_form = self.candidate(chunk_id), self.forms[chunk_id]
        parts = self.scores.of(self.rows[chunk_id]) | ({"beside": lifted} if lifted is not None else {})
        strong = sorted((name for name in parts if parts[name] >= NOTABLE_POINTS), key=lambda n: (-parts[n], n))
        if chunk_id in self.first:
            strong = [f"chosen by the model: rank {self.first[chunk_id]}", *strong]
        return ContextItem(
            chunk_id=chunk_id,
            source_id=candidate.chunk.source_id,
            chapter_index=candidate.chunk.chapter_index,
            scene_index=candidate.chunk.scene_index,
            form=chosen_form.form,
            text=chosen_form.text,
            tokens=chosen_form.tokens,
            prompt_index=0,
            reasons=[*strong, f"full form: {chosen_form.why}"] if chosen_form.why else strong,
            retriever_ranks=({"selector": self.first[chunk_id]} if chunk_id in self.first else {})
            | candidate.best_ranks(),
            score=round(self.score(chunk_id) + (lifted or 0), 3),
            score_parts=parts,
        )

    def left_out(self, filling: Filling, unlikely: frozenset[str]) -> tuple[LeftOutItem, ...]:
        """The best memories not taken, and duplicates of taken ones."""
        reasons_by_id = {
            chunk_id: LeftOutWhy(code="duplicate", values={"twin": twin})
            for chunk_id, twin in filling.duplicates.items()
            if twin in filling.taken
        }
        for chunk_id in unlikely if not filling.no_room else ():
            values = {"score": f"{self.score(chunk_id):.2f}", "least": f"{self.weights.least_score:g}"}
            reasons_by_id[chunk_id] = LeftOutWhy(code="unlikely", values=values)
        reasons_by_id |= dict.fromkeys(filling.no_room, LeftOutWhy(code="no_room"))
        over_count = LeftOutWhy(code="over_top_k", values={"limit": str(len(filling.taken))})
        reasons_by_id |= dict.fromkeys(filling.over_count, over_count)
        nearest = sorted(reasons_by_id, key=lambda chunk_id: (-self.prices[chunk_id].gain, chunk_id))
        return tuple(
            self._missed_item(entity_id, reasons_by_id[entity_id])
            for entity_id in nearest[: self.weights.left_out_receipts]
        )

    def _missed_item(self, chunk_id: str, why: LeftOutWhy) -> LeftOutItem:
        chunk, parts = self.candidate(chunk_id).chunk, self.scores.of(self.rows[chunk_id])
        against = [name for name in ("superseded", "unverified", "at_hand") if name in parts]
        return why.model_copy(update={"lowered_as": against}).item(
            id=chunk_id,
            source_id=chunk.source_id,
            text=chunk.short or chunk.content[:120],
            tokens=self.forms[chunk_id].tokens,
            score=round(self.score(chunk_id), 3),
        )
