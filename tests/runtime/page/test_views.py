"""Every view over both demos: it answers in both languages, needs nothing from elsewhere, tells nothing early."""

import base64
import html
import re
from itertools import product
from pathlib import Path
from urllib.parse import unquote

import pytest
from fastapi.testclient import TestClient
from httpx import Response

from novelgen.models.position import StoryPosition
from runtime.doors.http.settings import ServerSettings
from runtime.files.chapter_names import ChapterNames, TitledScene
from runtime.page.frame import CHINESE, ENGLISH, VIEWS, Here
from tests.runtime.doors.http.serving import READ_TOKEN, TOKEN, client_of
from tests.runtime.page.reading import HERE, Seen, later_words, read
from tests.support.variants import variants

DEMOS = ("demo", "demo-zh")
PLAN = {
    "demo": {"purpose": "Ines hides the key", "characters": "Ines, Sparrow", "location": "the lock shop"},
    "demo-zh": {"purpose": "藏起钥匙", "characters": "", "location": ""},
}


@pytest.mark.slow
@pytest.mark.parametrize(("project", "view", "language"), [*product(DEMOS, VIEWS, ("en", "zh"))])
def test_every_view_answers_in_the_browsers_language(
    reader: TestClient, project: str, view: str, language: str
) -> None:
    """A view has a heading, says in which language it is, and marks itself in the navigation."""
    answer = reader.get(f"/page/projects/{project}/{view}", headers={"Accept-Language": language})
    seen = read(answer)
    words = CHINESE if language == "zh" else ENGLISH
    assert answer.status_code == 200
    assert len(seen.all("h1")) == 1
    assert seen.all("html")[0]["lang"] == ("zh-Hans" if language == "zh" else "en")
    assert words[view] in seen.text
    assert len([each for each in seen.all("a") if each.get("aria-current") == "page"]) >= 1


def test_lists_hold_every_project_and_cards_by_kind_and_name(reader: TestClient) -> None:
    """The page at `/` leads into each; cards are found by alias, whatever its case."""
    seen = read(reader.get("/"))
    links = [each["href"] for each in seen.all("a")]
    for project in DEMOS:
        overview = reader.get(f"/v1/projects/{project}").json()
        assert f"/page/projects/{project}/story" in links
        assert overview["name"] in seen.text
        assert str(overview["memories"]) in seen.text
    places = read(reader.get(f"{HERE}/cards?kind=location"))
    listed = reader.get("/v1/projects/demo/entities", params={"entity_type": "location"}).json()["entities"]
    assert all(each["name"] in places.text for each in listed)
    assert "Corvin Hale" not in places.text
    found = read(reader.get(f"{HERE}/cards", params={"find": "MISS MARROW"}))
    assert "Ines Marrow" in found.text
    assert "Corvin Hale" not in found.text


ID = re.compile(r"\b(?:[A-Z]{1,2}\d+|K[0-9a-f]{12})\b")
SHOWN_BY_ID = ("card?entity=C0", "knowledge?cell=M075%3AC0", "threads?thread=OL4", "story?chapter=2&scene=1", "lore")


@pytest.mark.slow
def test_no_view_names_anything_by_its_id(reader: TestClient) -> None:
    """Neither what people see nor what is read out to them is an id of a card, a memory or a thread."""
    for view in (*VIEWS, *SHOWN_BY_ID):
        seen = read(reader.get(f"/page/projects/demo-zh/{view}"))
        named = [each.get(name) or "" for _, each in seen.elements for name in ("aria-label", "title", "placeholder")]
        assert ID.findall("\n".join([seen.text, *named])) == [], view


