"""Shared command parts: options, arguments, confirmation, opening projects."""

from __future__ import annotations

import gc
import json
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from novelgen.errors import UserInputError
from novelgen.nearest import nearest_names
from runtime.doors.cli.error_handling import ExitCode
from runtime.doors.cli.labels import ViewLabels, in_words, speak, view_labels_for

if TYPE_CHECKING:
    from runtime.stores import MemoryStores
    from runtime.story.projects import ProjectStores


# Longer numbers are out of bounds anyway, and Python refuses to read very long ones.
_NUMBER = re.compile(r"[0-9]{1,12}")
_WHOLE_NUMBER = re.compile(r"[+-]?[0-9]{1,6}")


@dataclass(frozen=True, slots=True)
class CliSession:
    """The options that stand before the command."""

    projects_dir: Path


class CommandGroup(click.Group):
    """A command group with help by default and suggestions for misspelt commands."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the group's options, showing help without arguments."""
        if not args and not self.invoke_without_command:
            click.echo(ctx.get_help(), color=ctx.color)
            ctx.exit(ExitCode.DONE)
        return super().parse_args(ctx, args)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command that is named."""
        name = args[0]
        if not name.startswith("-") and self.get_command(ctx, name) is None:
            near = nearest_names(name, self.list_commands(ctx), at_most=2)
            advice = f" Did you mean {' or '.join(map(repr, near))}?" if near else ""
            raise click.UsageError(f"No such command {name!r}.{advice}", ctx)
        return super().resolve_command(ctx, args)


class Typed(click.ParamType):
    """A value validated on input, and resolved by the story."""

    def __init__(self, name: str, convert: Callable[[str], Any]) -> None:
        self.name = name
        self._read = convert

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the converted value."""
        try:
            return self._read(value) if isinstance(value, str) else value
        except UserInputError as error:
            self.fail(str(error), param, ctx)


def _position(text: str) -> str:
    from novelgen.models.position import CHAPTER_NAME, SCENE_LABEL, StoryPosition

    parts = text.split(":")
    if len(parts) <= 2 and all(_NUMBER.fullmatch(part) for part in parts):
        StoryPosition(*map(int, parts))
    elif not (SCENE_LABEL.fullmatch(text) or re.fullmatch(CHAPTER_NAME, text)):
        raise UserInputError(f"{text[:80]!r} is no position; write chapter:scene such as 3:2, or a chapter such as 3")
    return text


class ChapterParameter(click.IntRange):
    """A number, the heading of a chapter, which the story knows, or the whole place of a scene."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the number, or the text."""
        from novelgen.models.position import CHAPTER_NAME

        if isinstance(value, str) and (re.fullmatch(CHAPTER_NAME, value) or re.fullmatch(r"[0-9]+:[0-9]+", value)):
            return value
        return super().convert(value, param, ctx)


def _moment(text: str) -> str:
    from runtime.doors.arguments import moment

    moment(text)
    return text


def _dimension(text: str) -> tuple[str, int]:
    from novelgen.models.state import DIMENSION_RANGES

    name, _, number = (part.strip() for part in text[:80].partition("="))
    ranges = {str(dimension_range): bounds for dimension_range, bounds in DIMENSION_RANGES.items()}
    if name not in ranges:
        raise UserInputError(f"{name!r} is no dimension; write one of {', '.join(ranges)}, such as trust=40")
    lowest, highest = ranges[name]
    if not _WHOLE_NUMBER.fullmatch(number) or not lowest <= int(number) <= highest:
        raise UserInputError(f"{name}={number!r} is no whole number from {lowest} to {highest}")
    return name, int(number)


def _change(text: str) -> tuple[str, Any]:
    field, sign, value = text.partition("=")
    if not sign or not field.strip():
        raise UserInputError(f"{text!r} is no change; write FIELD=VALUE such as role=minor")
    return field.strip(), json_or_text(value)


def json_or_text(text: str) -> Any:
    """Return typed JSON, or the text itself."""
    try:
        return json.loads(text)
    except ValueError:
        return text


POSITION = Typed("C:S", _position)
MOMENT = Typed("S:T|TIME", _moment)
DIMENSION = Typed("NAME=VALUE", _dimension)
CHANGE = Typed("NAME=VALUE", _change)


