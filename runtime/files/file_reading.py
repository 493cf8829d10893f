"""Reading users' files and archives: bounded in size, in a known encoding, errors that name file, field and value."""

import codecs
import json
import lzma
import os
import re
import stat
import unicodedata
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path, PurePosixPath
from typing import Any, Generic, NamedTuple, NoReturn, TypeVar

from pydantic import BaseModel, ValidationError

from novelgen.errors import InvalidFileError, InvalidProjectIdError
from novelgen.language.language import CJK_RANGES
from novelgen.language.normalise import is_deeper, scrub_tree
from novelgen.models.position import require_project_id

MAX_DEPTH = 100
MAX_FILE_BYTES = 20 * 1024 * 1024
_SHOWN_VALUE_LENGTH = 80
_CHINESE_ENCODINGS = {"GB18030": "gb18030", "Big5": "big5hkscs"}
"""Names that people know, to Python's codecs; each holds all of its older forms."""
_COMMON_SHARE = 0.67
_JUDGED_CHARACTERS = 100_000
_WIDE_MARKS = {
    codecs.BOM_UTF32_LE: "UTF-32",
    codecs.BOM_UTF32_BE: "UTF-32",
    codecs.BOM_UTF16_LE: "UTF-16",
    codecs.BOM_UTF16_BE: "UTF-16",
}
"""Longer ones first: the mark of UTF-32 begins with that of UTF-16."""

_READABLE_PER_UNREADABLE = 1_000
"""So many bytes of a story's text make up for one that cannot be read."""
_SOUND_PER_BROKEN = 2
"""So many characters of several bytes show that a text is UTF-8, for one that is broken."""
_CHARACTERS_PER_BROKEN = 50
"""So many characters of a Chinese encoding make up for one that is broken; a single one is always made up for."""
_SHARE_OF_UTF16 = 0.95

Model = TypeVar("Model", bound=BaseModel)


class DecodedText(NamedTuple):
    """A text with how it was read."""

    text: str
    encoding: str
    unreadable: int = 0
    """Places that no byte of the encoding fits; the text has U+FFFD there."""


def read_text_file(file: Path, *, within: Path | None = None) -> str:
    """Read a text file whole, in UTF-8, UTF-16, GB18030 (GBK) or Big5.

    A byte order mark is dropped, line ends become `\\n`.

    Args:
        file: A regular file.
        within: The folder that no link may lead out of.

    Raises:
        InvalidFileError: When it cannot be read, or is in another encoding.
    """
    return read_story_text(file, may_be_damaged=False, within=within).text


def read_story_text(
    file: Path, *, may_be_damaged: bool = True, within: Path | None = None, may_be_pipe: bool = False
) -> DecodedText:
    """Read the text of a story as `read_text_file` does, but for a few bytes that were damaged on the way."""
    data = _bytes_of(file, within=within, may_be_pipe=may_be_pipe)
    decoded = decoded_text(data)
    if decoded is None or (decoded.unreadable and not may_be_damaged):
        raise unknown_encoding(file, data, decoded)
    return decoded


def is_within(path: Path, folder: Path) -> bool:
    """Return whether a path lies in a folder, following links."""
    try:
        return path.resolve(strict=True).is_relative_to(folder.resolve())
    except (OSError, RuntimeError):
        return False


def require_regular(file: Path) -> None:
    """Reject special files such as pipes."""
    try:
        mode = file.stat().st_mode
    except OSError as error:
        raise InvalidFileError(f"cannot read {str(file)!r}: {error.strerror or error}") from error
    _refuse_special(file, mode)


def _refuse_special(file: Path, mode: int, *, may_be_pipe: bool = False) -> None:
    if stat.S_ISDIR(mode):
        raise InvalidFileError(f"cannot read {str(file)!r}: it is a directory")
    if not (stat.S_ISREG(mode) or may_be_pipe):
        raise InvalidFileError(f"cannot read {str(file)!r}: it is no regular file but a pipe or a device")


def _bytes_of(file: Path, *, within: Path | None, may_be_pipe: bool) -> bytes:
    """Return the bytes of a regular file, which no pipe can hold up and no size can exceed."""
    if within is not None and file.exists() and not is_within(file, within):
        raise InvalidFileError(f"{str(file)!r} is a link that leads out of {str(within)!r}; put a copy in its place")
    flags = os.O_RDONLY | getattr(os, "O_BINARY", 0) | (0 if may_be_pipe else getattr(os, "O_NONBLOCK", 0))
    try:
        with open(os.open(file, flags), "rb") as stream:  # noqa: PTH123 - by its descriptor
            _refuse_special(file, os.fstat(stream.fileno()).st_mode, may_be_pipe=may_be_pipe)
            data = stream.read(MAX_FILE_BYTES + 1)
            size_bytes = max(len(data), os.fstat(stream.fileno()).st_size)
    except OSError as error:
        raise InvalidFileError(f"cannot read {str(file)!r}: {error.strerror or error}") from error
    if size_bytes > MAX_FILE_BYTES:
        raise InvalidFileError(f"{str(file)!r} has {size_bytes} bytes; the limit is {MAX_FILE_BYTES}, split the file")
    return data


