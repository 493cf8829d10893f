"""A small project, empty or taken in, and a way to run commands on it."""

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from runtime.doors.cli.main import novelgen
from runtime.index.locations import ChromaFolder
from runtime.index.process import DEFAULT_REGISTRY
from tests.runtime.doors.cli.small_project import write_project


class Run:
    """Runs commands in this process."""

    def __call__(self, *arguments: str, answer: str | None = None) -> Result:
        """Run a command, with what is typed into it, and return its exit code and outputs."""
        return CliRunner().invoke(novelgen, list(arguments), input=answer)

    def well(self, *arguments: str, answer: str | None = None) -> Result:
        """Run a command that must end well."""
        result = self(*arguments, answer=answer)
        assert result.exit_code == 0, result.stderr
        return result

    def done(self, *arguments: str) -> str:
        """Return the words that such a command prints."""
        return " ".join(self.well(*arguments).stdout.split())

    def json(self, *arguments: str) -> Any:
        """Return what such a command prints as JSON."""
        return json.loads(self.well(*arguments, "--json").stdout)

    def refused(self, *arguments: str, told: str, answer: str | None = None) -> None:
        """Run what is bad input: it is told in one line, with these words, and ends with 2."""
        result = self(*arguments, answer=answer)
        assert (result.exit_code, result.stdout) == (2, ""), (arguments, result.stderr)
        assert told in result.stderr, arguments
        assert sum(map(result.stderr.count, ("error:", "错误："))) == 1, result.stderr


@pytest.fixture(autouse=True)
def _own_settings(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, kept_logging: None) -> None:
    """Keep the settings of the machine out."""
    monkeypatch.delenv("NOVELGEN_MODEL", raising=False)
    monkeypatch.delenv("NOVELGEN_DATABASE_URL", raising=False)
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.setenv("NOVELGEN_MEMORY__EMBEDDING_MODEL", "fake:32")
    monkeypatch.setenv("NOVELGEN_PROJECTS_DIR", str(tmp_path / "projects"))


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
        Run().well("--projects-dir", str(projects), "ingest", folder.name)
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
    process = DEFAULT_REGISTRY.borrow(ChromaFolder(ingested / "data" / "vectors"))
    yield
    DEFAULT_REGISTRY.give_back(process)


@pytest.fixture
def run() -> Run:
    """Run commands in this process."""
    return Run()
