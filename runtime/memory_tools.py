"""The three memory tools as plain functions over the real stores.

Each takes its stores as a keyword; without them it opens those of the settings for the one call. Over stores that are
open anyway, `StoryMemoryTools` does the same; `runtime.doors.langchain` offers them to a model.
"""

from collections.abc import Sequence

from novelgen.models.memory import ContentType, StoryMemoryChunk
from novelgen.models.position import StoryPosition
from novelgen.models.state import EntityStateSnapshot
from runtime.search.story_memory import DEFAULT_CONTEXT_WINDOW, DEFAULT_TOP_K, MAX_TOP_K, StoryMemoryTools
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


def search_story_memory_tool(
    project_id: str,
    query: str,
    entities: Sequence[str] | None = None,
    content_type: ContentType | None = None,
    tags: Sequence[str] | None = None,
    top_k: int = DEFAULT_TOP_K,
    as_of: StoryPosition | None = None,
    *,
    min_relevance: float = 0.0,
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
        min_relevance: Only what fits at least so well, from 0 (all) to 1.
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
            min_relevance=min_relevance,
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
