"""`novelgen npc`: a game's characters from the command line."""

import json
from pathlib import Path

import pytest

from runtime.settings import load_settings
from runtime.stores import MemoryStores
from runtime.story.character import Character
from runtime.story.characters import StoryCharacters
from tests.runtime.doors.cli.conftest import Run

VILLAGE = "village"

DEAL = {
    "secret_id": "deal",
    "text": "I pay the bandits of Iron Hollow with grain.",
    "unlock": {"flag": "bridge_burnt"},
    "hints": [{"text": "Not all the grain goes to the mill.", "unlock": {"trust": 30}}],
}


@pytest.fixture
def village(run: Run, projects_dir: Path) -> Path:
    """A village made by its first memories, whose Gregor keeps a secret."""
    for who, text, more in (
        ("Gregor", "The player gave me a lamp.", ["--event-type", "gift_given", "--with", "player"]),
        ("Mira", "The mill stood still today.", []),
    ):
        run.well("npc", "remember", VILLAGE, who, text, "--at", "1:1", "--create", *more)
    with MemoryStores(load_settings(projects_dir=projects_dir)) as stores:
        gregor = StoryCharacters(stores, VILLAGE).open_character(name="Gregor")
        Character(stores, VILLAGE, gregor).keep_secret(DEAL)
    return projects_dir


def test_a_command_that_is_repeated_remembers_nothing_twice(run: Run, village: Path) -> None:
    """The same words with the same people at the same turn are one event; feelings moved once."""
    lamp = ("npc", "remember", VILLAGE, "Gregor", "The player gave me a lamp.", "--at", "1:1", "--with", "player")
    again = run.json(*lamp, "--event-type", "gift_given")
    assert not again["is_new"]
    assert run.json(*lamp[:-3], "1:2", *lamp[-2:], "--event-type", "gift_given")["is_new"]
    feelings = run.json("npc", "feelings", VILLAGE, "Gregor")
    assert feelings["disposition"]["affection"] == 40


@pytest.mark.slow
def test_what_is_remembered_is_recalled_by_nobody_else(run: Run, village: Path) -> None:
    """The prompt block stands on stdout as a game gets it; another character remembers nothing of it."""
    told = run.well("npc", "recall", VILLAGE, "Gregor", "Do you like the lamp?", "--to", "player")
    assert told.stdout.splitlines()[0] == "What Gregor remembers:"
    assert "[Met=yes" in told.stdout
    assert "The player gave me a lamp." in told.stdout
    assert "lamp" not in run("npc", "recall", VILLAGE, "Mira", "Do you like the lamp?").stdout
    found = run.json("npc", "recall", VILLAGE, "Gregor", "the lamp?", "--budget", "60")
    assert (found["budget_tokens"], len(found["items"])) == (60, 1)
    assert "importance 0.50 ×" in run("npc", "recall", VILLAGE, "Gregor", "the lamp?", "--explain").stdout


@pytest.mark.slow
def test_witnesses_and_ends_are_told(run: Run, village: Path) -> None:
    """What a memory puts an end to, and who else remembers it, is said at once."""
    run("npc", "remember", VILLAGE, "Gregor", "Her name is Ines.", "--slot", "player_name", "--at", "1:2")
    done = run(
        *("npc", "remember", VILLAGE, "Gregor", "Her name is Ina.", "--slot", "player_name", "--at", "1:3"),
        *("--witness", "Mira"),
    )
    assert "put an end to" in done.stdout
    assert "remembered by witnesses, too: 1" in done.stdout
    assert [each["how"] for each in run.json("npc", "list", VILLAGE, "Mira")["memories"]] == ["own_doing", "witnessed"]
    assert len(run.json("npc", "list", VILLAGE, "Gregor", "--holding")["memories"]) == 2


def test_feelings_are_shown_with_what_moved_them(run: Run, village: Path) -> None:
    """A gift moves affection; before it nothing had."""
    told = run("npc", "feelings", VILLAGE, "Gregor").stdout
    assert told.startswith("[Met=yes")
    assert "affection +5" in told
    early = ("--as-of", "1:1")
    assert run.json("npc", "feelings", VILLAGE, "Gregor", *early)["has_met"] is False
    assert run.json("npc", "feelings-history", VILLAGE, "Gregor", *early)["changes"] == []
    assert "affection +5" in run("npc", "feelings-history", VILLAGE, "Gregor", "--to", "player").stdout


