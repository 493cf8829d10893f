"""The help of every command in Chinese."""

import re

import click
import pytest
from click.testing import CliRunner

from novelgen.words import entries
from runtime.doors.cli import chinese_help
from runtime.doors.cli.chinese_help import ChineseHelp
from runtime.doors.cli.labels import speak
from runtime.doors.cli.main import novelgen

_ENGLISH = re.compile(r"[a-z]+(?: [a-z]+){3}")


def helps(group: click.Group, context: click.Context) -> list[str]:
    """Return the help of a group and of all below it."""
    told = [group.get_help(context)]
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        below = click.Context(command, info_name=name, parent=context)
        told += helps(command, below) if isinstance(command, click.Group) else [command.get_help(below)]
    return told


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> set[str]:
    """Catalogue entries that were asked for."""
    found: set[str] = set()

    class Noting(dict[str, str]):
        def __getitem__(self, key: str) -> str:
            found.add(key)
            return super().__getitem__(key)

    catalogue = Noting(entries("help.zh"))
    monkeypatch.setattr(chinese_help, "_catalogue", lambda: catalogue)
    monkeypatch.setattr(click.Context, "formatter_class", ChineseHelp)
    return found


def test_the_help_of_every_command_is_chinese(asked: set[str]) -> None:
    """No English sentence is left but examples, and the catalogue has no words that nothing says."""
    told = "\n".join(helps(novelgen, click.Context(novelgen, info_name="novelgen", **novelgen.context_settings)))
    left = [line for line in told.splitlines() if _ENGLISH.search(line) and " novelgen " not in line]
    assert left == [], "give these a line in novelgen/words/help.zh.toml, English = Chinese"
    assert sorted(set(entries("help.zh")) - asked) == []


def test_help_is_wrapped_by_the_width_of_its_characters(monkeypatch: pytest.MonkeyPatch) -> None:
    """A line of Chinese takes no more columns than the terminal has, and no line begins with a full stop."""
    monkeypatch.setenv("NOVELGEN_LANG", "zh")
    monkeypatch.setenv("COLUMNS", "80")
    lines = CliRunner().invoke(novelgen, ["import", "--help"]).output.splitlines()
    assert lines[0].startswith("用法：novelgen import")
    assert max(chinese_help.cell_len(line) for line in lines if "novelgen import" not in line) <= 82
    assert not any(line.strip().startswith(("。", "，")) for line in lines)


def test_help_is_english_for_english_readers(monkeypatch: pytest.MonkeyPatch) -> None:
    """One run in Chinese, or about a Chinese story, changes nothing for the next."""
    for language, first in (("zh", "用法："), ("en", "Usage: ")):
        monkeypatch.setenv("NOVELGEN_LANG", language)
        assert CliRunner().invoke(novelgen, ["card", "--help"]).output.startswith(first)
    monkeypatch.delenv("NOVELGEN_LANG")
    monkeypatch.setenv("LC_ALL", "C.UTF-8")
    speak("zh")
    assert CliRunner().invoke(novelgen, ["card", "--help"]).output.startswith("Usage: ")
