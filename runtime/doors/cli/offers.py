"""Command descriptions: `offers.toml` as data, and code for special cases.

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

import json
import math
import tomllib
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import click

from novelgen.errors import UserInputError
from novelgen.models.position import deadline_text
from novelgen.words import filled
from runtime.doors.cli import output
from runtime.doors.cli.error_handling import ExitCode
from runtime.doors.cli.labels import ViewLabels, in_words, view_labels_for
from runtime.doors.cli.parameters import POSITION, can_ask, json_or_text
from runtime.doors.cli.shell import in_shell

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
            return ", ".join(f"{name} {item}" for name, item in result.items())
        listing = result if isinstance(result, list | tuple) else [result]
        worded_function = {"~": self.labels.value, "=": self.name}.get(mark, lambda item: item)
        lines = [worded_function(item) if item is not None else "" for item in listing]
        return ", ".join(map(str, lines)) if isinstance(result, list | tuple) else lines[0]

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


@dataclass(frozen=True, kw_only=True)
class Offer:
    """The command part of an operation.

    Args:
        command: The words that call it.
        example: Lines of examples, without the program's name.
        help: Its help, where a method's own is none for people.
        by_position: Arguments by position; None takes those that are required.
        spellings: Argument to the option by which it is given, where that is not its name.
        without: Arguments that the command does not offer.
        more: Options of the view, which the method does not have.
        asks: What is looked up before a question: an operation, or a function of view and arguments.
        before: Completes the arguments.
        run: What is done in place of the method.
        pairs: Names and values that are shown of the result.
        columns: Columns of the table that is shown, by their headings.
        rows: Where its rows are.
        show: Shows the rest.
        is_long: Whether what it shows has long tables.
        json: Makes of the result what is printed as JSON, where that is not what other doors answer.
        aside: Says on stderr what there is to know, with `--json` too.
    """

    command: str
    example: str = ""
    help: str = ""
    by_position: tuple[str, ...] | None = None
    spellings: Mapping[str, str] = field(default_factory=dict)
    without: tuple[str, ...] = ()
    more: Sequence[Mapping[str, Any]] = ()
    asks: str | Callable[[View, Mapping[str, Any]], Any] = ""
    before: Callable[[View, dict[str, Any]], None] | None = None
    run: Callable[[View], Any] | None = None
    pairs: Mapping[str, str] = field(default_factory=dict)
    columns: Mapping[str, str] = field(default_factory=dict)
    rows: str | Callable[[Any, View], Iterable[Any]] = ""
    show: Callable[[Any, View], None] | None = None
    is_long: bool = False
    json: Callable[[Any, View], Any] | None = None
    aside: Callable[[Any, View], None] | None = None


_CELLS: dict[str, Callable[[Any, View], object]] = {
    "memory_id": lambda chunk, _: str(chunk.memory_id),
    "attached_to": lambda result, view: _attachment_text(result.attachments, view),
    "from": lambda entry, view: entry.start or view.labels.always,
    "due": lambda place, _: deadline_text(place),
    "first_place": lambda item, view: view.labels.place(*item.first_told),
    "names": lambda other_item, _: ", ".join(other_item.names()),
    "kind": lambda item, view: "" if "entity_type" in view.values else view.cell("~entity_type", item),
    "role": lambda item, view: item.role if "entity_type" in view.values else "",
    "concerns": lambda found_value, view: (
        view.labels["line.concerns_who_is_nowhere"] if found_value.occurs_nowhere else ""
    ),
    "verified": lambda result, view: "" if result.chunk.verified else view.labels["line.not_verified"],
    "speaks": lambda candidate, _: candidate.speaks or "",
    "first_and_last": lambda candidate, _: f"{candidate.first} - {candidate.last}",
    "since_place": lambda item, view: view.labels.place(item.since_chapter, item.since_scene),
    "how": lambda item, view: view.labels.value("as_said" if item.how == "author" else item.how),
    "waived": lambda item, view: (item.note or view.labels["value.yes"]) if item.is_waived else "",
    "summary_of": lambda summary, view: summary_name(summary, view.labels),
    "summary_text": lambda summary, _: f"{summary.told}\n  ← {summary.written}" if summary.written else summary.told,
    "kept_as": lambda item, _: "" if item.key == item.name else item.key,
    "field_changes": lambda item, view: view.labels["line.field_changes"] if item.changes else "",
    "moved_at": lambda change, _: "" if change.session is None else f"{change.session}:{change.turn}",
}
"""What a path of `offers.toml` names that is told in a line; `cell` adds the others."""
_CODE: defaultdict[str, dict[str, Any]] = defaultdict(dict)


def cell(function: Function) -> Function:
    """Let a path of `offers.toml` name a function, too."""
    _CELLS[function.__name__.removeprefix("_")] = function
    return function


def does(part: str, *operations: str) -> Callable[[Function], Function]:
    """Register a function as a part of operations' offers, such as `show`."""

    def kept(function: Function) -> Function:
        for operation in operations:
            _CODE[operation][part] = function
        return function

    return kept


def _cells(text: str) -> dict[str, str]:
    """Return cells by their headings: `heading=path`, or a heading alone, which is its path."""
    parts = (text.partition("=") for text in text.split())
    return {heading: path or heading for heading, _, path in parts}


