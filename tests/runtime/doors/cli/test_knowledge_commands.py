"""`novelgen knows`, `memory knowers` and `memory knowledge`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.runtime.doors.cli.conftest import Run
from tests.runtime.doors.cli.small_project import PROJECT


def knows(run: Run, *arguments: str) -> dict[str, Any]:
    """Return what the command prints as JSON."""
    result = run("knows", PROJECT, *arguments, "--json")
    assert result.exit_code == 0, result.stderr
    found: dict[str, Any] = json.loads(result.stdout)
    return found


def test_every_memory_before_the_position_is_in_one_list(run: Run, ingested: Path) -> None:
    """The JSON has the fields that programs rely on; what lies later is in neither list."""
    found = knows(run, "Ada")
    assert found["character_id"] == "C0"
    assert [each["source_id"] for each in found["known"]] == ["M001", "M002"]
    assert set(found["known"][0]) == {
        "source_id",
        "content",
        "how",
        "from",
        "since_chapter",
        "since_scene",
        "certainty",
        "quote",
    }
    (unknown,) = found["not_known"]
    assert unknown["source_id"] == "M003"
    assert unknown["why"] == "was not there, and nothing tells it to them"
    early = knows(run, "Ada", "--as-of", "1:2")
    assert ([each["source_id"] for each in early["known"]], early["not_known"]) == (["M001"], [])


def test_the_reader_knows_all_that_was_told(run: Run, ingested: Path) -> None:
    """`reader` stands for whoever reads the book."""
    assert [each["how"] for each in knows(run, "reader")["known"]] == ["read"] * 3


def test_it_is_filtered(run: Run, ingested: Path) -> None:
    """A name keeps what is about its bearer, other words what holds them."""
    assert [each["source_id"] for each in knows(run, "Ada", "--about", "the harbour master")["not_known"]] == ["M003"]
    assert [each["source_id"] for each in knows(run, "Ada", "--about", "lamp")["known"]] == ["M002"]


def test_it_is_readable(run: Run, ingested: Path) -> None:
    """Without --json names stand in place of ids, known and unknown apart."""
    told = run("knows", PROJECT, "Ada").stdout
    assert told.index("Knows (2)") < told.index("M002") < told.index("Does not know (1)") < told.index("M003")
    together = run("knows", PROJECT, "Ada", "--with", "Ben").stdout
    assert together.splitlines()[0] == "Ada and Ben: scenes together 1, alone 1"
    assert run("knows", PROJECT, "Ada", "--with", "Cornelius").stdout.startswith(
        "Ada and Cornelius: scenes together 0, never alone"
    )
    shared = json.loads(run("knows", PROJECT, "Ben", "--with", "Cornelius", "--json").stdout)
    assert shared["scenes"] == [{"chapter_index": 2, "scene_index": 2, "is_alone": True}]


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["Adda"], "near it: C0 (Ada)"),
        (["Ada", "--with", "Ada"], "not two characters"),
        (["Ada", "--with", "Ben", "--about", "lamp"], "cannot go together"),
    ],
)
def test_what_nobody_can_answer_is_refused(run: Run, ingested: Path, arguments: list[str], told: str) -> None:
    """An unknown name is answered with the nearest."""
    result = run("knows", PROJECT, *arguments)
    assert result.exit_code == 2
    assert told in result.stderr


def test_a_memory_names_its_knowers(run: Run, ingested: Path) -> None:
    """Everybody known by then is in one of two lists, readable or as JSON."""
    found = json.loads(run("memory", "knowers", PROJECT, "M003", "--json").stdout)
    assert [each["character_id"] for each in found["known_by"]] == ["reader", "C1", "C2"]
    assert [each["character_id"] for each in found["not_known_by"]] == ["C0"]
    told = run("memory", "knowers", PROJECT, "M003").stdout
    assert told.index("Known to") < told.index("Cornelius") < told.index("Not known to") < told.index("Ada")
    assert run("memory", "knowers", PROJECT, "M099").exit_code == 2


def test_the_authors_word_is_said_and_taken_back(run: Run, ingested: Path) -> None:
    """It outranks what follows from the story, survives an ingest, and can be undone."""
    said = run("memory", "knowledge", PROJECT, "M003", "Ada", "knows", "--how", "told", "--learned-from", "Ben")
    assert (said.exit_code, said.stdout) == (0, "Ada knows M003, from its own scene on, 2:2\n")
    run("ingest", PROJECT)
    (known,) = [each for each in knows(run, "Ada")["known"] if each["source_id"] == "M003"]
    assert (known["how"], known["from"], known["since_chapter"]) == ("told", "C1", 2)
    assert run("memory", "knowledge", PROJECT, "M003", "Ada", "--undo").stdout == "taken back: 1\n"
    assert [each["source_id"] for each in knows(run, "Ada")["not_known"]] == ["M003"]


def test_the_authors_word_is_told_back_as_it_was_said(run: Run, ingested: Path) -> None:
    """By name, and with the position that the author gave; a whole tale as one."""
    hidden = run("memory", "knowledge", PROJECT, "M003", "Ada", "hidden", "--from", "2:3")
    assert hidden.stdout.endswith(" does not know M003, on entering 2:3\n")
    tale = run("memory", "knowledge", PROJECT, "*", "Ada", "knows", "--learned-from", "Ben", "--from", "2:3")
    assert "everything that Ben" in tale.stdout


@pytest.mark.parametrize("arguments", [[], ["knows", "--undo"], ["guesses"]])
def test_a_word_must_say_one_thing(run: Run, ingested: Path, arguments: list[str]) -> None:
    """Nothing, both at once, or a kind that there is not: refused, and nothing is stored."""
    result = run("memory", "knowledge", PROJECT, "M003", "Ada", *arguments)
    assert result.exit_code == 2
    assert "knows" in result.stderr
    assert [each["source_id"] for each in knows(run, "Ada")["not_known"]] == ["M003"]
