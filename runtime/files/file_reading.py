"""Reading users' files and archives: bounded in size, in a known encoding, errors that name file, field and value."""

import codecs
import json
import lzma
import stat
import unicodedata
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path, PurePosixPath
from typing import Any, Generic, NamedTuple, NoReturn, TypeVar

from pydantic import BaseModel, ValidationError

from novelgen.errors import InvalidFileError, InvalidProjectIdError
from novelgen.language.normalise import is_deeper, scrub_tree
from novelgen.models.position import require_project_id

MAX_DEPTH = 100
MAX_FILE_BYTES = 20 * 1024 * 1024
_SHOWN_VALUE_LENGTH = 80
_CHINESE_ENCODINGS = {"GB18030": "gb18030", "Big5": "big5hkscs"}
"""Names that people know, to Python's codecs; each holds all of its older forms."""
_COMMON_SHARE = 0.67
_JUDGED_CHARACTERS = 100_000
_UTF16_MARKS = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)

_READABLE_PER_UNREADABLE = 1_000
"""So many bytes of a story's text make up for one that cannot be read."""

Model = TypeVar("Model", bound=BaseModel)


class DecodedText(NamedTuple):
    """A text with how it was read."""

    text: str
    encoding: str
    unreadable: int = 0
    """Places that no byte of the encoding fits; the text has U+FFFD there."""


def read_text_file(file: Path) -> str:
    """Read a text file whole, in UTF-8, GB18030 (GBK) or Big5; a byte order mark is dropped, line ends become `\\n`."""
    return read_story_text(file, may_be_damaged=False).text


def read_story_text(file: Path, *, may_be_damaged: bool = True) -> DecodedText:
    """Read the text of a story as `read_text_file` does, but for a few bytes that were damaged on the way."""
    try:
        size_bytes = file.stat().st_size
        if size_bytes > MAX_FILE_BYTES:
            raise InvalidFileError(
                f"{str(file)!r} has {size_bytes} bytes; the limit is {MAX_FILE_BYTES}, split the file"
            )
        data = file.read_bytes()
    except OSError as error:
        raise InvalidFileError(f"cannot read {str(file)!r}: {error.strerror or error}") from error
    decoded = _decoded(data)
    if decoded is None or (decoded.unreadable and not may_be_damaged):
        raise _unknown_encoding(file, data, decoded)
    return decoded


def read_json_file(file: Path) -> Any:
    """Read a JSON file."""
    return parse_json(read_text_file(file), where=repr(str(file)))


