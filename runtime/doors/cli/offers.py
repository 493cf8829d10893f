"""What neither the table of operations nor a method says of a command: examples, spellings, questions, what is shown.

Cells of a table are told by a path: `chunk.content` is an attribute, `~status` its word in the story's language,
`=giver` the name of whom an id stands for, `?undone_at` yes or nothing, `@` the place of what has a chapter and a
scene, `@chunk` that of a part of it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import click

from runtime.doors.cli.labels import ViewLabels, view_labels_for
from runtime.doors.cli.output import (
    index_state,
    print_heading,
    print_json,
    print_pairs,
    print_table,
    print_text,
    report_line,
    report_warning,
)
from runtime.doors.cli.parameters import COUNT, POSITION, can_ask

if TYPE_CHECKING:
    from novelgen.models.position import StoryPosition
    from runtime.stores import MemoryStores

Cell = str | Callable[[Any, "View"], object]

MAX_LISTED = 10
"""So many ids or names a line lists; `--json` has them all."""


@dataclass(frozen=True)
class View:
    """What showing a result needs: the project, the arguments of its method, and what else was asked for."""

    stores: MemoryStores
    project: str
    language: str
    part: Any
    values: dict[str, Any]
    asked: Mapping[str, Any] = field(default_factory=dict)

    @property
    def labels(self) -> ViewLabels:
        """Words in the story's language."""
        return view_labels_for(self.language)

    @cached_property
    def names(self) -> dict[str, str]:
        """Display names of the entities by their ids, as of the position that is read at."""
        from runtime.story.entities import StoryEntities

        as_of: StoryPosition | None = self.values.get("as_of")
        return StoryEntities(self.stores, self.project).entity_names(as_of=as_of)

    def name(self, entity_id: str | None) -> str:
        """Return the display name of whom an id stands for; `reader` by its word."""
        return self.labels.get(f"value.{entity_id}") or self.names.get(entity_id or "", entity_id or "")

    def at(self, path: str | Callable[[Any, View], Any], value: Any) -> Any:
        """Return what stands at a path of attributes."""
        if callable(path):
            return path(value, self)
        for name in filter(None, path.split(".")):
            value = getattr(value, name)
        return value

    def cell(self, path: Cell, value: Any) -> object:
        """Return what a cell shows."""
        if callable(path):
            return path(value, self)
        mark, rest = (path[0], path[1:]) if path[0] in "~=?@" else ("", path)
        found = self.at(rest, value)
        if mark == "@":
            return self.labels.place(found.chapter_index, found.scene_index)
        if mark == "?":
            return self.labels["value.yes"] if found else ""
        if isinstance(found, Mapping):
            return ", ".join(f"{name} {each}" for name, each in found.items())
        listed = found if isinstance(found, list | tuple) else [found]
        worded = {"~": self.labels.value, "=": self.name}.get(mark, lambda each: each)
        told = [worded(each) if each is not None else "" for each in listed]
        return ", ".join(map(str, told)) if isinstance(found, list | tuple) else told[0]

    def say(self, key: str, **values: object) -> None:
        """Print a line in the story's language."""
        print_text(self.labels[f"line.{key}"].format(**values))

    def remark(self, key: str, **values: object) -> None:
        """Print a line about the work itself on stderr."""
        report_line(self.labels[f"line.{key}"].format(**values))


@dataclass(frozen=True, kw_only=True)
class Offer:
    """What a command is beside its method.

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
        aside: Says on stderr what there is to know, with `--json` too.
    """

    command: str
    example: str = ""
    help: str = ""
    by_position: tuple[str, ...] | None = None
    spellings: Mapping[str, str] = field(default_factory=dict)
    without: tuple[str, ...] = ()
    more: tuple[tuple[tuple[str, ...], dict[str, Any]], ...] = ()
    asks: str | Callable[[View, Mapping[str, Any]], Any] = ""
    before: Callable[[View, dict[str, Any]], None] | None = None
    run: Callable[[View], Any] | None = None
    pairs: Mapping[str, Cell] = field(default_factory=dict)
    columns: Mapping[str, Cell] = field(default_factory=dict)
    rows: str | Callable[[Any, View], Iterable[Any]] = ""
    show: Callable[[Any, View], None] | None = None
    is_long: bool = False
    aside: Callable[[Any, View], None] | None = None


SPELLINGS = {
    "start": "--from",
    "content_type": "--type",
    "content_types": "--type",
    "relationship_type": "--type",
    "perspective_a": "--view-a",
    "perspective_b": "--view-b",
    "content": "--text",
    "scene_id": "--scene",
    "new_name": "--name",
    "is_applied": "--apply",
    "with_model": "--with-model/--no-model",
}
"""Argument to the option by which commands take it, beside its own name."""


def _cells(told: str, **functions: Cell) -> dict[str, Cell]:
    """Return cells by their headings: `heading=path`, or a heading alone, whose path is its name or a function."""
    parts = (each.partition("=") for each in told.split())
    return {heading: functions.get(heading, path or heading) for heading, _, path in parts}


def _memories_shown(columns_of: str = "") -> dict[str, Cell]:
    prefix = f"{columns_of}." if columns_of else ""

    def marked(each: Any, view: View) -> str:
        chunk = view.at(columns_of, each)
        outdated = view.labels["head.outdated"].format(source=chunk.superseded_by) if chunk.superseded_by else ""
        return f"{chunk.content} {outdated}".rstrip()

    return {
        "entity_id": lambda each, view: view.at(columns_of, each).source_id or view.at(columns_of, each).chunk_id,
        "place": f"@{columns_of}",
        "kind": f"~{prefix}content_type",
        "importance": f"{prefix}importance",
        "text": marked,
    }


def _undo_told(change: Any, view: View) -> None:
    view.say("undo", command=f"novelgen undo {view.project} {change.change_id}")


