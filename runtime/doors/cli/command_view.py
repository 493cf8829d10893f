"""The view of an operation's result in a terminal, and the parts of commands that are code.

A column is `name=path`, and the path says what its cells show:

| path | shows | example |
|---|---|---|
| `a.b` | an attribute | `chunk.content` |
| `~a` | the word for an attribute's value, in the story's language | `~status` |
| `=a` | the name of the entity with that id | `=giver` |
| `?a` | yes, or nothing | `?undone_at` |
| `@`, `@a` | the position of the row, or of one of its parts | `@chunk` |
| `:f`, `:f/a` | the result of a function marked `cell`, for the row or for a part | `:names/chunk` |
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar

from novelgen.models.position import deadline_text
from novelgen.words import filled
from runtime.doors.cli import output
from runtime.doors.cli.labels import ViewLabels, view_labels_for

if TYPE_CHECKING:
    from novelgen.models.position import StoryPosition
    from runtime.stores import MemoryStores


Function = TypeVar("Function", bound=Callable[..., Any])


MAX_LISTED = 10
"""So many ids or names a line lists; `--json` has them all."""


@dataclass(frozen=True)
class View:
    """The context of a view: project, method arguments and other options."""

    stores: MemoryStores
    project: str
    language: str
    part: Any
    values: dict[str, Any]
    asked: Mapping[str, Any] = field(default_factory=dict)

    @cached_property
    def labels(self) -> ViewLabels:
        """Words in the story's language, with its author's names of chapters."""
        from runtime.story.base import chapter_names_of

        return view_labels_for(self.language).with_names(lambda: chapter_names_of(self.stores, self.project))

    @cached_property
    def names(self) -> dict[str, str]:
        """Display names of the entities by their ids, as of the position that is read at."""
        from runtime.story.base import entity_names

        as_of: StoryPosition | None = self.values.get("as_of")
        return entity_names(self.stores, self.project, as_of=as_of)

    @cached_property
    def scene_places(self) -> dict[str, str]:
        """Places of the stored scenes by their own ids, such as S117."""
        from runtime.story.scenes import StoryScenes

        listed_scenes = [listed_scene.scene for listed_scene in StoryScenes(self.stores, self.project).list()]
        return {scene.label: self.labels.place(scene.chapter_index, scene.scene_index) for scene in listed_scenes}

    def name(self, entity_id: str | None) -> str:
        """Return an id's display name, the reader's by its word."""
        return self.labels.get(f"value.{entity_id}") or self.names.get(entity_id or "", entity_id or "")

    def at(self, path: str | Callable[[Any, View], Any], value: Any) -> Any:
        """Return the value at a path of attributes."""
        if callable(path):
            return path(value, self)
        for name in filter(None, path.split(".")):
            value = getattr(value, name)
        return value

    def place(self, result: Any) -> str:
        """Return a place, also from a pair."""
        if result is None or isinstance(result, tuple):
            return ":".join(map(str, result or ()))
        return self.labels.memory_place(result)

    def cell(self, path: str, value: Any) -> object:
        """Return the text of a cell."""
        mark, rest = (path[0], path[1:]) if path[0] in "~=?@:" else ("", path)
        if mark == ":":
            function, _, rest = rest.partition("/")
            return _CELLS[function](self.at(rest, value), self)
        result = self.at(rest, value)
        if mark == "@":
            return self.place(result)
        if mark == "?":
            return self.labels["value.yes"] if result else ""
        if isinstance(result, Mapping):
            return self.labels.listing(f"{name} {item}" for name, item in result.items())
        listing = result if isinstance(result, list | tuple) else [result]
        worded_function = {"~": self.labels.value, "=": self.name}.get(mark, lambda item: item)
        lines = [worded_function(item) if item is not None else "" for item in listing]
        return self.labels.listing(lines) if isinstance(result, list | tuple) else lines[0]

    def table(self, columns: Mapping[str, str], rows: Iterable[Any]) -> None:
        """Print rows in columns."""
        cell_rows = [[self.cell(path, row) for path in columns.values()] for row in rows]
        output.print_table(list(columns), cell_rows, labels=self.labels, shows_all=self.asked.get("shows_all", True))

    def say(self, key: str, **values: object) -> None:
        """Print a line in the story's language."""
        output.print_text(filled(self.labels[f"line.{key}"], **values))

    def remark(self, key: str, **values: object) -> None:
        """Print a line about the work itself on stderr."""
        output.report_line(filled(self.labels[f"line.{key}"], **values))


_CELLS: dict[str, Callable[[Any, View], object]] = {
    "memory_id": lambda chunk, _: str(chunk.memory_id),
    "from": lambda entry, view: entry.start or view.labels.always,
    "due": lambda place, _: deadline_text(place),
    "first_place": lambda item, view: view.labels.place(*item.first_told),
    "names": lambda other_item, view: view.labels.listing(other_item.names()),
    "kind": lambda item, view: "" if "entity_type" in view.values else view.cell("~entity_type", item),
    "role": lambda item, view: view.labels.role(item.role) if "entity_type" in view.values else "",
    "concerns": lambda found_value, view: (
        view.labels["line.concerns_who_is_nowhere"] if found_value.occurs_nowhere else ""
    ),
    "verified": lambda result, view: "" if result.chunk.verified else view.labels["line.not_verified"],
    "speaks": lambda candidate, _: candidate.speaks or "",
    "first_and_last": lambda candidate, _: f"{candidate.first} - {candidate.last}",
    "since_place": lambda item, view: view.labels.place(item.since_chapter, item.since_scene),
    "how": lambda item, view: view.labels.value("as_said" if item.how == "author" else item.how),
    "waived": lambda item, view: (item.note or view.labels["value.yes"]) if item.is_waived else "",
    "summary_text": lambda summary, _: f"{summary.told}\n  ← {summary.written}" if summary.written else summary.told,
    "kept_as": lambda item, _: "" if item.key == item.name else item.key,
    "field_changes": lambda item, view: view.labels["line.field_changes"] if item.changes else "",
    "moved_at": lambda change, _: "" if change.session is None else f"{change.session}:{change.turn}",
}
"""What a path of `operation_commands.toml` names that is told in a line; `cell` adds the others."""

PARTS: defaultdict[str, dict[str, Any]] = defaultdict(dict)
"""The code of commands by operation and part, as `does` registers it."""


def cell(function: Function) -> Function:
    """Let a path of `operation_commands.toml` name a function, too."""
    _CELLS[function.__name__.removeprefix("_")] = function
    return function


def does(part: str, *operations: str) -> Callable[[Function], Function]:
    """Register a function as a part of operations' commands, such as `show`."""

    def kept(function: Function) -> Function:
        for operation in operations:
            PARTS[operation][part] = function
        return function

    return kept


def cells_of(text: str) -> dict[str, str]:
    """Return cells by their headings: `heading=path`, or a heading alone, which is its path."""
    parts = (text.partition("=") for text in text.split())
    return {heading: path or heading for heading, _, path in parts}


def count_text(value: object, view: View) -> object:
    """Return a card's count, and the place of its scene id."""
    return view.scene_places.get(value, value) if isinstance(value, str) else value


def guess_text(view: View) -> str:
    """Return the mark of what rules guessed, in the story's language."""
    from runtime.doors.cli.views import guess_mark

    return guess_mark(view.labels)
