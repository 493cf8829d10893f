"""Commands that are shown can be copied into a shell, whatever a story or a project is called."""

import logging
import shlex
from pathlib import Path

import pytest

from novelgen.errors import InvalidProjectIdError
from novelgen.models.position import require_project_id
from novelgen.shell_words import in_shell
from runtime.doors.cli.error_handling import _Formatter
from runtime.doors.cli.shell import note_arguments, with_quoted_arguments
from tests.runtime.doors.cli.conftest import Run


@pytest.mark.parametrize("name", ["Ada Penrose", "O'Brien", '"x"; touch PWN', "$(touch PWN)", "`touch PWN`", "林海!"])
def test_a_name_comes_out_of_the_shell_as_it_went_in(name: str) -> None:
    """One word, and nothing of it is run."""
    assert shlex.split(in_shell(name)) == [name]


@pytest.mark.parametrize("project", ["a;touch PWN", "my novel", "a&b", "x $(y)"])
def test_hints_quote_the_project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, project: str) -> None:
    """Errors and next steps, wherever a command begins with it."""
    monkeypatch.setenv("NOVELGEN_PROJECTS_DIR", str(tmp_path))
    run = Run()
    made = run.well("init", project)
    assert f"novelgen ingest {shlex.quote(project)}" in made.stdout
    assert f"novelgen ingest {project}" not in made.stdout
    missing = run("scene", "show", project, "7:1")
    assert f" {project}`" not in missing.stderr


@pytest.mark.parametrize("project", ["my-novel", "我的小说", "a.b_c"])
def test_a_plain_project_stays_as_it_is(project: str) -> None:
    """Letters of every script mean nothing to a shell."""
    note_arguments(["ingest", project])
    assert with_quoted_arguments(f"run `novelgen ingest {project}`") == f"run `novelgen ingest {project}`"


@pytest.mark.parametrize("project", ["-rf", "--json"])
def test_no_project_is_called_like_an_option(project: str) -> None:
    """Its hints could not be followed."""
    with pytest.raises(InvalidProjectIdError, match="begins with a dash"):
        require_project_id(project)


@pytest.mark.parametrize("said", ["x\nWARNING runtime: all is lost", "x\r\x1b[2Kall is lost", "x\u2028WARNING y\x85z"])
def test_what_is_quoted_forges_no_line_of_the_log(said: str) -> None:
    """A record is one line without control characters; a traceback's lines are indented."""
    record = logging.LogRecord("runtime.x", logging.WARNING, "x.py", 1, "the server said %s", (said,), None)
    lines = _Formatter("%(levelname)s %(name)s: %(message)s").format(record).splitlines()
    assert len(lines) == 1
    assert lines[0].startswith("WARNING runtime.x: the server said x\\")
    assert lines[0].isprintable()
    try:
        raise ValueError(said)
    except ValueError as error:
        record.exc_info = (ValueError, error, error.__traceback__)
    _, *trace = _Formatter("%(levelname)s %(name)s: %(message)s").format(record).split("\n")
    assert all(line.startswith("  ") for line in trace)


@pytest.mark.parametrize(
    ("project", "location"), [("断雁", ""), ("断雁", "the mill"), ("my novel", ""), ("my novel", "my novel 2")]
)
def test_other_arguments_leave_a_hint_alone(project: str, location: str) -> None:
    """An empty one, or one with spaces, is no part of the command that undoes."""
    note_arguments(["scene", "set", project, "1:1", "--location", location])
    command = with_quoted_arguments(f"undo: novelgen undo {project} 49").removeprefix("undo: ")
    assert shlex.split(command) == ["novelgen", "undo", project, "49"]


def test_an_argument_is_quoted_as_a_whole() -> None:
    """Not as the beginning of a longer word, and not twice."""
    note_arguments(["note", "a b", "a b c"])
    assert (
        with_quoted_arguments("novelgen undo a b c 1; novelgen undo a bc")
        == "novelgen undo 'a b c' 1; novelgen undo a bc"
    )
