"""Argument models of use cases, from signatures, bounds and docstrings.

Every door reads this model: a command its options, a route its query or body, a tool its schema. So names, bounds,
defaults and descriptions are the same everywhere, and stand once.
"""

import inspect
import re
import types
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import Annotated, Any, Union, get_args, get_origin, get_type_hints

import docstring_parser
from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
    WithJsonSchema,
    WrapValidator,
    create_model,
    model_validator,
)

from novelgen.errors import InvalidPositionError, InvalidRequestError, UserInputError
from novelgen.language.normalise import DEEPEST, is_deeper
from novelgen.models.memory import target_text
from novelgen.models.position import CHAPTER_NAME, GREATEST_INDEX, LONGEST_CHAPTER_NAME, SCENE_LABEL, StoryPosition
from novelgen.nearest import did_you_mean
from runtime.files.file_reading import described
from runtime.story.base import PLACE_NUMBERS, story_position

LONGEST_TEXT = 20_000
"""Characters of a text where a method says nothing else."""

MOST_PARTS = 100
"""Parts of a list where a method says nothing else."""

MOST_NAMES = 20_000
"""Parts of a list in whose place one name may stand: everybody in a game may see an event."""

GREATEST_NUMBER = 2_000_000_000
"""The greatest whole number where a method says nothing else."""


def position_from(text: str) -> StoryPosition | str:
    """Return the position of a text.

    The story resolves ids and headings.
    """
    return story_position(text) if _NUMBERED_PLACE.fullmatch(text) else text


def place_from(chapter: int | str, scene: int) -> StoryPosition | str:
    """Return the position of a scene, its chapter by number or heading."""
    return StoryPosition(chapter, scene) if isinstance(chapter, int) else f"{chapter}:{scene}"


def moment(text: str) -> tuple[int, int] | datetime:
    """Return the moment that a text names: session and turn, or a time."""
    if re.fullmatch(r"[0-9]{1,7}:[0-9]{1,7}", text):
        session, turn = text.split(":")
        return int(session), int(turn)
    try:
        rendered_datetime = datetime.fromisoformat(text)
    except ValueError as error:
        raise InvalidPositionError(
            f"{text[:80]!r} is no moment; write session:turn such as 2:5, or a time such as 2031-03-01T18:00:00Z"
        ) from error
    return rendered_datetime if rendered_datetime.tzinfo else rendered_datetime.replace(tzinfo=UTC)


def _shallow(value: dict[str, Any]) -> dict[str, Any]:
    if not is_deeper(value, than=DEEPEST):
        return value
    raise UserInputError(f"an object nests deeper than {DEEPEST} levels; nothing was stored")


_INDEX = "(1000000|[0-9]{1,6})"

_NUMBERED_PLACE = re.compile(f"{_INDEX}(:{_INDEX})?")

POSITION_PATTERN = rf"^({_INDEX}(:{_INDEX})?|{SCENE_LABEL.pattern}|{CHAPTER_NAME})$"

PositionText = Annotated[str, Field(pattern=POSITION_PATTERN, examples=["3:2"]), AfterValidator(position_from)]
"""`3:2` is on entering scene 2 of chapter 3, `3` on entering chapter 3, `S001` on entering the scene of that id.

`第8章:1` is where the author's own heading says so.
"""


def _chapter(value: object, read_function: Callable[[object], Any]) -> Any:
    """Return a chapter's number, or the heading by which the story knows it."""
    return value if isinstance(value, str) and re.fullmatch(CHAPTER_NAME, value) else read_function(value)


Chapter = Annotated[
    int,
    Field(ge=0, le=GREATEST_INDEX),
    WrapValidator(_chapter),
    WithJsonSchema(
        {
            "anyOf": [
                {"type": "integer", "minimum": 0, "maximum": GREATEST_INDEX},
                {"type": "string", "maxLength": LONGEST_CHAPTER_NAME},
            ]
        }
    ),
]
"""The number of a chapter in the order of the story, or its heading, such as 第8章."""

MomentText = Annotated[str, Field(max_length=40, json_schema_extra={"format": "moment"}), AfterValidator(moment)]
"""`2:5` is turn 5 of session 2; else a time such as `2031-03-01T18:00:00Z`."""

