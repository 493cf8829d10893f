"""All stores of a program, opened when they are first needed and shared from then on."""

from __future__ import annotations

import contextlib
import threading
import weakref
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from datetime import datetime
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Generic, Self, TypeVar

from novelgen import errors
from novelgen.models.position import require_project_id, utc_now
from novelgen.nearest import did_you_mean
from runtime.files.paths import ProjectPaths, demo_folder
from runtime.index.locations import ChromaFolder, ChromaServer, IndexLocation, NamedStore
from runtime.index.ownership import require_unowned
from runtime.index.process import DEFAULT_REGISTRY, IndexProcessRegistry
from runtime.index.vector_index import IndexAccess
from runtime.model_providers.embeddings import CheckedEmbeddings, EmbeddingIdentity, LastQueries, RelevanceScales
from runtime.settings import NovelgenSettings, load_settings
from runtime.storage.database import DatabaseManager, ProjectDatabase
from runtime.storage.records import Project

if TYPE_CHECKING:
    from langchain_core.documents import BaseDocumentCompressor
    from langchain_core.embeddings import Embeddings

    from runtime.index.project_index import ProjectIndex
    from runtime.storage.characters import MindCache
    from runtime.storage.chunks import IndexState


def built_with(index: Project | IndexState) -> EmbeddingIdentity | None:
    """Return the embedding model of an index, or None."""
    if index.embedding_model is None or index.embedding_dimension is None:
        return None
    return EmbeddingIdentity(index.embedding_model, index.embedding_dimension)


LIKE_PROJECT_ID = 0.5
"""Ids of two Chinese characters of which one is wrong are this much alike."""

ASK_DATABASE = ""
"""In the place of an index's id: the database says it."""

Key = TypeVar("Key", bound=Hashable)

Thing = TypeVar("Thing")


