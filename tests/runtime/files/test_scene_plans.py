"""Context files of a project, and the plans in them."""

import json
from pathlib import Path
from typing import Any

import pytest

from novelgen.chains.memory_context_chain import MemoryContextChain
from novelgen.errors import InvalidFileError
from novelgen.models.context import SceneMemoryContext
from runtime.context_chain import context_json
from runtime.files.paths import ProjectPaths
from runtime.files.project_files import context_places, load_context, own_scene_plan
from tests.support.stories import PROJECT, lighthouse_memory, lighthouse_request


@pytest.fixture
def paths(tmp_path: Path) -> ProjectPaths:
    """Paths of a project whose folder is empty."""
    paths = ProjectPaths(tmp_path, PROJECT)
    paths.chapters.mkdir(parents=True)
    return paths


@pytest.fixture(scope="module")
def context() -> SceneMemoryContext:
    """A context of scene 2:2 with a timeline."""
    return MemoryContextChain(lighthouse_memory()).invoke(lighthouse_request())


def write_chapter_plan(paths: ProjectPaths, scene_number: int) -> None:
    """Write a plan of chapter 2 with one scene."""
    plan = {"chapter_number": 2, "scenes": [{"scene_number": scene_number, "purpose": "of the chapter"}]}
    paths.chapter_plan_file(2).write_text(json.dumps(plan), encoding="utf-8")


def test_contexts_are_read_as_they_were_in_story_order(paths: ProjectPaths, context: SceneMemoryContext) -> None:
    """Chapter 10 comes after chapter 2, files of other names are none, and no file is no error."""
    assert load_context(paths, 2, 2) is None
    assert context_places(paths) == []
    assert context_places(ProjectPaths(paths.projects_dir, "nobody")) == []
    names = ["scene_10_1", "scene_2_11", "scene_2_2", "scene_02_3", "scene_x_1", "other_1_1"]
    for name in names:
        (paths.folder / f"{name}_memory.json").touch()
    assert context_places(paths) == [(2, 2), (2, 11), (10, 1)]
    paths.context_file(2, 2).write_text(context_json(context), encoding="utf-8")
    assert context.timeline_context
    assert load_context(paths, 2, 2) == context


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"scene_index": 3}, "holds the context of scene 2:3 of project 'lighthouse', not its own"),
        ({"project_id": "other"}, "of project 'other'"),
        ({"chapter_index": "two"}, "chapter_index cannot be 'two'"),
        (
            {"timeline_context": {"open_loops": [{"loop_id": "OL0"}]}},
            r"timeline_context\.open_loops\[0\]\.description is missing",
        ),
        ({"timeline_context": {"snapshots": "none"}}, r"timeline_context\.snapshots cannot be 'none'"),
    ],
)
def test_a_file_that_holds_something_else_is_refused(
    paths: ProjectPaths, context: SceneMemoryContext, changes: dict[str, Any], told: str
) -> None:
    """A copied or edited file names itself and what is wrong in it."""
    data = context.model_dump(mode="json") | changes
    paths.context_file(2, 2).write_text(json.dumps(data), encoding="utf-8")
    with pytest.raises(InvalidFileError, match=rf"scene_2_2_memory\.json.*{told}"):
        load_context(paths, 2, 2)


def test_the_plan_of_the_chapter_goes_before_the_kept_one(paths: ProjectPaths, context: SceneMemoryContext) -> None:
    """What the author plans now counts; the plan of before serves where the chapter has none of the scene."""
    paths.context_file(2, 2).write_text(context_json(context), encoding="utf-8")
    kept, chapter = own_scene_plan(paths, chapter_index=2, scene_index=2)
    assert (kept, chapter) == (lighthouse_request().scene_plan, None)
    write_chapter_plan(paths, 9)
    kept, chapter = own_scene_plan(paths, chapter_index=2, scene_index=2)
    assert kept == lighthouse_request().scene_plan
    assert chapter is not None
    write_chapter_plan(paths, 2)
    planned, _ = own_scene_plan(paths, chapter_index=2, scene_index=2)
    assert planned is not None
    assert planned.purpose == "of the chapter"


def test_where_no_plan_was_made_there_is_none(paths: ProjectPaths, context: SceneMemoryContext) -> None:
    """A file that is not there, cannot be read, or was written before plans were kept has none to give."""
    before = context.model_dump(mode="json")
    del before["report"]["scene_plan"]
    for content in (None, "{", json.dumps(before)):
        if content is not None:
            paths.context_file(2, 2).write_text(content, encoding="utf-8")
        assert own_scene_plan(paths, chapter_index=2, scene_index=2) == (None, None)
    assert load_context(paths, 2, 2) is not None


def test_a_wrong_chapter_plan_is_refused(paths: ProjectPaths) -> None:
    """The author's plan is never passed over in silence."""
    paths.chapter_plan_file(2).write_text('{"chapter_number": "two"}', encoding="utf-8")
    with pytest.raises(InvalidFileError, match="chapter_number cannot be 'two'"):
        own_scene_plan(paths, chapter_index=2, scene_index=2)
