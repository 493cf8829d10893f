"""Reading users' files, and what is said when they are wrong."""

from __future__ import annotations

from pathlib import Path

import pytest

from novelgen.errors import InvalidFileError
from runtime.projects import file_reading
from runtime.projects.file_reading import read_json_file, read_text_file


def test_byte_order_mark_and_line_ends_are_tolerated(tmp_path: Path) -> None:
    """A UTF-8 file with a byte order mark and Windows line ends reads as plain text."""
    file = tmp_path / "a.txt"
    file.write_bytes("一\r\n二\r三".encode("utf-8-sig"))
    assert read_text_file(file) == "一\n二\n三"


@pytest.mark.parametrize(
    ("data", "encoding"),
    [
        ("却说三藏自贞观十三年".encode("gb18030"), "GB18030"),
        ("story".encode("utf-16"), "UTF-16"),
        ("A café in the old town, and much more of plain English text".encode("cp1252"), "WINDOWS-1252"),
    ],
)
def test_other_encodings_are_named(tmp_path: Path, data: bytes, encoding: str) -> None:
    """A file in another encoding is refused with the encoding that it looks like."""
    file = tmp_path / "a.txt"
    file.write_bytes(data)
    with pytest.raises(InvalidFileError, match=rf"a\.txt' is not UTF-8 .*looks like {encoding}"):
        read_text_file(file)


def test_large_files_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file above the size bound is refused before it is read."""
    monkeypatch.setattr(file_reading, "MAX_FILE_BYTES", 10)
    file = tmp_path / "a.txt"
    file.write_text("x" * 11, encoding="utf-8")
    with pytest.raises(InvalidFileError, match=r"has 11 bytes; the limit is 10"):
        read_text_file(file)


def test_missing_file_and_folder_are_refused(tmp_path: Path) -> None:
    """A path that is no readable file is named with the system's reason."""
    with pytest.raises(InvalidFileError, match=r"cannot read .*nothing\.json'"):
        read_text_file(tmp_path / "nothing.json")
    with pytest.raises(InvalidFileError, match=r"cannot read .*directory"):
        read_text_file(tmp_path)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is not JSON: Expecting value at line 1"),
        ('{"a": 1,\n}', "is not JSON: .* at line 2"),
        ('{"a": NaN}', "NaN is not a JSON value"),
        ("[" * 200_000, "is not usable JSON"),
        ("1" * 5000, "is not usable JSON"),
    ],
)
def test_malformed_json_is_refused(tmp_path: Path, text: str, message: str) -> None:
    """Whatever is not JSON is an error of the file, never a crash."""
    file = tmp_path / "a.json"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(InvalidFileError, match=message):
        read_json_file(file)
