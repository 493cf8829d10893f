"""Books as folders of JSON Lines."""

import json
from pathlib import Path
from typing import Any

import pytest

from novelgen.errors import InvalidFileError
from runtime.files.project_files import load_book


def _lines(file: Path, documents: list[Any]) -> None:
    file.write_text("".join(json.dumps(each, ensure_ascii=False) + "\n" for each in documents), encoding="utf-8")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A made-up book of two scenes, its later scene first in the file."""
    _lines(
        tmp_path / "scenes.jsonl",
        [
            {"chapter_index": 2, "scene_index": 1, "title": "二", "text": "灯灭了。"},
            {"chapter_index": 1, "scene_index": 1, "title": "一", "text": "阿青提着灯。"},
        ],
    )
    _lines(
        tmp_path / "entities.jsonl",
        [{"entity_id": "C7", "entity_type": "character", "name": "阿青", "aliases": ["青儿"], "first_chapter": 1}],
    )
    _lines(tmp_path / "records.jsonl", [{"chapter_index": 1, "scene_index": 1, "summary": ["阿青有灯"]}])
    (tmp_path / "meta.json").write_text('{"title": "灯", "language": "zh"}', encoding="utf-8")
    (tmp_path / "plans.jsonl").write_text("never read", encoding="utf-8")
    return tmp_path


def test_without_the_flag_only_scenes_are_read(folder: Path) -> None:
    """Entities and records stay unread, scenes come in story order, and a folder without meta is named by itself."""
    (folder / "entities.jsonl").write_text("broken", encoding="utf-8")
    book = load_book(folder)
    assert (book.title, book.language) == ("灯", "zh")
    assert [(each.chapter_index, each.title) for each in book.scenes] == [(1, "一"), (2, "二")]
    assert book.entities == []
    assert book.records == {}
    (folder / "meta.json").unlink()
    book = load_book(folder)
    assert (book.title, book.language) == (folder.name, "")


def test_with_the_flag_entities_and_records_are_read(folder: Path) -> None:
    """Ids of the folder are kept; records are found by position."""
    book = load_book(folder, records=True)
    assert [(each.entity_id, each.names()) for each in book.entities] == [("C7", ["阿青", "青儿"])]
    assert book.records[(1, 1)].summary == ["阿青有灯"]


@pytest.mark.parametrize(
    ("name", "line", "message"),
    [
        ("scenes.jsonl", '{"chapter_index": 1', r"scenes\.jsonl' line 3 is not JSON"),
        ("scenes.jsonl", '{"chapter_index": 1, "scene_index": 2, "text": null}', r"line 3: text cannot be None"),
        ("scenes.jsonl", '{"chapter_index": 1, "scene_index": 1, "text": ""}', r"scene \(1, 1\) stands more than once"),
        ("scenes.jsonl", "[]", r"line 3: the whole cannot be \[\]"),
        ("entities.jsonl", '{"entity_id": "C7", "entity_type": "item", "name": "y"}', "'C7' stands more than once"),
        ("records.jsonl", '{"chapter_index": 9, "scene_index": 9}', r"record of \(9, 9\)"),
        ("meta.json", "[]", r"meta\.json': the whole cannot be \[\]"),
        ("meta.json", '{"title": 3}', "title cannot be 3"),
    ],
)
def test_wrong_lines_name_file_and_line(folder: Path, name: str, line: str, message: str) -> None:
    """A wrong line is named with its file, its number, the field and the value."""
    with (folder / name).open("w" if name == "meta.json" else "a", encoding="utf-8") as stream:
        stream.write(line + "\n")
    with pytest.raises(InvalidFileError, match=message):
        load_book(folder, records=True)


def test_a_folder_without_scenes_is_refused(tmp_path: Path) -> None:
    """A folder that is no book names the file that it lacks."""
    with pytest.raises(InvalidFileError, match=r"cannot read .*scenes\.jsonl'"):
        load_book(tmp_path)
