"""The database of a project, or of many: opening, migrating, transactions with all repositories, backup."""

from __future__ import annotations

import contextlib
import importlib
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from filelock import FileLock, Timeout
from sqlalchemy import URL, Connection, Engine, QueuePool, text
from sqlmodel import Session, select
from tenacity import RetryError, Retrying, retry_if_exception_type, retry_if_result, stop_after_delay, wait_random

from novelgen.errors import DatabaseBusyError, DatabaseError, NovelgenError, UnknownProjectError, VectorIndexError
from novelgen.memory.outline import CHAPTERS_PER_PART, NumberedPart
from novelgen.memory.story_changes import CardChanges
from novelgen.models.position import END_OF_STORY, StoryPosition, utc_now
from runtime.storage.connection import (
    WRITING,
    backup_sqlite,
    database_errors,
    database_url,
    is_lost_connection,
    postgres_engine,
    reading_options,
    sqlite_engine,
    sqlite_file,
)
from runtime.storage.migrations.runner import migrate_to_head
from runtime.storage.records import Project
from runtime.storage.session import StorageSession

if TYPE_CHECKING:
    from novelgen.memory.knowledge_story import KnowledgeStory
    from novelgen.memory.outline import StoryOutline, StoryRecap
    from runtime.storage.characters import CharacterMemoryRepository, PlayRepository
    from runtime.storage.chunks import ConsolidationRepository, EmbeddingChoiceRepository, OutboxRepository
    from runtime.storage.damage import DamagedValue, DamageRepository
    from runtime.storage.entities import CharacterFileRepository, EntityRepository
    from runtime.storage.events import RelationshipRepository, StateRepository, ThreadRepository
    from runtime.storage.journal import Journal
    from runtime.storage.knowledge import KnowledgeRepository
    from runtime.storage.memories import AttachmentRepository, MemoryRepository
    from runtime.storage.merges import DeletionRepository, EntityMergeRepository, WordRepository
    from runtime.storage.outline import StorySummaries, SummaryRepository
    from runtime.storage.projects import CounterRepository, ProjectRepository
    from runtime.storage.scenes import SceneRepository
    from runtime.storage.search_indexes import EmbeddingRepository, LexicalRepository
    from runtime.storage.transfer import ExchangeRepository


class _From:
    """Descriptor of a lazily imported repository."""

    def __init__(self, module: str) -> None:
        self.module = f"runtime.storage.{module}"

    def __set_name__(self, owner: type[UnitOfWork], name: str) -> None:
        self._name = name
        self._kind: str = owner.__annotations__[name]

    def __get__(self, unit: UnitOfWork, _: type[UnitOfWork]) -> Any:
        kind = getattr(importlib.import_module(self.module), self._kind)
        repository = unit.__dict__[self._name] = kind(unit._session)
        return repository


def _from(module: str) -> Any:
    return _From(module)


@cache
def _load_repositories() -> None:
    """Import repositories before a write transaction blocks others."""
    modules = {value.module for value in vars(UnitOfWork).values() if isinstance(value, _From)}
    # Who writes vectors, or what characters remember, has loaded numpy already, which is what takes time in these.
    of_vectors = {f"runtime.storage.{name}" for name in ("characters", "search_indexes", "transfer")}
    for module in sorted((modules - of_vectors) | {"runtime.storage.scene_writer"}):
        importlib.import_module(module)


