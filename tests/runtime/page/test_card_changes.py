"""What a person changes on cards and in the picture of who knows what, and takes back with the button of the notice."""

from typing import Any

import pytest
from fastapi.testclient import TestClient

from runtime.page.frame import ENGLISH
from tests.runtime.page.reading import Seen, read

HERE = "/page/projects/demo"


def _send(client: TestClient, address: str, **form: str) -> Seen:
    """Send a form and return the page to which it leads."""
    answer = client.post(f"{HERE}/{address}", data=form)
    assert answer.status_code == 200, answer.text[-1500:]
    return read(answer)


def _take_back(client: TestClient, seen: Seen) -> Seen:
    """Press the button of the notice."""
    return _send(client, "undo", back=_hidden(seen, "back"), undo=_hidden(seen, "undo"))


def _hidden(seen: Seen, name: str) -> str:
    return next(each["value"] or "" for each in seen.all("input") if each.get("name") == name)


def _entities(client: TestClient, **query: str) -> Any:
    return client.get("/v1/projects/demo/entities", params=query).json()["entities"]


def test_what_you_say_of_a_state_is_dated_after_the_scene_before(client: TestClient) -> None:
    """On the card a state of your own stands `after` the scene that it follows, without a link to words that say so."""
    for start, told in (("3:1", "after 2:4"), ("2:1", "after 1:4")):
        client.patch("/v1/projects/demo/entities/C4", json={"changes": {"mood": start}, "start": start})
        card = client.get(f"{HERE}/card?entity=C4&as_of=2%3A3" if start == "2:1" else f"{HERE}/card?entity=C4").text
        assert f"<summary>{told}" in card, start


def test_a_card_is_edited_and_taken_back(client: TestClient) -> None:
    """Only what was changed is written; the old name stays one of its names, and all comes back exactly."""
    before = client.get("/v1/projects/demo/entities/C4").json()["entity"]
    back = f"{HERE}/card?entity=C4&as_of=3%3A1"
    card = read(client.get(back))
    assert ENGLISH["edit_own"] in card.text
    form = {"entity": "C4", "name": "Widow Quill", "role": before["role"], "description": "Keeps an inn."}
    seen = _send(client, "card/edit?as_of=3:1", back=back, **form)
    assert "Widow Quill" in seen.text
    after = client.get("/v1/projects/demo/entities/C4").json()["entity"]
    assert (after["name"], after["role"], after["description"]) == ("Widow Quill", before["role"], "Keeps an inn.")
    assert {each["alias"] for each in after["aliases"]} >= {before["name"], "Mother Quill"}
    seen = _take_back(client, seen)
    assert client.get("/v1/projects/demo/entities/C4").json()["entity"] == before
    assert ENGLISH["did_undo"] in seen.text


def test_a_name_is_added_from_a_scene_on_and_taken_away(client: TestClient) -> None:
    """A name counts from the place that was given; each step can be taken back."""
    back = f"{HERE}/card?entity=C2"
    before = client.get("/v1/projects/demo/entities/C2").json()["entity"]["aliases"]
    seen = _send(client, "card/alias", entity="C2", alias="Old Oar", since="4:1", back=back)
    assert "Old Oar" in seen.text
    assert "Old Oar" not in read(client.get(f"{back}&as_of=4:1")).text
    assert "Old Oar" in read(client.get(f"{back}&as_of=4:2")).text
    _take_back(client, seen)
    assert client.get("/v1/projects/demo/entities/C2").json()["entity"]["aliases"] == before
    seen = _send(client, "card/alias", entity="C2", gone="Toby", back=back)
    assert "Toby" not in {
        each["alias"] for each in client.get("/v1/projects/demo/entities/C2").json()["entity"]["aliases"]
    }
    _take_back(client, seen)
    assert client.get("/v1/projects/demo/entities/C2").json()["entity"]["aliases"] == before