JsonObject = Annotated[dict[str, Any], AfterValidator(_shallow)]


def _written(value: object) -> object:
    if isinstance(value, int | float):
        raise ValueError("a time is written, such as PT2H for two hours")  # noqa: TRY004 - pydantic tells of a ValueError
    return value


def _as_list(value: object) -> object:
    """Return one target as a list of it."""
    return [value] if isinstance(value, str | Mapping) else value


_TARGET_SCHEMA = {"anyOf": [{"type": "string"}, {"type": "object", "required": ["type"]}]}

Target = Annotated[
    str,
    Field(min_length=1, max_length=400),
    BeforeValidator(target_text),
    WithJsonSchema(_TARGET_SCHEMA, mode="validation"),
]
"""What a memory is attached to: an id, a name, `chapter:3` or `book`, or an object as memories tell it."""

TARGETS = frozenset({"attached_to", "attach", "detach", "targets"})
"""Arguments that name such."""

Method = Callable[..., Any]


Schema = dict[str, Any]
"""JSON Schema."""


class Arguments(BaseModel):
    """The arguments of a use case, rejecting unknown ones."""

    model_config = ConfigDict(extra="forbid")

    @model_validator(mode="before")
    @classmethod
    def _names_in_any_case(cls, given_value: Any) -> Any:
        """Take attachedTo for attached_to; the rest is left to be refused."""
        if not isinstance(given_value, Mapping):
            return given_value
        by_letters = {_letters(name): name for name in cls.model_fields}
        renamed = {name: by_letters.get(_letters(name), name) for name in given_value if name not in cls.model_fields}
        free = {name: own for name, own in renamed.items() if own not in given_value}
        return {free.get(name, name): value for name, value in given_value.items()}

    @model_validator(mode="before")
    @classmethod
    def _numbers_are_no_answers(cls, given_value: Any) -> Any:
        """Reject 0 for booleans and false for numbers, which are likely mistakes."""
        for name, value in given_value.items() if isinstance(given_value, Mapping) else ():
            kinds = {fields.get("type") for fields in forms_of(cls).get(name, ())}
            if isinstance(value, bool) and kinds & {"integer", "number"} and "boolean" not in kinds:
                raise ValueError(f"{name} takes a number, not {value!r}")
            if isinstance(value, int | float) and not isinstance(value, bool) and kinds == {"boolean"}:
                raise ValueError(f"{name} takes true or false, not {value!r}")
        return given_value


def _letters(name: object) -> str:
    return str(name).replace("_", "").casefold()


@cache
def forms_of(model: type[Arguments]) -> dict[str, list[Schema]]:
    """Return the schemas of the forms that each argument may have, beside null."""
    properties = model.model_json_schema().get("properties", {})
    return {name: list(_forms_in(text)) for name, text in properties.items()}


def _forms_in(fields: Schema) -> Iterator[Schema]:
    for form in fields.get("anyOf", [fields]):
        if "anyOf" in form:
            yield from _forms_in(form)
        elif form != {"type": "null"}:
            yield form


@cache
def arguments_of(method: Method, without: tuple[str, ...] = ()) -> type[Arguments]:
    """Return the argument model of a method, without values outside JSON."""
    hints = get_type_hints(method, include_extras=True)
    texts = {
        docstring_param.arg_name: " ".join((docstring_param.description or "").split())
        for docstring_param in docstring_parser.parse(method.__doc__ or "").params
    }
    fields: dict[str, Any] = {}
    for name, parameter in list(inspect.signature(method).parameters.items())[1:]:
        annotation = _targets(hints[name]) if name in TARGETS else _for_doors(hints[name])
        if name == PLACE_NUMBERS[0]:
            annotation = Chapter | None if type(None) in get_args(annotation) else Chapter
        if annotation is None or name in without or parameter.kind is inspect.Parameter.VAR_KEYWORD:
            continue
        default = ... if parameter.default is inspect.Parameter.empty else parameter.default
        default = list(default) if isinstance(default, tuple) else default
        fields[name] = (annotation, Field(default=default, description=texts.get(name)))
    return create_model(f"{method.__qualname__.replace('.', '_')}_arguments", __base__=Arguments, **fields)


