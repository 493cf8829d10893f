"""What becomes of errors at the border of the program."""

import logging
import subprocess
import sys
from collections.abc import Callable
from typing import NoReturn

import click
import pytest

from novelgen import errors
from runtime.doors.cli.error_handling import ExitCode, run_guarded


def raising(error: BaseException) -> Callable[[], NoReturn]:
    """Return a command that fails."""

    def body() -> NoReturn:
        raise error

    return body


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (errors.UnknownProjectError("no project 'x'"), ExitCode.BAD_INPUT),
        (click.UsageError("give one"), ExitCode.BAD_INPUT),
        (errors.DatabaseBusyError("busy"), ExitCode.STORE_UNAVAILABLE),
        (errors.VectorIndexOwnedError("owned"), ExitCode.STORE_UNAVAILABLE),
        (errors.EmbeddingError("no model"), ExitCode.STORE_UNAVAILABLE),
        (errors.ContextWriteError("disk full"), ExitCode.FAILED),
        (errors.ModelUnavailableError("gone"), ExitCode.FAILED),
        (errors.DeadlineExceededError("too long"), ExitCode.FAILED),
        (PermissionError(13, "Permission denied", "/x"), ExitCode.FAILED),
        (KeyError("a bug"), ExitCode.FAILED),
        (KeyboardInterrupt(), ExitCode.INTERRUPTED),
        (click.Abort(), ExitCode.INTERRUPTED),
    ],
)
def test_each_error_has_its_exit_code_and_one_line(
    error: BaseException, code: ExitCode, capsys: pytest.CaptureFixture[str]
) -> None:
    """An error becomes one line on stderr, nothing on stdout, and the documented exit code."""
    assert run_guarded(raising(error)) == code
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("error: ")
    assert err.count("\n") == 1
    assert "Traceback" not in err


def test_a_message_is_one_line_and_a_bug_asks_to_be_reported(
    capsys: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    """The traceback is in the log at debug, and what a command returns is its exit code."""
    run_guarded(raising(errors.UnknownProjectError("first\nsecond")))
    assert capsys.readouterr().err == "error: first second\n"
    run_guarded(raising(KeyError("scene")))
    err = capsys.readouterr().err
    assert "KeyError: 'scene'" in err
    assert "--log-level debug" in err
    with caplog.at_level(logging.DEBUG, logger="runtime.doors.cli.error_handling"):
        run_guarded(raising(errors.UnknownProjectError("no project")))
    assert caplog.records[0].exc_info is not None
    assert [run_guarded(lambda: 1), run_guarded(lambda: None), run_guarded(lambda: "text")] == [1, 0, 0]


def test_a_reader_that_leaves_early_is_no_failure() -> None:
    """Output into a closed pipe ends with 0 and without a word."""
    code = (
        "import os, sys\nimport click\nfrom runtime.doors.cli import main as program\n"
        "@click.command()\n"
        "def flood():\n    for _ in range(100_000):\n        click.echo('a line of output')\n"
        "program.novelgen.get_command = lambda ctx, name: flood\n"
        "program.main(['flood'])\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        process.stdout.readline()
        process.stdout.close()
        assert process.wait(timeout=60) == 0
        assert process.stderr is not None
        assert process.stderr.read() == ""
