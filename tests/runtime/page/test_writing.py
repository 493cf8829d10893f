"""The desk: the next chapter from its plan to where it is stored, in one view."""

import pytest
from fastapi.testclient import TestClient

from runtime.page.frame import CHINESE, ENGLISH
from tests.runtime.page.reading import HERE, read, send, take_back

pytestmark = pytest.mark.slow

API = "/v1/projects/demo"

PLAN = {"purpose": "Ines asks Sorrel for the heron key", "characters": "Ines, Sorrel"}


def _texts(client: TestClient) -> dict[tuple[int, int], str]:
    listed = client.get(f"{API}/scenes").json()["scenes"]
    places = [(each["scene"]["chapter_index"], each["scene"]["scene_index"]) for each in listed]
    return {place: client.get(f"{API}/scenes/{place[0]}/{place[1]}").json()["scene"]["text"] for place in places}


def test_a_plan_shows_what_the_story_knows_as_a_page(client: TestClient) -> None:
    """It is told under its needs, without marks of a prompt; the block for a model is there to be copied."""
    seen = send(client, "write", **PLAN, do="context")
    readable = seen.text.partition(ENGLISH["prompt_block"])[0]
    assert ENGLISH["what_story_knows"] in readable
    assert "Ines" in readable
    assert "<story-data" not in readable
    assert any(each.get("data-copy") == "prompt" for each in seen.all("button"))
    assert client.post(f"{HERE}/write", data={"do": "context"}).status_code == 400


def test_the_desk_says_how_much_is_unread_and_leads_to_the_reading(client: TestClient) -> None:
    """After a text was stored that no model read, in the language of the page; before it, nothing."""
    assert "are unread" not in send(client, "write", **PLAN, do="context").text
    scenes = len(_texts(client)) + 1
    send(client, "write/store", text="Sorrel locked the shop.", chapter="40", scene="1")
    for language, catalogue in (("en", ENGLISH), ("zh", CHINESE)):
        client.headers["Accept-Language"] = language
        seen = send(client, "write", **PLAN, chapter="41", scene="1", do="context")
        assert catalogue["unread_before"].format(unread=1, scenes=scenes) in seen.text
        assert any((each.get("href") or "").startswith(f"{HERE}/reading") for each in seen.all("a"))


def test_a_chapter_is_checked_stored_and_taken_back(client: TestClient) -> None:
    """The text survives the check; it is stored under the number that is said, and taken back it is at hand again."""
    before = _texts(client)
    draft = "Elias Marrow stood in the door of the lock shop."
    seen = send(client, "write", **PLAN, do="check", text=draft, chapter="40", scene="")
    assert ENGLISH["touched_of_draft"] in seen.text
    assert draft in seen.text
    seen = send(client, "write/store", **PLAN, text=draft, chapter="40", scene="1", title="The door")
    assert _texts(client) == before | {(40, 1): draft}
    assert ENGLISH["did_scene_stored"].format(name="40:1") in seen.text or "40:1" in seen.text
    seen = take_back(client, seen)
    assert _texts(client) == before
    assert draft in seen.text, "the desk has the text again"


@pytest.mark.parametrize(
    ("form", "told"),
    [({"text": " "}, "the draft is empty"), ({"text": "New.", "chapter": "1", "scene": "1"}, "stays; store this as")],
)
def test_nothing_that_is_stored_is_replaced(client: TestClient, form: dict[str, str], told: str) -> None:
    """An empty text and a place that is taken are refused on the desk, which keeps what was written."""
    before = _texts(client)
    answer = client.post(f"{HERE}/write/store", data={**PLAN, **form})
    assert answer.status_code == 400
    seen = read(answer)
    assert told in seen.text
    assert PLAN["purpose"] in seen.text
    assert form["text"].strip() in seen.text
    assert _texts(client) == before


