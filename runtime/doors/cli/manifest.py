"""Commands of the table of operations, made of a manifest of what each takes: their help does without the story.

`manifest.json` holds what `generated` reads out of methods and `offers`: a test compares both, and `python -m
tests.runtime.doors.cli.test_inventory` writes it anew.
"""

import json
from functools import cache, partial
from pathlib import Path
from typing import Any

import click

from runtime.doors.cli.parameters import (
    CHANGE,
    DIMENSION,
    FILE,
    MOMENT,
    POSITION,
    CommandGroup,
    all_option,
    imported,
    json_option,
    project_argument,
    yes_option,
)

MANIFEST_FILE = Path(__file__).with_name("manifest.json")

HAND_WRITTEN = {
    "npc check": "npc:check",
    "npc secrets": "npc:secrets",
    "record edit": "texts:edit_record",
    "summary edit": "texts:edit_summary",
    "summary write": "texts:write_summaries",
}
"""Commands of groups that are else made of the table."""

_KINDS: dict[str, click.ParamType] = {
    "text": click.STRING,
    "flag": click.BOOL,
    "position": POSITION,
    "moment": MOMENT,
    "dimension": DIMENSION,
    "change": CHANGE,
    "file_text": FILE,
}


@cache
def manifest() -> dict[str, Any]:
    """Return help of the groups by their names, and the commands by the words that call them."""
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


class _Group(CommandGroup):
    """A group of commands of the table, and of those that are written by hand; each is made when it is asked for."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of the commands."""
        begin = f"{self.name} "
        return sorted(each.removeprefix(begin) for each in (*manifest()["commands"], *HAND_WRITTEN) if begin in each)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return a command, or None when there is none of that name."""
        path = f"{self.name} {cmd_name}"
        return imported(HAND_WRITTEN[path]) if path in HAND_WRITTEN else command_at(path)


def _command(path: str, told: dict[str, Any]) -> click.Command:
    def run(**given: Any) -> None:
        from runtime.doors.cli import generated

        generated.run(path, **given)

    command = click.Command(
        path.rpartition(" ")[2],
        callback=run,
        help=told["help"],
        epilog=told["epilog"],
        params=[*map(_argument, told["arguments"]), *map(_option, told["options"])],
    )
    for decorate in (yes_option if told["asks"] else None, all_option if told["is_long"] else None, json_option):
        command = command if decorate is None else decorate(command)
    project_argument(command)
    command.params.insert(0, command.params.pop())
    return command


def _argument(told: dict[str, Any]) -> click.Argument:
    many, kind = -1 if told["is_many"] else 1, _kind(told["kind"])
    return click.Argument([told["name"]], type=kind, nargs=many, required=told["is_required"], metavar=told["metavar"])


def _option(told: dict[str, Any]) -> click.Option:
    option = partial(click.Option, told["names"], help=told["help"])
    if told["kind"] == "flag":
        return option(is_flag=True, default=told.get("default", False))
    return option(
        type=_kind(told["kind"]),
        multiple=told.get("is_many", False),
        required=told.get("is_required", False),
        callback=_read if told["kind"] == "file_text" else None,
        **({"default": told["default"], "show_default": True} if "default" in told else {}),
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
