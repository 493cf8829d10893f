"""The arguments of a use case as a model, made of its method: signature, bounds and the `Args:` of its docstring.

Every door reads this model: a command its options, a route its query or body, a tool its schema. So names, bounds,
defaults and descriptions are the same everywhere, and stand once.
"""

import inspect
import re
import types
from collections.abc import Callable, Mapping, Sequence
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
    create_model,
    model_validator,
)
from pydantic.fields import FieldInfo

from novelgen.errors import InvalidPositionError, InvalidRequestError, UserInputError
from novelgen.language.normalise import DEEPEST, is_deeper
from novelgen.models.memory import chapter_target
from novelgen.models.position import SCENE_LABEL, StoryPosition
from runtime.files.file_reading import described
from runtime.story.base import story_position

LONGEST_TEXT = 20_000
"""Characters of a text where a method says nothing else."""

MOST_PARTS = 100
"""Parts of a list where a method says nothing else."""

GREATEST_NUMBER = 2_000_000_000
"""The greatest whole number where a method says nothing else."""


_NUMBER: Any = Field(ge=-GREATEST_NUMBER, le=GREATEST_NUMBER)


def position_from(text: str) -> StoryPosition | str:
    """Return the position that a text names; the id of a scene is left to the story, which knows where it stands."""
    return text if SCENE_LABEL.fullmatch(text) else story_position(text)


def moment(text: str) -> tuple[int, int] | datetime:
    """Return the moment that a text names: session and turn, or a time."""
    if re.fullmatch(r"[0-9]{1,7}:[0-9]{1,7}", text):
        session, turn = text.split(":")
        return int(session), int(turn)
    try:
        told = datetime.fromisoformat(text)
    except ValueError as error:
        raise InvalidPositionError(
            f"{text[:80]!r} is no moment; write session:turn such as 2:5, or a time such as 2031-03-01T18:00:00Z"
        ) from error
    return told if told.tzinfo else told.replace(tzinfo=UTC)


def _shallow(value: dict[str, Any]) -> dict[str, Any]:
    if not is_deeper(value, than=DEEPEST):
        return value
    raise UserInputError(f"an object nests deeper than {DEEPEST} levels; nothing was stored")


_INDEX = "(1000000|[0-9]{1,6})"

POSITION_PATTERN = f"^({_INDEX}(:{_INDEX})?|{SCENE_LABEL.pattern})$"

PositionText = Annotated[str, Field(pattern=POSITION_PATTERN, examples=["3:2"]), AfterValidator(position_from)]
"""`3:2` is on entering scene 2 of chapter 3, `3` on entering chapter 3, `S001` on entering the scene of that id."""

MomentText = Annotated[str, Field(max_length=40), AfterValidator(moment)]
"""`2:5` is turn 5 of session 2; else a time such as `2031-03-01T18:00:00Z`."""

JsonObject = Annotated[dict[str, Any], AfterValidator(_shallow)]


def _written(value: object) -> object:
    if isinstance(value, int | float):
        raise ValueError("a time is written, such as PT2H for two hours")  # noqa: TRY004 - pydantic tells of a ValueError
    return value


_WRITTEN = BeforeValidator(_written)
"""Of a time beside which a number means something else."""


def _target(value: object) -> object:
    """Return what a memory is attached to in a word, where it comes as memories tell it: `{type, id}`."""
    if not isinstance(value, Mapping) or not isinstance(value.get("id"), str):
        return value
    number = value["id"]
    return chapter_target(int(number)) if value.get("type") == "chapter" and number.isdecimal() else number


_TARGET_SCHEMA = {"anyOf": [{"type": "string"}, {"type": "object", "required": ["type", "id"]}]}

Target = Annotated[
    str,
    Field(min_length=1, max_length=400),
    BeforeValidator(_target),
    WithJsonSchema(_TARGET_SCHEMA, mode="validation"),
]
"""What a memory is attached to: an id, a name, `chapter:3` or `book`, or an object as memories tell it."""

TARGETS = frozenset({"attached_to", "attach", "detach", "targets"})
"""Arguments that name such."""

Method = Callable[..., Any]


class Arguments(BaseModel):
    """What a use case is given; an argument that it does not have is refused."""

    model_config = ConfigDict(extra="forbid")

    @model_validator(mode="before")
    @classmethod
    def _numbers_are_no_answers(cls, given: Any) -> Any:
        """Refuse 0 where yes or no is asked for, and false where a number is: who sends it means something else."""
        for name, value in given.items() if isinstance(given, Mapping) else ():
            kinds = _plain_kinds(cls).get(name, frozenset())
            if isinstance(value, bool) and kinds & {int, float} and bool not in kinds:
                raise ValueError(f"{name} takes a number, not {value!r}")
            if isinstance(value, int | float) and not isinstance(value, bool) and kinds == {bool}:
                raise ValueError(f"{name} takes true or false, not {value!r}")
        return given


