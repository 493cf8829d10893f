"""Commands made of the table: what people read, what is asked first, what is refused, what a terminal gets.

That their answers as JSON are those of the other doors is tested in `tests/runtime/doors/test_all_doors.py`.
"""

import json
from pathlib import Path

import pytest

from runtime.doors.cli.main import command_at
from runtime.doors.cli.operation_commands import GROUPS, OPERATION_COMMANDS
from runtime.doors.operations import BY_NAME
from tests.runtime.doors.cli.conftest import Run
from tests.runtime.doors.cli.small_project import CHAPTERS, PROJECT


def test_every_offer_is_of_an_operation_and_has_a_path_of_its_own() -> None:
    """What the CLI says of an operation that is gone, or says twice, would be lost in silence."""
    assert set(OPERATION_COMMANDS) <= BY_NAME.keys()
    paths = [each.command for each in OPERATION_COMMANDS.values()]
    assert len(paths) == len(set(paths))
    assert all(command_at(each) is not None for each in (*paths, *GROUPS))


@pytest.mark.slow
def test_threads_are_planted_moved_ended_and_taken_back(run: Run, ingested: Path) -> None:
    """Each command says where the thread stands."""
    thread = run.done("thread", "add", PROJECT, "Who lit the lamp?", "--importance", "high", "--character", "Ada")
    thread, undo = thread.removeprefix("added ").split(" ", 1)
    assert undo == f"undo: novelgen undo {PROJECT} 5"
    assert run.done("thread", "advance", PROJECT, thread, "a light", "--pays-part").startswith(f"{thread} is advanced")
    assert "advanced high" in run.done("thread", "list", PROJECT)
    resolved = run.done("thread", "resolve", PROJECT, thread, "Ada did", "--ending", "broken")
    assert resolved.startswith(f"{thread} is resolved")
    assert "Ada did" in run.done("thread", "show", PROJECT, thread)
    assert run.json("thread", "list", PROJECT)["threads"] == []
    assert run.done("thread", "reopen", PROJECT, thread).startswith(f"{thread} is advanced")
    assert run.done("thread", "abandon", PROJECT, thread, "dropped").startswith(f"{thread} is abandoned")
    assert "  loop " not in run("--help").stdout


def test_a_list_of_nothing_says_what_is_empty_and_what_fills_it(run: Run) -> None:
    """Nobody has to guess whether a list is empty, or what was asked was meant."""
    run("init", "bare")
    assert "novelgen card add bare NAME" in run.done("card", "list", "bare")
    for group in ("scene", "memory", "thread", "relationship", "conflicts", "lore"):
        assert run.done(group, "list", "bare").startswith("no ")
    assert "novelgen thread add bare" in run.done("threads", "bare")


@pytest.mark.slow
def test_a_note_says_from_where_on_and_by_whom_it_is_read(run: Run, ingested: Path) -> None:
    """On stderr whom it does not name; lists of one type have a role in place of the type."""
    for option in ("--known-by", "--hidden-from"):
        run.refused("note", PROJECT, "The well is dry.", option, "Sister Ursel", told="novelgen card add")
    assert "--known-by" not in run("note", PROJECT, "The well is dry.", "--known-by", "Ada").stderr
    assert "--known-by" in run("note", PROJECT, "The well is dry.").stderr
    assert "read from 2:1 on" in run.done("note", PROJECT, "The lamp is out.", "--from", "2:1")
    nobody = run("note", PROJECT, "Nobody here can swim.")
    assert "read everywhere" in nobody.stdout
    assert "it concerns nobody that the story knows" in nobody.stderr
    assert "it concerns nobody" not in run("note", PROJECT, "Ada cannot swim.").stderr
    names = [each["name"] for each in run.json("card", "list", PROJECT, "--kind", "character")["entities"]]
    assert names == ["Ada", "Ben", "Cornelius"]
    assert "role" in run("card", "list", PROJECT, "--kind", "character").stdout.splitlines()[0]
    assert "type" in run("card", "list", PROJECT).stdout.splitlines()[0]
    early = run.done("card", "list", PROJECT, "--as-of", "1:1")
    assert early.startswith("no such cards")


