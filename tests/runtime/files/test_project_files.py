"""The files of a project folder, of either version of novel-gen, and of a book as a folder of JSON Lines."""

import json
import logging
from collections.abc import Callable
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest

from novelgen.errors import InvalidFileError
from runtime.files.project_files import (
    chapter_files,
    in_first_shape,
    load_book,
    load_chapter,
    load_chapter_plan,
    load_characters,
    load_entities,
    load_records,
    load_settings_file,
    record_files,
)


def _write(file: Path, data: Any) -> Path:
    file.write_text(json.dumps(data, ensure_ascii=False), encoding="utf-8")
    return file


def test_missing_files_are_none_or_empty(tmp_path: Path) -> None:
    """A project need not have any; of two files of one chapter nobody can say which it is."""
    file = tmp_path / "chapter_001_records.json"
    assert load_settings_file(file) is None
    assert load_characters(file) is None
    assert load_chapter_plan(file) is None
    assert load_records(file) == []
    assert load_entities(file) == []
    assert chapter_files(tmp_path / "none") == {}
    (tmp_path / "chapter_001.md").write_text("a", encoding="utf-8")
    (tmp_path / "chapter_1.txt").write_text("a", encoding="utf-8")
    with pytest.raises(InvalidFileError, match="are both chapter 1; keep one"):
        chapter_files(tmp_path)


def test_characters_settings_and_plans_are_read(tmp_path: Path) -> None:
    """Well-formed files become models, in Chinese as well."""
    characters = load_characters(
        _write(tmp_path / "characters.json", {"protagonist": {"name": "孙悟空", "aliases": ["行者"], "age": 500}})
    )
    assert characters is not None
    assert [each.name for each in characters.everyone()] == ["孙悟空"]
    settings = load_settings_file(_write(tmp_path / "settings.json", {"project_name": "西游", "language": "zh"}))
    assert settings is not None
    assert settings.language == "zh"
    plan = load_chapter_plan(
        _write(tmp_path / "plan.json", {"chapter_number": 2, "scenes": [{"scene_number": 1, "location": "山"}]})
    )
    assert plan is not None
    assert plan.scenes[0].location == "山"


