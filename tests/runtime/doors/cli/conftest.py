"""A small project, empty or taken in, and a way to run commands on it."""

import logging
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from runtime.doors.cli.main import novelgen
from runtime.index.locations import EmbeddedIndex
from runtime.index.process import DEFAULT_REGISTRY
from tests.runtime.doors.cli.small_project import write_project

Run = Callable[..., Result]


@pytest.fixture(autouse=True)
def _own_settings(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    """Keep the settings of the machine out, and leave logging as it was."""
    monkeypatch.delenv("NOVELGEN_MODEL", raising=False)
    monkeypatch.delenv("NOVELGEN_DATABASE_URL", raising=False)
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.setenv("NOVELGEN_MEMORY__EMBEDDING_MODEL", "fake:32")
    monkeypatch.setenv("NOVELGEN_PROJECTS_DIR", str(tmp_path / "projects"))
    root, own = logging.getLogger(), [logging.getLogger(name) for name in ("novelgen", "runtime")]
    handlers, levels = list(root.handlers), [each.level for each in (root, *own)]
    yield
    root.handlers[:] = handlers
    for each, level in zip((root, *own), levels, strict=True):
        each.setLevel(level)


@pytest.fixture
def projects_dir(tmp_path: Path) -> Path:
    """Where the projects of the test live; the folder is not there yet."""
    return tmp_path / "projects"


@pytest.fixture
def written(projects_dir: Path) -> Path:
    """The small project as its author's files, nothing of it stored."""
    return write_project(projects_dir)


def _ingest_once(projects: Path, *, records: bool) -> Path:
    folder = write_project(projects, records=records)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("NOVELGEN_MEMORY__EMBEDDING_MODEL", "fake:32")
        result = CliRunner().invoke(novelgen, ["--projects-dir", str(projects), "ingest", folder.name])
    assert result.exit_code == 0, result.stderr
    return folder


@pytest.fixture(scope="session")
def _ingested_once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return _ingest_once(tmp_path_factory.mktemp("ingested"), records=True)


@pytest.fixture(scope="session")
def _unrecorded_once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return _ingest_once(tmp_path_factory.mktemp("unrecorded"), records=False)


@pytest.fixture
def ingested(_ingested_once: Path, projects_dir: Path) -> Path:
    """The small project, taken in; a copy of its own for each test."""
    return Path(shutil.copytree(_ingested_once, projects_dir / _ingested_once.name))


@pytest.fixture
def unrecorded(_unrecorded_once: Path, projects_dir: Path) -> Path:
    """The small project, taken in without records; a copy of its own for each test."""
    return Path(shutil.copytree(_unrecorded_once, projects_dir / _unrecorded_once.name))


@pytest.fixture
def index_kept_open(ingested: Path) -> Iterator[None]:
    """Keep the process of the index between the commands of a test, since each start of it takes seconds."""
    process = DEFAULT_REGISTRY.borrow(EmbeddedIndex(ingested / "data" / "vectors"))
    yield
    DEFAULT_REGISTRY.give_back(process)


@pytest.fixture
def run() -> Run:
    """Run a command in this process, with what is typed into it, and return its exit code and outputs."""

    def invoke(*arguments: str, answer: str | None = None) -> Result:
        return CliRunner().invoke(novelgen, list(arguments), input=answer)

    return invoke
