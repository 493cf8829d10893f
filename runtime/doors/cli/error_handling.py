"""The border of the program: whatever goes wrong inside becomes one line on stderr and an exit code."""

import contextlib
import errno
import logging
import os
import sys
import unicodedata
from collections.abc import Callable, Iterator
from enum import IntEnum
from typing import Any, TextIO

import click

from novelgen.errors import DatabaseError, EmbeddingError, NovelgenError, UserInputError, VectorIndexError
from runtime.doors.cli.labels import in_words, language_of_reader, speak, view_labels_for
from runtime.doors.cli.shell import with_quoted_arguments

logger = logging.getLogger(__name__)

LOG_LEVELS = ("debug", "info", "warning", "error")
_OWN_LOGGERS = ("novelgen", "runtime")


class ExitCode(IntEnum):
    """How a command ended."""

    DONE = 0
    FAILED = 1
    BAD_INPUT = 2
    STORE_UNAVAILABLE = 3
    INTERRUPTED = 130


EXIT_CODE_MEANINGS: dict[ExitCode, str] = {
    ExitCode.DONE: "done, also when the result is degraded (it says so)",
    ExitCode.FAILED: "failed, or a part failed",
    ExitCode.BAD_INPUT: "bad input or an unknown project; nothing was created",
    ExitCode.STORE_UNAVAILABLE: "the database, the index or the embedding model is unavailable",
    ExitCode.INTERRUPTED: "interrupted",
}

_STORES = (DatabaseError, VectorIndexError, EmbeddingError)


def exit_code_of(error: NovelgenError) -> ExitCode:
    """Return the exit code that an error ends in."""
    if isinstance(error, UserInputError):
        return ExitCode.BAD_INPUT
    return ExitCode.STORE_UNAVAILABLE if isinstance(error, _STORES) else ExitCode.FAILED


def run_guarded(body: Callable[[], Any]) -> int:
    """Run a command and return its exit code, without raising."""
    speak("")
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
        return _report_error(ExitCode.BAD_INPUT, error, _usage_message(error))
    except click.ClickException as error:
        return _report_error(ExitCode.FAILED, error, error.format_message())
    except NovelgenError as error:
        return _report_error(exit_code_of(error), error, str(error))
    except (click.Abort, KeyboardInterrupt) as error:
        return _report_error(ExitCode.INTERRUPTED, error, "interrupted; what was stored before stays stored")
    except BrokenPipeError:
        raise
    except OSError as error:
        where = f" {error.filename!r}" if error.filename else ""
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            return _report_error(ExitCode.FAILED, error, f"the disk is full{where}; make room and run it again")
        message = f"cannot use{where}: {error.strerror or error}; check that it exists and can be written"
        return _report_error(ExitCode.FAILED, error, message)
    except Exception as error:  # noqa: BLE001 - the program's outermost border: a bug must not show a traceback
        advice = "a bug in novelgen: run again with `--log-level debug` before the command and report it"
        return _report_error(ExitCode.FAILED, error, f"{type(error).__name__}: {error} ({advice})")
    return result if isinstance(result, int) else ExitCode.DONE


def _report_error(code: ExitCode, error: BaseException, message: str) -> int:
    logger.debug("ended with exit code %d", code, exc_info=error)
    click.echo(with_quoted_arguments(in_words("error: " + " ".join(message.split()))), err=True)
    return code


_OF_ONE_MEANING = (
    frozenset({"--cast", "--with", "--characters"}),
    frozenset({"--at", "--scene", "--from", "--location"}),
)
"""Options that different commands have for one thing."""


def _advice_on_option(error: click.UsageError) -> str | None:
    """Return the message of a wrong option whose meaning another one of the command has."""
    if not isinstance(error, click.NoSuchOption) or error.ctx is None:
        return None
    own_options = {name for parameter in error.ctx.command.params for name in parameter.opts}
    alike = next((names for names in _OF_ONE_MEANING if error.option_name in names), frozenset())
    names = [repr(name) for name in sorted(alike & own_options)]
    if not names:
        return None
    if len(names) == 1:
        return f"No such option {error.option_name!r}. Did you mean {names[0]}?"
    return f"No such option {error.option_name!r}. (Did you mean one of: {', '.join(names)}?)"


