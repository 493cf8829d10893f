"""One transaction and the repositories that work in it."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from functools import cached_property

from sqlalchemy import Connection

from novelgen.memory.outline import StoryOutline
from novelgen.models.position import END_OF_STORY, StoryPosition
from novelgen.records.summaries import CHAPTERS_PER_PART, NumberedPart
from runtime.storage.entity.entities import CharacterFileRepository, EntityRepository
from runtime.storage.entity.merges import EntityMergeRepository
from runtime.storage.memory.attachments import AttachmentRepository
from runtime.storage.memory.consolidations import ConsolidationRepository
from runtime.storage.memory.embeddings import EmbeddingRepository
from runtime.storage.memory.lexical import LexicalRepository
from runtime.storage.memory.memories import MemoryRepository
from runtime.storage.memory.outbox import EmbeddingChoiceRepository, OutboxRepository
from runtime.storage.projects import CounterRepository, ProjectRepository
from runtime.storage.session import StorageSession
from runtime.storage.story.outline import read_outline, story_version
from runtime.storage.story.relationships import RelationshipRepository
from runtime.storage.story.scenes import SceneRepository
from runtime.storage.story.states import StateRepository
from runtime.storage.story.summaries import StorySummaries, SummaryRepository, read_parts, read_summaries
from runtime.storage.story.threads import LoopRepository
from runtime.storage.transfer.repository import ExchangeRepository


class UnitOfWork:
    """The repositories over one transaction; use it only inside its `with` block.

    Args:
        connection: A connection inside a transaction.
        clock: Tells the moment that is written into rows.
    """

    def __init__(self, connection: Connection, *, clock: Callable[[], datetime]) -> None:
        self._session = StorageSession(connection, clock)

    @cached_property
    def projects(self) -> ProjectRepository:
        """Projects."""
        return ProjectRepository(self._session)

    @cached_property
    def counters(self) -> CounterRepository:
        """Id counters."""
        return CounterRepository(self._session)

    @cached_property
    def entities(self) -> EntityRepository:
        """Entities and their names."""
        return EntityRepository(self._session)

    @cached_property
    def character_file(self) -> CharacterFileRepository:
        """Aliases that characters.json has brought."""
        return CharacterFileRepository(self._session)

    @cached_property
    def merges(self) -> EntityMergeRepository:
        """Merging and splitting entities, with undo."""
        return EntityMergeRepository(self._session)

    @cached_property
    def exchange(self) -> ExchangeRepository:
        """Contents of a project as a whole, out and in."""
        return ExchangeRepository(self._session)

    @cached_property
    def scenes(self) -> SceneRepository:
        """Scenes and everything that comes with them."""
        return SceneRepository(self._session)

    @cached_property
    def memories(self) -> MemoryRepository:
        """Memories."""
        return MemoryRepository(self._session)

    @cached_property
    def consolidations(self) -> ConsolidationRepository:
        """Memories that stand for others."""
        return ConsolidationRepository(self._session)

    @cached_property
    def attachments(self) -> AttachmentRepository:
        """What memories are attached to."""
        return AttachmentRepository(self._session)

    @cached_property
    def states(self) -> StateRepository:
        """Entity states over story time."""
        return StateRepository(self._session)

    @cached_property
    def loops(self) -> LoopRepository:
        """Open loops."""
        return LoopRepository(self._session)

    @cached_property
    def relationships(self) -> RelationshipRepository:
        """Relationships."""
        return RelationshipRepository(self._session)

    @cached_property
    def outbox(self) -> OutboxRepository:
        """What the vector index has to follow."""
        return OutboxRepository(self._session)

    @cached_property
    def lexical(self) -> LexicalRepository:
        """Search by words."""
        return LexicalRepository(self._session)

    @cached_property
    def embeddings(self) -> EmbeddingRepository:
        """Stored vectors."""
        return EmbeddingRepository(self._session)

    @cached_property
    def summaries(self) -> SummaryRepository:
        """Summaries that a person or a model wrote."""
        return SummaryRepository(self._session)

    def outline(self, *, as_of: StoryPosition, chapters_per_part: int = CHAPTERS_PER_PART) -> StoryOutline:
        """Return what the story has shown before the position, apart from its memories."""
        return read_outline(self._session, as_of, chapters_per_part=chapters_per_part)

    def story_summaries(self, *, chapters_per_part: int) -> StorySummaries:
        """Return what is told of every chapter and of every part that is over."""
        return read_summaries(
            self._session,
            END_OF_STORY,
            chapters_per_part=chapters_per_part,
            is_whole_story=True,
        )

    def story_parts(self, *, last_chapter: int, chapters_per_part: int) -> list[NumberedPart]:
        """Return the parts that begin up to a chapter."""
        return read_parts(self._session, last_chapter=last_chapter, chapters_per_part=chapters_per_part)

    def story_version(self, as_of: StoryPosition) -> str:
        """Return a mark that changes exactly when what is stored before the position changes."""
        entities = self.entities.list_as_of(as_of=as_of)
        return story_version(self._session, as_of, entities=entities)

    @cached_property
    def embedding_choices(self) -> EmbeddingChoiceRepository:
        """Which memories the vector index is to hold."""
        return EmbeddingChoiceRepository(self._session)
