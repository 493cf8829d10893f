"""Files with one JSON object per line, each line of which may be wrong without costing the others."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, TypeVar

from pydantic import BaseModel

from novelgen.errors import InvalidFileError, InvalidProjectIdError
from novelgen.models.position import require_project_id
from runtime.files.file_reading import parse_json, shown, validated

Model = TypeVar("Model", bound=BaseModel)


@dataclass(frozen=True, slots=True)
class NumberedLine(Generic[Model]):
    """A line of a file: its number, and what it holds or why it cannot be used."""

    number: int
    value: Model | None = None
    problem: str = ""


def read_numbered_lines(
    text: str, model: type[Model], *, file: Path, id_fields: tuple[str, ...], example: str
) -> Iterator[NumberedLine[Model]]:
    """Read the lines of a text one by one; empty ones are passed over.

    Only the fields of the model are read. What else is there, such as an answer key, is dropped before anything
    looks at the line.
    """
    taken: dict[str, int] = {}
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        where = f"{str(file)!r} line {number}"
        try:
            value, line_id = _value_of(line, model, where=where, id_fields=id_fields, example=example)
        except InvalidFileError as error:
            yield NumberedLine(number, problem=str(error))
            continue
        first = taken.setdefault(line_id.casefold(), number)
        problem = f"{where}: {id_fields[-1]} {line_id!r} stands on line {first}, too"
        yield NumberedLine(number, value) if first == number else NumberedLine(number, problem=problem)


def _value_of(
    line: str, model: type[Model], *, where: str, id_fields: tuple[str, ...], example: str
) -> tuple[Model, str]:
    data = parse_json(line, where=where)
    if not isinstance(data, dict):
        raise InvalidFileError(f"{where} must hold an object, not {shown(data)}")
    id_field = id_fields[-1]
    read = {name: data[name] for name in model.model_fields if name in data}
    said = [data[name] for name in id_fields if name in data]
    if said:
        read[id_field] = said[0]
    value = validated(model, read, where=where)
    line_id: str = getattr(value, id_field)
    try:
        require_project_id(line_id)
    except InvalidProjectIdError as error:
        raise InvalidFileError(
            f"{where}: {id_field} {line_id!r} is not a safe file name; use one such as {example!r}"
        ) from error
    return value, line_id
