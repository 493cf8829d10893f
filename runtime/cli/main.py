"""The program `novelgen`."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from runtime.cli.border import run_guarded, silence_stdout
from runtime.cli.command_table import COMMAND_SECTIONS
from runtime.cli.exit_codes import EXIT_CODE_MEANINGS, ExitCode
from runtime.cli.lazy_group import LazyGroup
from runtime.cli.logs import LOG_LEVELS, configure_logging
from runtime.cli.session import CliSession
from runtime.cli.version import program_version

_EXAMPLES = """\b
Examples:
  novelgen init my-novel
  novelgen ingest my-novel
  novelgen context my-novel --chapter 6 --scene 2"""
_EXIT_CODES = "\b\nExit codes:\n" + "\n".join(
    f"  {code.value:<4} {text}" for code, text in EXIT_CODE_MEANINGS.items()
)


class _Program(LazyGroup):
    """The outermost group: errors end as one line and an exit code, whoever calls it."""

    def main(self, *arguments: Any, **options: Any) -> Any:
        """Run a command and end the process with its exit code."""
        options["standalone_mode"] = False
        _allow_every_character()
        sys.exit(run_guarded(lambda: super(_Program, self).main(*arguments, **options)))

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; a reader that closes the output early is no failure: `novelgen search … | head`."""
        try:
            return super().invoke(ctx)
        except BrokenPipeError:
            silence_stdout()
            ctx.exit(ExitCode.DONE)


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
    """Run the program and end the process with its exit code.

    Args:
        arguments: Command line without the program's name; None means the one of the process.
    """
    novelgen.main(args=arguments, prog_name="novelgen")


def _allow_every_character() -> None:
    """Escape what a terminal's encoding cannot show instead of failing on it."""
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="backslashreplace")
