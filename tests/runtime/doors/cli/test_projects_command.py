"""`novelgen projects` and `delete`, and what is said of a project that is not there; memories that are over."""

from pathlib import Path
from typing import Any

import pytest

from runtime.doors.cli.command_view import View
from runtime.doors.cli.operation_commands import OPERATION_COMMANDS
from runtime.doors.http.settings import announced
from tests.runtime.doors.cli.conftest import Run
from tests.runtime.doors.cli.small_project import PROJECT
from tests.support.stories import MEMORIES


def test_projects_are_listed_with_what_they_hold(run: Run, ingested: Path, projects_dir: Path) -> None:
    """Stored projects, folders that wait for ingest, and projects that cannot be read are all there."""
    (projects_dir / "waiting" / "chapters").mkdir(parents=True)
    (projects_dir / "broken" / "data").mkdir(parents=True)
    (projects_dir / "broken" / "data" / "novel.db").write_bytes(b"no database at all" * 1000)
    (projects_dir / "no-project").mkdir()
    listed = {each["project_id"]: each for each in run.json("projects")}
    assert set(listed) == {PROJECT, "waiting", "broken"}
    assert (listed[PROJECT]["scenes"], listed[PROJECT]["name"]) == (4, "The Lighthouse")
    assert "nothing stored yet" in listed["waiting"]["problem"]
    assert "cannot be read" in listed["broken"]["problem"]


def test_no_projects_say_how_to_begin(run: Run, projects_dir: Path) -> None:
    """Without any project the list says how to make one, and creates nothing."""
    result = run("projects")
    assert "novelgen init" in result.stdout
    assert run.json("projects") == []
    assert not projects_dir.exists()


def test_an_unknown_project_ends_with_2_and_creates_nothing(run: Run, projects_dir: Path) -> None:
    """No command creates a project that it was asked to read or change."""
    cases = [
        ["search", "nobody", "key"],
        ["card", "list", "nobody"],
        ["card", "show", "nobody", "Ada"],
        ["timeline", "nobody"],
        ["memory", "list", "nobody"],
        ["memory", "pin", "nobody", "M001"],
        ["note", "nobody", "a fact"],
        ["scene", "list", "nobody"],
        ["scene", "delete", "nobody", "1:1", "--yes"],
        ["reindex", "nobody"],
        ["doctor", "nobody"],
        ["ingest", "nobody"],
        ["context", "nobody", "--chapter", "1", "--scene", "1"],
        ["context", "nobody", "--chapter", "1", "--scene", "1", "--diff"],
        ["context", "nobody", "--stale"],
    ]
    for command in cases:
        run.refused(*command, told="nobody")
    assert not projects_dir.exists()


def test_a_folder_with_nothing_stored_says_how_to_fill_it(run: Run, written: Path) -> None:
    """The author's files alone are answered with the command that takes them in."""
    run.refused("search", PROJECT, "key", told=f"novelgen ingest {PROJECT}")
    assert not (written / "data").exists()


@pytest.mark.parametrize(
    ("language", "mark"), [("en", "(outdated, replaced by M009)"), ("zh", "（已过时，后有 M009）")]
)
def test_what_is_over_is_marked(language: str, mark: str) -> None:
    """What something later replaced is shown with its id, in the story's language; what holds has no mark."""
    view = View(stores=Any, project="story", language=language, part=None, values={})  # type: ignore[arg-type]
    cell = OPERATION_COMMANDS["search_story_memory"].columns["text"]
    over = MEMORIES[0].model_copy(update={"superseded_by": "M009"})
    assert view.cell(cell, over) == f"{over.content} {mark}"
    assert view.cell(cell, MEMORIES[1]) == MEMORIES[1].content


def test_a_project_is_deleted_once_that_is_confirmed(run: Run, ingested: Path, projects_dir: Path) -> None:
    """Without `--yes` and a terminal nothing goes; while a server has the projects it is the server's to delete."""
    run.well("init", "other")
    unsure = run("delete", PROJECT)
    assert (unsure.exit_code, "--yes" in unsure.stderr) == (2, True), unsure.stderr
    with announced(projects_dir, "http://127.0.0.1:8000"):
        served = run("delete", PROJECT, "--yes")
        assert (served.exit_code != 0, "http://127.0.0.1:8000" in served.stderr) == (True, True)
    assert (projects_dir / PROJECT).is_dir()
    deleted = run.json("delete", PROJECT, "--yes")
    assert (deleted["project_id"], deleted["scenes"] > 0) == (PROJECT, True)
    assert {each.name for each in projects_dir.iterdir() if not each.name.startswith(".")} == {"other"}
    again = run("delete", PROJECT, "--yes")
    assert (again.exit_code != 0, PROJECT in again.stderr) == (True, True)