class UnitOfWork:
    """Repositories of one project in one transaction, within its `with` block."""

    projects: ProjectRepository = _from("projects")
    counters: CounterRepository = _from("projects")
    entities: EntityRepository = _from("entities")
    character_file: CharacterFileRepository = _from("entities")
    merges: EntityMergeRepository = _from("merges")
    deletions: DeletionRepository = _from("merges")
    exchange: ExchangeRepository = _from("transfer")
    characters: CharacterMemoryRepository = _from("characters")
    play: PlayRepository = _from("characters")
    scenes: SceneRepository = _from("scenes")
    memories: MemoryRepository = _from("memories")
    consolidations: ConsolidationRepository = _from("chunks")
    attachments: AttachmentRepository = _from("memories")
    journal: Journal = _from("journal")
    states: StateRepository = _from("events")
    threads: ThreadRepository = _from("events")
    relationships: RelationshipRepository = _from("events")
    knowledge: KnowledgeRepository = _from("knowledge")
    outbox: OutboxRepository = _from("chunks")
    damage: DamageRepository = _from("damage")
    lexical: LexicalRepository = _from("search_indexes")
    embeddings: EmbeddingRepository = _from("search_indexes")
    summaries: SummaryRepository = _from("outline")
    words: WordRepository = _from("merges")
    embedding_choices: EmbeddingChoiceRepository = _from("chunks")

    def __init__(self, connection: Connection, *, project_id: str, clock: Callable[[], datetime]) -> None:
        self.project_id = project_id
        self._session = StorageSession(connection, clock, project_id=project_id)

    @property
    def folder(self) -> Path | None:
        """The folder of the database file, or None."""
        file = sqlite_file(self._session.connection.engine.url)
        return None if file is None else file.parent

    def outline(self, *, as_of: StoryPosition, chapters_per_part: int = CHAPTERS_PER_PART) -> StoryOutline:
        """Return the outline before the position."""
        from runtime.storage.outline import read_outline

        return read_outline(self._session, as_of, chapters_per_part=chapters_per_part)

    def recap(self, *, as_of: StoryPosition, last_scenes: int) -> StoryRecap:
        """Return the last scenes before the position, with stored kinds and tags."""
        from runtime.storage.outline import read_recap

        return read_recap(self._session, as_of, last_scenes=last_scenes)

    def knowledge_story(self, *, as_of: StoryPosition) -> KnowledgeStory:
        """Return the story before the position, for knowledge rules."""
        from runtime.storage.knowledge import read_knowledge_story

        return read_knowledge_story(self._session, as_of)

    def card_changes(self, entity_ids: Sequence[str], *, as_of: StoryPosition) -> CardChanges:
        """Return what stands on each card of revealed persons, nothing without such."""
        identities = self.entities.identities_as_of(as_of)
        if not identities.persons:
            return CardChanges()
        card_ids = identities.cards([*entity_ids, *identities.persons.values()])
        return CardChanges(
            identities=identities,
            cards=self.entities.cards_as_of(as_of),
            states=self.states.of_cards_before(as_of, card_ids=card_ids),
            pairs=self.relationships.of_cards_between(card_ids, as_of=as_of),
        )

    def story_summaries(self, *, chapters_per_part: int, as_of: StoryPosition = END_OF_STORY) -> StorySummaries:
        """Return the summaries of finished chapters and parts at a position."""
        from runtime.storage.outline import read_summaries

        return read_summaries(self._session, as_of, chapters_per_part=chapters_per_part, is_whole_story=True)

    def story_parts(self, *, last_chapter: int, chapters_per_part: int) -> list[NumberedPart]:
        """Return the parts that begin up to a chapter."""
        from runtime.storage.outline import read_parts

        return read_parts(self._session, last_chapter=last_chapter, chapters_per_part=chapters_per_part)

    def delete_project(self) -> None:
        """Delete everything that the project has in the database, and nothing of any other."""
        self.memories.forget_words()
        self.projects.remove()

    def story_version(self, as_of: StoryPosition) -> str:
        """Return a version mark of the story before the position."""
        from runtime.storage.outline import story_version

        entities = self.entities.list_as_of(as_of=as_of)
        return story_version(self._session, as_of, entities=entities)


T = TypeVar("T")
OPENING_TIMEOUT_S = 60.0
"""So long one program waits for another that creates or migrates the same database."""


