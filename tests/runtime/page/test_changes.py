"""What a person changes on the page: waiving a finding, decisions on memories, the lorebook, language and colours."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient

from runtime.page.frame import ENGLISH, language_wished
from tests.runtime.doors.http.serving import client_of
from tests.runtime.page.reading import HERE, assert_refused, awaited, read, send, take_back
from tests.support.scripted_judge import scripted_judge

DRAFT = "Elias Marrow came in and shook her hand. Ines smiled."


def test_only_forms_are_taken(reader: TestClient) -> None:
    """A body of another kind is refused."""
    answer = reader.post(f"{HERE}/check", json={"text": DRAFT})
    read(answer)
    assert answer.status_code == 415


@pytest.mark.slow
def test_without_a_model_a_check_lists_what_the_story_says(client: TestClient) -> None:
    """Nothing is marked or judged, and the story's words on the person of the draft stand beside the draft's."""
    form = {"chapter": "3", "scene": "1", "text": DRAFT.replace("\n", "\r\n")}
    seen = read(client.post(f"{HERE}/check", data=form))
    assert not seen.all("mark")
    assert ENGLISH["compared_unjudged"] in seen.text
    assert "Elias Marrow: status: dead" in seen.text
    assert "Elias Marrow came in and shook her hand." in seen.text


@pytest.mark.slow
def test_a_finding_is_waived_and_told_again(demo_folder: Path) -> None:
    """A waiver silences what a model found until it is taken back."""
    quote = DRAFT.partition(" Ines")[0]
    with client_of(demo_folder, chat_model=scripted_judge(quote, subject="Elias Marrow", why="He is dead.")) as client:
        form = {"chapter": "3", "scene": "1", "text": DRAFT, "with_model": "yes"}
        address = client.post(f"{HERE}/check", data=form, follow_redirects=False).headers["location"]
        seen = awaited(client, address)
        assert seen.all("mark")[0]["data-notes"] == "1"
        assert {"words-1", "note-1"} <= set(seen.ids)
        assert seen.fields("note") == [quote.removesuffix(".")]
        after = send(client, "check/waive", on=seen, note="He comes back as a ghost.")
        assert not after.all("mark")
        assert "He comes back as a ghost." in after.text
        again = send(client, "check/unwaive", on=after)
        assert again.all("mark")[0]["data-notes"] == "1"
        assert client.get("/v1/projects/demo/check/waivers").json() == {"waivers": []}


@pytest.mark.slow
def test_a_decision_on_a_memory_is_taken_back(client: TestClient) -> None:
    """Pinning, leaving out, confirming and rejecting count at once, are told where one was, and undone from there."""

    def stored() -> dict[str, Any]:
        memory = client.get("/v1/projects/demo/memories/M001").json()
        return {"status": memory["status"], "pinned": memory["pinned"], "origin": memory["chunk"]["origin"]}

    before, back = stored(), f"{HERE}/card?as_of=3%3A1&entity=C0"
    for decision, told, changed in (
        ("pin", "did_pin", {"pinned": True}),
        ("ban", "did_ban", {"status": "banned"}),
        ("confirm", "did_check", {"origin": "author"}),
        ("delete", "did_delete", {"status": "deleted"}),
    ):
        form = {"memory_id": "M001", "back": back, "at": "fact-memory-M001"}
        answer = client.post(f"{HERE}/memory/{decision}", data=form, follow_redirects=False)
        location = answer.headers["location"]
        assert location.startswith(f"{back}&done={told.removeprefix('did_')}&told=")
        assert location.endswith("#fact-memory-M001")
        assert stored() == {**before, **changed}
        seen = read(client.get(location))
        words = ENGLISH[told].partition("{name}")
        assert f"{words[0]}“Ines Marrow found, behind a brick" in seen.text
        assert words[2] in seen.text
        assert seen.fields("back")[0] == back
        taken = take_back(client, seen)
        assert ENGLISH["did_undo"] in taken.text
        assert taken.fields("undo") == []
        assert stored() == before
    assert_refused(
        client,
        ["/v1/projects/demo/memories/M001"],
        ("memory/pin", {"memory_id": ""}, 400),
        ("memory/pin", {"memory_id": "M999"}, 404),
    )


@pytest.mark.slow
def test_a_lorebook_is_taken_in_told_out_and_back(client: TestClient) -> None:
    """An entry has its words, its place and its text; what goes out comes in again, undo takes it back, and what is no
    lorebook is refused.
    """
    back = f"{HERE}/lore"
    send(client, "lore/add", content="Salt pays the toll.", keys="salt, toll", start="3:1", back=back)
    book = {"entries": {"0": {"key": ["tide"], "content": "The causeway is under water.", "constant": False}}}
    seen = send(client, "lore/import", text=json.dumps(book), back=back)
    assert ENGLISH["did_lore"].format(name="1") in seen.text
    for told in ("Salt pays the toll.", "toll", "since 3:1", "tide", "since always", "causeway is under water"):
        assert told in seen.text
    assert "Salt pays" not in read(client.get(f"{back}?as_of=2:1")).text
    out = {kind: client.get(f"{back}/{kind}") for kind in ("sillytavern", "novelai")}
    keys = sorted(each["key"] for each in out["sillytavern"].json()["entries"].values())
    assert keys == [["salt", "toll"], ["tide"]]
    assert out["novelai"].headers["content-disposition"].endswith("demo.lorebook")
    assert "causeway" not in take_back(client, seen).text
    assert_refused(client, ["/v1/projects/demo/lore"], ("lore/import", {"text": "{", "back": back}, 400))


def test_a_draft_is_never_checked_against_what_comes_after_the_slider(reader: TestClient) -> None:
    """A scene after the position is taken for the one at it."""
    form = {"chapter": "6", "scene": "2", "text": DRAFT}
    seen = read(reader.post(f"{HERE}/check?as_of=3:1", data=form))
    assert ENGLISH["draft_says"] in seen.text


@pytest.mark.slow
def test_words_that_the_author_avoids_are_shown_with_their_places(demo_folder: Path, client: TestClient) -> None:
    """From the project's own list, beside the findings, with how often and the words around them."""
    (demo_folder / "demo" / "avoid.txt").write_text("smiled\nshook\nwept\n", encoding="utf-8")
    form = {"chapter": "3", "scene": "1", "text": DRAFT + " He smiled."}
    told = read(client.post(f"{HERE}/check", data=form)).text
    assert ENGLISH["words_to_avoid"] in told
    assert re.search(r"smiled\s+2 times\s+her hand. Ines smiled", told)
    assert "wept" not in told


