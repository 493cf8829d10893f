"""`novelgen conflicts`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.runtime.doors.cli.conftest import Run
from tests.runtime.doors.cli.small_project import PROJECT


def listed(run: Run, *options: str) -> list[dict[str, Any]]:
    """Return what `conflicts list --json` prints."""
    conflicts: list[dict[str, Any]] = json.loads(run("conflicts", "list", PROJECT, "--json", *options).stdout)
    return conflicts


def make_ben_two_people(run: Run, tmp_path: Path) -> str:
    """Give Ben two identities by records of the author; returns the id of the conflict."""
    for place, identity in (("1:2", "a lamplighter"), ("2:2", "a smuggler")):
        record = json.loads(run("record", "show", PROJECT, place).stdout)
        record["state_changes"].append({"entity_id": "C1", "changes": {"identity": identity}})
        file = tmp_path / "record.json"
        file.write_text(json.dumps(record), encoding="utf-8")
        assert run("record", "edit", PROJECT, place, "--file", str(file)).exit_code == 0
    [conflict] = listed(run)
    return str(conflict["conflict"]["conflict_id"])


def test_a_sound_story_has_none(run: Run, ingested: Path) -> None:
    """The small project does not contradict itself."""
    assert "no conflicts" in run("conflicts", "list", PROJECT).stdout
    assert listed(run) == []


def test_both_sides_are_shown(run: Run, ingested: Path, tmp_path: Path) -> None:
    """The list names the slot, both places and both values."""
    conflict_id = make_ben_two_people(run, tmp_path)
    shown = " ".join(run("conflicts", "list", PROJECT).stdout.split())
    for part in (conflict_id, "C1.identity", "slot_value", "1:2 identity:", "2:2 identity:"):
        assert part in shown


def test_a_waived_conflict_is_listed_on_request_only(run: Run, ingested: Path, tmp_path: Path) -> None:
    """The note is kept with the waiver."""
    conflict_id = make_ben_two_people(run, tmp_path)
    assert run("conflicts", "waive", PROJECT, conflict_id, "--note", "he lies").exit_code == 0
    assert listed(run) == []
    [waived] = listed(run, "--all")
    assert (waived["is_waived"], waived["note"]) == (True, "he lies")


def test_a_resolved_conflict_is_gone(run: Run, ingested: Path, tmp_path: Path) -> None:
    """The kept value is told, and nothing is left to list."""
    conflict_id = make_ben_two_people(run, tmp_path)
    result = run("conflicts", "resolve", PROJECT, conflict_id, "--keep", "first")
    assert "C1.identity is now 'identity: a lamplighter' in both scenes" in result.stdout
    assert listed(run, "--all") == []


def test_an_unknown_conflict_is_bad_input(run: Run, ingested: Path) -> None:
    """There is nothing to waive or settle."""
    assert run("conflicts", "waive", PROJECT, "X1").exit_code == 2
    assert run("conflicts", "resolve", PROJECT, "X1", "--keep", "first").exit_code == 2