def _show_deletion(result: Any, view: View) -> None:
    view.say("deleted", id=result.deleted, name=result.name)
    for told in (
        "unlinked_memories",
        "removed_relationships",
        "changed_threads",
        "changed_scenes",
        "changed_entities",
        "removed_character_memories",
        "changed_character_memories",
    ):
        ids = getattr(result, told)
        if ids:
            view.say(f"after_{told}", count=len(ids), ids=", ".join(ids[:MAX_LISTED]))
    _undo_told(result.change, view)


def _attached(attachments: Sequence[Any]) -> str:
    """What a memory is attached to as one line: entities by name and id, chapters, the book."""
    return ", ".join(f"{each.name} ({each.target})" if each.name else each.target for each in attachments)


def _show_attachments(result: Any, view: View) -> None:
    [memory_id] = view.values["memory_ids"]
    same = "" if result.changed else view.labels["line.as_before"]
    print_text(f"{memory_id}: {_attached(result.attachments[memory_id])}{same}")


def _status(stored: Any, view: View) -> str:
    pinned = f"{view.labels['line.comma']}{view.labels['value.pinned']}" if stored.pinned else ""
    return view.labels.value(stored.status) + pinned


def _show_decision(result: Any, view: View) -> None:
    print_text(f"{view.values['memory_id']}: {_status(result.memory, view)}")


def _show_edited_memory(result: Any, view: View) -> None:
    memory_id = view.values["memory_id"]
    if set(view.values) - {"memory_id", "attach", "detach", "attached_to"}:
        view.say("edited_memory", id=memory_id)
    if set(view.values) & {"attach", "detach", "attached_to"}:
        print_text(f"{memory_id}: {_attached(view.part.find_memory(memory_id=memory_id).attachments)}")


def _show_note(result: Any, view: View) -> None:
    start = view.values.get("start")
    view.say("noted_from" if start else "noted", id=result.note.chunk_id, place=start)


def _note_aside(result: Any, view: View) -> None:
    if result.occurs_nowhere:
        view.remark("occurs_nowhere")
    elif not result.named and all(each.is_default for each in result.note.attached_to):
        view.remark("concerns_nobody")


def _more_memories(result: Any, view: View) -> None:
    if result.total > len(result.memories):
        view.say("more_memories", count=result.total - len(result.memories))


def _show_mentions(result: Any, view: View) -> None:
    if result.memories:
        key = "mentions_attached" if result.is_attached else "mentions"
        view.say(key, count=len(result.memories), entity=result.target)


def _window(entry: Any, _: View) -> str:
    """`9:1` for an author's, `4-20` for the ages that the book's rhythm tells; empty where neither is known."""
    window = entry.window
    if window is None:
        return ""
    if window.source == "rhythm":
        last = "…" if window.overdue_after_scenes is None else window.overdue_after_scenes
        return f"{window.due_after_scenes}-{last}"
    return " – ".join(":".join(map(str, place)) if place else "…" for place in (window.due_from, window.due_by))


def _ledger(view: View) -> Any:
    if sum(bool(view.asked[each]) for each in ("only_due", "as_board", "as_report")) > 1:
        raise click.UsageError("--due, --board and --report are three views; give one of them")
    ledger = view.part.thread_ledger(**view.values).of_category(*view.asked["categories"])
    return ledger.model_copy(update={"entries": ledger.at("due", "overdue")}) if view.asked["only_due"] else ledger


def _show_ledger(ledger: Any, view: View) -> None:
    from novelgen.memory.board import board_lines, rhythm_line, unpaid_report

    if view.asked["as_report"]:
        for line in unpaid_report(ledger):
            print_text(line)
        return
    if not view.asked["as_board"]:
        waiting = [each for each in ledger.entries if each.is_waiting]
        rows = [[view.cell(path, each) for path in _LEDGER.values()] for each in waiting]
        print_table(list(_LEDGER), rows, labels=view.labels, shows_all=view.asked["shows_all"])
        print_text(rhythm_line(ledger))
        return
    for heading, lines in board_lines(ledger):
        print_heading(heading)
        for line in lines:
            print_text(f"- {line}")


_LEDGER: dict[str, Cell] = _cells(
    "entity_id=loop_id stage=~stage importance=~importance pressure age=age_scenes "
    "silent=silent_scenes expected text=description",
    expected=_window,
)


def _first_place(each: Any, view: View) -> str:
    return view.labels.place(each.first_chapter, each.first_scene)


def _show_entity(card: Any, view: View) -> None:
    from novelgen.context.labels import labels_for
    from novelgen.context.lines import render_value
    from novelgen.models.appearances import METADATA
    from runtime.doors.cli.views import print_states
    from runtime.story.attachments import StoryAttachments

    found, labels, prompt = card.entity, view.labels, labels_for(view.language)
    profile = {
        name: render_value(value, view.names, prompt)
        for name, value in found.profile.items()
        if name != METADATA or not isinstance(value, dict)
    }
    print_pairs(
        {
            labels["head.entity_id"]: found.entity_id,
            labels["head.kind"]: "" if view.values.get("entity_type") else labels.value(found.entity_type),
            labels["head.names"]: ", ".join(found.names()),
            labels["head.place"]: _first_place(found, view),
            labels["value.role"]: found.role,
            labels["head.text"]: found.description,
            **{prompt.attribute(name): value for name, value in (profile | card.metadata).items()},
        }
    )
    if card.state is not None:
        print_states([card.state], view.names, language=view.language)
    about = StoryAttachments(view.stores, view.project).memories_about(
        found.entity_id, limit=view.asked["memories"], as_of=view.values.get("as_of")
    )
    if about.memories:
        print_heading(prompt.memories)
        columns = _memories_shown()
        rows = [[view.cell(path, each) for path in columns.values()] for each in about.memories]
        print_table(list(columns), rows, labels=labels)
        if about.more:
            command = f"novelgen memory list {view.project} --attached-to {found.entity_id}"
            view.say("more_about", count=about.more, command=command)


def _show_edited_entity(result: Any, view: View) -> None:
    view.say("changed_fields", id=result.entity.entity_id, fields=", ".join(result.updated_fields))
    if result.holds_after is not None:
        view.say("holds_from", attributes=", ".join(result.attributes), place=result.holds_after)