def read_json_file(file: Path, *, within: Path | None = None) -> Any:
    """Read a JSON file."""
    return parse_json(read_text_file(file, within=within), where=repr(str(file)))


def parse_json(text: str, *, where: str) -> Any:
    """Parse JSON and clean its texts.

    `where` names the file in errors.

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
    """Validate a file's data as a model.

    `where` names the file in errors.
    """
    try:
        return model.model_validate(data)
    except ValidationError as error:
        raise InvalidFileError(f"{where}: {described(error)}") from error


def described(error: ValidationError, *, loc_start: int = 0) -> str:
    """Return the first validation problem: field, value and expectation."""
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


def decoded_text(data: bytes) -> DecodedText | None:
    """Return the text of bytes in an encoding that is read, or None."""
    if b"\0" in data and not data.startswith(tuple(_WIDE_MARKS)):
        return _as_utf16(data)
    try:
        return DecodedText(_plain_lines(data.decode("utf-8-sig")), "UTF-8")
    except UnicodeDecodeError:
        damaged = _as_encoded(data, "UTF-8", "utf-8-sig")
    wide = next((name for mark, name in _WIDE_MARKS.items() if data.startswith(mark)), None)
    if wide is not None:
        return _as_encoded(data, wide, wide)
    sound = sum(not character.isascii() for character in damaged.text) - damaged.unreadable
    if damaged.unreadable and (
        sound >= _SOUND_PER_BROKEN * damaged.unreadable or len(data) >= damaged.unreadable * _READABLE_PER_UNREADABLE
    ):
        return damaged
    chinese = [_as_encoded(data, name, codec) for name, codec in _CHINESE_ENCODINGS.items()]
    readable = [
        decoded
        for decoded in chinese
        if decoded.unreadable <= max(1, len(decoded.text) // _CHARACTERS_PER_BROKEN) and _is_chinese(decoded, data)
    ]
    if readable:
        return max(readable, key=_common_share)
    return _as_encoded(data, "Windows-1252", "cp1252") if _is_latin(data) else None


_NOT_LATIN = re.compile(
    # Control characters, four bytes beyond ASCII side by side, or two of which none is a mark such as a quotation.
    rb"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\x81\x8d\x8f\x90\x9d]|[\x80-\xff]{4}|[\xa0-\xff]{2}"
)
_MOST_MARKED = 10
"""One of so many bytes at most is no ASCII in a text of the West."""


def _is_latin(data: bytes) -> bool:
    high_bytes = sum(byte >= 0x80 for byte in data)
    return high_bytes * _MOST_MARKED <= len(data) + _MOST_MARKED and _NOT_LATIN.search(data) is None


def _as_utf16(data: bytes) -> DecodedText | None:
    """Return a text in UTF-16 without a mark: its characters are Chinese or plain, as hardly any other bytes are."""
    for codec in ("utf-16-le", "utf-16-be"):
        decoded = _as_encoded(data, "UTF-16", codec)
        if len(_PLAIN_OR_CHINESE.findall(decoded.text)) >= _SHARE_OF_UTF16 * len(decoded.text):
            return decoded
    try:
        return DecodedText(_plain_lines(data.decode("utf-8-sig")), "UTF-8")
    except UnicodeDecodeError:
        return None


_PLAIN_OR_CHINESE = re.compile(rf"[\t\n\x20-\x7e\u2010-\u2027\u3000-\u303f\uff00-\uff65{CJK_RANGES}]")


def _as_encoded(data: bytes, name: str, codec: str) -> DecodedText:
    text = data.decode(codec, errors="replace")
    return DecodedText(_plain_lines(text), name, text.count("\N{REPLACEMENT CHARACTER}"))


def _plain_lines(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n")


def unknown_encoding(file: Path, data: bytes, decoded: DecodedText | None) -> InvalidFileError:
    """Return the error of a file in no encoding that is read, or with more damage than its reader takes."""
    place = "damaged"
    try:
        data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        place = f"byte {data[error.start]:#04x} at offset {error.start}"
    if decoded is not None:
        return InvalidFileError(
            f"{str(file)!r} is {decoded.encoding} with {decoded.unreadable} damaged places ({place}); correct them"
        )
    return InvalidFileError(
        f"{str(file)!r} is in no encoding that is read ({place}); open it in the program that wrote it, and save it as"
        " UTF-8"
    )


def _is_chinese(decoded: DecodedText, data: bytes) -> bool:
    """Return whether text is plausible Chinese, by frequency of characters."""
    high_bytes = sum(byte >= 0x80 for byte in data)
    foreign = sum(not character.isascii() for character in decoded.text)
    often_used = len(_IN_ALL_CHINESE.findall(decoded.text))
    return (
        high_bytes > len(data) // 10
        and _common_share(decoded) >= _COMMON_SHARE
        and (foreign < _FEW_CHARACTERS or often_used >= _OFTEN_USED_SHARE * foreign)
    )


_IN_ALL_CHINESE = re.compile("[的了是不一我他她在人有这這之其而也，。、：！？“”「」]")
"""What every Chinese text has; Korean bytes read as Chinese have none of it."""
_FEW_CHARACTERS = 20
_OFTEN_USED_SHARE = 0.02


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
    """A numbered line with its value or its error."""

    number: int
    value: Model | None = None
    problem: str = ""


def read_numbered_lines(
    text: str, model: type[Model], *, file: Path, id_fields: tuple[str, ...], example: str
) -> Iterator[NumberedLine[Model]]:
    """Read a text's lines one by one, skipping empty ones.

    Only the fields of the model are read. What else is there, such as an answer key, is dropped before anything
    looks at the line.
    """
    taken_counts: dict[str, int] = {}
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        where = f"{str(file)!r} line {number}"
        try:
            value, line_id = _value_of(line, model, where=where, id_fields=id_fields, example=example)
        except InvalidFileError as error:
            yield NumberedLine(number, problem=str(error))
            continue
        first = taken_counts.setdefault(line_id.casefold(), number)
        problem = f"{where}: {id_fields[-1]} {line_id!r} stands on line {first}, too"
        yield NumberedLine(number, value) if first == number else NumberedLine(number, problem=problem)


def _value_of(
    line: str, model: type[Model], *, where: str, id_fields: tuple[str, ...], example: str
) -> tuple[Model, str]:
    data = parse_json(line, where=where)
    if not isinstance(data, dict):
        raise InvalidFileError(f"{where} must hold an object, not {shown(data)}")
    id_field = id_fields[-1]
    parsed_fields = {name: data[name] for name in model.model_fields if name in data}
    statements = [data[name] for name in id_fields if name in data]
    if statements:
        parsed_fields[id_field] = statements[0]
    value = validated(model, parsed_fields, where=where)
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
    """The unpacked files of an archive."""

    root: Path
    """The folder, or the one file, that an import is to read."""
    passed_over: list[str]
    """Names of files that were left in the archive."""


def is_archive(file: Path) -> bool:
    """Tell whether a file is named as a zip archive."""
    return file.suffix.lower() == ARCHIVE_SUFFIX


def unpack(archive: Path, folder: Path) -> Unpacked:
    """Unpack the importable files of a zip archive.

    Names never lead out of the folder, links are not followed, and what the archive says of its sizes is not believed:
    the bytes are counted. Names that Windows wrote in Chinese (GBK) are read as such.
    """
    try:
        with zipfile.ZipFile(archive) as opened_archive:
            passed_over = list(_unpacked(opened_archive, archive, folder))
    except InvalidFileError:
        # It is a ValueError as well, and says already what is wrong.
        raise
    except _UNREADABLE as error:
        raise InvalidFileError(f"cannot read {archive.name!r} as a zip archive: {error}") from error
    except OSError as error:
        raise InvalidFileError(f"cannot unpack {archive.name!r}: {error.strerror or error}") from error
    files = [path for path in folder.rglob("*") if path.is_file()] if folder.is_dir() else []
    if not files:
        kinds = ", ".join(sorted(TAKEN_SUFFIXES))
        raise InvalidFileError(f"{archive.name!r} holds no file that can be read; put {kinds} into it")
    if len(files) == 1 and files[0].suffix.lower() != ".json":
        return Unpacked(files[0], passed_over)
    return Unpacked(_common_folder(folder), passed_over)


def _unpacked(opened_archive: zipfile.ZipFile, archive: Path, folder: Path) -> Iterator[str]:
    """Write the files of an archive into a folder, and yield the names of the rest."""
    entries = opened_archive.infolist()
    if len(entries) > MAX_ARCHIVE_FILES:
        raise InvalidFileError(
            f"{archive.name!r} holds {len(entries)} files; the limit is {MAX_ARCHIVE_FILES}, split it"
        )
    left_bytes = MAX_UNPACKED_BYTES
    taken_names: set[str] = set()
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
        if is_link or path.suffix.lower() not in TAKEN_SUFFIXES or key in taken_names:
            yield str(path)
            continue
        if entry.flag_bits & _ENCRYPTED:
            raise InvalidFileError(f"{archive.name!r} is encrypted; unpack it and send its files")
        taken_names.add(key)
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        written_count = 0
        with opened_archive.open(entry) as source, target.open("xb") as stream:
            while piece := source.read(_PIECE_BYTES):
                written_count += len(piece)
                if written_count > MAX_FILE_BYTES:
                    raise InvalidFileError(
                        f"{entry.filename!r} in {archive.name!r} is larger than {MAX_FILE_BYTES} bytes; split it"
                    )
                if written_count > left_bytes:
                    raise InvalidFileError(
                        f"{archive.name!r} unpacks to more than {MAX_UNPACKED_BYTES} bytes; split it"
                    )
                stream.write(piece)
        left_bytes -= written_count


def _name_of(entry: zipfile.ZipInfo) -> str:
    """Return a member's name as UTF-8 or GBK."""
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
