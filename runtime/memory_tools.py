"""The memory layer: three tools as plain functions over the real stores, and the same over open stores.

The chain reaches SQL and Chroma through this module alone. `StoryMemoryTools` binds open stores to the three functions
and adds what a `novelgen.memory.protocol.StoryMemory` offers beside them. Without `stores` a function opens those of
the settings for the one call. `runtime.doors.langchain` offers the three to a model.

    python -m runtime.memory_tools search PROJECT QUERY
    python -m runtime.memory_tools state PROJECT ENTITY
    python -m runtime.memory_tools timeline PROJECT CHAPTER
"""

import argparse
import logging
import sys
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any, Unpack, overload

from pydantic_core import to_json

from novelgen.deadlines import Deadline
from novelgen.errors import NovelgenError
from novelgen.language.resolver import NameResolver
from novelgen.memory.knowledge_story import KnowledgeStory
from novelgen.memory.outline import RECALLED_SCENES, StoryOutline, StoryRecap
from novelgen.memory.protocol import DEFAULT_CHAPTERS_AROUND
from novelgen.memory.search import RankedMemories, SearchRequest, SearchResult
from novelgen.memory.story_changes import StoryChanges
from novelgen.models.entity import is_entity_id
from novelgen.models.memory import CONTENT_TYPES, ContentType, StoryMemoryChunk
from novelgen.models.position import END_OF_STORY, StoryPosition, require_project_id
from novelgen.models.state import EntityStateSnapshot
from runtime.search.kept_readings import knowledge_story
from runtime.search.search import DEFAULT_TOP_K, MAX_TOP_K, SearchFilters, ranked_memories, search_memories
from runtime.search.text_names import names_in_text
from runtime.stores import MemoryStores, stores_or_default

__all__ = [
    "DEFAULT_CHAPTERS_AROUND",
    "DEFAULT_TOP_K",
    "MAX_TOP_K",
    "StoryMemoryTools",
    "get_entity_state_tool",
    "get_recent_timeline_tool",
    "search_story_memory_tool",
]

logger = logging.getLogger(__name__)


@overload
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
) -> list[StoryMemoryChunk]: ...


@overload
def search_story_memory_tool(
    project_id: str, query: SearchRequest, *, stores: MemoryStores | None = None
) -> SearchResult: ...


def search_story_memory_tool(
    project_id: str,
    query: str | SearchRequest,
    entities: Sequence[str] | None = None,
    content_type: ContentType | None = None,
    tags: Sequence[str] | None = None,
    top_k: int = DEFAULT_TOP_K,
    as_of: StoryPosition | None = None,
    *,
    min_relevance: float = 0.0,
    stores: MemoryStores | None = None,
) -> list[StoryMemoryChunk] | SearchResult:
    """Search the memories of a story by meaning and by words.

    Args:
        project_id: The project, a plain string.
        query: The question, in the story's language; or a SearchRequest: all queries of a scene's plan at once,
            with filters of their own.
        entities: Only memories of one of these entities: ids, names or aliases.
        content_type: Only this kind: scene, dialogue, description, summary, memory or note.
        tags: Only memories with one of these tags.
        top_k: Maximum number of memories, from 1 to 200.
        as_of: Only memories strictly before this position; None means all that is stored.
        min_relevance: Minimum relevance, from 0 (all) to 1.
        stores: Stores to use; None opens those of the settings.

    Returns:
        Memories, best first; empty when nothing fits. For a SearchRequest its SearchResult: the candidates of all
        retrievers, not ranked yet.

    Raises:
        InvalidProjectIdError: When the project id is not a plain, path-free string.
        UnknownProjectError: When no such project is stored.
        UserInputError: When the query is empty.
        StoreError: When no retriever of the search could answer.
    """
    with stores_or_default(stores) as opened_stores:
        if isinstance(query, SearchRequest):
            require_project_id(project_id)
            return search_memories(opened_stores, query, deadline=Deadline.after(query.timeout_s, stage="search"))
        ranking = _rank_memories(
            opened_stores,
            project_id,
            query,
            entities=entities,
            content_type=content_type,
            tags=tags,
            top_k=top_k,
            as_of=as_of,
            min_relevance=min_relevance,
        )
    return [memory.chunk for memory in ranking.memories]


