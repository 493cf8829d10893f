"""The identity of an embedding model: whatever tells its vectors from those of another one."""

from collections.abc import Sequence

import numpy as np
from langchain_core.embeddings import Embeddings

from runtime.model_providers.connection import provider_of_class

TELLING_ATTRIBUTES = (
    "model",
    "model_name",
    "model_id",
    "azure_deployment",
    "deployment",
    "deployment_name",
    "repo_id",
    "endpoint_name",
    "endpoint_url",
    "model_path",
)
"""Attributes in which embeddings of LangChain's packages say their model."""

FINGERPRINT_TEXT = "The ferry leaves the island at dawn. 渡船在黎明离开小岛。"
_FINGERPRINT_BITS = 32


def embedding_model_name(embeddings: Embeddings) -> str | None:
    """Return an embeddings object's model name, or None.

    A cache has the identity of the embeddings that it keeps. Another wrapper may change the vectors, so it is named
    beside them.
    """
    cached = getattr(embeddings, "underlying_embeddings", None)
    if isinstance(cached, Embeddings):
        return embedding_model_name(cached)
    kind = type(embeddings)
    values: dict[str, str] = {}
    for attribute in TELLING_ATTRIBUTES:
        value = getattr(embeddings, attribute, None)
        if isinstance(value, str) and value:
            values[attribute] = value
    own_fields = getattr(kind, "model_fields", {})
    statements = [name for name, value in values.items() if name not in own_fields or own_fields[name].default != value]
    # A default says something only where nothing was chosen.
    fields = dict.fromkeys(values[name] for name in statements or values)
    if fields:
        return f"{provider_of_class('embedding model', kind) or kind.__name__}:{'/'.join(fields)}"
    inner = [value for value in vars(embeddings).values() if isinstance(value, Embeddings)]
    name = embedding_model_name(inner[0]) if len(inner) == 1 else None
    return f"{kind.__name__}({name})" if name else None


def fingerprint(vector: Sequence[float]) -> str:
    """Return a short mark of a vector, the same for vectors that differ by rounding alone."""
    row = np.asarray(vector, dtype=np.float64)
    directions = np.random.default_rng(0).standard_normal((_FINGERPRINT_BITS, len(row)))
    signs = directions @ (row / np.linalg.norm(row)) > 0
    return f"{int(''.join('1' if sign else '0' for sign in signs), 2):0{_FINGERPRINT_BITS // 4}x}"
