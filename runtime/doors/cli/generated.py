"""Commands made of the table of operations: arguments and options of the method's own, its answer as JSON or as shown.

What the table and the method cannot say of a command stands in `offers`. This imports the parts of a story, so that the
help of the whole program does without it.
"""

from __future__ import annotations

import inspect
import re
import types
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from typing import Annotated, Any, Literal, Union, get_args, get_origin

import click
from annotated_types import Ge, Le
from pydantic.fields import FieldInfo

from novelgen.models.position import StoryPosition
from runtime.doors.arguments import arguments_of, position_from, read_arguments
from runtime.doors.cli.labels import in_words
from runtime.doors.cli.offers import ALIKE, GROUPS, HAND_WRITTEN, OFFERS, SPELLINGS, Offer, View
from runtime.doors.cli.opening import opened_project, story_language
from runtime.doors.cli.output import (
    ProgressCallback,
    print_json,
    print_pairs,
    print_text,
    progress_bars,
    report_indexing,
)
from runtime.doors.cli.parameters import (
    CHANGE,
    DIMENSION,
    FILE,
    POSITION,
    CommandGroup,
    all_option,
    changes_by_field,
    imported,
    json_option,
    project_argument,
    require_confirmation,
    yes_option,
)
from runtime.doors.operations import BY_NAME, Operation

_WIDEST = 1_000_000_000
"""A bound of numbers beyond this says nothing to people."""


@cache
def _rows() -> Mapping[str, tuple[Operation, Offer, Mapping[str, Any]]]:
    """Return operation, offer and arguments that are fixed, by the words that call a command."""
    plain: dict[str, tuple[str, dict[str, Any]]] = {offer.command: (name, {}) for name, offer in OFFERS.items()}
    return {path: (BY_NAME[name], OFFERS[name], fixed) for path, (name, fixed) in (plain | ALIKE).items()}


@cache
def command_at(path: str) -> click.Command | None:
    """Return the command that stands at a path, or the group of those below it."""
    row = _rows().get(path)
    if row is not None:
        return _command(path, *row)
    return _Group(path) if path in GROUPS else None


class _Group(CommandGroup):
    """A group of commands of the table, and of those that are written by hand; each is made when it is asked for."""

    def __init__(self, path: str) -> None:
        super().__init__(path, help=GROUPS[path])
        paths = [each for each in (*_rows(), *HAND_WRITTEN) if each.startswith(f"{path} ")]
        self._names = sorted(each.removeprefix(f"{path} ") for each in paths)

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of the commands."""
        return self._names

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return a command, or None when there is none of that name."""
        path = f"{self.name} {cmd_name}"
        if path in HAND_WRITTEN:
            return imported(HAND_WRITTEN[path])
        return command_at(path) if path in _rows() else None


def _command(path: str, operation: Operation, offer: Offer, fixed: Mapping[str, Any]) -> click.Command:
    model = arguments_of(operation.function, (*operation.without, *offer.without, *fixed))
    fields = model.model_fields
    first = offer.by_position
    if first is None:
        first = tuple(each for each, info in fields.items() if info.is_required())

    def run(project: str, as_json: bool, is_confirmed: bool = True, shows_all: bool = True, **given: Any) -> None:
        payload = {each: _payload(given.pop(each), fields[each]) for each in fields}
        payload = {each: value for each, value in payload.items() if value is not None}
        with _opened(project, operation, {**given, "shows_all": shows_all}) as view:
            if offer.before is not None:
                offer.before(view, payload)
            values = read_arguments(model, payload) | dict(fixed)
            view.values.update(values)
            if offer.asks:
                found = offer.asks(view, payload) if callable(offer.asks) else _found(offer.asks, view, payload)
                question = view.labels[f"ask.{operation.name}"].format(found=found, project=project, **payload)
                require_confirmation(question, is_confirmed=is_confirmed)
            result = _result(operation, offer, view)
            indexing = getattr(result, "indexing", None)
            if indexing is not None:
                report_indexing(indexing, project)
            if as_json:
                print_json(operation.answer(result).model_dump(mode="json", by_alias=True))
            else:
                _show(result, operation, offer, view, shows_all=shows_all)
            if offer.aside is not None:
                offer.aside(result, view)

    command = click.Command(
        path.rpartition(" ")[2],
        callback=run,
        help=offer.help or _first_part(operation),
        epilog=_examples(path, offer, fixed),
        params=[_argument(each, fields[each], is_last=each == first[-1]) for each in first]
        + [_option(each, info, offer) for each, info in fields.items() if each not in first],
    )
    command.params += [click.Option(list(names), **options) for names, options in offer.more]
    for decorate in (
        yes_option if offer.asks else None,
        all_option if offer.columns or offer.is_long else None,
        json_option,
    ):
        command = command if decorate is None else decorate(command)
    project_argument(command)
    command.params.insert(0, command.params.pop())
    return command