@cell
def _memory_text(chunk: Any, view: View) -> str:
    outdated = view.labels["head.outdated"].format(source=chunk.superseded_by) if chunk.superseded_by else ""
    return f"{chunk.content} {outdated}".rstrip()


_MEMORY = _cells("entity_id=:memory_id place=@ kind=~content_type importance text=:memory_text")


@does("show", "delete_entity", "delete_relationship", "delete_thread")
def _show_deletion(result: Any, view: View) -> None:
    view.say("deleted", id=result.deleted, name=result.name)
    for told_choice in (
        "unlinked_memories",
        "removed_relationships",
        "changed_threads",
        "changed_scenes",
        "changed_entities",
        "removed_character_memories",
        "changed_character_memories",
    ):
        ids = getattr(result, told_choice)
        if ids:
            view.say(f"after_{told_choice}", count=len(ids), ids=", ".join(ids[:MAX_LISTED]))


def _attachment_text(attachments: Sequence[Any], view: View) -> str:
    """A memory's attachments on one line: entities, chapters, book."""
    lines = (
        f"{attachment.name} ({attachment.target})" if attachment.name else _target(attachment.target, view)
        for attachment in attachments
    )
    return view.labels["line.comma"].join(lines)


def _target(target: str, view: View) -> str:
    """Return a target as people read it: chapter:3 as chapter 3."""
    from novelgen.models.memory import chapter_of_target

    chapter = chapter_of_target(target)
    return in_words(target) if chapter is None else view.labels["line.chapter"].format(chapter)


@does("show", "attach_memories", "detach_memories")
def _show_attachments(result: Any, view: View) -> None:
    [memory_id] = view.values["memory_ids"]
    same = "" if result.changed else view.labels["line.as_before"]
    output.print_text(f"{memory_id}: {_attachment_text(result.attachments[memory_id], view)}{same}")


@cell
def _conflict_side(source: Any, view: View) -> str:
    """`4:1 status: dead`, in the story's language and with names."""
    attribute, sign, value = source.says.partition(": ")
    if sign and attribute.isidentifier():
        text = f"{view.labels.prompt.attribute(attribute)}: {view.name(value)}"
    else:
        text = view.labels["line.acts_on_stage"] if source.says == "is present" else source.says
    return f"{source.chapter_index}:{source.scene_index} {text}"


@cell
def _conflict_subject(conflict: Any, view: View) -> str:
    """Who or what a conflict is about, by name, with the attribute of a slot."""
    entity_id, _, attribute = conflict.subject.partition(".")
    name = view.name(entity_id)
    return f"{name} · {view.labels.prompt.attribute(attribute)}" if attribute else name


@cell
def _memory_status(memory: Any, view: View) -> str:
    pinned = f"{view.labels['line.comma']}{view.labels['value.pinned']}" if memory.pinned else ""
    return view.labels.value(memory.status) + pinned


@does("show", "delete_memory", *(f"{verb}_memory" for verb in ("confirm", "pin", "unpin", "ban", "unban")))
def _show_decision(result: Any, view: View) -> None:
    output.print_text(f"{view.values['memory_id']}: {_memory_status(result.memory, view)}")


@does("show", "edit_memory")
def _show_edited_memory(result: Any, view: View) -> None:
    memory_id = view.values["memory_id"]
    if set(view.values) - {"memory_id", "attach", "detach", "attached_to"}:
        view.say("edited_memory", id=memory_id)
    if result.stated:
        _say_stated(result.stated, view, key="states")
    if set(view.values) & {"attach", "detach", "attached_to"}:
        output.print_text(f"{memory_id}: {_attachment_text(view.part.get(memory_id=memory_id).attachments, view)}")


@does("run", "add_note")
def _note(view: View) -> Any:
    if view.asked["is_previewed"]:
        return view.part.preview(content=view.values["content"], start=view.values.get("start"))
    return view.part.add(**view.values)


def _say_stated(stated: Any, view: View, *, key: str) -> None:
    values = {
        "name": stated.name,
        "attribute": view.labels.prompt.attribute(stated.attribute),
        "value": stated.value_name,
        "before": stated.before,
    }
    if stated.borne_by is not None:
        view.say("states_taken", **values, other=stated.borne_by, project=view.project)
        return
    where = {"place": stated.holds_after} if stated.holds_after else {}
    view.say(f"{key}_after" if where else key, **values, **where)
    if stated.before is not None:
        view.say("states_over", **values)


@does("show", "add_note")
def _show_note(result: Any, view: View) -> None:
    if view.asked["is_previewed"]:
        if result.stated is None:
            view.say("states_nothing")
        else:
            _say_stated(result.stated, view, key="would_state")
        return
    start, note = view.values.get("start"), result.note
    view.say("noted_from" if start else "noted", id=note.chunk_id, place=start)
    if any(item.type == "chapter" for item in note.attached_to):
        lines = (_target(item.id, view) for item in note.attached_to if item.type == "chapter")
        view.say("noted_for", what=view.labels["line.comma"].join(lines))
    if result.stated:
        _say_stated(result.stated, view, key="states")


@does("show", "export_lore")
def _show_lorebook(result: Any, _: View) -> None:
    output.print_json(result)


