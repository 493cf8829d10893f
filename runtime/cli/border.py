"""The border of the program: whatever goes wrong inside becomes one line and an exit code."""

from __future__ import annotations

import contextlib
import logging
import os
import sys
from collections.abc import Callable
from typing import Any

import click

from novelgen.errors import NovelgenError
from runtime.cli.exit_codes import ExitCode, exit_code_of

logger = logging.getLogger(__name__)


def run_guarded(body: Callable[[], Any]) -> int:
    """Run a command and return its exit code; nothing is raised.

    Args:
        body: Runs the command; what it returns is the exit code when it is a number, else it is done.

    Returns:
        The exit code. An error was printed to stderr as one line `error: …`; its traceback is in the log
        at level debug.
    """
    try:
        code = _run(body)
        sys.stdout.flush()
    except BrokenPipeError:
        silence_stdout()
        return ExitCode.DONE
    return code


def _run(body: Callable[[], Any]) -> int:
    try:
        result = body()
    except click.UsageError as error:
        return _ended(ExitCode.BAD_INPUT, error, _usage_message(error))
    except click.ClickException as error:
        return _ended(ExitCode.FAILED, error, error.format_message())
    except NovelgenError as error:
        return _ended(exit_code_of(error), error, str(error))
    except (click.Abort, KeyboardInterrupt) as error:
        return _ended(ExitCode.INTERRUPTED, error, "interrupted; what was stored before stays stored")
    except BrokenPipeError:
        raise
    except OSError as error:
        return _ended(ExitCode.FAILED, error, _os_message(error))
    except Exception as error:  # noqa: BLE001 - the program's outermost border: a bug must not show a traceback
        advice = "a bug in novelgen: run again with `--log-level debug` before the command and report it"
        return _ended(ExitCode.FAILED, error, f"{type(error).__name__}: {error} ({advice})")
    return result if isinstance(result, int) else ExitCode.DONE


def _ended(code: ExitCode, error: BaseException, message: str) -> int:
    logger.debug("ended with exit code %d", code, exc_info=error)
    click.echo("error: " + " ".join(message.split()), err=True)
    return code


def _usage_message(error: click.UsageError) -> str:
    command = error.ctx.command_path if error.ctx else "novelgen"
    return f"{error.format_message().rstrip('.')}; see '{command} --help'"


def _os_message(error: OSError) -> str:
    where = f" {error.filename!r}" if error.filename else ""
    return f"cannot use{where}: {error.strerror or error}; check that it exists and can be written"


def silence_stdout() -> None:
    """Let the interpreter's last flush go nowhere instead of failing."""
    with contextlib.suppress(OSError, ValueError):
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, sys.stdout.fileno())
        os.close(null)