def test_language_and_colours_are_kept(reader: TestClient) -> None:
    """A choice outlives the visit, goes before the browser's wish, and leads back to where one was."""
    back = f"{HERE}/story?as_of=2:1"
    answer = reader.get("/page/look", params={"language": "zh", "back": back}, follow_redirects=False)
    assert (answer.status_code, answer.headers["location"]) == (303, back)
    assert "samesite=strict" in answer.headers["set-cookie"].lower()
    reader.get("/page/look", params={"theme": "dark"}, follow_redirects=False)
    html = read(reader.get(back, headers={"Accept-Language": "en"})).all("html")[0]
    reader.cookies.clear()
    assert (html["lang"], html["data-theme"]) == ("zh-Hans", "dark")


def test_nobody_is_led_elsewhere(reader: TestClient) -> None:
    """The way back leads to pages of this server alone; an unknown choice is not kept."""
    elsewhere = ("http://evil.example/", "//evil.example", "/\\evil.example", "/page/\\evil", "/v1/x", "/page/ x")
    for back in (*elsewhere, "javascript:alert(1)"):
        answer = reader.get("/page/look", params={"language": "xx", "back": back}, follow_redirects=False)
        assert answer.headers["location"] == "/", back
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
        ("zh, en", "zh"),
        ("en, zh", "en"),
        ("z" * 5000, "en"),
    ],
)
def test_the_language_follows_the_browser(header: str, language: str) -> None:
    """The wish that weighs most among ours counts; what is no wish is passed over."""
    assert language_wished(header) == language
