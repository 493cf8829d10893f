"""What the stores hold of a story, as the chain's protocols ask for it."""

import logging
from collections.abc import Sequence
from datetime import datetime
from typing import Unpack

from novelgen.language.resolver import NameResolver
from novelgen.memory.outline import RECALLED_SCENES, StoryChanges, StoryOutline, StoryRecap
from novelgen.memory.protocol import DEFAULT_CONTEXT_WINDOW
from novelgen.memory.search import RankedMemories, SearchRequest, SearchResult
from novelgen.memory.story import KnowledgeStory
from novelgen.models.memory import StoryMemoryChunk
from novelgen.models.position import END_OF_STORY, StoryPosition, require_project_id
from novelgen.models.state import EntityStateSnapshot
from runtime.search.kept_readings import knowledge_story
from runtime.search.search import DEFAULT_TOP_K, MAX_TOP_K, SearchFilters, ranked_memories, search_memories
from runtime.search.text_names import names_in_text
from runtime.stores import MemoryStores

__all__ = ["DEFAULT_CONTEXT_WINDOW", "DEFAULT_TOP_K", "MAX_TOP_K", "StoryMemoryTools"]

logger = logging.getLogger(__name__)


class StoryMemoryTools:
    """The memory of runtime's stores, as `novelgen.memory.protocol.StoryMemory`."""

    def __init__(self, stores: MemoryStores) -> None:
        self._stores = stores

    def search_story_memory(
        self, project_id: str, query: str, **filters: Unpack[SearchFilters]
    ) -> list[StoryMemoryChunk]:
        """Search by meaning and words; see `search_story_memory_tool`."""
        return [found.chunk for found in self.rank_story_memory(project_id, query, **filters).memories]

    def rank_story_memory(self, project_id: str, query: str, **filters: Unpack[SearchFilters]) -> RankedMemories:
        """Search as `search_story_memory` does, with scores, what each was found by, and what is missing."""
        ranked = ranked_memories(self._stores, project_id, query, **filters)
        for issue in ranked.issues:
            logger.warning("%s %s: %s", issue.stage, issue.kind, issue.message)
        return ranked

    def search(self, request: SearchRequest) -> SearchResult:
        """Run many queries over all retrievers; see `runtime.search.search`."""
        return search_memories(self._stores, request)

    def outline(self, project_id: str, *, as_of: StoryPosition) -> StoryOutline:
        """Return what the story has shown before the position."""
        chapters_per_part = self._stores.settings.memory.summarization.chapters_per_part
        with self._stores.database(require_project_id(project_id)).read() as unit:
            return unit.outline(as_of=as_of, chapters_per_part=chapters_per_part)

    def recap(self, project_id: str, *, as_of: StoryPosition, last_scenes: int = RECALLED_SCENES) -> StoryRecap:
        """Return the last scenes before the position in a few words, and what filters can name there."""
        with self._stores.database(require_project_id(project_id)).read() as unit:
            return unit.recap(as_of=as_of, last_scenes=last_scenes)

    def knowledge(self, project_id: str, *, as_of: StoryPosition) -> KnowledgeStory:
        """Return the story before the position as it bears on who knows what."""
        return knowledge_story(self._stores, require_project_id(project_id), as_of=as_of)

    def changes(self, project_id: str, entity_ids: Sequence[str], *, as_of: StoryPosition) -> StoryChanges:
        """Return what changed about the entities before the position, all stated holders, and what stands for what."""
        with self._stores.database(require_project_id(project_id)).read() as unit:
            return StoryChanges(
                states=unit.states.changes_before(as_of, entity_ids=entity_ids),
                pairs=unit.relationships.changes_between(entity_ids, as_of=as_of) if entity_ids else {},
                stands_for=unit.consolidations.stands_for(),
            )

    def names_in_text(self, project_id: str, names: Sequence[str], *, as_of: StoryPosition) -> dict[str, list[str]]:
        """Return which of the names stand in the text before the position, with all ways of saying them."""
        with self._stores.database(require_project_id(project_id)).read() as unit:
            return names_in_text(unit, names, as_of=as_of)

    def scene_text(self, project_id: str, chapter_index: int, scene_index: int, *, as_of: StoryPosition) -> str:
        """Return the text of a scene before the position; empty where none is stored."""
        if not as_of.admits(chapter_index, scene_index):
            return ""
        with self._stores.database(require_project_id(project_id)).read() as unit:
            scene = unit.scenes.get(StoryPosition(chapter_index, scene_index))
        return (scene.text if scene else None) or ""

    def read_moments(self, project_id: str, chunk_ids: Sequence[str]) -> dict[str, datetime]:
        """Return when memories were last read; those of which nobody noted it are left out."""
        with self._stores.database(require_project_id(project_id)).read() as unit:
            return unit.memories.read_moments(chunk_ids)

    def get_entity_state(
        self, project_id: str, entity_id: str, *, chapter_index: int | None = None, scene_index: int | None = None
    ) -> EntityStateSnapshot | None:
        """Return one entity's state; see `get_entity_state_tool`."""
        as_of = StoryPosition(chapter_index, scene_index)
        with self._stores.database(require_project_id(project_id)).read() as unit:
            resolver = NameResolver(unit.entities.list_as_of(as_of=as_of))
            found = resolver.resolve(entity_id).entity_id or entity_id
            states = unit.states.snapshots([found], as_of=as_of)
        return states[0] if states else None

    def get_entity_states(
        self, project_id: str, entity_ids: Sequence[str], *, as_of: StoryPosition
    ) -> list[EntityStateSnapshot]:
        """Return the states of several entities at a position, in the order asked."""
        with self._stores.database(require_project_id(project_id)).read() as unit:
            return unit.states.snapshots(entity_ids, as_of=as_of)

    def get_recent_timeline(
        self,
        project_id: str,
        chapter_index: int,
        *,
        context_window: int = DEFAULT_CONTEXT_WINDOW,
        as_of: StoryPosition | None = None,
    ) -> list[EntityStateSnapshot]:
        """Return the snapshots around a chapter; see `get_recent_timeline_tool`."""
        window = max(0, context_window)
        with self._stores.database(require_project_id(project_id)).read() as unit:
            return unit.states.timeline(chapter_index - window, chapter_index + window, as_of=as_of or END_OF_STORY)
