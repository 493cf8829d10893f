"""`novelgen summary`."""

import json
from pathlib import Path
from typing import Any

import click
import pytest

from tests.runtime.doors.cli.conftest import Run
from tests.runtime.doors.cli.small_project import PROJECT
from tests.support.openai_stub import StubCall, openai_stub


@pytest.fixture(autouse=True)
def _parts_of_one_chapter(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every chapter is a part."""
    monkeypatch.setenv("NOVELGEN_MEMORY__SUMMARIZATION__CHAPTERS_PER_PART", "1")


def shown(run: Run, *options: str) -> list[dict[str, Any]]:
    """Return what `show` lists."""
    listed: list[dict[str, Any]] = run.json("summary", "show", PROJECT, *options)["summaries"]
    return listed


def test_summaries_are_listed_for_people_and_programs(run: Run, ingested: Path) -> None:
    """Chapters and parts, with who wrote them."""
    result = run.well("summary", "show", PROJECT)
    assert "chapter 1" in result.stdout
    assert "made" in result.stdout
    [chapter] = shown(run, "--chapter", "1")
    assert chapter["told"].startswith("Ada hides the brass key under the third stair.")
    assert [(each["level"], each["number"]) for each in shown(run)] == [
        ("chapter", 1),
        ("chapter", 2),
        ("part", 1),
        ("part", 2),
    ]


@pytest.mark.slow
def test_a_persons_summary_from_a_file_stands(run: Run, ingested: Path, tmp_path: Path) -> None:
    """It is told in its own words, survives ingest and enters the context of a later scene."""
    file = tmp_path / "summary.txt"
    file.write_text("阿黛藏起铜钥匙，\n阿本立誓守灯。", "utf-8")
    result = run("summary", "edit", PROJECT, "--part", "1", "--file", str(file))
    assert (result.exit_code, "now has your summary" in result.stdout) == (0, True)
    run.well("ingest", PROJECT)
    [part] = shown(run, "--part", "1")
    assert (part["told"], part["origin"]) == ("阿黛藏起铜钥匙， 阿本立誓守灯。", "author")
    context = run.json("context", PROJECT, "--chapter", "3", "--scene", "1")
    [told] = [each["text"] for each in context["story_so_far"] if each["level"] == "part"]
    assert told == part["told"]
    assert sum(context["report"]["tokens_per_need"].values()) == sum(context["report"]["tokens"].values())


def test_the_editor_starts_from_what_is_told(run: Run, ingested: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is saved is stored; an empty text gives the made summary back; leaving without saving changes nothing."""
    monkeypatch.setattr(click, "edit", lambda text, extension: text.replace("hides", "buries"))
    run.well("summary", "edit", PROJECT, "--chapter", "1")
    assert "Ada buries the brass key" in shown(run, "--chapter", "1")[0]["told"]
    monkeypatch.setattr(click, "edit", lambda text, extension: None)
    assert "is as it was" in run("summary", "edit", PROJECT, "--chapter", "1").stdout
    monkeypatch.setattr(click, "edit", lambda text, extension: "\n")
    assert "made of its bullets" in run("summary", "edit", PROJECT, "--chapter", "1").stdout
    assert shown(run, "--chapter", "1")[0]["origin"] == "made"


def test_the_authors_parts_are_those_of_settings_json(run: Run, ingested: Path) -> None:
    """They are taken in with the next ingest, stay where the file is gone, and go when they are taken out of it."""
    file = ingested / "settings.json"
    settings = json.loads(file.read_text("utf-8")) if file.exists() else {}
    parts = [{"title": "The key", "first_chapter": 1, "last_chapter": 2}]
    file.write_text(json.dumps({**settings, "parts": parts}), "utf-8")
    run.well("ingest", PROJECT)
    assert [(each["title"], each["last_chapter"]) for each in shown(run, "--part", "1")] == [("The key", 2)]
    assert "part 1 The key (1–2)" in run("summary", "show", PROJECT, "--part", "1").stdout.replace("\n", " ")
    file.unlink()
    run.well("ingest", PROJECT)
    assert shown(run, "--part", "1")[0]["title"] == "The key"
    file.write_text(json.dumps(settings), "utf-8")
    run.well("ingest", PROJECT)
    assert shown(run, "--part", "1")[0]["title"] == ""


@pytest.mark.slow
def test_a_model_writes_what_nobody_wrote(run: Run, ingested: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its summaries are stored; one that it gets wrong keeps the made one, is told, and ends with code 1."""

    def answer(call: StubCall) -> None:
        events = call.payload["messages"][-1]["content"]
        good = "Ada hides the brass key, and Ben promises Ada to keep the lamp burning."
        call.say(json.dumps({"summary": good if "third stair" in events else "Cornelius flies to Rome."}))

    monkeypatch.setenv("NOVELGEN_MODEL", "openai:stub")
    with openai_stub(answer) as stub:
        monkeypatch.setenv("NOVELGEN_MODEL_BASE_URL", stub.base_url)
        result = run("summary", "write", PROJECT)
        alone = run("summary", "write", PROJECT, "--chapter", "1", "--json")
    assert result.exit_code == 1
    assert "2 written, 2 kept as they were" in result.stdout
    assert "warning: chapter 2: the model wrote no summary" in result.stderr
    assert alone.exit_code == 0
    assert json.loads(alone.stdout)["written"][0]["origin"] == "model"
    assert [each["origin"] for each in shown(run)] == ["model", "made", "model", "made"]


def test_what_cannot_be_done_is_said(run: Run, ingested: Path) -> None:
    """With exit code 2, and nothing is changed."""
    cases: list[tuple[tuple[str, ...], str]] = [
        (("edit", PROJECT), "give one of --chapter N and --part N"),
        (("edit", PROJECT, "--chapter", "1", "--part", "1"), "not both"),
        (("show", PROJECT, "--chapter", "9"), "nothing is stored of chapter 9"),
        (("show", "nobody"), "nobody"),
        (("write", PROJECT), "no model for extraction"),
    ]
    for arguments, told in cases:
        run.refused("summary", *arguments, told=told)
