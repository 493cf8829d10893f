"""`novelgen since`, and what ingest, import-book and extract end with."""

import json
from pathlib import Path

import pytest

from tests.runtime.doors.cli.conftest import Run
from tests.runtime.doors.cli.small_project import PROJECT, write_project
from tests.support.openai_stub import StubCall, openai_stub

SOLD = "Ben sold the brass key to the harbour master for two loaves of bread."


def test_since_tells_the_last_scene(run: Run, ingested: Path) -> None:
    """Without options the last stored one, nobody by an id; a stretch without scenes says so."""
    lines = run("since", PROJECT).stdout.splitlines()
    assert lines[0] == "What scene 2:2 changed:"
    assert f"  - {SOLD}" in lines
    assert "  - Cornelius now holds the brass key" in lines
    assert not any("C2" in line for line in lines)
    assert run("since", PROJECT, "--from", "9").stdout.strip() == "no scene is stored there"


def test_ingest_ends_with_what_the_last_scene_changed(run: Run, written: Path) -> None:
    """Of several chapters the last scene, with totals; a second run takes nothing in and tells nothing."""
    first = run("ingest", PROJECT).stdout
    assert "What scene 2:2 changed:" in first
    assert "  - The harbour master has the key" in first
    assert "  Changed hands: Cornelius now holds the brass key" in first
    assert "  All 4 scenes taken in: " in first
    assert "changed:" not in run("ingest", PROJECT).stdout


def test_json_has_the_changes_and_the_flag_leaves_them_out(run: Run, written: Path) -> None:
    """`changes` stands in the report, and is absent where it was not wanted or there are none."""
    report = run.json("ingest", PROJECT, "--chapter", "1")
    assert (report["changes"]["first"], report["changes"]["last"]) == ([1, 1], [1, 2])
    assert "totals" not in report["changes"]
    assert "changes" not in run.json("ingest", PROJECT, "--no-changes")
    assert "changes" not in run.json("ingest", PROJECT)


def test_extract_ends_with_what_the_scenes_changed(
    run: Run, projects_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of the scenes that were read, in the report too; `--no-changes` leaves it out."""
    write_project(projects_dir, records=False)
    assert "  stored as text alone, so that nobody said what they changed: 2:2" in run("ingest", PROJECT).stdout
    monkeypatch.setenv("NOVELGEN_MODEL", "openai:stub")
    monkeypatch.setenv("NOVELGEN_MEMORY__SUMMARIZATION__RECONCILE_CHAPTERS", "false")

    def answer(call: StubCall) -> None:
        scene = call.payload["messages"][1]["content"].split("===== the text =====\n")[1]
        memory = {"content": "Something is known.", "entities": ["Ada"], "evidence": scene[:30]}
        call.say(json.dumps({"summary": ["Something happens."], "memories": [memory]}))

    with openai_stub(answer) as stub:
        monkeypatch.setenv("NOVELGEN_MODEL_BASE_URL", stub.base_url)
        told = run("extract", PROJECT, "--scene", "1:1")
        report = run.json("extract", PROJECT, "--scene", "1:2")
        silent = run("extract", PROJECT, "--chapter", "2", "--no-changes")
    assert "What scene 1:1 changed:" in told.stdout
    assert "  - Something is known." in told.stdout
    assert report["changes"]["last"] == [1, 2]
    assert "What" not in silent.stdout.replace("What to do next", "")
