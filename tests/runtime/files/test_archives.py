"""Zip archives are unpacked within bounds, and nothing of them comes to lie elsewhere."""

import stat
import zipfile
from pathlib import Path

import pytest

import runtime.files.file_reading as archives
from novelgen.errors import InvalidFileError
from runtime.files.file_reading import unpack


def _zip(file: Path, contents: dict[str, str | bytes]) -> Path:
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as opened:
        for name, content in contents.items():
            opened.writestr(name, content)
    return file


def _files(folder: Path) -> list[str]:
    return sorted(str(each.relative_to(folder)) for each in folder.rglob("*") if each.is_file())


def test_the_folder_below_which_all_lies_is_the_root(tmp_path: Path) -> None:
    """Hidden files of systems vanish, other kinds are told, and the one folder on top is passed through."""
    archive = _zip(
        tmp_path / "book.zip",
        {
            "weir/01 Low water.txt": "The weir was low.",
            "weir/02 High water.md": "It rose.",
            "weir/cover.png": b"\x89PNG",
            "weir/.DS_Store": b"x",
            "__MACOSX/weir/._01 Low water.txt": b"x",
        },
    )
    unpacked = unpack(archive, tmp_path / "out")
    assert unpacked.root == tmp_path / "out" / "weir"
    assert _files(unpacked.root) == ["01 Low water.txt", "02 High water.md"]
    assert unpacked.passed_over == ["weir/cover.png"]


def test_a_single_manuscript_is_the_root(tmp_path: Path) -> None:
    """A book that was only packed is read as if it had not been."""
    unpacked = unpack(_zip(tmp_path / "a.zip", {"deep/er/book.md": "# One\n\nHe came."}), tmp_path / "out")
    assert unpacked.root.name == "book.md"


def test_names_and_links_lead_nowhere_else(tmp_path: Path) -> None:
    """Names that climb, begin at the root or name a drive, and links, are told and left in the archive."""
    wicked = ["../out.txt", "/etc/out.txt", "..\\out.txt", "C:\\out.txt", "a/../../out.txt", "b/\n.txt"]
    archive = _zip(tmp_path / "book.zip", {**dict.fromkeys(wicked, "x"), "1.txt": "He came."})
    unpacked = unpack(archive, tmp_path / "in" / "out")
    assert len(unpacked.passed_over) == len(wicked)
    assert _files(tmp_path) == ["book.zip", "in/out/1.txt"]
    link = zipfile.ZipInfo("2.txt")
    link.external_attr = (stat.S_IFLNK | 0o777) << 16
    with zipfile.ZipFile(tmp_path / "book.zip", "w") as opened:
        opened.writestr(link, "/etc/passwd")
        opened.writestr("1.txt", "He came.")
    unpacked = unpack(tmp_path / "book.zip", tmp_path / "out")
    assert (unpacked.passed_over, _files(tmp_path / "out")) == (["2.txt"], ["1.txt"])


def test_names_that_windows_wrote_in_chinese(tmp_path: Path) -> None:
    """Names in GBK without the mark of UTF-8 are read as the author sees them."""
    archive = tmp_path / "book.zip"
    name = "第001章 雪夜.txt"
    # Python marks names beyond ASCII as UTF-8; Windows in Chinese writes GBK without a mark.
    placeholder = "x" * len(name.encode("gb18030"))
    _zip(archive, {placeholder: "雪下了一夜。"})
    archive.write_bytes(archive.read_bytes().replace(placeholder.encode(), name.encode("gb18030")))
    assert unpack(archive, tmp_path / "out").root.name == name


def test_a_bomb_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Bytes are counted as they come: too large a file, too much of all and too many files are each refused."""
    monkeypatch.setattr(archives, "MAX_FILE_BYTES", 2_000_000)
    monkeypatch.setattr(archives, "MAX_UNPACKED_BYTES", 3_000_000)
    monkeypatch.setattr(archives, "MAX_ARCHIVE_FILES", 4)
    zeros = b"0" * 1_500_000
    for name, contents in {
        "one": {"1.txt": zeros * 2},
        "all": {"1.txt": zeros, "2.txt": zeros, "3.txt": zeros},
        "many": {f"{number}.txt": "x" for number in range(5)},
    }.items():
        archive = _zip(tmp_path / f"{name}.zip", contents)
        assert archive.stat().st_size < 10_000
        with pytest.raises(InvalidFileError, match="split it"):
            unpack(archive, tmp_path / name)


@pytest.mark.parametrize("content", [b"", b"no archive", b"PK\x03\x04 torn"])
def test_what_is_no_archive_is_refused(tmp_path: Path, content: bytes) -> None:
    """A file that only has the name of an archive is refused by its name."""
    (tmp_path / "book.zip").write_bytes(content)
    with pytest.raises(InvalidFileError, match=r"'book\.zip'"):
        unpack(tmp_path / "book.zip", tmp_path / "out")
    with pytest.raises(InvalidFileError, match=r"\.docx"):
        unpack(_zip(tmp_path / "book.zip", {"cover.png": b"x"}), tmp_path / "out")


@pytest.mark.parametrize("packing", [zipfile.ZIP_DEFLATED, zipfile.ZIP_LZMA, zipfile.ZIP_BZIP2])
def test_a_damaged_file_in_an_archive_is_refused(tmp_path: Path, packing: int) -> None:
    """An archive whose list is whole but whose text is damaged is named, whichever way it is packed."""
    archive = tmp_path / "book.zip"
    with zipfile.ZipFile(archive, "w", packing) as opened:
        opened.writestr("book.txt", "".join(f"Chapter {number}\n\nThe lamp went out.\n" for number in range(500)))
    content = bytearray(archive.read_bytes())
    content[60:90] = bytes(range(200, 230))
    archive.write_bytes(content)
    with pytest.raises(InvalidFileError, match=r"book\.zip"):
        unpack(archive, tmp_path / "out")


def test_an_encrypted_archive_is_refused(tmp_path: Path) -> None:
    """Nothing is guessed about a password."""
    archive = _zip(tmp_path / "book.zip", {"1.txt": "He came."})
    data = bytearray(archive.read_bytes())
    for mark in (b"PK\x03\x04", b"PK\x01\x02"):
        at = data.index(mark)
        data[at + (6 if mark == b"PK\x03\x04" else 8)] |= 1
    archive.write_bytes(data)
    with pytest.raises(InvalidFileError, match="encrypted"):
        unpack(archive, tmp_path / "out")
