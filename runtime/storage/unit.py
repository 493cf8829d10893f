"""One transaction and the repositories that work in it."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

from sqlalchemy import Connection

from novelgen.memory.outline import StoryOutline, StoryRecap
from novelgen.memory.story import KnowledgeStory
from novelgen.memory.summaries import CHAPTERS_PER_PART, NumberedPart
from novelgen.models.position import END_OF_STORY, StoryPosition
from runtime.storage.attachments import AttachmentRepository
from runtime.storage.characters import CharacterMemoryRepository
from runtime.storage.consolidations import ConsolidationRepository
from runtime.storage.entities import CharacterFileRepository, EntityRepository
from runtime.storage.events import RelationshipRepository, StateRepository, ThreadRepository
from runtime.storage.indexing import EmbeddingChoiceRepository, EmbeddingRepository, OutboxRepository
from runtime.storage.journal import Journal
from runtime.storage.knowledge import KnowledgeRepository, read_knowledge_story
from runtime.storage.lexical import LexicalRepository
from runtime.storage.memories import MemoryRepository
from runtime.storage.merges import DeletionRepository, EntityMergeRepository
from runtime.storage.outline import (
    StorySummaries,
    SummaryRepository,
    read_outline,
    read_parts,
    read_recap,
    read_summaries,
    story_version,
)
from runtime.storage.play import PlayRepository
from runtime.storage.projects import CounterRepository, ProjectRepository
from runtime.storage.scenes import SceneRepository
from runtime.storage.session import StorageSession
from runtime.storage.transfer import ExchangeRepository
from runtime.storage.words import WordRepository


class UnitOfWork:
    """The repositories over one transaction, bound to one project; use it only inside its `with` block."""

    def __init__(self, connection: Connection, *, project_id: str, clock: Callable[[], datetime]) -> None:
        self._session = session = StorageSession(connection, clock, project_id=project_id)
        self.projects = ProjectRepository(session)
        self.counters = CounterRepository(session)
        self.entities = EntityRepository(session)
        self.character_file = CharacterFileRepository(session)
        self.merges = EntityMergeRepository(session)
        self.deletions = DeletionRepository(session)
        self.exchange = ExchangeRepository(session)
        self.characters = CharacterMemoryRepository(session)
        self.play = PlayRepository(session)
        self.scenes = SceneRepository(session)
        self.memories = MemoryRepository(session)
        self.consolidations = ConsolidationRepository(session)
        self.attachments = AttachmentRepository(session)
        self.journal = Journal(session)
        self.states = StateRepository(session)
        self.threads = ThreadRepository(session)
        self.relationships = RelationshipRepository(session)
        self.knowledge = KnowledgeRepository(session)
        self.outbox = OutboxRepository(session)
        self.lexical = LexicalRepository(session)
        self.embeddings = EmbeddingRepository(session)
        self.summaries = SummaryRepository(session)
        self.words = WordRepository(session)
        self.embedding_choices = EmbeddingChoiceRepository(session)

    def outline(self, *, as_of: StoryPosition, chapters_per_part: int = CHAPTERS_PER_PART) -> StoryOutline:
        """Return what the story has shown before the position, apart from its memories."""
        return read_outline(self._session, as_of, chapters_per_part=chapters_per_part)

    def recap(self, *, as_of: StoryPosition, last_scenes: int) -> StoryRecap:
        """Return the last scenes before the position, and the kinds and tags of what is stored there."""
        return read_recap(self._session, as_of, last_scenes=last_scenes)

    def knowledge_story(self, *, as_of: StoryPosition) -> KnowledgeStory:
        """Return the story before the position, as far as it tells who knows what."""
        return read_knowledge_story(self._session, as_of)

    def story_summaries(self, *, chapters_per_part: int, as_of: StoryPosition = END_OF_STORY) -> StorySummaries:
        """Return what is told of every chapter and of every part that is over at a position."""
        return read_summaries(self._session, as_of, chapters_per_part=chapters_per_part, is_whole_story=True)

    def story_parts(self, *, last_chapter: int, chapters_per_part: int) -> list[NumberedPart]:
        """Return the parts that begin up to a chapter."""
        return read_parts(self._session, last_chapter=last_chapter, chapters_per_part=chapters_per_part)

    def delete_project(self) -> None:
        """Delete everything that the project has in the database, and nothing of any other."""
        self.memories.forget_words()
        self.projects.remove()

    def story_version(self, as_of: StoryPosition) -> str:
        """Return a mark that changes exactly when what is stored before the position changes."""
        entities = self.entities.list_as_of(as_of=as_of)
        return story_version(self._session, as_of, entities=entities)
