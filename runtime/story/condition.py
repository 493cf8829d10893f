"""A project's condition: contents, next steps and health."""

import contextlib
import platform
import re
import sqlite3
from collections.abc import Callable
from importlib.metadata import PackageNotFoundError, requires, version
from typing import Any, Literal

from pydantic import BaseModel, Field

from novelgen.errors import ConfigurationError, DatabaseError, DeadlineExceededError, StoreError
from novelgen.language.language import StoryLanguage, stated_language
from novelgen.words import words
from runtime.care import checks
from runtime.ingest import indexing as index_steps
from runtime.storage.models import IndexingResult
from runtime.stores import MemoryStores
from runtime.story.base import Progress, StoryBase, async_twin
from runtime.story.projects import StoryProjects

StepKind = Literal["take_in", "page", "retry", "read", "people", "index", "context"]

_EXAMPLE_MODEL = "openai:gpt-4.1-mini"


class NextStep(BaseModel):
    """Something worth doing now."""

    kind: StepKind
    command: str = Field(description="As it is typed.")
    reason: str = Field(description="Why, in the story's language.")


class StoryCondition(BaseModel):
    """A project's contents, and next steps by urgency."""

    project_id: str
    language: StoryLanguage = "en"
    chapters: int = 0
    scenes: int = 0
    characters_of_text: int = 0
    words_of_text: int = Field(
        default=0, description="Of all texts, their 字数: Chinese characters, and words of other scripts."
    )
    people: int = 0
    entities: int = 0
    threads: int = Field(default=0, description="Open ones.")
    scenes_with_record: int = 0
    scenes_failed: int = Field(default=0, description="A model could not read them.")
    scenes_waiting: int = Field(default=0, description="Nobody told what they establish; failed ones not counted.")
    memories: int = 0
    indexable: int = Field(default=0, description="Memories that belong into the vector index.")
    unindexed: int = Field(default=0, description="Changes that the vector index has yet to follow.")
    next_steps: list[NextStep] = Field(default_factory=list)


class ReindexResult(BaseModel):
    """A vector index that was built anew."""

    chosen: int = 0
    """Memories that are embedded otherwise than before, since a setting changed."""
    indexing: IndexingResult
    verification: str
    is_sound: bool


class StoryUpkeep(StoryBase):
    """A project's contents, health, next steps and vector index."""

    def condition(self) -> StoryCondition:
        """Return a project's contents and next steps."""
        with self._stores.database(self.project_id).read() as unit:
            census = unit.scenes.census()
            entities = unit.entities.list_all()
            outbox = unit.outbox.counts()
            condition = StoryCondition(
                project_id=self.project_id,
                language=stated_language(unit.projects.require().language) or "en",
                chapters=census.chapters,
                scenes=census.scenes,
                characters_of_text=census.characters,
                words_of_text=sum(unit.scenes.words().values()),
                people=sum(entity.entity.entity_type == "character" for entity in entities),
                entities=len(entities),
                threads=unit.threads.count_waiting(),
                scenes_with_record=census.with_record,
                scenes_failed=census.failed,
                scenes_waiting=census.scenes - census.with_record - census.failed,
                memories=unit.memories.count(),
                indexable=unit.memories.count_indexable(),
                unindexed=outbox["pending"] + outbox["failed"],
            )
        settings = self._stores.settings
        return condition.model_copy(
            update={"next_steps": _next_steps(condition, bool(settings.memory.summarization.model or settings.model))}
        )

    def reindex(self, *, progress: Progress | None = None) -> ReindexResult:
        """Rebuild the vector index, as after a change of the embedding model.

        Args:
            progress: Called with the memories done and the memories in all.

        Raises:
            StoreError: When the database, the embedding model or the index fails; the old index stays.
        """
        chosen_count = index_steps.apply_embedding_settings(self._stores, self.project_id)
        indexing = index_steps.reindex(self._stores, self.project_id, progress=progress)
        verification = index_steps.verify_index(self._stores, self.project_id)
        return ReindexResult(
            chosen=chosen_count, indexing=indexing, verification=str(verification), is_sound=verification.is_sound
        )

    def index(self, *, progress: Callable[[int, int], Any] | None = None) -> IndexingResult:
        """Bring the vector index up to date, resuming an interrupted run."""
        result = index_steps.drain_outbox(self._stores, self.project_id, progress=progress)
        return index_steps.rebuild_if_bloated(
            self._stores, self.project_id, index_steps.verify_after_crash(self._stores, self.project_id, result)
        )

    def check_health(self, *, repair: bool = False, ask_network: bool = True) -> checks.Diagnosis:
        """Look at everything that can keep the memory from working, as `novelgen doctor` does.

        Args:
            repair: Whether to bring the vector index to what the database says first.
            ask_network: Whether a model or an embedding service elsewhere may be asked if it answers.
        """
        return diagnose(self._stores, self.project_id, repair=repair, ask_network=ask_network)

    def _project_findings(self) -> tuple[dict[str, int], list[checks.Finding]]:
        rows: checks.Finding | None = None
        try:
            rows = checks.check_rows(self._stores, self.project_id)
            counts = checks.project_counts(self._stores, self.project_id)
            names = checks.check_names(self._stores, self.project_id)
            reading = check_reading(self.condition())
            index = checks.check_index(self._stores, self.project_id, waiting_count=counts["waiting for the index"])
            embedding = checks.check_embedding_settings(self._stores, self.project_id)
            minds = checks.check_minds(self._stores, self.project_id)
            breaker = checks.check_breaker(self._stores, self.project_id)
            files = checks.check_context_files(self._stores, self.project_id)
        except DatabaseError as error:
            return {}, [rows or checks.found("broken", "database_unreadable", error=str(error))]
        looked_at = (rows, names, *reading, index, embedding, *minds, breaker, *files)
        return counts, [finding for finding in looked_at if finding is not None]

    acondition = async_twin(condition)
    aindex = async_twin(index)
    areindex = async_twin(reindex)
    acheck_health = async_twin(check_health)


