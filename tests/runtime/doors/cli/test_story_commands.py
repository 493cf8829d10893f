"""`novelgen character`, `location`, `relationship`, `thread`, and merging and splitting by `entity`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.runtime.doors.cli.conftest import Run
from tests.runtime.doors.cli.small_project import PROJECT


def _json(run: Run, *arguments: str) -> Any:
    result = run(*arguments, "--json")
    assert result.exit_code == 0, result.stderr
    return json.loads(result.stdout)


def _done(run: Run, *arguments: str) -> str:
    result = run(*arguments)
    assert result.exit_code == 0, result.stderr
    return " ".join(result.stdout.split())


def test_a_character_is_added_shown_and_edited(run: Run, ingested: Path) -> None:
    """The id is printed; fields go to card, profile or state, and hold from where they were said."""
    added = _done(
        run, "character", "add", PROJECT, "Ines Holt", "--role", "minor", "--trait", "patient", "--goal", "rest"
    )
    assert added.startswith("added C3 Ines Holt known after scene 2:2")
    assert "--from 1:1" in added
    _done(run, "character", "edit", PROJECT, "Ines Holt", "description=A nurse", 'inventory=["lamp"]')
    shown = _json(run, "character", "show", PROJECT, "C3")
    assert (shown["entity"]["role"], shown["entity"]["description"]) == ("minor", "A nurse")
    assert shown["entity"]["profile"]["personality"] == {"core_traits": ["patient"]}
    assert shown["state"]["state_data"] == {"goals": ["rest"], "inventory": ["lamp"]}
    assert "patient" in _done(run, "character", "show", PROJECT, "C3")


def test_lists_hold_one_type_and_are_cut(run: Run, ingested: Path) -> None:
    """Characters are no locations, and nobody is listed before the story shows them."""
    assert [each["name"] for each in _json(run, "character", "list", PROJECT)] == ["Ada", "Ben", "Cornelius"]
    assert [each["name"] for each in _json(run, "character", "list", PROJECT, "--as-of", "1:2")] == ["Ada"]
    assert [each["name"] for each in _json(run, "location", "list", PROJECT)] == ["the lighthouse"]
    assert "the lighthouse" in _done(run, "location", "list", PROJECT)


def test_a_location_holds_from_a_scene(run: Run, ingested: Path) -> None:
    """What is said with --from is not known before."""
    added = _done(run, "location", "add", PROJECT, "the cove", "--atmosphere", "lonely", "--from", "2:2")
    assert added == "added L1 the cove known after scene 2:1"
    assert "L1" in str(_json(run, "location", "list", PROJECT, "--as-of", "2:2"))
    assert "L1" not in str(_json(run, "location", "list", PROJECT, "--as-of", "2:1"))


def test_relationships_are_added_edited_and_shown_from_a_side(run: Run, ingested: Path) -> None:
    """Names work, either order works, and history tells what happened."""
    views = ("--type", "friends", "--view-a", "he never lies", "--view-b", "she is wise")
    assert _done(run, "relationship", "add", PROJECT, "Ada", "Ben", *views).startswith("added R")
    _done(run, "relationship", "edit", PROJECT, "Ben", "Ada", "--status", "strained", "--event", "he sold the key")
    (view,) = _json(run, "relationship", "list", PROJECT, "--of", "Ben", "--status", "strained")
    assert (view["character_id"], view["your_view"]) == ("C0", "she is wise")
    shown = _done(run, "relationship", "show", PROJECT, "Ben", "Ada")
    assert "Ada on Ben he never lies" in shown
    assert "he sold the key" in shown
    assert "interaction count" in shown
    told = _json(run, "relationship", "show", PROJECT, "Ada", "Ben")
    assert told["created_at"] <= told["updated_at"]
    assert told["metadata"]["interaction_count"] > 0
    assert "friends" in _done(run, "relationship", "list", PROJECT)


def test_dimensions_are_set_and_shown(run: Run, ingested: Path) -> None:
    """What both feel alike is set for both, the others stay; list, show and JSON tell them."""
    _done(run, "relationship", "add", PROJECT, "Ada", "Ben", "--type", "friends", "--dimension", "trust=40")
    pair = ("relationship", "edit", PROJECT, "Ben", "Ada")
    both = ("--mutual-dimension", "fear=-100", "--mutual-dimension", "familiarity=100")
    assert _done(run, *pair, *both).startswith("changed R")
    assert _done(run, *pair, "--mutual-dimension", "trust=40").startswith("unchanged R")
    expected = {"trust": 40, "fear": -100, "familiarity": 100}
    assert _json(run, "relationship", "show", PROJECT, "Ada", "Ben")["dimensions"] == expected
    assert "familiarity 100" in _done(run, "relationship", "show", PROJECT, "Ada", "Ben")
    assert "trust 40" in _done(run, "relationship", "list", PROJECT, "--of", "Ada")
    assert _json(run, "relationship", "list", PROJECT)[0]["dimensions"] == expected


def test_a_dimension_is_that_of_the_first_named_alone(run: Run, ingested: Path) -> None:
    """Seed 002.36: Ben's fear of Ada is not Ada's fear of Ben; what both feel alike replaces both sides."""
    _done(run, "relationship", "add", PROJECT, "Ada", "Ben", "--type", "friends", "--dimension", "trust=40")
    pair = ("relationship", "edit", PROJECT, "Ben", "Ada")
    assert _done(run, *pair, "--dimension", "fear=20", "--dimension", "trust=-10").startswith("changed R")
    assert _done(run, *pair, "--dimension", "fear=20").startswith("unchanged R")

    def felt_by(name: str) -> dict[str, int]:
        (view,) = _json(run, "relationship", "list", PROJECT, "--of", name)
        return view["dimensions"]

    assert (felt_by("Ben"), felt_by("Ada")) == ({"trust": -10, "fear": 20}, {"trust": 40})
    assert "fear of Ben" in _done(run, "relationship", "show", PROJECT, "Ada", "Ben")
    _done(run, *pair, "--mutual-dimension", "trust=5")
    assert (felt_by("Ben"), felt_by("Ada")) == ({"trust": 5, "fear": 20}, {"trust": 5})


def test_every_field_of_a_relationship_can_be_edited(run: Run, ingested: Path) -> None:
    """Seed 000.23: type and views change after creation, from the side of whoever is named first; the rest stays."""
    views = ("--view-a", "he never lies", "--view-b", "she is wise", "--status", "close", "--intensity", "8")
    _done(run, "relationship", "add", PROJECT, "Ada", "Ben", "--type", "friends", *views)
    pair = ("relationship", "edit", PROJECT, "Ben", "Ada")
    assert _done(run, *pair, "--type", "debtor and creditor", "--view-a", "she haunts me").startswith("changed")
    assert _done(run, *pair, "--type", "debtor and creditor", "--view-a", "she haunts me").startswith("unch")
    shown = _json(run, "relationship", "show", PROJECT, "Ada", "Ben")
    assert shown["relationship_type"] == "creditor and debtor"
    assert (shown["perspective_a"], shown["perspective_b"]) == ("he never lies", "she haunts me")
    assert (shown["status"], shown["intensity"]) == ("close", 8)
    result = run(*pair, "--view-b", " ")
    assert (result.exit_code, "perspective_b cannot become ' '" in result.stderr) == (2, True)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("trust=101", "trust='101' is no whole number from -100 to 100"),
        ("familiarity=-1", "familiarity='-1' is no whole number from 0 to 100"),
        ("trust=much", "trust='much' is no whole number"),
        ("trust", "trust='' is no whole number"),
        ("love=4", "'love' is no dimension; write one of trust, respect, affection, fear, familiarity"),
    ],
)
def test_a_dimension_out_of_bounds_is_refused(run: Run, ingested: Path, given: str, message: str) -> None:
    """The name, the value and the range stand in the message, and nothing is stored."""
    result = run("relationship", "add", PROJECT, "Ada", "Ben", "--type", "friends", "--dimension", given)
    assert result.exit_code == 2
    assert message in result.stderr
    assert _json(run, "relationship", "list", PROJECT) == []


def test_threads_are_planted_moved_and_ended(run: Run, ingested: Path) -> None:
    """Due ones come first by weight and age; an ended one waits no more."""
    added = _done(
        run,
        "thread",
        "add",
        PROJECT,
        "Who lit the lamp?",
        "--importance",
        "critical",
        "--character",
        "Ada",
        "--from",
        "1:2",
    )
    thread_id = added.removeprefix("added ")
    assert _json(run, "thread", "list", PROJECT, "--due", "1")[0]["loop_id"] == thread_id
    assert _done(run, "thread", "edit", PROJECT, thread_id, "--advance", "a second light") == f"{thread_id} is advanced"
    assert "Who lit the lamp?" in _done(run, "thread", "list", PROJECT)
    assert _done(run, "thread", "edit", PROJECT, thread_id, "--resolve", "Ada did") == f"{thread_id} is resolved"
    shown = _json(run, "thread", "show", PROJECT, thread_id)
    assert (shown["status"], shown["resolution_summary"]) == ("resolved", "Ada did")
    assert thread_id not in str(_json(run, "thread", "list", PROJECT))
    assert thread_id in str(_json(run, "thread", "list", PROJECT, "--status", "resolved"))
    assert _done(run, "thread", "reopen", PROJECT, thread_id) == f"{thread_id} is advanced"
    assert run("thread", "reopen", PROJECT, thread_id).exit_code == 2


def test_the_ledger_of_threads_is_shown_in_three_views(run: Run, ingested: Path) -> None:
    """A table of what waits, a board and a report; an author's deadline makes a thread due and overdue."""
    options = ("--importance", "critical", "--character", "Ada", "--from", "1:2")
    thread_id = _done(run, "thread", "add", PROJECT, "Who lit the lamp?", *options).removeprefix("added ")
    edit = ("thread", "edit", PROJECT, thread_id)
    _done(run, *edit, "--pay-off", "the keeper speaks", "--due-from", "1:1", "--due-by", "1:2")
    assert [(each["loop_id"], each["stage"]) for each in _json(run, "threads", PROJECT, "--due")["entries"]] == [
        (thread_id, "overdue")
    ]
    assert _json(run, "threads", PROJECT, "--as-of", "1:1")["entries"] == []
    assert "overdue" in _done(run, "threads", PROJECT)
    assert "Overdue (1)" in _done(run, "threads", PROJECT, "--board")
    assert "needs: the keeper speaks" in _done(run, "threads", PROJECT, "--board")
    assert f"- {thread_id} Who lit the lamp?" in _done(run, "threads", PROJECT, "--report")
    _done(run, *edit, "--parts", "2", "--category", "mystery")
    _done(run, *edit, "--advance", "a witness", "--pays-part")
    assert "(mystery; 1 of 2 paid" in _done(run, "threads", PROJECT, "--board", "--category", "谜")
    assert _json(run, "threads", PROJECT, "--category", "promise")["entries"] == []
    _done(run, *edit, "--resolve", "nobody did", "--ending", "broken")
    assert "1 broken" in _done(run, "threads", PROJECT, "--report")


