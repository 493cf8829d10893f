"""Reading users' files, and what is said when they are wrong."""

from __future__ import annotations

from pathlib import Path

import pytest

from novelgen.errors import InvalidFileError
from runtime.files import file_reading
from runtime.files.file_reading import read_json_file, read_text_file


def test_byte_order_mark_and_line_ends_are_tolerated(tmp_path: Path) -> None:
    """A UTF-8 file with a byte order mark and Windows line ends reads as plain text."""
    file = tmp_path / "a.txt"
    file.write_bytes("一\r\n二\r三".encode("utf-8-sig"))
    assert read_text_file(file) == "一\n二\n三"


@pytest.mark.parametrize("encoding", ["gbk", "gb18030"])
def test_chinese_text_of_old_editors_is_read(tmp_path: Path, encoding: str) -> None:
    """A file in GBK or GB18030, as many Chinese editors still write it, needs no conversion."""
    text = "第一章 夜雨\n林渊推开了门，“谁？”他问。——没有人答应……\n却说三藏自贞观十三年，Tang 唐朝。"
    file = tmp_path / "a.txt"
    file.write_bytes(text.encode(encoding))
    assert read_text_file(file) == text


@pytest.mark.parametrize(
    ("data", "encoding"),
    [
        ("story".encode("utf-16"), "UTF-16"),
        ("A café in the old town, and much more of plain English text".encode("cp1252"), "WINDOWS-1252"),
        ("Он вышел из дома рано утром".encode("cp1251"), "WINDOWS-1252"),
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
