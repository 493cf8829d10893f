"""`novelgen doctor` and `novelgen reindex`."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.runtime.doors.cli.conftest import Run
from tests.runtime.doors.cli.small_project import PROJECT


def findings(run: Run, *project: str) -> dict[str, dict[str, Any]]:
    """Return what the doctor found, by what it looked at."""
    return {each["what"]: each for each in run.json("doctor", *project)["findings"]}


@pytest.mark.slow
def test_a_healthy_project_has_counts_and_a_sound_index(run: Run, ingested: Path) -> None:
    """Every check is there; a finding that is not fine says what to do, what is fine is only counted."""
    diagnosis = run.json("doctor", PROJECT)
    assert {"python", "sqlite", "chromadb"} <= set(diagnosis["versions"])
    assert diagnosis["settings"]["embedding model"] == "fake:32"
    assert (diagnosis["counts"]["scenes"], diagnosis["counts"]["scenes with a record"]) == (4, 3)
    assert {each["level"] for each in diagnosis["findings"]} <= {"ok", "hint"}
    assert "agrees with the database" in findings(run, PROJECT)["vector index"]["message"]
    machine = run("doctor").stdout
    assert "→ set model (NOVELGEN_MODEL)" in machine
    assert "langchain" in machine
    of_story = run("doctor", PROJECT).stdout
    assert "Findings" in of_story
    assert "fine: " in of_story
    for about_the_machine in ("NOVELGEN_MODEL", "langchain", "SQLite 3", "agrees with the database"):
        assert about_the_machine not in of_story


def test_without_a_project_only_the_machine_is_looked_at(run: Run, projects_dir: Path) -> None:
    """No project is needed, and none is created."""
    assert set(findings(run)) == {"sqlite", "embedding model", "chat model"}
    assert not projects_dir.exists()


@pytest.mark.slow
def test_a_changed_ingest_setting_is_told_and_applied_by_a_reindex(
    run: Run, ingested: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ingest and doctor name what was stored under the old setting until reindex has brought it in."""
    monkeypatch.setenv("NOVELGEN_MEMORY__INGEST__EMBED_PASSAGES", "true")
    assert f"`novelgen reindex {PROJECT}` does it" in run("ingest", PROJECT).stderr
    hint = findings(run, PROJECT)["memory.ingest"]
    assert (hint["level"], hint["fix"]) == ("hint", f"run `novelgen reindex {PROJECT}`")
    assert "3 memories embedded otherwise than before" in run("reindex", PROJECT).stdout
    assert "memory.ingest" not in findings(run, PROJECT)
    assert "reindex" not in run("ingest", PROJECT).stderr


def test_a_broken_database_is_broken_and_ends_with_3(run: Run, ingested: Path) -> None:
    """The doctor still shows everything, and its exit code says that the store is unavailable."""
    (ingested / "data" / "novel.db").write_bytes(b"no database at all" * 1000)
    result = run("doctor", PROJECT)
    assert result.exit_code == 3
    assert "BROKEN" in result.stdout
    assert "restore a backup" in result.stdout


@pytest.mark.slow
def test_a_context_file_that_is_damaged_is_named(run: Run, ingested: Path) -> None:
    """A file that is no context is degraded, the others are still judged, and the fix works."""
    for name in ("scene_1_1_memory.json", "scene_3_1_memory.json"):
        (ingested / name).write_text("{", encoding="utf-8")
    found = findings(run, PROJECT)
    unplanned, damaged = found["context of 1:1"], found["context of 3:1"]
    assert damaged["level"] == "degraded"
    assert "is not JSON" in damaged["message"]
    assert unplanned["fix"].startswith(f"novelgen context {PROJECT} --chapter 1 --scene 1 --plan FILE")
    run.well(*damaged["fix"].split()[1:])
    assert findings(run, PROJECT)["context files"]["message"] == "1 of 2 are up to date"


@pytest.mark.slow
def test_an_embedding_model_that_is_missing_or_another_is_degraded(
    run: Run, ingested: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Search by words stays and the setting is named; a reindex without a model is refused, one with another makes new
    vectors.
    """
    monkeypatch.setenv("NOVELGEN_MEMORY__EMBEDDING_MODEL", "nobody:model")
    found = findings(run, PROJECT)
    assert found["embedding model"]["level"] == "degraded"
    assert "NOVELGEN_MEMORY__EMBEDDING_MODEL" in found["embedding model"]["fix"]
    assert found["vector index"]["level"] == "degraded"
    run.refused("reindex", PROJECT, told="nobody:model")
    monkeypatch.setenv("NOVELGEN_MEMORY__EMBEDDING_MODEL", "fake:64")
    changed = findings(run, PROJECT)["vector index"]
    assert changed["level"] == "degraded"
    assert "built with 'fake:32' (32 dimensions), but 'fake:64' (64) is in use" in changed["message"]
    assert "0 texts embedded anew" not in run("reindex", PROJECT).stdout
    assert findings(run, PROJECT)["vector index"]["level"] == "ok"


@pytest.mark.slow
def test_a_bundle_holds_nothing_of_a_story(run: Run, ingested: Path, tmp_path: Path) -> None:
    """What is sent with a question tells versions, settings, counts and findings, and no word of anybody's."""
    run.well("doctor", PROJECT, "--bundle", str(tmp_path / "bundle.json"))
    text = (tmp_path / "bundle.json").read_text(encoding="utf-8")
    bundle = json.loads(text)
    assert bundle["counts"]["scenes"] == 4
    assert {"langgraph", "chromadb", "pydantic"} <= set(bundle["packages"])
    assert {each["kind"] for each in bundle["findings"]}
    entities = run.json("card", "list", PROJECT)["entities"]
    assert entities
    secrets = [PROJECT, str(tmp_path), str(ingested), *(each["name"] for each in entities)]
    assert [each for each in secrets if each in text] == []
