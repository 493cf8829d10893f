"""Commands generated from the operations table.

What the table and the method cannot say of a command stands in `operation_commands`; what the table does not have, in
`commands.toml`. This imports the parts of a story; help does without it, and reads what is described here out of
`manifest.json`.
"""

import inspect
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import click
from pydantic.fields import FieldInfo

from runtime.doors.arguments import POSITION_PATTERN, Arguments, Schema, arguments_of, forms_of, read_arguments
from runtime.doors.cli import output, parameters
from runtime.doors.cli.command_view import View
from runtime.doors.cli.labels import in_words
from runtime.doors.cli.operation_commands import OPERATION_COMMANDS, SPELLINGS, OperationCommand
from runtime.doors.operations import BY_NAME, Operation, change_number

_WIDEST = 1_000_000_000
"""A bound of numbers beyond this says nothing to people."""

_CHARACTER = {"name": "character_id", "kind": "text", "is_many": False, "is_required": True, "metavar": "CHARACTER"}
_CREATE = {"names": ["--create"], "kind": "flag", "help": "Make the character, and the project, where there is none."}

Described = dict[str, Any]
"""A command, an argument or an option as `manifest.json` has it."""


@cache
def _row(path: str) -> tuple[Operation, OperationCommand, type[Arguments]]:
    """Return operation, entry and arguments by the words that call a command."""
    name, entry = next((name, entry) for name, entry in OPERATION_COMMANDS.items() if entry.command == path)
    operation = BY_NAME[name]
    return operation, entry, arguments_of(operation.function, (*operation.without, *entry.without))


def described_commands() -> dict[str, Described]:
    """Return the parameters and help of every command, by name."""
    by_hand = tomllib.loads(Path(__file__).with_name("commands.toml").read_text(encoding="utf-8"))
    described = {path: text | {"epilog": _epilog(text.pop("example").splitlines())} for path, text in by_hand.items()}
    return described | {entry.command: _described_command(entry.command) for entry in OPERATION_COMMANDS.values()}


_PATH: Described = {"name": "path_text", "kind": "file_text", "is_required": False, "metavar": "PATH"}
"""The file of an import by position, as `novelgen import` takes it; `--file` is the same."""


def _one_file(path: str, *, by_position: str | None, by_option: str | None) -> str:
    """Return the text of the one file that is given."""
    if by_position is not None and by_option is not None:
        raise click.UsageError("give the file once: PATH or --file")
    text = by_option if by_position is None else by_position
    if text is None:
        raise click.UsageError(f"which file is not said; give its path: novelgen {path} PROJECT PATH")
    return text


def _described_command(path: str) -> Described:
    operation, entry, model = _row(path)
    fields, forms = model.model_fields, forms_of(model)
    first = entry.by_position
    if first is None:
        first = tuple(entity_id for entity_id, info in fields.items() if info.is_required())
    arguments = [
        _argument(entity_id, fields[entity_id], forms[entity_id], is_last=entity_id == first[-1]) for entity_id in first
    ]
    options = [
        _option(entity_id, info, forms[entity_id], entry)
        for entity_id, info in fields.items()
        if entity_id not in first
    ]
    options += [dict(fields) for fields in entry.more]
    if entry.takes_path:
        arguments.append(_PATH)
    if operation.is_of_character:
        arguments.insert(0, _CHARACTER)
    if operation.may_create:
        options.append(_CREATE)
    return {
        "help": entry.help or _first_part(operation),
        "epilog": _epilog(entry.example.strip().splitlines()) if entry.example else None,
        "arguments": arguments,
        "options": options,
        "asks": bool(entry.asks),
        "is_long": bool(entry.columns) or entry.is_long,
    }


def _names_of(described: Described) -> set[str]:
    """Return the names under which a command passes its arguments and options on."""
    options = (option["names"][-1].lstrip("-").replace("-", "_") for option in described["options"])
    return {*options, *(argument["name"] for argument in described["arguments"])}


