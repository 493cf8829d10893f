"""Two things fail at once: each costs what it costs alone, both are said, and the context comes in time."""

import shutil
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from langchain_core.language_models import BaseChatModel
from langchain_openai import ChatOpenAI

from novelgen.models.context import MemoryContextRequest, SceneMemoryContext
from runtime.context_chain import build_context_chain
from runtime.index.locations import EmbeddedIndex, IndexOwnership
from runtime.index.offline_embeddings import HashedNgramEmbeddings
from runtime.stores import MemoryStores
from tests.acceptance.test_memory_context_retrieval import damage_database, damage_index
from tests.faults.disks import fill_disk, mount_small_disk, unmount_disk
from tests.faults.expectations import HANG_GUARD_S, TIGHT, awake, require_same_entities, stages
from tests.faults.matrix import covers
from tests.faults.test_language_model import FAILURES
from tests.support.demo_project import settings_for
from tests.support.freezing import freeze
from tests.support.openai_stub import openai_stub

STAGES = {
    "index": {"semantic"},
    "embeddings": {"semantic"},
    "model": {"plan"},
    "disk": {"write"},
    "database": {"outline", "states", "timeline", "lexical", "entity", "loop", "recent", "keyword", "memories"},
}
"""Where the failure of a part is reported."""


@dataclass
class Ground:
    """What faults break."""

    folder: Path
    stores: MemoryStores
    model: BaseChatModel | None = None

    @property
    def data(self) -> Path:
        """The demo's stores on the disk."""
        return self.folder / "demo" / "data"


Fault = Callable[[Ground], AbstractContextManager[None]]


@contextmanager
def _held(file: Path) -> Iterator[None]:
    with closing(sqlite3.connect(file, isolation_level=None)) as connection:
        connection.execute("BEGIN EXCLUSIVE")
        yield


def index_locked(ground: Ground) -> AbstractContextManager[None]:
    """Another program holds the database of the index."""
    return _held(ground.data / "vectors" / "chroma.sqlite3")


@contextmanager
def index_frozen(ground: Ground) -> Iterator[None]:
    """The process of the index stands still."""
    freeze(awake(ground.stores, "demo"))
    yield


@contextmanager
def index_damaged(ground: Ground) -> Iterator[None]:
    """The database of the index begins with garbage."""
    damage_index(ground.folder / "demo")
    yield


@contextmanager
def index_owned(ground: Ground) -> Iterator[None]:
    """Somebody else has the right to open the index."""
    owner = IndexOwnership(EmbeddedIndex(ground.data / "vectors"))
    owner.acquire()
    yield
    owner.release()


@contextmanager
def database_locked(ground: Ground) -> Iterator[None]:
    """Without its write-ahead log, readers wait for the program that writes."""
    with closing(sqlite3.connect(ground.data / "novel.db", isolation_level=None)) as connection:
        assert connection.execute("PRAGMA journal_mode=DELETE").fetchone() == ("delete",)
    with _held(ground.data / "novel.db"):
        yield


@contextmanager
def database_damaged(ground: Ground) -> Iterator[None]:
    """The database begins with garbage."""
    damage_database(ground.folder / "demo")
    yield


@contextmanager
def embeddings_fail(ground: Ground) -> Iterator[None]:
    """The embedding model raises."""

    def refuse(*given: object) -> list[list[float]]:
        raise ConnectionError("the embedding server is away")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(HashedNgramEmbeddings, "embed_documents", refuse)
        patch.setattr(HashedNgramEmbeddings, "embed_query", refuse)
        yield


@contextmanager
def disk_full(ground: Ground) -> Iterator[None]:
    """Nothing more can be written, while what is open stays readable."""
    with ground.stores.database("demo").read():
        fill_disk(ground.folder)
        yield


