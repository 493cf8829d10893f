"""What a person changes on the page: waiving a finding, decisions on memories, language and colours."""

import re
from pathlib import Path

import pytest
from fastapi.testclient import TestClient

from novelgen.words import filled
from runtime.page.frame import ENGLISH, language_wished
from tests.runtime.page.reading import Seen, read

DRAFT = "Elias Marrow came in and shook her hand. Ines smiled."


def _hidden(seen: Seen, name: str) -> str:
    return next(each["value"] or "" for each in seen.all("input") if each.get("name") == name)


@pytest.mark.parametrize(
    ("form", "status"),
    [
        ({"thread_id": "OL1", "summary": " "}, 400),
        ({"summary": "It ends."}, 400),
        ({str(number): "" for number in range(80)}, 400),
    ],
)
def test_a_wrong_form_changes_nothing(reader: TestClient, form: dict[str, str], status: int) -> None:
    """Without a sentence, or for no thread, nothing ends; the answer is a page."""
    before = reader.get("/v1/projects/demo/threads/ledger").json()
    answer = reader.post("/page/projects/demo/threads/end?as_of=2:1", data=form)
    read(answer)
    assert answer.status_code == status
    assert reader.get("/v1/projects/demo/threads/ledger").json() == before


def test_only_forms_of_this_site_are_taken(reader: TestClient) -> None:
    """A body of another kind is refused, and a page elsewhere cannot end a thread here."""
    answer = reader.post("/page/projects/demo/check", json={"text": DRAFT})
    read(answer)
    assert answer.status_code == 415
    form = {"thread_id": "OL1", "summary": "It ends."}
    for headers in ({"Origin": "http://evil.example"}, {"Sec-Fetch-Site": "cross-site"}):
        answer = reader.post("/page/projects/demo/threads/end", data=form, headers=headers)
        assert answer.status_code == 403


def test_a_finding_has_both_quotes_and_is_waived(client: TestClient) -> None:
    """What contradicts stands marked in the draft with the story's words beside it; once waived it is silent."""
    form = {"chapter": "3", "scene": "1", "text": DRAFT.replace("\n", "\r\n")}
    seen = read(client.post("/page/projects/demo/check", data=form))
    assert "Elias Marrow: status: dead" in seen.text
    assert seen.all("mark")[0]["data-notes"] == "1"
    assert {"words-1", "note-1"} <= set(seen.ids)
    waived = {**{name: _hidden(seen, name) for name in ("issue_id", "back")}, "note": "He comes back as a ghost."}
    after = read(client.post("/page/projects/demo/check/waive", data=waived))
    all_clear = re.escape(filled(ENGLISH["compared_facts"], count="N")).replace("N\\ ", "[1-9][0-9]* ")
    assert re.search(all_clear, after.text)
    assert "He comes back as a ghost." in after.text
    back = {name: _hidden(after, name) for name in ("issue_id", "back")}
    again = read(client.post("/page/projects/demo/check/unwaive", data=back))
    assert not re.search(all_clear, again.text)
    assert again.all("mark")[0]["data-notes"] == "1"
    assert client.get("/v1/projects/demo/check/waivers").json() == {"waivers": []}


@pytest.mark.parametrize("decision", ["pin", "ban"])
@pytest.mark.parametrize(
    "back", ["/page/projects/demo/card?as_of=3%3A1&entity=C0", "/page/projects/demo/story?chapter=1&scene=1"]
)
def test_a_decision_on_a_memory_is_taken_back(client: TestClient, decision: str, back: str) -> None:
    """Pinning and leaving out count at once, are told where one was, and can be undone from there."""

    def stored() -> tuple[str, bool]:
        memory = client.get("/v1/projects/demo/memories/M001").json()
        return memory["status"], memory["pinned"]

    before = stored()
    address = f"/page/projects/demo/memory/{decision}"
    form = {"memory_id": "M001", "back": back}
    answer = client.post(address, data=form, follow_redirects=False)
    assert answer.headers["location"].startswith(f"{back}&done={decision}&told=")
    assert stored() == {"pin": ("active", True), "ban": ("banned", False)}[decision]
    seen = read(client.get(answer.headers["location"]))
    words = ENGLISH[f"did_{decision}"].partition("{name}")
    assert f"{words[0]}“Ines Marrow found, behind a brick" in seen.text
    assert words[2] in seen.text
    undo = {name: _hidden(seen, name) for name in ("undo", "back")}
    assert undo["back"] == back
    taken = read(client.post("/page/projects/demo/undo", data=undo))
    assert ENGLISH["did_undo"] in taken.text
    assert "undo" not in [each.get("name") for each in taken.all("input")]
    assert stored() == before