def test_the_ledger_of_threads_has_three_views(run: Run, ingested: Path) -> None:
    """A table of what waits, a board and a report; an author's deadline makes a thread overdue."""
    thread = run.json("thread", "add", PROJECT, "Who lit the lamp?", "--category", "mystery")["loop_id"]
    assert thread in run.done("threads", PROJECT)
    run.done("thread", "edit", PROJECT, thread, "--due-by", "2:1", "--parts", "2")
    assert "overdue" in run.done("threads", PROJECT, "--due")
    assert f"- {thread} Who lit the lamp? (mystery" in run.done("threads", PROJECT, "--board", "--category", "谜")
    assert f"- {thread} Who lit the lamp?" in run.done("threads", PROJECT, "--report")
    assert run.json("threads", PROJECT, "--category", "promise")["entries"] == []


@pytest.mark.slow
def test_somebody_is_added_edited_shown_deleted_and_comes_back(run: Run, ingested: Path) -> None:
    """Fields go to card, profile or state; a deletion tells what became of the rest and how to undo it."""
    added = run.done("card", "add", PROJECT, "Ines Holt", "personality=patient", "--role", "minor")
    assert added.startswith("added C3 Ines Holt known after scene 2:2")
    assert "the last one stored; --from 1:1" in added
    told = run.done("card", "edit", PROJECT, "Ines Holt", "description=A nurse", "alias=Nes", "alias=Holt")
    assert told == f"changed C3: description, alias undo: novelgen undo {PROJECT} 6"
    said = ("appearance=bent", "--state", 'shine=["dull"]', "--from", "2:2")
    assert "shine: from 2:2 on" in run.done("card", "edit", PROJECT, "the brass key", *said)
    shown = run.json("card", "show", PROJECT, "Nes")
    assert (shown["entity"]["role"], shown["entity"]["description"]) == ("minor", "A nurse")
    assert [each["alias"] for each in shown["entity"]["aliases"]] == ["Nes", "Holt"]
    assert "patient" in run.done("card", "show", PROJECT, "C3")
    assert "Ada hid the brass key" in run.done("card", "show", PROJECT, "Ada")
    assert "Ada hid" not in run.done("card", "show", PROJECT, "Ada", "--memories", "0")
    assert "known from 2:2 on" in run.done("card", "add", PROJECT, "the cove", "--from", "2:2")
    before = run.json("card", "show", PROJECT, "Ben")
    told = run.done("card", "delete", PROJECT, "Ben", "--yes")
    assert told.startswith("deleted C1 (Ben)")
    assert "memories that stay without the link" in told
    assert told.endswith(f"undo: novelgen undo {PROJECT} 9")
    assert run.done("entity", "changes", PROJECT).endswith("9 delete Ben")
    assert run.done("undo", PROJECT, "9") == "undone: delete of Ben"
    assert run.json("card", "show", PROJECT, "Ben") == before
    run.done("card", "edit", PROJECT, "Ben", "mood=calm")
    assert "Ben after 2:2 " in run.done("card", "show", PROJECT, "Ben", "--memories", "0")


def test_the_place_of_a_card_is_the_same_everywhere(run: Run, ingested: Path) -> None:
    """The scene whose text names it first is not called the last one, and the list of cards says it, too."""
    added = run.done("card", "add", PROJECT, "the third stair", "--kind", "location")
    assert "known after scene 1:1, whose text names it first; --from 1:1" in added
    [row] = [line for line in run("card", "list", PROJECT).stdout.splitlines() if "third stair" in line]
    assert "1:1" in row


