"""The commands, made of a manifest of what each takes: their help does without the story, and without their code.

`manifest.json` holds what `generated` reads out of methods, `offers` and `commands.toml`: a test compares both, and
`python -m tests.runtime.doors.cli.test_inventory` writes it anew.
"""

import importlib
import json
from functools import cache, partial
from pathlib import Path
from typing import Any

import click

from runtime.doors.cli import parameters

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
    "stream": click.File(encoding="utf-8"),
    "chapter": click.IntRange(min=0),
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
    read: dict[str, Any] = json.loads(MANIFEST_FILE.read_text(encoding="utf-8"))
    return read


def help_of(path: str) -> str:
    """Return the help of a command, or of a group of them."""
    told: str = manifest()["groups"].get(path) or manifest()["commands"][path]["help"]
    return told


@cache
def command_at(path: str) -> click.Command | None:
    """Return the command that stands at a path, or the group of those below it."""
    if path in manifest()["groups"]:
        return _Group(path, help=help_of(path))
    told = manifest()["commands"].get(path)
    return None if told is None else _command(path, told)


class _Group(parameters.CommandGroup):
    """A group of commands, each of which is made when it is asked for."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of the commands."""
        begin = f"{self.name} "
        return sorted(each.removeprefix(begin) for each in manifest()["commands"] if begin in each)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return a command, or None when there is none of that name."""
        return command_at(f"{self.name} {cmd_name}")


def _command(path: str, told: dict[str, Any]) -> click.Command:
    def run(**given: Any) -> None:
        if "code" not in told:
            from runtime.doors.cli import generated

            generated.run(path, **given)
            return
        module, _, function = told["code"].partition(":")
        code = importlib.import_module(f"runtime.doors.cli.commands.{module}")
        getattr(code, function)(click.get_current_context().obj, **given)

    project = told.get("project", "required")
    first = [] if project == "none" else [_PROJECT | {"is_required": project == "required"}]
    asked = {"json": _JSON, "asks": _YES, "is_long": _ALL}
    last = [option for name, option in asked.items() if told.get(name, name == "json")]
    return click.Command(
        path.rpartition(" ")[2],
        callback=run,
        help=told["help"],
        epilog=told["epilog"],
        params=[
            *map(_argument, (*first, *told.get("arguments", ()))),
            *map(_option, (*told.get("options", ()), *last)),
        ],
    )


def _argument(told: dict[str, Any]) -> click.Argument:
    many, kind = -1 if told.get("is_many") else 1, _kind(told.get("kind", "text"))
    is_required, metavar = told.get("is_required", True), told.get("metavar")
    return click.Argument([told["name"]], type=kind, nargs=many, required=is_required, metavar=metavar)


def _option(told: dict[str, Any]) -> click.Option:
    kind, default = told.get("kind", "flag"), told.get("default", False)
    option = partial(click.Option, told["names"], help=told["help"])
    if kind == "flag":
        # Neither way of two that nobody chose.
        return option(is_flag=True, default=None if default == "none" else default)
    return option(
        type=_kind(kind),
        multiple=told.get("is_many", False),
        required=told.get("is_required", False),
        metavar=told.get("metavar"),
        callback=_read if kind == "file_text" else None,
        **({"default": default, "show_default": bool(default)} if "default" in told else {}),
    )


def _kind(told: Any) -> click.ParamType:
    if isinstance(told, list):
        return click.Choice(told)
    if isinstance(told, str):
        return _KINDS[told]
    is_whole, low, high = told["number"] == "int", told.get("min"), told.get("max")
    if low is None and high is None:
        return click.INT if is_whole else click.FLOAT
    return (click.IntRange if is_whole else click.FloatRange)(low, high)


def _read(context: click.Context, parameter: click.Parameter, file: Any) -> str | None:
    from runtime.files.file_reading import read_text_file

    return None if file is None else read_text_file(file)