def _ask_start(view: View, payload: dict[str, Any]) -> None:
    """Ask on a terminal from where on somebody new is known, where the story has scenes already."""
    if "start" in payload or not can_ask() or not view.part.has_scenes():
        return
    question = view.labels["line.ask_start"].format(name=payload["name"])
    answer = click.prompt(question, default="", show_default=False, err=True).strip()
    if answer:
        payload["start"] = str(POSITION.convert(answer, None, None))


def _show_added_entity(result: Any, view: View) -> None:
    view.say("added_entity", id=result.entity.entity_id, name=result.entity.name)
    if result.holds_after is not None:
        advice = "" if view.values.get("start") else view.labels["line.known_from_start_advice"]
        print_text(view.labels["line.known_after"].format(place=result.holds_after) + advice)
    elif view.values.get("start") is not None:
        view.say("known_from_start")


def _merging(view: View, payload: Mapping[str, Any]) -> Any:
    """Look both up, so that nobody is asked about who is not there; a candidate has no card."""
    return [
        payload[each] if _is_candidate(view, payload[each]) else _called(view, payload[each])
        for each in ("gone", "keep")
    ]


def _called(view: View, name: str) -> str:
    entity = view.part.entity(name).entity
    return f"{entity.entity_id} ({entity.name})"


def _is_candidate(view: View, name: str) -> bool:
    from runtime.story.name_candidates import StoryNameCandidates

    return StoryNameCandidates(view.stores, view.project).is_candidate(name=name)


def _merge(view: View) -> Any:
    from runtime.story.name_candidates import StoryNameCandidates

    keep, gone = view.values["keep"], view.values["gone"]
    if _is_candidate(view, keep) or _is_candidate(view, gone):
        return StoryNameCandidates(view.stores, view.project).merge_candidate(keep=keep, other=gone)
    return view.part.merge_entities(keep=keep, gone=gone)


def _show_merged(result: Any, view: View) -> None:
    if hasattr(result, "candidate"):
        names = ", ".join(result.candidate.names())
        if result.entity is not None:
            view.say("named_too", id=result.entity.entity_id, name=result.entity.name, names=names)
        else:
            view.say("offered_as", names=names, name=result.joined.name if result.joined else result.change.entity_id)
    else:
        gone = f"{result.change.other_id} ({result.other.name if result.other else view.values['gone']})"
        kept = f"{result.change.entity_id} ({result.entity.name if result.entity else view.values['keep']})"
        view.say("merged", gone=gone, kept=kept)
    _undo_told(result.change, view)


def _show_split(result: Any, view: View) -> None:
    change = result.change
    old = f"{change.entity_id} ({result.entity.name})" if result.entity else change.entity_id
    view.say("split", id=change.other_id, name=view.values["new_name"], old=old)
    _undo_told(change, view)


def _show_undone(result: Any, view: View) -> None:
    both = filter(None, (result.change.entity_id, result.change.other_id))
    view.say("undone", kind=view.labels.value(result.change.kind), of=", ".join(both))


def _show_candidate_decision(result: Any, view: View) -> None:
    if result.entity is None:
        view.say("dropped_candidate", name=result.candidate.name)
    else:
        view.say("added_entity", id=result.entity.entity_id, name=", ".join(result.entity.names()))
    _undo_told(result.change, view)


def _show_confirmed(result: Any, view: View) -> None:
    for each in result:
        _show_candidate_decision(each, view)


def _variants(candidate: Any, view: View) -> str:
    others = [f"{each.name} {each.count}" for each in candidate.variants if each.name != candidate.name]
    more = view.labels["line.and_more"].format(len(others) - MAX_LISTED) if len(others) > MAX_LISTED else ""
    asked = f"  = {candidate.same_as}?" if candidate.same_as else ""
    return f"{', '.join(others[:MAX_LISTED])} {more}".rstrip() + asked


def _show_candidates_hint(result: Any, view: View) -> None:
    asked = next((each for each in result if each.same_as), None)
    if asked is not None:
        command = f'novelgen entity merge {view.project} "{asked.same_as}" "{asked.name}"'
        print_text(view.labels["line.asks_whether_it_is_the_same"].format(asked.same_as, command))
    if result:
        command = f"novelgen entity confirm {view.project} NAME"
        print_text(view.labels["line.makes_one_an_entity_merge_and_drop"].format(command, "novelgen entity --help"))


def _sides(result: Any, view: View) -> list[tuple[str, Any]]:
    """Return each pair with the side from which it is told: that of who was asked for, else that of the first."""
    if not view.values.get("character"):
        return [(each.character_a, each.seen_by(each.character_a)) for each in result]
    own = view.part.entity(view.values["character"], as_of=view.values.get("as_of")).entity.entity_id
    return [(own, each.seen_by(own)) for each in result]


def _show_relationship(found: Any, view: View) -> None:
    labels = view.labels
    one, other = view.name(found.character_a), view.name(found.character_b)

    def felt(who: str, dimensions: Mapping[str, int]) -> dict[str, int]:
        feeling = labels["line.felt_by"]
        return {feeling.format(feeling=labels.value(name), who=who): value for name, value in dimensions.items()}

    print_pairs(
        {
            labels["head.entity_id"]: found.relationship_id,
            labels["head.kind"]: found.relationship_type,
            labels["head.status"]: found.status,
            labels["value.intensity"]: found.intensity,
            labels["line.view_of"].format(one, other): found.perspective_a,
            labels["line.view_of"].format(other, one): found.perspective_b,
            **{labels.value(name): value for name, value in found.dimensions.items()},
            **felt(one, found.dimensions_a),
            **felt(other, found.dimensions_b),
            **{labels.value(name): value for name, value in found.metadata.items()},
            labels["value.last_changed"]: "" if found.updated_at is None else f"{found.updated_at:%Y-%m-%d %H:%M} UTC",
        }
    )
    print_heading(labels["line.history"])
    rows = [
        ("" if each.chapter_index is None else view.cell("@", each), each.status, each.event) for each in found.history
    ]
    print_table(("place", "status", "event"), rows, labels=labels)


