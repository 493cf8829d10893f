"""What Python programs pass to a method, read once at the border: points of the story in any spelling, plain values."""

from __future__ import annotations

import inspect
import types
from collections.abc import Callable
from functools import cache, wraps
from typing import Annotated, Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from pydantic import TypeAdapter, ValidationError
from pydantic.fields import FieldInfo

from novelgen.errors import InvalidPositionError, UserInputError
from novelgen.models.position import StoryPosition
from novelgen.nearest import did_you_mean

Method = TypeVar("Method", bound=Callable[..., Any])

Reader = Callable[[str, Any], Any]
"""Takes the name and the value of an argument, and returns what the method works with."""


class ReadsArguments:
    """A class whose public methods are called with arguments that were read; see `with_read_arguments`."""

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        for name, method in list(vars(cls).items()):
            if inspect.isfunction(method) and not name.startswith("_") and not inspect.iscoroutinefunction(method):
                setattr(cls, name, with_read_arguments(method))


def with_read_arguments(method: Method) -> Method:
    """Return a method that takes a point of the story in any spelling, and refuses plain values that are none.

    What is refused is an error of our tree that names the argument, whoever calls: doors have read theirs already.
    """

    @wraps(method)
    def called(*args: Any, **given: Any) -> Any:
        readers, names = _readers(method), _names(method)
        if not readers:
            return method(*args, **given)
        read = [readers[name](name, value) if name in readers else value for name, value in zip(names, args)]  # noqa: B905
        named = {name: readers[name](name, value) if name in readers else value for name, value in given.items()}
        return method(*read, *args[len(names) :], **named)

    return called  # type: ignore[return-value]


def story_position(place: object, *, name: str = "as_of") -> StoryPosition:
    """Return the point of the story that is meant: `(5, 4)`, `[5, 4]`, `"5:4"`, `5` or a StoryPosition."""
    parts: object = place
    if isinstance(place, str):
        parts = [int(each) if each.isascii() and each.isdecimal() else each for each in place.split(":")]
    if isinstance(place, StoryPosition):
        return place
    if isinstance(parts, list | tuple) and 1 <= len(parts) <= 2:
        parts = [*parts, None][:2]
    elif type(parts) is int:
        parts = [parts, None]
    else:
        raise InvalidPositionError(f"{name}={place!r} is no point of the story; {_SPELLINGS}")
    if type(parts[0]) is not int or type(parts[1]) not in (int, types.NoneType):
        raise InvalidPositionError(f"{name}={place!r} is no point of the story; {_SPELLINGS}")
    return StoryPosition(*parts)


_SPELLINGS = "write (5, 4) or '5:4' for entering scene 4 of chapter 5, 5 for entering chapter 5"


@cache
def _names(method: Callable[..., Any]) -> tuple[str, ...]:
    positional = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    parameters = inspect.signature(method).parameters.values()
    return tuple(each.name for each in parameters if each.kind in positional)


@cache
def _readers(method: Callable[..., Any]) -> dict[str, Reader]:
    try:
        hints = get_type_hints(method, include_extras=True)
    except NameError:
        # Its types are imported for type checkers alone; such methods are not for programs.
        return {}
    readers = {name: _reader(hint) for name, hint in hints.items() if name not in ("return", *_OF_PLACES)}
    return {name: reader for name, reader in readers.items() if reader is not None}


_OF_PLACES = ("chapter_index", "scene_index")
"""StoryPosition itself says what is wrong with these."""


def _reader(hint: Any) -> Reader | None:
    told = get_args(hint) if get_origin(hint) in (Union, types.UnionType) else (hint,)
    members = tuple(each for each in told if each is not types.NoneType)
    is_optional = len(members) < len(told)
    if StoryPosition in members:

        def position(name: str, value: Any) -> Any:
            return value if value is None or isinstance(value, StoryPosition) else story_position(value, name=name)

        return position
    if len(members) != 1:
        return None
    [member] = members
    plain = get_args(member)[0] if get_origin(member) is Annotated else member
    if plain is str:

        def text(name: str, value: Any) -> Any:
            if isinstance(value, str) or (value is None and is_optional):
                return value
            raise UserInputError(f"{name} must be a text, not {value!r}")

        return text
    is_bounded = any(isinstance(each, FieldInfo) for each in getattr(member, "__metadata__", ()))
    if get_origin(plain) is not Literal and not (plain in (int, float) and is_bounded):
        return None
    adapter: TypeAdapter[Any] = TypeAdapter(member)

    def value_of(name: str, value: Any) -> Any:
        if value is None and is_optional:
            return value
        try:
            return adapter.validate_python(value)
        except ValidationError as error:
            why = error.errors()[0]["msg"]
            if get_origin(plain) is Literal:
                why += did_you_mean(str(value), get_args(plain))
            raise UserInputError(f"{name} cannot be {value!r}: {why}") from error

    return value_of
