"""The embedded index stores, finds and forgets rows, each project for itself."""

import math
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from novelgen.deadlines import Deadline
from novelgen.errors import EmbeddingError, EmbeddingMismatchError, InvalidProjectIdError
from novelgen.models.position import StoryPosition
from runtime.index.locations import EmbeddedIndex
from runtime.index.manager import VectorStoreManager
from runtime.index.rows import exact_search
from runtime.search.search import MAX_ID_LIST
from tests.runtime.index.conftest import OpenManager
from tests.runtime.index.story_rows import DIMENSION, make_row, make_rows, random_vectors

POSITIONS = [(None, None), (0, 0), (1, None), (1, 0), (1, 3), (2, 1), (2, None), (5, 0)]


def test_a_row_comes_back_as_it_was_stored_last(shared: VectorStoreManager) -> None:
    """Every field survives, a second write replaces it whole, and of equal ids in one write the last counts."""
    shared.upsert(
        [make_row("甲", [1.0] * DIMENSION, project_id="whole", position=(4, None), source_id=None, content="林黛玉")]
    )
    hit = shared.query("whole", [[2.0] * DIMENSION], top_k=5)[0][0]
    assert (hit.chunk_id, hit.project_id, hit.chapter_index, hit.scene_index) == ("甲", "whole", 4, None)
    assert (hit.source_id, hit.content, hit.content_type) == (None, "林黛玉", "memory")
    assert hit.similarity == pytest.approx(1.0, abs=1e-5)
    shared.upsert([make_row("a", [1.0] * DIMENSION, project_id="twice", position=(2, 3))])
    for _ in range(2):
        shared.upsert([make_row("a", [1.0] * DIMENSION, project_id="twice", position=(None, None), source_id=None)])
    (hit,) = shared.query("twice", [[1.0] * DIMENSION], top_k=5)[0]
    assert (hit.chapter_index, hit.scene_index, hit.source_id) == (None, None, None)
    again = make_row("c0000", random_vectors(1)[0], project_id="several", content="newer")
    shared.upsert([*make_rows(2, project_id="several"), again])
    assert shared.list_ids("several") == {"c0000", "c0001"}
    assert shared.query("several", random_vectors(1), top_k=1)[0][0].content == "newer"
    with pytest.raises(ValueError, match="row 'c0001' is of project 'demo', not 'several'"):
        shared.upsert([again, make_rows(2)[1]])


def test_it_agrees_with_exact_search(shared: VectorStoreManager) -> None:
    """On random vectors the index finds what the oracle finds, in its order and with its cosines."""
    rows = make_rows(400, project_id="oracle")
    shared.upsert(rows)
    questions = random_vectors(8, seed=7)
    matrix = np.stack([np.asarray(row.vector) for row in rows])
    truth = exact_search(matrix, [row.chunk_id for row in rows], query_vectors=questions, top_k=10)
    contents = {row.chunk_id: row.content for row in rows}
    for hits, expected in zip(shared.query("oracle", questions, top_k=10), truth, strict=True):
        assert [hit.chunk_id for hit in hits] == [chunk_id for chunk_id, _ in expected]
        assert [hit.similarity for hit in hits] == pytest.approx([score for _, score in expected], abs=1e-4)
        assert [hit.content for hit in hits] == [contents[hit.chunk_id] for hit in hits]


def test_look_alike_projects_stay_apart(shared: VectorStoreManager) -> None:
    """A vector is found in its own project only, ties come by id, and top_k must be at least one."""
    shared.upsert(make_row(name, [1.0] * DIMENSION, project_id="ties") for name in "cab")
    assert [hit.chunk_id for hit in shared.query("ties", [[1.0] * DIMENSION], top_k=3)[0]] == ["a", "b", "c"]
    names = ["Emma", "emma", "emma ii", "emma-ii", "红楼梦", "红樓梦", "a", "b" * 100]
    for name in names:
        shared.upsert([make_row("same", [1.0] * DIMENSION, project_id=name, content=name)])
    for name in names:
        assert [hit.content for hit in shared.query(name, [[1.0] * DIMENSION], top_k=9)[0]] == [name]
    with pytest.raises(ValueError, match="top_k=0"):
        shared.query("demo", random_vectors(1), top_k=0)


