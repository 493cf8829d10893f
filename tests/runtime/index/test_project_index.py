"""The index of a project stores, finds and forgets rows, on the process that ships."""

import math
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from novelgen.deadlines import Deadline
from novelgen.errors import EmbeddingError, InvalidProjectIdError, VectorIndexError, VectorIndexGoneError
from novelgen.models.position import END_OF_STORY, StoryPosition
from runtime.index.locations import ChromaFolder
from runtime.index.project_index import collection_name, next_index_id
from runtime.index.rows import exact_search
from tests.runtime.index.conftest import OpenIndex, index_in, process_of
from tests.runtime.index.story_rows import DIMENSION, MODEL, make_row, make_rows, random_vectors

POSITIONS = [(None, None), (0, 0), (1, None), (1, 0), (1, 3), (2, 1), (2, None), (5, 0)]


def test_a_row_comes_back_as_it_was_stored_last(shared: OpenIndex) -> None:
    """Every field survives, a second write replaces it whole, and of equal ids in one write the last counts."""
    whole = shared("whole")
    whole.add(
        [make_row("甲", [1.0] * DIMENSION, project_id="whole", position=(4, None), source_id=None, content="林黛玉")]
    )
    (text,) = whole.texts_before([[2.0] * DIMENSION], END_OF_STORY, top_k=5)[0]
    assert (text.chunk_id, text.project_id, text.chapter_index, text.scene_index) == ("甲", "whole", 4, None)
    assert (text.source_id, text.content, text.content_type) == (None, "林黛玉", "memory")
    twice = shared("twice")
    twice.add([make_row("a", [1.0] * DIMENSION, project_id="twice", position=(2, 3))])
    for _ in range(2):
        twice.add([make_row("a", [1.0] * DIMENSION, project_id="twice", position=(None, None), source_id=None)])
    (text,) = twice.texts_before([[1.0] * DIMENSION], END_OF_STORY, top_k=5)[0]
    assert (text.chapter_index, text.scene_index, text.source_id) == (None, None, None)
    several = shared("several")
    again = make_row("c0000", random_vectors(1)[0], project_id="several", content="newer")
    assert several.add([*make_rows(2, project_id="several"), again]) == ["c0000", "c0001"]
    assert several.list_ids(["c0000", "c0001"]) == {"c0000", "c0001"}
    assert several.query(random_vectors(1), top_k=1)[0][0].content == "newer"
    with pytest.raises(ValueError, match="row 'c0001' is of project 'demo', not 'several'"):
        several.add([again, make_rows(2)[1]])


def test_it_agrees_with_exact_search(shared: OpenIndex) -> None:
    """On random vectors the index finds what the oracle finds, in its order."""
    rows = make_rows(400, project_id="oracle")
    index = shared("oracle")
    index.add(rows)
    questions = random_vectors(8, seed=7)
    matrix = np.stack([np.asarray(row.vector) for row in rows])
    truth = exact_search(matrix, [row.chunk_id for row in rows], query_vectors=questions, top_k=10)
    contents = {row.chunk_id: row.content for row in rows}
    for hits, expected in zip(index.query(questions, top_k=10), truth, strict=True):
        assert [hit.chunk_id for hit in hits] == [chunk_id for chunk_id, _ in expected]
        assert [hit.content for hit in hits] == [contents[hit.chunk_id] for hit in hits]


def test_look_alike_projects_stay_apart(shared: OpenIndex) -> None:
    """A vector is found in its own project only, and top_k must be at least one."""
    names = ["Emma", "emma", "emma ii", "emma-ii", "红楼梦", "红樓梦", "a", "b" * 100]
    for name in names:
        shared(name).add([make_row("same", [1.0] * DIMENSION, project_id=name, content=name)])
    for name in names:
        assert [hit.content for hit in shared(name).query([[1.0] * DIMENSION], top_k=9)[0]] == [name]
    with pytest.raises(ValueError, match="top_k=0"):
        shared("a").query(random_vectors(1), top_k=0)


def test_deleted_and_dropped_rows_are_gone(shared: OpenIndex) -> None:
    """Deleting twice is no error, never written is empty, and what was dropped may be written again."""
    deleted = shared("deleted")
    deleted.add(make_rows(5, project_id="deleted"))
    known = [f"c{number:04d}" for number in range(5)]
    for _ in range(2):
        deleted.delete(["c0001", "c0003", "never"])
    shared("deleted-nothing").delete(["x"])
    assert deleted.list_ids(known) == {"c0000", "c0002", "c0004"}
    empty = shared("empty")
    assert empty.query(random_vectors(2), top_k=3) == [[], []]
    assert empty.list_ids(["x"]) == set()
    empty.drop()
    dropped = shared("dropped")
    dropped.add(make_rows(3, project_id="dropped"))
    dropped.drop()
    assert dropped.query(random_vectors(1), top_k=3) == [[]]
    dropped.add(make_rows(1, project_id="dropped"))
    assert dropped.list_ids(known) == {"c0000"}


@pytest.mark.parametrize("project_id", [None, "", {"$ne": "x"}, ["emma"], "../emma", "a/b"])
def test_what_is_no_project_id_is_refused_before_anything_is_read(shared: OpenIndex, project_id: Any) -> None:
    """Filters, lists, paths and nothing at all are no project."""
    with pytest.raises(InvalidProjectIdError, match="project_id"):
        shared(project_id)