@overload
def get_entity_state_tool(
    project_id: str,
    entity_id: str,
    chapter_index: int | None = None,
    scene_index: int | None = None,
    *,
    stores: MemoryStores | None = None,
) -> EntityStateSnapshot | None: ...


@overload
def get_entity_state_tool(
    project_id: str,
    entity_id: list[str],
    chapter_index: int | None = None,
    scene_index: int | None = None,
    *,
    stores: MemoryStores | None = None,
) -> list[EntityStateSnapshot]: ...


def get_entity_state_tool(
    project_id: str,
    entity_id: str | list[str],
    chapter_index: int | None = None,
    scene_index: int | None = None,
    *,
    stores: MemoryStores | None = None,
) -> EntityStateSnapshot | list[EntityStateSnapshot] | None:
    """Return the state of an entity at a point of the story: its place, possessions, goals and knowledge.

    Args:
        project_id: The project, a plain string.
        entity_id: Id, name or alias; or several of them.
        chapter_index: Chapter at whose beginning to look; None means after the last stored scene.
        scene_index: Scene on entering which to look; None means on entering the chapter.
        stores: Stores to use; None opens those of the settings.

    Returns:
        The state at that position, or None when nothing is known of the entity by then. For several entities the
        list of their states, in the order of the request; unknown ones are left out.

    Raises:
        InvalidProjectIdError: When the project id is not a plain, path-free string.
        UnknownProjectError: When no such project is stored.
        DatabaseError: When the database fails.
    """
    as_of = StoryPosition(chapter_index, scene_index)
    names = [entity_id] if isinstance(entity_id, str) else entity_id
    with (
        stores_or_default(stores) as opened_stores,
        opened_stores.database(require_project_id(project_id)).read() as unit,
    ):
        states = unit.states.snapshots(names, as_of=as_of)
        stated_ids = {state.entity_id for state in states}
        # Reading all entities is dear, and most requests of a chain hold ids alone.
        if any(name not in stated_ids and not is_entity_id(name) for name in names):
            resolver = NameResolver(unit.entities.list_as_of(as_of=as_of))
            entity_ids = [resolver.resolve(name).entity_id or name for name in names]
            states = unit.states.snapshots(entity_ids, as_of=as_of)
    if isinstance(entity_id, str):
        return states[0] if states else None
    return states


def get_recent_timeline_tool(
    project_id: str,
    chapter_index: int,
    context_window: int = DEFAULT_CHAPTERS_AROUND,
    as_of: StoryPosition | None = None,
    *,
    stores: MemoryStores | None = None,
) -> list[EntityStateSnapshot]:
    """Return the states of entities at the end of the chapters around one chapter.

    Args:
        project_id: The project, a plain string.
        chapter_index: The chapter in the middle.
        context_window: Chapters before and after it, from 0 up: no window of a model.
        as_of: Only what lies strictly before this position; None means all that is stored.
        stores: Stores to use; None opens those of the settings.

    Returns:
        One snapshot per entity and chapter in which it changed, in story order.

    Raises:
        InvalidProjectIdError: When the project id is not a plain, path-free string.
        UnknownProjectError: When no such project is stored.
        DatabaseError: When the database fails.
    """
    with (
        stores_or_default(stores) as opened_stores,
        opened_stores.database(require_project_id(project_id)).read() as unit,
    ):
        return unit.states.snapshots_around(chapter_index, context_window, as_of=as_of or END_OF_STORY)


