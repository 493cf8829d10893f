"""Reading users' files, and what is said when they are wrong."""

from pathlib import Path

import pytest

from novelgen.errors import InvalidFileError
from runtime.files import file_reading
from runtime.files.file_reading import read_json_file, read_story_text, read_text_file


def test_byte_order_mark_and_line_ends_are_tolerated(tmp_path: Path) -> None:
    """A path that is no readable file is named with the system's reason."""
    file = tmp_path / "a.txt"
    file.write_bytes("一\r\n二\r三".encode("utf-8-sig"))
    assert read_text_file(file) == "一\n二\n三"
    with pytest.raises(InvalidFileError, match=r"cannot read .*nothing\.json'"):
        read_text_file(tmp_path / "nothing.json")
    with pytest.raises(InvalidFileError, match=r"cannot read .*directory"):
        read_text_file(tmp_path)


@pytest.mark.parametrize(
    ("codec", "name", "text"),
    [
        ("gbk", "GB18030", "第一章 雪夜\n沈砚提灯入山，雪落无声。“灯在，人在。”他想起师父的话。\n"),
        ("gb18030", "GB18030", "第一章 雪夜\n沈硯提燈入山，雪落無聲。他把剑放在桌上，说：走吧。"),
        ("gbk", "GB18030", "詩曰：\n紂王無道殺忠賢，酷慘奇冤觸上天。俠烈盡隨灰燼滅；妖氛偏向禁宮旋。"),
        ("big5", "Big5", "第一章 雪夜\n沈硯提燈入山，雪落無聲。「燈在，人在。」他想起師父的話。\n"),
        ("utf-8-sig", "UTF-8", "第一章 雪夜\n沈砚提灯入山。"),
    ],
)
def test_the_encoding_of_a_story_is_told(tmp_path: Path, codec: str, name: str, text: str) -> None:
    """Simplified and traditional text of old editors is read, and the reader learns as what."""
    file = tmp_path / "a.txt"
    file.write_bytes((text * 5).encode(codec))
    assert read_story_text(file) == (text * 5, name, 0)
    assert read_text_file(file) == text * 5


@pytest.mark.parametrize("codec", ["utf-8", "gbk", "big5"])
def test_a_few_damaged_bytes_do_not_cost_the_story(tmp_path: Path, codec: str) -> None:
    """One broken byte among thousands leaves a mark in the text; a file of broken bytes is refused."""
    file = tmp_path / "a.txt"
    text = "他提燈入山，雪下在林中，無人知道。\n"
    file.write_bytes(text.encode(codec) * 200 + b"\xff\n")
    decoded = read_story_text(file)
    assert decoded.unreadable == 1
    assert decoded.text.startswith(text)
    file.write_bytes(bytes(range(128, 256)) * 40)
    with pytest.raises(InvalidFileError, match="is not UTF-8"):
        read_story_text(file)


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