def test_an_empty_project_begins_at_the_desk(empty: TestClient) -> None:
    """Its story leads there, the first chapter is stored, and the next number is the one after."""
    empty.post("/v1/projects", json={"project_id": "new"})
    begin = read(empty.get("/page/projects/new/story"))
    assert "/page/projects/new/write" in begin.addresses
    desk = read(empty.get("/page/projects/new/write"))
    assert (desk.fields("chapter"), desk.fields("scene")) == (["1"], ["1"])
    stored = empty.post(
        "/page/projects/new/write/store", data={"text": "雨下了一夜。陈默没有睡。"}, follow_redirects=True
    )
    assert "雨下了一夜。" in read(stored).text
    assert read(empty.get("/page/projects/new/write")).fields("chapter") == ["2"]


def test_a_chapter_is_called_as_its_author_calls_it(empty: TestClient) -> None:
    """The heading on top of the text is its title, and the next chapter stands before 番外 at the end."""
    empty.post("/v1/projects", json={"project_id": "new"})
    for text in ("第1章 雨\n\n雨下了一夜。", "第2章 门\n\n门开了。", "番外 旧信\n\n信还在。", "第3章 灯\n\n灯灭了。"):
        stored = empty.post("/page/projects/new/write/store", data={"text": text}, follow_redirects=True)
        assert text.partition("\n\n")[2] in read(stored).text
    titles = [each["scene"]["title"] for each in empty.get("/v1/projects/new/scenes").json()["scenes"]]
    assert [title.partition(" ")[0] for title in titles] == ["第1章", "第2章", "第3章", "番外"]
    refused = empty.post("/page/projects/new/write/store", data={"chapter": "第2章", "scene": "1", "text": "别的。"})
    assert (refused.status_code, "别的。" in read(refused).text) == (400, True)


def test_place_and_cast_of_the_desk_are_those_of_the_stored_scene(client: TestClient) -> None:
    """As they were typed, with the point of view, in one change; a name without a card is said, and several scenes."""
    client.post(f"{API}/entities", json={"name": "the lido", "kind": "location"})
    plan = {"characters": "Ines, Nobody, Sorrel", "location": "the lido", "pov": "Sparrow"}
    before = _texts(client)
    seen = send(client, "write/store", **plan, text="Elias Marrow locked the shop.", chapter="40", scene="1")
    assert ENGLISH["did_scene_stored_uncarded"].format(name="Nobody") in seen.text
    read_scene = client.get(f"{API}/scenes/40/1").json()["scene"]
    names = {each["entity_id"]: each["name"] for each in client.get(f"{API}/entities").json()["entities"]}
    assert names[read_scene["location_id"]] == "the lido"
    assert [names[each] for each in read_scene["participants"]] == ["Ines Marrow", "Lucan Sorrel", "Sparrow"]
    assert read_scene["staged"].keys() == {"participants", "location_id"}
    take_back(client, seen)
    assert _texts(client) == before
    seen = send(client, "write/store", **plan, text="One.\n\n***\n\nTwo.", chapter="40", scene="1")
    assert ENGLISH["did_scene_stored_unstaged"].format(name="40:1, 40:2") in seen.text
    assert not client.get(f"{API}/scenes/40/2").json()["scene"]["staged"]
    seen = send(client, "write/store", location="the opera house", text="Four.", chapter="41", scene="1")
    assert ENGLISH["did_scene_stored_uncarded"].format(name="the opera house") in seen.text
    assert client.get(f"{API}/scenes/41/1").json()["scene"]["location_id"] is None
    take_back(client, seen)
    seen = send(client, "write/store", characters="Nobody", text="Three.", chapter="41", scene="1")
    assert not client.get(f"{API}/scenes/41/1").json()["scene"]["staged"]


