"""`novelgen context --stale`: building again what the story has left behind."""

import json
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tests.runtime.doors.cli.conftest import Run
from tests.runtime.doors.cli.small_project import PLAN, PROJECT, disable_index
from tests.runtime.story.test_scene_plans import line, plans_file


@pytest.fixture(scope="module")
def _stale_once(_ingested_once: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    projects = tmp_path_factory.mktemp("stale")
    folder = Path(shutil.copytree(_ingested_once, projects / PROJECT))
    disable_index(folder)
    plans = plans_file(
        projects, line(plan_id="A", chapter_index=1, scene_index=2), line(plan_id="B", chapter_index=4, scene_index=2)
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("NOVELGEN_MEMORY__EMBEDDING_MODEL", "fake:32")
        patch.setenv("NOVELGEN_PROJECTS_DIR", str(projects))
        for arguments in (
            ("context", PROJECT, "--plans", str(plans), "--out", str(projects / "out")),
            ("context", PROJECT, "--chapter", "3", "--scene", "1"),
            ("memory", "ban", PROJECT, "M003"),
        ):
            Run().well(*arguments)
    return folder


@pytest.fixture
def stale(_stale_once: Path, projects_dir: Path) -> Path:
    """A project with contexts of 1:2, 3:1 (planned in its chapter) and 4:2, the later two stale.

    Their plans, but for that of 3:1, came from a file that is not theirs.
    """
    return Path(shutil.copytree(_stale_once, projects_dir / PROJECT))


def forget_plan(file: Path) -> None:
    """Leave a context file as an earlier version wrote it, without its plan."""
    context = json.loads(file.read_text(encoding="utf-8"))
    del context["report"]["scene_plan"]
    file.write_text(json.dumps(context), encoding="utf-8")


def stale_files(run: Run) -> list[str]:
    """Return what doctor calls stale."""
    findings = run.json("doctor", PROJECT)["findings"]
    return [each["what"] for each in findings if each["message"].startswith("stale")]


def contents(folder: Path) -> dict[str, bytes]:
    """Return all context files."""
    return {file.name: file.read_bytes() for file in folder.glob("scene_*_memory.json")}


@pytest.mark.slow
def test_all_stale_contexts_are_built_again_and_no_other(run: Run, stale: Path) -> None:
    """Doctor finds nothing stale afterwards; a context that was fresh is not written anew."""
    before = contents(stale)
    assert stale_files(run) == ["context of 3:1", "context of 4:2"]
    result = run("context", PROJECT, "--stale")
    assert (result.exit_code, result.stdout) == (0, "")
    assert "2 of 2 stale contexts rebuilt" in result.stderr
    assert stale_files(run) == []
    after = contents(stale)
    assert [name for name in sorted(after) if after[name] != before[name]] == [
        "scene_3_1_memory.json",
        "scene_4_2_memory.json",
    ]
    assert all(b"M003" in before[name] and b"M003" not in after[name] for name in before if "1_2" not in name)


@pytest.mark.thorough
def test_a_context_whose_plan_is_nowhere_is_named_until_a_file_has_it(run: Run, stale: Path, tmp_path: Path) -> None:
    """A file of an earlier version stays as it is, and doctor says which option helps; --plans goes before the
    project's plans, and lines of it that cannot be used are failures of their own.
    """
    forget_plan(stale / "scene_4_2_memory.json")
    before = contents(stale)
    result = run("context", PROJECT, "--stale")
    assert result.exit_code == 1
    assert "no plan of scene 4:2" in result.stderr
    assert "1 of 2 stale contexts rebuilt" in result.stderr
    assert contents(stale)["scene_4_2_memory.json"] == before["scene_4_2_memory.json"]
    findings = run.json("doctor", PROJECT)["findings"]
    (fix,) = [each["fix"] for each in findings if each["message"].startswith("stale")]
    assert fix.startswith(f"novelgen context {PROJECT} --chapter 4 --scene 2 --plan FILE")
    given = line(chapter_index=4, scene_index=2, scene_plan=PLAN | {"purpose": "from the file"})
    again = line(plan_id="P2", chapter_index=4, scene_index=2)
    result = run("context", PROJECT, "--stale", "--plans", str(plans_file(tmp_path, given, "{", again)))
    assert result.exit_code == 1
    assert "line 2" in result.stderr
    assert "line 3, plan 'P2': scene 4:2 has a plan on an earlier line" in result.stderr
    assert "1 of 1 stale contexts rebuilt" in result.stderr
    assert "from the file" in (stale / "scene_4_2_memory.json").read_text(encoding="utf-8")


@pytest.mark.thorough
def test_a_damaged_context_is_named_and_the_others_compared(run: Run, stale: Path) -> None:
    """Nobody can say whether it is stale; the command that writes it is told."""
    (stale / "scene_1_2_memory.json").write_text("{", encoding="utf-8")
    result = run("context", PROJECT, "--stale", "--diff")
    assert result.exit_code == 1
    assert result.stdout.count("What changes in the memory") == 2
    assert "scene_1_2_memory.json' is not JSON" in result.stderr
    assert f"`novelgen context {PROJECT} --chapter 1 --scene 2`" in result.stderr


@pytest.mark.thorough
def test_a_context_that_cannot_be_written_fails_alone(run: Run, stale: Path) -> None:
    """A target that is a link to elsewhere is not followed, and is not counted as rebuilt."""
    (stale / "scene_3_1_memory.json").rename(stale / "elsewhere.json")
    (stale / "scene_3_1_memory.json").symlink_to(stale / "elsewhere.json")
    result = run("context", PROJECT, "--stale")
    assert result.exit_code == 1
    assert "scene_3_1_memory.json" in result.stderr
    assert "1 of 2 stale contexts rebuilt" in result.stderr
    assert stale_files(run) == ["scene_3_1_memory.json"]


@pytest.mark.thorough
def test_a_story_that_cannot_be_read_whole_leaves_the_stale_files(run: Run, stale: Path) -> None:
    """A stale context is better than one without its outline, which is why no file is written over."""
    before = contents(stale)
    with closing(sqlite3.connect(stale / "data" / "novel.db")) as connection:
        connection.execute("DROP TABLE relationships")
    result = run("context", PROJECT, "--stale")
    assert result.exit_code == 1
    assert "the context of scene 3:1 stays as it is" in result.stderr
    assert "0 of 2 stale contexts rebuilt" in result.stderr
    assert contents(stale) == before


@pytest.mark.slow
def test_with_diff_nothing_is_written(run: Run, stale: Path) -> None:
    """Each stale context's difference is shown, as JSON in story order; all files stay."""
    before = contents(stale)
    result = run.well("context", PROJECT, "--stale", "--diff", "--json")
    differences: list[dict[str, Any]] = json.loads(result.stdout)
    assert [(each["chapter_index"], each["scene_index"]) for each in differences] == [(3, 1), (4, 2)]
    assert all(
        ("M003", "out") in [(memory["memory_id"], memory["change"]) for memory in each["memories"]]
        for each in differences
    )
    assert "2 of 2 stale contexts compared, none written" in result.stderr
    assert contents(stale) == before