class StoryMemoryTools:
    """The three tools over open stores, as a `novelgen.memory.protocol.StoryMemory`.

    Args:
        stores: Open stores; they are not closed here.
    """

    def __init__(self, stores: MemoryStores) -> None:
        self._stores = stores

    def search_story_memory(
        self, project_id: str, query: str, **filters: Unpack[SearchFilters]
    ) -> list[StoryMemoryChunk]:
        """Search by meaning and words.

        See `search_story_memory_tool`.
        """
        return search_story_memory_tool(project_id, query, **filters, stores=self._stores)

    def get_entity_state(
        self, project_id: str, entity_id: str, *, chapter_index: int | None = None, scene_index: int | None = None
    ) -> EntityStateSnapshot | None:
        """Return one entity's state.

        See `get_entity_state_tool`.
        """
        return get_entity_state_tool(project_id, entity_id, chapter_index, scene_index, stores=self._stores)

    def get_recent_timeline(
        self,
        project_id: str,
        chapter_index: int,
        *,
        context_window: int = DEFAULT_CHAPTERS_AROUND,
        as_of: StoryPosition | None = None,
    ) -> list[EntityStateSnapshot]:
        """Return the snapshots around a chapter.

        See `get_recent_timeline_tool`.
        """
        return get_recent_timeline_tool(project_id, chapter_index, context_window, as_of, stores=self._stores)

    def search(self, request: SearchRequest) -> SearchResult:
        """Run many queries over all retrievers, within the seconds of the request."""
        return search_story_memory_tool(request.project_id, request, stores=self._stores)

    def rank_story_memory(self, project_id: str, query: str, **filters: Unpack[SearchFilters]) -> RankedMemories:
        """Search as `search_story_memory` does, with scores, retrievers and issues."""
        return _rank_memories(self._stores, project_id, query, **filters)

    def get_entity_states(
        self, project_id: str, entity_ids: Sequence[str], *, as_of: StoryPosition
    ) -> list[EntityStateSnapshot]:
        """Return the states of several entities at a position, in the order of the request."""
        return get_entity_state_tool(
            project_id, list(entity_ids), as_of.chapter_index, as_of.scene_index, stores=self._stores
        )

    def outline(self, project_id: str, *, as_of: StoryPosition) -> StoryOutline:
        """Return the entities, scenes, threads and relationships before the position."""
        chapters_per_part = self._stores.settings.memory.summarization.chapters_per_part
        with self._stores.database(require_project_id(project_id)).read() as unit:
            return unit.outline(as_of=as_of, chapters_per_part=chapters_per_part)

    def recap(self, project_id: str, *, as_of: StoryPosition, last_scenes: int = RECALLED_SCENES) -> StoryRecap:
        """Return a recap of the last scenes, and possible filters."""
        with self._stores.database(require_project_id(project_id)).read() as unit:
            return unit.recap(as_of=as_of, last_scenes=last_scenes)

    def memories_before(self, project_id: str, *, as_of: StoryPosition, most: int) -> list[StoryMemoryChunk]:
        """Return all memories and notes before the position in story order; none where there are more than `most`."""
        with self._stores.database(require_project_id(project_id)).read() as unit:
            return unit.memories.distilled_before(as_of, most=most)

    def knowledge(self, project_id: str, *, as_of: StoryPosition) -> KnowledgeStory:
        """Return the earlier story for knowledge rules."""
        return knowledge_story(self._stores, require_project_id(project_id), as_of=as_of)

    def changes(self, project_id: str, entity_ids: Sequence[str], *, as_of: StoryPosition) -> StoryChanges:
        """Return earlier changes of entities, stated holders and identities."""
        with self._stores.database(require_project_id(project_id)).read() as unit:
            return StoryChanges(
                states=unit.states.changes_before(as_of, entity_ids=entity_ids) if entity_ids else [],
                pairs=unit.relationships.changes_between(entity_ids, as_of=as_of) if entity_ids else {},
                stands_for=unit.consolidations.stands_for(),
                of_cards=unit.card_changes(entity_ids, as_of=as_of),
            )

    def names_in_text(self, project_id: str, names: Sequence[str], *, as_of: StoryPosition) -> dict[str, list[str]]:
        """Return which of the names stand in the text before the position, with all their spellings there."""
        with self._stores.database(require_project_id(project_id)).read() as unit:
            return names_in_text(unit, names, as_of=as_of)

    def scene_text(self, project_id: str, chapter_index: int, scene_index: int, *, as_of: StoryPosition) -> str:
        """Return an earlier scene's text, empty if absent."""
        if not as_of.admits(chapter_index, scene_index):
            return ""
        with self._stores.database(require_project_id(project_id)).read() as unit:
            scene = unit.scenes.get(StoryPosition(chapter_index, scene_index))
        return (scene.text if scene else None) or ""

    def read_moments(self, project_id: str, chunk_ids: Sequence[str]) -> dict[str, datetime]:
        """Return the last read times of memories, without unread ones."""
        with self._stores.database(require_project_id(project_id)).read() as unit:
            return unit.memories.read_moments(chunk_ids)


