"""What somebody at the command line meets of the matrix: exit code, stdout and stderr."""

import json
import os
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from runtime.doors.cli.main import novelgen as program
from tests.acceptance.test_memory_context_retrieval import damage_database, damage_index
from tests.faults.disks import fill_disk, immutable, mount_small_disk, unmount_disk
from tests.faults.expectations import locked
from tests.faults.matrix import covers

CONTEXT = ("context", "demo", "--chapter", "5", "--scene", "4", "--json")
INGEST = ("ingest", "demo")
pytestmark = pytest.mark.usefixtures("kept_logging", "impatient_databases")

Fault = Callable[[Path], AbstractContextManager[object]]


def _environment(projects_dir: Path, **more: str) -> dict[str, str]:
    own = {name: value for name, value in os.environ.items() if not name.startswith(("NOVELGEN_", "OPENAI_"))}
    patient = {"TOOL_TIMEOUT_S": "20", "CHAIN_TIMEOUT_S": "60", "EMBEDDING_MODEL": "fake:64"}
    return {
        **own,
        "NOVELGEN_PROJECTS_DIR": str(projects_dir),
        **{f"NOVELGEN_MEMORY__{name}": value for name, value in patient.items()},
        **more,
    }


def novelgen(*arguments: str, projects_dir: Path, **environment: str) -> Result:
    """Run a command in this process, with an environment of its own."""
    own = _environment(projects_dir, **environment)
    others = dict.fromkeys(os.environ.keys() - own.keys())
    return CliRunner(env={**others, **own}).invoke(program, arguments)


@contextmanager
def _on_a_full_disk(data: Path) -> Iterator[None]:
    stored = (data / "novel.db").read_bytes()
    mount_small_disk(data, 3)
    try:
        (data / "novel.db").write_bytes(stored)
        fill_disk(data)
        yield
    finally:
        unmount_disk(data)


def _damaged(damage: Callable[[Path], None]) -> Fault:
    def fault(demo: Path) -> AbstractContextManager[object]:
        damage(demo)
        return nullcontext()

    return fault


@dataclass(frozen=True)
class Degraded:
    """A fault with which a context is still built: who says so, in what words."""

    fault: Fault = lambda demo: nullcontext()
    stage: str = ""
    said: str = ""
    environment: dict[str, str] = field(default_factory=dict)


DEAD_SERVER = {
    "NOVELGEN_MODEL": "openai:none",
    "NOVELGEN_MODEL_BASE_URL": "http://127.0.0.1:9/v1",
    "NOVELGEN_MODEL_API_KEY": "sk-none",
}
DEGRADED = {
    "index damaged": (4, Degraded(_damaged(damage_index), "semantic", "novelgen doctor")),
    "database damaged": (31, Degraded(_damaged(damage_database), "states", "restore")),
    "model server down": (40, Degraded(stage="plan", said="nobody answers at its address", environment=DEAD_SERVER)),
}


def _issues(stdout: str) -> dict[str, str]:
    document: dict[str, Any] = json.loads(stdout)
    return {issue["stage"]: issue["message"] for issue in document["report"]["issues"]}


@pytest.mark.slow
@pytest.mark.parametrize(
    "case", [pytest.param(case, marks=covers(row), id=name) for name, (row, case) in DEGRADED.items()]
)
def test_a_degraded_context_is_done_and_says_so(demo_folder: Path, case: Degraded) -> None:
    """Exit code 0, nothing but JSON on stdout, and the fault with its fix on stderr and in the report."""
    with case.fault(demo_folder / "demo"):
        finished = novelgen(*CONTEXT, projects_dir=demo_folder, **case.environment)
    assert finished.exit_code == 0, finished.stderr
    assert case.said in _issues(finished.stdout)[case.stage]
    assert case.said in finished.stderr
    assert "Traceback" not in finished.stderr


def _new_chapter(demo: Path) -> None:
    text = "Ines found the heron key in the salt and told nobody of it.\n"
    (demo / "chapters" / "chapter_040.txt").write_text(text, encoding="utf-8")


def _require_refused(finished: Result, code: int, said: str) -> None:
    """One line on stderr that begins with `error:`, and nothing on stdout."""
    assert (finished.exit_code, finished.stdout) == (code, ""), finished.stderr
    (error,) = [line for line in finished.stderr.splitlines() if line.startswith("error: ")]
    assert said in error
    assert "Traceback" not in finished.stderr


REFUSED = {
    "disk full": (22, lambda demo: _on_a_full_disk(demo / "data"), "free disk space"),
    "database locked": (29, lambda demo: locked(demo / "data" / "novel.db"), "try again"),
    "database read-only": (29, lambda demo: immutable(demo / "data" / "novel.db"), "readonly"),
    "database damaged": (31, _damaged(damage_database), "restore"),
}


@pytest.mark.parametrize(
    ("fault", "said"),
    [pytest.param(fault, said, marks=covers(row), id=name) for name, (row, fault, said) in REFUSED.items()],
)
def test_a_chapter_that_cannot_be_stored_is_refused(demo_folder: Path, fault: Fault, said: str) -> None:
    """Exit code 3, one line that says what failed and what to do."""
    _new_chapter(demo_folder / "demo")
    with fault(demo_folder / "demo"):
        finished = novelgen(*INGEST, projects_dir=demo_folder)
    _require_refused(finished, 3, said)


@covers(21)
@pytest.mark.parametrize("project_id", ["../demo", "nobody"])
def test_a_bad_project_is_refused_and_nothing_created(tmp_path: Path, project_id: str) -> None:
    """Exit code 2, and the folder of the projects stays as it was."""
    finished = novelgen("context", project_id, "--chapter", "1", "--scene", "1", projects_dir=tmp_path)
    _require_refused(finished, 2, repr(project_id))
    assert list(tmp_path.iterdir()) == []
