"""Embeddings by name: validation, cached queries and scales."""

from __future__ import annotations

import re
import threading
from collections import OrderedDict
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from pydantic import SecretStr

from novelgen.errors import (
    ConfigurationError,
    EmbeddingError,
    ModelUnavailableError,
    NovelgenError,
    VectorsWithoutDirectionError,
)
from novelgen.language.language import StoryLanguage
from novelgen.model_calls.model_answer import described, safe_cause
from novelgen.words import words
from runtime.model_providers.connection import configuration_error, connection_options, full_model_name, known_keys

if TYPE_CHECKING:
    import numpy as np
    from langchain_core.embeddings import Embeddings
    from numpy.typing import NDArray

    from novelgen.characters.mind import RelevanceScale

LOCAL = "local"
MIN_FAKE_DIMENSION = 8
PARALLEL_QUERIES = 8

_FAKE = re.compile(r"fake:(\d{1,5})")


class EmbeddingIdentity(NamedTuple):
    """The identity that makes vectors comparable: model and dimension."""

    model_name: str
    dimension: int


MIN_LENGTH = 1e-18
MAX_LENGTH = 1e18
"""Squares of values beyond these leave the range of 32-bit floats, by which cosines are computed."""


def has_direction(vectors: NDArray[Any]) -> NDArray[np.bool_]:
    """Tell for each row whether it can be compared: it is not all zeros, and its length can be computed."""
    import numpy as np

    lengths = np.linalg.norm(vectors.astype(np.float64), axis=-1)
    usable: NDArray[np.bool_] = (lengths >= MIN_LENGTH) & (lengths <= MAX_LENGTH)
    return usable


class CheckedEmbeddings:
    """Embeddings that raise EmbeddingErrors and return storable vectors."""

    def __init__(
        self,
        inner: Embeddings,
        *,
        model_name: str | None,
        dimension: int | None = None,
        api_key: SecretStr | None = None,
        is_passed_in: bool = False,
    ) -> None:
        self._model_name = model_name
        self.is_passed_in = is_passed_in
        """Whether a Python program passed it in, so that no setting names it."""
        self._inner = inner
        self._dimension = dimension
        self._api_key = api_key

    @property
    def model_name(self) -> str:
        """The model's name, or its class and a fingerprint."""
        if self._model_name is None:
            from runtime.model_providers.embedding_identity import FINGERPRINT_TEXT, fingerprint

            vector = self.embed_query(FINGERPRINT_TEXT)
            self._model_name = f"{self._label}#{fingerprint(vector)}"
        return self._model_name

    @property
    def _label(self) -> str:
        return self._model_name or type(self._inner).__name__

    @property
    def dimension(self) -> int:
        """The dimension, asking the model once if unknown."""
        if self._dimension is None:
            self.embed_query("dimension")
        if self._dimension is None:
            raise EmbeddingError(f"embedding model {self._label!r} does not tell its dimension")
        return self._dimension

    @property
    def known_dimension(self) -> int | None:
        """The dimension, None before the first request."""
        return self._dimension

    @property
    def identity(self) -> EmbeddingIdentity:
        """The identity for comparing vectors."""
        return EmbeddingIdentity(self.model_name, self.dimension)

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        """Embed passages in order, without a request for none."""
        if not texts:
            return []
        return self._checked(self._call_model(self._inner.embed_documents, texts), len(texts))

    def embed_query(self, text: str) -> list[float]:
        """Embed a search query.

        Raises as `embed_documents` does.
        """
        return self._checked([self._call_model(self._inner.embed_query, text)], 1)[0]

    def embed_queries(self, texts: list[str]) -> list[list[float]]:
        """Embed several search queries, in one batch where the model can, else side by side."""
        if not texts:
            return []
        embed_many = getattr(self._inner, "embed_queries", None)
        if embed_many is not None:
            return self._checked(self._call_model(embed_many, texts), len(texts))
        with ThreadPoolExecutor(min(len(texts), PARALLEL_QUERIES), thread_name_prefix="novelgen-query") as pool:
            vectors = list(pool.map(partial(self._call_model, self._inner.embed_query), texts))
        return self._checked(vectors, len(texts))

    def one_pass(self) -> AbstractContextManager[None]:
        """Return a context in which all that is embedded is one piece of work, for models that gain by knowing."""
        one_pass = getattr(self._inner, "one_pass", None)
        context: AbstractContextManager[None] = nullcontext() if one_pass is None else one_pass()
        return context

    def _call_model(self, embed: Callable[[Any], Any], argument: Any) -> Any:
        try:
            return embed(argument)
        except ModelUnavailableError as error:
            # What our client says of the server.
            raise EmbeddingError(f"embedding model {self.model_name!r} failed: {error}") from error
        except NovelgenError:
            raise
        except Exception as error:  # noqa: BLE001 - a provider's package may fail in any way
            secrets = known_keys(self._api_key)
            message = f"embedding model {self._label!r} failed: {described(error, secrets=secrets)}"
            raise EmbeddingError(message) from safe_cause(error, secrets=secrets)

    def _checked(self, vectors: Any, count: int) -> list[list[float]]:
        array = self._numbers(vectors, count)
        checked: list[list[float]] = array.tolist()
        usable = has_direction(array)
        if not usable.all():
            error = self._unusable("a vector of zeros, or one too long or too short to compare")
            usable_vectors = [vector if is_usable else None for vector, is_usable in zip(checked, usable, strict=True)]
            raise VectorsWithoutDirectionError(str(error), usable_vectors)
        return checked

    def _numbers(self, vectors: Any, count: int) -> NDArray[np.float64]:
        import numpy as np

        try:
            array = np.asarray(vectors, dtype=np.float64)
        except (TypeError, ValueError) as error:
            raise self._unusable("vectors of unequal length or without numbers") from error
        if array.ndim != 2 or array.shape[0] != count or array.shape[1] == 0:
            raise self._unusable(f"an array of shape {array.shape} for {count} texts")
        if self._dimension is not None and array.shape[1] != self._dimension:
            raise self._unusable(f"{array.shape[1]} dimensions where {self._dimension} were expected")
        if not np.isfinite(array).all():
            raise self._unusable("NaN or infinity in a vector")
        self._dimension = int(array.shape[1])
        return array

    def _unusable(self, what: str) -> EmbeddingError:
        return EmbeddingError(f"embedding model {self._label!r} returned {what}")


