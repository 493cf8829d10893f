"""The board of threads: planting, moving, changing, ending and taking back, and the lines over the book."""

from urllib.parse import parse_qsl

import pytest
from fastapi.testclient import TestClient

from novelgen.memory.ledger import LedgerEntry, ThreadMove, ThreadWindow
from runtime.page.frame import ENGLISH
from runtime.page.threads import LEFT, MAX_LINES, RIGHT, thread_lines
from tests.runtime.page.reading import read

BOARD = "/page/projects/demo/threads"


def _ledger(client: TestClient, as_of: str | None = None) -> dict[str, dict[str, object]]:
    asked = {"as_of": as_of} if as_of else {}
    told = client.get("/v1/projects/demo/threads/ledger", params=asked).json()
    return {each["loop_id"]: each for each in told["entries"]}


@pytest.mark.parametrize("how", ["paid", "broken", "dropped", "moot"])
def test_an_end_is_taken_back(client: TestClient, how: str) -> None:
    """After an end the board offers to take it back; then the thread stands as before."""
    before = _ledger(client, "2:1")["OL1"]
    form = {"thread_id": "OL1", "ending": how, "summary": "It opens the box.", "kind": "mystery"}
    answer = client.post(f"{BOARD}/end?as_of=2:1", data=form, follow_redirects=False)
    assert answer.headers["location"].startswith(f"{BOARD}?as_of=2%3A1&kind=mystery&done=end_thread&told=")
    assert _ledger(client, "2:1")["OL1"]["ending"] == how
    seen = read(client.get(answer.headers["location"]))
    assert ENGLISH["did_end_thread"].format(name=before["description"]) in seen.text
    form = {each["name"] or "": each["value"] or "" for each in seen.all("input")[::-1] if "value" in each}
    ways = (("undo", {name: form[name] for name in ("undo", "back")}), ("threads/reopen", {"thread_id": "OL1"}))
    viewed = read(client.get(f"{BOARD}?as_of=2:1&thread=OL1"))
    for (way, sent), page in zip(ways, (seen, viewed), strict=True):
        assert f"/page/projects/demo/{way}?as_of=2%3A1" in page.addresses
        taken = client.post(f"/page/projects/demo/{way}?as_of=2:1", data=sent, follow_redirects=False)
        assert "&done=undo" in taken.headers["location"]
        assert taken.headers["location"].startswith(f"{BOARD}?as_of=2%3A1")
        assert _ledger(client, "2:1")["OL1"] == before
        form_of_end = {"thread_id": "OL1", "ending": how, "summary": "It opens the box."}
        client.post(f"{BOARD}/end?as_of=2:1", data=form_of_end)


def test_a_thread_is_planted_moved_and_changed(client: TestClient) -> None:
    """Each form does what its service does, at the place of the slider."""
    form = {
        "description": "Who rang the bell?",
        "category": "mystery",
        "importance": "high",
        "characters": "Ines，Sparrow",
    }
    planted = read(client.post(f"{BOARD}/add?as_of=2:1", data=form))
    number = next(each["value"] or "" for each in planted.all("input") if each.get("name") == "undo")
    client.post("/page/projects/demo/undo", data={"undo": number})
    assert "Who rang the bell?" not in [each["description"] for each in _ledger(client, "2:1").values()]
    client.post(f"{BOARD}/add?as_of=2:1", data=form)
    (new,) = [each for each in _ledger(client, "2:1").values() if each["description"] == "Who rang the bell?"]
    assert (new["importance"], new["category"], new["related_entities"]) == ("high", "mystery", ["C0", "C5"])
    thread = str(new["loop_id"])
    assert thread not in _ledger(client, "1:4")
    client.post(f"{BOARD}/advance?as_of=3:1", data={"thread_id": thread, "note": "It rang again.", "pays_part": "yes"})
    moved = _ledger(client, "3:1")[thread]
    assert (moved["stage"], moved["parts_paid"]) == ("moved", 1)
    changed = {
        "thread_id": thread,
        "description": "Who rang the great bell?",
        "importance": "low",
        "category": "riddle",
        "due_from": "2:1",
        "due_by": "3",
        "parts": "3",
        "pay_off": "A witness.",
    }
    client.post(f"{BOARD}/edit?as_of=3:1", data=changed)
    now = _ledger(client, "3:1")[thread]
    assert (now["description"], now["importance"], now["stage"]) == ("Who rang the great bell?", "low", "overdue")
    assert (now["parts"], now["pay_off"]) == (3, "A witness.")
    seen = read(client.get(f"{BOARD}?as_of=3:1&thread={thread}"))
    assert "A witness." in seen.text
    assert {each.get("value") for each in seen.all("input") if each.get("name") == "due_by"} == {"3"}


@pytest.mark.parametrize(
    ("step", "form", "status"),
    [
        ("end", {"thread_id": "OL1", "summary": "It ends.", "ending": "somehow"}, 400),
        ("end", {"thread_id": "OL1", "summary": "It ends.", "scene_id": "9:9"}, 404),
        ("end", {"thread_id": "OL999", "summary": "It ends.", "ending": "dropped"}, 400),
        ("reopen", {"thread_id": "OL1"}, 400),
        ("reopen", {"thread_id": "OL999"}, 400),
        ("reopen", {"person": "C5"}, 400),
        ("advance", {"thread_id": "OL1", "note": " "}, 400),
        ("advance", {"thread_id": "OL999", "note": "It moved."}, 404),
        ("add", {"description": "  "}, 400),
        ("add", {"description": "Who?", "importance": "heavy"}, 400),
        ("add", {"description": "Who?", "characters": "Nobody At All"}, 404),
        ("edit", {"thread_id": "OL1", "description": ""}, 400),
        ("edit", {"thread_id": "OL1", "description": "Who?", "due_by": "soon"}, 400),
        ("edit", {"thread_id": "OL1", "description": "Who?", "due_from": "3:1", "due_by": "2:1"}, 400),
        ("edit", {"thread_id": "OL1", "description": "Who?", "parts": "1"}, 400),
        ("edit", {"thread_id": "OL1", "description": "Who?", "due_by": "9999999:1"}, 400),
        ("edit", {"thread_id": "OL999", "description": "Who?"}, 404),
    ],
)
def test_a_wrong_step_changes_nothing(reader: TestClient, step: str, form: dict[str, str], status: int) -> None:
    """What cannot be is refused with a page that says why, and the ledger stays."""
    before = _ledger(reader)
    answer = reader.post(f"{BOARD}/{step}?as_of=2:1", data=form)
    read(answer)
    assert answer.status_code == status
    assert _ledger(reader) == before