@pytest.mark.parametrize(("memory_id", "status"), [("", 400), ("M999", 404)])
def test_a_wrong_decision_is_refused(reader: TestClient, memory_id: str, status: int) -> None:
    """A decision on no memory changes nothing."""
    answer = reader.post("/page/projects/demo/memory/pin", data={"memory_id": memory_id})
    assert answer.status_code == status
    read(answer)


def test_a_draft_is_never_checked_against_what_comes_after_the_slider(reader: TestClient) -> None:
    """A scene after the position is taken for the one at it."""
    form = {"chapter": "6", "scene": "2", "text": DRAFT}
    seen = read(reader.post("/page/projects/demo/check?as_of=3:1", data=form))
    assert ENGLISH["draft_says"] in seen.text


def test_words_that_the_author_avoids_are_shown_with_their_places(demo_folder: Path, client: TestClient) -> None:
    """From the project's own list, beside the findings, with how often and the words around them."""
    (demo_folder / "demo" / "avoid.txt").write_text("smiled\nshook\nwept\n", encoding="utf-8")
    form = {"chapter": "3", "scene": "1", "text": DRAFT + " He smiled."}
    told = read(client.post("/page/projects/demo/check", data=form)).text
    assert ENGLISH["words_to_avoid"] in told
    assert re.search(r"smiled\s+2 times\s+her hand. Ines smiled", told)
    assert "wept" not in told


def test_language_and_colours_are_kept(reader: TestClient) -> None:
    """A choice outlives the visit, goes before the browser's wish, and leads back to where one was."""
    back = "/page/projects/demo/story?as_of=2:1"
    answer = reader.get("/page/look", params={"language": "zh", "back": back}, follow_redirects=False)
    assert (answer.status_code, answer.headers["location"]) == (303, back)
    assert "samesite=strict" in answer.headers["set-cookie"].lower()
    reader.get("/page/look", params={"theme": "dark"}, follow_redirects=False)
    html = read(reader.get(back, headers={"Accept-Language": "en"})).all("html")[0]
    reader.cookies.clear()
    assert (html["lang"], html["data-theme"]) == ("zh-Hans", "dark")


@pytest.mark.parametrize(
    "back",
    [
        "http://evil.example/",
        "//evil.example",
        "/\\evil.example",
        "/page/\\evil",
        "javascript:alert(1)",
        "/v1/x",
        "/page/ x",
    ],
)
def test_nobody_is_led_elsewhere(reader: TestClient, back: str) -> None:
    """The way back leads to pages of this server alone; an unknown choice is not kept."""
    answer = reader.get("/page/look", params={"language": "xx", "back": back}, follow_redirects=False)
    assert answer.headers["location"] == "/"
    assert "set-cookie" not in answer.headers


@pytest.mark.parametrize(
    ("header", "language"),
    [
        ("", "en"),
        ("zh-CN,zh;q=0.9,en;q=0.8", "zh"),
        ("en-GB,en;q=0.9,zh;q=0.8", "en"),
        ("fr-FR, zh-Hant;q=0.5, en;q=0.2", "zh"),
        ("de, fr", "en"),
        ("zh;q=0, en;q=0.1", "en"),
        ("*;q=0.5,,;;q=x,zh;q=1.0", "zh"),
        ("z" * 5000, "en"),
    ],
)
def test_the_language_follows_the_browser(header: str, language: str) -> None:
    """The wish that weighs most among ours counts; what is no wish is passed over."""
    assert language_wished(header) == language
