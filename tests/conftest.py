"""Fixtures that several rooms' tests share."""

import contextlib
import gc
import logging
import os
import shutil
import sys
from collections.abc import Callable, Generator, Iterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from filelock import FileLock
from sqlalchemy import URL

from runtime.index.process import IndexProcess
from runtime.storage.connection import sqlite_file
from runtime.storage.migrations.runner import migrate_to_head
from runtime.stores import MemoryStores
from tests.support.databases import BOTH, postgres_database, postgres_for_tests
from tests.support.demo_project import DEMOS, copy_shipped_demos, ingest_demo, settings_for
from tests.support.forked_index_processes import IndexForkserver, launch_with

pytest_plugins = ["tests.faults.results"]

THOROUGH_VARIABLE = "NOVELGEN_TEST_THOROUGH"
# Where it is set, as in some containers, each of some hundred processes that tests start compiles the program anew.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False
_LAUNCH_AS_SHIPPED = vars(IndexProcess)["launch"]


def pytest_addoption(parser: pytest.Parser) -> None:
    """Let a run of the whole suite include the slow tests."""
    parser.addoption("--slow", action="store_true", help="run the slow tests of the whole suite, too")


def pytest_configure(config: pytest.Config) -> None:
    """Leave the slow tests out of the whole suite; those of a path or marker that somebody names are run."""
    is_whole_suite = config.args_source is pytest.Config.ArgsSource.TESTPATHS
    if is_whole_suite and not config.option.slow and not config.option.markexpr:
        config.option.markexpr = "not slow"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Leave out what goes beyond the core rows, unless it is asked for, and begin with the long tests of all code.

    At the end one process would be at work with them, and no other.
    """
    items.sort(key=lambda item: item.path.parent != Path(__file__).parent)
    if os.environ.get(THOROUGH_VARIABLE):
        return
    for item in items:
        if item.get_closest_marker("thorough") is not None:
            item.add_marker(pytest.mark.skip(reason=f"thorough: set {THOROUGH_VARIABLE}=1"))


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Spare the garbage collector most rounds, and what collecting made, which lives as long as the tests do."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.set_threshold(50_000)
        gc.enable()


@pytest.fixture(scope="session")
def index_forkserver() -> Iterator[IndexForkserver]:
    """What forks index processes for this session; started at its first use."""
    server = IndexForkserver()
    yield server
    server.close()


@pytest.fixture(scope="session", autouse=True)
def _forked_index_processes(index_forkserver: IndexForkserver) -> Iterator[None]:
    """Spare index processes the import of their libraries, which costs more than what most tests do.

    Of the whole session, as the fixtures of a module start processes, too.
    """
    with pytest.MonkeyPatch.context() as patch:
        if sys.platform == "linux":
            patch.setattr(IndexProcess, "launch", launch_with(index_forkserver))
        yield


@pytest.fixture(autouse=True)
def _index_processes_as_shipped(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Start index processes as they ship in the tests that are marked for it."""
    if request.node.get_closest_marker("index_started_as_shipped") is not None:
        monkeypatch.setattr(IndexProcess, "launch", _LAUNCH_AS_SHIPPED)


@pytest.fixture(scope="session", autouse=True)
def _quick_databases(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Spare SQLite the waiting for the disk, which no test survives, and making the same tables for every new file."""
    template = tmp_path_factory.mktemp("empty") / "novel.db"

    def migrate_copy(url: URL, **options: Any) -> None:
        file = sqlite_file(url)
        if file is not None and not file.exists():
            if not template.exists():
                migrate_to_head(url.set(database=str(template)), **options)
            copied = Path(shutil.copy(template, file.with_name(f"{file.name}-{uuid4().hex}")))
            with contextlib.suppress(FileExistsError):
                os.link(copied, file)
            copied.unlink()
        migrate_to_head(url, **options)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("runtime.storage.connection.SYNCHRONOUS", "OFF")
        patch.setattr("runtime.storage.database.migrate_to_head", migrate_copy)
        yield


@pytest.fixture(scope="session")
def made_once(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str, Callable[[Path], None]], Path]:
    """Fill a projects folder, which the first worker of a run does for all; each gets a copy, not to be changed."""
    own = tmp_path_factory.getbasetemp()
    shared = own.parent if "PYTEST_XDIST_WORKER" in os.environ else own

    def made_of(name: str, fill: Callable[[Path], None]) -> Path:
        made = shared / name
        with FileLock(f"{made}.lock"):
            if not made.exists():
                folder = tmp_path_factory.mktemp(name) / "projects"
                folder.mkdir()
                fill(folder)
                folder.rename(made)
        return Path(shutil.copytree(made, tmp_path_factory.mktemp(name) / "projects"))

    return made_of


@pytest.fixture(scope="session")
def ingested_demos(made_once: Callable[[str, Callable[[Path], None]], Path]) -> Path:
    """A projects folder with both demo projects ingested; not to be changed."""

    def fill(folder: Path) -> None:
        copy_shipped_demos(folder)
        with MemoryStores(settings_for(folder)) as stores:
            for name in DEMOS:
                ingest_demo(stores, name)

    return made_once("ingested-demos", fill)


@pytest.fixture(scope="module")
def read_demo_stores(ingested_demos: Path) -> Iterator[MemoryStores]:
    """Open stores over both demos, for a module's tests that only read."""
    with MemoryStores(settings_for(ingested_demos)) as stores:
        yield stores


@pytest.fixture
def demo_folder(ingested_demos: Path, tmp_path: Path) -> Path:
    """A projects folder with both demo projects ingested, of the test's own."""
    return Path(shutil.copytree(ingested_demos, tmp_path / "projects"))


@pytest.fixture
def demo_stores(demo_folder: Path) -> Iterator[MemoryStores]:
    """Open stores over a demo folder of the test's own."""
    with MemoryStores(settings_for(demo_folder)) as stores:
        yield stores


@pytest.fixture
def kept_logging() -> Iterator[None]:
    """Leave logging as it was, for tests that run commands in this process."""
    root, own = logging.getLogger(), [logging.getLogger(name) for name in ("novelgen", "runtime")]
    handlers, levels = list(root.handlers), [each.level for each in (root, *own)]
    yield
    root.handlers[:] = handlers
    for each, level in zip((root, *own), levels, strict=True):
        each.setLevel(level)


@pytest.fixture(scope="session")
def postgres_url() -> Iterator[str]:
    """URL of a PostgreSQL server on which databases may be made; skips where there is none."""
    with postgres_for_tests() as url:
        yield url


@pytest.fixture(scope="module", params=BOTH)
def module_database_url(request: pytest.FixtureRequest) -> Iterator[str | None]:
    """The setting `database_url` for a module's stores: None for SQLite in each project, or an empty PostgreSQL."""
    if request.param == "sqlite":
        yield None
        return
    # A pass of a model stores by the functions that ingest stores by, and those run on both.
    words = ("_pass", "extraction", "story_before", "consolidation", "entities", "embeddings")
    is_pass = any(word in request.path.stem for word in words)
    if ("ingest" not in request.path.parts or is_pass) and not os.environ.get(THOROUGH_VARIABLE):
        pytest.skip(f"thorough: storage, ingest and acceptance cover PostgreSQL; set {THOROUGH_VARIABLE}=1")
    with postgres_database(request.getfixturevalue("postgres_url")) as url:
        yield url