def test_a_state_is_corrected_from_the_slider_on(client: TestClient) -> None:
    """A correction holds from the position on and not before; whom a value names is told by id."""
    back = f"{HERE}/card?entity=I0&as_of=3%3A1"
    before = client.get("/v1/projects/demo/entities/I0", params={"as_of": "3:1"}).json()["state"]["state_data"]
    seen = _send(client, "card/state?as_of=3:1", entity="I0", attribute="holder", value="Mother Quill", back=back)
    states = [
        client.get("/v1/projects/demo/entities/I0", params={"as_of": place}).json()["state"]["state_data"]["holder"]
        for place in ("3:1", "2:1")
    ]
    assert states == [
        "C4",
        client.get("/v1/projects/demo/entities/I0", params={"as_of": "2:1"}).json()["state"]["state_data"]["holder"],
    ]
    assert "Agatha Quill" in seen.text
    _take_back(client, seen)
    after = client.get("/v1/projects/demo/entities/I0", params={"as_of": "3:1"}).json()["state"]["state_data"]
    assert after == before


def test_a_list_has_one_entry_a_line(client: TestClient) -> None:
    """A state that is a list stays one, and an empty value clears it."""
    stated = {"changes": {}, "state": {"goals": ["one", "two"]}}
    assert client.patch("/v1/projects/demo/entities/C0", json=stated).status_code == 200
    back = f"{HERE}/card?entity=C0"
    _send(client, "card/state", entity="C0", attribute="goals", value="three\r\nfour", back=back)
    assert client.get("/v1/projects/demo/entities/C0").json()["state"]["state_data"]["goals"] == ["three", "four"]
    seen = _send(client, "card/state", entity="C0", attribute="goals", value="", back=back)
    assert not client.get("/v1/projects/demo/entities/C0").json()["state"]["state_data"].get("goals")
    assert ENGLISH["holds_no_more"] in seen.text


def test_a_new_card_is_known_from_the_slider_on(client: TestClient) -> None:
    """Who makes a card is led to it; before the slider nobody knows of it, and its name is taken from then on."""
    for kind in ("character", "location", "item", "faction", "term"):
        form = {"kind": kind, "name": "Corin Vale", "description": "Nobody met before.", "aliases": "Corry, the Vale"}
        assert ENGLISH["new_card"] in read(client.get(f"{HERE}/cards")).text
        seen = _send(client, "cards/add?as_of=3:1", **form)
        assert ENGLISH["did_confirm_card"].format(name="Corin Vale") in seen.text
        (made,) = [each for each in _entities(client, as_of="3:1") if each["name"] == "Corin Vale"]
        assert (made["entity_type"], made["description"]) == (kind, form["description"])
        assert [each["alias"] for each in made["aliases"]] == ["Corry", "the Vale"]
        assert "Corin Vale" not in [each["name"] for each in _entities(client, as_of="2:1")]
        assert client.post(f"{HERE}/cards/add?as_of=3:1", data=form).status_code == 400
        _take_back(client, seen)
        assert "Corin Vale" not in [each["name"] for each in _entities(client)]


def test_a_new_card_has_the_fields_of_its_kind_and_template(client: TestClient) -> None:
    """Who chooses a template gets its fields; who names a person as the holder means that person's card."""
    assert "品阶" not in read(client.get(f"{HERE}/cards/new?kind=item")).text
    assert "points to" not in client.get(f"{HERE}/cards/new?kind=item").text
    seen = _send(client, "cards/template", name="mystery", back=f"{HERE}/cards/new?kind=item")
    assert {"field:holder", "field:points to"} <= {each.get("name") for each in seen.all("input")}
    given = {"field:holder": "Ines", "field:points to": "Finch", "field:origin": ""}
    _send(client, "cards/add", kind="item", name="the torn glove", **given)
    card = client.get("/v1/projects/demo/entities/the torn glove").json()
    assert card["entity"]["profile"] == {"points to": "C3"}
    assert card["state"]["state_data"]["holder"] == "C0"
    entity_id = card["entity"]["entity_id"]
    edited = {"entity": entity_id, "name": "the torn glove", "field:points to": "Finch", "field:origin": "a shop"}
    _send(client, "card/edit", back=f"{HERE}/card?entity={entity_id}", **edited)
    card = client.get("/v1/projects/demo/entities/the torn glove").json()
    assert card["entity"]["profile"] == {"points to": "C3", "origin": "a shop"}


