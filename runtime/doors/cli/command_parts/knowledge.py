"""Parts of commands on who knows what."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from novelgen.shell_words import in_shell
from runtime.doors.cli import output
from runtime.doors.cli.command_view import View, cell, cells_of, does, guess_text


@cell
def _why_unknown(item: Any, view: View) -> str:
    from novelgen.memory.knowledge_rules import why_unknown

    return why_unknown(item.why, view.labels.language) + (guess_text(view) if item.is_guess else "")


_KNOWN_COLUMNS = "since=:since_place how=:how learned_from==learned_from sure=:sure"


_UNKNOWN_COLUMNS = "why=:why_unknown might_know_from==might_know_from"


def _print_two(view: View, tables: Iterable[tuple[str, str, Sequence[Any]]]) -> None:
    for heading, text, matches in tables:
        output.print_heading(view.labels[f"line.{heading}"] + view.labels.in_brackets(str(len(matches))))
        view.table(cells_of(text), matches)


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
    if result.also_hidden:
        names = labels.listing([f"{note.source_id} ({note.content})" for note in result.also_hidden])
        first = result.also_hidden[0].source_id
        person = in_shell(view.name(result.character_id))
        view.say("also_hidden", notes=names, command=f"novelgen memory knowledge {view.project} {first} {person} knows")


@does("show", "list_shared_scenes")
def _show_together(shared: Any, view: View) -> None:
    people = [view.name(item) for item in (shared.character_id, shared.other_id)]
    key = "line.together_alone" if shared.alone else "line.together_never_alone"
    output.print_text(view.labels[key].format(*people, len(shared.scenes), len(shared.alone)))
    for scene in shared.scenes:
        remark = view.labels.in_brackets(view.labels["value.alone"] if scene.is_alone else "")
        output.print_text(f"  {view.cell('@', scene)}{remark}")
