"""`novelgen memory attach`, `detach` and `attach-mentions`."""

from __future__ import annotations

import json
from pathlib import Path

from tests.runtime.doors.cli.conftest import Run
from tests.runtime.doors.cli.small_project import PROJECT


def attached(run: Run, entity: str) -> list[str]:
    """Return the memories attached to an entity by their source ids."""
    result = run("memory", "list", PROJECT, "--entity", entity, "--type", "memory", "--json")
    return [each["chunk"]["source_id"] for each in json.loads(result.stdout)]


def test_a_memory_is_attached_and_taken_off(run: Run, ingested: Path) -> None:
    """Each command says what the memory is attached to now; the lists follow."""
    shown = run("memory", "attach", PROJECT, "M001", "Ben", "chapter:2").stdout
    assert shown == "M001: Ada (C0), Ben (C1), the brass key (I0), chapter:2, chapter:1\n"
    assert attached(run, "Ben") == ["M001", "M002", "M003"]
    assert "Ben" not in run("memory", "detach", PROJECT, "M001", "C1").stdout
    assert attached(run, "Ben") == ["M002", "M003"]


def test_show_tells_what_a_memory_is_attached_to(run: Run, ingested: Path) -> None:
    """Entities, chapters and the book are named, in JSON with what attached them."""
    run("memory", "attach", PROJECT, "M001", "chapter:2", "book")
    run("memory", "detach", PROJECT, "M001", "I0")
    shown = " ".join(run("memory", "show", PROJECT, "M001").stdout.split())
    assert "attached to Ada (C0), chapter:2, chapter:1, book" in shown
    told = json.loads(run("memory", "show", PROJECT, "M001", "--json").stdout)
    assert [(each["kind"], each["target"], each["origin"]) for each in told["attachments"]] == [
        ("character", "C0", "record"),
        ("chapter", "chapter:2", "manual"),
        ("chapter", "chapter:1", "position"),
        ("book", "book", "manual"),
    ]
    assert told["chunk"]["source_id"] == "M001"


def test_a_memory_of_nobody_is_attached_to_the_book(run: Run, ingested: Path) -> None:
    """A note about nobody in particular shows the book, which no hand had to set."""
    noted = run("note", PROJECT, "The tide turns twice a day.").stdout.split()[2].rstrip(",")
    told = json.loads(run("memory", "show", PROJECT, noted, "--json").stdout)
    assert [(each["target"], each["origin"]) for each in told["attachments"]] == [("book", "default")]


def test_what_was_decided_outlives_the_next_ingest(run: Run, ingested: Path) -> None:
    """A new ingest neither takes an attachment off nor sets one again that was taken off."""
    run("memory", "attach", PROJECT, "M001", "Cornelius")
    run("memory", "detach", PROJECT, "M003", "the brass key")
    records = ingested / "records" / "chapter_002_records.json"
    records.write_text(records.read_text().replace("two loaves of bread.", "three loaves of bread."))
    assert run("ingest", PROJECT).exit_code == 0
    assert attached(run, "Cornelius") == ["M001", "M003"]
    assert attached(run, "the brass key") == ["M001"]


def test_doing_it_again_is_said(run: Run, ingested: Path) -> None:
    """A command that changed nothing says so."""
    run("memory", "attach", PROJECT, "M001", "Ben")
    assert run("memory", "attach", PROJECT, "M001", "Ben").stdout.endswith("(as before)\n")


def test_an_unknown_name_is_refused_with_the_nearest(run: Run, ingested: Path) -> None:
    """A slip of the pen is answered with who may be meant."""
    result = run("memory", "attach", PROJECT, "M001", "Corneilus")
    assert result.exit_code == 2
    assert "nearest: Cornelius (C2)" in result.stderr