def next_steps_in(condition: StoryCondition, language: StoryLanguage) -> list[NextStep]:
    """Return the next steps with their reasons in a language, which need not be the story's."""
    return [
        next_step.model_copy(update={"reason": _reason(condition, next_step.kind, language)})
        for next_step in condition.next_steps
    ]


def _reason(condition: StoryCondition, kind: StepKind, language: StoryLanguage) -> str:
    numbers = condition.model_dump(include={"scenes", "scenes_failed", "scenes_waiting", "unindexed"})
    fields = {name.removeprefix("scenes_"): number for name, number in numbers.items()}
    # What is to be taken out of the index waits, too, and is no memory any more.
    fields["unindexed"] = min(condition.unindexed, condition.indexable or condition.unindexed)
    return words("story", language).text(f"next.{kind}", **fields)


def _next_steps(condition: StoryCondition, has_model: bool) -> list[NextStep]:
    project_id = condition.project_id
    by_model = "" if has_model else f" --model {_EXAMPLE_MODEL}"
    purpose = words("story", condition.language)["command.purpose"]
    is_new = condition.scenes > 0 and not condition.people
    step_rows: list[tuple[StepKind, bool, str]] = [
        ("take_in", not condition.scenes, f"novelgen ingest {project_id}"),
        ("page", is_new, "novelgen serve"),
        ("retry", condition.scenes_failed > 0, f"novelgen extract {project_id} --retry{by_model}"),
        # A model is named where one is set: all else works without.
        ("read", has_model and condition.scenes_waiting > 0, f"novelgen extract {project_id}"),
        ("people", is_new, f"novelgen entity candidates {project_id}"),
        ("index", condition.unindexed > 0, f"novelgen index {project_id}"),
        ("context", condition.scenes > 0, f'novelgen context {project_id} --purpose "{purpose}"'),
    ]
    return [
        NextStep(kind=kind, command=command, reason=_reason(condition, kind, condition.language))
        for kind, is_wanted, command in step_rows
        if is_wanted
    ]


