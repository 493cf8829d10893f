"""Checking up on the machine and on a project."""

import contextlib
import platform
import re
import sqlite3
from importlib.metadata import PackageNotFoundError, requires, version
from typing import Any

from novelgen.errors import DatabaseError
from novelgen.language.language import StoryLanguage
from runtime.care.checks import (
    Diagnosis,
    Finding,
    Level,
    check_breaker,
    check_chat_model,
    check_context_files,
    check_database,
    check_embedding_settings,
    check_embeddings,
    check_index,
    check_minds,
    check_sqlite,
    found,
    in_language,
    project_counts,
    repair_index,
    versions,
)
from runtime.stores import MemoryStores
from runtime.story.base import async_twin
from runtime.story.condition import StepKind, StoryCondition, StoryConditions
from runtime.story.projects import StoryProjects


def diagnose(
    stores: MemoryStores,
    project_id: str | None = None,
    *,
    repair: bool = False,
    ask_network: bool = True,
    language: StoryLanguage = "en",
) -> Diagnosis:
    """Look at everything that can keep the memory from working."""
    if project_id is not None:
        StoryProjects(stores, project_id).require_project_files()
    repairs = repair_index(stores, project_id) if repair and project_id is not None else []
    settings = stores.settings
    findings = [
        check_sqlite(settings, version=sqlite3.sqlite_version_info),
        check_embeddings(stores, ask_network=ask_network),
        check_chat_model(settings, ask_network=ask_network),
    ]
    if project_id is not None:
        # Of a story is told what its author can mend; hints about the machine stand in the diagnosis of the machine.
        findings = [each for each in findings if each.level != "hint"]
    counts: dict[str, int] = {}
    if project_id is not None:
        findings.append(check_database(stores, project_id))
        if findings[-1].level == "ok":
            counts, of_project = StoryDiagnosis(stores, project_id)._project_findings()
            findings += of_project
    # Settings for the eye: addresses may hold passwords, so they are only named.
    memory = settings.memory
    diagnosis = Diagnosis(
        versions=versions(),
        settings={
            "projects_dir": str(settings.projects_dir.resolve()),
            "database": "SQLite per project" if settings.database_url is None else "database_url",
            "vector index": "embedded per project" if memory.vector_store.url is None else "Chroma server",
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
    return in_language(diagnosis, language)


class StoryDiagnosis(StoryConditions):
    """Checking up on the machine and on a project."""

    def check_health(self, *, repair: bool = False, ask_network: bool = True) -> Diagnosis:
        """Look at everything that can keep the memory from working, as `novelgen doctor` does.

        Args:
            repair: Whether to bring the vector index to what the database says first.
            ask_network: Whether a model or an embedding service elsewhere may be asked if it answers.
        """
        return diagnose(self._stores, self.project_id, repair=repair, ask_network=ask_network)

    # --- LangChain ---

    acheck_health = async_twin(check_health)

    def _project_findings(self) -> tuple[dict[str, int], list[Finding]]:
        try:
            counts = project_counts(self._stores, self.project_id)
            reading = check_reading(self.story_condition())
            index = check_index(self._stores, self.project_id, waiting=counts["waiting for the index"])
            embedding = check_embedding_settings(self._stores, self.project_id)
            minds = check_minds(self._stores, self.project_id)
            breaker = check_breaker(self._stores, self.project_id)
            files = check_context_files(self._stores, self.project_id)
        except DatabaseError as error:
            return {}, [found("broken", "database_unreadable", error=str(error))]
        looked_at = (*reading, index, embedding, *minds, breaker, *files)
        return counts, [finding for finding in looked_at if finding is not None]


def check_reading(condition: StoryCondition) -> list[Finding]:
    """Name what keeps a stored story from being of use: no records, half read, no people, not indexed."""
    commands = {step.kind: step.command for step in condition.next_steps}
    failed, waiting = condition.scenes_failed, condition.scenes_waiting
    values = condition.model_dump(include={"scenes", "scenes_with_record", "unindexed"})
    values |= {"failed": failed, "waiting": waiting}
    unread: Level = "hint" if condition.scenes_with_record else "degraded"
    looked_at: list[tuple[bool, Level, str, StepKind]] = [
        (failed > 0, "degraded", "reading_failed", "retry"),
        (
            "read" in commands and waiting > 0,
            unread,
            "half_read" if condition.scenes_with_record else "nothing_read",
            "read",
        ),
        (not condition.people, "hint", "no_people", "people"),
        (condition.unindexed > 0, "degraded", "index_waiting", "index"),
    ]
    if not condition.scenes:
        looked_at = [(True, "hint", "no_scenes", "take_in")]
    return [
        found(level, kind, **values, command=commands[mended_by])
        for is_so, level, kind, mended_by in looked_at
        if is_so
    ]


def shareable(diagnosis: Diagnosis) -> dict[str, Any]:
    """Return what of a diagnosis may go to strangers: no text, name, id or path of a story or of this machine."""
    needed = [re.split(r"[^A-Za-z0-9_.-]", each, maxsplit=1)[0] for each in requires("novelgen") or ()]
    packages = {}
    for name in sorted({each.lower() for each in needed}):
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
                    "what": each.what,
                    "level": each.level,
                    "kind": each.kind,
                    "numbers": {name: value for name, value in each.values.items() if isinstance(value, int | float)},
                }
                for each in findings
            ]
            for part, findings in (("findings", diagnosis.findings), ("repairs", diagnosis.repairs))
        },
    }