def test_deleted_and_dropped_rows_are_gone(shared: VectorStoreManager) -> None:
    """Deleting twice is no error, never written is empty, and what was dropped may be written again."""
    shared.upsert(make_rows(5, project_id="deleted"))
    for _ in range(2):
        shared.delete("deleted", ["c0001", "c0003", "never"])
    shared.delete("deleted-nothing", ["x"])
    assert shared.list_ids("deleted") == {"c0000", "c0002", "c0004"}
    assert shared.count("deleted") == 3
    assert shared.query("empty", random_vectors(2), top_k=3) == [[], []]
    assert (shared.list_ids("empty"), shared.count("empty")) == (set(), 0)
    shared.drop("empty")
    shared.upsert(make_rows(3, project_id="dropped"))
    shared.drop("dropped")
    assert shared.query("dropped", random_vectors(1), top_k=3) == [[]]
    shared.upsert(make_rows(1, project_id="dropped"))
    assert shared.count("dropped") == 1


@pytest.mark.parametrize("project_id", [None, "", {"$ne": "x"}, ["emma"], "../emma", "a/b"])
def test_what_is_no_project_id_is_refused_before_anything_is_read(shared: VectorStoreManager, project_id: Any) -> None:
    """Filters, lists, paths and nothing at all are no project."""
    calls = [
        lambda: shared.query(project_id, random_vectors(1), top_k=1),
        lambda: shared.list_ids(project_id),
        lambda: shared.delete(project_id, ["a"]),
        lambda: shared.drop(project_id),
    ]
    for call in calls:
        with pytest.raises(InvalidProjectIdError, match="project_id"):
            call()


@pytest.mark.parametrize("bad", [math.nan, math.inf])
def test_unusable_vectors_reach_neither_write_nor_question(shared: VectorStoreManager, bad: float) -> None:
    """NaN and infinity are named and refused, and nothing of the batch is stored."""
    broken = [1.0] * (DIMENSION - 1) + [bad]
    with pytest.raises(EmbeddingError, match="'b' holds NaN or infinity"):
        shared.upsert([make_row("a", [1.0] * DIMENSION, project_id="bad"), make_row("b", broken, project_id="bad")])
    with pytest.raises(EmbeddingError, match="question 0 holds NaN or infinity"):
        shared.query("bad", [broken], top_k=1)
    assert shared.count("bad") == 0


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    chapter=st.one_of(st.none(), st.integers(0, 6)),
    scene=st.one_of(st.none(), st.integers(0, 4)),
    top_k=st.integers(1, 60),
    allowed=st.one_of(st.none(), st.sets(st.integers(0, 70), max_size=30)),
    seed=st.integers(0, 1000),
)
def test_every_cut_finds_what_the_oracle_finds(
    shared: VectorStoreManager, chapter: int | None, scene: int | None, top_k: int, allowed: set[int] | None, seed: int
) -> None:
    """Position and ids restrict together, and however much they leave out, top_k is filled if it can be."""
    rows = make_rows(64, project_id="cuts", positions=POSITIONS)
    if not shared.count("cuts"):
        shared.upsert(rows)
    as_of = StoryPosition(chapter, scene if chapter is not None else None)
    chunk_ids = None if allowed is None else [f"c{index:04d}" for index in sorted(allowed)]
    visible = [
        row
        for row in rows
        if as_of.admits(row.chapter_index, row.scene_index) and (chunk_ids is None or row.chunk_id in chunk_ids)
    ]
    question = random_vectors(1, seed=seed)
    matrix = np.array([row.vector for row in visible], dtype=np.float32).reshape(-1, DIMENSION)
    truth = exact_search(matrix, [row.chunk_id for row in visible], query_vectors=question, top_k=top_k)[0]
    hits = shared.query("cuts", question, top_k=top_k, as_of=as_of, chunk_ids=chunk_ids)[0]
    assert [hit.chunk_id for hit in hits] == [chunk_id for chunk_id, _ in truth]