class RecentlyUsed(Generic[Key, Thing]):
    """Holds things in the order of their use and tells which are too many. Not safe between threads."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._things: OrderedDict[Key, Thing] = OrderedDict()

    def get(self, key: Key) -> Thing | None:
        """Return an item and mark it as used, or None."""
        thing = self._things.get(key)
        if thing is not None:
            self._things.move_to_end(key)
        return thing

    def use(self, key: Key, thing: Thing) -> None:
        """Hold a thing as the one used last, beyond the limit if need be."""
        self._things[key] = thing
        self._things.move_to_end(key)

    def drop(self, key: Key) -> None:
        """Remove an item, if present."""
        self._things.pop(key, None)

    def take_surplus(self) -> list[tuple[Key, Thing]]:
        """Remove and return the least recently used surplus."""
        return [self._things.popitem(last=False) for _ in range(len(self._things) - self._limit)]

    def take_all(self) -> list[Thing]:
        """Let go of everything and return it."""
        things = list(self._things.values())
        self._things.clear()
        return things


class MemoryStores:
    """Databases, indexes and embeddings of all projects, safe between threads.

    Nothing is opened before it is asked for, and each thing once. Of many projects only those used last keep
    their connections and processes; the others are opened again when they are asked for. Close it, or use it
    in a `with` block.

    Args:
        settings: Where projects live, and which database, index and embedding model they use.
        embeddings: Embedding model: LangChain embeddings, or a name as the setting has it; None takes the setting's.
        clock: Tells the moment that is written into rows.
        indexes: Gives the process that answers for an index.
        vector_store: A vector store that this program opens itself, in place of the setting's.
        reranker: Chooses the memories of a scene in the place of a chat model.
    """

    def __init__(
        self,
        settings: NovelgenSettings,
        *,
        embeddings: Embeddings | str | None = None,
        clock: Callable[[], datetime] = utc_now,
        indexes: IndexProcessRegistry = DEFAULT_REGISTRY,
        vector_store: IndexAccess | None = None,
        reranker: BaseDocumentCompressor | None = None,
    ) -> None:
        from runtime.model_providers.embeddings import checked_embeddings

        self.settings = settings
        self._indexes = indexes
        self._is_over = False
        self.clock = clock
        self.relevance_scales = RelevanceScales()
        self.last_queries = LastQueries()
        # One lock per kind of store: a database that hangs while it opens must not keep the index from answering.
        self._database_lock = threading.RLock()
        self._vectors_lock = threading.Lock()
        self._embeddings_lock = threading.Lock()
        self._databases: RecentlyUsed[str, DatabaseManager] = RecentlyUsed(settings.max_open_databases)
        # One that is closed for room may still be in some thread's hands, and must be found again: there is one
        # queue of writers per database.
        self._held: weakref.WeakValueDictionary[str, DatabaseManager] = weakref.WeakValueDictionary()
        self._known_projects: set[str] = set()
        self._program_vector_store = vector_store
        self.reranker = reranker
        self._accesses: dict[str, IndexAccess] = {}
        self._running: RecentlyUsed[IndexLocation | None, IndexAccess] = RecentlyUsed(
            settings.memory.vector_store.max_processes
        )
        self._embedding_name = embeddings if isinstance(embeddings, str) else settings.memory.embedding_model
        self._embeddings: CheckedEmbeddings | None = (
            None if embeddings is None or isinstance(embeddings, str) else checked_embeddings(embeddings)
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def paths(self, project_id: str) -> ProjectPaths:
        """Return where a project's files live, whether it exists or not.

        Raises:
            InvalidProjectIdError: When the id is not a plain, path-free string.
        """
        return ProjectPaths(self.settings.projects_dir, project_id)

    def database(self, project_id: str) -> ProjectDatabase:
        """Return the transactions of a project.

        Raises:
            InvalidProjectIdError: When the id is not a plain, path-free string.
            UnknownProjectError: When no such project is stored; nothing is created.
            DatabaseError: When the database cannot be opened.
        """
        paths = self.paths(project_id)
        with self._database_lock:
            database = self._open_database(paths, create=False)
            if paths.project_id not in self._known_projects:
                try:
                    with database.project(paths.project_id).read() as unit:
                        unit.projects.require()
                except errors.UnknownProjectError as error:
                    raise self._unknown_project(paths.project_id, error) from error
                self._known_projects.add(paths.project_id)
            return database.project(paths.project_id)

    def create_project(self, project_id: str, *, name: str = "", language: str = "") -> Project:
        """Create a project, with its database where each project has its own.

        Args:
            project_id: A plain, path-free id.
            name: Title; the id by default.
            language: Language of the story, such as `zh` or `en`; empty is told from the first scene.

        Raises:
            InvalidProjectIdError: When the id is not a plain, path-free string.
            ProjectExistsError: When the project exists already.
        """
        paths = self.paths(project_id)
        with self._database_lock:
            database = self._open_database(paths, create=True)
            with database.project(paths.project_id).write() as unit:
                project = unit.projects.create(name=name or paths.project_id, language=language)
            self._known_projects.add(paths.project_id)
            return project

    def project_ids(self) -> list[str]:
        """Return the sorted ids of stored projects."""
        if self.settings.database_url is not None:
            with self._database_lock:
                database = self._open_shared(self.settings.database_url)
            return [project.project_id for project in database.list_projects()]
        folder = self.settings.projects_dir
        return sorted(path.name for path in folder.iterdir() if self._is_project(path)) if folder.is_dir() else []

    def is_stored(self, project_id: str) -> bool:
        """Whether such a project is stored."""
        try:
            self.database(project_id)
        except errors.UnknownProjectError:
            return False
        return True

    def ensure_project(self, project_id: str, *, name: str = "", language: str = "") -> None:
        """Create a project unless it exists, safe in parallel."""
        if not self.is_stored(project_id):
            with contextlib.suppress(errors.ProjectExistsError):
                self.create_project(project_id, name=name, language=language)

    @cached_property
    def minds(self) -> MindCache:
        """The cache of character memories."""
        from runtime.storage.characters import MindCache

        return MindCache()

    def vectors(
        self, project_id: str, *, index_id: str | None = ASK_DATABASE, identity: EmbeddingIdentity | None = None
    ) -> ProjectIndex:
        """Return the vector index of a project.

        Args:
            project_id: The project.
            index_id: Id of the live index, as its database says; None where that cannot be asked. An embedded index
                answers all the same. By default the database is asked.
            identity: Embedding model of the index; None takes the configured one.

        Raises:
            UnknownProjectError: When nothing of such a project is stored; nothing is created.
            EmbeddingError: When the embedding model cannot say how long its vectors are.
            VectorIndexError: When the index cannot be opened, or nobody can tell its id.
        """
        from runtime.index.project_index import ProjectIndex

        self.require_open()
        paths = self.paths(project_id)
        if self.settings.database_url is None and not (paths.database.exists() or paths.vectors.exists()):
            raise self._unknown_project(paths.project_id)
        with self._vectors_lock:
            access = self._accesses.get(project_id)
            if access is None:
                access = self._accesses[project_id] = self._program_vector_store or self._indexes.borrow(
                    self._index_location(project_id)
                )
                # The process starts while the caller goes on. Whatever keeps it from that is raised by the first call
                # that needs it.
                with contextlib.suppress(errors.VectorIndexError):
                    access.start()
        self._keep_running(access)
        # A remote model may take seconds to tell its dimension, in which other indexes must stay at hand; so may a
        # database.
        identity = identity or self.embedding_identity
        return ProjectIndex(
            access,
            project_id,
            index_id=self._index_id(project_id, access) if index_id == ASK_DATABASE else index_id,
            embedding_model=identity.model_name,
            dimension=identity.dimension,
        )

    @property
    def embeddings(self) -> CheckedEmbeddings:
        """The embedding model, built at the first call.

        Raises:
            ConfigurationError: When the setting names no model that can be used.
        """
        from runtime.model_providers.embeddings import build_embeddings

        with self._embeddings_lock:
            if self._embeddings is None:
                self._embeddings = build_embeddings(
                    self._embedding_name,
                    base_url=self.settings.memory.embedding_base_url,
                    api_key=self.settings.memory.embedding_api_key,
                )
            return self._embeddings

    @property
    def embedding_model(self) -> str | None:
        """The embedding model's name, None if it cannot be built."""
        try:
            return self.embeddings.model_name
        except (errors.ConfigurationError, errors.EmbeddingError):
            return None

    @property
    def index_kind(self) -> str:
        """The kind of the vector index, without its address."""
        # An address may hold a password.
        store = self.settings.memory.vector_store
        if self._program_vector_store is not None:
            return "vector store of the program"
        if ":" in store.provider:
            return store.provider
        return "embedded per project" if store.url is None else "Chroma server"

    @property
    def embedding_identity(self) -> EmbeddingIdentity:
        """Name and dimension of the embedding model, as they are stored beside vectors.

        Raises:
            ConfigurationError: When the setting names no model that can be used.
            EmbeddingError: When only the model knows its dimension and it does not answer.
        """
        return self.embeddings.identity

    def embedding_mismatch(self, project_id: str, built_with: EmbeddingIdentity) -> str | None:
        """Return the problem of another model's index, or None.

        Raises:
            ConfigurationError: When the setting names no model that can be used.
            EmbeddingError: When only the model knows its dimension and it does not answer.
        """
        identity = self.embedding_identity
        if built_with == identity:
            return None
        fix = self.reindex_advice(project_id)
        return (
            f"the vector index was built with {built_with.model_name!r} ({built_with.dimension} dimensions), but "
            f"{identity.model_name!r} ({identity.dimension}) is in use; {fix}, or use the former again"
        )

    def reindex_advice(self, project_id: str) -> str:
        """Say how the vector index is built anew: embeddings that a program passes in are not those of the shell."""
        if self.embeddings.is_passed_in:
            return "call `reindex()` on the story in the program that passes these embeddings"
        return f"run `novelgen reindex {project_id}`"

    def delete_project(self, project_id: str) -> None:
        """Delete a project's stored data, without its files.

        The index goes before the rows that name it. What of it is done already is passed over, so that a deletion that
        was cut short is finished by another one. Of a project with a database of its own only what is open is closed.

        Raises:
            InvalidProjectIdError: When the id is not a plain, path-free string.
            VectorIndexOwnedError: When another process owns its embedded index.
            VectorIndexError: When its index on a server cannot be removed.
            DatabaseError: When the database fails.
        """
        paths = self.paths(project_id)
        try:
            database = self.database(paths.project_id)
        except errors.UnknownProjectError:
            database = None
        except errors.DatabaseError:
            if self.settings.database_url is not None:
                raise
            # A damaged file of its own goes with the folder.
            database = None
        self._remove_index(paths.project_id, database)
        if database is not None and self.settings.database_url is not None:
            with database.write() as unit:
                unit.delete_project()
        with self._database_lock:
            self._known_projects.discard(paths.project_id)
            own = self._held.pop(paths.project_id, None) if self.settings.database_url is None else None
            if own is not None:
                self._databases.drop(paths.project_id)
                own.close()
        if "minds" in self.__dict__:
            self.minds.clear()

    def close(self, *, for_good: bool = False) -> None:
        """Close everything that was opened.

        Args:
            for_good: Whether what is asked for afterwards is refused; else it is opened again.
        """
        self._is_over = self._is_over or for_good
        with self._vectors_lock:
            accesses = list(self._accesses.values())
            self._accesses.clear()
            self._running.take_all()
        with self._database_lock:
            # Those that were closed for room, too: who still holds one may have used it since.
            databases = list(self._held.values())
            self._databases.take_all()
            self._held.clear()
            self._known_projects.clear()
        if "minds" in self.__dict__:
            self.minds.clear()
        for access in accesses:
            self._indexes.give_back(access)
        for database in databases:
            database.close()

    def require_open(self) -> None:
        """Reject requests to closed stores."""
        if self._is_over:
            raise errors.UserInputError(
                f"the memory of {str(self.settings.projects_dir)!r} was closed; open it again with novelgen.open"
            )

    def _open_database(self, paths: ProjectPaths, *, create: bool) -> DatabaseManager:
        self.require_open()
        if self.settings.database_url is not None:
            return self._open_shared(self.settings.database_url)
        database = self._databases.get(paths.project_id) or self._held.get(paths.project_id)
        if database is None:
            if not create and not paths.database.exists():
                raise self._unknown_project(paths.project_id)
            database = DatabaseManager.open(paths.database, create=create, clock=self.clock)
        return self._kept_open(paths.project_id, database)

    def _open_shared(self, url: str) -> DatabaseManager:
        self.require_open()
        database = self._databases.get(url) or DatabaseManager.open(url, clock=self.clock)
        return self._kept_open(url, database)

    def _kept_open(self, key: str, database: DatabaseManager) -> DatabaseManager:
        """Mark a database as used, closing the least recent one's connections."""
        self._databases.use(key, database)
        self._held[key] = database
        for other_key, other in self._databases.take_surplus():
            if not other.rest():
                self._databases.use(other_key, other)
        return database

    def _keep_running(self, access: IndexAccess) -> None:
        """Mark an index as used, ending the least recent one's process."""
        with self._vectors_lock:
            self._running.use(access.location, access)
            surplus = self._running.take_surplus()
        # Outside of the lock: a process takes half a second to end.
        for location, other in surplus:
            if not other.close_idle():
                with self._vectors_lock:
                    self._running.use(location, other)

    def _index_id(self, project_id: str, access: IndexAccess) -> str | None:
        """Read the id of a live index, or None."""
        try:
            index_id = self.database(project_id).reading(lambda unit: unit.projects.require().index_id)
        except (errors.DatabaseError, errors.UnknownProjectError) as error:
            if isinstance(access.location, ChromaFolder):
                return None
            raise errors.VectorIndexError(
                f"which index in the vector store is that of project {project_id!r} stands in the database, which "
                f"cannot be read: {error}"
            ) from error
        return index_id

    def _unknown_project(
        self, project_id: str, cause: errors.UnknownProjectError | None = None
    ) -> errors.UnknownProjectError:
        others = self._others_in_database(project_id)
        if others:
            name = ", ".join(map(repr, others))
            return errors.ForeignDatabaseError(
                f"the database in the folder of project {project_id!r} is that of {name}, as in a copied or renamed "
                "folder; give the folder its name back, and copy a project by "
                f"`novelgen export {others[0]} FOLDER` and `novelgen import FOLDER --project {project_id}`"
            )
        if self.paths(project_id).hold_a_project or demo_folder(project_id):
            return errors.UnknownProjectError(
                f"nothing of project {project_id!r} is stored yet; run `novelgen ingest {project_id}`"
            )
        if cause is not None:
            return errors.UnknownProjectError(f"{cause}{self._suggest_project(project_id)}")
        # A door without a shell leaves this part out.
        elsewhere = f", or name another folder of projects (--projects-dir){self._suggest_project(project_id)}"
        return errors.UnknownProjectError(
            f"no project {project_id!r} in {str(self.settings.projects_dir)!r}; create it first{elsewhere}"
        )

    def _others_in_database(self, project_id: str) -> list[str]:
        """Return whose the database in a project's own folder is, where it is that of others alone."""
        database = None if self.settings.database_url else self._databases.get(project_id)
        if database is None:
            return []
        stored_ids = [project.project_id for project in database.list_projects()]
        return [] if project_id in stored_ids else stored_ids

    def _suggest_project(self, project_id: str) -> str:
        """Suggest the project with the most similar id."""
        projects_dir = self.settings.projects_dir
        folders = [path.name for path in projects_dir.iterdir()] if projects_dir.is_dir() else []
        known_ids = {*self.project_ids(), *folders} - {project_id}
        return did_you_mean(project_id, sorted(known_ids), likeness=LIKE_PROJECT_ID)

    def _remove_index(self, project_id: str, database: ProjectDatabase | None) -> None:
        """Remove an index from its store, unless an embedded one has an owner."""
        from runtime.index.project_index import next_index_id

        location = None if self._program_vector_store is not None else self._index_location(project_id)
        try:
            if database is not None and not isinstance(location, ChromaFolder):
                with database.read() as unit:
                    project, chunk_ids = unit.projects.require(), sorted(unit.memories.index_ids())
                identity = built_with(project)
                if identity is not None:
                    for index_id in (project.index_id, next_index_id(project.index_id)):
                        self.vectors(project_id, index_id=index_id, identity=identity).drop(chunk_ids)
        finally:
            with self._vectors_lock:
                access = self._accesses.pop(project_id, None)
            if access is not None:
                self._indexes.give_back(access)
        if isinstance(location, ChromaFolder):
            require_unowned(location)

    def _index_location(self, project_id: str) -> IndexLocation:
        provider, url = self.settings.memory.vector_store.provider, self.settings.memory.vector_store.url
        if ":" in provider:
            return NamedStore(provider)
        if url is None:
            return ChromaFolder(self.paths(project_id).vectors)
        token, headers = self.settings.chroma_token, self.settings.chroma_headers
        return ChromaServer(
            url,
            headers=tuple((name, value.get_secret_value()) for name, value in sorted(headers.items())),
            token=token.get_secret_value() if token is not None else "",
        )

    def _is_project(self, folder: Path) -> bool:
        try:
            return self.paths(require_project_id(folder.name)).database.is_file()
        except errors.InvalidProjectIdError:
            return False


@contextmanager
def stores_or_default(stores: MemoryStores | None) -> Iterator[MemoryStores]:
    """Lend the given stores, or open those of the settings and close them at the end."""
    if stores is not None:
        yield stores
        return
    with MemoryStores(load_settings()) as opened_stores:
        yield opened_stores
