"""`novelgen delete`: asks first, deletes one project, and leaves those of a running server to it."""

import json
from pathlib import Path

from runtime.doors.http.settings import announced
from tests.runtime.doors.cli.conftest import Run
from tests.runtime.doors.cli.small_project import PROJECT


def test_a_project_is_deleted_once_that_is_confirmed(run: Run, ingested: Path, projects_dir: Path) -> None:
    """Without `--yes` and a terminal nothing goes; while a server has the projects it is the server's to delete."""
    assert run("init", "other").exit_code == 0
    unsure = run("delete", PROJECT)
    assert (unsure.exit_code, "--yes" in unsure.stderr) == (2, True), unsure.stderr
    with announced(projects_dir, "http://127.0.0.1:8000"):
        served = run("delete", PROJECT, "--yes")
        assert (served.exit_code != 0, "http://127.0.0.1:8000" in served.stderr) == (True, True)
    assert (projects_dir / PROJECT).is_dir()
    deleted = json.loads(run("delete", PROJECT, "--yes", "--json").stdout)
    assert (deleted["project_id"], deleted["scenes"] > 0) == (PROJECT, True)
    assert {each.name for each in projects_dir.iterdir() if not each.name.startswith(".")} == {"other"}
    again = run("delete", PROJECT, "--yes")
    assert (again.exit_code != 0, PROJECT in again.stderr) == (True, True)
