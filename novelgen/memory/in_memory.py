"""A memory in plain Python: the public double of the memory tools, for users' tests and ours.

It keeps everything in lists, searches by shared words and characters, and cuts every read by position as
the real tools do. It needs no store, no model and no file.
"""

from __future__ import annotations

from collections.abc import Sequence

from novelgen.memory.outline import OutlineScene, StoryOutline
from novelgen.memory.search import Candidate, RetrieverHit, SearchQuery, SearchRequest, SearchResult
from novelgen.models.entity import Entity
from novelgen.models.loop import OpenLoop
from novelgen.models.memory import ContentType, StoryMemoryChunk
from novelgen.models.position import END_OF_STORY, StoryPosition
from novelgen.models.project_id import require_project_id
from novelgen.models.relationship import Relationship
from novelgen.models.state import EntityStateSnapshot, StateChange, snapshot_of
from novelgen.models.timestamps import UtcDatetime, utc_now
from novelgen.names.resolver import NameResolver
from novelgen.text.cjk import is_cjk


class InMemoryStoryMemory:
    """A `StoryMemory` over lists; every list may stay empty.

    Args:
        project_id: The only project that it knows; others are empty.
        chunks: Memories.
        entities: Known entities, cut by their first position.
        changes: State changes of all entities.
        scenes: Stored scenes, in story order.
        loops: Open loops, cut by where they were planted.
        relationships: Relationships, cut by where they last changed.
        language: Language of the story.
        timestamp: Moment stamped on snapshots; the time of construction by default.
    """

    def __init__(
        self,
        project_id: str,
        *,
        chunks: Sequence[StoryMemoryChunk] = (),
        entities: Sequence[Entity] = (),
        changes: Sequence[StateChange] = (),
        scenes: Sequence[OutlineScene] = (),
        loops: Sequence[OpenLoop] = (),
        relationships: Sequence[Relationship] = (),
        language: str = "en",
        timestamp: UtcDatetime | None = None,
    ) -> None:
        self._project_id = require_project_id(project_id)
        self._chunks = list(chunks)
        self._entities = list(entities)
        self._changes = list(changes)
        self._scenes = list(scenes)
        self._loops = list(loops)
        self._relationships = list(relationships)
        self._language = language
        self._timestamp = timestamp or utc_now()

    def search_story_memory(
        self,
        project_id: str,
        query: str,
        *,
        entities: Sequence[str] | None = None,
        content_type: ContentType | None = None,
        tags: Sequence[str] | None = None,
        top_k: int = 10,
        as_of: StoryPosition | None = None,
    ) -> list[StoryMemoryChunk]:
        """Return the memories that share most with the query, best first, ties by id."""
        asked = SearchQuery(
            text=query, entities=list(entities or ()), content_type=content_type, tags=list(tags or ())
        )
        return [chunk for _, chunk in self._ranked(project_id, asked, as_of or END_OF_STORY)[:top_k]]

    def search(self, request: SearchRequest) -> SearchResult:
        """Answer all queries by the one retriever that this double has."""
        hits: dict[str, list[RetrieverHit]] = {}
        chunks: dict[str, StoryMemoryChunk] = {}
        for index, query in enumerate(request.queries):
            ranked = self._ranked(request.project_id, query, request.as_of)[: request.candidates_per_query]
            for rank, (score, chunk) in enumerate(ranked, start=1):
                chunks[chunk.chunk_id] = chunk
                hit = RetrieverHit(retriever="lexical", query_index=index, rank=rank, score=score)
                hits.setdefault(chunk.chunk_id, []).append(hit)
        candidates = (Candidate(chunk=chunks[name], hits=tuple(hits[name])) for name in sorted(chunks))
        return SearchResult(candidates=tuple(candidates), linked=self._linked(request))

    def get_entity_state(
        self,
        project_id: str,
        entity_id: str,
        *,
        chapter_index: int | None = None,
        scene_index: int | None = None,
    ) -> EntityStateSnapshot | None:
        """Return the entity's state at the position; ids, names and aliases work."""
        as_of = StoryPosition(chapter_index, scene_index)
        outline = self.outline(project_id, as_of=as_of)
        resolved = NameResolver(outline.entities).resolve(entity_id).entity_id or entity_id
        found = self.get_entity_states(project_id, [resolved], as_of=as_of)
        return found[0] if found else None

    def get_entity_states(
        self, project_id: str, entity_ids: Sequence[str], *, as_of: StoryPosition
    ) -> list[EntityStateSnapshot]:
        """Return the states of several entities at a position, in the order asked."""
        require_project_id(project_id)
        if project_id != self._project_id:
            return []
        found = (
            snapshot_of(
                project_id,
                [change for change in self._changes if change.entity_id == entity_id],
                as_of=as_of,
                timestamp=self._timestamp,
            )
            for entity_id in entity_ids
        )
        return [snapshot for snapshot in found if snapshot is not None]

    def get_recent_timeline(
        self,
        project_id: str,
        chapter_index: int,
        *,
        context_window: int = 2,
        as_of: StoryPosition | None = None,
    ) -> list[EntityStateSnapshot]:
        """Return one snapshot per entity and chapter in which it changed, in story order."""
        cut = as_of or END_OF_STORY
        snapshots: list[EntityStateSnapshot] = []
        for chapter in range(chapter_index - context_window, chapter_index + context_window + 1):
            end = min(StoryPosition(chapter + 1), cut) if chapter >= 0 else cut
            changed = {
                change.entity_id
                for change in self._changes
                if change.chapter_index == chapter and cut.admits(change.chapter_index, change.scene_index)
            }
            snapshots += self.get_entity_states(project_id, sorted(changed), as_of=end)
        return snapshots

    def outline(self, project_id: str, *, as_of: StoryPosition) -> StoryOutline:
        """Return what the lists hold strictly before the position."""
        if require_project_id(project_id) != self._project_id:
            return StoryOutline(project_id=project_id)
        before = [each for each in self._changes if as_of.admits(each.chapter_index, each.scene_index)]
        latest_first = sorted(before, key=lambda each: (each.chapter_index or 0, each.scene_index or 0))[::-1]
        holders: dict[str, list[str]] = {}
        for item_id in dict.fromkeys(each.entity_id for each in latest_first if each.attribute == "holder"):
            holder = next(
                each.value for each in latest_first if (each.entity_id, each.attribute) == (item_id, "holder")
            )
            holders.setdefault(str(holder), []).append(item_id)
        return StoryOutline(
            project_id=project_id,
            language=self._language,
            entities=[each for each in self._entities if as_of.admits(each.first_chapter, each.first_scene)],
            scenes=[each for each in self._scenes if as_of.admits(each.chapter_index, each.scene_index)],
            open_loops=[each for each in self._loops if as_of.admits(each.chapter_index, each.scene_index)],
            relationships=[
                each for each in self._relationships if as_of.admits(each.chapter_index, each.scene_index)
            ],
            holders=holders,
            stated_ids=list(
                dict.fromkeys(each.entity_id for each in latest_first if each.kind == "explicit")
            ),
        )

    def _linked(self, request: SearchRequest) -> int | None:
        if not request.counts_linked:
            return None
        return sum(
            chunk.project_id == request.project_id
            and chunk.content_type in ("memory", "note")
            and request.as_of.admits(chunk.chapter_index, chunk.scene_index)
            and bool(set(request.entity_ids) & set(chunk.entities_mentioned))
            for chunk in self._chunks
        )

    def _ranked(
        self, project_id: str, query: SearchQuery, as_of: StoryPosition
    ) -> list[tuple[float, StoryMemoryChunk]]:
        require_project_id(project_id)
        wanted = _terms(query.text)
        scored = [
            (len(wanted & _terms(chunk.content)) / len(wanted), chunk)
            for chunk in self._chunks
            if chunk.project_id == project_id
            and as_of.admits(chunk.chapter_index, chunk.scene_index)
            and _passes(chunk, query)
        ]
        hits = [(score, chunk) for score, chunk in scored if score > 0]
        return sorted(hits, key=lambda pair: (-pair[0], pair[1].chunk_id))


def _passes(chunk: StoryMemoryChunk, query: SearchQuery) -> bool:
    return (
        (not query.entities or bool(set(query.entities) & set(chunk.entities_mentioned)))
        and (query.content_type is None or chunk.content_type == query.content_type)
        and (not query.tags or bool(set(query.tags) & set(chunk.tags)))
    )


def _terms(text: str) -> frozenset[str]:
    """Lower-cased words, and every CJK character on its own."""
    spaced = "".join(f" {character} " if is_cjk(character) else character for character in text.casefold())
    return frozenset(word.strip(".,;:!?\"'()，。；：！？“”") for word in spaced.split()) - {""} or frozenset(
        {""}
    )
