"""What tells passages apart where a story has nothing else."""

import numpy as np
import pytest

from novelgen.memory.query_scores import beside_in_text, lay_out, novelty, shared_words, word_scores
from novelgen.memory.select import select_memories
from novelgen.memory.weights import SelectionWeights
from tests.novelgen.memory.build import candidate, crowd, plan_scene, query


def passage(name: str, scene: int = 1, axis: int | None = None, **fields):
    """A passage of the text."""
    return candidate(name, scene, axis, content_type="scene", **fields)


def test_rare_words_weigh_more() -> None:
    """A word of every text says little, each query has its own scores, and nothing to score has none."""
    texts = ["the map", "the inn", "the inn", "the inn"]
    by_map, by_inn, by_the = word_scores(texts, ["map", "inn", "the"])
    assert by_map[0] > by_inn[1] > by_the[0] > 0
    assert by_map.tolist()[1:] == [0.0, 0.0, 0.0]
    assert word_scores([], ["map"]).shape == (1, 0)
    assert word_scores(["…", ""], ["map", ""]).tolist() == [[0.0, 0.0], [0.0, 0.0]]
    assert word_scores(["map"], []).shape == (0, 1)


def test_the_whole_plan_speaks_beside_its_names():
    """Other queries are parts of the plan; they stand for it only where it was not asked as a whole."""
    rows = [passage("key", content="The key."), passage("name", content="Ada."), passage("none", content="Rain.")]
    queries = (query("the key", "whole"), query("rain", "action"), query("Ada", "character"))
    scene = plan_scene(queries=queries)
    key, name, none = shared_words(lay_out(rows, scene), scene)
    assert min(key, name) > none
    parts = plan_scene(queries=queries[1:])
    key, name, none = shared_words(lay_out(rows, parts), parts)
    assert min(none, name) > key


def test_what_was_told_before_is_not_new() -> None:
    """A passage is held against those of earlier scenes; what cannot be compared is not judged."""
    rows = [passage("a", 1, 0), passage("b", 2, 0), passage("c", 3, 1), passage("d", 3, 1), passage("e", 4)]
    scene = plan_scene()
    first, again, fresh, beside, unknown = novelty(lay_out(rows, scene))
    assert np.isnan([first, unknown]).all()
    assert fresh == beside > again
    assert np.isnan(novelty(lay_out(crowd(3), plan_scene()))).all()
    assert np.isnan(novelty(lay_out([passage("a", 1, 0), passage("b", 2, 0)], plan_scene(scenes=0)))).all()


def test_passages_of_one_scene_stand_side_by_side():
    """Where no text lies between them; other scenes and what has no place in the text stand alone."""
    rows = [
        passage("a", source_span=(0, 90)),
        passage("b", source_span=(92, 200)),
        passage("c", source_span=(202, 300)),
        passage("far", source_span=(400, 500)),
        passage("other", 2, source_span=(91, 200)),
        passage("nowhere"),
    ]
    assert beside_in_text(rows) == {"a": ("b",), "b": ("a", "c"), "c": ("b",)}


@pytest.mark.parametrize(("content_type", "is_brought"), [("scene", True), ("memory", False)])
def test_a_passage_brings_the_one_beside_it_where_only_passages_are_stored(content_type, is_brought):
    """A fact is often told across two passages; memories are whole."""
    spans = {"source_span": (0, 90)}, {"source_span": (91, 180)}
    rows = [
        *crowd(16, content_type=content_type),
        candidate("key", 17, content="Ada hid the brass key.", content_type=content_type, **spans[0]),
        candidate("next", 17, content="It lay there in the dry for years.", content_type=content_type, **spans[1]),
    ]
    scene = plan_scene(queries=(query("the brass key", "whole"),))
    alone, brought = (
        [item.chunk_id for item in select_memories(rows, scene, weights=weights).items]
        for weights in (SelectionWeights(beside_points=0), SelectionWeights(beside_points=9))
    )
    assert (alone != brought) is is_brought
    assert is_brought is (brought[:2] == ["next", "key"] or brought[:2] == ["key", "next"])