@pytest.mark.parametrize("bad", [math.nan, math.inf, 3e38])
def test_unusable_vectors_reach_neither_write_nor_question(shared: OpenIndex, bad: float) -> None:
    """NaN, infinity and what overflows are named and refused, and nothing of the batch is stored."""
    index = shared("bad")
    broken = [1.0] * (DIMENSION - 1) + [bad]
    with pytest.raises(EmbeddingError, match=r"'b' (holds NaN or infinity|is too long)"):
        index.add([make_row("a", [1.0] * DIMENSION, project_id="bad"), make_row("b", broken, project_id="bad")])
    with pytest.raises(EmbeddingError, match=r"question 0 (holds NaN or infinity|is too long)"):
        index.query([broken], top_k=1)
    assert index.list_ids(["a", "b"]) == set()


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    chapter=st.one_of(st.none(), st.integers(0, 6)),
    scene=st.one_of(st.none(), st.integers(0, 4)),
    top_k=st.integers(1, 60),
    seed=st.integers(0, 1000),
)
def test_every_cut_finds_what_the_oracle_finds(
    shared: OpenIndex, chapter: int | None, scene: int | None, top_k: int, seed: int
) -> None:
    """By what the store says alone, however much the cut leaves out, top_k is filled if it can be."""
    rows = make_rows(64, project_id="cuts", positions=POSITIONS)
    index = shared("cuts")
    if not index.list_ids():
        index.add(rows)
    as_of = StoryPosition(chapter, scene if chapter is not None else None)
    visible = [row for row in rows if as_of.admits(row.chapter_index, row.scene_index)]
    question = random_vectors(1, seed=seed)
    matrix = np.array([row.vector for row in visible], dtype=np.float32).reshape(-1, DIMENSION)
    truth = exact_search(matrix, [row.chunk_id for row in visible], query_vectors=question, top_k=top_k)[0]
    texts = index.texts_before(question, as_of, top_k=top_k)[0]
    assert [text.chunk_id for text in texts] == [chunk_id for chunk_id, _ in truth]


def test_an_early_cut_in_a_long_story_still_fills_top_k(shared: OpenIndex) -> None:
    """Where nearly all near rows lie later, the few early ones are found all the same."""
    index = shared("long")
    index.add(make_rows(1_200, project_id="long", positions=[(chapter, 1) for chapter in range(100)]))
    found = index.texts_before(random_vectors(3, seed=5), StoryPosition(1), top_k=12, deadline=Deadline.after(30))
    assert [len(texts) for texts in found] == [12, 12, 12]
    assert {text.chapter_index for texts in found for text in texts} == {0}


def test_threads_share_one_index(shared: OpenIndex) -> None:
    """Writers and readers at once lose and mix nothing."""

    def work(number: int) -> str:
        index = shared(f"thread-{number}")
        rows = make_rows(20, project_id=f"thread-{number}", seed=number)
        index.add(rows)
        return index.query([rows[3].vector], top_k=1, deadline=Deadline.after(30))[0][0].chunk_id

    with ThreadPoolExecutor(6) as threads:
        assert list(threads.map(work, range(6))) == ["c0003"] * 6


@pytest.mark.parametrize("change", [{"embedding_model": "another-model"}, {"dimension": 8}, {"index_id": "live-b"}])
def test_another_model_dimension_or_place_is_another_collection(shared: OpenIndex, change: dict[str, Any]) -> None:
    """Vectors of two models never meet; who knows that rows were written is told that they are not here."""
    project_id = f"changed {next(iter(change))}"
    shared(project_id).add(make_rows(3, project_id=project_id))
    other = shared(project_id, **change)
    vector = [1.0] * other.collection.dimension
    assert other.query([vector], top_k=1) == [[]]
    with pytest.raises(VectorIndexGoneError, match=r"rows were written .* but are gone"):
        other.query([vector], top_k=1, must_hold_rows=True)
    with pytest.raises(VectorIndexGoneError, match="rebuild it"):
        other.add([make_row("new", vector, project_id=project_id)], must_hold_rows=True)
    other.add([make_row("new", vector, project_id=project_id)])
    assert other.list_ids(["new"]) == {"new"}
    assert len(shared(project_id).list_ids()) == 3


def test_collections_are_named_by_place_and_model() -> None:
    """Two places take turns, and a name says nothing of the project."""
    assert [next_index_id("a1"), next_index_id("a1-b")] == ["a1-b", "a1"]
    name = collection_name("红楼梦", index_id="a1", embedding_model=MODEL, dimension=DIMENSION)
    assert name.isascii()
    assert len(name) < 63
    assert name != collection_name("红楼梦", index_id="a1-b", embedding_model=MODEL, dimension=DIMENSION)
    assert name.endswith(
        collection_name("红楼梦", index_id=None, embedding_model=MODEL, dimension=DIMENSION).lstrip("*")
    )


@pytest.mark.slow
def test_without_the_id_an_embedded_index_answers_from_what_is_there(open_index: OpenIndex, tmp_path: Any) -> None:
    """With SQL down nobody knows which collection is live: the only one of the model is."""
    index = ChromaFolder(tmp_path / "vectors")
    rows = make_rows(10)
    open_index(index).add(rows)
    nameless = open_index(index, index_id=None)
    assert nameless.texts_before([rows[4].vector], END_OF_STORY, top_k=1)[0][0].chunk_id == "c0004"
    with pytest.raises(VectorIndexError, match="holds nothing of this project and embedding model"):
        open_index(index, index_id=None, embedding_model="another").query([rows[0].vector], top_k=1)


@pytest.mark.slow
def test_rows_outlive_the_program(open_index: OpenIndex, tmp_path: Any) -> None:
    """What was acknowledged is there after closing and opening again."""
    index = ChromaFolder(tmp_path / "vectors")
    first = open_index(index)
    first.add(make_rows(10))
    process_of(first).close()
    assert len(index_in(process_of(open_index(index))).list_ids()) == 10
