"""Consolidated memories: letting one stand for several small ones, listing them, and taking them back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from runtime.ingest.consolidation import DEFAULT_LIMIT, ConsolidationReport, consolidate_project, undo_consolidation
from runtime.storage.consolidations import StoredConsolidation
from runtime.story.async_twins import async_twin
from runtime.story.base import Count, Name, StoryBase
from runtime.story.extraction import build_extraction_model, is_extraction_model_set


class StoryConsolidation(StoryBase):
    """Consolidated memories: letting one stand for several small ones, listing them, and taking them back."""

    def consolidate_memories(
        self,
        *,
        limit: Count | None = None,
        with_model: bool = True,
        dry_run: bool = False,
        progress: Callable[[int, int], Any] | None = None,
    ) -> ConsolidationReport:
        """Let one memory stand for several small ones where an entity has more than a limit.

        Args:
            limit: Most memories per entity; None takes that of the settings, else a default.
            with_model: Whether the model of the settings writes them, where one is set.
            dry_run: Only tell what would be consolidated.
            progress: Called after each group with those done and all.

        Raises:
            UnknownProjectError: When no such project is stored.
            ConfigurationError: When the settings name a model that cannot be built.
        """
        memory = self._stores.settings.memory
        is_models = with_model and is_extraction_model_set(self._stores.settings) and not dry_run
        return consolidate_project(
            self._stores,
            self.project_id,
            limit=limit or memory.consolidation.max_memories_per_entity or DEFAULT_LIMIT,
            model=build_extraction_model(self._stores.settings) if is_models else None,
            dry_run=dry_run,
            progress=progress,
        )

    def list_consolidations(self) -> list[StoredConsolidation]:
        """Return the consolidated memories with their sources, in story order."""
        with self._stores.database(self.project_id).read() as unit:
            return unit.consolidations.list_all()

    def undo_consolidations(self, *, chunk_id: Name | None = None) -> list[str]:
        """Take one consolidated memory back, or with None all; return the ids of those that are gone.

        Args:
            chunk_id: Only this one; None takes all back.
        """
        return undo_consolidation(self._stores, self.project_id, chunk_id)

    aconsolidate_memories = async_twin(consolidate_memories)
    alist_consolidations = async_twin(list_consolidations)
    aundo_consolidations = async_twin(undo_consolidations)