def test_the_former_name_of_threads_works(run: Run, ingested: Path) -> None:
    """`novelgen loop` is not shown any more and does the same."""
    loop_id = _done(run, "loop", "add", PROJECT, "Who lit the lamp?").removeprefix("added ")
    assert _json(run, "loop", "list", PROJECT) == _json(run, "thread", "list", PROJECT)
    assert _done(run, "loop", "edit", PROJECT, loop_id, "--abandon", "dropped") == f"{loop_id} is abandoned"
    assert "  loop " not in run("--help").stdout


def test_fields_of_a_card_make_no_facts(run: Run, ingested: Path) -> None:
    """Where the story first shows somebody can be corrected, and the state says nothing of it."""
    _done(run, "character", "add", PROJECT, "Ines Holt")
    told = _done(run, "character", "edit", PROJECT, "Ines Holt", "first_chapter=1", "alias=Nes", "translation=伊内斯")
    assert told == "changed C3: first_chapter, alias, translation"
    shown = _json(run, "character", "show", PROJECT, "Nes", "--as-of", "2")
    assert (shown["entity"]["first_chapter"], shown["state"]) == (1, None)
    text = run("chunk-context", PROJECT, "--text", "-", answer="Ines Holt is back.").stdout
    assert "Ines Holt → 伊内斯" in text


