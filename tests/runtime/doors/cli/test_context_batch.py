"""`novelgen context --plans`: many contexts in one process."""

import json
from pathlib import Path

from tests.runtime.doors.cli.conftest import Run
from tests.runtime.doors.cli.small_project import PLAN, PROJECT
from tests.runtime.story.test_scene_plans import line, plans_file


def test_every_plan_gets_its_file_and_sees_only_what_lies_before_it(run: Run, ingested: Path, tmp_path: Path) -> None:
    """Each context stands under its plan's id and in its canonical file, cut at its own position."""
    early = line(plan_id="early", chapter_index=1, scene_index=2, scene_plan=PLAN | {"scene_number": 2})
    out = tmp_path / "out"
    result = run(
        "context", PROJECT, "--plans", str(plans_file(tmp_path, line(plan_id="late"), early)), "--out", str(out)
    )
    assert (result.exit_code, result.stdout) == (0, "")
    assert "2 of 2 contexts written" in result.stderr
    assert sorted(each.name for each in out.iterdir()) == ["early.json", "late.json"]
    assert "harbour master" in (out / "late.json").read_text(encoding="utf-8")
    assert "harbour master" not in (out / "early.json").read_text(encoding="utf-8")
    assert (ingested / "scene_1_2_memory.json").read_bytes() == (out / "early.json").read_bytes()
    assert "report" in json.loads((ingested / "scene_3_1_memory.json").read_text(encoding="utf-8"))


def test_a_bad_plan_does_not_stop_the_others(run: Run, ingested: Path, tmp_path: Path) -> None:
    """The good plans are written; the exit code and the line's number tell of the bad one."""
    file = plans_file(tmp_path, line(), line(plan_id="../../evil"), "{", line(plan_id="P4"))
    result = run("context", PROJECT, "--plans", str(file), "--out", str(tmp_path / "out"))
    assert result.exit_code == 1
    assert "line 2" in result.stderr
    assert "line 3" in result.stderr
    assert "2 of 4 contexts written" in result.stderr
    assert sorted(each.name for each in (tmp_path / "out").iterdir()) == ["P1.json", "P4.json"]


def test_a_file_that_cannot_be_written_fails_its_plan_alone(run: Run, ingested: Path, tmp_path: Path) -> None:
    """A target that is a link is refused and named; the next plan is written."""
    out = tmp_path / "out"
    out.mkdir()
    (out / "P1.json").symlink_to(tmp_path / "elsewhere.json")
    file = plans_file(tmp_path, line(), line(plan_id="P2"))
    result = run("context", PROJECT, "--plans", str(file), "--out", str(out))
    assert result.exit_code == 1
    assert "line 1, plan 'P1'" in result.stderr
    assert (out / "P2.json").exists()
    assert not (tmp_path / "elsewhere.json").exists()
