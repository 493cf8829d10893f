"""The program `novelgen`: its commands, one line each, and its own options.

A command is made of the manifest when it is asked for, and its code is imported when it runs, so that `--help` stays
fast.
"""

import gc
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from runtime.doors.cli import error_handling
from runtime.doors.cli.labels import language_of_reader
from runtime.doors.cli.manifest import command_at, help_of, manifest
from runtime.doors.cli.parameters import CliSession, CommandGroup

FORMER_NAMES = {"loop": "thread"}
"""Former name of a command to the one that it has now; it still works and is not shown."""

_EXAMPLES = """\b
Examples:
  novelgen init my-novel
  novelgen ingest my-novel
  novelgen context my-novel --chapter 6 --scene 2"""
_EXIT_CODES = "\b\nExit codes:\n" + "\n".join(
    f"  {code.value:<4} {text}" for code, text in error_handling.EXIT_CODE_MEANINGS.items()
)

NOT_INSTALLED = "from a checkout"


class _Program(CommandGroup):
    """The outermost group: errors end as one line and an exit code, whoever calls it."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of all commands in the order of the help."""
        return [name for names in manifest()["sections"].values() for name in names]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return a command, or None when there is none of that name."""
        name = FORMER_NAMES.get(cmd_name, cmd_name)
        return command_at(name) if name in self.list_commands(ctx) else None

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the commands, one list per section."""
        width = max(map(len, self.list_commands(ctx)))
        for heading, names in manifest()["sections"].items():
            commands = [click.Command(name, help=help_of(name)) for name in names]
            rows = [
                (str(each.name).ljust(width), each.get_short_help_str(formatter.width - 6 - width)) for each in commands
            ]
            with formatter.section(heading):
                formatter.write_dl(rows)

    def main(self, *arguments: Any, **options: Any) -> Any:
        """Run a command and end the process with its exit code."""
        options["standalone_mode"] = False
        for stream in (sys.stdout, sys.stderr):
            reconfigure = getattr(stream, "reconfigure", None)
            if reconfigure is not None:
                reconfigure(errors="backslashreplace")

        def run() -> Any:
            click.Context.formatter_class = _formatter()
            return super(_Program, self).main(*arguments, **options)

        sys.exit(error_handling.run_guarded(run))

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; a reader that closes the output early is no failure: `novelgen search … | head`."""
        try:
            return super().invoke(ctx)
        except BrokenPipeError:
            error_handling.silence_stdout()
            ctx.exit(error_handling.ExitCode.DONE)


def _formatter() -> type[click.HelpFormatter]:
    """Return what writes help: in Chinese where that is the language of who reads it."""
    if language_of_reader() != "zh":
        return click.HelpFormatter
    from runtime.doors.cli.chinese_help import ChineseHelp

    return ChineseHelp


def _print_version(context: click.Context, _: click.Parameter, is_asked: bool) -> None:
    if is_asked:
        click.echo(f"novelgen {program_version()}")
        context.exit()


@click.group(
    cls=_Program,
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
    type=click.Choice(error_handling.LOG_LEVELS, case_sensitive=False),
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
    error_handling.configure_logging(log_level)
    context.obj = CliSession(projects_dir=projects_dir)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the program and end the process with its exit code."""
    # A seventh of a short command's time: while libraries are imported there is nothing to collect. `opening` ends it.
    gc.disable()
    # Pydantic looks for plugins in every installed package; who has one sets this to nothing.
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
    novelgen.main(args=arguments, prog_name="novelgen")


def program_version() -> str:
    """Return the installed version, or a word for a checkout that is not installed."""
    import importlib.metadata

    try:
        return importlib.metadata.version("novelgen")
    except importlib.metadata.PackageNotFoundError:
        return NOT_INSTALLED