@does("show", "import_lore")
def _show_lore_import(result: Any, view: View) -> None:
    view.say("lore_imported", count=len(result.added), updated=len(result.updated), same=result.were_there)


@does("show", "export_glossary")
def _show_glossary(result: Any, _: View) -> None:
    output.print_text(result.rstrip("\n"))


@does("show", "import_glossary")
def _show_glossary_import(result: Any, view: View) -> None:
    view.say("glossary_imported", count=len(result.added), updated=len(result.updated), same=result.were_there)


@does("aside", "add_note")
def _note_aside(result: Any, view: View) -> None:
    if view.asked["is_previewed"]:
        return
    if result.occurs_nowhere:
        view.remark("occurs_nowhere")
    elif not (result.named or view.values.get("known_by")) and all(item.is_default for item in result.note.attached_to):
        view.remark("concerns_nobody")


@does("show", "list_memories")
def _more_memories(result: Any, view: View) -> None:
    if result.total > len(result.memories):
        view.say("more_memories", count=result.total - len(result.memories))


@does("show", "attach_mentions")
def _show_mentions(result: Any, view: View) -> None:
    if result.memories:
        key = "mentions_attached" if result.is_attached else "mentions"
        view.say(key, count=len(result.memories), entity=result.target)


@cell
def _window(entry: Any, _: View) -> str:
    """`9:1 – 12`: when it is due, where that was said."""
    window = entry.window
    if window is None:
        return ""
    return " – ".join(deadline_text(place) or "…" for place in (window.due_from, window.due_by))


@does("run", "get_thread_ledger")
def _ledger(view: View) -> Any:
    if sum(bool(view.asked[kind]) for kind in ("only_due", "as_board", "as_report")) > 1:
        raise click.UsageError("--due, --board and --report are three views; give one of them")
    ledger = view.part.ledger(**view.values).of_category(*view.asked["categories"])
    return ledger.model_copy(update={"entries": ledger.at("due", "overdue")}) if view.asked["only_due"] else ledger


@does("show", "get_thread_ledger")
def _show_ledger(ledger: Any, view: View) -> None:
    from novelgen.memory.ledger import board_lines, unpaid_report

    ledger = ledger.model_copy(update={"language": view.labels.language})
    if view.asked["as_report"]:
        for line in unpaid_report(ledger):
            output.print_text(line)
        return
    if not view.asked["as_board"]:
        waiting_entries = [entry for entry in ledger.entries if entry.is_waiting]
        if not waiting_entries:
            is_narrowed = view.asked["only_due"] or view.asked["categories"]
            key = "none_of_these_threads" if is_narrowed else "list_threads"
            output.print_text(view.labels[f"empty.{key}"].format(project=view.project))
            return
        view.table(_LEDGER, waiting_entries)
        return
    for heading, lines in board_lines(ledger):
        output.print_heading(heading)
        for line in lines:
            output.print_text(f"- {line}")


_LEDGER = _cells(
    "entity_id=loop_id stage=~stage importance=~importance age=age_scenes "
    "silent=silent_scenes expected=:window text=description"
)


@cell
def _place_or_none(item: Any, view: View) -> object:
    from novelgen.models.position import place_told

    return "" if place_told(item)[0] is None else view.cell("@", item)


@cell
def _last_moved(item: Any, view: View) -> str:
    if (item.last_chapter_index, item.last_scene_index) == (item.chapter_index, item.scene_index):
        return str(_place_or_none(item, view))
    return view.labels.place(item.last_chapter_index, item.last_scene_index)


@does("aside", "delete_scene")
def _file_aside(_: Any, view: View) -> None:
    if _has_files(view):
        view.remark("file_still_holds_it")


def _has_files(view: View) -> bool:
    """Return whether the project consists of files, unlike an imported book."""
    folder = view.stores.paths(view.project).chapters
    return folder.is_dir() and any(folder.iterdir())


@does("asks", "undo_consolidations")
def _consolidation_asked(view: View, payload: Mapping[str, Any]) -> str:
    return str(payload.get("chunk_id") or view.labels["value.all"])


@does("show", "get_entity")
def _show_entity(card: Any, view: View) -> None:
    from novelgen.context.lines import render_value
    from novelgen.models.dated_values import dated_values
    from novelgen.models.entity import DATED, METADATA
    from runtime.doors.cli.views import print_states
    from runtime.story.attachments import StoryAttachments

    result, labels, prompt = card.entity, view.labels, view.labels.prompt
    profile = {
        name: render_value(value, view.names, prompt)
        for name, value in result.profile.items()
        if name not in ("current_state", DATED) and (name != METADATA or not isinstance(value, dict))
    }
    for dated_value in dated_values(result):
        key, place = (
            f" {dated_value.key}" if dated_value.key else "",
            labels.place(*(dated_value.start or (None, None))),
        )
        profile[f"{labels.field(dated_value.field)}{key} ({place})"] = render_value(
            dated_value.value, view.names, prompt
        )
    # Of a thing it is counted alone where it is named.
    hidden_columns = () if result.entity_type in ("character", "location") else ("scene_count",)
    counts = {name: value for name, value in card.metadata.items() if name not in hidden_columns}
    output.print_pairs(
        {
            labels["head.entity_id"]: result.entity_id,
            labels["head.kind"]: "" if view.values.get("entity_type") else labels.value(result.entity_type),
            labels["head.names"]: ", ".join(result.names()),
            labels["head.place"]: labels.place(*result.first_told),
            labels["value.role"]: result.role,
            labels["head.text"]: result.description,
            **{labels.field(name): value for name, value in profile.items()},
            **{labels.field(name): _count_text(value, view) for name, value in counts.items()},
        }
    )
    if card.state is not None:
        print_states([card.state], view.names, view.labels)
    if not view.asked["memories"]:
        return
    about = StoryAttachments(view.stores, view.project).list_about(
        result.entity_id, limit=view.asked["memories"], as_of=view.values.get("as_of")
    )
    if about.memories:
        output.print_heading(prompt.memories)
        view.table(_MEMORY, about.memories)
        if about.more:
            command = f"novelgen memory list {view.project} --attached-to {result.entity_id}"
            view.say("more_about", count=about.more, command=command)


