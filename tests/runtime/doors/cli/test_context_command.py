"""`novelgen context` for one scene."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result

from novelgen.models.context import SceneMemoryContext
from novelgen.models.entity import Entity
from runtime.story.contexts import characters_of_entities
from tests.runtime.doors.cli.conftest import Run
from tests.runtime.doors.cli.small_project import PLAN, PROJECT

SCENE = (PROJECT, "--chapter", "3", "--scene", "1")


def shown_context(result: Result) -> dict[str, Any]:
    """Return the JSON on stdout, which must be all there is."""
    data: dict[str, Any] = json.loads(result.stdout)
    return data


def contents(context: dict[str, Any]) -> str:
    """Return the text of the memories of a context."""
    return " ".join(chunk["content"] for chunk in context["relevant_memories"])


def test_json_is_the_written_file_and_nothing_else(run: Run, ingested: Path) -> None:
    """stdout holds the context as its file does, with a report."""
    result = run("context", *SCENE, "--json")
    assert result.exit_code == 0
    written = json.loads((ingested / "scene_3_1_memory.json").read_text(encoding="utf-8"))
    assert shown_context(result) == written
    assert "Ben promised Ada" in contents(written)
    assert written["report"]["issues"] == []
    SceneMemoryContext.model_validate(written)


def test_the_readable_view_says_what_why_and_where(run: Run, ingested: Path) -> None:
    """States, threads, memories with reasons and costs, and the file are shown without any colour code."""
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
    assert "\x1b" not in shown


def test_headings_are_in_the_language_of_the_story(run: Run, ingested: Path) -> None:
    """A Chinese project is shown under Chinese headings."""
    (ingested / "settings.json").write_text('{"language": "zh"}', encoding="utf-8")
    shown = run("context", *SCENE).stdout
    assert "须遵守的事实" in shown
    assert "无缺失" in shown


def test_explain_shows_queries_scores_and_times(run: Run, ingested: Path) -> None:
    """--explain adds the receipts to the readable view."""
    shown = run("context", *SCENE, "--explain").stdout
    for part in ("Queries", "score parts", "found by (rank)", "seconds"):
        assert part in shown
    assert "Queries" not in run("context", *SCENE).stdout


def test_only_what_lies_before_the_scene_is_read(run: Run, ingested: Path, tmp_path: Path) -> None:
    """The context of an earlier scene knows nothing of the later one."""
    plan = tmp_path / "plan.json"
    plan.write_text(json.dumps(PLAN | {"scene_number": 2}), encoding="utf-8")
    result = run("context", PROJECT, "--chapter", "1", "--scene", "2", "--plan", str(plan), "--json")
    text = result.stdout
    assert "third stair" in contents(shown_context(result))
    assert "harbour master" not in text
    assert "Cornelius" not in text


@pytest.mark.thorough
def test_budgets_of_the_command_line_hold(run: Run, ingested: Path) -> None:
    """--budget bounds the memories; --memory-budget is the same option."""
    for name in ("--budget", "--memory-budget"):
        context = shown_context(run("context", *SCENE, name, "20", "--json"))
        assert 0 < context["report"]["tokens"]["memories"] <= 20
    context = shown_context(run("context", *SCENE, "--state-budget", "0", "--timeline-budget", "0", "--json"))
    assert context["report"]["tokens"]["states"] == 0
    assert context["report"]["tokens"]["timeline"] == 0


def test_an_unknown_project_ends_with_2_and_creates_nothing(run: Run, projects_dir: Path, ingested: Path) -> None:
    """A typing error in the project's name leaves no folder behind."""
    result = run("context", "lighthose", "--chapter", "3", "--scene", "1")
    assert result.exit_code == 2
    assert "no project 'lighthose'" in result.stderr
    assert [each.name for each in projects_dir.iterdir()] == [PROJECT]


def test_an_unknown_projects_folder_is_not_created(run: Run, projects_dir: Path) -> None:
    """Not even the folder of all projects comes into being."""
    assert run("context", *SCENE).exit_code == 2
    assert not projects_dir.exists()


@pytest.mark.parametrize("name", ["../x", "/etc", "nul", ""])
def test_an_id_that_is_a_path_is_refused(run: Run, name: str) -> None:
    """A project id cannot lead out of the projects folder."""
    result = run("context", name, "--chapter", "1", "--scene", "1")
    assert result.exit_code == 2
    assert "project_id" in result.stderr