REQUEST_TIMEOUT_S = 20.0
"""Seconds for one request of an OpenAI-compatible client."""


def build_embeddings(
    name: str = LOCAL, *, base_url: str | None = None, api_key: SecretStr | None = None
) -> CheckedEmbeddings:
    """Build the embeddings of a setting, without loading or requests."""
    from runtime.model_providers.offline_embeddings import HashedNgramEmbeddings, LocalE5Embeddings

    name = name.strip()
    if name == LOCAL:
        return CheckedEmbeddings(
            LocalE5Embeddings(), model_name=LocalE5Embeddings.model_name, dimension=LocalE5Embeddings.dimension
        )
    if name.startswith("fake:"):
        match = _FAKE.fullmatch(name)
        if match is None or int(match.group(1)) < MIN_FAKE_DIMENSION:
            raise ConfigurationError(
                f"embedding model {name!r} is not fake:<dimension>, with a dimension from {MIN_FAKE_DIMENSION} "
                "to 99999, such as 'fake:256'"
            )
        dimension = int(match.group(1))
        return CheckedEmbeddings(HashedNgramEmbeddings(dimension), model_name=name, dimension=dimension)
    from langchain.embeddings import init_embeddings

    full_name = full_model_name("embedding model", name)
    options = connection_options(full_name, base_url, api_key)
    if full_name.startswith("openai:"):
        # Its length check would download a tokenizer.
        options |= {"check_embedding_ctx_length": False, "timeout": REQUEST_TIMEOUT_S, "max_retries": 1}
        from runtime.model_providers.model_client import MAX_EMBEDDING_MEGABYTES, ModelClient

        options["http_client"] = ModelClient(max_megabytes=MAX_EMBEDDING_MEGABYTES)
    try:
        inner = init_embeddings(full_name, **options)
    except Exception as error:  # noqa: BLE001 - a provider's package may fail in any way
        raise configuration_error("embedding model", name, error, api_key) from None
    return CheckedEmbeddings(inner, model_name=full_name, api_key=api_key)


def checked_embeddings(embeddings: Embeddings | CheckedEmbeddings) -> CheckedEmbeddings:
    """Return embeddings that a caller holds, checked like those that a setting names.

    Their vectors go under the name of their model, as a setting has it where it can be told, such as
    `openai:text-embedding-3-small`, so that an index made by other ones is not mixed with them. Embeddings that tell no
    model are known by what they make of one text.
    """
    if isinstance(embeddings, CheckedEmbeddings):
        return embeddings
    from langchain_core.embeddings import Embeddings

    if not isinstance(embeddings, Embeddings):
        raise ConfigurationError(
            f"embeddings cannot be {type(embeddings).__name__}; pass LangChain embeddings, or a name such as "
            f"{LOCAL!r} or 'openai:text-embedding-3-small'"
        )
    from runtime.model_providers.embedding_identity import embedding_model_name

    dimension = getattr(embeddings, "dimension", None)
    return CheckedEmbeddings(
        embeddings,
        model_name=embedding_model_name(embeddings),
        dimension=dimension if isinstance(dimension, int) and dimension > 0 else None,
        is_passed_in=True,
    )


MAX_QUERIES = 128
"""About 1.5 MB of vectors."""


class LastQueries:
    """Cache of the last query vectors, safe between threads.

    Who asks for a query that is being embedded waits for that vector: eight characters who hear one remark cost one
    embedding.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._vectors: OrderedDict[tuple[str, str], Future[list[float]]] = OrderedDict()

    def vector(self, embeddings: CheckedEmbeddings, text: str) -> list[float]:
        """Return the vector of a query."""
        key = (embeddings.model_name, text)
        with self._lock:
            future = self._vectors.get(key)
            if future is None:
                coming = self._vectors[key] = Future()
                if len(self._vectors) > MAX_QUERIES:
                    self._vectors.popitem(last=False)
            else:
                self._vectors.move_to_end(key)
        if future is not None:
            return future.result()
        try:
            vector = embeddings.embed_query(text)
        except BaseException as error:
            with self._lock:
                if self._vectors.get(key) is coming:
                    del self._vectors[key]
            # Those who wait hear of it, too; nobody waits for ever.
            coming.set_exception(error)
            raise
        coming.set_result(vector)
        return vector


class RelevanceScales:
    """Cache of a scale per language, safe between threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._scales: dict[tuple[str, StoryLanguage], RelevanceScale] = {}

    def scale(self, embeddings: CheckedEmbeddings, language: StoryLanguage) -> RelevanceScale:
        """Return a model's scale for a language, embedding known pairs once."""
        from novelgen.characters.mind import RelevanceScale

        key = (embeddings.model_name, language)
        with self._lock:
            if key not in self._scales:
                pairs = words("relevance", language)["pairs"]
                remarks = embeddings.embed_queries([remark for remark, _ in pairs])
                self._scales[key] = RelevanceScale(remarks, embeddings.embed_documents([memory for _, memory in pairs]))
            return self._scales[key]