@pytest.mark.slow
def test_every_link_of_every_view_leads_somewhere(reader: TestClient) -> None:
    """What the views of a demo link to, pages of cards and scenes among it, is there, and so is the part they name."""
    found = {"/"} | {f"{HERE}/{view}?as_of=2%3A3" for view in VIEWS}
    seen: dict[str, Seen | None] = {}
    parts: set[tuple[str, str]] = set()
    while waiting := sorted(found - seen.keys()):
        address = waiting[0]
        answer = reader.get(address)
        assert answer.status_code == 200, address
        seen[address] = read(answer) if answer.headers["content-type"].startswith("text/html") else None
        if "demo/" not in address or "/look" in address:
            continue
        for each in seen[address].all("a") if seen[address] else []:
            target, _, part = (each["href"] or "").partition("#")
            if "as_of=2%3A3" in target and "/look" not in target:
                found.add(target)
                parts |= {(target, unquote(part))} if part else set()
    assert len(seen) > 20
    assert [(target, part) for target, part in parts if part not in _ids(seen[target])] == []


def _ids(page: Seen | None) -> list[str]:
    return page.ids if page else []


@pytest.mark.slow
@pytest.mark.parametrize(("project", "as_of"), variants([("demo", "3:1"), ("demo-zh", "3:1"), ("demo", "3")], 2))
def test_nothing_later_than_the_slider_is_shown(reader: TestClient, project: str, as_of: str) -> None:
    """As of a position no view or list within one, nor an attribute in it, has words of what comes from there on.

    What scripts fetch is a view at the slider's place, or where scenes stand, and nothing else.
    """
    later = later_words(reader, project, as_of)
    assert len(later) > 50
    pages = [f"/page/projects/{project}/{view}" for view in VIEWS if view != "health"]
    known = reader.get(f"/v1/projects/{project}/entities", params={"as_of": as_of}).json()["entities"]
    who = [each["entity_id"] for each in known]
    within = "story?show=scenes story?show=summaries&chapter=1 story?show=changes timeline?order=lived who-is-who lore"
    within += f" relationships?person={who[0]} knowledge?of={who[0]}&alone=1 card/merge?keep={who[0]}&gone={who[1]}"
    cards = [f"card?entity={each}" for each in who]
    pages += [f"/page/projects/{project}/{each}" for each in (*within.split(), *cards)]
    texts = {each: reader.get(each, params=_with(each, as_of)).text for each in pages}
    for view in ("context", "check"):
        form = {**PLAN[project], "chapter": "99", "scene": "1", "text": "She knocked at the door."}
        address = f"/page/projects/{project}/{view}"
        texts[f"{view} sent"] = reader.post(address, params={"as_of": as_of}, data=form).text
    for page, text in texts.items():
        said = html.unescape(text)
        assert [each for each in later if each in said] == [], page


def _with(address: str, as_of: str) -> dict[str, str]:
    query = address.partition("?")[2]
    return {"as_of": as_of, **dict(each.split("=") for each in query.split("&") if each)}


@pytest.mark.parametrize(
    ("as_of", "following"),
    [
        (None, (4, 1)),
        (StoryPosition(3, 0), (3, 0)),
        (StoryPosition(3, 2), (3, 2)),
        (StoryPosition(3), (3, 0)),
        (StoryPosition(2), (2, 1)),
        (StoryPosition(1), (1, 1)),
        (StoryPosition(9), (9, 1)),
    ],
)
def test_the_scene_at_the_position_is_never_read(as_of: StoryPosition | None, following: tuple[int, int]) -> None:
    """What a plan or a draft is for stands right at the position, also in chapters that begin with a scene 0."""
    places = ((1, 1), (3, 0), (3, 1), (3, 2))
    here = Here(as_of, places, ChapterNames.of(TitledScene(*place) for place in places))
    assert here.next_scene == following
    assert [place for place in here.places if place < following] == list(here.places[: here.known])


def test_the_story_opens_where_the_slider_stands(reader: TestClient) -> None:
    """With the last scene before it; who asks for a later one is told so and sees none of it."""
    address = f"{HERE}/story?chapter=5&scene=1"
    title = reader.get("/v1/projects/demo/scenes/5/1").json()["scene"]["title"]
    assert title in read(reader.get(address)).text
    answer = reader.get(f"{address}&as_of=3:1")
    assert answer.status_code == 404
    assert title not in read(answer).text
    scenes = reader.get("/v1/projects/demo/scenes").json()["scenes"]
    last = [each["scene"]["title"] for each in scenes if each["scene"]["chapter_index"] < 3][-1]
    assert last in read(reader.get(f"{HERE}/story?as_of=3:1")).text
    assert ENGLISH["no_scenes_by_then"] in read(reader.get(f"{HERE}/story?as_of=1:1")).text


