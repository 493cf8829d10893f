"""Consolidating the memories of a project, and undoing it."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, Field

from novelgen.errors import StoreError, UserInputError
from novelgen.memory.consolidation import (
    CONSOLIDATION_STAGE,
    ConsolidationGroup,
    choose_groups,
    consolidated_memory,
    consolidated_vector,
    counts_after,
    entity_counts,
)
from novelgen.memory.search import Vector
from novelgen.models.context import ReportIssue
from novelgen.models.memory import StoryMemoryChunk
from runtime.ingest.indexing import IndexingResult, drain_outbox
from runtime.storage.models import MemoryFilter
from runtime.stores import MemoryStores

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

logger = logging.getLogger(__name__)

DEFAULT_LIMIT = 300
"""Live memories per entity from which the command consolidates, unless it is told otherwise."""


MODEL_PATIENCE = 3
"""Failures in a row after which the model is not asked for the rest of a run."""


class ConsolidatedGroup(BaseModel):
    """One consolidated memory, without an id in a dry run."""

    chunk_id: str = ""
    entity_id: str = Field(description="The entity that had too many.")
    source_ids: list[str] = Field(description="Chunk ids in story order.")
    content: str = ""
    is_models: bool = Field(default=False, description="Whether a model wrote it.")


class ConsolidationReport(BaseModel):
    """The result of a consolidation, or its preview with `dry_run`."""

    limit: int
    dry_run: bool = False
    groups: list[ConsolidatedGroup] = Field(default_factory=list)
    memories_before: int = 0
    memories_after: int = 0
    over_limit: dict[str, int] = Field(
        default_factory=dict, description="Entity to its live memories, where the rules left too many."
    )
    overtaken: int = Field(default=0, description="Groups of which a source changed meanwhile.")
    issues: list[ReportIssue] = Field(default_factory=list)
    indexing: IndexingResult = Field(default_factory=IndexingResult)


def consolidate_project(
    stores: MemoryStores,
    project_id: str,
    *,
    limit: int = DEFAULT_LIMIT,
    model: BaseChatModel | None = None,
    dry_run: bool = False,
    progress: Callable[[int, int], Any] | None = None,
) -> ConsolidationReport:
    """Consolidate until no entity has more live memories than the limit, as far as the rules allow.

    Each consolidated memory is stored in one transaction, so that a broken run goes on where it stopped. No
    transaction is open while a model writes.
    """
    if limit < 1:
        raise UserInputError(f"the limit cannot be {limit!r}; give a whole number from 1")
    choice = _choose_groups(stores, project_id, limit)
    report = ConsolidationReport(limit=limit, dry_run=dry_run, memories_before=len(choice.live))
    consolidation_groups = choice.groups
    if dry_run:
        report.groups = [_group_report(group) for group in consolidation_groups]
    else:
        consolidation_groups = _consolidated(stores, project_id, choice, report, model=model, progress=progress)
        report.overtaken = len(choice.groups) - len(consolidation_groups)
        report.indexing = drain_outbox(stores, project_id) if consolidation_groups else IndexingResult()
    counter = counts_after(choice.live, consolidation_groups)
    report.memories_after = len(choice.live) - sum(len(group.sources) - 1 for group in consolidation_groups)
    report.over_limit = {name: counter[name] for name in sorted(counter) if counter[name] > limit}
    return report


def _consolidated(
    stores: MemoryStores,
    project_id: str,
    choice: _Chosen,
    report: ConsolidationReport,
    *,
    model: BaseChatModel | None,
    progress: Callable[[int, int], Any] | None,
) -> list[ConsolidationGroup]:
    """Let one memory stand for each group, tell it in the report, and return the groups that nobody changed."""
    # LangChain is slow to import, and all that reads scenes comes by here.
    from novelgen.chains.question_chains import ConsolidationChain  # noqa: PLC0415

    chain = ConsolidationChain(model, timeout_s=stores.settings.memory.summarization.timeout_s)
    failures = 0
    consolidation_groups = []
    for number, group in enumerate(choice.groups, start=1):
        written_consolidation_result = chain.invoke({"sources": list(group.sources), "names": choice.names})
        report.issues += written_consolidation_result.issues
        failures = failures + 1 if written_consolidation_result.issues else 0
        if failures == MODEL_PATIENCE:
            message = f"the model failed {MODEL_PATIENCE} times in a row and is not asked any more"
            report.issues.append(ReportIssue(stage=CONSOLIDATION_STAGE, kind="degraded", message=message))
            chain = ConsolidationChain()
        memory = consolidated_memory(
            written_consolidation_result.text,
            group.sources,
            created_at=stores.clock(),
            is_models=written_consolidation_result.is_models,
        )
        with stores.database(project_id).write() as unit:
            # Not where a source was changed by somebody else meanwhile.
            if unit.consolidations.add(memory, group.sources):
                unit.journal.keep("consolidate", memory.chunk_id, "", [], subject="consolidation")
                consolidation_groups.append(group)
                report.groups.append(_group_report(group, memory, is_models=written_consolidation_result.is_models))
                vector = consolidated_vector(group.sources, choice.vectors)
                if vector is not None and choice.embedding_model is not None:
                    # Without one it is embedded on its way to the index, as any text.
                    unit.embeddings.put(choice.embedding_model, {memory.chunk_id: vector})
        if progress is not None:
            progress(number, len(choice.groups))
    return consolidation_groups


def consolidate_beyond_setting(stores: MemoryStores, project_id: str) -> list[ReportIssue]:
    """Consolidate after an ingest by the settings, without a model, never raising."""
    limit = stores.settings.memory.consolidation.max_memories_per_entity
    if limit is None:
        return []
    try:
        report = consolidate_project(stores, project_id, limit=limit)
    except StoreError as error:
        logger.warning("project %r: memories were not consolidated: %s", project_id, error)
        message = f"the scenes are stored, but memories were not consolidated: {error}"
        return [ReportIssue(stage=CONSOLIDATION_STAGE, kind="unavailable", message=message)]
    return [*report.issues, *report.indexing.issues]


def undo_consolidation(stores: MemoryStores, project_id: str, chunk_id: str | None = None) -> list[str]:
    """Undo one consolidated memory or all, showing their sources again."""
    with stores.database(project_id).write() as unit:
        if chunk_id is not None:
            unit.consolidations.undo(chunk_id)
        undone = [chunk_id] if chunk_id is not None else unit.consolidations.undo_all()
    drain_outbox(stores, project_id)
    return undone


@dataclass(frozen=True, slots=True)
class _Chosen:
    """All live memories, the groups to consolidate, and their cost."""

    live: list[StoryMemoryChunk]
    groups: list[ConsolidationGroup] = field(default_factory=list)
    names: list[str] = field(default_factory=list)
    embedding_model: str | None = None
    vectors: Mapping[str, Vector] = field(default_factory=dict)


def _choose_groups(stores: MemoryStores, project_id: str, limit: int) -> _Chosen:
    with stores.database(project_id).read() as unit:
        model_name = unit.projects.require().embedding_model
        live = unit.consolidations.live()
        if not any(count > limit for count in entity_counts(live).values()):
            return _Chosen(live)
        vectors: dict[str, Vector] = {}
        if model_name is not None:
            # As if nothing were consolidated, so that a second run compares memories as the first did.
            brought_ids = unit.memories.filtered_ids(MemoryFilter(unconsolidated=True))
            vectors = dict(zip(*unit.embeddings.matrix(model_name, ids=brought_ids, with_sources=True), strict=True))
        loops = unit.threads.list_as_of()
        scenes = [(scene.chapter_index, scene.scene_index) for scene in unit.scenes.list_as_of()]
        names = list(dict.fromkeys(name for entity in unit.entities.list_all() for name in entity.entity.names()))
    groups = choose_groups(live, limit=limit, scenes=scenes, open_loops=loops, vectors=vectors)
    return _Chosen(live, groups, names, model_name, vectors)


def _group_report(
    group: ConsolidationGroup, memory: StoryMemoryChunk | None = None, *, is_models: bool = False
) -> ConsolidatedGroup:
    return ConsolidatedGroup(
        chunk_id=memory.chunk_id if memory else "",
        entity_id=group.entity_id,
        source_ids=[source.chunk_id for source in group.sources],
        content=memory.content if memory else "",
        is_models=is_models,
    )
