"""A story that wants to be HTML: nothing of it becomes an element, an attribute or an address."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from fastapi.testclient import TestClient

from runtime.page.frame import VIEWS, without_unprintable
from tests.runtime.doors.http.serving import client_of
from tests.runtime.page.hostile_story import EMOJI, EVIL, LONG, QUOTE, RIGHT_TO_LEFT, write_hostile_story
from tests.runtime.page.reading import Seen, read

TAGS = frozenset(
    "html head meta title link script body a header div bdi nav ul li details summary form label input output button "
    "span main h1 h2 h3 p article aside dl dt dd ol sup mark section meter strong select option textarea table thead "
    "tbody tr th td pre fieldset legend br blockquote footer code svg path circle rect text figure figcaption datalist "
    "del ins q progress dialog g line polygon tspan".split()
)


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    """A visitor of a story whose every field wants to be HTML."""
    folder: Path = tmp_path_factory.mktemp("hostile") / "projects"
    folder.mkdir()
    with client_of(folder) as client:
        write_hostile_story(client)
        yield client


def _visit(client: TestClient, address: str, **form: str) -> Seen:
    address = f"/page/projects/evil%20&%20co/{address}"
    answer = client.post(address, data=form) if form else client.get(address)
    assert answer.status_code == 200, answer.text[-2000:]
    seen = read(answer)
    assert {tag for tag, _ in seen.elements} <= TAGS
    assert "49</textarea>" not in seen.text
    return seen


@pytest.mark.slow
def test_the_scene_is_text(hostile: TestClient) -> None:
    """Every line as it is written; the words that prove a fact are marked, and both lead to each other."""
    seen = _visit(hostile, "story")
    assert EVIL in seen.text
    # Taking a text in drops what turns the order of letters round; letters that run from the right stay.
    assert "\u0627\u0644\u0633\u0644\u0627\u0645" in seen.text
    assert EMOJI in seen.text
    assert LONG in seen.text
    assert all(each.get("dir") == "auto" for each in seen.all("p") if not each.get("class"))
    assert [each["data-notes"] for each in seen.all("mark")] == ["1"]
    links = [each["href"] for each in seen.all("a")]
    assert {"#note-1", "#words-1"} <= set(links)
    assert {"note-1", "words-1"} <= set(seen.ids)


@pytest.mark.slow
def test_every_view_shows_it_as_text(hostile: TestClient) -> None:
    """Names, descriptions, states, threads and memories are words wherever they stand."""
    within = ("card?entity=C0", "card/merge?keep=C0&gone=C1", "knowledge?cell=M1%3AC0&of=C0&alone=1")
    for address in (*within, *VIEWS):
        seen = _visit(hostile, address)
        assert EVIL in seen.text or address in ("health", "context", "check", "write"), address


def test_what_is_sent_comes_back_as_text(hostile: TestClient) -> None:
    """A plan and a draft that want to be HTML stay words in their fields and in what is found."""
    _visit(hostile, "context", chapter="2", scene="1", purpose=EVIL, characters=EVIL, location=EVIL, pov="")
    seen = _visit(hostile, "check", chapter="2", scene="1", text=f"{EVIL}\n{RIGHT_TO_LEFT}\n{QUOTE}")
    assert EVIL in seen.text
    answer = hostile.get("/", params={"x": EVIL})
    assert EVIL in read(answer).text


def test_addresses_hold_what_was_asked_safely(hostile: TestClient) -> None:
    """What stands in an address comes back in links as an address only."""
    _visit(hostile, f"cards?find={'%22%3E%3Cscript%3E'}&kind=%22%3E%3Cb%3E")
    assert "his millions" not in _visit(hostile, "story?done=text&lost=his+millions").text
    answer = hostile.get('/page/projects/evil%20&%20co/card?entity="><script>alert(1)</script>')
    assert answer.status_code == 404
    assert {tag for tag, _ in read(answer).elements} <= TAGS


@pytest.mark.parametrize("broken", ["\ud800", "a\udfffb", "\x00", "\x1b[31m", "\x85", "\uffff"])
def test_what_html_cannot_hold_is_shown_as_missing(broken: str) -> None:
    """Halves of characters and control characters never reach an answer, which is always UTF-8."""
    shown = without_unprintable(f"before{broken}after")
    assert shown.startswith("before")
    assert shown.endswith("after")
    assert "\N{REPLACEMENT CHARACTER}" in shown
    assert shown.encode("utf-8").decode() == shown


@pytest.mark.slow
def test_halves_of_characters_in_a_draft(hostile: TestClient) -> None:
    """A draft and an address with broken bytes are answered."""
    address = "/page/projects/evil%20&%20co/check"
    body = b"chapter=2&scene=1&text=%ED%A0%80+Nell+slept.%00"
    answer = hostile.post(address, content=body, headers={"Content-Type": "application/x-www-form-urlencoded"})
    assert answer.status_code == 200
    read(answer)
    for view in VIEWS:
        assert hostile.get(f"/page/projects/evil%20&%20co/{view}?entity=%ED%A0%80&find=%FF").status_code == 200
