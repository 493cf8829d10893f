"""Rows 15 and 16: the embedding model raises, hangs, or returns what is no vector."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from novelgen.models.context import MemoryContextRequest, SceneMemoryContext
from runtime.ingest.indexing import drain_outbox, verify_index
from runtime.ingest.ingest import ingest_scene
from runtime.ingest.scene_input import SceneInput
from runtime.providers.hashed_embeddings import HashedNgramEmbeddings
from tests.faults.expectations import (
    HANG_GUARD_S,
    TIGHT,
    awake,
    both_fallbacks,
    require_healthy,
    require_without_index,
)
from tests.faults.matrix import covers

Break = Callable[[Callable[[list[str]], list[list[float]]]], None]


@pytest.fixture
def replace_model(monkeypatch: pytest.MonkeyPatch) -> Iterator[Break]:
    """Put another function in the place of the embedding model, behind the border that checks it."""

    def replace(answer: Callable[[list[str]], list[list[float]]]) -> None:
        monkeypatch.setattr(HashedNgramEmbeddings, "embed_documents", lambda _, texts: answer(texts))
        monkeypatch.setattr(HashedNgramEmbeddings, "embed_query", lambda _, text: answer([text])[0])

    yield replace
    monkeypatch.undo()


def _refuse(texts: list[str]) -> list[list[float]]:
    raise ConnectionError("the embedding server is away")


def _return_nan(texts: list[str]) -> list[list[float]]:
    return [[math.nan] * 64 for _ in texts]


@pytest.mark.parametrize(
    "answer", [pytest.param(_refuse, marks=covers(15)), pytest.param(_return_nan, marks=covers(16))]
)
def test_a_broken_embedding_model_costs_memories_only(
    demo_folder: Path,
    replace_model: Break,
    monkeypatch: pytest.MonkeyPatch,
    request_in_demo: MemoryContextRequest,
    healthy_demo: SceneMemoryContext,
    answer: Callable[[list[str]], list[list[float]]],
) -> None:
    """Contexts go by words; scenes are stored and embedded when the model is back."""
    scene = SceneInput(chapter_index=40, scene_index=1, text="Ines found the heron key in the salt.")
    with both_fallbacks(demo_folder) as stores:
        replace_model(answer)
        require_without_index(stores, request_in_demo, healthy_demo)
        result = ingest_scene(stores.on, "demo", scene)
        assert result.count("added") == 1
        assert result.indexing.waiting > 0
        monkeypatch.undo()
        assert drain_outbox(stores.on, "demo").waiting == 0
        assert verify_index(stores.on, "demo").is_sound
        require_healthy(stores.off, request_in_demo, healthy_demo)


@covers(15)
def test_a_hanging_embedding_model_costs_memories_only(
    demo_folder: Path,
    replace_model: Break,
    request_in_demo: MemoryContextRequest,
    healthy_demo: SceneMemoryContext,
) -> None:
    """The context comes back while the model still hangs."""
    release = threading.Event()

    def hang(texts: list[str]) -> list[list[float]]:
        release.wait()
        return _return_nan(texts)

    with both_fallbacks(demo_folder, **TIGHT) as stores:
        awake(stores.on, "demo")
        replace_model(hang)
        started_s = time.monotonic()
        try:
            require_without_index(stores, request_in_demo, healthy_demo)
            assert time.monotonic() - started_s < HANG_GUARD_S
        finally:
            release.set()
