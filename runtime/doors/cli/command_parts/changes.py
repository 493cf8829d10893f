"""Parts of commands on changes and contradictions."""

from __future__ import annotations

from typing import Any

import click

from novelgen.models.entity import is_entity_id
from runtime.doors.cli import output
from runtime.doors.cli.command_view import View, cell, does


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


@does("show", "undo_change")
def _show_undone(result: Any, view: View) -> None:
    change = result.change
    of = result.what or view.labels.listing(_subjects(change, view))
    if change.kind == "know":
        whose = change.other_id if change.subject == "memory" else change.entity_id
        of = f"{view.name(whose)}{view.labels.prompt.colon}{result.what}" if result.what else view.name(whose)
    elif change.kind == "relate":
        of = view.labels.listing((view.name(change.entity_id), view.name(change.other_id)))
    elif change.kind == "summary":
        of = view.labels[f"line.{change.entity_id}"].format(change.other_id)
    elif change.kind == "waive":
        of = view.labels.listing(change.before)
    view.say("undone", kind=view.labels.value(change.kind), of=of)


def _subjects(change: Any, view: View) -> list[str]:
    """Return the names of the subjects of a change."""
    if change.subject == "thread" and change.other_id:
        return [change.other_id]
    names = {**change.entity_names, **view.names}
    ids = list(filter(None, (change.entity_id, change.other_id)))
    texts = list(dict.fromkeys(names.get(entity_id, entity_id) for entity_id in ids))
    return [text for text in texts if not is_entity_id(text)] or texts


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