def run(
    path: str, project: str, as_json: bool, is_confirmed: bool = True, shows_all: bool = True, **arguments: Any
) -> None:
    """Run a command, and print its result."""
    operation, entry, model = _row(path)
    forms = forms_of(model)
    if difference := sorted(_names_of(_described_command(path)) ^ arguments.keys()):
        raise click.ClickException(
            f"manifest.json and the method of {path!r} differ in {', '.join(difference)}; "
            "write it anew: python -m tests.regenerate"
        )
    if entry.takes_path:
        arguments["text"] = _one_file(path, by_position=arguments.pop(_PATH["name"]), by_option=arguments["text"])
    payload = {
        entity_id: _payload(arguments.pop(entity_id), info, forms[entity_id])
        for entity_id, info in model.model_fields.items()
    }
    payload = {text: value for text, value in payload.items() if value is not None}
    requested_fields = {**arguments, "shows_all": shows_all}
    with _open_view(project, operation, requested_fields, story_as_of=payload.get("story_as_of")) as view:
        if entry.before is not None:
            entry.before(view, payload)
        values = read_arguments(model, payload)
        view.values.update(values)
        if entry.asks:
            target = entry.asks(view, payload) if callable(entry.asks) else _find_object(entry.asks, view, payload)
            question = view.labels[f"ask.{operation.name}"].format(found=target, project=project, **payload)
            parameters.require_confirmation(question, is_confirmed=is_confirmed)
        result = _result(operation, entry, view)
        indexing = getattr(result, "indexing", None)
        if indexing is not None:
            output.report_indexing(indexing, project)
        if as_json:
            text = operation.answer(result) if entry.json is None else entry.json(result, view)
            output.print_json(text)
        else:
            labels = view.labels
            if entry.pairs:
                output.print_pairs({key: view.cell(path, result) for key, path in entry.pairs.items()}, labels)
            if entry.columns:
                rows = list(view.at(entry.rows, result))
                empty = labels.get(f"empty.{operation.name}")
                if empty and not rows:
                    output.print_text(empty.format(project=view.project))
                else:
                    view.table(entry.columns, rows)
            if entry.show is not None:
                entry.show(result, view)
            done_text = labels.get(f"done.{operation.name}")
            if done_text:
                labels_by_field = {kind: labels.value(str(getattr(result, kind, ""))) for kind in ("status", "kind")}
                count = len(result) if isinstance(result, list | tuple) else 0
                output.print_text(
                    in_words(
                        done_text.format(
                            result=result, project=view.project, count=count, **labels_by_field | view.values
                        )
                    )
                )
            if operation.changes:
                output.print_undo(change_number(result), project, labels)
        if entry.aside is not None:
            entry.aside(result, view)


@contextmanager
def _open_view(
    project: str, operation: Operation, requested_fields: dict[str, Any], *, story_as_of: Any = None
) -> Iterator[View]:
    session, is_new = click.get_current_context().obj, requested_fields.get("create", False)
    with (parameters.opened_stores if is_new else parameters.opened_project)(session, project) as stores:
        part: Any = operation.part
        if operation.is_of_character:
            from runtime.story.characters import StoryCharacters

            entity = StoryCharacters(stores, project).open_character(
                name=requested_fields["character_id"], create=is_new, as_of=story_as_of
            )
            part = part(stores, project, entity)
        else:
            part = part(stores, project)
        yield View(stores, project, parameters.story_language(stores, project), part, {}, requested_fields)


def _find_object(name: str, view: View, payload: Mapping[str, Any]) -> Any:
    """Return the object of a deletion, for its confirmation."""
    operation = BY_NAME[name]
    model = arguments_of(operation.function, operation.without)
    values = read_arguments(model, {name: value for name, value in payload.items() if name in model.model_fields})
    return operation.function(operation.part(view.stores, view.project), **values)


def _result(operation: Operation, entry: OperationCommand, view: View) -> Any:
    if entry.run is not None:
        return entry.run(view)
    if "progress" not in inspect.signature(operation.function).parameters:
        return operation.function(view.part, **view.values)
    with output.progress_bars(operation.name.replace("_", " ")) as (progress,):
        callback: output.ProgressCallback = progress
        return operation.function(view.part, **view.values, progress=callback)


def _epilog(examples: Sequence[str]) -> str:
    lines = (f"  {example}" if "novelgen" in example else f"  novelgen {example}" for example in examples)
    return "\n".join(("\b", "Example:" if len(examples) == 1 else "Examples:", *lines))


