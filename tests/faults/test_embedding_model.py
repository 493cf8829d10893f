"""Rows 15 and 16: the embedding model raises, hangs, or returns what is no vector."""

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
from runtime.model_providers.offline_embeddings import HashedNgramEmbeddings
from runtime.stores import MemoryStores
from tests.faults.expectations import (
    HANG_GUARD_S,
    TIGHT,
    awake,
    both_fallbacks,
    context_of,
    require_healthy,
    require_same_entities,
    require_without_index,
    stages,
)
from tests.faults.matrix import covers
from tests.support.demo_project import settings_for

pytestmark = pytest.mark.slow

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
    demo_folder: Path, replace_model: Break, request_in_demo: MemoryContextRequest, healthy_demo: SceneMemoryContext
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


@covers(15)
def test_a_remote_model_that_is_down_leaves_words_and_entities(
    demo_folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    request_in_demo: MemoryContextRequest,
    healthy_demo: SceneMemoryContext,
) -> None:
    """Only such a model knows how long its vectors are: nothing that needs no vectors may ask it."""
    monkeypatch.setenv("OPENAI_API_KEY", "not-a-key")
    remote = {"embedding_model": "openai:text-embedding-3-small", "embedding_base_url": "http://127.0.0.1:9/v1"}
    with MemoryStores(settings_for(demo_folder, **remote)) as stores:
        context = context_of(stores, request_in_demo)
    assert "semantic" in stages(context)
    assert "memories" not in stages(context)
    assert context.relevant_memories
    require_same_entities(context, healthy_demo)
