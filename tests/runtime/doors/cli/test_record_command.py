"""`novelgen record`."""

import json
from pathlib import Path
from typing import Any

import click
import pytest

from tests.runtime.doors.cli.conftest import Run
from tests.runtime.doors.cli.small_project import PROJECT


def shown(run: Run, place: str = "1:1") -> dict[str, Any]:
    """Return a scene's record as the command shows it."""
    record: dict[str, Any] = json.loads(run("record", "show", PROJECT, place).stdout)
    return record


def test_a_record_is_shown_as_json(run: Run, ingested: Path) -> None:
    """Without one an empty record is shown, and stderr says that there is none."""
    record = shown(run)
    assert (record["title"], record["memories"][0]["memory_id"]) == ("The third stair", "M001")
    result = run("record", "show", PROJECT, "2:1")
    assert json.loads(result.stdout)["memories"] == []
    assert "scene 2:1 has no record (extraction none)" in result.stderr


def test_what_no_quote_proves_is_listed(run: Run, ingested: Path, tmp_path: Path) -> None:
    """Supplied facts whose quote is not in the scene are named on stderr, and the entity's state says so."""
    file = ingested / "records" / "chapter_001_records.json"
    records = json.loads(file.read_text(encoding="utf-8"))
    first = records["records"][0]
    first["memories"][0]["evidence"] = "words that nobody wrote here"
    first["state_changes"] = [
        {"entity_id": "C0", "changes": {"mood": "calm"}, "evidence": "words that nobody wrote here"},
        {"entity_id": "C0", "changes": {"status": "alive"}},
    ]
    file.write_text(json.dumps(records), encoding="utf-8")
    run.well("ingest", PROJECT)
    result = run("record", "show", PROJECT, "1:1")
    assert json.loads(result.stdout)["state_changes"][0]["changes"] == {"mood": "calm"}
    listed = [line for line in result.stderr.splitlines() if line.startswith("unverified")]
    assert [line.split(": ")[1] for line in listed] == ["memory M001", "state C0.mood"]
    assert "mood: calm (unverified)" in run("card", "show", PROJECT, "C0").stdout
    state = run.json("card", "show", PROJECT, "C0")["state"]
    assert (state["unverified"], state["state_data"]["status"]) == (["mood"], "alive")


def test_the_editor_starts_from_what_is_stored(run: Run, ingested: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a file the record opens in an editor, and what is saved there is stored."""

    def edit(text: str, extension: str) -> str:
        assert extension == ".json"
        return text.replace("The third stair", "The fourth stair")

    monkeypatch.setattr(click, "edit", edit)
    run.well("record", "edit", PROJECT, "1:1")
    assert shown(run)["title"] == "The fourth stair"


def test_an_editor_that_saves_nothing_changes_nothing(
    run: Run, ingested: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Leaving the editor without saving keeps the record and who made it."""
    before = run("scene", "show", PROJECT, "1:1", "--json").stdout
    monkeypatch.setattr(click, "edit", lambda text, extension: None)
    assert "as it was" in run("record", "edit", PROJECT, "1:1").stdout
    assert run("scene", "show", PROJECT, "1:1", "--json").stdout == before


def test_what_is_no_record_changes_nothing(run: Run, ingested: Path, tmp_path: Path) -> None:
    """A wrong file is refused with the field that is wrong."""
    cases: list[tuple[str, str]] = [
        ("{", "Invalid JSON"),
        ('{"memories": []}', "chapter_index: Field required"),
        (
            '{"chapter_index": 1, "scene_index": 1, "memories": [{"memory_id": "M", "content": "x", "importance": 0}]}',
            "memories.0.importance",
        ),
    ]
    for text, message in cases:
        before = shown(run)
        file = tmp_path / "record.json"
        file.write_text(text, encoding="utf-8")
        run.refused("record", "edit", PROJECT, "1:1", "--file", str(file), told=message)
        assert shown(run) == before
