"""novelgen's own chain over the plans of a book."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from langchain_core.language_models import BaseChatModel

from novelgen.models.context import SceneMemoryContext
from runtime.bench.book import BenchBook, BenchPlan
from runtime.bench.scoring import RankedText
from runtime.context_chain import build_context_chain
from runtime.ingest.import_book import import_book
from runtime.settings import NovelgenSettings, load_settings
from runtime.stores import MemoryStores

Progress = Callable[[int, int], None]

TOOL_TIMEOUT_S = 120.0
"""A loaded machine must not change what is found."""


@dataclass(frozen=True)
class PlannedContext:
    """A plan and the context that the chain gave for it."""

    plan: BenchPlan
    context: SceneMemoryContext

    @property
    def ranked(self) -> list[RankedText]:
        """The memories of the context as a ranking, best first."""
        report = self.context.report
        return [
            RankedText((item.chapter_index or 0, item.scene_index or 0), item.text, item.source_id)
            for item in (report.items if report else [])
        ]

    @property
    def problems(self) -> list[str]:
        """What the context says was missing; a name of several entities is the book's, not a failure."""
        report = self.context.report
        issues = report.issues if report else []
        return [f"{each.stage}: {each.message}" for each in issues if each.kind != "unresolved"]


def bench_settings(settings: NovelgenSettings, *, memory_budget: int) -> NovelgenSettings:
    """Return settings that plan by rules, fill the largest budget and wait long enough.

    Args:
        settings: Those of the machine; its embedding model is used.
        memory_budget: Tokens for memories.
    """
    memory = settings.memory.model_copy(
        update={
            "memory_budget": memory_budget,
            "tool_timeout_s": TOOL_TIMEOUT_S,
            "chain_timeout_s": 2 * TOOL_TIMEOUT_S,
        }
    )
    return settings.model_copy(update={"model": None, "database_url": None, "memory": memory})


def load_bench_settings(projects_dir: object, *, memory_budget: int) -> NovelgenSettings:
    """Return the settings of the machine for projects in a folder, made fit for measuring."""
    return bench_settings(load_settings(None, projects_dir=projects_dir), memory_budget=memory_budget)


def imported(
    stores: MemoryStores, book: BenchBook, *, records: bool, progress: Progress | None = None
) -> str:
    """Import a book into its project, unless it is there already, and return the project's id."""
    project_id = f"bench-{'records' if records else 'text'}"
    import_book(stores, book.folder, project_id=project_id, records=records, index_progress=progress)
    return project_id


def plan_request(project_id: str, plan: BenchPlan) -> dict[str, Any]:
    """Return what the chain is asked for a plan."""
    return {
        "project_id": project_id,
        "chapter_index": plan.chapter_index,
        "scene_index": plan.scene_index,
        "scene_plan": plan.scene_plan,
    }


def run_chain(
    stores: MemoryStores,
    project_id: str,
    plans: Sequence[BenchPlan],
    *,
    model: BaseChatModel | None = None,
    progress: Progress | None = None,
) -> list[PlannedContext]:
    """Build the context of every plan; nothing is written.

    Args:
        stores: Stores that hold the book.
        project_id: Its project.
        plans: The plans.
        model: Plans the retrieval; None plans by rules.
        progress: Called after each plan.
    """
    chain = build_context_chain(stores, model=model, write_files=False)
    contexts: list[PlannedContext] = []
    for plan in plans:
        contexts.append(PlannedContext(plan, chain.invoke(plan_request(project_id, plan))))
        if progress is not None:
            progress(len(contexts), len(plans))
    return contexts