def _count_text(value: object, view: View) -> object:
    """Return a card's count, and the place of its scene id."""
    return view.scene_places.get(value, value) if isinstance(value, str) else value


@does("show", "edit_entity")
def _show_edited_entity(result: Any, view: View) -> None:
    view.say(
        "changed_fields", id=result.entity.entity_id, fields=", ".join(map(view.labels.field, result.updated_fields))
    )
    if result.holds_after is not None:
        start = view.values.get("start")
        view.say(
            "holds_from" if start else "holds_after",
            attributes=", ".join(map(view.labels.field, [*result.dated, *result.attributes])),
            place=start or result.holds_after,
        )


@does("show", "rename_card")
def _show_renaming(result: Any, view: View) -> None:
    counts = [f"{view.labels.value(place_kind)} {times}" for place_kind, times in result.counts.items()]
    names = ", ".join(f"{old} → {new}" for old, new in result.names.items())
    view.say("renames" if counts else "renames_alone", names=names, counts=", ".join(counts))
    if result.places:
        view.table(_cells("kind=~held_by entity_id=id times text=words"), result.places)
    if result.kept_within:
        view.say("kept_within", names=", ".join(f"{name} {times}" for name, times in result.kept_within.items()))
    if result.other_names:
        view.say("other_names", names=", ".join(result.other_names))
    if result.in_text and "in_text" not in view.values:
        view.say("said_in_text", count=result.in_text)
    if result.change is None:
        view.say("rename_applies")


@does("before", "add_card")
def _ask_start(view: View, payload: dict[str, Any]) -> None:
    """Ask on a terminal from where on somebody new is known, where the story has scenes already."""
    from runtime.story.entities import has_scenes

    if "start" in payload or not can_ask() or not has_scenes(view.stores, view.project):
        return
    question = view.labels["line.ask_start"].format(name=payload["name"])
    answer = click.prompt(question, default="", show_default=False, err=True).strip()
    if answer:
        payload["start"] = POSITION.convert(answer, None, None)


@does("show", "add_card")
def _show_added_entity(result: Any, view: View) -> None:
    view.say("added_entity", id=result.entity.entity_id, name=result.entity.name)
    if result.holds_after is not None:
        if start := view.values.get("start"):
            view.say("known_from", place=start)
        else:
            advice = view.labels["line.known_from_start_advice"]
            output.print_text(view.labels["line.known_after"].format(place=result.holds_after) + advice)
    elif view.values.get("start") is not None:
        view.say("known_from_start")


@does("asks", "merge_entities")
def _merging(view: View, payload: Mapping[str, Any]) -> Any:
    """Look both up, before the merge is confirmed."""
    removed_id, keep = (
        payload[kind] if _is_candidate(view, payload[kind]) else _call_text(view, payload[kind])
        for kind in ("gone", "keep")
    )
    if removed_id == keep:
        raise UserInputError(f"{payload['gone']!r} is a name of {keep} already; give two")
    return [removed_id, keep]


def _call_text(view: View, name: str) -> str:
    entity = view.part.get(name).entity
    return f"{entity.entity_id} ({entity.name})"


def _is_candidate(view: View, name: str) -> bool:
    from runtime.story.who_is_who import is_candidate

    return is_candidate(view.stores, view.project, name=name)


@does("run", "merge_entities")
def _merge(view: View) -> Any:
    from runtime.story.who_is_who import StoryNameCandidates

    keep, removed_name = view.values["keep"], view.values["gone"]
    if _is_candidate(view, keep) or _is_candidate(view, removed_name):
        return StoryNameCandidates(view.stores, view.project).merge(keep=keep, other=removed_name)
    return view.part.merge(keep=keep, gone=removed_name)


@does("show", "merge_entities")
def _show_merged(result: Any, view: View) -> None:
    if hasattr(result, "candidate"):
        names = ", ".join(result.candidate.names())
        if result.entity is not None:
            view.say("named_too", id=result.entity.entity_id, name=result.entity.name, names=names)
        else:
            view.say("offered_as", names=names, name=result.joined.name if result.joined else result.change.entity_id)
    else:
        removed_id = f"{result.change.other_id} ({result.other.name if result.other else view.values['gone']})"
        kept_text = f"{result.change.entity_id} ({result.entity.name if result.entity else view.values['keep']})"
        view.say("merged", gone=removed_id, kept=kept_text)