@contextmanager
def _opened(project: str, operation: Operation, asked: dict[str, Any]) -> Iterator[View]:
    with opened_project(click.get_current_context().obj, project) as stores:
        part = operation.part(stores, project)
        yield View(stores, project, story_language(stores, project), part, {}, asked)


def _found(name: str, view: View, payload: Mapping[str, Any]) -> Any:
    """Return what is about to be taken away: who is asked sees it, and nobody is asked about what is not there."""
    operation = BY_NAME[name]
    model = arguments_of(operation.function, operation.without)
    values = read_arguments(model, {name: value for name, value in payload.items() if name in model.model_fields})
    return operation.function(operation.part(view.stores, view.project), **values)


def _result(operation: Operation, offer: Offer, view: View) -> Any:
    if offer.run is not None:
        return offer.run(view)
    if "progress" not in inspect.signature(operation.function).parameters:
        return operation.function(view.part, **view.values)
    with progress_bars(operation.name.replace("_", " ")) as (progress,):
        callback: ProgressCallback = progress
        return operation.function(view.part, **view.values, progress=callback)


def _show(result: Any, operation: Operation, offer: Offer, view: View, *, shows_all: bool) -> None:
    labels = view.labels
    if offer.pairs:
        print_pairs({key: view.cell(path, result) for key, path in offer.pairs.items()}, labels)
    if offer.columns:
        view.table(offer.columns, view.at(offer.rows, result), shows_all=shows_all)
    if offer.show is not None:
        offer.show(result, view)
    done = labels.get(f"done.{operation.name}")
    if done:
        stored = {each: labels.value(str(getattr(result, each, ""))) for each in ("status", "kind")}
        count = len(result) if isinstance(result, list | tuple) else 0
        print_text(in_words(done.format(result=result, project=view.project, count=count, **stored | view.values)))


def _examples(path: str, offer: Offer, fixed: Mapping[str, Any]) -> str | None:
    if not offer.example:
        return None
    lines = [re.sub(rf"^{offer.command}", path, each) for each in offer.example.strip().splitlines()]
    # An example of what this command fixes shows another one.
    lines = [each for each in lines if not fixed or "--kind" not in each]
    heading = "Example" if len(lines) == 1 else "Examples"
    return "\n".join(("\b", f"{heading}:", *(f"  novelgen {each.strip()}" for each in lines)))


def _first_part(operation: Operation) -> str:
    told = re.split(r"\n\n(?:Args|Returns|Raises):", inspect.getdoc(operation.function) or "")[0].replace("`", "")
    return re.sub(r"^Return ", "Show ", told)


def _argument(name: str, info: FieldInfo, *, is_last: bool) -> click.Argument:
    kind, is_many = _taken(info.annotation, info.metadata)
    many = is_many and is_last
    called = {
        "position": "C:S",
        "changes": "[FIELD=VALUE]...",
        "fields": "[FIELD=VALUE]...",
        "change_id": "[NUMBER]",
    }.get(name)
    metavar = called or re.sub(r"_ids?$|s$", "", name).upper() + ("..." if many else "")
    return click.Argument(
        [name], type=kind, nargs=-1 if many else 1, required=info.is_required() and kind is not CHANGE, metavar=metavar
    )


