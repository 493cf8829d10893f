"""The manifest of all commands is what methods and `operation_commands` say: nothing gets lost in silence."""

import json
import re

import click
import pytest

from runtime.doors.cli.generated import _names_of, described_commands, run
from runtime.doors.cli.main import MANIFEST_FILE, command_at
from runtime.doors.cli.operation_commands import GROUPS, OPERATION_COMMANDS, SECTIONS
from runtime.settings import MemorySettings
from tests.regenerate import HOW


@pytest.mark.parametrize("setting", ["memory_budget", "state_budget", "timeline_budget"])
def test_the_defaults_that_help_tells_are_those_of_the_settings(setting: str) -> None:
    """Where an option of a context stands for a setting, its help names that setting's number."""
    described = {name: each for each in described_commands()["context"]["options"] for name in each["names"]}
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


def test_the_manifest_tells_what_methods_and_entries_say() -> None:
    """Commands are made of the manifest: one that goes, comes or takes something else shows in it."""
    assert MANIFEST_FILE.read_text(encoding="utf-8") == manifest_text(), HOW


@pytest.mark.parametrize("arguments", [{"memory_id": "M1"}, {"memory_id": "M1", "start": "2:1", "mood": "uneasy"}])
def test_a_manifest_unlike_its_method_names_the_generator(arguments: dict[str, str]) -> None:
    """An argument that came or went before the manifest was written anew is no bug of the program."""
    with pytest.raises(click.ClickException, match=r"(start|mood).*python -m tests\.regenerate"):
        run("memory end", "demo", False, **arguments)


def test_commands_pass_on_what_is_described() -> None:
    """The comparison with the manifest refuses no command whose manifest is of today."""
    of_every_command = {"project", "as_json", "is_confirmed", "shows_all"}
    described = described_commands()
    for path in (entry.command for entry in OPERATION_COMMANDS.values()):
        command = command_at(path)
        assert command is not None, path
        names = {parameter.name for parameter in command.params} - of_every_command
        assert _names_of(described[path]) == names, path


if __name__ == "__main__":
    MANIFEST_FILE.write_text(manifest_text(), encoding="utf-8")