def _show_edited_relationship(result: Any, view: View) -> None:
    view.say("changed" if result.is_changed else "unchanged", id=result.relationship.relationship_id)


_KNOWN: dict[str, Cell] = {
    "since": lambda each, view: view.labels.place(each.since_chapter, each.since_scene),
    "how": lambda each, view: view.labels.value("as_said" if each.how == "author" else each.how),
    "learned_from": "=learned_from",
    "sure": lambda each, _: "" if each.certainty == 1 else each.certainty,
}


def _print_two(view: View, tables: Iterable[tuple[str, Mapping[str, Cell], Sequence[Any]]]) -> None:
    for heading, columns, found in tables:
        print_heading(f"{view.labels[f'line.{heading}']} ({len(found)})")
        rows = [[view.cell(path, each) for path in columns.values()] for each in found]
        print_table(list(columns), rows, labels=view.labels, shows_all=view.asked["shows_all"])


def _show_knowledge(found: Any, view: View) -> None:
    known: dict[str, Cell] = {"entity_id": "source_id", **_KNOWN, "text": "content"}
    unknown: dict[str, Cell] = _cells("entity_id=source_id why might_know_from==might_know_from text=content")
    _print_two(view, (("knows", known, found.known), ("does_not_know", unknown, found.not_known)))


def _show_knowers(found: Any, view: View) -> None:
    print_text(found.content)
    known: dict[str, Cell] = {"entity": "~name", **_KNOWN}
    unknown: dict[str, Cell] = _cells("entity=~name why might_know_from==might_know_from")
    _print_two(view, (("known_to", known, found.known_by), ("not_known_to", unknown, found.not_known_by)))


def _show_set_knowledge(said: Any, view: View) -> None:
    from novelgen.models.knowledge import ALL_LIVED

    labels, start = view.labels, view.values.get("start")
    what = said.source_id
    if what == ALL_LIVED:
        what = labels["line.everything_that_has_lived_through"].format(view.name(said.learned_from))
    told = labels[f"line.said_{view.values.get('kind', 'knows')}"].format(view.name(said.character_id), what)
    if said.chapter_index is None:
        since = labels["head.everywhere"]
    elif start is None:
        since = labels["line.from_its_own_scene_on"].format(labels.place(said.chapter_index, said.scene_index))
    else:
        since = labels["line.on_entering"].format(start)
    print_text(f"{told}{labels['line.comma']}{since}")


def _show_together(shared: Any, view: View) -> None:
    people = [view.name(each) for each in (shared.character_id, shared.other_id)]
    key = "line.together_alone" if shared.alone else "line.together_never_alone"
    print_text(view.labels[key].format(*people, len(shared.scenes), len(shared.alone)))
    for each in shared.scenes:
        print_text(f"  {view.cell('@', each)}" + (f" ({view.labels['value.alone']})" if each.is_alone else ""))


def _conflict_side(name: str) -> Cell:
    def side(each: Any, _: View) -> str:
        source = getattr(each.conflict, name)
        return f"{source.chapter_index}:{source.scene_index} {source.says}"

    return side


def _waived(each: Any, view: View) -> str:
    return (each.note or view.labels["value.yes"]) if each.is_waived else ""


def _show_scene(found: Any, _: View) -> None:
    print_text("\n" + (found.scene.text or ""))


def _show_inserted(change: Any, view: View) -> None:
    key = "room_made" if view.values.get("text") is None else "scene_inserted"
    view.say(key, place=view.values["position"], moved=change.moved)


def _remind_of_files(change: Any, view: View) -> None:
    if change.moved:
        view.remark("renumber_files")


def _show_record(found: Any, _: View) -> None:
    print_json(found.record)


def _record_aside(found: Any, view: View) -> None:
    if not found.is_stored:
        reason = f": {found.failure_reason}" if found.failure_reason else ""
        view.remark("no_record", place=view.values["position"], status=found.extraction_status, reason=reason)
    for fact in found.unverified:
        view.remark("unverified", fact=fact)


def summary_place(chapter: int | None, part: int | None) -> tuple[Any, int] | None:
    """Return which summary is meant by --chapter or --part; None where neither is given."""
    if chapter is not None and part is not None:
        raise click.UsageError("give --chapter or --part, not both")
    if chapter is not None:
        return "chapter", chapter
    return None if part is None else ("part", part)


def summary_name(summary: Any, labels: ViewLabels) -> str:
    """Return what a summary is of in words."""
    if summary.level == "chapter":
        return labels["line.chapter"].format(summary.number)
    title = f" {summary.title}" if summary.title else ""
    return labels["line.part"].format(summary.number) + f"{title} ({summary.first_chapter}–{summary.last_chapter})"


def _summaries(view: View) -> Any:
    place = summary_place(view.asked["chapter"], view.asked["part"])
    if place is None:
        return view.part.list_summaries(**view.values)
    return [view.part.get_summary(level=place[0], number=place[1])]


def _summary_remark(summary: Any, view: View) -> str:
    if summary.state == "withheld":
        return view.labels["line.not_used_scenes_went_elsewhere"]
    if summary.written and summary.state == "outdated":
        return view.labels["line.not_used_older_than_its_scenes"]
    key = {"outdated": "older_than_its_scenes", "unfinished": "not_over_yet"}.get(summary.state)
    return view.labels[f"line.{key}"] if key else ""


def _summary_text(summary: Any, _: View) -> str:
    return f"{summary.told}\n  ← {summary.written}" if summary.written else summary.told


def _since(view: View) -> Any:
    if view.asked["scene"] is None:
        return view.part.what_changed(**view.values)
    if view.values:
        raise click.UsageError("--scene names what is told of; leave out --from and --as-of")
    return view.part.what_scene_changed(position=view.asked["scene"])


def _show_changes(difference: Any, _: View) -> None:
    from novelgen.context.difference_block import difference_lines

    for line in difference_lines(difference):
        print_text(line)