def test_mentions_are_shown_first_and_attached_when_asked(run: Run, ingested: Path) -> None:
    """Without --apply nothing changes; afterwards nothing is left to attach."""
    run("memory", "detach", PROJECT, "M002", "Ada")
    run("memory", "edit", PROJECT, "M003", "--text", "Ben sold Ada's key to the harbour master.")
    shown = run("memory", "attach-mentions", PROJECT, "Ada")
    assert "1 name Ada; attach them with --apply" in shown.stdout
    assert attached(run, "Ada") == ["M001"]
    assert run("memory", "attach-mentions", PROJECT, "Ada", "--apply").stdout.endswith("attached to Ada: 1\n")
    assert attached(run, "Ada") == ["M001", "M003"]
    left = json.loads(run("memory", "attach-mentions", PROJECT, "Ada", "--json").stdout)
    assert left == {"target": "Ada", "memories": [], "is_attached": False}


def test_memories_are_listed_by_chapter_and_book(run: Run, ingested: Path) -> None:
    """Seed 003.5: `memory list --attached-to` takes entities, chapters and the book, and so does --entity."""
    run("note", PROJECT, "The tide turns twice a day.", "--attach", "chapter:2")
    run("note", PROJECT, "Gulls never sleep.")

    def listed(*options: str) -> list[str]:
        result = run("memory", "list", PROJECT, "--type", "note", "--type", "memory", "--json", *options)
        return [each["chunk"]["source_id"] for each in json.loads(result.stdout)]

    assert listed("--attached-to", "chapter:2") == ["note-N0", "M003"]
    assert listed("--entity", "book") == ["note-N1"]
    assert listed("--attached-to", "book", "--attached-to", "Cornelius") == ["note-N1", "M003"]
    wrong = run("memory", "list", PROJECT, "--attached-to", "chapter:9")
    assert (wrong.exit_code, "nearest: chapter:2" in wrong.stderr) == (2, True)
    misspelt = run("memory", "list", PROJECT, "--attached-to", "chapter 2")
    assert misspelt.exit_code == 2
    assert "a chapter is written chapter:3, the whole book: book" in misspelt.stderr


def test_a_search_takes_a_chapter_and_the_book(run: Run, ingested: Path) -> None:
    """Seed 003.6: `search --entity chapter:2` and `--entity book` find what hangs there."""
    run("note", PROJECT, "The key is cursed.", "--attach", "book")
    found = json.loads(run("search", PROJECT, "the key", "--entity", "chapter:2", "--json").stdout)
    assert "M003" in {each["source_id"] for each in found}
    assert {each["chapter_index"] for each in found} == {2}
    of_book = json.loads(run("search", PROJECT, "the key", "--entity", "book", "--type", "note", "--json").stdout)
    assert of_book[0]["attached_to"][-1] == {"type": "book", "id": "book"}


def test_an_edit_attaches_and_takes_off(run: Run, ingested: Path) -> None:
    """Seed 003.19: `memory edit --attach --detach`; the text alone decides whether ingest still brings it."""
    shown = run("memory", "edit", PROJECT, "M001", "--attach", "Ben", "--attach", "chapter:2", "--detach", "Ada")
    assert shown.stdout == "M001: Ben (C1), the brass key (I0), chapter:2, chapter:1\n"
    assert json.loads(run("memory", "show", PROJECT, "M001", "--json").stdout)["chunk"]["origin"] == "record"
    both = run("memory", "edit", PROJECT, "M001", "--importance", "9", "--attach", "book").stdout
    assert "edited M001; no ingest touches it from now on" in both
    assert both.endswith("chapter:1, book\n")
    assert run("memory", "edit", PROJECT, "M001", "--attach", "Bem").exit_code == 2


def test_a_character_is_shown_with_what_is_remembered(run: Run, ingested: Path) -> None:
    """Seed 003.8: the card ends with the weightiest memories, and says where the others are."""
    shown = " ".join(run("character", "show", PROJECT, "Ada").stdout.split())
    assert "Ben promised Ada to keep the lamp burning" in shown
    one = run("character", "show", PROJECT, "Ada", "--memories", "1").stdout
    assert f"… 1 more: novelgen memory list {PROJECT} --attached-to C0" in one
    told = json.loads(run("entity", "show", PROJECT, "Ada", "--as-of", "1:2", "--json").stdout)
    assert [each["source_id"] for each in told["memories"]] == ["M001"]
    assert told["more_memories"] == 0
    assert told["entity"]["entity_id"] == "C0"