class StoryText(click.ParamType):
    """The text of any importable file, with - for stdin."""

    name = "filename"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the text."""
        from runtime.files.file_reading import decoded_text, unknown_encoding
        from runtime.files.manuscripts import read_draft

        if value != "-":
            if not Path(value).exists():
                self.fail(f"{str(value)!r} does not exist; check the path", param, ctx)
            return read_draft(Path(value), may_be_pipe=True)
        data = sys.stdin.buffer.read()
        decoded = decoded_text(data)
        if decoded is None:
            raise unknown_encoding(Path("-"), data, decoded)
        return decoded.text


FILE = click.Path(path_type=Path, dir_okay=False)
FOLDER = click.Path(path_type=Path, file_okay=False)
COUNT = click.IntRange(min=1)


def changes_by_field(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    """Return changes by field.

    Only words for other names may repeat.
    """
    from novelgen.card_fields import NAME_WORDS
    from novelgen.language.name_lists import split_names

    changes: dict[str, Any] = {}
    for field, value in pairs:
        if field.casefold() in NAME_WORDS and not isinstance(value, list):
            names = split_names([value]) if isinstance(value, str) else [value]
            changes["alias"] = [*changes.get("alias", []), *names]
        elif field == "alias":
            changes[field] = [*changes.get(field, []), *value]
        elif field in changes:
            raise click.UsageError(f"{field!r} is given twice: {changes[field]!r} and {value!r}; give one value")
        else:
            changes[field] = value
    return changes


def can_ask() -> bool:
    """Return whether a user at a terminal can answer."""
    return sys.stdin.isatty()


def is_agreed(action: str) -> bool:
    """Ask at the terminal whether to do something."""
    text = in_words(action)
    question = f"{text[:1].upper()}{text[1:]}?" if text.isascii() else f"{text}？"
    return click.confirm(question, err=True)


def require_confirmation(action: str, *, is_confirmed: bool) -> None:
    """Ask before something is taken away for good."""
    if is_confirmed:
        return
    if not can_ask():
        raise UserInputError(f"about to {action}, and no terminal to ask at; add --yes to do it")
    if not is_agreed(action):
        click.echo(in_words("nothing was changed"), err=True)
        raise click.exceptions.Exit(ExitCode.FAILED)


@contextmanager
def opened_stores(session: CliSession, project_id: str | None = None, **overrides: Any) -> Iterator[MemoryStores]:
    """Yield stores, and close them at the end."""
    from runtime.settings import load_settings
    from runtime.stores import MemoryStores
    from runtime.story.projects import project_settings

    settle_imports()
    if project_id is None:
        settings = load_settings(projects_dir=session.projects_dir, **overrides)
    else:
        settings = project_settings(session.projects_dir, project_id, **overrides)
    with MemoryStores(settings) as stores:
        if project_id is not None:
            speak(_language_where_stored(stores, project_id))
        yield stores


@contextmanager
def opened_project(session: CliSession, project_id: str, **overrides: Any) -> Iterator[MemoryStores]:
    """Give the stores of a project that must be stored."""
    from runtime.story.projects import StoryProjects

    with opened_stores(session, project_id, **overrides) as stores:
        StoryProjects(stores, project_id).require_stored()
        yield stores


def opened_shelf(session: CliSession) -> ProjectStores:
    """Return the stores of all projects, to be closed."""
    from runtime.story.projects import ProjectStores

    settle_imports()
    return ProjectStores({"projects_dir": session.projects_dir})


def story_language(stores: MemoryStores, project_id: str) -> str:
    """Return a stored story's language, empty if unknown."""
    from runtime.story.projects import StoryProjects

    return StoryProjects(stores, project_id).language_of_project()


def _language_where_stored(stores: MemoryStores, project_id: str) -> str:
    """Return the language of a stored story, of any other that of its name where it is Chinese, else none."""
    from novelgen.errors import NovelgenError
    from novelgen.language.language import story_language as language_of

    try:
        if project_id in stores.project_ids():
            return story_language(stores, project_id)
    except NovelgenError:
        pass
    return "zh" if language_of(project_id) == "zh" else ""


def story_labels(stores: MemoryStores, project_id: str) -> ViewLabels:
    """Return the words of a stored project's views, in the language of its story."""
    return view_labels_for(story_language(stores, project_id))


def labels_where_stored(stores: MemoryStores, project_id: str, *, else_of: str = "") -> ViewLabels:
    """Return the labels of a stored project, or of a text's language."""
    from novelgen.errors import NovelgenError
    from novelgen.language.language import story_language as language_of

    try:
        return story_labels(stores, project_id)
    except NovelgenError:
        return view_labels_for(language_of(else_of) if else_of else "")


YOUNG_OBJECTS = 50_000
"""After so many new objects the collector looks; Python's 700 cost a context of 100,000 memories a tenth more."""


@cache
def settle_imports() -> None:
    """Freeze imported objects for the garbage collector, once.

    Else it looks through half a million objects of the libraries again and again while a context of a large
    project is built. And it looks less often: reading 100,000 memories makes nothing but what stays.
    """
    gc.freeze()
    gc.set_threshold(YOUNG_OBJECTS)
    gc.enable()