@pytest.mark.parametrize("ship", ["the Kestrel", "广兴号"])
def test_a_ship_is_the_place_of_a_scene_by_its_one_card(client: TestClient, ship: str) -> None:
    """On the desk, over HTTP and in the form of a stored scene, which offers no second card."""
    ship_id = client.post(f"{API}/entities", json={"name": ship, "kind": "item"}).json()["entity"]["entity_id"]
    seen = send(client, "write/store", location=ship, text="Rain fell.", chapter="42", scene="1")
    assert ENGLISH["did_scene_stored_uncarded"].format(name=ship) not in seen.text
    assert client.get(f"{API}/scenes/42/1").json()["scene"]["location_id"] == ship_id
    assert client.put(f"{API}/scenes/42/1/staging", json={"location": ""}).status_code == 200
    typed = {"position": "42:1", "location": ship, "cast": "Nobody Known"}
    refused = read(client.post(f"{HERE}/story/staging", data=typed))
    assert [each["name"] for each in refused.ticks] == ["card:character:Nobody Known"]
    read(client.post(f"{HERE}/story/staging", data=typed | {"cast": ""}, follow_redirects=True))
    assert client.get(f"{API}/scenes/42/1").json()["scene"]["location_id"] == ship_id
    assert ship in read(client.get(f"{HERE}/story?chapter=42&scene=1")).text


@pytest.mark.parametrize(("language", "catalogue"), [("en", ENGLISH), ("zh", CHINESE)])
def test_the_heading_on_top_is_the_title_and_each_stored_scene_is_named(
    empty: TestClient, language: str, catalogue: dict[str, str]
) -> None:
    """The title box shows it until another title is typed, and the notice names both scenes, of more the last."""
    empty.headers["Accept-Language"] = language
    empty.post("/v1/projects", json={"project_id": "new"})
    for heading in ("第三章 断桥", "Chapter 3: The Bridge"):
        text = f"# {heading}\n\n雨下了一夜。\n\n***\n\n桥断了。"
        checked = empty.post("/page/projects/new/write", data={"text": text, "do": "check"}, follow_redirects=True)
        (title,) = [each for each in read(checked).all("input") if each.get("name") == "title"]
        assert (title.get("value"), title.get("placeholder")) == ("", heading)
    (title,) = [
        each for each in read(empty.get("/page/projects/new/write")).all("input") if each.get("name") == "title"
    ]
    assert not title.get("placeholder")
    for chapter, scenes, named in (("4", 2, f"4:1{catalogue['between_names']}4:2"), ("5", 3, "5:1–5:3")):
        form = {"text": "\n\n***\n\n".join(f"雨下了{scene}夜。" for scene in range(scenes)), "chapter": chapter}
        stored = empty.post("/page/projects/new/write/store", data=form, follow_redirects=True)
        assert catalogue["did_scene_stored"].format(name=named) in read(stored).text


@pytest.mark.parametrize("title", ["第一章 银锁", "Chapter 1: The Silver Lock"])
def test_a_chapter_keeps_its_title_when_a_scene_without_one_follows(empty: TestClient, title: str) -> None:
    """In each list of chapters, over the scene, and beside the title of a single scene."""
    empty.post("/v1/projects", json={"project_id": "new"})
    store = "/page/projects/new/write/store"
    empty.post(store, data={"text": f"# {title}\n\n麻六爷死了。", "chapter": "1", "scene": "1"})
    empty.post(store, data={"text": "他们在院里停灵。", "chapter": "1", "scene": "2"})
    empty.post(store, data={"text": "夜里有人来。", "chapter": "1", "scene": "3", "title": "守灵"})
    empty.post(store, data={"text": "雨停了。", "chapter": "2", "scene": "1"})
    # Beside the list of chapters stands the scene's heading, and in the list of scenes the first one's own title.
    for query, count in (("chapter=1&scene=2", 2), ("chapter=2&scene=1", 1), ("show=scenes", 2), ("show=summaries", 1)):
        assert read(empty.get(f"/page/projects/new/story?{query}")).text.count(title) == count