def _first_part(operation: Operation) -> str:
    text = re.split(r"\n\n(?:Args|Returns|Raises):", inspect.getdoc(operation.function) or "")[0].replace("`", "")
    return re.sub(r"^Return ", "Show ", text)


def _argument(name: str, info: FieldInfo, forms: Sequence[Schema], *, is_last: bool) -> Described:
    kind, is_many = ("chapter", False) if name == "chapter_index" else _argument_kind(forms)
    many = is_many and is_last
    call_name = {
        "position": "C:S",
        "changes": "[FIELD=VALUE]...",
        "fields": "[FIELD=VALUE]...",
        "change_id": "[NUMBER]",
        "loop_id": "THREAD",
        "content": "TEXT",
    }.get(name)
    metavar = call_name or re.sub(r"_ids?$|s$", "", name).upper() + ("..." if many else "")
    is_required = info.is_required() and kind != "change"
    return {"name": name, "kind": kind, "is_many": many, "is_required": is_required, "metavar": metavar}


def _option(name: str, info: FieldInfo, forms: Sequence[Schema], entry: OperationCommand) -> Described:
    kind, is_many = ("chapter", False) if name == "chapter_index" else _argument_kind(forms)
    own = "--" + name.replace("_", "-")
    spelling = entry.spellings.get(name) or SPELLINGS.get(name) or ""
    # What an argument is, as its method says it, and its default in the words of a command line.
    default = info.default
    suggestion = r".  [default: \1]" if default is None else "."
    text = re.sub(r"[;,] None (?:means|takes) (.+?)\.?$", suggestion, info.description or "").replace("`", "")
    text = re.sub(r"(\ban empty list)\b", r'\1 ("")', text) if is_many else text
    is_told = "[default" in text or info.is_required() or default in (None, False, True, "", [])
    told_text = text if is_told else f"{text}  [default: {default}]"
    if spelling == "--file":
        return {"names": ["--file", name], "kind": "file_text", "help": told_text}
    if "/" in spelling:
        return {"names": [spelling, name], "kind": "flag", "default": info.default, "help": told_text}
    names = [*(spelling.split(", ") if spelling else [_singular(own) if is_many else own]), name]
    if kind == "flag":
        return {"names": names, "kind": kind, "help": told_text}
    more = {"is_many": True} if is_many else {"is_required": True} if info.is_required() else {}
    return {"names": names, "kind": kind, "help": told_text + (" Repeatable." if is_many else ""), **more}


def _singular(name: str) -> str:
    """`--aliases` as it is said of one: `--alias`."""
    for plural, single in (("ies", "y"), ("ses", "s"), ("s", "")):
        if name.endswith(plural):
            return name.removesuffix(plural) + single
    return name


def _argument_kind(forms: Sequence[Schema]) -> tuple[Any, bool]:
    """Return the kind of an argument as the manifest tells it, and whether it is given many times."""
    # What may be told in many parts is typed so.
    form = next((form for form in forms if form.get("type") == "array"), forms[0])
    kind = form.get("type")
    if kind == "array":
        return _argument_kind([form["items"]])[0], True
    if kind == "object":
        is_dimension = form["additionalProperties"] == {"type": "integer"}
        return ("dimension" if is_dimension else "change"), True
    if kind in ("integer", "number"):
        bounds = (form.get("minimum"), form.get("maximum"))
        low, high = (bound if bound is None or abs(bound) < _WIDEST else None for bound in bounds)
        return {"number": "int" if kind == "integer" else "float", "min": low, "max": high}, False
    if "enum" in form:
        return form["enum"], False
    if form.get("pattern") == POSITION_PATTERN:
        return "position", False
    return ("flag" if kind == "boolean" else "moment" if form.get("format") == "moment" else "text"), False


def _payload(value: Any, info: FieldInfo, forms: Sequence[Schema]) -> Any:
    """Return a typed value as JSON, or None if missing."""
    kind, is_many = _argument_kind(forms)
    if value in (None, ()) and not (info.is_required() and is_many):
        return None
    if kind in ("dimension", "change"):
        return dict(value) if kind == "dimension" else parameters.changes_by_field(value)
    if is_many:
        values = list(value) if isinstance(value, tuple) else [value]
        # Of a list that says nothing where it is left out, an empty one says something.
        return [] if values == [""] and info.default is None and not info.is_required() else values
    return None if value is False and info.default is False else value
