"""Checking up on the machine and on a project: what it holds, what to do next, and its index."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from typing import Any, Literal

from pydantic import BaseModel, Field

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
from runtime.ingest.indexing import (
    IndexingResult,
    apply_embedding_settings,
    drain_outbox,
    rebuild_if_bloated,
    reindex,
    verify_after_crash,
    verify_index,
)
from runtime.settings import NovelgenSettings
from runtime.stores import MemoryStores
from runtime.story.base import Progress, StoryBase, async_twin
from runtime.story.projects import StoryProjects

_REASONS: dict[StoryLanguage, dict[StepKind, str]] = {
    "en": {
        "take_in": "nothing of the story is stored yet",
        "retry": "a model could not read {failed} scenes: their text is stored, their facts are not",
        "read": "{waiting} of {scenes} scenes are stored as text alone: let a model read out what they establish",
        "people": "no people are known: look through the names that the text speaks of",
        "index": "{unindexed} memories are found by words only until they are indexed by meaning",
        "context": "see what the next scene has to remember",
    },
    "zh": {
        "take_in": "还没有存入任何内容",
        "retry": "模型未能读出 {failed} 场：正文已存，事实未存",
        "read": "{scenes} 场中有 {waiting} 场只存了正文：让模型读出其中的事实",
        "people": "还没有人物：看看正文里出现的名字",
        "index": "{unindexed} 条记忆尚未按语义索引，目前只能按字词找到",
        "context": "看看下一场该记得什么",
    },
}
_PURPOSE: dict[StoryLanguage, str] = {"en": "what the next scene is for", "zh": "下一场要写什么"}
_EXAMPLE_MODEL = "openai:gpt-4.1-mini"


class NextStep(BaseModel):
    """Something worth doing now."""

    kind: StepKind
    command: str = Field(description="As it is typed.")
    reason: str = Field(description="Why, in the story's language.")


class StoryCondition(BaseModel):
    """What a project holds now, and what is worth doing next, the most urgent first."""

    project_id: str
    language: StoryLanguage = "en"
    chapters: int = 0
    scenes: int = 0
    characters_of_text: int = 0
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

    @property
    def is_half_read(self) -> bool:
        """Whether some scenes have a record and others lack theirs."""
        return bool(self.scenes_with_record and (self.scenes_failed or self.scenes_waiting))


class StoryConditions(StoryBase):
    """What a project holds now and what to do next."""

    def story_condition(self) -> StoryCondition:
        """Return what a project holds now, and what to do next."""
        with self._stores.database(self.project_id).read() as unit:
            census = unit.scenes.census()
            entities = unit.entities.list_all()
            outbox = unit.outbox.counts()
            condition = StoryCondition(
                project_id=self.project_id,
                language="zh" if unit.projects.require().language.lower().startswith("zh") else "en",
                chapters=census.chapters,
                scenes=census.scenes,
                characters_of_text=census.characters,
                people=sum(each.entity.entity_type == "character" for each in entities),
                entities=len(entities),
                threads=unit.threads.count_waiting(),
                scenes_with_record=census.with_record,
                scenes_failed=census.failed,
                scenes_waiting=census.scenes - census.with_record - census.failed,
                memories=unit.memories.count(),
                indexable=unit.memories.count_indexable(),
                unindexed=outbox["pending"] + outbox["failed"],
            )
        return condition.model_copy(update={"next_steps": _next_steps(condition, _has_model(self._stores))})

    astory_condition = async_twin(story_condition)


def next_steps_in(condition: StoryCondition, language: StoryLanguage) -> list[NextStep]:
    """Return the next steps with their reasons in a language, which need not be the story's."""
    return [
        each.model_copy(update={"reason": _reason(condition, each.kind, language)}) for each in condition.next_steps
    ]


def _reason(condition: StoryCondition, kind: StepKind, language: StoryLanguage) -> str:
    numbers = condition.model_dump(include={"scenes", "scenes_failed", "scenes_waiting", "unindexed"})
    told = {name.removeprefix("scenes_"): number for name, number in numbers.items()}
    return _REASONS[language][kind].format(**told)


