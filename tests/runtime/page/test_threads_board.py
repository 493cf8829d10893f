"""The board of threads: planting, moving, changing, ending and taking back, and the lines over the book."""

from typing import Any
from urllib.parse import parse_qsl

import pytest
from fastapi.testclient import TestClient

from novelgen.memory.ledger import LedgerEntry, ThreadMove, ThreadWindow
from runtime.page.frame import ENGLISH
from runtime.page.threads import LEFT, MAX_LINES, RIGHT, thread_lines
from tests.runtime.page.reading import HERE, assert_refused, read, send, take_back

BOARD = f"{HERE}/threads"
LEDGER = "/v1/projects/demo/threads/ledger"


def _ledger(client: TestClient, **asked: str) -> dict[str, dict[str, Any]]:
    return {each["loop_id"]: each for each in client.get(LEDGER, params=asked).json()["entries"]}


@pytest.mark.slow
def test_an_end_is_taken_back(client: TestClient) -> None:
    """After each kind of end the notice, or the thread itself, offers to take it back; then it stands as before."""
    before = _ledger(client, as_of="2:1")["OL1"]
    for how in ("paid", "broken", "dropped", "moot"):
        form = {"loop_id": "OL1", "ending": how, "summary": "It opens the box."}
        seen = send(client, "threads/end?as_of=2:1", back=f"{BOARD}?as_of=2%3A1&kind=mystery", **form)
        assert _ledger(client, as_of="2:1")["OL1"]["ending"] == how
        assert ENGLISH["did_end_thread"].format(name=before["description"]) in seen.text
        take_back(client, seen)
        assert _ledger(client, as_of="2:1")["OL1"] == before
        send(client, "threads/end?as_of=2:1", **form)
        assert f"{BOARD}/reopen?as_of=2%3A1" in read(client.get(f"{BOARD}?as_of=2:1&thread=OL1")).addresses
        send(client, "threads/reopen?as_of=2:1", loop_id="OL1")
        assert _ledger(client, as_of="2:1")["OL1"] == before


def test_the_card_of_a_character_says_how_its_threads_ended(client: TestClient) -> None:
    """With the scene of the end."""
    for ending, word in (("paid", "paid"), ("broken", "broken_promise"), ("dropped", "dropped")):
        form = {"loop_id": "OL1", "ending": ending, "summary": "It opens the box."}
        send(client, "threads/end?as_of=2:1", **form)
        place = _ledger(client, as_of="2:1")["OL1"]["last_chapter_index"]
        card = read(client.get(f"{HERE}/card?entity=C0&as_of=2:1")).text
        assert f"{ENGLISH[word]}, {place}:" in card
        send(client, "threads/reopen?as_of=2:1", loop_id="OL1")


def test_a_thread_names_who_knows_it(client: TestClient) -> None:
    """Each leads to the cell where it is said otherwise, and the word that is said there stands in it."""
    (cell,) = [
        address
        for address in read(client.get(f"{BOARD}?thread=OL1")).addresses
        if "cell=OL1%3AC0" in address and address.endswith("#cell")
    ]
    form = {"memory_id": "OL1", "character_id": "C0", "words": "OL1", "kind": "hidden"}
    back = read(client.get(cell)).fields("back")[0]
    seen = send(client, "knowledge/say", back=back, **form)
    assert ENGLISH["say_as_told"] in seen.text
    assert "cell=OL1%3AC0" not in "".join(read(client.get(f"{BOARD}?thread=OL1")).addresses)
    send(client, "knowledge/say", back=back, **{**form, "kind": "as_told"})
    assert "cell=OL1%3AC0" in "".join(read(client.get(f"{BOARD}?thread=OL1")).addresses)


@pytest.mark.slow
def test_a_thread_is_planted_moved_and_changed(client: TestClient) -> None:
    """Each form does what its service does, at the place of the slider."""
    form = {"description": "Who rang the bell?", "category": "mystery", "importance": "high"}
    send(client, "threads/add?as_of=2:1", characters="Ines，Sparrow", **form)
    (new,) = [each for each in _ledger(client, as_of="2:1").values() if each["description"] == form["description"]]
    assert (new["importance"], new["category"], new["related_entities"]) == ("high", "mystery", ["C0", "C5"])
    thread = str(new["loop_id"])
    assert thread not in _ledger(client, as_of="1:4")
    send(client, "threads/advance?as_of=3:1", loop_id=thread, note="It rang again.", pays_part="yes")
    moved = _ledger(client, as_of="3:1")[thread]
    assert (moved["stage"], moved["parts_paid"]) == ("moved", 1)
    changed = {"description": "Who rang the great bell?", "importance": "low", "category": "riddle", "due_from": "2:1"}
    more = {"due_by": "3", "parts": "3", "pay_off": "A witness."}
    send(client, "threads/edit?as_of=3:1", loop_id=thread, **changed, **more)
    now = _ledger(client, as_of="3:1")[thread]
    assert (now["description"], now["importance"], now["stage"]) == ("Who rang the great bell?", "low", "overdue")
    assert (now["parts"], now["pay_off"]) == (3, "A witness.")
    seen = read(client.get(f"{BOARD}?as_of=3:1&thread={thread}"))
    assert "A witness." in seen.text
    assert set(seen.fields("due_by")) == {"", "3"}