def model_fails(how: str) -> Fault:
    """A real client talks to a server that fails in one of the known ways."""

    @contextmanager
    def failing(ground: Ground) -> Iterator[None]:
        with openai_stub(FAILURES[how][1]) as stub:
            ground.model = ChatOpenAI(
                model="stub",
                base_url=stub.base_url,
                api_key="sk-stub",  # type: ignore[arg-type]
                timeout=600,
                max_retries=5,
            )
            yield

    return failing


PAIRS = [
    pytest.param({"index": index_locked, "model": model_fails("drip")}, marks=covers(9, 38)),
    pytest.param({"index": index_frozen, "model": model_fails("hang")}, marks=covers(10, 38)),
    pytest.param({"index": index_owned, "model": model_fails("retry-after")}, marks=covers(13, 39)),
    pytest.param({"index": index_damaged, "database": database_locked}, marks=covers(4, 29)),
    pytest.param({"index": index_damaged, "disk": disk_full}, marks=[covers(4, 22), pytest.mark.thorough]),
    pytest.param(
        {"database": database_damaged, "model": model_fails("500")}, marks=[covers(31, 40), pytest.mark.thorough]
    ),
    pytest.param(
        {"embeddings": embeddings_fail, "database": database_locked}, marks=[covers(15, 29), pytest.mark.thorough]
    ),
    pytest.param(
        {"embeddings": embeddings_fail, "model": model_fails("html")}, marks=[covers(15, 40), pytest.mark.thorough]
    ),
]


@pytest.fixture
def disk(tmp_path: Path, ingested_demos: Path) -> Iterator[Path]:
    """A small disk with the ingested demo."""
    folder = tmp_path / "disk"
    mount_small_disk(folder, 64)
    shutil.copytree(ingested_demos / "demo", folder / "demo")
    yield folder
    unmount_disk(folder)


@pytest.mark.parametrize("faults", PAIRS, ids=lambda faults: " and ".join(faults))
def test_two_failures_cost_what_each_costs_and_both_are_said(
    request: pytest.FixtureRequest,
    request_in_demo: MemoryContextRequest,
    healthy_demo: SceneMemoryContext,
    faults: dict[str, Fault],
) -> None:
    """States stand unless the database fails; memories unless it and their search do; later scenes never show."""
    folder: Path = request.getfixturevalue("disk" if "disk" in faults else "demo_folder")
    # What an index that hangs leaves of a tool's time must do for the rest of it, on a machine with much else to do.
    deadlines = TIGHT if "database" in faults else TIGHT | {"tool_timeout_s": 20.0}
    settings = settings_for(folder, **deadlines).model_copy(update={"model_timeout_s": 1.0})
    with MemoryStores(settings) as stores, ExitStack() as failing:
        ground = Ground(folder, stores)
        if "index" not in faults:
            awake(stores, "demo")
        for fault in faults.values():
            failing.enter_context(fault(ground))
        started_s = time.monotonic()
        chain = build_context_chain(stores, model=ground.model, write_files="disk" in faults)
        context = chain.invoke(request_in_demo)
        assert time.monotonic() - started_s < HANG_GUARD_S
    _require_said(context, faults)
    if "database" in faults:
        assert context.entity_states == []
    else:
        require_same_entities(context, healthy_demo)
    assert bool(context.relevant_memories) == (not {"index", "database"} <= _parts(faults))
    assert all(
        chunk.project_id == "demo" and request_in_demo.position.admits(chunk.chapter_index, chunk.scene_index)
        for chunk in context.relevant_memories
    )
    assert SceneMemoryContext.model_validate_json(context.model_dump_json()) == context


def _require_said(context: SceneMemoryContext, faults: dict[str, Fault]) -> None:
    """Each failing part is an issue, and nothing else is."""
    for part in faults:
        assert stages(context) & STAGES[part], part
    assert stages(context) <= set().union(*(STAGES[part] for part in faults))


def _parts(faults: dict[str, Fault]) -> set[str]:
    """Without embeddings the index cannot be asked either."""
    return {"index" if part == "embeddings" else part for part in faults}