def _usage_message(error: click.UsageError) -> str:
    command = error.ctx.command_path if error.ctx else "novelgen"
    message = _advice_on_option(error) or " ".join(error.format_message().rstrip(".").split())
    text = in_words(f"see '{command} --help'")
    if message.endswith("?"):
        return f"{in_words(message)} {text[:1].upper()}{text[1:]}"
    return f"{in_words(message)}{'；' if text.startswith('见') else '; '}{text}"


def silence_stdout() -> None:
    """Let the interpreter's last flush go nowhere instead of failing."""
    with contextlib.suppress(OSError, ValueError):
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, sys.stdout.fileno())
        os.close(null)


_ISSUE = "%s %s: %s"
"""The record of an issue: stage, kind, message."""


class _StderrHandler(logging.StreamHandler[TextIO]):
    """Writes to whatever stderr is at the time, a warning that repeats only once a run."""

    def __init__(self) -> None:
        super().__init__()
        self.told: set[tuple[str, str]] = set()
        self.tells_issues = True

    def emit(self, record: logging.LogRecord) -> None:
        if record.msg == _ISSUE and not self.tells_issues:
            return
        if record.levelno == logging.WARNING:
            warning = (record.name, record.getMessage())
            if warning in self.told:
                return
            self.told.add(warning)
        self.stream = sys.stderr
        super().emit(record)


class _Formatter(logging.Formatter):
    """Log formatter that translates warnings.

    A record is one line, and those of its traceback are indented: nothing that is quoted looks like another record.
    """

    def format(self, record: logging.LogRecord) -> str:
        if record.levelno < logging.WARNING or language_of_reader() == "en":
            return super().format(record)
        if record.msg == _ISSUE and isinstance(record.args, tuple):
            stage, kind, message = map(str, record.args)
            return on_one_line(in_words("warning: ") + view_labels_for().issue(stage, kind, message))
        return on_one_line(in_words(f"warning: {record.getMessage()}"))

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802 - the name in `logging`
        return on_one_line(super().formatMessage(record))

    def formatException(self, ei: Any) -> str:  # noqa: N802 - as above
        lines = super().formatException(ei).splitlines()
        return "\n".join(f"  {on_one_line(line)}" for line in lines)


def on_one_line(text: str) -> str:
    """Return a text with its line breaks and control characters written as escapes."""
    return "".join(
        character.encode("unicode_escape").decode() if _is_control(character) else character for character in text
    )


def _is_control(character: str) -> bool:
    return unicodedata.category(character) in ("Cc", "Zl", "Zp")


@contextlib.contextmanager
def issues_told_in_answer() -> Iterator[None]:
    """Keep issues off stderr while an answer is made that tells them itself."""
    handlers = [handler for handler in logging.getLogger().handlers if isinstance(handler, _StderrHandler)]
    for handler in handlers:
        handler.tells_issues = False
    try:
        yield
    finally:
        for handler in handlers:
            handler.tells_issues = True


def configure_logging(level_name: str) -> None:
    """Send logs to stderr, never to stdout."""
    level = logging.getLevelName(level_name.upper())
    root = logging.getLogger()
    handlers = [handler for handler in root.handlers if isinstance(handler, _StderrHandler)]
    for handler in handlers:
        handler.told.clear()
    if not handlers:
        handler = _StderrHandler()
        handler.setFormatter(_Formatter("%(levelname)s %(name)s: %(message)s"))
        root.addHandler(handler)
    root.setLevel(max(level, logging.WARNING))
    for name in _OWN_LOGGERS:
        logging.getLogger(name).setLevel(level)