@does("show", "split_entity")
def _show_split(result: Any, view: View) -> None:
    change = result.change
    old = f"{change.entity_id} ({result.entity.name})" if result.entity else change.entity_id
    view.say("split", id=change.other_id, name=view.values["new_name"], old=old)


@does("show", "undo_change")
def _show_undone(result: Any, view: View) -> None:
    change = result.change
    of = result.what or ", ".join(filter(None, (change.entity_id, change.other_id)))
    if change.kind == "know":
        whose = change.other_id if change.subject == "memory" else change.entity_id
        of = f"{view.name(whose)}: {result.what}" if result.what else view.name(whose)
    elif change.kind == "relate":
        of = f"{view.name(change.entity_id)}, {view.name(change.other_id)}"
    elif change.kind == "summary":
        of = view.labels[f"line.{change.entity_id}"].format(change.other_id)
    elif change.kind == "waive":
        of = ", ".join(change.before)
    view.say("undone", kind=view.labels.value(change.kind), of=of)


@does("show", "drop_candidate")
def _show_candidate_decision(result: Any, view: View) -> None:
    if result.entity is None:
        view.say("dropped_candidate", name=result.candidate.name)
    else:
        view.say("added_entity", id=result.entity.entity_id, name=", ".join(result.entity.names()))


@does("show", "confirm_candidates")
def _show_confirmed(result: Any, view: View) -> None:
    for item in result:
        _show_candidate_decision(item, view)
        if item.candidate.same_as:
            _ask_whether_same(item.candidate, view, has_card=True)


def _ask_whether_same(candidate: Any, view: View, *, has_card: bool = False) -> None:
    """Ask whether two names mean one entity.

    An existing card stays.
    """
    names = [candidate.same_as, candidate.name]
    keep, removed_name = reversed(names) if has_card and _is_candidate(view, candidate.same_as) else names
    command = f"novelgen entity merge {view.project} {in_shell(keep)} {in_shell(removed_name)}"
    view.say("is_it_the_same", name=candidate.name, other=candidate.same_as, command=command)


@cell
def _variants(candidate: Any, view: View) -> str:
    others = [f"{variant.name} {variant.count}" for variant in candidate.variants if variant.name != candidate.name]
    more = view.labels["line.and_more"].format(len(others) - MAX_LISTED) if len(others) > MAX_LISTED else ""
    query = f"  = {candidate.same_as}?" if candidate.same_as else ""
    return f"{', '.join(others[:MAX_LISTED])} {more}".rstrip() + query


@does("show", "list_candidates")
def _show_candidates_hint(result: Any, view: View) -> None:
    request = next((item for item in result if item.same_as), None)
    if request is not None:
        _ask_whether_same(request, view)
    if result:
        command = f"novelgen entity confirm {view.project} {in_shell(result[0].name)}"
        output.print_text(
            view.labels["line.makes_one_an_entity_merge_and_drop"].format(command, "novelgen entity --help")
        )


class _Side(NamedTuple):
    of: str
    side: Any


@does("rows", "list_relationships")
def _sides(result: Any, view: View) -> list[_Side]:
    """Return pairs from the requested side, by default the first."""
    if not view.values.get("character_id"):
        return [_Side(item.character_a, item.seen_by(item.character_a)) for item in result]
    from runtime.story.entities import StoryEntities

    story = StoryEntities(view.stores, view.project)
    own = story.get(view.values["character_id"], as_of=view.values.get("as_of")).entity.entity_id
    return [_Side(own, item.seen_by(own)) for item in result]


@does("show", "get_relationship")
def _show_relationship(result: Any, view: View) -> None:
    labels = view.labels
    one, other = view.name(result.character_a), view.name(result.character_b)

    def felt(who: str, dimensions: Mapping[str, int]) -> dict[str, int]:
        feeling = labels["line.felt_by"]
        return {feeling.format(feeling=labels.value(name), who=who): value for name, value in dimensions.items()}

    output.print_pairs(
        {
            labels["head.entity_id"]: result.relationship_id,
            labels["head.kind"]: result.relationship_type,
            labels["head.status"]: labels.value(result.status),
            labels["value.intensity"]: result.intensity,
            labels["line.view_of"].format(one, other): result.perspective_a,
            labels["line.view_of"].format(other, one): result.perspective_b,
            **{labels.value(name): value for name, value in result.dimensions.items()},
            **felt(one, result.dimensions_a),
            **felt(other, result.dimensions_b),
            **{labels.value(name): _count_text(value, view) for name, value in result.metadata.items()},
            labels["value.last_changed"]: ""
            if result.updated_at is None
            else f"{result.updated_at:%Y-%m-%d %H:%M} UTC",
        }
    )
    output.print_heading(labels["line.history"])
    view.table(_cells("place=:place_or_none status=~status event"), result.history)


@does("show", "edit_relationship")
def _show_edited_relationship(result: Any, view: View) -> None:
    view.say("changed" if result.updated else "unchanged", id=result.relationship_id)


@cell
def _why_unknown(item: Any, view: View) -> str:
    from novelgen.memory.knowledge_rules import why_unknown

    return why_unknown(item.why, view.labels.language) + (_guess(view) if item.is_guess else "")