def _has_model(stores: MemoryStores) -> bool:
    settings = stores.settings
    return bool(settings.memory.summarization.model or settings.model)


def _next_steps(condition: StoryCondition, has_model: bool) -> list[NextStep]:
    project_id = condition.project_id
    by_model = "" if has_model else f" --model {_EXAMPLE_MODEL}"
    purpose = _PURPOSE[condition.language]
    read: tuple[StepKind, bool, str] = (
        "read",
        condition.scenes_waiting > 0,
        f"novelgen extract {project_id}{by_model}",
    )
    people: tuple[StepKind, bool, str] = (
        "people",
        condition.scenes > 0 and not condition.people,
        f"novelgen entity candidates {project_id}",
    )
    # Who has no model can name the people at once, and begins there.
    wanted: list[tuple[StepKind, bool, str]] = [
        ("take_in", not condition.scenes, f"novelgen ingest {project_id}"),
        ("retry", condition.scenes_failed > 0, f"novelgen extract {project_id} --retry{by_model}"),
        *((read, people) if has_model else (people, read)),
        ("index", condition.unindexed > 0, f"novelgen index {project_id}"),
        ("context", condition.scenes > 0, f'novelgen context {project_id} --purpose "{purpose}"'),
    ]
    return [
        NextStep(kind=kind, command=command, reason=_reason(condition, kind, condition.language))
        for kind, is_wanted, command in wanted
        if is_wanted
    ]


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
    counts: dict[str, int] = {}
    if project_id is not None:
        findings.append(check_database(stores, project_id))
        if findings[-1].level == "ok":
            counts, of_project = StoryDiagnosis(stores, project_id)._project_findings()
            findings += of_project
    diagnosis = Diagnosis(
        versions=versions(), settings=_shown(settings), counts=counts, findings=findings, repairs=repairs
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
        (waiting > 0, unread, "half_read" if condition.scenes_with_record else "nothing_read", "read"),
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


def _shown(settings: NovelgenSettings) -> dict[str, object]:
    """Return the settings for the eye: addresses may hold passwords, so they are only named."""
    memory = settings.memory
    return {
        "projects_dir": str(settings.projects_dir.resolve()),
        "database": "SQLite per project" if settings.database_url is None else "database_url",
        "vector index": "embedded per project" if memory.vector_store.url is None else "Chroma server",
        "embedding model": memory.embedding_model,
        "chat model": settings.model,
        "budgets": f"memories with the story so far {memory.memory_budget}, states {memory.state_budget}, "
        f"timeline {memory.timeline_budget} tokens",
        "search_fallback": memory.search_fallback,
    }


StepKind = Literal["take_in", "retry", "read", "people", "index", "context"]


class ReindexResult(BaseModel):
    """A vector index that was built anew."""

    chosen: int = 0
    """Memories that are embedded otherwise than before, since a setting changed."""
    indexing: IndexingResult
    verification: str
    is_sound: bool


class StoryIndexing(StoryBase):
    """The vector index of a project: following the database, and building it anew."""

    def reindex(self, *, progress: Progress | None = None) -> ReindexResult:
        """Build the vector index anew, as is needed when the embedding model changes; the database stays as it is.

        Args:
            progress: Called with the memories done and the memories in all.

        Raises:
            StoreError: When the database, the embedding model or the index fails; the old index stays.
        """
        chosen = apply_embedding_settings(self._stores, self.project_id)
        indexing = reindex(self._stores, self.project_id, progress=progress)
        verification = verify_index(self._stores, self.project_id)
        return ReindexResult(
            chosen=chosen, indexing=indexing, verification=str(verification), is_sound=verification.is_sound
        )

    def index_project(self, *, progress: Callable[[int, int], Any] | None = None) -> IndexingResult:
        """Bring the vector index up to what the database says, going on where an earlier run stopped."""
        result = drain_outbox(self._stores, self.project_id, progress=progress)
        return rebuild_if_bloated(
            self._stores, self.project_id, verify_after_crash(self._stores, self.project_id, result)
        )

    areindex = async_twin(reindex)
    aindex_project = async_twin(index_project)
