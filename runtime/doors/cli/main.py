"""The program `novelgen`: its own options, and its commands, each made of a manifest when it is asked for.

`manifest.json` holds what `generated` reads out of methods, `operation_commands` and `commands.toml`: a test compares
both, and `python -m tests.runtime.doors.cli.test_inventory` writes it anew. Help does without the story, and without
the code of commands, which is imported when it runs.
"""

import gc
import importlib
import json
import os
import sys
from collections.abc import Sequence
from functools import cache, partial
from pathlib import Path
from typing import Any

import click

from runtime.doors.cli import error_handling, parameters
from runtime.doors.cli.labels import language_of_reader
from runtime.doors.cli.parameters import CliSession, CommandGroup
from runtime.doors.cli.shell import note_arguments

MANIFEST_FILE = Path(__file__).with_name("manifest.json")

_KINDS: dict[str, click.ParamType] = {
    "text": click.STRING,
    "flag": click.BOOL,
    "position": parameters.POSITION,
    "moment": parameters.MOMENT,
    "dimension": parameters.DIMENSION,
    "change": parameters.CHANGE,
    "file_text": parameters.FILE,
    "file": parameters.FILE,
    "new_file": click.Path(path_type=Path, dir_okay=False, writable=True),
    "folder": parameters.FOLDER,
    "path": click.Path(path_type=Path),
    "story_text": parameters.StoryText(),
    "chapter": parameters.ChapterParameter(min=0),
    "count": parameters.COUNT,
    "tokens": click.IntRange(min=0, max=1_000_000),
}

_PROJECT = {"name": "project"}
_YES = {"names": ["--yes", "-y", "is_confirmed"], "help": "Do it without asking."}
_JSON = {"names": ["--json", "as_json"], "help": "Print JSON, and nothing else, on stdout."}
_ALL = {"names": ["--all", "shows_all"], "help": "Show every row, on a terminal too."}


@cache
def manifest() -> dict[str, Any]:
    """Return the sections of the help, help of groups by their names, and commands by the words that call them."""
    parsed_fields: dict[str, Any] = json.loads(MANIFEST_FILE.read_text(encoding="utf-8"))
    return parsed_fields


def help_of(path: str) -> str:
    """Return the help of a command, or of a group of them."""
    text: str = manifest()["groups"].get(path) or manifest()["commands"][path]["help"]
    return text


@cache
def command_at(path: str) -> click.Command | None:
    """Return the command that stands at a path, or the group of those below it."""
    if path in manifest()["groups"]:
        return _Group(path, help=help_of(path))
    text = manifest()["commands"].get(path)
    return None if text is None else _command(path, text)


class _Group(parameters.CommandGroup):
    """A group of commands, each of which is made when it is asked for."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of the commands."""
        begin = f"{self.name} "
        return sorted(item.removeprefix(begin) for item in manifest()["commands"] if begin in item)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return a command, or None when there is none of that name."""
        return command_at(f"{self.name} {cmd_name}")


def _command(path: str, fields: dict[str, Any]) -> click.Command:
    def run(**arguments: Any) -> None:
        if "code" not in fields:
            from runtime.doors.cli import generated

            generated.run(path, **arguments)
            return
        module, _, function = fields["code"].partition(":")
        code = importlib.import_module(f"runtime.doors.cli.commands.{module}")
        getattr(code, function)(click.get_current_context().obj, **arguments)

    project = fields.get("project", "required")
    first = [] if project == "none" else [_PROJECT | {"is_required": project == "required"}]
    requested_fields = {"json": _JSON, "asks": _YES, "is_long": _ALL}
    last = [option for name, option in requested_fields.items() if fields.get(name, name == "json")]
    return click.Command(
        path.rpartition(" ")[2],
        callback=run,
        help=fields["help"],
        epilog=fields["epilog"],
        params=[
            *map(_argument, (*first, *fields.get("arguments", ()))),
            *map(_option, (*fields.get("options", ()), *last)),
        ],
    )


def _argument(fields: dict[str, Any]) -> click.Argument:
    many, kind = -1 if fields.get("is_many") else 1, _kind(fields.get("kind", "text"))
    is_required, metavar = fields.get("is_required", True), fields.get("metavar")
    callback = _read if fields.get("kind") == "file_text" else None
    return click.Argument(
        [fields["name"]], type=kind, nargs=many, required=is_required, metavar=metavar, callback=callback
    )


def _option(fields: dict[str, Any]) -> click.Option:
    kind, default = fields.get("kind", "flag"), fields.get("default", False)
    option = partial(click.Option, fields["names"], help=fields["help"])
    if kind == "flag":
        # Neither way of two that nobody chose.
        return option(is_flag=True, default=None if default == "none" else default)
    return option(
        type=_kind(kind),
        multiple=fields.get("is_many", False),
        required=fields.get("is_required", False),
        metavar=fields.get("metavar"),
        callback=_read if kind == "file_text" else None,
        **({"default": default, "show_default": bool(default)} if "default" in fields else {}),
    )


def _kind(text: Any) -> click.ParamType:
    if isinstance(text, list):
        return click.Choice(text)
    if isinstance(text, str):
        return _KINDS[text]
    is_whole, low, high = text["number"] == "int", text.get("min"), text.get("max")
    if low is None and high is None:
        return click.INT if is_whole else click.FLOAT
    return (click.IntRange if is_whole else click.FloatRange)(low, high)


def _read(context: click.Context, parameter: click.Parameter, file: Any) -> str | None:
    from runtime.files.manuscripts import read_draft

    return None if file is None else read_draft(file, may_be_pipe=True)


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
        return command_at(cmd_name) if cmd_name in self.list_commands(ctx) else None

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the commands, one list per section."""
        width = max(map(len, self.list_commands(ctx)))
        for heading, names in manifest()["sections"].items():
            commands = [click.Command(name, help=help_of(name)) for name in names]
            rows = [
                (str(command.name).ljust(width), command.get_short_help_str(formatter.width - 6 - width))
                for command in commands
            ]
            with formatter.section(heading):
                formatter.write_dl(rows)

    def main(self, *arguments: Any, **options: Any) -> Any:
        """Run a command and end the process with its exit code."""
        options["standalone_mode"] = False
        note_arguments(map(str, options.get("args") or sys.argv[1:]))
        for stream in (sys.stdout, sys.stderr):
            reconfigure = getattr(stream, "reconfigure", None)
            if reconfigure is not None:
                reconfigure(errors="backslashreplace")

        def run() -> Any:
            click.Context.formatter_class = _formatter()
            return super(_Program, self).main(*arguments, **options)

        sys.exit(error_handling.run_guarded(run))

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command, accepting a closed output: `novelgen search … | head`."""
        try:
            return super().invoke(ctx)
        except BrokenPipeError:
            error_handling.silence_stdout()
            ctx.exit(error_handling.ExitCode.DONE)


def _formatter() -> type[click.HelpFormatter]:
    """Return the help formatter of the reader's language."""
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
