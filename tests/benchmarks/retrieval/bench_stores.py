"""The stores that are measured: real ones, with vectors kept on disk so that repeated runs do not embed again."""

import sqlite3
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, closing, contextmanager
from functools import cached_property
from hashlib import sha256
from pathlib import Path

import numpy as np
from langchain_core.embeddings import Embeddings

from runtime.ingest.ingest import import_book
from runtime.model_providers.embeddings import CheckedEmbeddings
from runtime.settings import NovelgenSettings, load_settings
from runtime.stores import MemoryStores
from tests.benchmarks.retrieval.book import BenchBook

Vectors = list[list[float]]

TOOL_TIMEOUT_S = 120.0
"""A loaded machine must not change what is found."""

TEXTS_PER_STEP = 64
"""Texts that are embedded and kept together: what a run that is broken off has to do again."""


class VectorCache:
    """Vectors by model, purpose and text, in one SQLite file."""

    def __init__(self, file: Path) -> None:
        file.parent.mkdir(parents=True, exist_ok=True)
        self._lock = threading.Lock()
        self._connection = sqlite3.connect(file, check_same_thread=False)
        self._connection.execute("CREATE TABLE IF NOT EXISTS vectors (key TEXT PRIMARY KEY, vector BLOB NOT NULL)")

    def look_up(self, purpose: str, texts: Sequence[str], embed: Callable[[list[str]], Vectors]) -> Vectors:
        """Return the vectors of texts in their order, embedding and keeping those that are not there."""
        keys = {text: sha256(f"{purpose}\0{text}".encode("utf-8", "surrogatepass")).hexdigest() for text in texts}
        with self._lock:
            known = {text: self._stored(key) for text, key in keys.items()}
            lacking = [text for text, vector in known.items() if vector is None]
            for start in range(0, len(lacking), TEXTS_PER_STEP):
                step = lacking[start : start + TEXTS_PER_STEP]
                known |= dict(zip(step, embed(step), strict=True))
                self._keep({keys[text]: known[text] or [] for text in step})
        return [known[text] or [] for text in texts]

    def close(self) -> None:
        """Close the file."""
        self._connection.close()

    def _stored(self, key: str) -> list[float] | None:
        with closing(self._connection.execute("SELECT vector FROM vectors WHERE key = ?", (key,))) as rows:
            row = rows.fetchone()
        return None if row is None else np.frombuffer(row[0], dtype="<f4").astype(float).tolist()

    def _keep(self, vectors: dict[str, list[float]]) -> None:
        with self._connection:
            self._connection.executemany(
                "INSERT OR REPLACE INTO vectors VALUES (?, ?)",
                [(key, np.asarray(vector, dtype="<f4").tobytes()) for key, vector in vectors.items()],
            )


class CachingEmbeddings(Embeddings):
    """Embeddings that ask a model only for what the cache lacks."""

    def __init__(self, inner: CheckedEmbeddings, cache: VectorCache) -> None:
        self._inner = inner
        self._cache = cache

    def one_pass(self) -> AbstractContextManager[None]:
        """Return the model's own context for much text."""
        return self._inner.one_pass()

    def embed_documents(self, texts: list[str]) -> Vectors:
        """Return the vectors of passages, in their order."""
        return self._cache.look_up(f"{self._inner.model_name} passage", texts, self._inner.embed_documents)

    def embed_queries(self, texts: list[str]) -> Vectors:
        """Return the vectors of queries, in their order."""
        return self._cache.look_up(f"{self._inner.model_name} query", texts, self._inner.embed_queries)

    def embed_query(self, text: str) -> list[float]:
        """Return the vector of a query."""
        return self.embed_queries([text])[0]


class BenchStores(MemoryStores):
    """The real stores, with an embedding model that remembers on disk."""

    def __init__(self, settings: NovelgenSettings, cache: VectorCache) -> None:
        super().__init__(settings)
        self._cache = cache

    @property
    def embeddings(self) -> CheckedEmbeddings:
        """The configured model behind the cache."""
        return self._caching_embeddings

    @cached_property
    def _caching_embeddings(self) -> CheckedEmbeddings:
        inner = super().embeddings
        return CheckedEmbeddings(
            CachingEmbeddings(inner, self._cache), model_name=inner.model_name, dimension=inner.dimension
        )


def bench_settings(settings: NovelgenSettings, *, memory_budget: int) -> NovelgenSettings:
    """Return settings that plan by rules, fill the largest budget and wait long enough."""
    # Memories alone are measured, so they have the whole of their budget.
    quotas = settings.memory.quotas.model_copy(update={"left_off": 0.0, "story_so_far": 0.0})
    memory = settings.memory.model_copy(
        update={
            "quotas": quotas,
            "memory_budget": memory_budget,
            "tool_timeout_s": TOOL_TIMEOUT_S,
            "chain_timeout_s": 2 * TOOL_TIMEOUT_S,
        }
    )
    return settings.model_copy(update={"model": None, "database_url": None, "memory": memory})


def load_bench_settings(projects_dir: object, *, memory_budget: int) -> NovelgenSettings:
    """Return the settings of the machine for projects in a folder, made fit for measuring."""
    return bench_settings(load_settings(None, projects_dir=projects_dir), memory_budget=memory_budget)


def imported(stores: MemoryStores, book: BenchBook, *, records: bool) -> str:
    """Import a book into its project, unless it is there already, and return the project's id."""
    project_id = f"bench-{'records' if records else 'text'}"
    import_book(stores, book.folder, project_id=project_id, records=records)
    return project_id


@contextmanager
def open_bench_stores(work_dir: Path, *, memory_budget: int) -> Iterator[BenchStores]:
    """Open the stores of a work folder, with the vectors that it keeps."""
    settings = load_bench_settings(work_dir / "projects", memory_budget=memory_budget)
    cache = VectorCache(work_dir / "vectors.sqlite3")
    try:
        with BenchStores(settings, cache) as stores:
            yield stores
    finally:
        cache.close()