def _scenes_in_order(timeline: Any, view: View) -> Any:
    if not view.asked["is_lived"]:
        return timeline.scenes
    return sorted(timeline.scenes, key=lambda each: (each.lived_order or math.inf, each.told_order))


def _told_time(scene: Any, _: View) -> str:
    told = scene.told.text if scene.told is not None else ""
    return f"“{told}”" if scene.said_in == "text" else told


def _day(scene: Any, _: View) -> str:
    if scene.story_day is None:
        return "?"
    mark = {"told": "", "inferred": "~", "at_least": "≥"}.get(scene.certainty, "?")
    until = f"–{scene.until_day}" if scene.until_day is not None else ""
    return f"{mark}{scene.story_day}{until}"


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


def _lived(scene: Any, view: View) -> str:
    order = "?" if scene.lived_order is None else str(scene.lived_order)
    if not scene.is_flashback:
        return order
    key = "line.before_the_story" if scene.lived == "before_story" else "value.flashback"
    return f"{order} ({view.labels[key]})"


def _who_and_where(scene: Any, view: View) -> str:
    who = ", ".join(map(view.name, scene.participants))
    return " @ ".join(filter(None, (who, view.name(scene.location_id))))


def _show_standing(found: Any, view: View) -> None:
    from runtime.doors.cli.views import print_states

    if found.snapshots:
        print_states(found.snapshots, found.names, language=view.language)
    else:
        print_text(view.labels["head.nothing"])


def _show_consolidation(report: Any, view: View) -> None:
    labels = view.labels
    sources = sum(len(group.source_ids) for group in report.groups)
    done = labels["line.memories_into"].format(sources, len(report.groups))
    if not report.dry_run:
        by_model = sum(group.is_models for group in report.groups)
        done += labels["line.of_them_written_by_the_model"].format(by_model)
    print_pairs(
        {
            labels["value.project"]: view.project,
            labels["value.limit"]: labels["line.memories_per_entity"].format(report.limit),
            labels["line.would_consolidate" if report.dry_run else "value.consolidated"]: done,
            labels["value.memories"]: f"{report.memories_before} -> {report.memories_after}",
            labels["line.still_over_the_limit"]: ", ".join(f"{name} {n}" for name, n in report.over_limit.items()),
            labels["line.changed_meanwhile"]: labels["line.groups_left_alone"].format(report.overtaken)
            if report.overtaken
            else None,
            labels["value.index"]: None if report.dry_run else index_state(report.indexing, view.project, labels),
        }
    )
    if report.dry_run:
        rows = [(group.entity_id, ", ".join(group.source_ids)) for group in report.groups]
        print_table(("entity", "memories"), rows, labels=labels)


def _consolidation_aside(report: Any, _: View) -> None:
    for issue in report.issues:
        report_warning(issue.message)


_CHANGED = {"entity_id": "change_id", "change": "~kind"}