def test_an_early_cut_in_a_long_story_still_fills_top_k(shared: VectorStoreManager) -> None:
    """Where nearly all near rows lie later, the few early ones are found all the same."""
    rows = make_rows(1_200, project_id="long", positions=[(chapter, 1) for chapter in range(100)])
    shared.upsert(rows)
    hits = shared.query("long", random_vectors(3, seed=5), top_k=12, as_of=StoryPosition(1))
    assert [len(found) for found in hits] == [12, 12, 12]
    assert {hit.chapter_index for found in hits for hit in found} == {0}


def test_ids_may_be_unknown_repeated_or_many(shared: VectorStoreManager) -> None:
    """Unknown ids are left out, repeated ones count once, and as many as a search ever names are no limit."""
    shared.upsert(make_rows(50, project_id="ids"))
    many = [f"unknown-{index}" for index in range(MAX_ID_LIST)] + ["c0007", "c0007", "c0031"]
    found = shared.query("ids", random_vectors(2, seed=3), top_k=5, chunk_ids=many, deadline=Deadline.after(30))
    assert [{hit.chunk_id for hit in hits} for hits in found] == [{"c0007", "c0031"}] * 2
    assert shared.query("ids", random_vectors(1), top_k=5, chunk_ids=["unknown"]) == [[]]
    assert shared.query("ids", random_vectors(1), top_k=5, chunk_ids=[]) == [[]]


def test_threads_share_one_index(shared: VectorStoreManager) -> None:
    """Writers and readers at once lose and mix nothing."""

    def work(number: int) -> str:
        rows = make_rows(20, project_id=f"thread-{number}", seed=number)
        shared.upsert(rows)
        return shared.query(f"thread-{number}", [rows[3].vector], top_k=1, deadline=Deadline.after(30))[0][0].chunk_id

    with ThreadPoolExecutor(6) as threads:
        assert list(threads.map(work, range(6))) == ["c0003"] * 6


@pytest.mark.parametrize("change", [{"embedding_model": "another-model"}, {"dimension": 8}])
def test_another_model_or_dimension_is_refused(shared: VectorStoreManager, change: dict[str, Any]) -> None:
    """Neither question nor write mixes vectors of two models; the message says what to do."""
    project_id = f"changed {next(iter(change))}"
    shared.upsert(make_rows(3, project_id=project_id))
    other = VectorStoreManager(
        shared.location, **({"embedding_model": shared.embedding_model, "dimension": DIMENSION} | change)
    )
    vector = [1.0] * other.dimension
    try:
        with pytest.raises(EmbeddingMismatchError, match=r"was built with.*run `novelgen reindex`"):
            other.query(project_id, [vector], top_k=1)
        with pytest.raises(EmbeddingMismatchError, match="run `novelgen reindex`"):
            other.upsert([make_row("new", vector, project_id=project_id)])
        assert other.rebuild(project_id, [make_row("new", vector, project_id=project_id)]) == 1
        assert other.query(project_id, [vector], top_k=1)[0][0].chunk_id == "new"
    finally:
        other.close()


def test_rows_outlive_the_program(open_manager: OpenManager, tmp_path: Any) -> None:
    """What was acknowledged is there after closing and opening again."""
    index = EmbeddedIndex(tmp_path / "vectors")
    first = open_manager(index)
    first.upsert(make_rows(10))
    first.close()
    first.close()
    assert open_manager(index).count("demo") == 10
