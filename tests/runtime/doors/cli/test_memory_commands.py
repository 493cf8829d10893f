"""`novelgen memory` and `novelgen note`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.runtime.doors.cli.conftest import Run
from tests.runtime.doors.cli.small_project import PROJECT

pytestmark = pytest.mark.usefixtures("index_kept_open")


def listed(run: Run, *options: str) -> dict[str, dict[str, Any]]:
    """Return the listed memories by their source ids."""
    result = run("memory", "list", PROJECT, "--json", "--limit", "1000", *options)
    return {each["chunk"]["source_id"] or each["chunk"]["chunk_id"]: each for each in json.loads(result.stdout)}


def test_memories_are_listed_in_story_order_and_filtered(run: Run, ingested: Path) -> None:
    """Entity, kind and position filter; the list is cut by its limit, which is said."""
    assert list(listed(run, "--type", "memory")) == ["M001", "M002", "M003"]
    assert list(listed(run, "--type", "memory", "--entity", "Ada")) == ["M001", "M002"]
    assert list(listed(run, "--type", "memory", "--as-of", "1:2")) == ["M001"]
    assert "2 more" in run("memory", "list", PROJECT, "--type", "memory", "--limit", "1").stdout


def test_a_wrong_kind_is_named(run: Run, ingested: Path) -> None:
    """A kind that there is not is answered with those that there are."""
    result = run("memory", "list", PROJECT, "--type", "secret")
    assert result.exit_code == 2
    assert "'secret' is none of scene, dialogue" in result.stderr


def test_a_memory_is_shown_by_either_id(run: Run, ingested: Path) -> None:
    """source_id and chunk_id name the same memory; names stand in place of entity ids."""
    by_source = json.loads(run("memory", "show", PROJECT, "M002", "--json").stdout)
    by_chunk = json.loads(run("memory", "show", PROJECT, by_source["chunk"]["chunk_id"], "--json").stdout)
    assert by_source == by_chunk
    assert "Ada (C0), Ben (C1)" in run("memory", "show", PROJECT, "M002").stdout


def test_an_edit_survives_the_next_ingest(run: Run, ingested: Path) -> None:
    """What an author changes stays changed."""
    result = run("memory", "edit", PROJECT, "M001", "--text", "The key is of copper.", "--importance", "2")
    assert result.exit_code == 0
    run("ingest", PROJECT)
    chunk = listed(run)["M001"]["chunk"]
    assert (chunk["content"], chunk["importance"], chunk["origin"]) == ("The key is of copper.", 2, "author")


def test_a_confirmed_memory_is_listed_and_taken_back(run: Run, ingested: Path) -> None:
    """What was decided by hand is listed with its number, and by it everything is as it was before, once."""
    before = listed(run)["M001"]
    assert run("memory", "confirm", PROJECT, "M001").stdout == "M001: active\n"
    assert listed(run)["M001"]["chunk"]["origin"] == "author"
    (change,) = json.loads(run("memory", "changes", PROJECT, "--json").stdout)
    assert (change["kind"], change["source_id"]) == ("confirm", "M001")
    assert json.loads(run("memory", "changes", PROJECT, "--as-of", "1:1", "--json").stdout) == []
    assert "confirm" in run("memory", "changes", PROJECT).stdout
    number = str(change["change_id"])
    assert run("memory", "undo", PROJECT, number).stdout == f"undone: confirm, change {number}\n"
    assert listed(run)["M001"] == before
    again = run("memory", "undo", PROJECT, number)
    assert again.exit_code == 2
    assert "undone already" in again.stderr


@pytest.mark.parametrize(("options", "told"), [([], "nothing to change"), (["--text", " "], "the new text is empty")])
def test_an_edit_must_change_something(run: Run, ingested: Path, options: list[str], told: str) -> None:
    """An edit without a change, or to nothing, is refused."""
    result = run("memory", "edit", PROJECT, "M001", *options)
    assert result.exit_code == 2
    assert told in result.stderr


def test_a_pin_is_set_and_taken_off(run: Run, ingested: Path) -> None:
    """pin and unpin say what holds afterwards."""
    assert run("memory", "pin", PROJECT, "M001").stdout == "M001: active, pinned\n"
    assert listed(run)["M001"]["pinned"]
    assert run("memory", "unpin", PROJECT, "M001").stdout == "M001: active\n"
    assert not listed(run)["M001"]["pinned"]


@pytest.mark.parametrize(("decision", "status"), [("ban", "banned"), ("delete", "deleted")])
def test_what_is_banned_or_deleted_is_not_found_until_it_is_brought_back(
    run: Run, ingested: Path, decision: str, status: str
) -> None:
    """It leaves lists and searches, stays away at the next ingest, and can be brought back."""
    confirmed = ["--yes"] if decision == "delete" else []
    assert run("memory", decision, PROJECT, "M003", *confirmed).stdout == f"M003: {status}\n"
    run("ingest", PROJECT)
    assert "M003" not in listed(run)
    assert "M003" not in run("search", PROJECT, "Ben sold the brass key for two loaves").stdout
    assert "M003" in listed(run, "--status", status)
    assert run("memory", "unban", PROJECT, "M003").stdout == "M003: active\n"
    assert "M003" in run("search", PROJECT, "Ben sold the brass key for two loaves").stdout


@pytest.mark.parametrize("command", [["show"], ["pin"], ["edit", "--importance", "3"], ["delete"]])
def test_an_unknown_memory_is_bad_input(run: Run, ingested: Path, command: list[str]) -> None:
    """The id is named, with the command that lists them."""
    result = run("memory", command[0], PROJECT, "M999", *command[1:])
    assert result.exit_code == 2
    assert "'M999'" in result.stderr
    assert f"novelgen memory list {PROJECT}" in result.stderr


def test_a_note_is_canon_from_its_place_on(run: Run, ingested: Path) -> None:
    """A note without a place is read everywhere, one with a place from there on and not before."""
    assert "read everywhere" in run("note", PROJECT, "Nobody here can swim.").stdout
    assert "from 2:1 on" in run("note", PROJECT, "The bridge is gone.", "--from", "2:1", "--entity", "Ada").stdout
    everywhere, from_then = (
        {each["chunk"]["content"] for each in listed(run, "--type", "note", "--as-of", place).values()}
        for place in ("1:1", "2:1")
    )
    assert everywhere == {"Nobody here can swim."}
    assert from_then == {"Nobody here can swim.", "The bridge is gone."}


def test_a_deletion_is_not_done_unasked(run: Run, ingested: Path) -> None:
    """Without a terminal to ask at, --yes is wanted, and the memory stays."""
    result = run("memory", "delete", PROJECT, "M003")
    assert result.exit_code == 2
    assert "--yes" in result.stderr
    assert "M003" in listed(run)


def test_a_note_about_nobody_known_says_so(run: Run, ingested: Path) -> None:
    """Whoever misspells a name is told that the note concerns nobody; one who is named right is not."""
    assert "concerns nobody that the story knows" in run("note", PROJECT, "Zebedee limps.").stderr
    assert "concerns" not in run("note", PROJECT, "Cornelius limps.").stderr


def test_who_occurs_nowhere_is_marked(run: Run, ingested: Path) -> None:
    """A memory of somebody whom no scene has is shown as what it is."""
    assert run("character", "add", PROJECT, "Zebedee").exit_code == 0
    noted = json.loads(run("note", PROJECT, "He limps.", "--entity", "Zebedee", "--json").stdout)
    memory_id = noted["note"]["chunk_id"]
    assert "nobody who occurs" in run("memory", "show", PROJECT, memory_id).stdout


@pytest.mark.parametrize(
    "command",
    [
        ("memory", "edit", PROJECT, "M001", "--importance", "2"),
        ("memory", "pin", PROJECT, "M001"),
        ("memory", "ban", PROJECT, "M001"),
        ("memory", "delete", PROJECT, "M001", "--yes"),
        ("memory", "attach", PROJECT, "M001", "Ben"),
        ("note", PROJECT, "Nobody here can swim."),
    ],
)
def test_what_writes_tells_programs_what_it_did(run: Run, ingested: Path, command: tuple[str, ...]) -> None:
    """--json prints one JSON object and nothing else."""
    assert isinstance(json.loads(run(*command, "--json").stdout), dict)


def test_a_note_must_say_something_about_somebody_known(run: Run, ingested: Path) -> None:
    """An empty note, and one about nobody, are refused."""
    assert "the note is empty" in run("note", PROJECT, "  ").stderr
    result = run("note", PROJECT, "He limps.", "--entity", "Zebedee")
    assert result.exit_code == 2
    assert "'Zebedee'" in result.stderr
    assert listed(run, "--type", "note") == {}