_KNOWN_COLUMNS = "since=:since_place how=:how learned_from==learned_from sure=:sure"
_UNKNOWN_COLUMNS = "why=:why_unknown might_know_from==might_know_from"


def _print_two(view: View, tables: Iterable[tuple[str, str, Sequence[Any]]]) -> None:
    for heading, text, matches in tables:
        output.print_heading(f"{view.labels[f'line.{heading}']} ({len(matches)})")
        view.table(_cells(text), matches)


@does("show", "list_knowledge")
def _show_knowledge(result: Any, view: View) -> None:
    if not result.known and not result.not_known:
        output.print_text(view.labels["empty.list_knowledge"].format(project=view.project))
        return
    known_name, unknown_text = (
        f"entity_id=source_id {columns} text=content" for columns in (_KNOWN_COLUMNS, _UNKNOWN_COLUMNS)
    )
    _print_two(view, (("knows", known_name, result.known), ("does_not_know", unknown_text, result.not_known)))


@does("show", "who_knows")
def _show_knowers(result: Any, view: View) -> None:
    output.print_text(result.content)
    known_name, unknown_text = (f"entity=~name {columns}" for columns in (_KNOWN_COLUMNS, _UNKNOWN_COLUMNS))
    _print_two(view, (("known_to", known_name, result.known_by), ("not_known_to", unknown_text, result.not_known_by)))


@does("show", "set_knowledge")
def _show_set_knowledge(result: Any, view: View) -> None:
    from novelgen.models.knowledge import ALL_LIVED

    labels, start = view.labels, view.values.get("start")
    what = result.source_id
    if what == ALL_LIVED:
        what = labels["line.everything_that_has_lived_through"].format(view.name(result.learned_from))
    text = labels[f"line.said_{view.values.get('kind', 'knows')}"].format(view.name(result.character_id), what)
    if result.chapter_index is None:
        since = labels.always
    elif start is None:
        since = labels["line.from_its_own_scene_on"].format(labels.place(result.chapter_index, result.scene_index))
    else:
        since = labels["line.on_entering"].format(start)
    output.print_text(f"{text}{labels['line.comma']}{since}")


@does("show", "list_shared_scenes")
def _show_together(shared: Any, view: View) -> None:
    people = [view.name(item) for item in (shared.character_id, shared.other_id)]
    key = "line.together_alone" if shared.alone else "line.together_never_alone"
    output.print_text(view.labels[key].format(*people, len(shared.scenes), len(shared.alone)))
    for scene in shared.scenes:
        output.print_text(f"  {view.cell('@', scene)}" + (f" ({view.labels['value.alone']})" if scene.is_alone else ""))


@does("show", "get_scene")
def _show_scene(result: Any, _: View) -> None:
    output.print_text("\n" + (result.scene.text or ""))


@does("show", "insert_scene")
def _show_inserted(change: Any, view: View) -> None:
    key = "room_made" if view.values.get("text") is None else "scene_inserted"
    view.say(key, place=view.values["position"], moved=change.moved)


@does("aside", "insert_scene", "move_scene")
def _remind_of_files(change: Any, view: View) -> None:
    if change.moved and _has_files(view):
        view.remark("renumber_files")


@does("show", "get_scene_record")
def _show_record(result: Any, _: View) -> None:
    output.print_json(result.record)


@does("aside", "get_scene_record")
def _record_aside(result: Any, view: View) -> None:
    if not result.is_stored:
        reason = f": {result.failure_reason}" if result.failure_reason else ""
        view.remark("no_record", place=view.values["position"], status=result.extraction_status, reason=reason)
    for fact in result.unverified:
        view.remark("unverified", fact=fact)


def numbered_chapter(stores: MemoryStores, project: str, chapter: Any) -> Any:
    """Return the number in the order of a chapter that is named by it or by its heading."""
    from runtime.story.base import StoryBase, named_place

    return named_place(StoryBase(stores, project), {"chapter_index": chapter})["chapter_index"]


def summary_place(chapter: Any, part: int | None) -> tuple[Any, Any] | None:
    """Return the summary of --chapter or --part, or None."""
    if chapter is not None and part is not None:
        raise click.UsageError("give --chapter or --part, not both")
    if chapter is not None:
        return "chapter", chapter
    return None if part is None else ("part", part)


def summary_name(summary: Any, labels: ViewLabels) -> str:
    """Return a summary's name in words."""
    if summary.level == "chapter":
        return labels["line.chapter"].format(summary.number)
    title = f" {summary.title}" if summary.title else ""
    return labels["line.part"].format(summary.number) + f"{title} ({summary.first_chapter}–{summary.last_chapter})"


@does("run", "list_summaries")
def _summaries(view: View) -> Any:
    place = summary_place(view.asked["chapter"], view.asked["part"])
    if place is None:
        return view.part.list(**view.values)
    level, number = place
    return [view.part.get(level=level, number=numbered_chapter(view.stores, view.project, number))]


@cell
def _summary_remark(summary: Any, view: View) -> str:
    if summary.state == "withheld":
        return view.labels["line.not_used_scenes_went_elsewhere"]
    if summary.written and summary.state == "outdated":
        return view.labels["line.not_used_older_than_its_scenes"]
    key = {"outdated": "older_than_its_scenes", "unfinished": "not_over_yet"}.get(summary.state)
    return view.labels[f"line.{key}"] if key else ""