def test_a_missing_plan_names_both_places(run: Run, ingested: Path) -> None:
    """Without a plan the error says where one can stand; no file is written."""
    result = run("context", PROJECT, "--chapter", "4", "--scene", "1")
    assert result.exit_code == 2
    assert "chapter_004_plan.json" in result.stderr
    assert "--plan FILE" in result.stderr
    assert not list(ingested.glob("scene_4_*"))


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ([], "give --chapter and --scene"),
        (["--chapter", "3", "--scene", "1", "--out", "x"], "--plans and --out"),
        (["--plans", "p.jsonl"], "--plans needs --out"),
        (["--plans", "p.jsonl", "--out", "x", "--chapter", "3"], "without --chapter"),
        (["--plans", "p.jsonl", "--out", "x", "--json"], "--json"),
    ],
)
def test_one_scene_or_many_but_not_both(run: Run, arguments: list[str], told: str) -> None:
    """The options of one context and of many do not mix."""
    result = run("context", PROJECT, *arguments)
    assert result.exit_code == 2
    assert told in result.stderr


def test_a_broken_index_degrades_and_ends_with_0(run: Run, ingested: Path) -> None:
    """An index that is a file costs the semantic retriever, which is said; memories still come, by words and SQL."""
    shutil.rmtree(ingested / "data" / "vectors")
    (ingested / "data" / "vectors").write_text("not a folder", encoding="utf-8")
    result = run("context", *SCENE, "--json")
    context = shown_context(result)
    assert result.exit_code == 0
    assert "Ben promised Ada" in contents(context)
    assert any("is a file, not a folder" in issue["message"] for issue in context["report"]["issues"])
    assert "is a file, not a folder" in result.stderr


def test_a_broken_database_degrades_and_ends_with_0(run: Run, ingested: Path) -> None:
    """A database that is no database gives a valid context without states, and says so."""
    (ingested / "data" / "novel.db").write_bytes(b"no database at all" * 1000)
    result = run("context", *SCENE)
    assert result.exit_code == 0
    assert "Missing or degraded" in result.stdout
    assert (ingested / "scene_3_1_memory.json").exists()


def test_a_context_that_cannot_be_written_is_shown_all_the_same(run: Run, ingested: Path) -> None:
    """A target that is a link is not followed; the context is shown and says that it was not written."""
    (ingested / "scene_3_1_memory.json").symlink_to(ingested / "elsewhere.json")
    result = run("context", *SCENE)
    assert result.exit_code == 0
    assert "not written" in result.stdout
    assert not (ingested / "elsewhere.json").exists()


def test_a_project_with_nothing_stored_gives_an_empty_context(run: Run, written: Path) -> None:
    """Before the first ingest the plan alone is there; the context says what is missing and how to fill it."""
    result = run("context", *SCENE, "--json")
    assert result.exit_code == 0
    assert shown_context(result)["relevant_memories"] == []
    assert f"run `novelgen ingest {PROJECT}`" in result.stderr


@pytest.mark.parametrize(
    ("model", "told"),
    [
        ("openai:gpt-4.1-mini", "needs a key: set OPENAI_API_KEY"),
        ("gpt-4o", "'openai:gpt-4o', needs a key: set OPENAI_API_KEY"),
        ("deepseek-chat", "pip install 'langchain-deepseek'"),
        ("nobody:model", "write provider:model"),
    ],
)
def test_a_configured_model_that_cannot_be_built_degrades(
    run: Run, ingested: Path, monkeypatch: pytest.MonkeyPatch, model: str, told: str
) -> None:
    """A key, package or provider that is missing in the settings leaves the planning to the rules and is said."""
    monkeypatch.setenv("NOVELGEN_MODEL", model)
    result = run("context", *SCENE, "--json")
    report = shown_context(result)["report"]
    assert result.exit_code == 0
    assert report["planner"]["used"] == "rules"
    assert any(told in issue["message"] for issue in report["issues"])


def test_a_model_of_the_command_line_that_cannot_be_had_leaves_it_to_rules(run: Run, ingested: Path) -> None:
    """The reason is on stderr and in the report, and the context is there; with --strict it is bad input."""
    asked = ("context", *SCENE, "--model", "openai:gpt-4.1-mini", "--json")
    result = run(*asked)
    assert (result.exit_code, shown_context(result)["report"]["planner"]["used"]) == (0, "rules")
    assert "needs a key" in result.stderr
    strict = run(*asked, "--strict")
    assert (strict.exit_code, strict.stdout) == (2, "")
    assert "needs a key" in strict.stderr


