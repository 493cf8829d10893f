"""Parts of commands on characters of games and their world."""

from __future__ import annotations

import json
from typing import Any

import click

from novelgen.errors import UserInputError
from runtime.doors.cli import output
from runtime.doors.cli.command_view import View, cell, cells_of, does
from runtime.doors.cli.error_handling import ExitCode
from runtime.doors.cli.labels import in_words, view_labels_for
from runtime.doors.cli.parameters import json_or_text


@does(
    "aside", "consolidate_memories", "import_lore", "import_glossary", "add_card", "confirm_candidates", "edit_entity"
)
@does("aside", "remember_event", "recall_memories", "undo_change", "set_staging")
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
        output.print_text(in_words(f"put an end to: {view_labels_for().listing(result.ended)}"))
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
                view.labels.listing(item.why),
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
        view.table(cells_of("when=:moved_at change=:moved why=event_type"), history)


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
