"""`novelgen context` for one scene, and for many with `--plans`."""

import json
from pathlib import Path
from typing import Any

import pytest

from novelgen.models.context import SceneMemoryContext
from tests.runtime.doors.cli.conftest import Run
from tests.runtime.doors.cli.small_project import PLAN, PROJECT
from tests.runtime.story.test_scene_plans import line, plans_file

SCENE = (PROJECT, "--chapter", "3", "--scene", "1")


def contents(context: dict[str, Any]) -> str:
    """Return the text of the memories of a context."""
    return " ".join(chunk["content"] for chunk in context["relevant_memories"])


@pytest.mark.slow
def test_json_is_the_written_file_and_nothing_else(run: Run, ingested: Path) -> None:
    """With a report; the readable view shows states, threads, memories with reasons and costs, and the file, without
    any colour code, and --explain adds the receipts.
    """
    result = run.well("context", *SCENE, "--json")
    written = json.loads((ingested / "scene_3_1_memory.json").read_text(encoding="utf-8"))
    assert json.loads(result.stdout) == written
    assert "Ben promised Ada" in contents(written)
    assert written["report"]["issues"] == []
    SceneMemoryContext.model_validate(written)
    shown = run("context", *SCENE, "--explain").stdout
    for part in ("Queries", "score parts", "found by (rank)", "seconds"):
        assert part in shown
    shown = run("context", *SCENE).stdout
    for part in (
        "Facts that hold",
        "The story so far",
        "Timeline",
        "What to pick up",
        "tokens",
        "←",
        "nothing is missing",
    ):
        assert part in shown
    assert "scene_3_1_memory.json" in shown.replace("\n", "").replace(" ", "")
    assert "Queries" not in shown
    assert "\x1b" not in shown


def test_a_plan_or_cast_that_cannot_be_read_is_bad_input(run: Run, ingested: Path) -> None:
    """No file is written where there is no plan."""
    assert run("context", PROJECT, "--chapter", "4", "--scene", "1").exit_code == 2
    assert not list(ingested.glob("scene_4_*"))
    run.refused("context", *SCENE, "--characters", "gone.json", told="gone.json")


def test_a_project_with_nothing_stored_gives_an_empty_context(run: Run, written: Path) -> None:
    """Before the first ingest the plan alone is there; the context says what is missing and how to fill it."""
    result = run.well("context", *SCENE, "--json")
    assert json.loads(result.stdout)["relevant_memories"] == []
    assert f"run `novelgen ingest {PROJECT}`" in result.stderr


@pytest.mark.slow
def test_a_model_of_the_command_line_that_cannot_be_had_leaves_it_to_rules(run: Run, ingested: Path) -> None:
    """The reason is on stderr and in the report, and the context is there; with --strict it is bad input."""
    asked = ("context", *SCENE, "--model", "openai:gpt-4.1-mini", "--json")
    result = run(*asked)
    assert (result.exit_code, json.loads(result.stdout)["report"]["planner"]["used"]) == (0, "rules")
    assert "needs a key" in result.stderr
    strict = run(*asked, "--strict")
    assert (strict.exit_code, strict.stdout) == (2, "")
    assert "needs a key" in strict.stderr


def test_a_bad_config_file_is_bad_input(run: Run, ingested: Path) -> None:
    """A setting of the wrong type names itself and its value; a file that is no YAML names itself."""
    cases: list[tuple[bytes, str]] = [
        (b"memory:\n  state_budget: lots\n", "setting 'memory.state_budget' cannot be 'lots'"),
        (b"memory: [1\n", "is not YAML"),
        (b"\xff\xfe", "is not YAML in UTF-8"),
        (b"model: 2026-99-99\n", "holds a number or date that does not exist"),
    ]
    for content, told in cases:
        (ingested / "config.yaml").write_bytes(content)
        run.refused("context", *SCENE, told=told)


@pytest.mark.slow
def test_settings_of_the_project_hold(run: Run, ingested: Path) -> None:
    """config.yaml sets the budgets that the command line leaves open; what an option says counts."""
    (ingested / "config.yaml").write_text(
        "memory:\n  memory_budget: 20\n  state_budget: 0\n  timeline_budget: 0\n", encoding="utf-8"
    )
    tokens = run.json("context", *SCENE, "--state-budget", "60")["report"]["tokens"]
    assert tokens["memories"] + tokens["states"] + tokens["timeline"] <= 80
    assert tokens["states"] > 0
    asked = ("--memory-budget", "500", "--top-k", "2", "--full-report", "--json")
    context = json.loads(run("context", *SCENE, *asked).stdout)
    assert len(context["relevant_memories"]) == 2
    assert all(item["score_parts"] for item in context["report"]["items"])


@pytest.mark.slow
def test_another_scene_number_in_the_plan_is_warned_of(run: Run, ingested: Path) -> None:
    """The place of the command line counts, and a plan that says otherwise is pointed out."""
    plan = ingested / "plan.json"
    plan.write_text(json.dumps(PLAN | {"scene_number": 5}), encoding="utf-8")
    result = run("context", *SCENE, "--plan", str(plan), "--json")
    [issue] = [each for each in json.loads(result.stdout)["report"]["issues"] if each["stage"] == "plan"]
    assert issue["message"] == "the plan says scene_number 5; the context is that of scene 1, which counts"


