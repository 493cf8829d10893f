"""Chapter files of novel-gen's two versions."""

from __future__ import annotations

import json
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest

from novelgen.errors import InvalidFileError
from runtime.files.project_files import in_first_shape, load_chapter, load_chapter_plan

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


def write(folder: Path, name: str, data: Any) -> Path:
    """Write a JSON file."""
    file = folder / name
    file.write_text(json.dumps(data, ensure_ascii=False), encoding="utf-8")
    return file


def test_plans_of_both_shapes_are_the_same_scenes(tmp_path: Path) -> None:
    """A scene's plan is read alike from either; what only the second version says of a chapter is kept."""
    first = load_chapter_plan(write(tmp_path, "first.json", FIRST_PLAN))
    second = load_chapter_plan(write(tmp_path, "second.json", SECOND_PLAN))
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
    one = write(
        tmp_path / "1", "chapter_010.json", first | {"scenes": [{"scene_number": 1, "content": text}]}
    )
    two = write(
        tmp_path / "2", "chapter_010.json", second | {"scenes": [{"scene_id": "10_1", "content": text}]}
    )
    assert load_chapter(one) == load_chapter(two)


@pytest.mark.parametrize(
    "data", [FIRST_PLAN, [], "text", None, {"scenes": []}, FIRST_PLAN | {"chapter_id": 3}]
)
def test_other_data_stays_as_it_is(data: Any) -> None:
    """What is of the first shape, or of none, is left to the validation."""
    assert in_first_shape(data) is data


def test_a_field_whose_name_is_taken_keeps_its_own() -> None:
    """Nothing is written over: a title beside a chapter_title stays an unknown field."""
    data = {"chapter_id": 1, "title": "a", "chapter_title": "b", "scenes": ["x", {"scene_number": 3}]}
    assert in_first_shape(data) == {
        "chapter_number": 1,
        "title": "a",
        "chapter_title": "b",
        "scenes": ["x", {"scene_number": 3}],
    }


def test_the_data_is_not_changed() -> None:
    """The file's own data stays as it was read."""
    data = deepcopy(SECOND_PLAN)
    in_first_shape(data)
    assert data == SECOND_PLAN


@pytest.mark.parametrize("scene_id", ["9_2", "two", "10_2_1", ""])
def test_a_scene_id_of_another_chapter_is_refused(tmp_path: Path, scene_id: str) -> None:
    """An id that does not tell a scene of the chapter gives no number, and is shown."""
    plan = SECOND_PLAN | {"scenes": [{"scene_id": scene_id}]}
    with pytest.raises(InvalidFileError, match=rf"scene_number is missing in .*'scene_id': '{scene_id}'"):
        load_chapter_plan(write(tmp_path, "plan.json", plan))


@pytest.mark.parametrize(
    ("plan", "told"),
    [
        ({"chapter_id": "ten"}, "chapter_number cannot be 'ten'"),
        ({"chapter_id": 1, "scenes": {}}, "scenes cannot be {}"),
        ({"chapter_id": 1, "scenes": [{"purpose": "x"}]}, r"scenes\[0\]\.scene_number is missing"),
        ({"chapter_id": 1, "scenes": [{"scene_id": "1_1"}] * 2}, "scene_number 1 stands more than once"),
    ],
)
def test_wrong_plans_of_the_second_shape_are_refused(tmp_path: Path, plan: Any, told: str) -> None:
    """Field and value are named, as in the first shape."""
    with pytest.raises(InvalidFileError, match=told):
        load_chapter_plan(write(tmp_path, "plan.json", plan))
