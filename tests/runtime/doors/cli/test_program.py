"""The program as a process of its own, on the shipped demo."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parents[4]


def novelgen(*arguments: str, projects_dir: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run `python -m novelgen` and return what it printed."""
    return subprocess.run(
        [sys.executable, "-m", "novelgen", *arguments],
        capture_output=True,
        encoding="utf-8",
        timeout=170,
        cwd=REPOSITORY,
        env={**os.environ, "NOVELGEN_PROJECTS_DIR": str(projects_dir), **environment},
        check=False,
    )


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The shipped Chinese demo, taken in; returns the projects folder."""
    projects = tmp_path_factory.mktemp("projects")
    ignored = shutil.ignore_patterns("data", "scene_*_memory.json")
    shutil.copytree(REPOSITORY / "projects" / "demo-zh", projects / "demo-zh", ignore=ignored)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("NOVELGEN_MEMORY__EMBEDDING_MODEL", "fake:32")
        result = novelgen("ingest", "demo-zh", projects_dir=projects)
    assert result.returncode == 0, result.stderr
    return projects


def test_json_is_json_where_the_terminal_knows_no_chinese(demo: Path) -> None:
    """Under an ASCII locale the JSON is escaped, not broken, and the readable view does not fail."""
    ascii_only = {"PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"}
    result = novelgen("entity", "show", "demo-zh", "C0", "--json", projects_dir=demo, **ascii_only)
    assert json.loads(result.stdout)["entity"]["name"] == "骆青荇"
    readable = novelgen("entity", "list", "demo-zh", projects_dir=demo, **ascii_only)
    assert readable.returncode == 0
    assert "\\u9a86" in readable.stdout
