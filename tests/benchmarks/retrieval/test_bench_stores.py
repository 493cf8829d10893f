"""Vectors kept on disk by text."""

from pathlib import Path

import pytest

from tests.benchmarks.retrieval.bench_stores import VectorCache


def test_a_text_is_embedded_once(tmp_path: Path) -> None:
    """What was asked before, in this process or an earlier one, is not embedded again."""
    asked: list[str] = []

    def embed(texts: list[str]) -> list[list[float]]:
        asked.extend(texts)
        return [[float(len(text)), 0.5] for text in texts]

    for _ in range(2):
        cache = VectorCache(tmp_path / "new" / "vectors.sqlite3")
        assert cache.look_up("m query", ["aa", "b", "aa"], embed) == [[2, 0.5], [1, 0.5], [2, 0.5]]
        cache.close()
    assert asked == ["aa", "b"]


def test_purposes_are_kept_apart(tmp_path: Path) -> None:
    """A query's vector is not that of a passage with the same text."""
    cache = VectorCache(tmp_path / "vectors.sqlite3")
    cache.look_up("m query", ["a"], lambda _: [[1.0]])
    assert cache.look_up("m passage", ["a"], lambda _: [[2.0]]) == [[2.0]]
    cache.close()


def test_a_failing_model_leaves_nothing_behind(tmp_path: Path) -> None:
    """What the model raises is raised, and the text is asked again."""
    cache = VectorCache(tmp_path / "vectors.sqlite3")

    def fail(_: list[str]) -> list[list[float]]:
        raise RuntimeError("no model")

    with pytest.raises(RuntimeError, match="no model"):
        cache.look_up("m query", ["a"], fail)
    assert cache.look_up("m query", ["a"], lambda _: [[3.0]]) == [[3.0]]
    cache.close()
