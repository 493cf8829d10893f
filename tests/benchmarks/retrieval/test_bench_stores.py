"""Vectors kept on disk by text."""

from pathlib import Path

from tests.benchmarks.retrieval.bench_stores import VectorCache


def test_a_text_is_embedded_once(tmp_path: Path) -> None:
    """What was asked before, in this process or an earlier one, is not embedded again; a passage is no query."""
    asked: list[str] = []

    def embed(texts: list[str]) -> list[list[float]]:
        asked.extend(texts)
        return [[float(len(text)), 0.5] for text in texts]

    for _ in range(2):
        cache = VectorCache(tmp_path / "new" / "vectors.sqlite3")
        assert cache.look_up("m query", ["aa", "b", "aa"], embed) == [[2, 0.5], [1, 0.5], [2, 0.5]]
        cache.close()
    assert asked == ["aa", "b"]
    cache = VectorCache(tmp_path / "new" / "vectors.sqlite3")
    assert cache.look_up("m passage", ["aa"], lambda _: [[9.0]]) == [[9.0]]
    cache.close()