def test_the_slider_leads_to_the_view_at_its_place(reader: TestClient) -> None:
    """So many scenes as the slider says are known there; at its end all are."""
    for known, as_of in (("0", "?as_of=1%3A1"), ("4", "?as_of=2%3A1"), ("23", ""), ("999", "")):
        answer = reader.get(f"{HERE}/at/threads", params={"known": known}, follow_redirects=False)
        assert (answer.status_code, answer.headers["location"]) == (303, f"{HERE}/threads{as_of}")
        assert read(reader.get(f"{HERE}/threads{as_of}")).fields("known") == [str(min(int(known), 23))]


def test_the_slider_names_the_places_of_all_scenes(reader: TestClient) -> None:
    """Where every scene stands and no word of them; moved on a card it shows the same card there."""
    scenes = [each["scene"] for each in reader.get("/v1/projects/demo/scenes").json()["scenes"]]
    told = reader.get(f"{HERE}/places?as_of=3:1").json()
    assert told == {"places": [[each["chapter_index"], each["scene_index"]] for each in scenes]}
    seen = read(reader.get(f"{HERE}/card?entity=C0&as_of=3:1"))
    assert {"type": "hidden", "name": "entity", "value": "C0"} in seen.all("input")
    answer = reader.get(f"{HERE}/at/cards", params={"known": 4, "entity": "C0"}, follow_redirects=False)
    assert answer.headers["location"] == f"{HERE}/card?entity=C0&as_of=2%3A1"


def test_what_goes_wrong_is_a_page_for_people(reader: TestClient) -> None:
    """A wrong address is answered with words and a way back, and no path of the machine."""
    for address, status in (
        ("/page/projects/nowhere/story", 404),
        ("/page/projects/..%5Cdemo/story", 400),
        (f"{HERE}/story?as_of=soon", 422),
        (f"{HERE}/story?chapter=one&scene=1", 422),
        (f"{HERE}/story?chapter=77&scene=1", 404),
        (f"{HERE}/card?entity=Nobody", 404),
        (f"{HERE}/threads?ended=0", 422),
        (f"{HERE}/at/story?known=-1", 422),
        ("/page/static/routes.py", 404),
    ):
        answer = reader.get(address)
        seen = read(answer)
        assert answer.status_code == status, address
        assert ENGLISH["something_wrong"] in seen.text
        assert "/" in seen.addresses
        assert "/tmp" not in seen.text


@pytest.mark.slow
def test_a_context_shows_its_block_and_why(reader: TestClient) -> None:
    """The block is word for word that of the service, every item has its reasons, and the form stays filled."""
    form = {**PLAN["demo"], "chapter": "3", "scene": "1"}
    answer = reader.post(f"{HERE}/context", data=form)
    seen = read(answer)
    plan = {"location": form["location"], "characters": ["Ines", "Sparrow"], "purpose": form["purpose"]}
    asked = {"chapter_index": 3, "scene_index": 1, "scene_plan": plan}
    context = reader.post("/v1/projects/demo/context", json=asked).json()
    for item in context["report"]["items"]:
        assert item["text"] in seen.text
    for item in context["report"]["left_out"]:
        assert (item["text"].removeprefix("- ") or context["report"]["names"][item["id"]]) in seen.text
    assert ENGLISH["prompt_block"] in seen.text
    assert "What the story has established before this scene" in seen.text
    fields = {each.get("name"): each.get("value") for each in seen.all("input")}
    assert fields["characters"] == "Ines, Sparrow"
    assert len(seen.all("meter")) >= 3


AT_HOME = ("/", "/page/import", "/page/jobs")
CHANGING = (
    "threads story story?chapter=1&scene=1 story?show=scenes story?show=summaries story?show=changes cards "
    "card?entity=C0 card/merge?keep=C6&gone=C7 who-is-who knowledge?cell=M001%3AC0 health"
).split()
WAYS_TO_CHANGE = (
    "threads/end check/waive check/unwaive context/keep health memory/pin memory/ban card/edit card/alias card/state "
    "card/merge card/split who-is-who/drop undo knowledge/say story/fact story/add story/recorded story/text "
    "story/insert story/move story/summary reading memory/confirm"
).split()