OFFERS: dict[str, Offer] = {
    "search_story_memory": Offer(
        command="search",
        example='search my-novel "the brass key"\n'
        'search my-novel "a promise" --entity Ada --type memory --as-of 4:1 --json',
        spellings={"entities": "--entity --attached-to"},
        columns=_memories_shown(),
    ),
    "get_recent_timeline": Offer(
        command="entity timeline", example="entity timeline my-novel 4 --context-window 1", show=_show_standing
    ),
    "list_scenes": Offer(
        command="scene list",
        example="scene list my-novel",
        columns=_cells("place=@scene status=~scene.extraction_status volume=part title=scene.title on_stage"),
    ),
    "get_scene": Offer(
        command="scene show",
        example="scene show my-novel 3:2",
        pairs=_cells("place=@scene volume=part title=scene.title status=~scene.extraction_status on_stage"),
        show=_show_scene,
    ),
    "insert_scene": Offer(
        command="scene insert",
        example="scene insert my-novel 3:2 --file new-scene.md\nscene insert my-novel 4",
        spellings={"text": "--file"},
        show=_show_inserted,
        aside=_remind_of_files,
    ),
    "move_scene": Offer(
        command="scene move", example="scene move my-novel 3:2 5:1\nscene move my-novel 3 5", aside=_remind_of_files
    ),
    "delete_scene": Offer(
        command="scene delete",
        example="scene delete my-novel 3:2",
        asks="get_scene",
        aside=lambda _, view: view.remark("file_still_holds_it"),
    ),
    "get_scene_record": Offer(
        command="record show",
        example="record show my-novel 3:2 > record.json",
        help="Print a scene's record as JSON.\n\n"
        "Memories and states whose quote does not stand in the scene are listed on the error stream. --json adds how "
        "the record came about.",
        show=_show_record,
        aside=_record_aside,
    ),
    "list_summaries": Offer(
        command="summary show",
        example="summary show my-novel\nsummary show my-novel --part 1",
        help="List the summaries: who wrote them, and which are older than their scenes.",
        more=(
            (("--chapter",), {"type": click.IntRange(min=0), "help": "This chapter."}),
            (("--part",), {"type": COUNT, "help": "The part of this number."}),
        ),
        run=_summaries,
        columns={
            "of": lambda each, view: summary_name(each, view.labels),
            "origin": "~origin",
            "remark": _summary_remark,
            "summary": _summary_text,
        },
    ),
    "list_author_changes": Offer(
        command="memory changes",
        example="memory changes my-novel --limit 20",
        columns={**_CHANGED, "place": "position", "text": "what", "undone": "?undone_at"},
    ),
    "list_memories": Offer(
        command="memory list",
        example="memory list my-novel --attached-to Ada --limit 20\n"
        "memory list my-novel --attached-to chapter:3 --attached-to book",
        spellings={"attached_to": "--attached-to --entity"},
        without=("entities",),
        rows="memories",
        columns=_memories_shown("chunk"),
        show=_more_memories,
    ),
    "add_note": Offer(
        command="note",
        example='note my-novel "Nobody in this story can swim."\nnote my-novel "The bridge is gone." --from 4:1\n'
        'note my-novel "Told in the present tense." --attach chapter:3\n'
        'note my-novel "Ada has the second key." --known-by Ada',
        spellings={"attached_to": "--attach --entity"},
        without=("entities", "evidence", "as_of"),
        show=_show_note,
        aside=_note_aside,
    ),
    "get_memory": Offer(
        command="memory show",
        example="memory show my-novel note-N0",
        pairs=_cells(
            "chunk_id=chunk.chunk_id source_id=chunk.source_id place=@chunk kind=~chunk.content_type "
            "status importance=chunk.importance origin=~chunk.origin attached_to concerns verified "
            "tags=chunk.tags short=chunk.short text=chunk.content",
            status=_status,
            attached_to=lambda found, _: _attached(found.attachments),
            concerns=lambda found, view: view.labels["line.concerns_who_is_nowhere"] if found.occurs_nowhere else "",
            verified=lambda found, view: "" if found.chunk.verified else view.labels["line.not_verified"],
        ),
    ),
    "edit_memory": Offer(
        command="memory edit",
        example='memory edit my-novel M012 --text "The key is brass." --importance 8\n'
        "memory edit my-novel M012 --attach chapter:3 --detach Ben",
        without=("evidence", "as_of"),
        show=_show_edited_memory,
    ),
    "delete_memory": Offer(
        command="memory delete", example="memory delete my-novel M012", asks="get_memory", show=_show_decision
    ),
    **{
        f"{verb}_memory": Offer(command=f"memory {verb}", example=f"memory {verb} my-novel M012", show=_show_decision)
        for verb in ("confirm", "pin", "unpin", "ban", "unban")
    },
    "attach_memories": Offer(
        command="memory attach",
        example='memory attach my-novel M012 Ada "the brass key"\nmemory attach my-novel M012 chapter:3',
        show=_show_attachments,
    ),
    "detach_memories": Offer(
        command="memory detach", example="memory detach my-novel M012 Ben", show=_show_attachments
    ),
    "attach_mentions": Offer(
        command="memory attach-mentions",
        example="memory attach-mentions my-novel Ada --apply",
        rows="memories",
        columns=_memories_shown(),
        show=_show_mentions,
    ),
    "list_memories_about": Offer(
        command="entity memories",
        example="entity memories my-novel Ada --limit 20",
        rows="memories",
        columns=_memories_shown(),
    ),
    "list_consolidations": Offer(
        command="memory consolidated",
        example="memory consolidated my-novel",
        columns=_cells("entity_id=chunk.chunk_id place=@chunk stands_for=source_ids text=chunk.content"),
    ),
    "undo_consolidations": Offer(
        command="memory unconsolidate",
        example="memory unconsolidate my-novel consolidated-0123456789abcdef\nmemory unconsolidate my-novel --yes",
        by_position=("chunk_id",),
        asks=lambda view, payload: payload.get("chunk_id") or view.labels["value.all"],
    ),
    "consolidate_memories": Offer(
        command="consolidate",
        example="consolidate my-novel --dry-run\nconsolidate my-novel --limit 200",
        show=_show_consolidation,
        aside=_consolidation_aside,
    ),
    "list_entities": Offer(
        command="entity list",
        example="entity list my-novel --as-of 4:1",
        without=("entity_type",),
        columns=_cells(
            "entity_id names kind role place text=description",
            names=lambda each, _: ", ".join(each.names()),
            kind=lambda each, view: "" if "entity_type" in view.values else view.cell("~entity_type", each),
            role=lambda each, view: each.role if "entity_type" in view.values else "",
            place=_first_place,
        ),
    ),
    "get_entity": Offer(
        command="entity show",
        example="entity show my-novel Ada\nentity show my-novel Ada --as-of 4:1",
        without=("entity_type",),
        more=(
            (
                ("--memories",),
                {
                    "type": click.IntRange(0, 200),
                    "default": 10,
                    "show_default": True,
                    "help": "At most so many of the memories about it are shown.",
                },
            ),
        ),
        show=_show_entity,
    ),
    "edit_entity": Offer(
        command="entity edit",
        example="entity edit my-novel Ada description='…' translation='…'\n"
        "entity edit my-novel Ada mood=restless --from 4:1",
        help="Change fields of the card and the profile, and attributes of the state.\n\n"
        "A VALUE is JSON where it can be read as JSON, else a text. `alias` adds a name and may be given repeatedly, "
        "`aliases` replaces all; a new `name` keeps the old one as an alias. `first_chapter` and `first_scene` say "
        "where the story first shows it. Other names, and those within `current_state={…}`, are attributes of the "
        "state, which hold from --from on; one that looks like a misspelt field is said with --state.",
        by_position=("name", "changes"),
        without=("entity_type",),
        show=_show_edited_entity,
    ),
    "delete_entity": Offer(
        command="entity delete",
        example="entity delete my-novel Ada --yes",
        help="Delete it with names, states and relationships; memories stay. `novelgen undo` takes it back.\n\nA "
        "characters.json that still has it brings it back with the next ingest.",
        without=("entity_type",),
        asks="get_entity",
        show=_show_deletion,
    ),
    "add_character": Offer(
        command="character add",
        example='character add my-novel "Ada" --role minor --description "A keeper"\n'
        'character add my-novel "Ben" --from 1:1',
        before=_ask_start,
        show=_show_added_entity,
    ),
    "add_location": Offer(
        command="location add",
        example='location add my-novel "the Light" --atmosphere lonely\nlocation add my-novel "the cove" --from 1:1',
        before=_ask_start,
        show=_show_added_entity,
    ),
    "merge_entities": Offer(
        command="entity merge",
        example='entity merge my-novel "Mary Grey" "the stranger"',
        asks=_merging,
        run=_merge,
        show=_show_merged,
    ),
    "split_entity": Offer(
        command="entity split",
        example='entity split my-novel C1 --name "the veiled lady" --scene 2:1',
        by_position=("name",),
        show=_show_split,
    ),
    "undo_change": Offer(
        command="undo", example="undo my-novel\nundo my-novel 3", by_position=("change_id",), show=_show_undone
    ),
    "list_entity_changes": Offer(
        command="entity changes",
        example="entity changes my-novel",
        columns={**_CHANGED, "entity": "entity_id", "other": "other_id", "undone": "?undone_at"},
    ),
    "list_candidates": Offer(
        command="entity candidates",
        example="entity candidates my-novel\nentity candidates my-novel --kind character --as-of 4:1",
        columns=_cells(
            "names=name kind=~kind times=count in_scenes=scenes speaks place also",
            speaks=lambda each, _: each.speaks or "",
            place=lambda each, _: f"{each.first} - {each.last}",
            also=_variants,
        ),
        show=_show_candidates_hint,
    ),
    "confirm_candidates": Offer(
        command="entity confirm",
        example='entity confirm my-novel "Mary Grey" Ada\nentity confirm my-novel "the Light" --kind location\n'
        "entity confirm my-novel --top 20",
        by_position=("names",),
        show=_show_confirmed,
    ),
    "drop_candidate": Offer(command="entity drop", example='entity drop my-novel "Hum"', show=_show_candidate_decision),
    "list_relationships": Offer(
        command="relationship list",
        example="relationship list my-novel --of Ada --status strained",
        spellings={"character": "--of"},
        rows=_sides,
        columns={
            "entity_id": lambda pair, _: pair[1].relationship_id,
            "of": lambda pair, view: view.name(pair[0]),
            "to": lambda pair, view: view.name(pair[1].character_id),
            "kind": lambda pair, _: pair[1].relationship_type,
            "status": lambda pair, _: pair[1].status,
            "intensity": lambda pair, _: pair[1].intensity,
            "dimensions": lambda pair, view: view.cell("dimensions", pair[1]),
            "view": lambda pair, _: pair[1].your_view,
        },
    ),
    "get_relationship": Offer(
        command="relationship show", example="relationship show my-novel Ada Ben", show=_show_relationship
    ),
    "add_relationship": Offer(
        command="relationship add",
        example='relationship add my-novel Ada Ben --type friends --view-a "He never lies"',
        by_position=("first", "second"),
    ),
    "edit_relationship": Offer(
        command="relationship edit",
        example="relationship edit my-novel Ada Ben --status strained --scene S004\n"
        "relationship edit my-novel Ben Ada --dimension trust=-40 --dimension fear=20\n"
        'relationship edit my-novel Ada Ben --type rivals --view-a "He lied to me"',
        show=_show_edited_relationship,
    ),
    "delete_relationship": Offer(
        command="relationship delete",
        example="relationship delete my-novel Ada Ben --yes",
        asks="get_relationship",
        show=_show_deletion,
    ),
    "list_shared_scenes": Offer(
        command="relationship together", example="relationship together my-novel Ada Ben", show=_show_together
    ),
    "list_knowledge": Offer(
        command="knows",
        example='knows my-novel Ines --as-of 6:2\nknows my-novel Ines --about "the brass key"\n'
        "knows my-novel reader --as-of 6:2 --json",
        show=_show_knowledge,
        is_long=True,
    ),
    "who_knows": Offer(
        command="memory knowers", example="memory knowers my-novel M012 --as-of 6:2", show=_show_knowers, is_long=True
    ),
    "set_knowledge": Offer(
        command="memory knowledge",
        example="memory knowledge my-novel M012 Ines hidden\n"
        "memory knowledge my-novel M012 Ines knows --how told --learned-from Ben --from 6:2",
        by_position=("memory_id", "character", "kind"),
        show=_show_set_knowledge,
    ),
    "forget_knowledge": Offer(
        command="memory forget-knowledge",
        example="memory forget-knowledge my-novel M012 Ines",
        by_position=("memory_id", "character"),
    ),
    "list_threads": Offer(
        command="thread list",
        example="thread list my-novel --as-of 9:1",
        columns=_cells(
            "entity_id=loop_id status=~status importance=~importance place age=age_scenes text=description",
            place=lambda each, view: "" if each.chapter_index is None else view.cell("@", each),
        ),
    ),
    "get_thread": Offer(
        command="thread show",
        example="thread show my-novel OL3",
        pairs=_cells(
            "entity_id=loop_id category text=description importance=~importance status=~status place "
            "last_moved resolution=resolution_summary age=age_scenes pay_off due_from due_by parts "
            "related==related_entities notes",
            place=lambda each, view: "" if each.chapter_index is None else view.cell("@", each),
            last_moved=lambda each, view: (
                view.labels.place(each.last_chapter_index, each.last_scene_index)
                if each.last_chapter_index is not None
                else ""
            ),
            due_from=lambda each, _: ":".join(map(str, each.due_from or ())),
            due_by=lambda each, _: ":".join(map(str, each.due_by or ())),
        ),
    ),
    "add_thread": Offer(
        command="thread add", example='thread add my-novel "Who lit the lamp?" --importance high --character Ada'
    ),
    "edit_thread": Offer(
        command="thread edit", example='thread edit my-novel OL3 --due-by 9:1 --pay-off "The lamp\'s keeper speaks"'
    ),
    "advance_thread": Offer(command="thread advance", example='thread advance my-novel OL3 "A second light is seen"'),
    "resolve_thread": Offer(command="thread resolve", example='thread resolve my-novel OL3 "Ada lit it" --ending paid'),
    "abandon_thread": Offer(command="thread abandon", example='thread abandon my-novel OL3 "Nobody asks any more"'),
    "reopen_thread": Offer(command="thread reopen", example="thread reopen my-novel OL3"),
    "delete_thread": Offer(
        command="thread delete", example="thread delete my-novel OL3 --yes", asks="get_thread", show=_show_deletion
    ),
    "get_thread_ledger": Offer(
        command="threads",
        example="threads my-novel --due\nthreads my-novel --board --as-of 9:1\nthreads my-novel --report",
        more=(
            (("--due", "only_due"), {"is_flag": True, "help": "Only those that are due or overdue."}),
            (
                ("--category", "categories"),
                {
                    "multiple": True,
                    "help": "Only of this kind: promise, question, threat, plan, debt, 伏笔, …; repeatable.",
                },
            ),
            (("--board", "as_board"), {"is_flag": True, "help": "A board: overdue, due, moved, planted, over."}),
            (("--report", "as_report"), {"is_flag": True, "help": "What became of all, and what was never paid."}),
        ),
        run=_ledger,
        show=_show_ledger,
        is_long=True,
    ),
    "list_conflicts": Offer(
        command="conflicts list",
        example="conflicts list my-novel --with-waived",
        columns=_cells(
            "entity_id=conflict.conflict_id about=conflict.subject kind=~conflict.kind first second waived",
            first=_conflict_side("first"),
            second=_conflict_side("second"),
            waived=_waived,
        ),
    ),
    "waive_conflict": Offer(
        command="conflicts waive", example='conflicts waive my-novel X0123456789ab --note "he lied to the abbot"'
    ),
    "settle_conflict": Offer(
        command="conflicts resolve",
        example="conflicts resolve my-novel X0123456789ab --keep first",
        by_position=("conflict_id",),
    ),
    "list_changes": Offer(
        command="since",
        example="since my-novel\nsince my-novel --scene 3:4\nsince my-novel --from 3:1 --as-of 5",
        spellings={"since": "--from", "until": "--as-of"},
        more=((("--scene",), {"type": POSITION, "help": "What this scene changed, or this whole chapter."}),),
        run=_since,
        show=_show_changes,
    ),
    "list_story_times": Offer(
        command="timeline",
        example="timeline my-novel\ntimeline my-novel --lived --as-of 4:1\ntimeline my-novel --character Ada --json",
        more=((("--lived", "is_lived"), {"is_flag": True, "help": "Scenes in the order lived, not the order told."}),),
        rows=_scenes_in_order,
        columns={
            "place": "@",
            "when": _told_time,
            "day": _day,
            "since_the_scene_before": _days_since,
            "lived": _lived,
            "who_and_where": _who_and_where,
        },
    ),
}
"""By the name of the operation."""