@pytest.mark.slow
def test_a_wrong_step_changes_nothing(reader: TestClient) -> None:
    """What cannot be is refused with a page that says why, and the ledger stays; a record's end is corrected there."""
    known = {"loop_id": "OL1", "description": "Who?"}
    over = next(str(each["loop_id"]) for each in _ledger(reader).values() if each["stage"] == "over")
    assert_refused(
        reader,
        [LEDGER],
        ("threads/end", {"loop_id": "OL1", "summary": "It ends.", "ending": "somehow"}, 400),
        ("threads/end", {"loop_id": "OL1", "summary": " "}, 400),
        ("threads/end", {"summary": "It ends."}, 400),
        ("threads/end", {"loop_id": "OL1", "summary": "It ends.", "scene_id": "9:9"}, 404),
        ("threads/end", {str(number): "" for number in range(80)}, 400),
        ("threads/reopen", {"loop_id": "OL1"}, 400),
        ("threads/reopen", {"person": "C5"}, 400),
        ("threads/advance", {"loop_id": "OL1", "note": " "}, 400),
        ("threads/advance", {"loop_id": "OL999", "note": "It moved."}, 404),
        ("threads/add", {"description": "  "}, 400),
        ("threads/add", {"description": "Who?", "importance": "heavy"}, 400),
        ("threads/add", {"description": "Who?", "characters": "Nobody At All"}, 404),
        ("threads/edit", {"loop_id": "OL1", "description": ""}, 400),
        *(("threads/edit", {**known, "due_by": place}, 400) for place in ("soon", "9999999:1")),
        ("threads/edit", {**known, "due_from": "3:1", "due_by": "2:1"}, 400),
        ("threads/edit", {**known, "parts": "1"}, 400),
        ("threads/edit", {**known, "loop_id": "OL999"}, 404),
        query="?as_of=2:1",
    )
    assert ENGLISH["ended_by_record"] in read(reader.get(BOARD, params={"thread": over})).text
    assert "correct the record" in read(reader.post(f"{BOARD}/reopen", data={"loop_id": over})).text


def test_the_board_is_filtered_by_person_and_kind(reader: TestClient) -> None:
    """Only threads about somebody, and only those of a kind, are shown; the slider keeps both."""
    ledger = _ledger(reader, as_of="4:1")
    for name, value, is_shown in (
        ("person", "C5", lambda each: "C5" in each["related_entities"]),
        ("kind", "promise", lambda each: each["category"] == "promise"),
    ):
        seen = read(reader.get(BOARD, params={"as_of": "4:1", name: value}))
        shown = {each["data-thread"] for each in seen.all("li") if "data-thread" in each}
        assert shown == {each["loop_id"] for each in ledger.values() if is_shown(each)}
        assert 0 < len(shown) < len(ledger)
        assert value in seen.fields(name)
    moved = reader.get(
        f"{HERE}/at/threads", params={"known": 4, "person": "C5", "kind": "promise"}, follow_redirects=False
    )
    address, _, query = moved.headers["location"].partition("?")
    assert (address, dict(parse_qsl(query))) == (BOARD, {"as_of": "2:1", "person": "C5", "kind": "promise"})


PLACES = [(1, 1), (1, 2), (2, 1), (2, 2)]
WIDTH = RIGHT - LEFT


def _entry(number: int, *moves: tuple[str, int, int], **told: object) -> LedgerEntry:
    went = [ThreadMove(kind=kind, chapter_index=chapter, scene_index=scene) for kind, chapter, scene in moves]
    given = {"chapter_index": moves[0][1], "scene_index": moves[0][2], "moves": went, **told}
    return LedgerEntry.model_validate({"loop_id": f"OL{number}", "description": "What is behind the door?", **given})


def test_a_thread_is_a_line_from_its_planting_to_its_end() -> None:
    """What waits goes on to where the story stands, steps lie at their scenes; who has no room is counted."""
    over = _entry(2, ("planted", 1, 2), ("resolved", 2, 1), status="resolved", stage="over")
    waits = _entry(1, ("planted", 1, 1), ("advanced", 2, 2))
    drawn = thread_lines([over, waits], PLACES)
    first, second = drawn.lines
    assert (first.entry.loop_id, first.start, first.end) == ("OL1", LEFT, RIGHT)
    assert (second.entry.loop_id, second.start, second.end) == ("OL2", LEFT + WIDTH / 4, LEFT + WIDTH / 2)
    assert [x for x, _ in first.steps] == [LEFT, LEFT + WIDTH * 3 / 4]
    assert drawn.chapters == [(LEFT, 1), (LEFT + WIDTH / 2, 2)]
    many = thread_lines([_entry(number, ("planted", 1, 1)) for number in range(MAX_LINES + 5)], PLACES)
    assert (len(many.lines), many.left_out) == (MAX_LINES, 5)
    assert thread_lines([], []).lines == []


@pytest.mark.parametrize(
    ("window", "shares"),
    [
        ({"source": "author", "due_from": (1, 2), "due_by": (2, 1)}, (0.25, 0.5)),
        ({"source": "author", "due_by": (2, 1)}, (0.5, 1.0)),
        ({"source": "author", "due_from": (2, 1)}, (0.5, 1.0)),
        ({"source": "author", "due_from": (3, 1)}, None),
        ({"source": "record"}, None),
    ],
)
def test_when_a_thread_is_due_is_a_band(window: dict[str, object], shares: tuple[float, float] | None) -> None:
    """It begins where the thread is due and ends where it is overdue, as far as the story has come."""
    entry = _entry(1, ("planted", 1, 1), window=ThreadWindow.model_validate(window))
    (line,) = thread_lines([entry], PLACES).lines
    assert line.due == (None if shares is None else tuple(LEFT + WIDTH * each for each in shares))
