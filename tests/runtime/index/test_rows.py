"""Rows: none that makes no sense goes in, none that is not whole, ours and told already comes out; exact search."""

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from novelgen.errors import EmbeddingError
from novelgen.models.position import END_OF_STORY, StoryPosition
from runtime.index.rows import IndexHit, encode_metadata, encode_rows, exact_search, require_vectors, store_id
from tests.runtime.index.story_rows import make_row, random_vectors

places = st.one_of(st.none(), st.integers(0, 1_000_000))
WHOLE: dict[str, Any] = dict(encode_metadata(make_row("a", [1.0], position=(3, 2))))


def is_shown(metadata: dict[str, Any], as_of: StoryPosition = END_OF_STORY) -> bool:
    return IndexHit("text", metadata).text_before(as_of, project_id="demo") is not None


@given(places, places, places, places)
def test_the_cut_is_that_of_story_positions(
    chapter: int | None, scene: int | None, as_of_chapter: int | None, as_of_scene: int | None
) -> None:
    """The metadata say what StoryPosition.admits says, in every combination."""
    scene = scene if chapter is not None else None
    as_of = StoryPosition(as_of_chapter, as_of_scene if as_of_chapter is not None else None)
    metadata: dict[str, Any] = dict(encode_metadata(make_row("a", [1.0], position=(chapter, scene))))
    text = IndexHit("text", metadata).text_before(END_OF_STORY, project_id="demo")
    assert text is not None
    assert (text.chapter_index, text.scene_index) == (chapter, scene)
    assert is_shown(metadata, as_of) == as_of.admits(chapter, scene)


@pytest.mark.parametrize(
    "changes",
    [
        *({key: None} for key in WHOLE),
        {"project_id": "other"},
        {"project_id": ["demo"]},
        {"chapter_index": "3"},
        {"chapter_index": 3.5},
        {"scene_index": True},
    ],
)
def test_foreign_mistyped_and_partial_rows_are_not_shown(changes: dict[str, Any]) -> None:
    """A missing key may have hidden a later position or another project; a whole float is the number it is."""
    assert is_shown(WHOLE | {"chapter_index": 3.0})
    assert not is_shown(WHOLE | changes)
    assert not is_shown({key: value for key, value in (WHOLE | changes).items() if value is not None})
    assert IndexHit("text", WHOLE | {"chunk_id": ""}).text_before(END_OF_STORY, project_id="demo") is None


def test_rows_go_in_and_come_out_whole() -> None:
    """Half characters are replaced, no sentinel leaves the room, and a row needs an id and a scene its chapter."""
    columns = encode_rows([make_row("a", [2.0], content="林\ud800")], dimension=1)
    assert (columns.texts, columns.chunk_ids, columns.vectors.tolist()) == (["林?"], ["a"], [[1.0]])
    assert store_id("one", "a") != store_id("two", "a")
    metadata = encode_metadata(make_row("a", [1.0], source_id=None))
    text = IndexHit("text", metadata).text_before(END_OF_STORY, project_id="demo")
    assert text is not None
    assert (text.source_id, text.chunk_id) == (None, "a")
    with pytest.raises(ValueError, match="chunk_id='' is empty"):
        make_row("", [1.0])
    with pytest.raises(ValueError, match="scene_index=4 was given without chapter_index"):
        make_row("a", [1.0], position=(None, 4))


@pytest.mark.parametrize(
    ("vector", "message"),
    [
        ([1.0, math.nan], "'a' holds NaN or infinity"),
        ([1.0, math.inf], "'a' holds NaN or infinity"),
        ([0.0, 0.0], "'a' is all zeros"),
        ([3e38, 3e38], "'a' is too long or too short"),
        ([1e-30, 0.0], "'a' is too long or too short"),
        ([1.0], r"'a' has shape \(1,\), but the index holds 2 values"),
        ([[1.0, 2.0]], r"'a' has shape \(1, 2\)"),
    ],
)
def test_unusable_vectors_are_refused_by_name(vector: list[float], message: str) -> None:
    """The message names the row and what is wrong; usable ones become one matrix."""
    with pytest.raises(EmbeddingError, match=message):
        require_vectors([vector], dimension=2, names=["'a'"])
    matrix = require_vectors([[1.0, 0.0], np.array([0.0, 2.0])], dimension=2, names=["a", "b"])
    assert (matrix.dtype, matrix.tolist()) == (np.float32, [[1.0, 0.0], [0.0, 2.0]])
    assert require_vectors([], dimension=2, names=[]).shape == (0, 2)


def test_exact_search_gives_rows_best_first_with_their_cosine() -> None:
    """As a full sort does, whatever the lengths; ties by id even at the cut, all where fewer than asked for."""
    matrix = np.array([[0, 5], [3, 0], [1, 1]], dtype=np.float32)
    hits = exact_search(matrix, ["up", "right", "both"], query_vectors=matrix[1:2], top_k=9)[0]
    assert [name for name, _ in hits] == ["right", "both", "up"]
    assert [score for _, score in hits] == pytest.approx([1.0, 2**-0.5, 0.0], abs=1e-6)
    same = np.ones((4, 2), dtype=np.float32)
    hits = exact_search(same, ["d", "b", "c", "a"], query_vectors=same[:1], top_k=2)[0]
    assert [name for name, _ in hits] == ["a", "b"]
    assert exact_search(np.empty((0, 16), np.float32), [], query_vectors=random_vectors(2), top_k=5) == [[], []]
    matrix, question = random_vectors(200), random_vectors(3, seed=9)
    ids = [f"c{index:03d}" for index in range(200)]
    found = exact_search(matrix, ids, query_vectors=question, top_k=7)
    for hits, row in zip(found, question @ matrix.T, strict=True):
        assert [name for name, _ in hits] == [ids[index] for index in np.argsort(-row)[:7]]
    with pytest.raises(ValueError, match="top_k=0 must be at least 1"):
        exact_search(matrix, ids, query_vectors=question, top_k=0)