class DatabaseManager:
    """Transactions over one database, safe between threads but not forks.

    Nothing is opened or created before the first transaction. Use `open`, which also brings the schema up
    to date, unless that was done already.
    """

    def __init__(
        self,
        url_or_path: str | Path,
        *,
        busy_timeout_s: float = 5.0,
        statement_timeout_s: float = 30.0,
        pool_size: int = 8,
        clock: Callable[[], datetime] = utc_now,
    ) -> None:
        self.url: URL = database_url(url_or_path)
        self._busy_timeout_s = busy_timeout_s
        self.clock = clock
        """Tells the moment that is written into rows."""
        self._engine: Engine = (
            sqlite_engine(self.url, busy_timeout_s=busy_timeout_s, pool_size=pool_size)
            if self.is_sqlite
            else postgres_engine(
                self.url, busy_timeout_s=busy_timeout_s, statement_timeout_s=statement_timeout_s, pool_size=pool_size
            )
        )
        # SQLite's own waiting is unfair: among many threads one can starve beyond its timeout. And before
        # 3.51.3 concurrent checkpoints can damage the file, so the writers of a process queue up here.
        self._writer = threading.Lock()

    @classmethod
    def open(cls, url_or_path: str | Path, *, create: bool = True, **options: Any) -> DatabaseManager:
        """Open a database and migrate its schema.

        Options are those of the class.
        """
        database = cls(url_or_path, **options)
        try:
            path = database.path
            if path is not None and not path.exists():
                if not create:
                    raise UnknownProjectError(f"there is no database at {str(path)!r}; create the project first")
                path.parent.mkdir(parents=True, exist_ok=True)
            database._migrate()
        except BaseException:
            database.close()
            raise
        return database

    @property
    def is_sqlite(self) -> bool:
        """Whether the database is SQLite rather than PostgreSQL."""
        return self.url.get_backend_name() == "sqlite"

    @property
    def path(self) -> Path | None:
        """The SQLite file, or None for a server."""
        return sqlite_file(self.url)

    def project(self, project_id: str) -> ProjectDatabase:
        """Return a project's transactions, without a read."""
        return ProjectDatabase(self, project_id)

    def list_projects(self) -> list[Project]:
        """Return all projects of this database in order of id."""
        with self.connection(is_writing=False) as connection, Session(connection) as session:
            projects = list(session.exec(select(Project)))
            session.expunge_all()
        return sorted(projects, key=lambda project: project.project_id)

    @contextmanager
    def connection(self, *, is_writing: bool) -> Iterator[Connection]:
        """Give a connection inside a transaction, which ends with the block."""
        with contextlib.ExitStack() as stack:
            stack.enter_context(database_errors())
            if is_writing:
                stack.enter_context(self._writing())
            opened_connection = stack.enter_context(self._engine.connect())
            options = {WRITING: True} if is_writing else reading_options(self._engine)
            connection = opened_connection.execution_options(**options)
            stack.enter_context(connection.begin())
            yield connection

    def backup(self, target: Path) -> None:
        """Copy a SQLite database whole while it is in use."""
        if self.path is None:
            raise DatabaseError(f"{self.url.get_backend_name()!r} has no file to copy; use pg_dump")
        backup_sqlite(self.path, target)

    def rest(self) -> bool:
        """Close idle connections.

        The next transaction opens new ones.
        """
        pool = self._engine.pool
        if isinstance(pool, QueuePool) and pool.checkedout():
            return False
        self.close()
        return True

    def close(self) -> None:
        """Close all connections.

        The manager reopens them on use.
        """
        self._engine.dispose()

    def _migrate(self) -> None:
        """Bring the schema up to date, however many programs open the same new file at this moment.

        The switch to a write-ahead log fails at once, whatever the timeout, while another connection is at it.
        """
        waiting_retrying = Retrying(
            retry=retry_if_exception_type(DatabaseBusyError),
            wait=wait_random(0.05, 0.25),
            stop=stop_after_delay(OPENING_TIMEOUT_S),
            reraise=True,
        )
        for attempt in waiting_retrying:
            with attempt, database_errors():
                migrate_to_head(self.url, busy_timeout_s=max(self._busy_timeout_s, OPENING_TIMEOUT_S / 2))

    @contextmanager
    def _writing(self) -> Iterator[None]:
        if not self.is_sqlite:
            yield
            return
        if not self._writer.acquire(timeout=self._busy_timeout_s):
            raise DatabaseBusyError(
                f"another thread kept writing to {self.url.database!r} for {self._busy_timeout_s} s;"
                " try again once it has ended"
            )
        try:
            yield
        finally:
            self._writer.release()


