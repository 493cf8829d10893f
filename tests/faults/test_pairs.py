"""Two things fail at once: each costs what it costs alone, both are said, and the context comes in time."""

import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from langchain_core.language_models import BaseChatModel
from langchain_openai import ChatOpenAI

from novelgen.models.context import MemoryContextRequest, SceneMemoryContext
from runtime.context_chain import build_context_chain
from runtime.index.locations import ChromaFolder
from runtime.index.ownership import IndexOwnership
from runtime.model_providers.offline_embeddings import HashedNgramEmbeddings
from runtime.search.search import RETRIEVERS
from runtime.stores import MemoryStores
from tests.acceptance.test_memory_context_retrieval import damage_index
from tests.faults.expectations import (
    HANG_GUARD_S,
    TIGHT,
    awake,
    leave_write_ahead_log,
    locked,
    require_nothing_later,
    require_same_entities,
    stages,
)
from tests.faults.matrix import covers
from tests.faults.test_language_model import FAILURES
from tests.support.demo_project import settings_for
from tests.support.freezing import freeze
from tests.support.openai_stub import openai_stub

pytestmark = pytest.mark.usefixtures("impatient_databases")

STAGES = {
    "index": {"semantic"},
    "embeddings": {"semantic"},
    "model": {"plan", "select"},
    "database": {"outline", "states", "timeline", "memories", *RETRIEVERS} - {"semantic"},
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


def index_locked(ground: Ground) -> AbstractContextManager[None]:
    """Another program holds the database of the index."""
    return locked(ground.data / "vectors" / "chroma.sqlite3")


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
    owner = IndexOwnership(ChromaFolder(ground.data / "vectors"))
    owner.acquire()
    yield
    owner.release()


def database_locked(ground: Ground) -> AbstractContextManager[None]:
    """Without its write-ahead log, readers wait for the program that writes."""
    leave_write_ahead_log(ground.data / "novel.db")
    return locked(ground.data / "novel.db")


@contextmanager
def embeddings_fail(_: Ground) -> Iterator[None]:
    """The embedding model raises."""

    def refuse(*_: object) -> list[list[float]]:
        raise ConnectionError("the embedding server is away")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(HashedNgramEmbeddings, "embed_query", refuse)
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
    pytest.param(
        {"embeddings": embeddings_fail, "database": database_locked}, marks=[covers(15, 29), pytest.mark.thorough]
    ),
]


@pytest.mark.slow
@pytest.mark.parametrize("faults", PAIRS, ids=lambda faults: " and ".join(faults))
def test_two_failures_cost_what_each_costs_and_both_are_said(
    demo_folder: Path, request_in_demo: MemoryContextRequest, healthy_demo: SceneMemoryContext, faults: dict[str, Fault]
) -> None:
    """States stand unless the database fails; memories unless it and their search do; later scenes never show."""
    # What an index that hangs leaves of a tool's time must do for the rest of it, on a machine with much else to do.
    deadlines = TIGHT if "database" in faults else TIGHT | {"tool_timeout_s": 20.0}
    settings = settings_for(demo_folder, **deadlines).model_copy(update={"model_timeout_s": 1.0})
    with MemoryStores(settings) as stores, ExitStack() as failing:
        ground = Ground(demo_folder, stores)
        if "index" not in faults:
            awake(stores, "demo")
        for fault in faults.values():
            failing.enter_context(fault(ground))
        started_s = time.monotonic()
        chain = build_context_chain(stores, model=ground.model, write_files=False)
        context = chain.invoke(request_in_demo)
        assert time.monotonic() - started_s < HANG_GUARD_S
    _require_said(context, faults)
    if "database" in faults:
        assert context.entity_states == []
    else:
        require_same_entities(context, healthy_demo)
    assert bool(context.relevant_memories) == ("database" not in faults)
    require_nothing_later(context, request_in_demo)
    assert SceneMemoryContext.model_validate_json(context.model_dump_json()) == context


def _require_said(context: SceneMemoryContext, faults: dict[str, Fault]) -> None:
    """Each failing part is an issue, and nothing else is."""
    for part in faults:
        assert stages(context) & STAGES[part], part
    assert stages(context) <= set().union(*(STAGES[part] for part in faults))