@pytest.mark.slow
def test_only_so_much_is_written_where_one_may_read(demo_folder: Path) -> None:
    """With a token that may only read one plans and checks; no form offers what would change something."""
    with client_of(demo_folder, ServerSettings(token=TOKEN, read_token=READ_TOKEN)) as client:
        refused = client.get("/")
        assert refused.status_code == 401
        assert refused.headers["www-authenticate"].startswith("Basic ")
        assert client.get("/v1/projects").headers["www-authenticate"] == "Bearer"
        client.headers["Authorization"] = f"Bearer {READ_TOKEN.get_secret_value()}"
        for address in (*AT_HOME, *(f"{HERE}/{view}" for view in CHANGING)):
            answer = client.get(address)
            assert _posted(answer) == set(), address
            assert not [each for each in read(answer).all("a") if "/story/" in (each.get("href") or "")], address
        form = {"chapter": "3", "scene": "1"}
        for view, said in (("context", PLAN["demo"]), ("check", {"text": "Elias Marrow came in."})):
            assert _posted(client.post(f"{HERE}/{view}", data=form | said)) == {f"{HERE}/{view}"}
        for path in ("/page/imports", *(f"{HERE}/{way}" for way in WAYS_TO_CHANGE)):
            answer = client.post(path, data={**form, "loop_id": "OL0", "summary": "So."})
            assert answer.status_code == 403, path
        assert client.delete("/v1/projects/demo", params={"confirm": "demo"}).status_code == 403


def _posted(answer: Response) -> set[str | None]:
    """Return where the forms of a page lead that change something, or ask for much."""
    assert answer.status_code == 200
    return {each["action"] for each in read(answer).all("form") if each.get("method") == "post"}


@pytest.mark.slow
def test_a_person_gives_the_token_as_a_password(demo_folder: Path) -> None:
    """A browser that asked its user is let in by the right password, whatever the name."""
    token, read_token = TOKEN.get_secret_value(), READ_TOKEN.get_secret_value()
    right = (f"anybody:{token}", f":{token}", f"anybody:{read_token}")
    given = {
        each: base64.b64encode(each.encode()).decode() for each in (*right, f"{token}:", "anybody:", "anybody:none")
    }
    asked = {f"Basic {code}": 200 if each in right else 401 for each, code in given.items()}
    asked |= {f"basic  {given[right[0]]}": 200, "Basic": 401, "Basic !!!": 401, f"Basic {given[right[0]]}!": 401}
    with client_of(demo_folder, ServerSettings(token=TOKEN, read_token=READ_TOKEN)) as client:
        for authorization, status in asked.items():
            assert client.get("/", headers={"Authorization": authorization}).status_code == status, authorization
        assert client.get("/", headers={"Authorization": "Basic \u00e9".encode()}).status_code == 401


@pytest.mark.parametrize("language", ["en", "zh"])
def test_an_empty_project_shows_its_title_and_no_filters(empty: TestClient, language: str) -> None:
    """The head has the title and not the id, and no list is narrowed that has nothing; one without a title its id."""
    empty.headers["Accept-Language"] = language
    empty.post("/v1/projects", json={"project_id": "misty", "name": "雾屿"})
    for view in VIEWS:
        answer = empty.get(f"/page/projects/misty/{view}")
        assert "<bdi>雾屿</bdi></summary>" in answer.text
        assert " · 雾屿 · novelgen</title>" in answer.text
        assert not any("filter" in (each.get("class") or "").split() for each in read(answer).all("form")), view
    empty.post("/v1/projects", json={"project_id": "bare"})
    assert "<bdi>bare</bdi></summary>" in empty.get("/page/projects/bare/story").text
    empty.post("/v1/projects/misty/entities", json={"name": "小满", "kind": "character"})
    (filtering,) = [
        each for each in read(empty.get("/page/projects/misty/cards")).all("form") if each.get("class") == "filter"
    ]
    assert filtering["role"] == "search"
