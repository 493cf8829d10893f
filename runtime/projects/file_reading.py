"""Reading users' files: bounded in size, UTF-8, errors that name file, field and value."""

from __future__ import annotations

import codecs
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NoReturn, TypeVar

from pydantic import BaseModel, ValidationError

from novelgen.errors import InvalidFileError
from novelgen.text.scrub import is_deeper
from novelgen.text.scrub import scrub_tree

MAX_DEPTH = 100
MAX_FILE_BYTES = 20 * 1024 * 1024
_SHOWN_VALUE_LENGTH = 80
_UTF16_MARKS = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)

Model = TypeVar("Model", bound=BaseModel)


def read_text_file(file: Path) -> str:
    """Read a UTF-8 text file whole; a byte order mark is dropped, line ends become `\\n`.

    Args:
        file: An existing file of at most 20 MB.

    Raises:
        InvalidFileError: When it is missing, not a file, too large, unreadable or not UTF-8 (the message
            says which encoding it looks like).
    """
    try:
        size_bytes = file.stat().st_size
        if size_bytes > MAX_FILE_BYTES:
            raise InvalidFileError(
                f"{str(file)!r} has {size_bytes} bytes; the limit is {MAX_FILE_BYTES}, split the file"
            )
        data = file.read_bytes()
    except OSError as error:
        raise InvalidFileError(f"cannot read {str(file)!r}: {error.strerror or error}") from error
    return _decoded(file, data).replace("\r\n", "\n").replace("\r", "\n")


def read_json_file(file: Path) -> Any:
    """Read a JSON file.

    Raises:
        InvalidFileError: When it cannot be read, or is not JSON; names the line.
    """
    return parse_json(read_text_file(file), where=repr(str(file)))


def parse_json(text: str, *, where: str) -> Any:
    """Parse JSON text and clean its texts; `where` names its file (and line) in errors.

    Escapes can hold what no text of a story may: lone surrogates, NUL, direction marks.

    Raises:
        InvalidFileError: When it is not JSON, nested too deeply, or holds NaN or Infinity.
    """
    try:
        value = json.loads(text, parse_constant=_refuse_constant)
    except json.JSONDecodeError as error:
        place = f"line {error.lineno}, column {error.colno}"
        raise InvalidFileError(f"{where} is not JSON: {error.msg} at {place}") from error
    except (ValueError, RecursionError) as error:
        raise InvalidFileError(f"{where} is not usable JSON: {error}") from error
    if is_deeper(value, than=MAX_DEPTH):
        raise InvalidFileError(f"{where} is not usable JSON: it nests deeper than {MAX_DEPTH} levels")
    return scrub_tree(value)


def validated(model: type[Model], data: Any, *, where: str) -> Model:
    """Validate data of a file as a model; `where` names the file in errors.

    Raises:
        InvalidFileError: When the shape is wrong; names the field and the value.
    """
    try:
        return model.model_validate(data)
    except ValidationError as error:
        raise InvalidFileError(f"{where}: {described(error)}") from error


def described(error: ValidationError, *, loc_start: int = 0) -> str:
    """Say the first problem of a validation error: field, value and what is expected.

    Args:
        error: The error.
        loc_start: Leading parts of the field's path to leave out, where the caller names them otherwise.
    """
    first = error.errors(include_url=False)[0]
    field = field_path(first["loc"][loc_start:]) or "the whole"
    if first["type"] == "missing":
        return f"{field} is missing in {shown(first['input'])}"
    return f"{field} cannot be {shown(first['input'])}: {first['msg']}"


def field_path(parts: Sequence[int | str]) -> str:
    """Write a field's path as `scenes[2].content`."""
    path = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in parts)
    return path.removeprefix(".")


def shown(value: object) -> str:
    """Return a value's repr, cut to a readable length."""
    text = repr(value)
    return text if len(text) <= _SHOWN_VALUE_LENGTH else text[: _SHOWN_VALUE_LENGTH - 1] + "…"


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a JSON value")


def _decoded(file: Path, data: bytes) -> str:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        likely = _likely_encoding(data)
        raise InvalidFileError(
            f"{str(file)!r} is not UTF-8 (byte {data[error.start]:#04x} at offset {error.start}); it looks "
            f"like {likely}, convert it: iconv -f {likely} -t UTF-8"
        ) from error


def _likely_encoding(data: bytes) -> str:
    if data.startswith(_UTF16_MARKS):
        return "UTF-16"
    try:
        data.decode("gb18030")
    except UnicodeDecodeError:
        return "WINDOWS-1252"
    # GB18030 also decodes much Latin text; there its multi-byte characters are rare.
    high_bytes = sum(byte >= 0x80 for byte in data)
    return "GB18030" if high_bytes > len(data) // 10 else "WINDOWS-1252"
