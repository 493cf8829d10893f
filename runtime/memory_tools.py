"""The memory tools over the real stores: plain functions, and LangChain tools for function calling.

Each function takes its stores as a keyword; without them it opens those of the settings for the one call.
`StoryMemoryTools` binds them for the chain.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence

from novelgen.memory.outline import StoryOutline
from novelgen.memory.search import RankedMemories, SearchRequest, SearchResult
from novelgen.models.memory import ContentType, StoryMemoryChunk
from novelgen.models.position import END_OF_STORY, StoryPosition, require_project_id
from novelgen.models.state import EntityStateSnapshot
from novelgen.names.resolver import NameResolver
from runtime.retrieval.search import DEFAULT_TOP_K, MAX_TOP_K, ranked_memories, search_memories
from runtime.stores import MemoryStores, stores_or_default

__all__ = [
    "DEFAULT_CONTEXT_WINDOW",
    "DEFAULT_TOP_K",
    "MAX_TOP_K",
    "StoryMemoryTools",
    "get_entity_state_tool",
    "get_recent_timeline_tool",
    "search_story_memory_tool",
]
logger = logging.getLogger(__name__)
DEFAULT_CONTEXT_WINDOW = 2


def search_story_memory_tool(
    project_id: str,
    query: str,
    entities: Sequence[str] | None = None,
    content_type: ContentType | None = None,
    tags: Sequence[str] | None = None,
    top_k: int = DEFAULT_TOP_K,
    as_of: StoryPosition | None = None,
    *,
    stores: MemoryStores | None = None,
) -> list[StoryMemoryChunk]:
    """Search what the story has established, by meaning and by words.

    Args:
        project_id: The project, a plain string.
        query: What to look for, in the story's language.
        entities: Only memories of one of these entities: ids, names or aliases.
        content_type: Only this kind: scene, dialogue, description, summary, memory or note.
        tags: Only memories with one of these tags.
        top_k: At most so many, from 1 to 200.
        as_of: Only what lies strictly before this position; None means all that is stored.
        stores: Stores to use; None opens those of the settings.

    Returns:
        Memories, best first; empty when nothing fits.

    Raises:
        InvalidProjectIdError: When the project id is not a plain, path-free string.
        UnknownProjectError: When no such project is stored.
        UserInputError: When the query is empty.
        StoreError: When no retriever of the search could answer.
    """
    with stores_or_default(stores) as opened:
        return StoryMemoryTools(opened).search_story_memory(
            project_id,
            query,
            entities=entities,
            content_type=content_type,
            tags=tags,
            top_k=top_k,
            as_of=as_of,
        )


def get_entity_state_tool(
    project_id: str,
    entity_id: str,
    chapter_index: int | None = None,
    scene_index: int | None = None,
    *,
    stores: MemoryStores | None = None,
) -> EntityStateSnapshot | None:
    """Look up how an entity stands at a point of the story: where it is, what it holds, wants and knows.

    Args:
        project_id: The project, a plain string.
        entity_id: Id, name or alias.
        chapter_index: Chapter at whose beginning to look; None means after the last stored scene.
        scene_index: Scene on entering which to look; None means on entering the chapter.
        stores: Stores to use; None opens those of the settings.

    Returns:
        The state at that position, or None when nothing is known of the entity by then.

    Raises:
        InvalidProjectIdError: When the project id is not a plain, path-free string.
        UnknownProjectError: When no such project is stored.
        DatabaseError: When the database fails.
    """
    with stores_or_default(stores) as opened:
        return StoryMemoryTools(opened).get_entity_state(
            project_id, entity_id, chapter_index=chapter_index, scene_index=scene_index
        )


def get_recent_timeline_tool(
    project_id: str,
    chapter_index: int,
    context_window: int = DEFAULT_CONTEXT_WINDOW,
    as_of: StoryPosition | None = None,
    *,
    stores: MemoryStores | None = None,
) -> list[EntityStateSnapshot]:
    """List how entities stood at the end of the chapters around one chapter.

    Args:
        project_id: The project, a plain string.
        chapter_index: The chapter in the middle.
        context_window: Chapters before and after it, from 0 up.
        as_of: Only what lies strictly before this position; None means all that is stored.
        stores: Stores to use; None opens those of the settings.

    Returns:
        One snapshot per entity and chapter in which it changed, in story order.

    Raises:
        InvalidProjectIdError: When the project id is not a plain, path-free string.
        UnknownProjectError: When no such project is stored.
        DatabaseError: When the database fails.
    """
    with stores_or_default(stores) as opened:
        return StoryMemoryTools(opened).get_recent_timeline(
            project_id, chapter_index, context_window=context_window, as_of=as_of
        )


class StoryMemoryTools:
    """The memory of runtime's stores, as `novelgen.memory.protocol.StoryMemory`.

    Args:
        stores: Open stores; they are not closed here.
    """

    def __init__(self, stores: MemoryStores) -> None:
        self._stores = stores

    def search_story_memory(
        self,
        project_id: str,
        query: str,
        *,
        entities: Sequence[str] | None = None,
        content_type: ContentType | None = None,
        tags: Sequence[str] | None = None,
        top_k: int = DEFAULT_TOP_K,
        as_of: StoryPosition | None = None,
    ) -> list[StoryMemoryChunk]:
        """Search by meaning and words; see `search_story_memory_tool`."""
        return [
            found.chunk
            for found in self.rank_story_memory(
                project_id,
                query,
                entities=entities,
                content_type=content_type,
                tags=tags,
                top_k=top_k,
                as_of=as_of,
            ).memories
        ]

    def rank_story_memory(
        self,
        project_id: str,
        query: str,
        *,
        entities: Sequence[str] | None = None,
        content_type: ContentType | None = None,
        tags: Sequence[str] | None = None,
        top_k: int = DEFAULT_TOP_K,
        as_of: StoryPosition | None = None,
    ) -> RankedMemories:
        """Search as `search_story_memory` does, with scores, what each was found by, and what is missing."""
        ranked = ranked_memories(
            self._stores,
            project_id,
            query,
            entities=entities,
            content_type=content_type,
            tags=tags,
            top_k=top_k,
            as_of=as_of,
        )
        for issue in ranked.issues:
            logger.warning("%s %s: %s", issue.stage, issue.kind, issue.message)
        return ranked

    def search(self, request: SearchRequest) -> SearchResult:
        """Run many queries over all retrievers; see `runtime.retrieval.search`."""
        return search_memories(self._stores, request)

    def outline(self, project_id: str, *, as_of: StoryPosition) -> StoryOutline:
        """Return what the story has shown before the position."""
        chapters_per_part = self._stores.settings.memory.summarization.chapters_per_part
        with self._stores.database(require_project_id(project_id)).read() as unit:
            return unit.outline(as_of=as_of, chapters_per_part=chapters_per_part)

    def get_entity_state(
        self,
        project_id: str,
        entity_id: str,
        *,
        chapter_index: int | None = None,
        scene_index: int | None = None,
    ) -> EntityStateSnapshot | None:
        """Return one entity's state; see `get_entity_state_tool`."""
        require_project_id(project_id)
        as_of = StoryPosition(chapter_index, scene_index)
        found = self._entity_ids(project_id, [entity_id], as_of)
        states = self.get_entity_states(project_id, found, as_of=as_of)
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
            return unit.states.timeline(
                chapter_index - window, chapter_index + window, as_of=as_of or END_OF_STORY
            )

    def _entity_ids(self, project_id: str, names: Sequence[str], as_of: StoryPosition) -> list[str]:
        """Ids of names, aliases or ids, known at the position; what nobody bears stays as it is."""
        if not names:
            return []
        with self._stores.database(project_id).read() as unit:
            resolver = NameResolver(unit.entities.list_as_of(as_of=as_of))
        return [resolver.resolve(name).entity_id or name for name in names]