ALIKE: dict[str, tuple[str, dict[str, Any]]] = {
    f"{kind} undo": ("undo_change", {}) for kind in ("entity", "memory")
} | {
    f"{kind} {verb}": (name, {"entity_type": kind})
    for kind in ("character", "location")
    for verb, name in (
        ("list", "list_entities"),
        ("show", "get_entity"),
        ("edit", "edit_entity"),
        ("delete", "delete_entity"),
    )
}
"""Further commands of an operation, with arguments that they fix."""

HELP = {
    "undo": "Take back the last change of any kind.\n\nAn edit, a note, a merge, a deletion, an ending. Its number is "
    "as `entity changes` and `memory changes` list it; without it the last change that still stands.",
    "note": "Add a fact of your own that holds in the story: canon.",
    "since": "Tell what the last scene changed, or all from one on.\n\n"
    "New facts, best first; states, who holds what, threads, who learnt what, relationships; who came for "
    "the first time, died, or turned out to be somebody else. Nothing that lies after what is told of.",
    "search": "Search the memory by meaning and by words, best first.",
    "entity": "Show, edit, merge, split and delete who and what is known.\n\n"
    "Entities are characters, locations, items, factions and terms.",
    "character": "Look at characters; add, edit and delete them.",
    "location": "Look at locations; add, edit and delete them.",
    "knows": "Tell what a character knows, and what not and why.\n\n"
    "CHARACTER is an id, name or alias, or `reader` for whoever reads the book. Who knows what follows "
    "from the story before the position; put it right with `novelgen memory knowledge`.",
    "relationship": "Look at relationships; add, edit and delete them.\n\n"
    "Characters are given by id, name or alias, and a pair in either order.",
    "thread": "Look at open threads; add, move, end and delete them.\n\n"
    "A thread is what the story has promised and not yet paid.",
    "threads": "Tell which promises wait, how long, and which are due.\n\n"
    "What presses most comes first: by weight, age against what is expected, silence, and who is on "
    "stage. When a thread is due is told by its author (`novelgen thread edit --due-by`), else by how "
    "long this book's paid threads of that weight stayed open.",
    "timeline": "Show when the scenes play.\n\n"
    "One row per scene, by what its record and its first words say: the running day (~ follows from the "
    "hours, ≥ is the earliest that it can be, ? is unknown), the time since the scene before, and its "
    "place in the order lived. How entities stood around a chapter is told by `novelgen entity timeline`.",
    "memory": "Look at single memories and put them right.\n\nWhat you decide survives a new ingest.",
    "record": "Look at what a scene established, and correct it.\n\n"
    "What you write outranks what a model extracts and stays when scenes are extracted again.",
    "summary": "Look at what is told of finished chapters and parts.\n\n"
    "Summaries are made of the records' bullets. What you write stands in their place, whatever changes; "
    "what a model writes does until its scenes change.",
    "conflicts": "Look at contradictions in the story; settle or waive them.\n\n"
    "Found are second values for what does not change, characters in two places at one time, the dead who "
    "act, things that two characters hold, and dates, hours and ages that cannot be.",
    "scene": "Look at stored scenes; insert, move or delete them.\n\n"
    "Memories, states and all else that came from a scene go with it.",
    "consolidate": "Let one memory stand for several small ones.\n\n"
    "Done where an entity has more memories than a limit.\n\n"
    "Taken together are the least important memories of an entity that lie near each other in the story "
    "and speak of one topic. A scene after the last of them reads the one memory, earlier scenes read "
    "them as before; they are kept, and come back when one of them changes or you undo it (`novelgen "
    "memory unconsolidate`). Important ones, your own, promises not yet kept and what belongs to open "
    "threads are never touched.",
}
"""Help of the commands and the groups of commands that stand below the program itself."""

HAND_WRITTEN = {
    "record edit": "texts:edit_record",
    "summary edit": "texts:edit_summary",
    "summary write": "texts:write_summaries",
}
"""Commands of groups that are else made of the table."""
