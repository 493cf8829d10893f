"""`novelgen chunk-context`."""

import json
from pathlib import Path

import pytest

from tests.runtime.doors.cli.conftest import Run
from tests.runtime.doors.cli.small_project import PROJECT

TEXT = "Ada asked Ben where the brass key was."


@pytest.fixture
def page(tmp_path: Path) -> Path:
    """A page to translate."""
    file = tmp_path / "page.txt"
    file.write_text(TEXT, encoding="utf-8")
    return file


@pytest.mark.slow
def test_names_and_memories_are_shown(run: Run, ingested: Path, page: Path) -> None:
    """The block of a prompt stands on stdout; the limit is held and the rest is counted."""
    result = run.well("chunk-context", PROJECT, "--text", str(page), "--limit", "1")
    assert "- Ada (character); also the keeper's daughter; protagonist\n" in result.stdout
    assert "## What the story has established about them" in result.stdout
    assert "more" in result.stdout.splitlines()[-1]


@pytest.mark.slow
def test_the_text_may_come_from_stdin(run: Run, ingested: Path) -> None:
    """JSON holds the parts; what the chapter itself establishes is not there."""
    arguments = ("chunk-context", PROJECT, "--text", "-", "--chapter", "2", "--json")
    context = json.loads(run.well(*arguments, answer=TEXT).stdout)
    assert [each["name"] for each in context["glossary"]] == ["Ada", "Ben", "the brass key"]
    sources = {each["chunk"]["source_id"] for each in context["memories"]}
    assert {"M001", "M002"} <= sources
    assert "M003" not in sources


def test_a_text_that_cannot_be_read_is_refused(run: Run, ingested: Path, tmp_path: Path) -> None:
    """A wrong encoding, a text that is too long and a missing file each name what to change."""
    file = tmp_path / "page.txt"
    file.write_bytes(bytes(range(256)) * 9)
    run.refused("chunk-context", PROJECT, "--text", str(file), told="in no encoding that is read")
    file.write_text("x" * 100_001, encoding="utf-8")
    assert "100,000" in run("chunk-context", PROJECT, "--text", str(file)).stderr
    assert run("chunk-context", PROJECT, "--text", str(tmp_path / "none.txt")).exit_code == 2