def test_an_end_by_a_record_is_not_taken_back(reader: TestClient) -> None:
    """What a scene's record says is corrected there; the board says so and offers no button."""
    over = next(each for each in _ledger(reader).values() if each["stage"] == "over")
    seen = read(reader.get(BOARD, params={"thread": str(over["loop_id"])}))
    assert ENGLISH["ended_by_record"] in seen.text
    answer = reader.post(f"{BOARD}/reopen", data={"thread_id": str(over["loop_id"])})
    assert answer.status_code == 400
    assert "correct the record" in read(answer).text


def test_the_board_is_filtered_by_person_and_kind(reader: TestClient) -> None:
    """Only threads about somebody, and only those of a kind, are shown; the slider keeps both."""
    ledger = _ledger(reader, "4:1")
    for asked, is_shown in (
        ({"person": "C5"}, lambda each: "C5" in each["related_entities"]),
        ({"kind": "promise"}, lambda each: each["category"] == "promise"),
    ):
        seen = read(reader.get(BOARD, params={"as_of": "4:1", **asked}))
        shown = {each["data-thread"] for each in seen.all("li") if "data-thread" in each}
        assert shown == {each["loop_id"] for each in ledger.values() if is_shown(each)}
        assert 0 < len(shown) < len(ledger)
        assert {"type": "hidden", "name": next(iter(asked)), "value": next(iter(asked.values()))} in seen.all("input")
    moved = reader.get(
        "/page/projects/demo/at/threads", params={"known": 4, "person": "C5", "kind": "promise"}, follow_redirects=False
    )
    address, _, query = moved.headers["location"].partition("?")
    assert (address, dict(parse_qsl(query))) == (BOARD, {"as_of": "2:1", "person": "C5", "kind": "promise"})


PLACES = [(1, 1), (1, 2), (2, 1), (2, 2)]


def _entry(number: int, *moves: tuple[str, int, int], **told: object) -> LedgerEntry:
    return LedgerEntry.model_validate(
        {
            "loop_id": f"OL{number}",
            "description": "What is behind the door?",
            "chapter_index": moves[0][1],
            "scene_index": moves[0][2],
            "moves": [
                ThreadMove(kind=kind, chapter_index=chapter, scene_index=scene) for kind, chapter, scene in moves
            ],
            **told,
        }
    )


def test_a_thread_is_a_line_from_its_planting_to_its_end() -> None:
    """What waits goes on to where the story stands; steps lie at their scenes, and those planted first stand first."""
    over = _entry(2, ("planted", 1, 2), ("resolved", 2, 1), status="resolved", stage="over")
    waits = _entry(1, ("planted", 1, 1), ("advanced", 2, 2))
    drawn = thread_lines([over, waits], PLACES)
    width = RIGHT - LEFT
    assert [each.entry.loop_id for each in drawn.lines] == ["OL1", "OL2"]
    assert (drawn.lines[0].start, drawn.lines[0].end) == (LEFT, RIGHT)
    assert (drawn.lines[1].start, drawn.lines[1].end) == (LEFT + width / 4, LEFT + width / 2)
    assert [each.x for each in drawn.lines[0].steps] == [LEFT, LEFT + width * 3 / 4]
    assert drawn.chapters == [(LEFT, 1), (LEFT + width / 2, 2)]


@pytest.mark.parametrize(
    ("window", "shares"),
    [
        ({"source": "author", "due_from": (1, 2), "due_by": (2, 1)}, (0.25, 0.5)),
        ({"source": "author", "due_by": (2, 1)}, (0.5, 1.0)),
        ({"source": "author", "due_from": (2, 1)}, (0.5, 1.0)),
        ({"source": "author", "due_from": (3, 1)}, None),
        ({"source": "rhythm", "due_after_scenes": 1, "overdue_after_scenes": 2}, (0.25, 0.5)),
        ({"source": "rhythm"}, None),
    ],
)
def test_when_a_thread_is_due_is_a_band(window: dict[str, object], shares: tuple[float, float] | None) -> None:
    """It begins where the thread is due and ends where it is overdue, as far as the story has come."""
    entry = _entry(1, ("planted", 1, 1), window=ThreadWindow.model_validate(window))
    (line,) = thread_lines([entry], PLACES).lines
    width = RIGHT - LEFT
    assert line.due == (None if shares is None else tuple(LEFT + width * each for each in shares))


def test_of_many_threads_the_first_are_drawn() -> None:
    """Those that have no room are counted; without threads there is no line."""
    entries = [_entry(number, ("planted", 1, 1)) for number in range(MAX_LINES + 5)]
    drawn = thread_lines(entries, PLACES)
    assert (len(drawn.lines), drawn.left_out) == (MAX_LINES, 5)
    assert thread_lines([], []).lines == []