def test_a_rename_is_looked_at_done_and_taken_back(client: TestClient) -> None:
    """The preview counts and changes nothing; the notice takes all of it back."""
    before = client.get("/v1/projects/demo/memories", params={"limit": 300}).json()["memories"]
    preview = read(client.get(f"{HERE}/card/rename", params={"entity": "C5", "new_name": "Swallow"}))
    assert ENGLISH["rename_question"].format(old="Sparrow", new="Swallow") in preview.text
    assert client.get("/v1/projects/demo/memories", params={"limit": 300}).json()["memories"] == before
    seen = _send(client, "card/rename", name="C5", new_name="Swallow")
    assert ENGLISH["did_rename"].format(name="Swallow") in seen.text
    told = client.get("/v1/projects/demo/memories", params={"limit": 300}).json()["memories"]
    assert not any("Sparrow" in each["chunk"]["content"] for each in told if each["chunk"]["content_type"] == "memory")
    _take_back(client, seen)
    whole = client.get("/v1/projects/demo/memories", params={"limit": 300}).json()["memories"]
    assert sorted(each["chunk"]["content"] for each in whole) == sorted(each["chunk"]["content"] for each in before)


def test_two_become_one_and_two_again(client: TestClient) -> None:
    """The preview names what is joined and changes nothing; a merge is told, listed and taken back whole."""
    before = _entities(client)
    preview = read(client.get(f"{HERE}/card/merge", params={"keep": "C6", "gone": "Captain Dorn"}))
    assert "Captain Dorn" in preview.text
    assert _entities(client) == before
    seen = _send(client, "card/merge", keep="C6", gone="C7")
    assert "C7" not in {each["entity_id"] for each in _entities(client)}
    listed = read(client.get(f"{HERE}/who-is-who"))
    assert ENGLISH["decision_merge"].format(other="C7", name="Ysolde Varga") in listed.text
    _take_back(client, seen)
    assert _entities(client) == before
    assert ENGLISH["undone"] in read(client.get(f"{HERE}/who-is-who")).text


def test_one_becomes_two_and_one_again(client: TestClient) -> None:
    """A split takes the names that were ticked; the list of decisions takes it back as well as the notice."""
    before = _entities(client)
    seen = _send(
        client,
        "card/split",
        entity="C3",
        new_name="Aurel Lind",
        alias_1="Lind",
        scenes="",
        back=f"{HERE}/card?entity=C3",
    )
    assert ENGLISH["did_split"].format(name="Aurel Lind") in seen.text
    new = next(each for each in _entities(client) if each["name"] == "Aurel Lind")
    assert [each["alias"] for each in new["aliases"]] == ["Lind"]
    listed = read(client.get(f"{HERE}/who-is-who"))
    _send(client, "undo", undo=_hidden(listed, "undo"), back=f"{HERE}/who-is-who")
    assert _entities(client) == before


@pytest.mark.parametrize(
    ("decision", "form", "told"),
    [
        ("confirm", {"name": "Saltmouth", "kind": "location"}, "did_confirm_card"),
        ("name", {"other": "Saltmouth", "keep": "the Salt House"}, "did_name"),
        ("drop", {"name": "Saltmouth"}, "did_drop"),
    ],
)
def test_a_name_without_a_card_is_decided_on(
    client: TestClient, decision: str, form: dict[str, str], told: str
) -> None:
    """A name becomes a card, a name of one, or is offered no more; taken back, it is offered again."""
    back = f"{HERE}/who-is-who"
    before = _entities(client)
    assert "Saltmouth" in read(client.get(back)).text
    seen = _send(client, f"who-is-who/{decision}", back=back, **form)
    assert ENGLISH[told].format(name="Saltmouth") in seen.text
    assert "Saltmouth" not in [each["value"] for each in seen.all("input") if each.get("name") == "name"]
    seen = _take_back(client, seen)
    assert "Saltmouth" in [each["value"] for each in seen.all("input") if each.get("name") == "name"]
    assert _entities(client) == before


