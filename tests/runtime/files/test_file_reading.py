"""Reading users' files, and what is said when they are wrong."""

import os
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
    with pytest.raises(InvalidFileError, match="in no encoding that is read"):
        read_story_text(file)


@pytest.mark.parametrize("data", ["Он вышел из дома рано утром".encode("cp1251"), bytes(range(256)) * 9])
def test_an_encoding_that_is_not_read_is_refused_without_a_guess(tmp_path: Path, data: bytes) -> None:
    """The place is named and what to do; no command turns the file into noise."""
    file = tmp_path / "a.txt"
    file.write_bytes(data)
    with pytest.raises(InvalidFileError, match=r"a\.txt' is in no encoding that is read .*save it as UTF-8"):
        read_text_file(file)


CHINESE = "第一章 雪夜\n\n" + "沈青推开门，雪落在她的肩上。她把铜钥匙交给了林海。\n" * 6
ENGLISH = "Chapter 1\n\n“Don’t go…” she said. The café was empty, and nobody lit the lamp.\n"


@pytest.mark.parametrize("text", [CHINESE, ENGLISH])
@pytest.mark.parametrize("codec", ["utf-16", "utf-16-le", "utf-16-be", "utf-32"])
def test_wide_encodings_are_read(tmp_path: Path, codec: str, text: str) -> None:
    """With a mark at the beginning, as Notepad writes it, and UTF-16 without one."""
    file = tmp_path / "a.txt"
    file.write_bytes(text.encode(codec))
    assert read_story_text(file) == (text, codec.upper()[:6], 0)


def test_an_english_text_of_windows_is_read(tmp_path: Path) -> None:
    """Quotation marks and letters with accents stand alone in it, as bytes of Chinese never do."""
    file = tmp_path / "a.txt"
    file.write_bytes(ENGLISH.encode("cp1252"))
    assert read_story_text(file) == (ENGLISH, "Windows-1252", 0)


@pytest.mark.parametrize(
    ("data", "encoding"),
    [
        (CHINESE.encode("gbk")[:60] + b"\xff" + CHINESE.encode("gbk")[61:], "GB18030"),
        (CHINESE.encode("gbk")[:-2], "GB18030"),
        (CHINESE.rstrip().encode()[:-2], "UTF-8"),
        (CHINESE.encode()[:30] + b"\xff" + CHINESE.encode()[30:], "UTF-8"),
        (ENGLISH.encode() + b"\xe2\x80", "UTF-8"),
    ],
)
def test_damage_does_not_change_the_encoding(tmp_path: Path, data: bytes, encoding: str) -> None:
    """A short chapter with a byte that was damaged, or a last character that was cut."""
    file = tmp_path / "a.txt"
    file.write_bytes(data)
    decoded = read_story_text(file)
    assert decoded.encoding == encoding
    assert 1 <= decoded.unreadable <= 2
    assert decoded.text[:3] in ("第一章", "Cha")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes here")
def test_a_pipe_holds_no_reader_up(tmp_path: Path) -> None:
    """A named pipe that nobody writes to is refused at once."""
    os.mkfifo(tmp_path / "chapter_001.txt")
    with pytest.raises(InvalidFileError, match="no regular file but a pipe"):
        read_text_file(tmp_path / "chapter_001.txt")


def test_a_link_out_of_the_folder_is_refused(tmp_path: Path) -> None:
    """Within the folder links are followed."""
    folder = tmp_path / "lamp"
    folder.mkdir()
    (tmp_path / "secret.txt").write_text("sk-1", encoding="utf-8")
    (folder / "own.txt").write_text("snow", encoding="utf-8")
    (folder / "a.txt").symlink_to(tmp_path / "secret.txt")
    (folder / "b.txt").symlink_to(folder / "own.txt")
    assert read_text_file(folder / "b.txt", within=folder) == "snow"
    with pytest.raises(InvalidFileError, match=r"a\.txt' is a link that leads out of"):
        read_text_file(folder / "a.txt", within=folder)


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
