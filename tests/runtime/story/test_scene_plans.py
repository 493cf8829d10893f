"""Reading one plan or many."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from novelgen.errors import InvalidFileError
from runtime.settings import load_settings
from runtime.stores import MemoryStores
from runtime.story.ingest import ProjectIngest
from runtime.story.scene_plans import StoryScenePlans, read_plan_lines, read_plan_text
from tests.runtime.doors.cli.small_project import PLAN, PROJECT, write_project


def line(**changes: Any) -> str:
    """Return a good line of a plans file, changed."""
    return json.dumps({"plan_id": "P1", "chapter_index": 3, "scene_index": 1, "scene_plan": PLAN} | changes)


def plans_file(tmp_path: Path, *lines: str) -> Path:
    """Write a plans file."""
    file = tmp_path / "plans.jsonl"
    file.write_text("\n".join(lines), encoding="utf-8")
    return file


@pytest.fixture
def stores(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[MemoryStores]:
    """Stores over the small project, of which nothing is stored yet."""
    monkeypatch.setenv("NOVELGEN_MEMORY__EMBEDDING_MODEL", "fake:32")
    write_project(tmp_path / "projects")
    with MemoryStores(load_settings(projects_dir=tmp_path / "projects")) as opened:
        yield opened


def test_the_given_file_is_the_plan(stores: MemoryStores, tmp_path: Path) -> None:
    """It wins over the chapter's plan, which is the plan without it and still passed on."""
    found = StoryScenePlans(stores, PROJECT).find_planned_scene(chapter_index=3, scene_index=1)
    assert found.plan.purpose == PLAN["purpose"]
    file = tmp_path / "plan.json"
    file.write_text(json.dumps(PLAN | {"purpose": "another"}), encoding="utf-8")
    found = StoryScenePlans(stores, PROJECT).find_planned_scene(chapter_index=3, scene_index=1, plan_file=file)
    assert found.plan.purpose == "another"
    assert found.chapter_plan.chapter_title == "Back"


@pytest.mark.parametrize("is_given", [False, True])
def test_a_chapter_plan_of_novel_gen_has_it(stores: MemoryStores, is_given: bool) -> None:
    """Chapter and scene ids of that version are the numbers; given as a file it also says the chapter."""
    scene = {name: value for name, value in PLAN.items() if name != "scene_number"}
    plan = {"chapter_id": 5, "goal": "the key", "scenes": [{"scene_id": "5_2", **scene}]}
    file = stores.paths(PROJECT).chapter_plan_file(5)
    file.write_text(json.dumps(plan), encoding="utf-8")
    place = {"plan_file": file} if is_given else {"chapter_index": 5}
    found = StoryScenePlans(stores, PROJECT).find_planned_scene(scene_index=2, **place)
    assert (found.chapter_index, found.plan.purpose, found.plan.characters) == (5, PLAN["purpose"], ["Ada", "Ben"])
    assert found.chapter_plan.extra == {"goal": "the key"}


@pytest.mark.slow
def test_a_plan_is_said_and_its_place_is_the_next(stores: MemoryStores) -> None:
    """Without numbers the scene is the first of the chapter after the last stored one, or the next of its own.

    Where each chapter is one scene, a chapter means that.
    """
    spoken = {"purpose": "Ada opens the door", "characters": ["Ada"]}
    assert StoryScenePlans(stores, PROJECT).find_planned_scene(spoken_plan=spoken).chapter_index == 1
    ProjectIngest(stores, PROJECT).ingest_project()
    found = StoryScenePlans(stores, PROJECT).find_planned_scene(spoken_plan=spoken)
    assert (found.chapter_index, found.scene_index, found.plan.characters) == (3, 1, ["Ada"])
    assert found.chapter_plan is not None
    within = StoryScenePlans(stores, PROJECT).find_planned_scene(chapter_index=2, spoken_plan=spoken)
    assert (within.chapter_index, within.scene_index) == (2, 3)
    for chapter in (1, 2, 3):
        ProjectIngest(stores, "single").store_scene(chapter_index=chapter, scene_index=1, text="Ada waits.")
    within = StoryScenePlans(stores, "single").find_planned_scene(chapter_index=2, spoken_plan=spoken)
    assert (within.chapter_index, within.scene_index) == (2, 1)


@pytest.mark.parametrize(("chapter", "scene"), [(3, 7), (9, 1)])
def test_a_missing_plan_names_both_places(stores: MemoryStores, chapter: int, scene: int) -> None:
    """Whether the scene or the whole chapter lacks a plan, the error names --plan and the project's file."""
    with pytest.raises(InvalidFileError, match=rf"chapter_00{chapter}_plan\.json.*--plan"):
        StoryScenePlans(stores, PROJECT).find_planned_scene(chapter_index=chapter, scene_index=scene)