def test_unknown_fields_are_kept_and_named_in_one_warning(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """All unknown fields of a file are one warning, and stay readable."""
    data = {"chapter_number": 1, "mood": "x", "scenes": [{"scene_number": 1, "content": "a", "title": "T"}]}
    with caplog.at_level(logging.WARNING):
        chapter = load_chapter(_write(tmp_path / "chapter_001.json", data))
    assert chapter.extra == {"mood": "x"}
    assert chapter.scenes[0].extra == {"title": "T"}
    assert len(caplog.records) == 1
    assert "GeneratedChapter.mood" in caplog.text
    assert "GeneratedScene.title" in caplog.text


CHAPTER, RECORDS, ENTITIES, PLAN = "chapter_001.json", "chapter_004_records.json", "entities.json", "plan.json"
LOADERS: dict[str, Callable[[Path], Any]] = {
    CHAPTER: load_chapter,
    RECORDS: load_records,
    ENTITIES: load_entities,
    PLAN: load_chapter_plan,
}
TWICE = [{"scene_number": 3, "content": "a"}, {"scene_number": 3, "content": "b"}]
HEAVY = {"chapter_index": 4, "scene_index": 1, "memories": [{"memory_id": "M1", "content": "a", "importance": 11}]}
ITEM = {"entity_id": "C0", "entity_type": "item", "name": "A"}


@pytest.mark.parametrize(
    ("name", "data", "message"),
    [
        (CHAPTER, {"chapter_number": 1, "scenes": [{"scene_number": 1, "content": 7}]}, r"content cannot be 7"),
        (CHAPTER, {"chapter_number": 1, "scenes": [{"scene_number": 1}]}, r"scenes\[0\]\.content is missing in {'sc"),
        (CHAPTER, [], "the whole cannot be \\[\\]"),
        (CHAPTER, {"chapter_number": 2}, "chapter_number is 2 but the file's name says 1"),
        (CHAPTER, {"chapter_number": 1, "scenes": TWICE}, "scenes.scene_number 3 stands more than once"),
        (RECORDS, [{"chapter_index": 5, "scene_index": 1}], "records.chapter_index is 5 but the file's name says 4"),
        (RECORDS, [{"chapter_index": 4, "scene_index": 1}] * 2, "records.scene_index 1 stands more than once"),
        (RECORDS, [HEAVY], r"records\[0\]\.memories\[0\]\.importance cannot be 11"),
        (RECORDS, "text", "the whole cannot be 'text'"),
        (ENTITIES, [ITEM | {"entity_type": "hero"}], r"entities\[0\]\.entity_type cannot be 'hero'"),
        (ENTITIES, [ITEM] * 2, "entities.entity_id 'C0' stands more than once"),
        (ENTITIES, [ITEM | {"aliases": "B"}], "aliases cannot be 'B'"),
        (ENTITIES, [ITEM | {"aliases": [1]}], r"aliases\[0\] cannot be 1"),
        (PLAN, {"chapter_id": "ten"}, "chapter_number cannot be 'ten'"),
        (PLAN, {"chapter_id": 1, "scenes": {}}, "scenes cannot be {}"),
        (PLAN, {"chapter_id": 1, "scenes": [{"purpose": "x"}]}, r"scenes\[0\]\.scene_number is missing"),
        (PLAN, {"chapter_id": 1, "scenes": [{"scene_id": "1_1"}] * 2}, "scene_number 1 stands more than once"),
        (PLAN, {"chapter_id": 10, "scenes": [{"scene_id": "9_2"}]}, "scene_number is missing in .*'scene_id': '9_2'"),
        (PLAN, {"chapter_id": 10, "scenes": [{"scene_id": "two"}]}, "scene_number is missing in .*'scene_id': 'two'"),
    ],
)
def test_wrong_files_name_file_field_and_value(tmp_path: Path, name: str, data: Any, message: str) -> None:
    """A file of the wrong shape says which of its fields holds what."""
    with pytest.raises(InvalidFileError, match=rf"{name}': .*{message}"):
        LOADERS[name](_write(tmp_path / name, data))


def test_text_and_markdown_chapters_are_found_and_split(tmp_path: Path) -> None:
    """Chapters may be plain text, Markdown and JSON side by side; plans and others are no chapters."""
    (tmp_path / "chapter_002.md").write_text("# Two\n\nA.\n\n***\n\nB.", encoding="utf-8")
    (tmp_path / "chapter_010.txt").write_text("第十回 甲\n\n乙。", encoding="utf-8")
    _write(tmp_path / "chapter_001.json", {"chapter_number": 1})
    _write(tmp_path / "chapter_001_plan.json", {"chapter_number": 1})
    (tmp_path / "notes.txt").write_text("x", encoding="utf-8")
    files = chapter_files(tmp_path)
    assert list(files) == [1, 2, 10]
    assert [len(load_chapter(file).scenes) for file in files.values()] == [0, 2, 1]
    assert load_chapter(files[10]).chapter_title == "第十回 甲"


@pytest.mark.parametrize("bare", [True, False])
def test_records_are_a_list_or_an_object(tmp_path: Path, bare: bool) -> None:
    """Both shapes of a records file are read."""
    records = [{"chapter_index": 4, "scene_index": 1, "summary": ["甲"]}]
    _write(tmp_path / "chapter_004_records.json", records if bare else {"chapter_number": 4, "records": records})
    file = record_files(tmp_path)[4]
    assert [each.summary for each in load_records(file)] == [["甲"]]


def test_a_name_without_a_chapter_says_how_to_name_the_file(tmp_path: Path) -> None:
    """The example is a name of the kind of file that was read."""
    file = _write(tmp_path / "fourth.json", [{"chapter_index": 4, "scene_index": 1}])
    for load, example in ((load_chapter, "chapter_001.json"), (load_records, "chapter_001_records.json")):
        with pytest.raises(InvalidFileError, match=rf"fourth\.json' tells no chapter; name it such as '{example}'"):
            load(file)


def test_entities_take_plain_and_detailed_aliases(tmp_path: Path) -> None:
    """Aliases may be strings or objects; fields that an entity does not know become its profile."""
    data = {
        "entities": [
            {
                "entity_id": "C0",
                "entity_type": "character",
                "name": "Mary",
                "aliases": ["Miss M.", {"alias": "玛丽", "language": "zh", "first_chapter": 2, "first_scene": 1}],
                "fears": ["water"],
            }
        ]
    }
    (entity,) = load_entities(_write(tmp_path / "entities.json", data))
    assert [(each.alias, each.language, each.first_chapter) for each in entity.aliases] == [
        ("Miss M.", None, None),
        ("玛丽", "zh", 2),
    ]
    assert entity.profile == {"fears": ["water"]}


SCENE = {"location": "山神庙", "characters": ["林冲"], "purpose": "避雪", "key_actions": ["推门", "听见放火"]}
FIRST_PLAN = {"chapter_number": 10, "chapter_title": "雪夜", "scenes": [{"scene_number": 2, **SCENE}]}
CHAPTER_FIELDS = {
    "pov": "林冲",
    "goal": "活过今夜",
    "conflict": "陆谦追来",
    "turn": "草料场起火",
    "reveal": ["放火者是陆谦"],
    "threads_advance": ["T1"],
    "must_include": ["花枪"],
    "must_avoid": ["鲁智深"],
}
SECOND_PLAN = {"chapter_id": 10, **CHAPTER_FIELDS, "scenes": [{"scene_id": "10_2", **SCENE}]}


def test_plans_of_both_shapes_are_the_same_scenes(tmp_path: Path) -> None:
    """A scene's plan is read alike from either; what only the second version says of a chapter is kept."""
    first = load_chapter_plan(_write(tmp_path / "first.json", FIRST_PLAN))
    second = load_chapter_plan(_write(tmp_path / "second.json", SECOND_PLAN))
    assert first is not None
    assert second is not None
    assert second.chapter_number == 10
    assert second.scene(2) == first.scene(2)
    assert second.scene(2) is not None
    assert second.extra == CHAPTER_FIELDS


def test_chapters_of_both_shapes_are_the_same_scenes(tmp_path: Path) -> None:
    """Title, text and length are read alike from either."""
    first = {"chapter_number": 10, "chapter_title": "雪夜", "total_words": 8}
    second = {"chapter_id": 10, "title": "雪夜", "word_count": 8}
    text = "林冲走进山神庙。"
    (tmp_path / "1").mkdir()
    (tmp_path / "2").mkdir()
    one = _write(tmp_path / "1" / "chapter_010.json", first | {"scenes": [{"scene_number": 1, "content": text}]})
    two = _write(tmp_path / "2" / "chapter_010.json", second | {"scenes": [{"scene_id": "10_1", "content": text}]})
    assert load_chapter(one) == load_chapter(two)


@pytest.mark.parametrize("data", [FIRST_PLAN, [], "text", None, {"scenes": []}, FIRST_PLAN | {"chapter_id": 3}])
def test_other_data_stays_as_it_is(data: Any) -> None:
    """What is of the first shape, or of none, is left to the validation."""
    assert in_first_shape(data) is data


def test_a_field_whose_name_is_taken_keeps_its_own() -> None:
    """A title beside a chapter_title stays an unknown field, and the file's own data stays as it was read."""
    data = {"chapter_id": 1, "title": "a", "chapter_title": "b", "scenes": ["x", {"scene_number": 3}]}
    assert in_first_shape(data) == {
        "chapter_number": 1,
        "title": "a",
        "chapter_title": "b",
        "scenes": ["x", {"scene_number": 3}],
    }
    data = deepcopy(SECOND_PLAN)
    in_first_shape(data)
    assert data == SECOND_PLAN


def _lines(file: Path, documents: list[Any]) -> None:
    file.write_text("".join(json.dumps(each, ensure_ascii=False) + "\n" for each in documents), encoding="utf-8")


@pytest.fixture
def book(tmp_path: Path) -> Path:
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


def test_entities_and_records_of_a_book_are_read_where_they_are_wanted(book: Path) -> None:
    """Ids of the folder are kept, records are found by position, scenes come in story order, and a folder without meta
    is named by itself.
    """
    read = load_book(book, records=True)
    assert [(each.entity_id, each.names()) for each in read.entities] == [("C7", ["阿青", "青儿"])]
    assert read.records[(1, 1)].summary == ["阿青有灯"]
    (book / "entities.jsonl").write_text("broken", encoding="utf-8")
    read = load_book(book)
    assert (read.title, read.language, read.entities, read.records) == ("灯", "zh", [], {})
    assert [(each.chapter_index, each.title) for each in read.scenes] == [(1, "一"), (2, "二")]
    (book / "meta.json").unlink()
    assert load_book(book)[:2] == (book.name, "")


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
def test_wrong_lines_name_file_and_line(book: Path, name: str, line: str, message: str) -> None:
    """A wrong line is named with its file, its number, the field and the value; a folder that is no book by the file
    that it lacks.
    """
    with (book / name).open("w" if name == "meta.json" else "a", encoding="utf-8") as stream:
        stream.write(line + "\n")
    with pytest.raises(InvalidFileError, match=message):
        load_book(book, records=True)
    (book / "scenes.jsonl").unlink()
    with pytest.raises(InvalidFileError, match=r"cannot read .*scenes\.jsonl'"):
        load_book(book)