def test_characters_of_a_file_must_be_there(run: Run, ingested: Path) -> None:
    """A file that --characters names is not passed over in silence."""
    result = run("context", *SCENE, "--characters", "gone.json")
    assert result.exit_code == 2
    assert "gone.json" in result.stderr


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"memory:\n  state_budget: lots\n", "setting 'memory.state_budget' cannot be 'lots'"),
        (b"memory: [1\n", "is not YAML"),
        (b"\xff\xfe", "is not YAML in UTF-8"),
        (b"model: 2026-99-99\n", "holds a number or date that does not exist"),
    ],
)
def test_a_bad_config_file_is_bad_input(run: Run, ingested: Path, content: bytes, told: str) -> None:
    """A setting of the wrong type names itself and its value; a file that is no YAML names itself."""
    (ingested / "config.yaml").write_bytes(content)
    result = run("context", *SCENE)
    assert result.exit_code == 2
    assert told in result.stderr


def test_settings_of_the_project_hold(run: Run, ingested: Path) -> None:
    """config.yaml sets the budgets that the command line leaves open."""
    (ingested / "config.yaml").write_text("memory:\n  memory_budget: 20\n  state_budget: 0\n", encoding="utf-8")
    tokens = shown_context(run("context", *SCENE, "--state-budget", "500", "--json"))["report"]["tokens"]
    assert tokens["memories"] <= 20
    assert tokens["states"] > 0


def test_another_scene_number_in_the_plan_is_warned_of(run: Run, ingested: Path) -> None:
    """The place of the command line counts, and a plan that says otherwise is pointed out."""
    plan = ingested / "plan.json"
    plan.write_text(json.dumps(PLAN | {"scene_number": 5}), encoding="utf-8")
    result = run("context", *SCENE, "--plan", str(plan), "--json")
    assert shown_context(result)["scene_index"] == 1
    assert "scene_number 5" in result.stderr


def test_characters_are_built_from_what_the_story_has_shown() -> None:
    """Characters with a leading role lead, the others support, and places and things are none."""
    entities = [
        Entity(entity_id="C1", entity_type="character", name="Ben", role="antagonist"),
        Entity(entity_id="C0", entity_type="character", name="阿雀", role="主角", description="敲钟的孩子"),
        Entity(entity_id="C2", entity_type="character", name="Cornelius"),
        Entity(entity_id="L0", entity_type="location", name="the lighthouse"),
    ]
    characters = characters_of_entities(entities)
    assert characters.protagonist is not None
    assert (characters.protagonist.name, characters.protagonist.background) == ("阿雀", "敲钟的孩子")
    assert characters.antagonist is not None
    assert characters.antagonist.name == "Ben"
    assert [each.name for each in characters.supporting_characters] == ["Cornelius"]


def test_without_characters_json_nobody_of_later_is_known(run: Run, written: Path) -> None:
    """Characters that are built from the stored entities are those before the scene, under their names of then."""
    (written / "characters.json").unlink()
    run("ingest", PROJECT)
    plan = written / "plan.json"
    plan.write_text(json.dumps(PLAN), encoding="utf-8")
    result = run("context", PROJECT, "--chapter", "2", "--scene", "1", "--plan", str(plan), "--json")
    assert result.exit_code == 0
    assert "Cornelius" not in result.stdout


def test_a_plan_needs_no_json(run: Run, ingested: Path) -> None:
    """Said in words the plan is of the scene after what is stored; a name that nobody bears is on the screen."""
    spoken = ("--purpose", "Ada looks for the brass key", "--with", "Ada", "--with", "Zebedee")
    result = run("context", PROJECT, *spoken, "--at", "the lighthouse")
    assert result.exit_code == 0
    assert "Memory for scene 3:1" in result.stdout
    assert "not known to the story  Zebedee" in result.stdout
    assert "nothing is missing" not in result.stdout
    plan = json.loads((ingested / "scene_3_1_memory.json").read_text(encoding="utf-8"))["report"]["scene_plan"]
    assert (plan["location"], plan["characters"]) == ("the lighthouse", ["Ada", "Zebedee"])


def test_a_plan_is_said_or_read_but_not_both(run: Run, ingested: Path) -> None:
    """Neither silently wins over the other."""
    file = str(ingested / "chapters" / "chapter_003_plan.json")
    result = run("context", PROJECT, file, "--purpose", "another")
    assert (result.exit_code, result.stdout) == (2, "")
    assert "not both" in result.stderr


