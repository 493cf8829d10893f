"""`novelgen context --diff`: what changed against the context file."""

import json
from pathlib import Path

import pytest

from novelgen.models import context
from runtime.doors.cli.labels import view_labels_for
from runtime.doors.cli.views import print_difference
from tests.runtime.doors.cli.conftest import Run
from tests.runtime.doors.cli.small_project import PLAN, PROJECT

SCENE = (PROJECT, "--chapter", "3", "--scene", "1")


@pytest.mark.slow
@pytest.mark.usefixtures("index_kept_open")
def test_what_changed_is_shown_and_the_file_stays(run: Run, ingested: Path) -> None:
    """A banned memory falls out and an edited entity has other values; the file on disk is not touched."""
    run("context", *SCENE)
    file = ingested / "scene_3_1_memory.json"
    written = file.read_bytes()
    nothing = run.json("context", *SCENE, "--diff")
    assert (nothing["states"], nothing["memories"], nothing["timeline"]) == ([], [], [])
    assert nothing["story_version_was"] == nothing["story_version_now"]

    run("memory", "ban", PROJECT, "M002")
    run.well("card", "edit", PROJECT, "C1", "--state", "mood=angry")
    difference = run.json("context", *SCENE, "--diff")
    (ben,) = [each for each in difference["states"] if each["entity_id"] == "C1"]
    assert ben["change"] == "changed"
    assert {"attribute": "mood", "was": None, "now": "angry"} in ben["attributes"]
    assert ("M002", "out") in [(each["memory_id"], each["change"]) for each in difference["memories"]]
    assert difference["story_version_was"] != difference["story_version_now"]

    shown = run("context", *SCENE, "--diff").stdout
    for part in ("What changes in the memory", "mood", "angry", "gone", "not overwritten"):
        assert part in shown
    assert file.read_bytes() == written


def test_without_a_file_there_is_nothing_to_compare_with(run: Run, ingested: Path) -> None:
    """The error names the file and the command that writes it; nothing is written."""
    result = run("context", *SCENE, "--diff")
    assert result.exit_code == 2
    assert "scene_3_1_memory.json" in result.stderr
    assert f"write it with `novelgen context {PROJECT} --chapter 3 --scene 1`" in result.stderr
    assert not list(ingested.glob("scene_*"))


def test_a_file_that_cannot_be_read_is_named(run: Run, ingested: Path) -> None:
    """A damaged file is bad input with its fix, and is left as it is."""
    cases: list[tuple[bytes, str]] = [
        (b"{", "is not JSON"),
        (b"[]", "the whole cannot be []"),
        (b"\x81\xff\x00\x81", "scene_3_1_memory.json"),
    ]
    for content, told in cases:
        (ingested / "scene_3_1_memory.json").write_bytes(content)
        result = run("context", *SCENE, "--diff")
        assert result.exit_code == 2
        assert told in result.stderr
        assert "write it with" in result.stderr
        assert (ingested / "scene_3_1_memory.json").read_bytes() == content


@pytest.mark.slow
@pytest.mark.usefixtures("index_kept_open")
def test_a_context_needs_no_plan_but_the_one_it_was_built_for(run: Run, ingested: Path, tmp_path: Path) -> None:
    """What --plan gave once is kept in the file, so that comparing and rebuilding need nothing else."""
    plan = tmp_path / "plan.json"
    plan.write_text(json.dumps(PLAN | {"scene_number": 2}), encoding="utf-8")
    place = (PROJECT, "--chapter", "4", "--scene", "2")
    run.well("context", *place, "--plan", str(plan))
    plan.unlink()
    run.well("context", *place, "--diff")
    context = run.json("context", *place)
    assert context["report"]["scene_plan"]["purpose"] == PLAN["purpose"]


DIFFERENCE = context.ContextDifference(
    project_id="庙",
    chapter_index=3,
    scene_index=1,
    planner_now=context.PlannerReport(used="llm"),
    story_version_now="bb",
    states=[
        context.StateDifference(entity_id="C9", entity_type="character", change="out"),
        context.StateDifference(
            entity_id="C0",
            entity_type="character",
            change="changed",
            attributes=[
                context.AttributeChange(
                    attribute="presence", was={"location_id": "L0", "chapter_index": 1, "scene_index": 2}
                ),
                context.AttributeChange(attribute="holder", was="C9", now=["C0"]),
            ],
        ),
    ],
    memories=[
        context.MemoryDifference(
            memory_id="M1",
            change="form",
            was=context.MemoryWording(form="full", text="林冲到了山神庙。"),
            now=context.MemoryWording(form="short", text="林冲到庙"),
        )
    ],
    timeline=[
        context.TimelineDifference(section="open_loops", change="in", now={"description": "放火", "chapter_index": 1})
    ],
    names={"C0": "林冲", "L0": "山神庙"},
    issues=[context.ReportIssue(stage="states", kind="timeout", message="慢")],
)


def test_the_readable_view_speaks_the_storys_language(capsys: pytest.CaptureFixture[str]) -> None:
    """Chinese headings, names for ids, both wordings, and each planner where they differ."""
    print_difference(DIFFERENCE, view_labels_for("zh"), Path("scene_3_1_memory.json"))
    shown = capsys.readouterr().out
    for part in (
        "3:1 场的记忆有何变化",
        "C9 (移除)",
        "最后出现于",
        "山神庙（1:2）",
        "全文 → 简写",
        "→ 林冲到庙",
        "[1] 放火",
        "规则 → 模型",
        "? → bb",
        "慢",
        "未覆盖",
    ):
        assert part in shown


def test_no_difference_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    """Nothing changed is one sentence, not empty tables."""
    same = context.ContextDifference(project_id="p", chapter_index=1, scene_index=2, story_version_was="aa")
    print_difference(same, view_labels_for("en"), Path("x.json"))
    shown = capsys.readouterr().out
    assert "nothing that a writer is told has changed" in shown
    assert "Facts that hold" not in shown