class ProjectDatabase:
    """Transactions over one project, safe between threads."""

    def __init__(self, database: DatabaseManager, project_id: str) -> None:
        self.database = database
        self.project_id = project_id

    @contextmanager
    def write(self) -> Iterator[UnitOfWork]:
        """Give a unit of work that commits at the end of the block and undoes everything on an exception."""
        _load_repositories()
        with self._naming_damage(), self.database.connection(is_writing=True) as connection:
            yield UnitOfWork(connection, project_id=self.project_id, clock=self.database.clock)

    @contextmanager
    def read(self) -> Iterator[UnitOfWork]:
        """Yield a read-only unit of work over one snapshot."""
        with self._naming_damage(), self.database.connection(is_writing=False) as connection:
            yield UnitOfWork(connection, project_id=self.project_id, clock=self.database.clock)

    @contextmanager
    def _naming_damage(self) -> Iterator[None]:
        """Blame what fails unforeseen on a damaged value, where the project has one."""
        try:
            yield
        except NovelgenError:
            raise
        except Exception as error:
            damaged = self.list_damaged()
            if not damaged:
                raise
            more = f" and {len(damaged) - 1} more" if len(damaged) > 1 else ""
            raise DatabaseError(
                f"a stored value cannot be read: {damaged[0]}{more}; run `novelgen doctor {self.project_id} --repair`"
            ) from error

    def list_damaged(self) -> list[DamagedValue]:
        """Return the project's values that cannot be read."""
        from runtime.storage.damage import DamageRepository

        with self.database.connection(is_writing=False) as connection:
            return DamageRepository(
                StorageSession(connection, self.database.clock, project_id=self.project_id)
            ).list_damaged()

    def reading(self, work: Callable[[UnitOfWork], T]) -> T:
        """Run a read, once more when the connection to the server was lost on the way."""
        try:
            with self.read() as unit:
                return work(unit)
        except DatabaseError as error:
            if not is_lost_connection(error):
                raise
        with self.read() as unit:
            return work(unit)

    @contextmanager
    def index_turn(self, *, is_rebuild: bool, timeout_s: float) -> Iterator[None]:
        """Hold the project's index on a shared server: alone to build it anew, beside other writers else.

        What is written to an index while another program builds it anew would be missing from the new one.
        """
        vector_index_error = VectorIndexError(
            f"another program is writing to the vector index of {self.project_id!r} or builds it anew; try again"
        )
        path = self.database.path
        if path is not None:
            lock = FileLock(path.with_name("index.lock"))
            try:
                lock.acquire(timeout=timeout_s)
            except Timeout as error:
                raise vector_index_error from error
            try:
                yield
            finally:
                lock.release()
            return
        kind = "" if is_rebuild else "_shared"
        # Held by a connection of its own, outside of any transaction: the server lets go of it when the program dies.
        with database_errors(), self.database._engine.connect() as opened_connection:
            connection = opened_connection.execution_options(isolation_level="AUTOCOMMIT")
            take = text(f"SELECT pg_try_advisory_lock{kind}(hashtextextended(:name, 0))")
            name = {"name": f"novelgen index of {self.project_id}"}
            waiting_retrying = Retrying(
                retry=retry_if_result(lambda taken_value: not taken_value),
                wait=wait_random(0.05, 0.25),
                stop=stop_after_delay(timeout_s),
            )
            try:
                waiting_retrying(lambda: connection.scalar(take, name))
            except RetryError as error:
                raise vector_index_error from error
            try:
                yield
            finally:
                connection.execute(text(f"SELECT pg_advisory_unlock{kind}(hashtextextended(:name, 0))"), name)

    def backup(self, target: Path) -> None:
        """Copy the SQLite database of the project whole while it is in use."""
        self.database.backup(target)
