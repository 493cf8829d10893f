"""The arithmetic under the choice."""

import numpy as np
import pytest

from novelgen.memory import select
from novelgen.memory.budget import Priced, fill, gain_per_token
from novelgen.memory.query_scores import CLIP, lay_out, pool_best, retriever_scores, semantic_scores, standardise
from novelgen.memory.retelling import content_words
from novelgen.memory.search import Candidate
from novelgen.memory.select import SceneTies, score_candidates, similar_scenes, spread_evidence, surroundings
from novelgen.memory.weights import SelectionWeights
from tests.novelgen.memory.build import AXES, candidate, chunk, crowd, lexical, plan_scene, semantic

ALL = np.ones(4, dtype=bool)


def test_standardise_brings_to_mean_and_deviation() -> None:
    """Unknown values get the mean, none or equal ones zeros, and one far out is clipped."""
    scaled = standardise(np.array([1.0, 3.0, np.nan, 2.0]), ALL)
    assert scaled[2] == 0
    assert scaled[[0, 1, 3]].mean() == pytest.approx(0)
    assert scaled[[0, 1, 3]].std() == pytest.approx(1)
    assert not standardise(np.array([5.0, 5.0, 5.0, 5.0]), ALL).any()
    assert not standardise(np.full(4, np.nan), ALL).any()
    assert standardise(np.array([0.0] * 99 + [1.0]), np.ones(100, dtype=bool)).max() == CLIP


def test_the_best_queries_count_and_the_cheapest_gain_goes_first() -> None:
    """Of equal scores the cheaper gains more, a full one more than a short one, and only what fits is asked for."""
    assert pool_best(np.array([[1.0, 0.0], [3.0, 0.0], [2.0, 9.0]]), 2).tolist() == [2.5, 4.5]
    assert pool_best(np.zeros((0, 2)), 3).tolist() == [0, 0]
    assert gain_per_token(1.0, 10, SelectionWeights()) > gain_per_token(1.0, 30, SelectionWeights())
    gains = {"a": (4, 5), "b": (3, 100), "c": (2, 5), "d": (1, 5), "e": (9, 0)}
    priced = {name: Priced(*each) for name, each in gains.items()}
    filling = fill(priced, 10, {"c": "a"}.get)
    assert filling.taken == ("a", "d")
    assert filling.no_room == ("e", "b")
    assert filling.duplicates == {"c": "a"}


def test_scores_that_are_unknown_are_bounded() -> None:
    """Missing from meaning gets the least, from words nothing; no score counts by rank; no embedding is unknown."""
    rows = [candidate("a", hits=(semantic(1, 0.9), lexical(1, 4.0))), candidate("b", hits=(semantic(2, 0.7),))]
    missing = candidate("c")
    assert retriever_scores("semantic", [0], [*rows, missing]).tolist() == [[0.9, 0.7, 0.7]]
    assert retriever_scores("lexical", [0], [*rows, missing]).tolist() == [[4.0, 0.0, 0.0]]
    scores = retriever_scores("lexical", [0], [candidate("a", hits=(lexical(3),))])
    assert scores.tolist() == [[1 / 63]]
    rows = [candidate("a", axis=0), candidate("b", axis=1), candidate("c")]
    scores = semantic_scores(plan_scene(axis=0), [0], rows, np.ones(3, dtype=bool))
    assert scores[0, 0] > scores[0, 1]
    assert np.isnan(scores[0, 2])


def test_content_words_of_both_languages():
    """Latin words are lowered and short ones dropped, Chinese ones are pairs of characters."""
    assert content_words("The Ring of 金箍棒 is ＨＩＤＤＥＮ") == {"the", "ring", "hidden", "金箍", "箍棒"}


def share(ties: SceneTies, source: int, target: int) -> float:
    """What the source gives of itself to the target."""
    return float(ties.shares[(ties.sources == source) & (ties.targets == target)].sum())


def test_surroundings_fade_with_distance_and_end() -> None:
    """Near scenes weigh more than far ones, beyond the reach nothing, even where the decay makes no number any more."""
    ties = surroundings(np.array([0, 1, 3, 50]), SelectionWeights())
    assert share(ties, 0, 1) > share(ties, 0, 2) > 0
    assert share(ties, 0, 3) == 0
    assert 3 not in ties.sources
    assert ties.shares[ties.sources == 0].sum() == pytest.approx(1)
    ties = surroundings(np.array([0, 150]), SelectionWeights(scene_reach=200, scene_decay=0.001))
    assert ties.gathered(np.ones(2)).tolist() == [0.0, 0.0]


def test_similar_scenes_are_tied_by_meaning() -> None:
    """Those whose memories point the same way, both ways though one alone chose; without embeddings none."""
    rows = [candidate(f"m{i}", i, axis=i % 2) for i in range(1, 7)]
    ties = similar_scenes(lay_out(rows, plan_scene()), SelectionWeights(scene_neighbours=2))
    assert share(ties, 0, 2) > 0
    assert share(ties, 0, 4) > 0
    assert share(ties, 0, 1) == 0
    rows = [candidate("m1", 1, axis=0), candidate("m2", 2, axis=0)]
    rows += [Candidate(chunk("m3", 3), (), (AXES[0] + 0.5 * AXES[1]).astype(np.float32))]
    rows += [candidate(f"n{i}", i, axis=2) for i in range(4, 9)]
    ties = similar_scenes(lay_out(rows, plan_scene()), SelectionWeights(scene_neighbours=1))
    assert share(ties, 2, 0) + share(ties, 2, 1) == pytest.approx(1)
    assert share(ties, 0, 2) + share(ties, 1, 2) > 0
    assert not len(similar_scenes(lay_out(crowd(5), plan_scene()), SelectionWeights()).sources)


def test_evidence_flows_along_ties() -> None:
    """A scene tied to a sure one gets a share, an untied one the least; a table of some forgets the others."""
    ties = SceneTies(3, np.array([0, 1]), np.array([1, 0]), np.array([1.0, 1.0]))
    flow = spread_evidence(np.array([2.0, -1.0, -1.0]), ties, SelectionWeights())
    assert flow[0] > flow[1] > flow[2]
    assert not spread_evidence(np.array([-1.0, 0.0, 0.0]), ties, SelectionWeights()).any()
    table = lay_out(crowd(4), plan_scene())
    narrow = table.of_scenes(np.array([1, 3]))
    assert narrow.ordinals.tolist() == [2, 4]
    assert narrow.scene_of.tolist() == [-1, 0, -1, 1]


def test_of_very_many_scenes_those_with_most_evidence_lend_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """Beyond the bound a scene gives nothing and gets what the least of the others gets; within it, all count."""
    monkeypatch.setattr(select, "MAX_SCENES", 30)
    count = 35
    rows = [candidate("near", 1, axis=0), *(candidate(f"c{at:04d}", at, axis=1) for at in range(2, count + 1))]
    scene = plan_scene(ordinal=2 * count, axis=0, scenes=count)
    table = lay_out(rows, scene)
    spreading = score_candidates(table, scene, SelectionWeights()).parts["spreading"]
    places = {row.chunk.chunk_id: place for place, row in enumerate(table.candidates)}
    assert spreading[places["near"]] > np.median(spreading)
    assert (spreading == spreading.min()).sum() >= 5
    assert np.isfinite(spreading).all()