@pytest.mark.slow
def test_a_failed_write_is_told_beside_the_json(run: Run, ingested: Path) -> None:
    """Whoever reads stdout as JSON also learns on stderr that there is no file."""
    (ingested / "scene_3_1_memory.json").mkdir()
    result = run.well("context", *SCENE, "--json")
    assert json.loads(result.stdout)["relevant_memories"]
    assert "warning: the context is not written" in result.stderr


@pytest.mark.slow
def test_without_characters_json_nobody_of_later_is_known(run: Run, written: Path) -> None:
    """Characters that are built from the stored entities are those before the scene, under their names of then."""
    (written / "characters.json").unlink()
    run("ingest", PROJECT)
    plan = written / "plan.json"
    plan.write_text(json.dumps(PLAN), encoding="utf-8")
    result = run.well("context", PROJECT, "--chapter", "2", "--scene", "1", "--plan", str(plan), "--json")
    assert "Cornelius" not in result.stdout


@pytest.mark.slow
def test_a_plan_needs_no_json(run: Run, ingested: Path) -> None:
    """Said in words the plan is of the scene after what is stored; a name that nobody bears is on the screen."""
    spoken = ("--purpose", "Ada looks for the brass key", "--with", "Ada", "--with", "Zebedee")
    result = run.well("context", PROJECT, *spoken, "--at", "the lighthouse")
    assert "Memory for scene 3:1" in result.stdout
    assert "not known to the story  Zebedee" in result.stdout
    assert "nothing is missing" not in result.stdout
    plan = json.loads((ingested / "scene_3_1_memory.json").read_text(encoding="utf-8"))["report"]["scene_plan"]
    assert (plan["location"], plan["characters"]) == ("the lighthouse", ["Ada", "Zebedee"])


@pytest.mark.slow
def test_a_chinese_storys_view_is_chinese(run: Run, ingested: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The words follow the stored story, not the language in which the plan happens to be written."""
    settings = ingested / "settings.json"
    settings.write_text(json.dumps({"project_name": "灯塔", "language": "zh"}), encoding="utf-8")
    run("ingest", PROJECT)
    settings.unlink()
    shown = run("context", *SCENE).stdout
    assert "规划方式" in shown
    assert "重要" in shown
    assert not {"importance", "relevance", "no model is configured"} & set(shown.replace(";", " ").split())


@pytest.mark.slow
def test_a_point_of_view_is_said_by_an_option(run: Run, ingested: Path) -> None:
    """What Ada was not there for stands apart, under its heading, or is left out; a rebuilt file keeps it so."""
    shown = run("context", *SCENE, "--pov", "C0").stdout
    before, heading, hidden = shown.partition("Hidden from Ada")
    assert heading
    assert "harbour" in hidden, hidden
    assert "harbour" not in before
    result = run("context", *SCENE, "--pov", "Ada", "--knowledge", "exclude", "--json")
    context = json.loads(result.stdout)
    assert context["report"]["point_of_view"]["mode"] == "exclude"
    assert "hidden" not in context
    assert "sold" not in result.stdout
    assert "Ben promised Ada" in contents(context)
    compared = run.json("context", *SCENE, "--diff")
    assert (compared["memories"], compared["states"], compared["timeline"]) == ([], [], [])


@pytest.mark.slow
def test_a_terminal_gets_the_first_screen(run: Run, ingested: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A line each of what must hold, who is here, what is open and weighs most; `--all`, `--explain` show the rest."""
    monkeypatch.setattr("runtime.doors.cli.output.is_terminal", lambda: True)
    short = run("context", *SCENE)
    lines = short.stdout.splitlines()
    for heading in ("What must hold", "Where we left off", "Who is here", "What weighs most"):
        assert heading in lines
    assert any(line.startswith("  Ben: ") for line in lines[lines.index("Who is here") :])
    assert lines[-1].endswith("--all; why: --explain; as JSON: --json")
    assert "short form" not in short.stdout
    assert "tokens in all" not in short.stdout
    assert "tokens in all" in run("context", *SCENE, "--all").stdout
    assert "Queries" in run("context", *SCENE, "--explain").stdout
    assert run.json("context", *SCENE)["relevant_memories"]


@pytest.mark.slow
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


@pytest.mark.slow
def test_a_bad_plan_does_not_stop_the_others(run: Run, ingested: Path, tmp_path: Path) -> None:
    """The good plans are written; the exit code and the line's number tell of the bad one."""
    file = plans_file(tmp_path, line(), line(plan_id="../../evil"), "{", line(plan_id="P4"))
    result = run("context", PROJECT, "--plans", str(file), "--out", str(tmp_path / "out"))
    assert result.exit_code == 1
    assert "line 2" in result.stderr
    assert "line 3" in result.stderr
    assert "2 of 4 contexts written" in result.stderr
    assert sorted(each.name for each in (tmp_path / "out").iterdir()) == ["P1.json", "P4.json"]


@pytest.mark.slow
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