def test_aliases_add_up_and_another_field_is_said_once(run: Run, ingested: Path) -> None:
    """`alias=` may be repeated, each time one more name; a second value of anything else is a slip."""
    _done(run, "character", "add", PROJECT, "Ines Holt")
    _done(run, "character", "edit", PROJECT, "Ines Holt", "alias=Nes", "alias=Widow Holt")
    assert [each["alias"] for each in _json(run, "character", "show", PROJECT, "Nes")["entity"]["aliases"]] == [
        "Nes",
        "Widow Holt",
    ]
    refused = run("character", "edit", PROJECT, "Nes", "role=minor", "role=major")
    assert refused.exit_code == 2
    assert "'role' is given twice: 'minor' and 'major'" in refused.stderr


def test_items_are_edited_and_attributes_said(run: Run, ingested: Path) -> None:
    """A thing has a card and a state; an attribute of any name is said as one."""
    told = _done(run, "entity", "edit", PROJECT, "the brass key", "appearance=bent", "--state", "shine=dull")
    assert told == "changed I0: appearance, shine shine from after scene 2:2 on"
    shown = _json(run, "entity", "show", PROJECT, "I0")
    assert shown["entity"]["profile"]["appearance"] == "bent"
    assert shown["state"]["state_data"]["shine"] == "dull"