@does("run", "list_changes")
def _since(view: View) -> Any:
    if view.asked["scene"] is None:
        return view.part.between(**view.values)
    if view.values:
        raise click.UsageError("--scene names what is told of; leave out --from and --as-of")
    return view.part.of_scene(position=view.asked["scene"])


@does("show", "list_changes")
def _show_changes(difference: Any, _: View) -> None:
    from novelgen.context.difference_block import difference_lines

    for line in difference_lines(difference):
        output.print_text(line)


@does("rows", "list_story_times")
def _scenes_in_order(timeline: Any, view: View) -> Any:
    if not view.asked["is_lived"]:
        return timeline.scenes
    return sorted(timeline.scenes, key=lambda item: (item.lived_order or math.inf, item.told_order))


@cell
def _told_time(scene: Any, _: View) -> str:
    text = scene.told.text if scene.told is not None else ""
    return f"“{text}”" if scene.said_in == "text" else text


@cell
def _day(scene: Any, _: View) -> str:
    if scene.story_day is None:
        return "?"
    mark = {"told": "", "inferred": "~", "at_least": "≥"}.get(scene.certainty, "?")
    until = f"–{scene.until_day}" if scene.until_day is not None else ""
    return f"{mark}{scene.story_day}{until}"


@cell
def _days_since(scene: Any, view: View) -> str:
    span, labels = scene.since_previous, view.labels
    if span is None:
        return ""
    if span.max_days is None:
        return labels["line.days_or_more"].format(span.min_days)
    if not span.is_exact:
        return labels["line.days"].format(f"{span.min_days}–{span.max_days}")
    key = {0: "same_day", 1: "next_day"}.get(span.min_days, "days")
    return labels[f"line.{key}"].format(span.min_days)


@cell
def _lived(scene: Any, view: View) -> str:
    order = "?" if scene.lived_order is None else str(scene.lived_order)
    if not scene.is_flashback:
        return order
    key = "line.before_the_story" if scene.lived == "before_story" else "value.flashback"
    return f"{order} ({view.labels[key]})"


@cell
def _who_and_where(scene: Any, view: View) -> str:
    who = ", ".join(map(view.name, scene.participants)) + _mark(scene, "participants", view) * bool(scene.participants)
    where = view.name(scene.location_id) + _mark(scene, "location_id", view) if scene.location_id else ""
    return " @ ".join(filter(None, (who, where)))


@cell
def _on_stage(item: Any, view: View) -> str:
    return ", ".join(item.on_stage) + (_mark(item, "participants", view) if item.on_stage else "")


@cell
def _sure(item: Any, view: View) -> str:
    if item.certainty == 1:
        return ""
    return f"{item.certainty}{_guess(view) if item.is_guess else ''}"


def _mark(item: Any, field: str, view: View) -> str:
    return _guess(view) if field in item.guessed else ""


def _guess(view: View) -> str:
    from runtime.doors.cli.views import guess_mark

    return guess_mark(view.labels)


@does("show", "get_recent_timeline")
def _show_standing(result: Any, view: View) -> None:
    from runtime.doors.cli.views import print_states

    if result.snapshots:
        print_states(result.snapshots, result.names, view.labels)
    else:
        output.print_text(view.labels["head.nothing"])


@does("show", "consolidate_memories")
def _show_consolidation(report: Any, view: View) -> None:
    labels = view.labels
    sources = sum(len(group.source_ids) for group in report.groups)
    done_text = labels["line.memories_into"].format(sources, len(report.groups))
    if not report.dry_run:
        by_model = sum(group.is_models for group in report.groups)
        done_text += labels["line.of_them_written_by_the_model"].format(by_model)
    output.print_pairs(
        {
            labels["value.project"]: view.project,
            labels["value.limit"]: labels["line.memories_per_entity"].format(report.limit),
            labels["line.would_consolidate" if report.dry_run else "value.consolidated"]: done_text,
            labels["value.memories"]: f"{report.memories_before} -> {report.memories_after}",
            labels["line.still_over_the_limit"]: ", ".join(f"{name} {n}" for name, n in report.over_limit.items()),
            labels["line.changed_meanwhile"]: labels["line.groups_left_alone"].format(report.overtaken)
            if report.overtaken
            else None,
            labels["value.index"]: None
            if report.dry_run
            else output.index_state(report.indexing, view.project, labels),
        }
    )
    if report.dry_run:
        rows = [(group.entity_id, ", ".join(group.source_ids)) for group in report.groups]
        output.print_table(("entity", "memories"), rows, labels=labels)


@does(
    "aside", "consolidate_memories", "import_lore", "import_glossary", "add_card", "confirm_candidates", "edit_entity"
)
@does("aside", "remember_event", "recall_memories", "undo_change")
def _issues_aside(result: Any, _: View) -> None:
    for issue in result.issues:
        output.report_warning(issue.message)


@does("show", "remember_event")
def _show_remembered(result: Any, _: View) -> None:
    memory = result.memory
    output.print_text(
        in_words(f"{memory.memory_id}: {view_labels_for().value(memory.tier)}, importance {memory.importance}")
    )
    if result.ended:
        output.print_text(in_words(f"put an end to: {', '.join(result.ended)}"))
    if result.copies:
        output.print_text(in_words(f"remembered by witnesses, too: {len(result.copies)}"))


