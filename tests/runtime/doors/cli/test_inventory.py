"""The manifest of all commands is what methods and `operation_commands` say: nothing gets lost in silence."""

import json
import re

import pytest

from runtime.doors.cli.generated import described_commands
from runtime.doors.cli.main import MANIFEST_FILE
from runtime.doors.cli.operation_commands import GROUPS, SECTIONS
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


if __name__ == "__main__":
    MANIFEST_FILE.write_text(manifest_text(), encoding="utf-8")