def _rank_memories(
    stores: MemoryStores, project_id: str, query: str, **filters: Unpack[SearchFilters]
) -> RankedMemories:
    """Answer one query, and log the issues of the search."""
    ranking = ranked_memories(stores, project_id, query, **filters)
    for issue in ranking.issues:
        logger.warning("%s %s: %s", issue.stage, issue.kind, issue.message)
    return ranking


def main(arguments: Sequence[str] | None = None) -> None:
    """Call one of the three tools over the stores of the settings, and print its answer as JSON.

    Args:
        arguments: Words of the command line; None takes those of the program.

    Raises:
        SystemExit: With 2 on wrong usage, with 1 where the tool fails.
    """
    parser = argparse.ArgumentParser(prog="python -m runtime.memory_tools", description=(__doc__ or "").split("\n")[0])
    tools = parser.add_subparsers(dest="tool", required=True)
    search = tools.add_parser("search", help="search_story_memory_tool: memories by meaning and words, best first")
    state = tools.add_parser("state", help="get_entity_state_tool: the state of one entity")
    timeline = tools.add_parser("timeline", help="get_recent_timeline_tool: states around a chapter")
    for command in (search, state, timeline):
        command.add_argument("project_id", metavar="PROJECT")
    search.add_argument("query", metavar="QUERY")
    search.add_argument("--entities", nargs="+", metavar="NAME", help="only memories of one of these")
    search.add_argument("--content-type", choices=CONTENT_TYPES, help="only this kind of memory")
    search.add_argument("--tags", nargs="+", metavar="TAG", help="only memories with one of these tags")
    search.add_argument("--top-k", type=int, default=DEFAULT_TOP_K, help="maximum number of memories (%(default)s)")
    search.add_argument(
        "--before", type=position, dest="as_of", metavar="CHAPTER[:SCENE]", help="only what lies before"
    )
    state.add_argument("entity_id", metavar="ENTITY", help="id, name or alias")
    state.add_argument("chapter_index", metavar="CHAPTER", type=int, nargs="?")
    state.add_argument("scene_index", metavar="SCENE", type=int, nargs="?")
    timeline.add_argument("chapter_index", metavar="CHAPTER", type=int)
    timeline.add_argument("--context-window", type=int, default=DEFAULT_CHAPTERS_AROUND, metavar="CHAPTERS")
    values = vars(parser.parse_args(arguments))
    tools_by_command: dict[str, Callable[..., Any]] = {
        "search": search_story_memory_tool,
        "state": get_entity_state_tool,
        "timeline": get_recent_timeline_tool,
    }
    tool = tools_by_command[values.pop("tool")]
    try:
        answer = tool(**values)
    except NovelgenError as error:
        sys.exit(f"error: {error}")
    sys.stdout.write(to_json(answer, indent=2).decode() + "\n")


def position(text: str) -> StoryPosition:
    """Read `5` or `5:4`."""
    chapter, _, scene = text.partition(":")
    return StoryPosition(int(chapter), int(scene) if scene else None)


if __name__ == "__main__":
    main()
