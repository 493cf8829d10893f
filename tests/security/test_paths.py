"""No name from outside becomes a path: projects (see tests/faults/test_project_ids.py), plans, entities, exports."""

import errno
import json
import os
import stat
from pathlib import Path

import pytest
from click.testing import CliRunner

from novelgen.models.context import MemoryContextRequest
from novelgen.models.entity import Entity
from novelgen.models.plan import ScenePlan
from runtime.care.exporting import export_project
from runtime.care.importing import import_source
from runtime.context_chain import build_context_chain
from runtime.doors.cli.error_handling import ExitCode
from runtime.doors.cli.main import novelgen
from runtime.files.paths import write_text_atomically
from runtime.ingest.entities import store_entities
from runtime.ingest.ingest import ingest_scene
from runtime.ingest.scene_input import SceneInput
from runtime.stores import MemoryStores
from runtime.story.story import Story
from tests.support.demo_project import FAKE_MEMORY, demo_request, settings_for

TRAPS = "../trap ../../trap /tmp/trap a/../../trap nul CON . .. x\\..\\trap ~/trap %2e%2e".split()


def _everything_below(folder: Path) -> set[str]:
    return {str(file.relative_to(folder)) for file in folder.rglob("*") if file.is_file()}


@pytest.mark.slow
@pytest.mark.parametrize("plan_id", [trap for trap in TRAPS if trap not in ("%2e%2e",)])
def test_a_plan_id_that_is_a_path_writes_nothing(
    demo_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, plan_id: str
) -> None:
    """The line is refused by name, and no file appears in the output folder or anywhere above it."""
    monkeypatch.setenv("NOVELGEN_MEMORY__EMBEDDING_MODEL", FAKE_MEMORY["embedding_model"])
    request = demo_request("demo", 5, 4)
    line = {"plan_id": plan_id, "chapter_index": 5, "scene_index": 4}
    plans = tmp_path / "plans.jsonl"
    plans.write_text(json.dumps({**line, "scene_plan": request.scene_plan.model_dump()}), encoding="utf-8")
    before = _everything_below(tmp_path)
    arguments = ["context", "demo", "--plans", str(plans), "--out", str(tmp_path / "out" / "deep")]
    result = CliRunner().invoke(novelgen, ["--projects-dir", str(demo_folder), *arguments])
    assert result.exit_code in (ExitCode.FAILED, ExitCode.BAD_INPUT)
    assert "plan_id" in result.stderr
    written = {name for name in _everything_below(tmp_path) - before if "/data/" not in name}
    assert written == set()


@pytest.mark.slow
def test_entities_named_like_paths_are_names_only(tmp_path: Path) -> None:
    """They are stored, planned for and exported; every file stays in its folder."""
    projects = tmp_path / "a" / "b" / "projects"
    entities = [Entity(entity_id=trap, entity_type="character", name=f"{trap} the Sly", aliases=[]) for trap in TRAPS]
    with MemoryStores(settings_for(projects)) as stores:
        stores.create_project("西游记", language="en")
        store_entities(stores, "西游记", entities)
        ingest_scene(stores, "西游记", SceneInput(chapter_index=1, scene_index=1, text="The Sly came. 悟空来了。"))
        plan = ScenePlan(scene_number=1, location="../../trap", characters=TRAPS, purpose="../trap")
        build_context_chain(stores).invoke(
            MemoryContextRequest(project_id="西游记", chapter_index=2, scene_index=1, scene_plan=plan)
        )
        out = tmp_path / "a" / "b" / "out"
        exported = export_project(stores, "西游记", out)
    assert all(file.resolve().is_relative_to(out.resolve()) for file in exported)
    outside = {
        name for name in _everything_below(tmp_path) if not name.startswith(("a/b/projects/西游记/", "a/b/out/"))
    }
    assert outside == set()


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such rights")
def test_ids_that_differ_in_capitals_alone_are_two_files(tmp_path: Path) -> None:
    """Also on a disk that takes them for one name, and both come back."""
    with MemoryStores(settings_for(tmp_path / "projects")) as stores:
        stores.create_project("x", language="en")
        people = [Entity(entity_id=f"{letter}0", entity_type="character", name=f"Ada {letter}") for letter in "cC"]
        store_entities(stores, "x", people)
        files = [
            file.name for file in export_project(stores, "x", tmp_path / "exported") if file.name[:2] in ("c0", "C0")
        ]
        assert len({name.casefold() for name in files}) == 2
        import_source(stores, tmp_path / "exported", project_id="y", index=False)
        assert {each.name for each in Story(stores, "y").entities.list()} == {"Ada c", "Ada C"}


@pytest.mark.slow
def test_a_full_disk_leaves_no_part_of_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing that would be in the way of the next export, and the disk is named."""
    settings = settings_for(tmp_path / "projects")
    with MemoryStores(settings) as stores:
        stores.create_project("x", language="en")
        ingest_scene(stores, "x", SceneInput(chapter_index=1, scene_index=1, text="Ada slept."))

    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setenv("NOVELGEN_MEMORY__EMBEDDING_MODEL", FAKE_MEMORY["embedding_model"])
    monkeypatch.setattr("runtime.files.paths.os.fsync", full)
    book = tmp_path / "book.epub"
    result = CliRunner().invoke(novelgen, ["--projects-dir", str(tmp_path / "projects"), "export", "x", str(book)])
    assert (result.exit_code, result.stderr) == (
        ExitCode.FAILED,
        "error: the disk is full; make room and run it again\n",
    )
    assert [file.name for file in tmp_path.iterdir()] == ["projects"]


@pytest.mark.parametrize("mask", [0o077, 0o022, 0o027])
def test_written_files_have_the_rights_that_the_user_gives_new_files(tmp_path: Path, mask: int) -> None:
    """Contexts, exports and settings are as private as all else that the process writes."""
    old = os.umask(mask)
    try:
        write_text_atomically(tmp_path / "context.json", "{}", root=tmp_path)
    finally:
        os.umask(old)
    assert stat.S_IMODE((tmp_path / "context.json").stat().st_mode) == 0o666 & ~mask