def test_names_without_a_card_are_those_of_the_text_so_far(reader: TestClient) -> None:
    """As of a position neither a later name nor a decision is told."""
    early = read(reader.get(f"{HERE}/who-is-who?as_of=1:3"))
    assert "Saltmouth" not in early.text
    assert ENGLISH["changes_at_end"] in early.text


def test_a_cell_is_corrected_and_taken_back(client: TestClient) -> None:
    """The author's word stands in the picture with its mark, from where it was said on, and goes again."""
    address = f"{HERE}/knowledge?cell=M001%3AC3"
    seen = read(client.get(address))
    before = client.get("/v1/projects/demo/knowledge/C3").json()
    back = next(each["value"] or "" for each in seen.all("input") if each.get("name") == "back")
    form = {"memory_id": "M001", "character": "C3", "kind": "knows", "how": "told", "learned_from": "Ines"}
    seen = _send(client, "knowledge/say", back=back, **form)
    assert ENGLISH["did_say"].format(name="M001") in seen.text
    assert ENGLISH["say_as_told"] in seen.text
    known = client.get("/v1/projects/demo/knowledge/C3").json()["known"]
    assert next(each for each in known if each["source_id"] == "M001")["how"] == "told"
    second = _send(client, "knowledge/say", back=back, memory_id="M001", character="C3", kind="deceived")
    assert ENGLISH["deceived"] in second.text
    _take_back(client, second)
    known = client.get("/v1/projects/demo/knowledge/C3").json()["known"]
    assert next(each for each in known if each["source_id"] == "M001")["how"] == "told"
    _take_back(client, seen)
    assert client.get("/v1/projects/demo/knowledge/C3").json() == before


def test_a_cell_holds_from_the_slider_on(client: TestClient) -> None:
    """What is said to hold from a point of the story on is no secret before it; the rules can be let speak again."""
    form = {"memory_id": "M001", "character": "C3", "kind": "hidden", "since": "here"}
    _send(client, "knowledge/say?as_of=3:1", back=f"{HERE}/knowledge?as_of=3:1", **form)
    secret = {"only": "secret", "of": "C3"}
    assert "M001" in read(client.get(f"{HERE}/knowledge", params={**secret, "as_of": "3:1"})).text
    assert "M001" not in read(client.get(f"{HERE}/knowledge", params={**secret, "as_of": "2:1"})).text
    _send(client, "knowledge/say", back=f"{HERE}/knowledge", memory_id="M001", character="C3", kind="as_told")
    assert "M001" not in read(client.get(f"{HERE}/knowledge", params=secret)).text


def test_the_picture_says_every_cell_in_words(reader: TestClient) -> None:
    """Each cell is a button that says who knows or not, how and since when; of one person it stands in words."""
    seen = read(reader.get(f"{HERE}/knowledge", headers={"Accept-Language": "en"}))
    cells = [each for each in seen.all("button") if each.get("name") == "cell"]
    assert len(cells) == 30 * 11
    told = [each["aria-label"] or "" for each in cells]
    assert all("knows: " in each or "does not know: " in each for each in told)
    assert ENGLISH["mark_might"] in seen.text
    alone = read(reader.get(f"{HERE}/knowledge", params={"of": "C5", "alone": "1", "only": "known"}))
    assert len([each for each in alone.all("button") if each.get("name") == "cell"]) <= 30
    assert "Sparrow knows: " in alone.text
    nothing = read(reader.get(f"{HERE}/knowledge", params={"about": "zeppelin"}))
    assert ENGLISH["none_such"] in nothing.text