def test_on_a_terminal_one_is_asked_from_where_on_somebody_is_known(
    run: Run, ingested: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The answer counts as --from, an empty one is the last scene."""
    monkeypatch.setattr("runtime.doors.cli.command_parts.entities.can_ask", lambda: True)
    assert "known from the start" in run("card", "add", PROJECT, "Ines Holt", answer="1:1\n").stdout
    assert "known after scene 2:2" in run("card", "add", PROJECT, "Otto Holt", answer="\n").stdout


def test_entities_are_merged_and_split(run: Run, ingested: Path, index_kept_open: None) -> None:
    """The command says how to undo it; the journal keeps both."""
    merged = run.done("entity", "merge", PROJECT, "Ben", "Cornelius", "--yes")
    assert merged == "C2 (Cornelius) is now part of C1 (Ben) undo: novelgen undo lighthouse 5"
    assert run.done("undo", PROJECT) == "undone: merge of Ben, Cornelius"
    split = run.done("entity", "split", PROJECT, "C2", "--name", "the harbour master")
    assert split.startswith("C3 (the harbour master) came out of C2 (Cornelius)")
    assert [each["kind"] for each in run.json("entity", "changes", PROJECT)["changes"]] == ["merge", "split"]


@pytest.mark.slow
def test_relationships_are_told_from_a_side(run: Run, ingested: Path) -> None:
    """Names work, either order works, history tells what happened; feelings are one side's or both's."""
    views = ("--type", "friends", "--view-a", "he never lies", "--view-b", "she is wise", "--dimension", "trust=40")
    assert run.done("relationship", "add", PROJECT, "Ada", "Ben", *views).startswith("added R")
    pair = ("relationship", "edit", PROJECT, "Ben", "Ada")
    assert run.done(*pair, "--status", "strained", "--event", "he sold the key").startswith("changed R")
    assert run.done(*pair, "--dimension", "fear=20", "--mutual-dimension", "trust=5").startswith("changed R")
    assert run.done(*pair, "--dimension", "fear=20").startswith("unchanged R")
    side = run.done("relationship", "list", PROJECT, "--of", "Ben", "--status", "strained")
    assert "Ben Ada friends strained" in side
    assert "trust 5, fear 20" in side
    assert "she is wise" in side
    shown = run.done("relationship", "show", PROJECT, "Ben", "Ada")
    for told in ("Ada on Ben he never lies", "Ben's fear 20", "he sold the key", "interaction count"):
        assert told in shown
    assert run.done("relationship", "together", PROJECT, "Ada", "Ben").startswith("Ada and Ben: scenes together 1")
    assert run.done("relationship", "delete", PROJECT, "Ben", "Ada", "--yes").startswith("deleted R")


@pytest.mark.slow
def test_decisions_on_memories_are_told_listed_and_taken_back(run: Run, ingested: Path, index_kept_open: None) -> None:
    """What an author decides survives the next ingest, and every line says what holds afterwards."""
    assert run.done("memory", "pin", PROJECT, "M001") == f"M001: active, pinned undo: novelgen undo {PROJECT} 5"
    edited = run.done("memory", "edit", PROJECT, "M001", "--text", "The key is brass.", "--importance", "8")
    assert edited.startswith("edited M001; no ingest touches it from now on")
    assert "Ben (C1)" in run.done("memory", "edit", PROJECT, "M001", "--attach", "Ben", "--detach", "Ada")
    run.well("ingest", PROJECT)
    shown = run.done("memory", "show", PROJECT, "M001")
    assert "The key is brass." in shown
    assert "active, pinned" in shown
    assert "M001: deleted" in run.done("memory", "delete", PROJECT, "M001", "--yes")
    assert "The key is brass." not in run.done("memory", "list", PROJECT)
    listed = run.done("memory", "changes", PROJECT)
    assert "delete" in listed
    assert run.done("undo", PROJECT).startswith("undone: delete of ")
    assert "The key is brass." in run.done("memory", "list", PROJECT, "--attached-to", "Ben")
    assert "more; raise --limit" in run.done("memory", "list", PROJECT, "--limit", "1")


@pytest.mark.slow
def test_memories_are_attached_and_taken_off(run: Run, ingested: Path) -> None:
    """Each command says what the memory hangs on now, and whether that changed; mentions are shown first."""
    run.done("memory", "attach", PROJECT, "M001", "Ben")
    attached = run.done("memory", "attach", PROJECT, "M002", "Cornelius", "chapter:2")
    assert attached.startswith("M002: Ada (C0), Ben (C1), Cornelius (C2), chapter 2, chapter 1 undo: ")
    assert run.done("memory", "attach", PROJECT, "M001", "Ben").endswith("(as before)")
    assert "Cornelius" not in run.done("memory", "detach", PROJECT, "M002", "Cornelius")
    mentions = ("memory", "attach-mentions", PROJECT, "the lighthouse")
    assert run.done(*mentions).endswith("attach them with --apply")
    assert "attached to the lighthouse: " in run.done(*mentions, "--apply")
    assert run.done(*mentions) == "nothing"


@pytest.mark.slow
def test_one_position_has_one_spelling(run: Run, ingested: Path) -> None:
    """A note from 2:1 on is told so in lists, on cards and in the context, never as 2:0; a chapter is named."""
    run.done("note", PROJECT, "Ada's lamp is out.", "--from", "2:1", "--known-by", "Ada")
    run.done("note", PROJECT, "Ada cannot swim.")
    assert "it belongs to chapter 2" in run.done("note", PROJECT, "Ada tells it.", "--attached-to", "chapter:2")
    assert "chapter 2" in run.done("memory", "show", PROJECT, "note-N2")
    told = [
        run.done(*asked)
        for asked in (
            ("memory", "list", PROJECT),
            ("knows", PROJECT, "Ada"),
            ("context", PROJECT, "--purpose", "Ada lights it.", "--with", "Ada"),
        )
    ]
    assert not [each for each in told if "2:0" in each]
    assert all("always" in each and "2:1" in each for each in told)
    for _ in range(2):
        run.done("undo", PROJECT)
    assert run.done("undo", PROJECT) == "undone: add of 2:1 Ada's lamp is out."


def test_who_knows_what_is_told_and_said(run: Run, ingested: Path) -> None:
    """Known and unknown stand apart, with names in place of ids; the author's word is told back and taken back."""
    known = run.done("knows", PROJECT, "Ada")
    assert known.index("Knows (") < known.index("M001") < known.index("Does not know (") < known.index("M003")
    knowers = run.done("memory", "knowers", PROJECT, "M003")
    assert (
        knowers.index("Known to (")
        < knowers.index("Cornelius")
        < knowers.index("Not known to (")
        < knowers.index("Ada")
    )
    word = ("memory", "knowledge", PROJECT, "M001", "Ben", "knows", "--how", "told", "--learned-from", "Ada")
    said = run.done(*word, "--from", "2:2")
    assert said.startswith("Ben knows M001, on entering 2:2 undo: novelgen undo ")
    tale = run.done("memory", "knowledge", PROJECT, "*", "Ada", "--learned-from", "Ben", "--from", "2:2")
    assert tale.startswith("Ada knows everything that Ben has lived through, on entering 2:2")
    of_reader = run.done("memory", "knowledge", PROJECT, "M001", "reader", "hidden")
    assert of_reader.startswith("reader does not know M001, from its own scene on, 1:1")
    assert run.done("undo", PROJECT).startswith("undone: who knows of reader: 1:1 ")
    assert run.done("undo", PROJECT) == "undone: who knows of Ada"
    assert (
        run.done("memory", "forget-knowledge", PROJECT, "M001", "Ben")
        == f"taken back: 1 undo: novelgen undo {PROJECT} 8"
    )


@pytest.mark.slow
def test_scenes_are_shown_moved_inserted_and_deleted(run: Run, ingested: Path, tmp_path: Path) -> None:
    """What moves is counted, and stderr reminds of the author's files."""
    assert "1:2 done A promise 17 Ada, Ben" in run.done("scene", "list", PROJECT)
    assert CHAPTERS[1][0] in run.done("scene", "show", PROJECT, "1:1")
    moved = run("scene", "move", PROJECT, "1:1", "2:1")
    assert moved.stdout.startswith("1:1 is now 2:1; ")
    assert "renumber them before the next ingest" in moved.stderr
    file = tmp_path / "new.md"
    file.write_text("Ada painted the door of the lighthouse green.\n", encoding="utf-8")
    told = run.done("scene", "insert", PROJECT, "1:1", "--file", str(file), "--title", "Green")
    assert told == f"new scene at 1:1; 1 scene moved undo: novelgen undo {PROJECT} 6"
    assert run.done("scene", "insert", PROJECT, "2") == f"room at 2; 3 scenes moved undo: novelgen undo {PROJECT} 7"
    deleted = run("scene", "delete", PROJECT, "1:1", "--yes")
    assert deleted.stdout.startswith("deleted scene 1:1 with ")
    assert "the next ingest brings it back" in deleted.stderr
    assert "undone: delete of 1:1 Green" in run.done("undo", PROJECT)
    assert "Green" in run.done("scene", "list", PROJECT)


@pytest.mark.slow
def test_a_deleted_scene_that_no_file_holds_reminds_of_none(run: Run, ingested: Path, tmp_path: Path) -> None:
    """A pasted one goes for good: neither a later chapter nor a further scene of a chapter with a file."""
    file = tmp_path / "new.md"
    file.write_text("Ada painted the door of the lighthouse green.\n", encoding="utf-8")
    for place in ("3:1", "2:3"):
        run.done("scene", "insert", PROJECT, place, "--file", str(file))
        assert "chapters/" not in run("scene", "delete", PROJECT, place, "--yes").stderr


@pytest.mark.slow
def test_searches_and_times_are_told(run: Run, ingested: Path, index_kept_open: None) -> None:
    """The best first, with id, scene and weight; days, order and cast of the scenes; how entities stood."""
    found = run("search", PROJECT, "two loaves of bread", "--entity", "Ben", "--type", "memory").stdout
    assert found.splitlines()[0].split() == ["id", "scene", "type", "weight", "text"]
    assert "M003" in found
    assert run.done("search", PROJECT, "xyzzy", "--type", "note").startswith("nothing found")
    times = run.done("timeline", PROJECT, "--lived")
    assert "lived who and where" in times
    assert "Ada, Ben @ the lighthouse" in times
    assert "Ben" in run.done("entity", "timeline", PROJECT, "2", "--chapters-around", "1")
    assert "Ben promised Ada" in run.done("entity", "memories", PROJECT, "Ada", "--limit", "1")


@pytest.mark.slow
def test_conflicts_are_shown_waived_and_settled(run: Run, ingested: Path, tmp_path: Path) -> None:
    """The list names the slot, both places and both values; a waived one stands there on request."""
    assert run.done("conflicts", "list", PROJECT) == "no contradictions in what is stored"
    for place, identity in (("1:2", "a lamplighter"), ("2:2", "a smuggler")):
        record = json.loads(run("record", "show", PROJECT, place).stdout)
        record["state_changes"].append({"entity_id": "C1", "changes": {"identity": identity}})
        file = tmp_path / "record.json"
        file.write_text(json.dumps(record), encoding="utf-8")
        assert "has your record" in run.done("record", "edit", PROJECT, place, "--file", str(file))
    shown = run.done("conflicts", "list", PROJECT)
    assert "Ben · identity slot value 1:2 identity:" in shown
    [conflict] = run.json("conflicts", "list", PROJECT)["conflicts"]
    conflict_id = conflict["conflict"]["conflict_id"]
    assert run.done("conflicts", "waive", PROJECT, conflict_id, "--note", "he lies").startswith("waived: C1.identity:")
    assert run.done("conflicts", "list", PROJECT) == "no contradictions in what is stored"
    assert "he lies" in run.done("conflicts", "list", PROJECT, "--with-waived")
    settled = run.done("conflicts", "resolve", PROJECT, conflict_id, "--keep", "first")
    assert "C1.identity is now 'identity: a lamplighter' in both scenes" in settled


@pytest.mark.parametrize(
    ("command", "question"),
    [
        (("entity", "merge", PROJECT, "Ben", "Cornelius"), "make C2 (Cornelius) part of C1 (Ben)"),
        (("scene", "delete", PROJECT, "1:1"), "delete scene 1:1 of 'lighthouse' with all that came from it"),
        (("memory", "delete", PROJECT, "M001"), "delete memory M001 of 'lighthouse'"),
        (("card", "delete", PROJECT, "Ben"), "delete C1 (Ben) with its states and relationships"),
        (("memory", "unconsolidate", PROJECT), "take back what was consolidated: all"),
    ],
)
def test_nothing_is_taken_away_unasked(
    run: Run, ingested: Path, monkeypatch: pytest.MonkeyPatch, command: tuple[str, ...], question: str
) -> None:
    """Without a terminal `--yes` must say it; on one the question is asked, and no is no."""
    refused = run(*command)
    assert (refused.exit_code, refused.stdout) == (2, "")
    assert f"about to {question}" in refused.stderr
    assert "--yes" in refused.stderr
    monkeypatch.setattr("runtime.doors.cli.parameters.can_ask", lambda: True)
    left = run(*command, answer="n\n")
    assert left.exit_code == 1
    assert "nothing was changed" in left.stderr


def test_wrong_input_is_one_line(run: Run, ingested: Path) -> None:
    """Exit code 2, and the line says what to correct."""
    cases = [
        (("card", "add", PROJECT, "Ada"), "C0 bears the name 'Ada' already"),
        (("card", "edit", PROJECT, "Ada", "role"), "'role' is no change; write FIELD=VALUE"),
        (("card", "edit", PROJECT, "Ada", "role=a", "role=b"), "'role' is given twice: 'a' and 'b'"),
        (("card", "edit", PROJECT, "L0", "tension_level=12"), "tension_level cannot be 12"),
        (("relationship", "show", PROJECT, "Ada", "Cornelius"), "nothing is known of C0 and C2 together"),
        (("relationship", "add", PROJECT, "Ada", "Ben"), "Missing option '--type'"),
        (
            ("relationship", "add", PROJECT, "Ada", "Ben", "--type", "x", "--dimension", "trust=101"),
            "trust='101' is no whole number from -100 to 100",
        ),
        (("thread", "resolve", PROJECT, "OL77", "x"), "no thread 'OL77' is open"),
        (("thread", "edit", PROJECT, "OL0"), "nothing to change"),
        (("threads", PROJECT, "--due", "--board"), "give one of them"),
        (("undo", PROJECT, "99"), "no change 99 is kept"),
        (("card", "show", PROJECT, "Adda"), "near it: Ada"),
        (("card", "show", PROJECT, "x" * 401), "entity"),
        (("memory", "list", PROJECT, "--type", "lies"), "'lies' is not one of 'scene'"),
        (("memory", "edit", PROJECT, "M001", "--importance", "11"), "11 is not in the range"),
        (("memory", "show", PROJECT, "M999"), "M999"),
        (("memory", "knowledge", PROJECT, "M001", "Ada", "guesses"), "'guesses' is not one of"),
        (("scene", "delete", PROJECT, "9:9"), "'9:9'"),
        (("scene", "insert", PROJECT, "2:1", "--file", "gone.md"), "gone.md"),
        (("since", PROJECT, "--scene", "1:1", "--from", "1:1"), "leave out --from"),
        (("since", PROJECT, "--from", "second"), "is no position"),
        (("summary", "show", PROJECT, "--chapter", "1", "--part", "1"), "not both"),
        (("memory", "unconsolidate", PROJECT, "M001", "--yes"), "no consolidated memory 'M001'"),
        (("consolidate", PROJECT, "--limit", "0"), "0 is not in the range"),
        (("scene", "list", "nowhere"), "nowhere"),
    ]
    for arguments, told in cases:
        run.refused(*arguments, told=told)


def test_a_terminal_gets_the_first_rows_of_a_long_table(
    run: Run, ingested: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is told how many more there are and how to see them; a pipe, `--all` and `--json` get every row."""
    monkeypatch.setattr("runtime.doors.cli.output.MAX_ROWS", 2)
    whole = run("scene", "list", PROJECT).stdout
    monkeypatch.setattr("runtime.doors.cli.output.is_terminal", lambda: True)
    short = run("scene", "list", PROJECT).stdout
    assert ("Two loaves" in whole, "Two loaves" in short) == (True, False)
    assert short.splitlines()[-1] == "… and 2 more rows (--all)"
    assert "Two loaves" in run("scene", "list", PROJECT, "--all").stdout
    assert len(run.json("scene", "list", PROJECT)["scenes"]) == 4


@pytest.mark.slow
def test_small_memories_are_consolidated_listed_and_taken_back(run: Run, written: Path) -> None:
    """The summary tells what became of how many; the list has the sources; undoing empties it."""
    text = "Cornelius rowed out, counted the gulls, mended a net and slept."
    (written / "chapters" / "chapter_003.txt").write_text(text, encoding="utf-8")
    deeds = ("rowed out to the reef", "counted the gulls", "mended a net", "slept in the boat")
    memories = [
        {"memory_id": f"M10{number}", "content": f"Cornelius {deed}.", "importance": 3, "entities": ["C2"]}
        for number, deed in enumerate(deeds)
    ]
    record = {"chapter_index": 3, "scene_index": 1, "characters_present": ["C2"], "memories": memories}
    (written / "records" / "chapter_003_records.json").write_text(json.dumps([record]), encoding="utf-8")
    run.well("ingest", PROJECT)
    assert "would consolidate" in run.done("consolidate", PROJECT, "--limit", "2", "--dry-run", "--no-model")
    done = run.done("consolidate", PROJECT, "--limit", "2")
    assert "0 of them written by the model" in done
    (stored,) = run.json("memory", "consolidated", PROJECT)["consolidations"]
    assert "M100" in str(stored["source_ids"]) or len(stored["source_ids"]) > 1
    assert "stands for" in run.done("memory", "consolidated", PROJECT)
    told = run.done("memory", "unconsolidate", PROJECT, stored["chunk"]["chunk_id"], "--yes")
    assert told == "consolidated memories taken back: 1; their sources are read again"


def test_an_option_may_have_two_names(run: Run) -> None:
    """`scene set --at` says the place, as `context --at` does."""
    run.well("init", "sea", "--language", "en")
    run.well("ingest", "sea", "-", "--as", "next", answer="Kit sat.")
    run.well("card", "add", "sea", "the mill", "--kind", "location", "--from", "1:1")
    run.well("scene", "set", "sea", "1:1", "--at", "the mill")
    shown = json.loads(run.well("scene", "show", "sea", "1:1", "--json").output)
    assert shown["scene"]["staged"] == {"location_id": "L0"}