def parse_json(text: str, *, where: str) -> Any:
    """Parse JSON text and clean its texts; `where` names its file (and line) in errors.

    Escapes can hold what no text of a story may: lone surrogates, NUL, direction marks.
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
    """Validate data of a file as a model; `where` names the file in errors."""
    try:
        return model.model_validate(data)
    except ValidationError as error:
        raise InvalidFileError(f"{where}: {described(error)}") from error


def described(error: ValidationError, *, loc_start: int = 0) -> str:
    """Say the first problem of a validation error: field, value and what is expected."""
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


def _decoded(data: bytes) -> DecodedText | None:
    """Return the text of bytes in an encoding that is read, or None."""
    try:
        return DecodedText(_plain_lines(data.decode("utf-8-sig")), "UTF-8")
    except UnicodeDecodeError:
        damaged = _as_encoded(data, "UTF-8", "utf-8-sig")
    if data.startswith(_UTF16_MARKS):
        return None
    tried = [_as_encoded(data, name, codec) for name, codec in _CHINESE_ENCODINGS.items()]
    readable = [each for each in (damaged, *tried) if len(data) >= each.unreadable * _READABLE_PER_UNREADABLE]
    if damaged in readable:
        return damaged
    chinese = [each for each in readable if _is_chinese(each, data)]
    return max(chinese, key=_common_share, default=None)


def _as_encoded(data: bytes, name: str, codec: str) -> DecodedText:
    text = data.decode(codec, errors="replace")
    return DecodedText(_plain_lines(text), name, text.count("\N{REPLACEMENT CHARACTER}"))


def _plain_lines(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _unknown_encoding(file: Path, data: bytes, decoded: DecodedText | None) -> InvalidFileError:
    place = "damaged"
    try:
        data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        place = f"byte {data[error.start]:#04x} at offset {error.start}"
    likely = "UTF-16" if data.startswith(_UTF16_MARKS) else decoded.encoding if decoded else "WINDOWS-1252"
    return InvalidFileError(
        f"{str(file)!r} is not UTF-8 ({place}); it looks like {likely}, convert it: iconv -f {likely} -t UTF-8"
    )


def _is_chinese(decoded: DecodedText, data: bytes) -> bool:
    """Tell text from what only happens to be decodable: as few Chinese characters, or as rare ones."""
    high_bytes = sum(byte >= 0x80 for byte in data)
    return high_bytes > len(data) // 10 and _common_share(decoded) >= _COMMON_SHARE


def _common_share(decoded: DecodedText) -> float:
    """Return which share of the characters beyond ASCII is common in the encoding."""
    foreign = [character for character in decoded.text[:_JUDGED_CHARACTERS] if not character.isascii()]
    common = sum(_is_common(character, decoded.encoding) for character in foreign)
    return common / len(foreign) if foreign else 0.0


def _is_common(character: str, encoding: str) -> bool:
    """Tell whether a character is punctuation, or one of the most used that each standard has at its beginning."""
    first, *rest = character.encode(_CHINESE_ENCODINGS[encoding], errors="replace")
    last = 0xD7 if encoding == "GB18030" else 0xC6
    first_of_used = 0xB0 if encoding == "GB18030" else 0xA4
    return len(rest) == 1 and (0xA1 <= first <= 0xA3 or first_of_used <= first <= last)


class NumberedLine(NamedTuple, Generic[Model]):
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


ARCHIVE_SUFFIX = ".zip"

MAX_ARCHIVE_FILES = 20_000
MAX_UNPACKED_BYTES = 256 * 1024 * 1024
"""Most that an archive may unpack to: a zip of a few megabytes can hold more than any disk."""

MAX_FOLDERS_DEEP = 8

TAKEN_SUFFIXES = frozenset({".json", ".txt", ".md", ".markdown", ".epub", ".docx"})
"""What an import can read; whatever else an archive holds stays in it."""

_PIECE_BYTES = 1024 * 1024

# What reading a damaged archive raises: each way of packing has errors of its own.
_UNREADABLE = (zipfile.BadZipFile, zlib.error, lzma.LZMAError, NotImplementedError, RuntimeError, EOFError, ValueError)
_UTF8_NAME = 0x800
_ENCRYPTED = 0x1


class Unpacked(NamedTuple):
    """What came out of an archive."""

    root: Path
    """The folder, or the one file, that an import is to read."""
    passed_over: list[str]
    """Names of files that were left in the archive."""


def is_archive(file: Path) -> bool:
    """Tell whether a file is named as a zip archive."""
    return file.suffix.lower() == ARCHIVE_SUFFIX


def unpack(archive: Path, folder: Path) -> Unpacked:
    """Unpack what an import can read of a zip archive.

    Names never lead out of the folder, links are not followed, and what the archive says of its sizes is not believed:
    the bytes are counted. Names that Windows wrote in Chinese (GBK) are read as such.
    """
    try:
        with zipfile.ZipFile(archive) as opened:
            passed_over = list(_unpacked(opened, archive, folder))
    except InvalidFileError:
        # It is a ValueError as well, and says already what is wrong.
        raise
    except _UNREADABLE as error:
        raise InvalidFileError(f"cannot read {archive.name!r} as a zip archive: {error}") from error
    except OSError as error:
        raise InvalidFileError(f"cannot unpack {archive.name!r}: {error.strerror or error}") from error
    files = [each for each in folder.rglob("*") if each.is_file()] if folder.is_dir() else []
    if not files:
        kinds = ", ".join(sorted(TAKEN_SUFFIXES))
        raise InvalidFileError(f"{archive.name!r} holds no file that can be read; put {kinds} into it")
    if len(files) == 1 and files[0].suffix.lower() != ".json":
        return Unpacked(files[0], passed_over)
    return Unpacked(_common_folder(folder), passed_over)


def _unpacked(opened: zipfile.ZipFile, archive: Path, folder: Path) -> Iterator[str]:
    """Write the files of an archive into a folder, and yield the names of those that are left in it."""
    entries = opened.infolist()
    if len(entries) > MAX_ARCHIVE_FILES:
        raise InvalidFileError(
            f"{archive.name!r} holds {len(entries)} files; the limit is {MAX_ARCHIVE_FILES}, split it"
        )
    left_bytes = MAX_UNPACKED_BYTES
    taken: set[str] = set()
    for entry in entries:
        if entry.is_dir():
            continue
        name = _name_of(entry)
        path = _path_within(name)
        if path is None:
            yield name
            continue
        if path.parts[0] == "__MACOSX" or any(part.startswith(".") for part in path.parts):
            # What a system puts into its archives is no file of the author's.
            continue
        is_link = stat.S_ISLNK(entry.external_attr >> 16)
        key = unicodedata.normalize("NFC", str(path)).casefold()
        if is_link or path.suffix.lower() not in TAKEN_SUFFIXES or key in taken:
            yield str(path)
            continue
        if entry.flag_bits & _ENCRYPTED:
            raise InvalidFileError(f"{archive.name!r} is encrypted; unpack it and send its files")
        taken.add(key)
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        written = 0
        with opened.open(entry) as source, target.open("xb") as stream:
            while piece := source.read(_PIECE_BYTES):
                written += len(piece)
                if written > MAX_FILE_BYTES:
                    raise InvalidFileError(
                        f"{entry.filename!r} in {archive.name!r} is larger than {MAX_FILE_BYTES} bytes; split it"
                    )
                if written > left_bytes:
                    raise InvalidFileError(
                        f"{archive.name!r} unpacks to more than {MAX_UNPACKED_BYTES} bytes; split it"
                    )
                stream.write(piece)
        left_bytes -= written


def _name_of(entry: zipfile.ZipInfo) -> str:
    """Return the name of a file; where nothing says that it is UTF-8 it may be, or be GBK, as Windows writes it."""
    if entry.flag_bits & _UTF8_NAME:
        return entry.filename
    try:
        raw = entry.filename.encode("cp437")
    except UnicodeEncodeError:
        return entry.filename
    for encoding in ("utf-8", "gb18030"):
        try:
            return raw.decode(encoding)
        except UnicodeDecodeError:
            continue
    return entry.filename


def _path_within(name: str) -> PurePosixPath | None:
    """Return where a file goes below the folder, or None where its name leads elsewhere or is none."""
    plain = name.replace("\\", "/")
    parts = [part for part in plain.split("/") if part not in ("", ".")]
    is_foreign = plain.startswith("/") or any(part == ".." or ":" in part for part in parts)
    is_unprintable = any(not part.isprintable() or len(part.encode("utf-8")) > 250 for part in parts)
    if not parts or is_foreign or is_unprintable or len(parts) > MAX_FOLDERS_DEEP:
        return None
    return PurePosixPath(*parts)


def _common_folder(folder: Path) -> Path:
    """Return the folder below which all files lie: archives mostly hold one folder with everything in it."""
    while True:
        inside = list(folder.iterdir())
        if len(inside) != 1 or not inside[0].is_dir() or inside[0].name in ("memory", "chapters"):
            return folder
        folder = inside[0]