def diagnose(
    stores: MemoryStores,
    project_id: str | None = None,
    *,
    repair: bool = False,
    ask_network: bool = True,
    language: StoryLanguage = "en",
) -> checks.Diagnosis:
    """Look at everything that can keep the memory from working."""
    if project_id is not None:
        StoryProjects(stores, project_id).require_project_files()
    repairs: list[checks.Finding] = []
    if repair and project_id is not None:
        try:
            repairs += checks.repair_rows(stores, project_id)
            repairs += checks.repair_index(stores, project_id)
        except (StoreError, ConfigurationError, DeadlineExceededError) as error:
            # What failed is part of the diagnosis, which is shown whole all the same.
            repairs.append(checks.found("broken", "repair_failed", error=str(error), project_id=project_id))
    settings = stores.settings
    findings = [
        checks.check_sqlite(settings, version=sqlite3.sqlite_version_info),
        checks.check_embeddings(stores, ask_network=ask_network),
        checks.check_chat_model(settings, ask_network=ask_network),
    ]
    if project_id is not None:
        # Of a story is told what its author can mend; hints about the machine stand in the diagnosis of the machine.
        findings = [finding for finding in findings if finding.level != "hint"]
    counts: dict[str, int] = {}
    if project_id is not None:
        findings.append(checks.check_database(stores, project_id))
        if findings[-1].level == "ok":
            counts, of_project = StoryUpkeep(stores, project_id)._project_findings()
            findings += of_project
    # Settings for the eye: addresses may hold passwords, so they are only named.
    memory = settings.memory
    diagnosis = checks.Diagnosis(
        versions=checks.versions(),
        settings={
            "projects_dir": str(settings.projects_dir.resolve()),
            "database": "SQLite per project" if settings.database_url is None else "database_url",
            "vector index": stores.index_kind,
            "embedding model": memory.embedding_model,
            "chat model": settings.model,
            "budgets": f"memories with the story so far {memory.memory_budget}, states {memory.state_budget}, "
            f"timeline {memory.timeline_budget} tokens",
            "search_fallback": memory.search_fallback,
        },
        counts=counts,
        findings=findings,
        repairs=repairs,
    )
    return checks.in_language(diagnosis, language)


def check_reading(condition: StoryCondition) -> list[checks.Finding]:
    """Return a story's obstacles: missing records, people or index."""
    commands = {step.kind: step.command for step in condition.next_steps}
    failed, waiting_count = condition.scenes_failed, condition.scenes_waiting
    values = condition.model_dump(include={"scenes", "scenes_with_record", "unindexed"})
    values |= {"failed": failed, "waiting": waiting_count}
    unread_choice: checks.Level = "hint" if condition.scenes_with_record else "degraded"
    looked_at: list[tuple[bool, checks.Level, str, StepKind]] = [
        (failed > 0, "degraded", "reading_failed", "retry"),
        ("read" in commands, unread_choice, "half_read" if condition.scenes_with_record else "nothing_read", "read"),
        (not condition.people, "hint", "no_people", "people"),
        (condition.unindexed > 0, "degraded", "index_waiting", "index"),
    ]
    if not condition.scenes:
        looked_at = [(True, "hint", "no_scenes", "take_in")]
    return [
        checks.found(level, kind, **values, command=commands[mended_by])
        for is_so, level, kind, mended_by in looked_at
        if is_so
    ]


def shareable(diagnosis: checks.Diagnosis) -> dict[str, Any]:
    """Return a diagnosis without texts, names, ids and paths."""
    needed_names = [re.split(r"[^A-Za-z0-9_.-]", word, maxsplit=1)[0] for word in requires("novelgen") or ()]
    packages = {}
    for name in sorted({word.lower() for word in needed_names}):
        with contextlib.suppress(PackageNotFoundError):
            packages[name] = version(name)
    return {
        "versions": diagnosis.versions,
        "platform": platform.platform(),
        "packages": packages,
        "settings": {name: value for name, value in diagnosis.settings.items() if name != "projects_dir"},
        "counts": diagnosis.counts,
        **{
            part: [
                {
                    "what": finding.what,
                    "level": finding.level,
                    "kind": finding.kind,
                    "numbers": {
                        name: value for name, value in finding.values.items() if isinstance(value, int | float)
                    },
                }
                for finding in findings
            ]
            for part, findings in (("findings", diagnosis.findings), ("repairs", diagnosis.repairs))
        },
    }
