"""Zip archives of what an import reads: unpacked within bounds, nothing of them outside of one folder."""

from __future__ import annotations

import lzma
import stat
import unicodedata
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from novelgen.errors import InvalidFileError
from runtime.files.file_reading import MAX_FILE_BYTES

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
        left_bytes -= _write(opened, entry, target, archive, left_bytes)


def _write(opened: zipfile.ZipFile, entry: zipfile.ZipInfo, target: Path, archive: Path, left_bytes: int) -> int:
    """Write one file and return its length."""
    written = 0
    with opened.open(entry) as source, target.open("xb") as stream:
        while piece := source.read(_PIECE_BYTES):
            written += len(piece)
            if written > MAX_FILE_BYTES:
                raise InvalidFileError(
                    f"{entry.filename!r} in {archive.name!r} is larger than {MAX_FILE_BYTES} bytes; split it"
                )
            if written > left_bytes:
                raise InvalidFileError(f"{archive.name!r} unpacks to more than {MAX_UNPACKED_BYTES} bytes; split it")
            stream.write(piece)
    return written


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