def test_a_failed_write_is_told_beside_the_json(run: Run, ingested: Path) -> None:
    """Whoever reads stdout as JSON also learns on stderr that there is no file."""
    (ingested / "scene_3_1_memory.json").mkdir()
    result = run("context", *SCENE, "--json")
    assert result.exit_code == 0
    assert shown_context(result)["relevant_memories"]
    assert "warning: the context is not written" in result.stderr


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


def test_top_k_bounds_the_memories(run: Run, ingested: Path) -> None:
    """Seed 001.4: --top-k is an upper bound beside the budget, and may stand in config.yaml."""
    assert len(shown_context(run("context", *SCENE, "--json"))["relevant_memories"]) > 2
    few = shown_context(run("context", *SCENE, "--top-k", "2", "--json"))
    assert len(few["relevant_memories"]) == len(few["report"]["items"]) == 2
    (ingested / "config.yaml").write_text("memory:\n  top_k: 1\n", encoding="utf-8")
    assert len(shown_context(run("context", *SCENE, "--json"))["relevant_memories"]) == 1


def test_a_full_report_is_written_when_it_is_asked_for(run: Run, ingested: Path) -> None:
    """Seed 004: with --full-report file and stdout hold every field; a diff reads either file."""
    small = shown_context(run("context", *SCENE, "--json"))
    size = (ingested / "scene_3_1_memory.json").stat().st_size
    full = shown_context(run("context", *SCENE, "--full-report", "--json"))
    assert (ingested / "scene_3_1_memory.json").stat().st_size > 1.5 * size
    assert full == json.loads((ingested / "scene_3_1_memory.json").read_text(encoding="utf-8"))
    assert all(item["score_parts"] for item in full["report"]["items"])
    assert not any(item["score_parts"] for item in small["report"]["items"])
    assert "superseded_by" in full["relevant_memories"][0]
    difference = json.loads(run("context", *SCENE, "--diff", "--json").stdout)
    assert (difference["states"], difference["memories"], difference["timeline"]) == ([], [], [])


def test_a_point_of_view_is_said_by_an_option(run: Run, ingested: Path) -> None:
    """What Ada was not there for stands apart, under its heading, or is left out; a rebuilt file keeps it so."""
    shown = run("context", *SCENE, "--pov", "C0").stdout
    before, heading, hidden = shown.partition("Hidden from Ada")
    assert heading
    assert "harbour" in hidden, hidden
    assert "harbour" not in before
    result = run("context", *SCENE, "--pov", "Ada", "--knowledge", "exclude", "--json")
    context = shown_context(result)
    assert context["report"]["point_of_view"]["mode"] == "exclude"
    assert "hidden" not in context
    assert "sold" not in result.stdout
    assert "Ben promised Ada" in contents(context)
    compared = json.loads(run("context", *SCENE, "--diff", "--json").stdout)
    assert (compared["memories"], compared["states"], compared["timeline"]) == ([], [], [])


def test_a_point_of_view_that_nobody_bears_is_told(run: Run, ingested: Path) -> None:
    """Nothing is left out then, and an issue names the name."""
    context = shown_context(run("context", *SCENE, "--pov", "Zora", "--knowledge", "exclude", "--json"))
    assert "Ben sold" in contents(context)
    issues = [issue for issue in context["report"]["issues"] if issue["stage"] == "knowledge"]
    assert [issue["kind"] for issue in issues] == ["unresolved"]
    assert "'Zora'" in issues[0]["message"]


def test_a_terminal_gets_the_first_screen(run: Run, ingested: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A line each of what must hold, who is here, what is open and weighs most; `--all`, `--explain` show the rest."""
    monkeypatch.setattr("runtime.doors.cli.commands.context.is_terminal", lambda: True)
    short = run("context", *SCENE)
    lines = short.stdout.splitlines()
    for heading in ("What must hold", "Where we left off", "Who is here", "What weighs most"):
        assert heading in lines
    assert any(line.startswith("  Ada: ") for line in lines[lines.index("Who is here") :])
    assert lines[-1].endswith("more memories (--all); why: --explain; as JSON: --json")
    assert "short form" not in short.stdout
    assert "tokens in all" not in short.stdout
    assert "tokens in all" in run("context", *SCENE, "--all").stdout
    assert "Queries" in run("context", *SCENE, "--explain").stdout
    assert json.loads(run("context", *SCENE, "--json").stdout)["relevant_memories"]