def test_a_locked_secret_stands_in_no_output(run: Run, village: Path) -> None:
    """Seed 002.39: only --reveal shows the text, or a flag that unlocks it."""
    for arguments in (
        ["secrets", VILLAGE, "Gregor"],
        ["secrets", VILLAGE, "Gregor", "--json"],
        ["recall", VILLAGE, "Gregor", "Where does the grain go?", "--to", "player", "--json"],
    ):
        told = run.well("npc", *arguments)
        assert "bandits" not in told.stdout
    (secret,) = run.json("npc", "secrets", VILLAGE, "Gregor")
    assert secret == {"secret_id": "deal", "standing": "hinted", "hint": DEAL["hints"][0]["text"]}  # type: ignore[index]
    (revealed,) = run.json("npc", "secrets", VILLAGE, "Gregor", "--reveal")
    assert (revealed["text"], revealed["unlock"]["flags"]) == (DEAL["text"], {"bridge_burnt": True})
    run("npc", "flags", VILLAGE, "--set", "bridge_burnt", "--at", "2:1")
    assert "bandits" in run("npc", "secrets", VILLAGE, "Gregor").stdout
    assert run.json("npc", "secrets", VILLAGE, "Gregor", "--as-of", "2:1")[0]["standing"] == "hinted"


def test_a_reply_is_checked(run: Run, village: Path) -> None:
    """A leak ends in exit code 1 and names the secret by its id; plain talk is fine."""
    leak = run("npc", "check", VILLAGE, "Gregor", "I pay the bandits of Iron Hollow with grain.")
    assert leak.exit_code == 1
    assert leak.stdout.startswith("leaked secret: ")
    fine = run("npc", "check", VILLAGE, "Gregor", "Good day to you.")
    assert (fine.exit_code, fine.stdout) == (0, "nothing is wrong with it\n")
    found = run("npc", "check", VILLAGE, "Gregor", "Old Harbin told me.", "--json")
    assert [each["kind"] for each in json.loads(found.stdout)] == ["unknown_name"]
    run.well("npc", "check", VILLAGE, "Gregor", "Old Harbin told me.", "--said", "Old Harbin?")


def test_flags_take_values(run: Run, village: Path) -> None:
    """A value is JSON, or text; what a flag was before stays readable."""
    assert run("npc", "flags", VILLAGE).stdout == "nothing\n"
    set_now = run.json("npc", "flags", VILLAGE, "--set", "price=12", "--set", "king=old Otto", "--at", "1:2")
    assert set_now == {"flags": {"price": 12, "king": "old Otto"}}
    assert run.json("npc", "flags", VILLAGE, "--as-of", "1:2") == {"flags": {}}
    assert "price" in run("npc", "flags", VILLAGE).stdout
    assert f"undo: novelgen undo {VILLAGE} 8\n" in run("npc", "flags", VILLAGE, "--set", "price=13").stdout
    assert "flag" in run("undo", VILLAGE).stdout
    assert run.json("npc", "flags", VILLAGE)["flags"]["price"] == 12


def test_what_is_wrong_is_refused_with_the_way_out(run: Run, village: Path) -> None:
    """A misspelt name, slot or moment is bad input and says what may be meant."""
    cases: list[tuple[list[str], str]] = [
        (["recall", VILLAGE, "Gregr", "lamp"], "Gregor"),
        (["recall", "vilage", "Gregor", "lamp"], "village"),
        (["recall", VILLAGE, "Otto", "lamp"], "`novelgen card add`"),
        (["remember", VILLAGE, "Gregor", "x", "--slot", "player_nmae"], "player_name"),
        (["remember", VILLAGE, "Gregor", " "], "empty"),
        (["list", VILLAGE, "Gregor", "--as-of", "noon"], "session:turn"),
        (["flags", VILLAGE, "--at", "1:1"], "--set"),
    ]
    for arguments, told in cases:
        run.refused("npc", *arguments, told=told)


def test_an_unknown_character_names_nobody_of_later_scenes(run: Run, village: Path) -> None:
    """Whom an error names is cut at the position that was asked for; without one it names all."""
    run.well("card", "add", VILLAGE, "Newman Vale", "--from", "5:3")
    recall = ("npc", "recall", VILLAGE, "Zzqw", "hello")
    cut = run(*recall, "--story-as-of", "1:2")
    assert cut.exit_code == 2
    assert "Gregor" in cut.stderr
    assert "Newman" not in cut.stderr
    assert "Newman" in run(*recall).stderr
