"""Every command with its arguments and options, held against an inventory: nothing gets lost in silence.

After a change that is meant, and told in CHANGELOG.md: `python -m tests.runtime.doors.cli.test_inventory`.
"""

import json
import re
from pathlib import Path

import click

from runtime.doors.cli.generated import described_commands
from runtime.doors.cli.main import novelgen
from runtime.doors.cli.manifest import MANIFEST_FILE
from runtime.doors.cli.offers import GROUPS, SECTIONS
from runtime.settings import MemorySettings

INVENTORY = Path(__file__).with_name("commands.json")


def told(parameter: click.Parameter) -> str:
    """Return a parameter in a line: its spellings, and what it takes."""
    if isinstance(parameter, click.Option):
        spellings = [*parameter.opts, *parameter.secondary_opts]
        takes = "" if parameter.is_flag else f" {_taken(parameter.type)}"
    else:
        spellings, takes = [str(parameter.human_readable_name).upper()], f" {_taken(parameter.type)}"
    many = " repeatable" if parameter.multiple or parameter.nargs != 1 else ""
    return f"{' '.join(spellings)}{takes}{many}{' required' if parameter.required else ''}"


def _taken(kind: click.ParamType) -> str:
    return "|".join(map(str, kind.choices)) if isinstance(kind, click.Choice) else kind.name


def commands_of(group: click.Group, context: click.Context, path: str = "") -> dict[str, list[str]]:
    """Return the parameters of all commands below a group, by the words that call them."""
    found: dict[str, list[str]] = {}
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        if isinstance(command, click.Group):
            found |= commands_of(command, context, f"{path}{name} ")
        else:
            found[path + name] = sorted(map(told, command.params))
    return found


def test_every_command_has_the_arguments_and_options_that_the_inventory_tells() -> None:
    """A command, an argument or an option that goes, comes or takes something else shows in the inventory."""
    expected = json.loads(INVENTORY.read_text(encoding="utf-8"))
    assert commands_of(novelgen, click.Context(novelgen)) == expected


def test_the_defaults_that_help_tells_are_those_of_the_settings() -> None:
    """Where an option of a context stands for a setting, its help names that setting's number."""
    described = {name: each for each in described_commands()["context"]["options"] for name in each["names"]}
    for setting in ("memory_budget", "state_budget", "timeline_budget"):
        told_default = re.search(r"\[default: (\d+)\]", described[f"--{setting.replace('_', '-')}"]["help"])
        assert told_default
        assert int(told_default[1]) == getattr(MemorySettings(), setting)


def manifest_text() -> str:
    """Return what the manifest should hold, a command a line."""
    lines = [
        f"{json.dumps(path)}: {json.dumps(told, ensure_ascii=False)}" for path, told in described_commands().items()
    ]
    commands = ",\n".join(lines)
    sections, groups = json.dumps(SECTIONS), json.dumps(GROUPS, ensure_ascii=False)
    return f'{{"sections": {sections},\n"groups": {groups},\n"commands": {{\n{commands}\n}}}}\n'


def test_the_manifest_tells_what_methods_and_offers_say() -> None:
    """Help is read out of the manifest: it must say what the commands take, and no command may miss."""
    assert MANIFEST_FILE.read_text(encoding="utf-8") == manifest_text(), f"{__doc__}"


if __name__ == "__main__":
    MANIFEST_FILE.write_text(manifest_text(), encoding="utf-8")
    _text = json.dumps(commands_of(novelgen, click.Context(novelgen)), indent=1, ensure_ascii=False)
    INVENTORY.write_text(_text + "\n", encoding="utf-8")