@does("show", "recall_memories")
def _show_recalled(result: Any, view: View) -> None:
    output.print_text(result.as_prompt() or view.labels["head.nothing"])
    if view.asked["explain"]:
        rows = [
            (
                item.memory.memory_id,
                f"{item.score:.2f}",
                " × ".join(f"{name} {value:.2f}" for name, value in item.parts.model_dump().items() if value != 1),
                ", ".join(item.why),
            )
            for item in result.items
        ]
        output.print_table(("entity_id", "score", "score_parts", "why"), rows, labels=view.labels)
        cost_fields = {"tokens": f"{result.tokens} / {result.budget_tokens}", "left_out": len(result.left_out)}
        output.print_pairs(cost_fields, view.labels)


@cell
def _when(memory: Any, _: View) -> str:
    place = memory.known_position
    return f"{memory.known_at:%Y-%m-%d %H:%M}" if place is None else ":".join(map(str, place))


@cell
def _moved(change: Any, view: View) -> str:
    moves = [f"{name} {by:+}" for name, by in change.deltas.items()]
    return view.labels["line.comma"].join([*moves, *(f"{name} = {value}" for name, value in change.values.items())])


@does("show", "get_feelings")
def _show_feelings(result: Any, view: View) -> None:
    output.print_text(result.header)
    output.print_text(view.labels["line.comma"].join(result.words) or view.labels["head.nothing"])
    history = view.part.feelings_history(**view.values)
    if history:
        view.table(_cells("when=:moved_at change=:moved why=event_type"), history)


@does("json", "list_secrets")
def _secrets_shown(states: Any, view: View) -> list[dict[str, Any]]:
    """Return secrets open to their listener, or all for the author."""
    shown_entries: list[dict[str, Any]] = []
    for state in states:
        fields: dict[str, Any] = {"secret_id": state.secret.secret_id, "standing": state.standing, "hint": state.hint}
        if view.asked["reveal"] or state.standing in ("unlocked", "known"):
            fields["text"] = state.secret.text
        if view.asked["reveal"]:
            fields |= state.secret.model_dump(mode="json", include={"unlock", "never", "hints", "key_words"})
        shown_entries.append(fields)
    return shown_entries


@does("show", "list_secrets")
def _show_secrets(states: Any, view: View) -> None:
    rows = [
        (fields["secret_id"], view.labels.value(fields["standing"]), fields["hint"], fields.get("text", ""))
        for fields in _secrets_shown(states, view)
    ]
    output.print_table(("entity_id", "status", "hint", "text"), rows, labels=view.labels)


@does("json", "check_reply")
def _findings(result: Any, _: View) -> Any:
    return result


@does("show", "check_reply")
def _show_findings(result: Any, view: View) -> None:
    for item in result:
        output.print_text(f"{view.labels.value(item.kind)}: {item.message}")
    if not result:
        view.say("nothing_is_wrong_with_it")


@does("aside", "check_reply")
def _fail_on_findings(result: Any, _: View) -> None:
    if result:
        raise click.exceptions.Exit(ExitCode.FAILED)


@does("run", "list_flags")
def _flags(view: View) -> Any:
    from runtime.doors.arguments import moment

    at = view.asked["at"]
    if at is not None and not view.asked["settings"]:
        raise UserInputError("--at says when flags are set; add --set NAME, or read with --as-of")
    for setting in view.asked["settings"]:
        name, sign, text = setting.partition("=")
        value = json_or_text(text) if sign else True
        view.values["change_id"] = view.part.set_flag(name, value, at=at and moment(at)).change_id
    return view.part.get_flags(as_of=view.values.get("as_of"))


@does("show", "list_flags")
def _show_flags(result: dict[str, Any], view: View) -> None:
    if not result:
        output.print_text(view.labels["head.nothing"])
        return
    rows = [(name, json.dumps(value, ensure_ascii=False)) for name, value in result.items()]
    output.print_table(("flag", "value"), rows, labels=view.labels)
    if view.asked["settings"]:
        output.print_undo(view.values["change_id"], view.project, view.labels)


def _offer(name: str, fields: dict[str, Any]) -> Offer:
    cells: dict[str, Any] = {kind: _cells(fields[kind]) for kind in ("pairs", "columns") if kind in fields}
    return Offer(**fields | cells | _CODE.get(name, {}))


_OFFER_FIELDS: dict[str, dict[str, Any]] = tomllib.loads(
    Path(__file__).with_suffix(".toml").read_text(encoding="utf-8")
)

SECTIONS: dict[str, list[str]] = _OFFER_FIELDS.pop("sections")
"""The commands by the sections of the program's help."""

GROUPS: dict[str, str] = _OFFER_FIELDS.pop("groups")
"""Help of groups of commands."""

SPELLINGS: dict[str, str] = _OFFER_FIELDS.pop("spellings")
"""Argument to the option by which commands take it, in place of its own name."""

OTHER_COMMANDS: dict[str, str] = _OFFER_FIELDS.pop("other_commands")
"""Commands that no offer is made of, to the operation that does the same."""

OFFERS = {name: _offer(name, fields) for name, fields in _OFFER_FIELDS.items()}
"""By the name of the operation."""