@pytest.mark.parametrize(
    ("plan", "told"),
    [
        (None, r"gone\.json.*chapter_NNN_plan\.json"),
        ({"chapter_number": 4, "scenes": [PLAN]}, "plans chapter 4, not 3"),
        ({"chapter_number": 3, "scenes": [PLAN | {"scene_number": 8}]}, "plans no scene 1; it plans: 8"),
    ],
)
def test_a_given_file_without_the_scene_is_refused(
    stores: MemoryStores, tmp_path: Path, plan: dict[str, Any] | None, told: str
) -> None:
    """No other plan is taken in silence in place of a file that was asked for."""
    file = tmp_path / "gone.json"
    if plan is not None:
        file.write_text(json.dumps(plan), encoding="utf-8")
    with pytest.raises(InvalidFileError, match=told):
        StoryScenePlans(stores, PROJECT).find_planned_scene(chapter_index=3, scene_index=1, plan_file=file)


def test_the_plan_of_a_chapter_is_a_file_of_plans(tmp_path: Path) -> None:
    """Each of its scenes is a plan whose id is its place."""
    chapter = {"chapter_number": 3, "scenes": [PLAN, PLAN | {"scene_number": 2}]}
    file = tmp_path / "plan.json"
    file.write_text(json.dumps(chapter, indent=2), encoding="utf-8")
    plans = [each.value for each in read_plan_lines(file)]
    assert [(each.plan_id, each.chapter_index, each.scene_index) for each in plans if each] == [
        ("3_1", 3, 1),
        ("3_2", 3, 2),
    ]


def test_only_four_keys_of_a_line_are_read(tmp_path: Path) -> None:
    """An answer key leaves no trace; the number of a plan is that of its line, empty ones counted."""
    file = plans_file(tmp_path, line(gold=[{"quote": "SECRET"}], states="SECRET", note={"a": 1}))
    plan = read_plan_lines(file)[0].value
    assert "SECRET" not in plan.model_dump_json()
    assert set(plan.model_dump()) == {"plan_id", "chapter_index", "scene_index", "scene_plan"}
    assert [each.number for each in read_plan_lines(plans_file(tmp_path, "", line(), "  ", line(plan_id="P2")))] == [
        2,
        4,
    ]


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
def test_a_bad_line_names_its_number_and_does_not_hide_the_others(tmp_path: Path, bad: str, told: str) -> None:
    """What is wrong with a line is told with the file, the line and the value; the next line is read."""
    first, second, third = read_plan_lines(plans_file(tmp_path, line(plan_id="P0"), bad, line(plan_id="P9")))
    assert second.value is None
    assert "line 2" in second.problem
    assert told in second.problem
    assert first.value is not None
    assert third.value is not None


@pytest.mark.parametrize("content", ["", "\n \n"])
def test_a_file_without_plans_is_refused(tmp_path: Path, content: str) -> None:
    """An empty file is a mistake, not zero contexts."""
    with pytest.raises(InvalidFileError, match="holds no plan"):
        read_plan_lines(plans_file(tmp_path, content))


def test_own_plans_end_where_the_story_is_read(stores: MemoryStores) -> None:
    """Plans of later scenes are not listed, nor a file that cannot be read; the latest come last."""
    paths = stores.paths(PROJECT)
    places = [
        (each.chapter_index, each.scene_index) for each in StoryScenePlans(stores, PROJECT).list_own_plans(until=(9, 1))
    ]
    assert (3, 1) in places
    assert places == sorted(places)
    assert StoryScenePlans(stores, PROJECT).list_own_plans(until=(9, 1), last=1)[0].plan.purpose
    assert StoryScenePlans(stores, PROJECT).list_own_plans(until=(2, 9)) == []
    paths.chapter_plan_file(4).write_text("{broken", encoding="utf-8")
    after = StoryScenePlans(stores, PROJECT).list_own_plans(until=(9, 1))
    assert [(each.chapter_index, each.scene_index) for each in after] == places


@pytest.mark.parametrize("text", ["", "[]", "{broken", '{"purpose": 5}', '{"chapter_number": "x", "scenes": []}'])
def test_a_text_that_is_no_plan_is_refused(text: str) -> None:
    """Whatever is pasted or dropped, the error says that it is no plan."""
    with pytest.raises(InvalidFileError, match="the plan"):
        read_plan_text(text)