def test_on_a_terminal_one_is_asked_from_where_on_somebody_is_known(
    run: Run, ingested: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The answer counts as --from, an empty one is the last scene."""
    monkeypatch.setattr("runtime.doors.cli.commands.entity.can_ask", lambda: True)
    told = run("character", "add", PROJECT, "Ines Holt", answer="1:1\n")
    assert "known from the start" in told.stdout
    told = run("character", "add", PROJECT, "Otto Holt", answer="\n")
    assert "known after scene 2:2" in told.stdout


def test_a_merge_is_not_done_unasked(run: Run, ingested: Path) -> None:
    """Without a terminal to ask at, --yes is wanted, and both stay."""
    result = run("entity", "merge", PROJECT, "Ben", "Cornelius")
    assert result.exit_code == 2
    assert "make C2 (Cornelius) part of C1 (Ben)" in result.stderr
    assert "--yes" in result.stderr
    assert "C2" in str(_json(run, "entity", "list", PROJECT))


@pytest.mark.parametrize(
    "command",
    [
        ("character", "add", PROJECT, "Ines Holt"),
        ("location", "add", PROJECT, "the cove"),
        ("character", "edit", PROJECT, "Ada", "role=minor"),
        ("relationship", "add", PROJECT, "Ada", "Ben", "--type", "friends"),
        ("thread", "add", PROJECT, "Who lit the lamp?"),
        ("entity", "split", PROJECT, "C2", "--name", "the harbour master"),
    ],
)
def test_what_writes_tells_programs_what_it_did(run: Run, ingested: Path, command: tuple[str, ...]) -> None:
    """--json prints one JSON object and nothing else."""
    assert isinstance(_json(run, *command), dict)


def test_entities_are_merged_and_split_and_it_is_undone(run: Run, ingested: Path, index_kept_open: None) -> None:
    """The command says how to undo it; the journal keeps both."""
    before = _json(run, "entity", "list", PROJECT)
    assert "undo: novelgen entity undo lighthouse 1" in _done(
        run, "entity", "merge", PROJECT, "Ben", "Cornelius", "--yes"
    )
    assert "C2" not in str(_json(run, "entity", "list", PROJECT))
    assert _done(run, "entity", "undo", PROJECT, "1") == "undone: merge of C1 and C2"
    assert _json(run, "entity", "list", PROJECT) == before
    split = _done(run, "entity", "split", PROJECT, "C2", "--name", "the harbour master")
    assert split.startswith("C3 (the harbour master) came out of C2 (Cornelius)")
    assert [each["kind"] for each in _json(run, "entity", "changes", PROJECT)] == ["merge", "split"]
    assert "split" in _done(run, "entity", "changes", PROJECT)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("character", "add", PROJECT, "Ada"), "C0 bears the name 'Ada' already"),
        (("character", "edit", PROJECT, "Ada", "role"), "'role' is no change; write FIELD=VALUE"),
        (("character", "show", PROJECT, "the lighthouse"), "no character 'the lighthouse' is known"),
        (
            ("character", "edit", PROJECT, "Ada", "rule=minor"),
            "'rule' is no field of a character; did you mean 'role'?",
        ),
        (("location", "edit", PROJECT, "L0", "tension_level=12"), "tension_level cannot be 12"),
        (("relationship", "edit", PROJECT, "Ada", "Ben"), "nothing to update"),
        (("relationship", "show", PROJECT, "Ada", "Cornelius"), "nothing is known of C0 and C2 together"),
        (("thread", "edit", PROJECT, "OL77", "--resolve", "x"), "no thread 'OL77' is open"),
        (("thread", "edit", PROJECT, "OL0"), "give one of --advance, --resolve and --abandon"),
        (("thread", "edit", PROJECT, "OL0", "--ending", "moot"), "give --resolve or --abandon, too"),
        (("threads", PROJECT, "--due", "--board"), "give one of them"),
        (("thread", "edit", PROJECT, "OL0", "--notes", "n", "--pays-part"), "give --advance, too"),
        (("threads", PROJECT, "--on-stage", "Nobody"), "Nobody"),
        (("thread", "show", PROJECT, "OL77"), "no thread 'OL77' is planted"),
        (("entity", "undo", PROJECT, "9"), "no change 9 is kept"),
        (("entity", "split", PROJECT, "Ada", "--name", "x", "--scene", "3"), "--scene needs chapter and scene"),
    ],
)
def test_wrong_input_is_one_line(run: Run, ingested: Path, arguments: tuple[str, ...], message: str) -> None:
    """Exit code 2, and the line says what to correct."""
    result = run(*arguments)
    assert result.exit_code == 2
    assert message in result.stderr
    assert result.stderr.count("error:") == 1


def test_a_card_tells_its_counts_and_moments(run: Run, ingested: Path) -> None:
    """Seed 000.5: `character show` tells how often and where last, as of the position that is asked for."""
    whole = _json(run, "character", "show", PROJECT, "Ben")
    assert (whole["metadata"]["scene_count"], whole["metadata"]["last_appeared"]) == (2, "S004")
    assert whole["created_at"] <= whole["updated_at"]
    early = _json(run, "character", "show", PROJECT, "Ada", "--as-of", "1:2")
    assert early["metadata"]["last_appeared"] == "S001"
    assert "last_appeared S004" in _done(run, "character", "show", PROJECT, "Ben")


def test_a_nested_state_is_edited(run: Run, ingested: Path) -> None:
    """Seed 000.19: current_state={…} changes the state, not a field of that name."""
    nested = 'current_state={"location_id": "L0", "goals": ["rest"]}'
    told = _done(run, "character", "edit", PROJECT, "Ada", nested)
    assert told.startswith("changed C0: location_id, goals location_id, goals from after scene")
    state = _json(run, "character", "show", PROJECT, "Ada")["state"]["state_data"]
    assert (state["location_id"], state["goals"]) == ("L0", ["rest"])
    assert "current_state" not in state


def test_a_character_is_deleted_and_comes_back(run: Run, ingested: Path) -> None:
    """Seed 000.18: it asks first, tells who stays without the link, and says how to undo it."""
    before = _json(run, "character", "show", PROJECT, "Ben")
    assert run("character", "delete", PROJECT, "Ben", answer="n\n").exit_code != 0
    told = _done(run, "character", "delete", PROJECT, "Ben", "--yes")
    assert told.startswith("deleted C1 (Ben)")
    assert f"undo: novelgen entity undo {PROJECT} 1" in told
    assert run("character", "show", PROJECT, "Ben").exit_code == 2
    assert "delete" in _done(run, "entity", "changes", PROJECT)
    assert "undone: delete of C1" in _done(run, "entity", "undo", PROJECT, "1")
    assert _json(run, "character", "show", PROJECT, "Ben") == before


def test_relationships_and_threads_are_deleted(run: Run, ingested: Path) -> None:
    """Seed 000.18: a pair by its names, a thread by its id, each with its history and back again."""
    _done(run, "relationship", "add", PROJECT, "Ada", "Ben", "--type", "friends")
    assert _done(run, "relationship", "delete", PROJECT, "Ben", "Ada", "--yes").startswith("deleted R")
    added = _json(run, "thread", "add", PROJECT, "Who lit the lamp?", "--notes", "Ben did")
    assert added["notes"] == "Ben did"
    done = _json(run, "thread", "delete", PROJECT, added["loop_id"], "--yes")
    assert (done["deleted"], done["name"]) == (added["loop_id"], "Who lit the lamp?")
    assert run("thread", "show", PROJECT, added["loop_id"]).exit_code == 2
    _done(run, "entity", "undo", PROJECT, str(done["change"]["change_id"]))
    assert _json(run, "thread", "show", PROJECT, added["loop_id"]) == added


def test_a_thread_is_noted_and_described(run: Run, ingested: Path) -> None:
    """Seed 000.10: `thread edit` sets notes and description beside a move or alone, `thread list` tells them."""
    thread = _json(run, "thread", "add", PROJECT, "Who lit the lamp?")["loop_id"]
    edited = _json(run, "thread", "edit", PROJECT, thread, "--notes", "Ben did", "--advance", "a second light")
    assert (edited["notes"], edited["status"]) == ("Ben did", "advanced")
    (listed,) = [each for each in _json(run, "thread", "list", PROJECT) if each["loop_id"] == thread]
    assert listed["notes"] == "Ben did"
    assert listed["created_at"] is not None
    assert run("thread", "edit", PROJECT, thread).exit_code == 2
    assert run("thread", "edit", PROJECT, thread, "--resolve", "a", "--abandon", "b").exit_code == 2
