"""The program `novelgen`: its commands, one line each, and its own options.

A command's module is imported when the command is asked for, and imports its work when it runs, so that
`--help` stays fast.
"""

import gc
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click

from runtime.doors.cli.error_handling import (
    EXIT_CODE_MEANINGS,
    LOG_LEVELS,
    ExitCode,
    configure_logging,
    run_guarded,
    silence_stdout,
)
from runtime.doors.cli.labels import language_of_reader
from runtime.doors.cli.manifest import command_at, help_of
from runtime.doors.cli.parameters import CliSession, CommandGroup, imported

COMMAND_SECTIONS: dict[str, dict[str, str]] = {
    "Fill the memory": {
        "new": "projects:new",
        "init": "projects:init",
        "ingest": "filling:ingest",
        "import-book": "filling:import_book",
        "import": "filling:import_command",
        "index": "projects:index",
        "extract": "extract:extract",
        "note": "",
        "lore": "",
    },
    "Write the next scene": {
        "context": "context:context",
        "check": "check:check",
        "chunk-context": "texts:chunk_context",
        "summarize": "texts:summarize",
        "since": "",
    },
    "Look things up": {
        "search": "",
        "card": "",
        "entity": "",
        "character": "",
        "location": "",
        "knows": "",
        "relationship": "",
        "thread": "",
        "threads": "",
        "timeline": "",
        "projects": "projects:projects",
        "export": "filling:export",
    },
    "Play a character": {"npc": ""},
    "Open doors": {"serve": "serving:serve", "mcp": "serving:mcp"},
    "Put things right": {
        "undo": "",
        "memory": "",
        "record": "",
        "summary": "",
        "conflicts": "",
        "scene": "",
        "consolidate": "",
        "reindex": "projects:reindex",
        "doctor": "projects:doctor",
        "delete": "projects:delete",
    },
}
"""Section of the help to command to `module:attribute` below runtime/doors/cli/commands; empty: of the table."""

FORMER_NAMES = {"loop": "thread"}
"""Former name of a command to the one that it has now; it still works and is not shown."""

_EXAMPLES = """\b
Examples:
  novelgen init my-novel
  novelgen ingest my-novel
  novelgen context my-novel --chapter 6 --scene 2"""
_EXIT_CODES = "\b\nExit codes:\n" + "\n".join(f"  {code.value:<4} {text}" for code, text in EXIT_CODE_MEANINGS.items())

NOT_INSTALLED = "from a checkout"


class LazyGroup(CommandGroup):
    """A group over a table of commands, each of which is imported when it is asked for."""

    def __init__(self, *, sections: Mapping[str, Mapping[str, str]], **options: Any) -> None:
        super().__init__(**options)
        self._sections = sections
        self._targets = {name: target for entries in sections.values() for name, target in entries.items()}

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of all commands in the order of the table."""
        return list(self._targets)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import and return a command, or None when there is none of that name."""
        target = self._targets.get(FORMER_NAMES.get(cmd_name, cmd_name))
        if target is None:
            return None
        if target:
            return imported(target)
        return command_at(FORMER_NAMES.get(cmd_name, cmd_name))

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the commands, one list per section."""
        width = max(len(name) for name in self._targets)
        limit = formatter.width - 6 - width
        for heading, entries in self._sections.items():
            commands = [
                imported(target) if target else click.Command(name, help=help_of(name))
                for name, target in entries.items()
            ]
            rows = [
                (name.ljust(width), each.get_short_help_str(limit))
                for name, each in zip(entries, commands, strict=True)
            ]
            with formatter.section(heading):
                formatter.write_dl(rows)


class _Program(LazyGroup):
    """The outermost group: errors end as one line and an exit code, whoever calls it."""

    def main(self, *arguments: Any, **options: Any) -> Any:
        """Run a command and end the process with its exit code."""
        options["standalone_mode"] = False
        _allow_every_character()

        def run() -> Any:
            with _help_in_language_of_reader():
                return super(_Program, self).main(*arguments, **options)

        sys.exit(run_guarded(run))

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; a reader that closes the output early is no failure: `novelgen search … | head`."""
        try:
            return super().invoke(ctx)
        except BrokenPipeError:
            silence_stdout()
            ctx.exit(ExitCode.DONE)


@contextmanager
def _help_in_language_of_reader() -> Iterator[None]:
    """Let click write help in Chinese where that is the language of who reads it."""
    if language_of_reader() != "zh":
        yield
        return
    from runtime.doors.cli.chinese_help import ChineseHelp

    usual = click.Context.formatter_class
    click.Context.formatter_class = ChineseHelp
    try:
        yield
    finally:
        click.Context.formatter_class = usual


def _print_version(context: click.Context, _: click.Parameter, is_asked: bool) -> None:
    if is_asked:
        click.echo(f"novelgen {program_version()}")
        context.exit()


@click.group(
    cls=_Program,
    sections=COMMAND_SECTIONS,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog=f"{_EXAMPLES}\n\n{_EXIT_CODES}",
)
@click.option(
    "--projects-dir",
    type=click.Path(path_type=Path, file_okay=False),
    default=Path("projects"),
    envvar="NOVELGEN_PROJECTS_DIR",
    show_default=True,
    show_envvar=True,
    help="Folder that holds the projects.",
)
@click.option(
    "--log-level",
    type=click.Choice(LOG_LEVELS, case_sensitive=False),
    default="warning",
    show_default=True,
    help="What is logged to stderr; debug also shows tracebacks.",
)
@click.option(
    "--version",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_print_version,
    help="Show the version and exit.",
)
@click.pass_context
def novelgen(context: click.Context, projects_dir: Path, log_level: str) -> None:
    """A story memory for long fiction: what must the next scene not contradict, and what should it pick up?

    Options of the program stand before the command: novelgen --projects-dir DIR COMMAND PROJECT.
    """
    configure_logging(log_level)
    context.obj = CliSession(projects_dir=projects_dir)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the program and end the process with its exit code."""
    # A seventh of a short command's time: while libraries are imported there is nothing to collect. `opening` ends it.
    gc.disable()
    novelgen.main(args=arguments, prog_name="novelgen")


def program_version() -> str:
    """Return the installed version, or a word for a checkout that is not installed."""
    import importlib.metadata

    try:
        return importlib.metadata.version("novelgen")
    except importlib.metadata.PackageNotFoundError:
        return NOT_INSTALLED


def _allow_every_character() -> None:
    """Escape what a terminal's encoding cannot show instead of failing on it."""
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="backslashreplace")
