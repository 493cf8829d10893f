"""Reading one plan or many."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from novelgen.errors import InvalidFileError
from runtime.cli.plan_files import find_scene_plan, read_plan_lines
from runtime.files.paths import ProjectPaths
from tests.runtime.cli.small_project import PLAN, PROJECT


def line(**changes: Any) -> str:
    """Return a good line of a plans file, changed."""
    return json.dumps({"plan_id": "P1", "chapter_index": 3, "scene_index": 1, "scene_plan": PLAN} | changes)


def plans_file(tmp_path: Path, *lines: str) -> Path:
    """Write a plans file."""
    file = tmp_path / "plans.jsonl"
    file.write_text("\n".join(lines), encoding="utf-8")
    return file


def test_the_given_file_is_the_plan(written: Path, projects_dir: Path, tmp_path: Path) -> None:
    """--plan wins over the chapter's plan, which is still passed on."""
    file = tmp_path / "plan.json"
    file.write_text(json.dumps(PLAN | {"purpose": "another"}), encoding="utf-8")
    plan, chapter = find_scene_plan(file, ProjectPaths(projects_dir, PROJECT), chapter_index=3, scene_index=1)
    assert plan.purpose == "another"
    assert chapter is not None
    assert chapter.chapter_title == "Back"


def test_without_a_file_the_chapter_plan_has_it(written: Path, projects_dir: Path) -> None:
    """The scene's entry of chapters/chapter_NNN_plan.json is the plan."""
    plan, _ = find_scene_plan(None, ProjectPaths(projects_dir, PROJECT), chapter_index=3, scene_index=1)
    assert plan.purpose == PLAN["purpose"]


def test_a_chapter_plan_of_novel_gens_second_version_has_it(written: Path, projects_dir: Path) -> None:
    """Chapter and scene ids of that version are the numbers of the scene that is asked for."""
    scene = {name: value for name, value in PLAN.items() if name != "scene_number"}
    plan = {"chapter_id": 5, "goal": "the key", "scenes": [{"scene_id": "5_2", **scene}]}
    (written / "chapters" / "chapter_005_plan.json").write_text(json.dumps(plan), encoding="utf-8")
    found, chapter = find_scene_plan(
        None, ProjectPaths(projects_dir, PROJECT), chapter_index=5, scene_index=2
    )
    assert (found.scene_number, found.purpose, found.characters) == (2, PLAN["purpose"], ["Ada", "Ben"])
    assert chapter is not None
    assert chapter.extra == {"goal": "the key"}


@pytest.mark.parametrize(("chapter", "scene"), [(3, 7), (9, 1)])
def test_a_missing_plan_names_both_places(
    written: Path, projects_dir: Path, chapter: int, scene: int
) -> None:
    """Whether the scene or the whole chapter lacks a plan, the error names --plan and the project's file."""
    paths = ProjectPaths(projects_dir, PROJECT)
    with pytest.raises(InvalidFileError, match=rf"chapter_00{chapter}_plan\.json.*--plan"):
        find_scene_plan(None, paths, chapter_index=chapter, scene_index=scene)


def test_a_given_file_that_is_missing_names_both_places(written: Path, projects_dir: Path) -> None:
    """No other plan is taken in silence in place of a file that was asked for."""
    with pytest.raises(InvalidFileError, match=r"gone\.json.*chapter_003_plan\.json"):
        find_scene_plan(
            Path("gone.json"), ProjectPaths(projects_dir, PROJECT), chapter_index=3, scene_index=1
        )


def test_only_four_keys_of_a_line_are_read(tmp_path: Path) -> None:
    """An answer key leaves no trace, whatever its shape."""
    file = plans_file(tmp_path, line(gold=[{"quote": "SECRET"}], states="SECRET", note={"a": 1}))
    plan = read_plan_lines(file)[0].plan
    assert plan is not None
    assert "SECRET" not in plan.model_dump_json()
    assert set(plan.model_dump()) == {"plan_id", "chapter_index", "scene_index", "scene_plan"}


def test_empty_lines_are_passed_over_but_counted(tmp_path: Path) -> None:
    """The number of a plan is that of its line in the file."""
    assert [
        each.number for each in read_plan_lines(plans_file(tmp_path, "", line(), "  ", line(plan_id="P2")))
    ] == [2, 4]


@pytest.mark.parametrize(
    ("bad", "told"),
    [
        ("{", "is not JSON"),
        ("[1]", "must hold an object"),
        (line(plan_id="../x"), "'../x' is not a safe file name"),
        (line(plan_id=7), "plan_id cannot be 7"),
        (line(chapter_index="3"), "chapter_index cannot be '3'"),
        (line(scene_index=-1), "scene_index cannot be -1"),
        (line(scene_plan=None), "scene_plan cannot be None"),
        ('{"plan_id": "P1"}', "chapter_index is missing"),
        (line(plan_id="p0"), "'p0' stands on line 1, too"),
    ],
)
def test_a_bad_line_names_its_number_and_does_not_hide_the_others(
    tmp_path: Path, bad: str, told: str
) -> None:
    """What is wrong with a line is told with the file, the line and the value; the next line is read."""
    first, second, third = read_plan_lines(plans_file(tmp_path, line(plan_id="P0"), bad, line(plan_id="P9")))
    assert second.plan is None
    assert "line 2" in second.problem
    assert told in second.problem
    assert first.plan is not None
    assert third.plan is not None


@pytest.mark.parametrize("content", ["", "\n \n"])
def test_a_file_without_plans_is_refused(tmp_path: Path, content: str) -> None:
    """An empty file is a mistake, not zero contexts."""
    with pytest.raises(InvalidFileError, match="holds no plan"):
        read_plan_lines(plans_file(tmp_path, content))