@cache
def _plain_kinds(model: type[Arguments]) -> dict[str, frozenset[Any]]:
    """Return which of bool, int, float and str each argument takes, lists and objects aside."""
    kinds = {}
    for name, info in model.model_fields.items():
        annotation = info.annotation
        is_union = get_origin(annotation) in (Union, types.UnionType)
        members = [get_args(each)[0] if get_origin(each) is Annotated else each for each in get_args(annotation)]
        kinds[name] = frozenset(members if is_union else [annotation]) & {bool, int, float, str}
    return kinds


@cache
def arguments_of(method: Method, without: tuple[str, ...] = ()) -> type[Arguments]:
    """Return the model of what a door may give to a method; what no JSON can hold is left to Python programs."""
    hints = get_type_hints(method, include_extras=True)
    told = {
        each.arg_name: " ".join((each.description or "").split())
        for each in docstring_parser.parse(method.__doc__ or "").params
    }
    fields: dict[str, Any] = {}
    for name, parameter in list(inspect.signature(method).parameters.items())[1:]:
        annotation = _targets(hints[name]) if name in TARGETS else _for_doors(hints[name])
        if annotation is None or name in without or parameter.kind is inspect.Parameter.VAR_KEYWORD:
            continue
        default = ... if parameter.default is inspect.Parameter.empty else parameter.default
        default = list(default) if isinstance(default, tuple) else default
        bounds = _own_bounds(hints[name]) or _usual_bounds(annotation)
        spoken: Any = Field(default=default, description=told.get(name))
        fields[name] = (annotation, FieldInfo.merge_field_infos(bounds, spoken))
    return create_model(f"{method.__qualname__.replace('.', '_')}_arguments", __base__=Arguments, **fields)


def values_of(arguments: Arguments) -> dict[str, Any]:
    """Return what a method is called with; what was left out is left to its defaults."""
    return {name: getattr(arguments, name) for name in arguments.model_fields_set}


def read_arguments(model: type[Arguments], payload: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a method is called with, out of what came in by a door."""
    try:
        return values_of(model.model_validate(payload))
    except ValidationError as error:
        raise InvalidRequestError(described(error)) from error


def _for_doors(annotation: Any) -> Any:
    """Return the type that stands in JSON for a parameter's; None where no JSON can hold it."""
    if get_origin(annotation) is Annotated:
        plain = get_args(annotation)[0]
        offered = _for_doors(plain)
        return annotation if offered is plain else offered
    if get_origin(annotation) in (Union, types.UnionType):
        members = get_args(annotation)
        if StoryPosition in members:
            return PositionText | None if type(None) in members else PositionText
        if datetime in members:
            return MomentText | None if type(None) in members else MomentText
        if timedelta in members:
            # The usual bounds are those of the number alone: a time cannot be compared with them.
            apart: dict[Any, Any] = {int: Annotated[int, _NUMBER], timedelta: Annotated[timedelta, _WRITTEN]}
            members = tuple(apart.get(each, each) for each in members)
        if any(get_origin(each) is Mapping for each in members):
            # Where a mapping does as well as one of our models, doors take the mapping.
            members = tuple(each for each in members if not (isinstance(each, type) and issubclass(each, BaseModel)))
        kinds = [each for each in map(_for_doors, members) if each is not None]
        # What may be a model or a mapping of its fields is a mapping to a door: the method reads it.
        if JsonObject in kinds:
            kinds = [each for each in kinds if not (isinstance(each, type) and issubclass(each, BaseModel))]
        if not kinds or kinds == [type(None)]:
            return None
        return Union[tuple(kinds)]  # noqa: UP007 - the members are known at run time alone
    if annotation is StoryPosition:
        return PositionText
    if annotation is Any:
        return JsonObject | None
    origin = get_origin(annotation) or annotation
    if origin is Sequence:
        part = get_args(annotation)[0]
        offered = Annotated[str, Field(min_length=1, max_length=400)] if part is str else _for_doors(part)
        return None if offered is None else list[offered]  # type: ignore[valid-type]
    if origin is Mapping and get_args(annotation) in ((str, Any), ()):
        return JsonObject
    if origin is Mapping:
        return dict[get_args(annotation)]  # type: ignore[misc]
    if annotation is Any or origin is Callable:
        return None
    if isinstance(origin, type):
        is_ours = origin.__module__.startswith("runtime.story") and not issubclass(origin, BaseModel)
        if is_ours or origin.__module__.startswith(("langchain", "collections")):
            return None
    return annotation


def _targets(annotation: Any) -> Any:
    return list[Target] | None if type(None) in get_args(annotation) else list[Target]


def _own_bounds(annotation: Any) -> FieldInfo | None:
    if get_origin(annotation) is not Annotated:
        return None
    return next((each for each in get_args(annotation)[1:] if isinstance(each, FieldInfo)), None)


def _usual_bounds(annotation: Any) -> FieldInfo:
    """Return the bounds of a type of which its method says nothing: no door takes what has no end."""
    members = get_args(annotation) if get_origin(annotation) is Union else (annotation,)
    if str in members:
        return Field(max_length=LONGEST_TEXT)
    if int in members and bool not in members:
        return _NUMBER
    if any(get_origin(each) is list for each in members):
        return Field(max_length=MOST_PARTS)
    return Field()