def values_of(arguments: Arguments) -> dict[str, Any]:
    """Return a method's call arguments, leaving defaults out."""
    return {name: getattr(arguments, name) for name in arguments.model_fields_set}


def read_arguments(model: type[Arguments], payload: Mapping[str, Any]) -> dict[str, Any]:
    """Return a method's arguments from a door's input."""
    try:
        return values_of(model.model_validate(payload))
    except ValidationError as error:
        raise InvalidRequestError(_unknown_argument(error, model) or described(error)) from error


def _unknown_argument(error: ValidationError, model: type[Arguments]) -> str:
    """Say which argument there is none of, what is missing and what is taken; empty where all names are right."""
    problems = error.errors(include_url=False)
    unknown_argument = next((problem["loc"][0] for problem in problems if problem["type"] == "extra_forbidden"), None)
    if unknown_argument is None:
        return ""
    missing = [
        str(problem["loc"][0]) for problem in problems if problem["type"] == "missing" and len(problem["loc"]) == 1
    ]
    text = did_you_mean(str(unknown_argument), model.model_fields) or (f"; {missing[0]} is missing" if missing else "")
    return f"there is no argument {unknown_argument!r}{text}; there are: {', '.join(model.model_fields)}"


_IN_PLACE: dict[Any, Any] = {
    StoryPosition: PositionText,
    datetime: MomentText,
    timedelta: Annotated[timedelta, BeforeValidator(_written)],
    Any: JsonObject | None,
}
"""What stands in JSON in the place of a type."""

_BOUNDED: dict[Any, Any] = {
    str: Annotated[str, Field(max_length=LONGEST_TEXT)],
    int: Annotated[int, Field(ge=-GREATEST_NUMBER, le=GREATEST_NUMBER)],
}
"""Types of which a method says nothing more: no door takes what has no end."""


def _for_doors(annotation: Any, *, is_bounded: bool = False, most_parts: int = MOST_PARTS) -> Any:
    """Return a parameter's JSON type, or None."""
    origin, members = get_origin(annotation) or annotation, get_args(annotation)
    if origin is Annotated:
        plain, *statements = members
        offered = _for_doors(plain, is_bounded=True)
        return None if offered is None else Annotated[offered, *statements]
    if origin in (Union, types.UnionType):
        return _one_of(members, is_bounded=is_bounded)
    if annotation in _IN_PLACE:
        return _IN_PLACE[annotation]
    if origin is Sequence:
        offered = Annotated[str, Field(min_length=1, max_length=400)] if members[0] is str else _for_doors(members[0])
        if offered is None:
            return None
        return list[offered] if is_bounded else Annotated[list[offered], Field(max_length=most_parts)]  # type: ignore[valid-type]
    if origin is Mapping:
        return JsonObject if members in ((str, Any), ()) else dict[members]  # type: ignore[misc, valid-type]
    if isinstance(origin, type):
        is_ours = origin.__module__.startswith("runtime.story") and not issubclass(origin, BaseModel)
        if is_ours or origin.__module__.startswith(("langchain", "collections")):
            return None
    return annotation if is_bounded else _BOUNDED.get(annotation, annotation)


def _one_of(members: tuple[Any, ...], *, is_bounded: bool) -> Any:
    for whole in (StoryPosition, datetime):
        if whole in members:
            # What else names a position or a moment, such as a pair, Python programs alone write.
            return _IN_PLACE[whole] | None if types.NoneType in members else _IN_PLACE[whole]
    most_parts = MOST_NAMES if str in members else MOST_PARTS
    offered = (_for_doors(member, is_bounded=is_bounded, most_parts=most_parts) for member in members)
    kinds = [item for item in offered if item is not None]
    if any(get_origin(member) is Mapping for member in members):
        # What may be a model or a mapping of its fields is a mapping to a door: the method reads it.
        kinds = [kind for kind in kinds if not (isinstance(kind, type) and issubclass(kind, BaseModel))]
    return Union[tuple(kinds)] if set(kinds) - {types.NoneType} else None  # noqa: UP007 - known at run time alone


def _targets(annotation: Any) -> Any:
    targets = Annotated[list[Target], Field(max_length=MOST_PARTS), BeforeValidator(_as_list)]
    return targets | None if type(None) in get_args(annotation) else targets