def test_a_card_says_how_it_came_to_stand_so(client: TestClient) -> None:
    """An attribute has its scene, its words and what was before; names have the scene that they are known from."""
    words = "Ines counted the coins twice and owed nobody"
    record = {
        "chapter_index": 7,
        "scene_index": 1,
        "characters_present": ["C0"],
        "state_changes": [{"entity_id": "C0", "changes": {"status": "owes nobody"}, "evidence": words}],
    }
    body = {"text": f"It rained. {words}. Then she slept.", "record": record}
    assert client.put("/v1/projects/demo/scenes/7/1", json=body).status_code == 200
    seen = read(client.get(f"{HERE}/card?entity=C0"))
    assert "before: free of debt" in seen.text
    assert words in seen.text
    assert len(seen.all("blockquote")) == 1
    for key in ("knows_latest", "threads_of", "to_the_picture"):
        assert ENGLISH[key] in seen.text
    assert "since 2:3" in seen.text
    early = read(client.get(f"{HERE}/card?entity=C0&as_of=2:1"))
    assert "locksmith's daughter" not in early.text
    assert words not in early.text


@pytest.mark.parametrize(
    ("address", "form", "status"),
    [
        ("card/edit", {"entity": "Nobody At All", "role": "x"}, 404),
        ("card/edit", {"role": "x"}, 400),
        ("card/edit", {"entity": "C0", "name": " "}, 400),
        ("card/edit", {"entity": "C0", "name": "Ines Marrow"}, 400),
        ("card/alias", {"entity": "C0", "alias": "  "}, 400),
        ("card/alias", {"entity": "C0", "gone": "Nobody At All"}, 400),
        ("card/alias", {"entity": "C0", "alias": "Nessie", "since": "soon"}, 422),
        ("card/state", {"entity": "C0", "attribute": "", "value": "x"}, 400),
        (
            "card/state",
            {"entity": "C0", "attribute": "status", "value": "free of debt; takes her room by the week"},
            400,
        ),
        ("card/merge", {"keep": "C0", "gone": "Ines"}, 400),
        ("card/merge", {"keep": "C0", "gone": "L0"}, 400),
        ("card/merge", {"keep": "C0", "gone": ""}, 400),
        ("card/merge", {"keep": "C0", "gone": "Nobody At All"}, 404),
        ("card/split", {"entity": "C0", "new_name": ""}, 400),
        ("card/split", {"entity": "C0", "new_name": "Somebody Else"}, 400),
        ("card/split", {"entity": "C0", "new_name": "Ines", "scenes": "soon"}, 400),
        ("who-is-who/drop", {"name": ""}, 400),
        ("who-is-who/name", {"other": "Saltmouth", "keep": ""}, 400),
        ("who-is-who/confirm", {"name": "Nobody At All"}, 404),
        ("knowledge/say", {"memory_id": "M001", "kind": "knows"}, 400),
        ("knowledge/say", {"memory_id": "M001", "character": "C0", "kind": "guesses"}, 400),
        ("knowledge/say", {"memory_id": "M001", "character": "C0", "kind": "as_told"}, 400),
        ("knowledge/say", {"memory_id": "M999", "character": "C0", "kind": "knows"}, 404),
        ("knowledge/say", {"memory_id": "M001", "character": "Nobody At All", "kind": "knows"}, 404),
        ("undo", {"undo": ""}, 400),
        ("undo", {"undo": "x" * 5000}, 400),
        ("undo", {"undo": "999"}, 404),
        ("undo", {"undo": "OL999"}, 400),
    ],
)
def test_what_cannot_be_is_refused_in_words(
    reader: TestClient, address: str, form: dict[str, str], status: int
) -> None:
    """Nobody, itself, another kind, nothing, and what is no decision change nothing; the answer is a page."""
    before = (_entities(reader), reader.get("/v1/projects/demo/knowledge/C0").json())
    answer = reader.post(f"{HERE}/{address}", data=form)
    read(answer)
    assert answer.status_code == status
    assert (_entities(reader), reader.get("/v1/projects/demo/knowledge/C0").json()) == before
