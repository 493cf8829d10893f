"""What Python programs look up in a story: memories, states, entities, names, threads, relationships, conflicts."""

from __future__ import annotations

from collections.abc import Sequence

from novelgen.language.candidates import MIN_COUNT, NameCandidate
from novelgen.language.sightings import CandidateKind
from novelgen.models.entity import Entity, EntityType
from novelgen.models.memory import ContentType, StoryMemoryChunk
from novelgen.models.shown import ShownList
from novelgen.models.state import EntityStateSnapshot, LoopStatus, Relationship
from runtime.async_twins import async_twin
from runtime.search.story_memory import DEFAULT_CONTEXT_WINDOW, DEFAULT_TOP_K
from runtime.story.base import Place, StoryBase, position_of
from runtime.story.entities import StoryEntities
from runtime.story.name_candidates import StoryNameCandidates
from runtime.story.relationships import StoryRelationships
from runtime.story.threads import ListedThread, StoryThreads


class StoryLookup(StoryBase):
    """The part of a `Story` that reads what was established; see there."""

    def search(
        self,
        query: str,
        *,
        entities: Sequence[str] | None = None,
        content_type: ContentType | None = None,
        tags: Sequence[str] | None = None,
        top_k: int = DEFAULT_TOP_K,
        as_of: Place = None,
        min_relevance: float = 0.0,
    ) -> list[StoryMemoryChunk]:
        """Search what the story has established, by meaning and by words; best first.

        Args:
            query: What to look for, in the story's language.
            entities: Only memories of one of these: entities, chapters as `chapter:3`, or `book`.
            content_type: Only this kind: scene, dialogue, description, summary, memory or note.
            tags: Only memories with one of these tags.
            top_k: At most so many.
            as_of: Only what lies strictly before this position.
            min_relevance: Only what fits at least so well, from 0 (all) to 1: by the cosine of the embedding model, or
                by the share of the query's words that it holds. With the built-in model .84 (English) or .87
                (Chinese) keeps out what has nothing to do with the story.

        Raises:
            UserInputError: When the query is empty, or the relevance is not from 0 to 1.
            StoreError: When nothing of the search could answer.
        """
        self._awaken()
        return ShownList(
            self._tools.search_story_memory(
                self.project_id,
                query,
                entities=entities,
                content_type=content_type,
                tags=tags,
                top_k=top_k,
                as_of=position_of(as_of),
                min_relevance=min_relevance,
            )
        )

    def state(
        self, entity: str, *, chapter_index: int | None = None, scene_index: int | None = None
    ) -> EntityStateSnapshot | None:
        """Return how an entity stands at a point of the story: where it is, what it holds, wants and knows.

        Args:
            entity: Id, name or alias.
            chapter_index: Chapter at whose beginning to look; None means after the last stored scene.
            scene_index: Scene on entering which to look.

        Returns:
            The state, or None when nothing is known of the entity by then.
        """
        return self._tools.get_entity_state(
            self.project_id, entity, chapter_index=chapter_index, scene_index=scene_index
        )

    def timeline(
        self, chapter_index: int, *, context_window: int = DEFAULT_CONTEXT_WINDOW, as_of: Place = None
    ) -> list[EntityStateSnapshot]:
        """Return how entities stood at the end of the chapters around one chapter, in story order.

        Args:
            chapter_index: The chapter in the middle.
            context_window: Chapters before and after it.
            as_of: Only what lies strictly before this position.
        """
        found = self._tools.get_recent_timeline(
            self.project_id, chapter_index, context_window=context_window, as_of=position_of(as_of)
        )
        return ShownList(found, names=self._names(as_of))

    def entities(self, entity_type: EntityType | None = None, *, as_of: Place = None) -> list[Entity]:
        """Return the characters, places, things, factions and terms of the story, in order of id.

        Args:
            entity_type: Only these: character, location, item, faction or term.
            as_of: As far as the story has shown them before this position.
        """
        return ShownList(
            StoryEntities(self._stores, self.project_id).list_entities(
                entity_type=entity_type, as_of=position_of(as_of)
            )
        )

    def candidates(
        self, kind: CandidateKind | None = None, *, min_count: int = MIN_COUNT, as_of: Place = None
    ) -> list[NameCandidate]:
        """List who and what the text names that no entity is, told by rules; they are no facts.

        Args:
            kind: Only these: character, location, item, faction, term or unknown.
            min_count: Only those that the text names so many times.
            as_of: Only scenes before this position count.
        """
        return (
            StoryNameCandidates(self._stores, self.project_id)
            .list_candidates(kind=kind, min_count=min_count, as_of=position_of(as_of))
            .candidates
        )

    def threads(self, statuses: Sequence[LoopStatus] = (), *, as_of: Place = None) -> list[ListedThread]:
        """Return the questions, promises and threats that the story leaves open, in the order of their planting.

        Args:
            statuses: Only those of these statuses (open, advanced, resolved, abandoned); empty means those that wait.
            as_of: As they stand at this position.
        """
        return ShownList(
            StoryThreads(self._stores, self.project_id).list_threads(statuses=list(statuses), as_of=position_of(as_of))
        )

    def relationships(
        self, character: str | None = None, *, status: str | None = None, as_of: Place = None
    ) -> list[Relationship]:
        """Return how pairs of characters stand.

        Args:
            character: Only pairs of this character.
            status: Only pairs of this status, such as strained.
            as_of: As they stand at this position.
        """
        found = StoryRelationships(self._stores, self.project_id).list_relationships(
            character=character, status=status, as_of=position_of(as_of)
        )
        return ShownList(found, names=self._names(as_of))

    def _names(self, as_of: Place) -> dict[str, str]:
        """Return the names under which entities are known at a position, to show them by."""
        return {each.entity_id: each.name for each in self.entities(as_of=as_of)}

    asearch = async_twin(search)
    astate = async_twin(state)
    atimeline = async_twin(timeline)
    aentities = async_twin(entities)
    acandidates = async_twin(candidates)
    athreads = async_twin(threads)
    arelationships = async_twin(relationships)