def _option(name: str, info: FieldInfo, offer: Offer) -> click.Option:
    kind, is_many = _taken(info.annotation, info.metadata)
    own = "--" + name.replace("_", "-")
    spelling = offer.spellings.get(name) or SPELLINGS.get(name)
    if spelling == "--file":
        return click.Option(["--file", name], type=FILE, callback=_read, help=_described(info))
    if spelling and "/" in spelling:
        return click.Option([spelling, name], default=info.default, help=_described(info))
    spellings = list(dict.fromkeys([*(spelling or "").split(), _singular(own) if is_many else own, own]))
    if kind is click.BOOL:
        return click.Option([*spellings, name], is_flag=True, help=_described(info))
    return click.Option(
        [*spellings, name],
        type=kind,
        multiple=is_many,
        required=info.is_required(),
        help=_described(info) + ("" if not is_many else " Repeatable."),
    )


def _described(info: FieldInfo) -> str:
    """Return what an argument is, as its method says it, and its default in the words of a command line."""
    default = info.default
    meant = r".  [default: \1]" if default is None else "."
    text = re.sub(r"[;,] None (?:means|takes) (.+?)\.?$", meant, info.description or "").replace("`", "")
    is_told = "[default" in text or info.is_required() or default in (None, False, True, "", [])
    return text if is_told else f"{text}  [default: {default}]"


def _singular(name: str) -> str:
    """`--aliases` as it is said of one: `--alias`."""
    for plural, single in (("ies", "y"), ("ses", "s"), ("s", "")):
        if name.endswith(plural):
            return name.removesuffix(plural) + single
    return name


def _taken(annotation: Any, metadata: Sequence[Any] = ()) -> tuple[click.ParamType, bool]:
    """Return the type of an argument as it is typed, and whether it is given many times."""
    origin, members = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        own = [part for each in members[1:] for part in (each.metadata if isinstance(each, FieldInfo) else [each])]
        return _taken(members[0], [*metadata, *own])
    if origin in (Union, types.UnionType):
        return _taken(next(each for each in members if each is not types.NoneType), metadata)
    if origin is list:
        return _taken(members[0])[0], True
    if origin is dict:
        return (DIMENSION if members == (str, int) else CHANGE), True
    if origin is Literal:
        return click.Choice(members), False
    if any(getattr(each, "func", None) is position_from for each in metadata):
        return POSITION, False
    if annotation is bool:
        return click.BOOL, False
    if annotation not in (int, float):
        return click.STRING, False
    bounds = {type(each): getattr(each, "ge", getattr(each, "le", None)) for each in metadata}
    low, high = ((bound if bound is None or abs(bound) < _WIDEST else None) for bound in map(bounds.get, (Ge, Le)))
    if low is None and high is None:
        return (click.INT if annotation is int else click.FLOAT), False
    return (click.IntRange if annotation is int else click.FloatRange)(low, high), False


def _payload(value: Any, info: FieldInfo) -> Any:
    """Return what was typed as it stands in JSON; None where nothing was."""
    if isinstance(value, StoryPosition):
        return str(value)
    kind, is_many = _taken(info.annotation, info.metadata)
    if value in (None, ()) and not (info.is_required() and is_many):
        return None
    if kind is DIMENSION or kind is CHANGE:
        return dict(value) if kind is DIMENSION else changes_by_field(value)
    if is_many:
        listed = value if isinstance(value, tuple) else (value,)
        return [str(each) if isinstance(each, StoryPosition) else each for each in listed]
    return None if value is False and info.default is False else value


def _read(context: click.Context, parameter: click.Parameter, file: Any) -> str | None:
    from runtime.files.file_reading import read_text_file

    return None if file is None else read_text_file(file)
