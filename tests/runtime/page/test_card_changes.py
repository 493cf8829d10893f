"""What a person changes on cards and in the picture of who knows what, and takes back with the button of the notice."""

import re
from typing import Any

import pytest
from fastapi.testclient import TestClient

from novelgen.words import filled
from runtime.page.frame import CHINESE, ENGLISH
from tests.runtime.page.reading import HERE, assert_refused, read, send, take_back

pytestmark = pytest.mark.slow

API = "/v1/projects/demo"


def _entities(client: TestClient, **query: str) -> Any:
    return client.get(f"{API}/entities", params=query).json()["entities"]


def _card(client: TestClient, name: str, **query: str) -> Any:
    return client.get(f"{API}/entities/{name}", params=query).json()


def test_what_you_say_of_a_state_is_dated_after_the_scene_before(client: TestClient) -> None:
    """On the card a state of your own stands `after` the scene that it follows, without a link to words that say so."""
    for start, told, as_of in (("3:1", "after 2:4", ""), ("2:1", "after 1:4", "&as_of=2%3A3")):
        client.patch(f"{API}/entities/C4", json={"changes": {"mood": start}, "start": start})
        assert f"<summary>{told}" in client.get(f"{HERE}/card?entity=C4{as_of}").text, start


def test_a_card_is_edited_and_taken_back(client: TestClient) -> None:
    """Only what was changed is written; names count from their scene on, and each step comes back exactly."""
    before = _card(client, "C4")["entity"]
    back = f"{HERE}/card?entity=C4&as_of=3%3A1"
    assert ENGLISH["edit_own"] in read(client.get(back)).text
    form = {"entity_id": "C4", "name": "Widow Quill", "role": before["role"], "description": "Keeps an inn."}
    seen = send(client, "card/edit?as_of=3:1", back=back, **form)
    assert "Widow Quill" in seen.text
    after = _card(client, "C4")["entity"]
    assert (after["name"], after["role"], after["description"]) == ("Widow Quill", before["role"], "Keeps an inn.")
    assert {each["alias"] for each in after["aliases"]} >= {before["name"], "Mother Quill"}
    seen = take_back(client, seen)
    assert _card(client, "C4")["entity"] == before
    assert ENGLISH["did_undo"] in seen.text

    back, before = f"{HERE}/card?entity=C2", _card(client, "C2")["entity"]
    seen = send(client, "card/alias", entity_id="C2", alias="Old Oar", since="4:1", back=back)
    assert "Old Oar" in seen.text
    assert "Old Oar" not in read(client.get(f"{back}&as_of=4:1")).text
    assert "Old Oar" in read(client.get(f"{back}&as_of=4:2")).text
    take_back(client, seen)
    seen = send(client, "card/alias", entity_id="C2", gone="Toby", back=back)
    assert "Toby" not in {each["alias"] for each in _card(client, "C2")["entity"]["aliases"]}
    take_back(client, seen)
    assert _card(client, "C2")["entity"] == before


def test_a_state_is_corrected_from_the_slider_on(client: TestClient) -> None:
    """It holds from the position on, whom it names is told by id, and a list has one entry a line."""
    back = f"{HERE}/card?entity=I0&as_of=3%3A1"
    places = ("3:1", "2:1")
    before = [_card(client, "I0", as_of=place)["state"]["state_data"] for place in places]
    seen = send(client, "card/state?as_of=3:1", entity_id="I0", attribute="holder", value="Mother Quill", back=back)
    states = [_card(client, "I0", as_of=place)["state"]["state_data"]["holder"] for place in places]
    assert states == ["C4", before[1]["holder"]]
    assert "Agatha Quill" in seen.text
    take_back(client, seen)
    assert [_card(client, "I0", as_of=place)["state"]["state_data"] for place in places] == before

    stated = {"changes": {}, "state": {"goals": ["one", "two"]}}
    assert client.patch(f"{API}/entities/C0", json=stated).status_code == 200
    for value, goals in (("three\r\nfour", ["three", "four"]), ("", None)):
        seen = send(client, "card/state", entity_id="C0", attribute="goals", value=value, back=f"{HERE}/card?entity=C0")
        assert (_card(client, "C0")["state"]["state_data"].get("goals") or None) == goals
    assert ENGLISH["holds_no_more"] in seen.text


@pytest.mark.parametrize("kind", ["character", "term"])
def test_a_new_card_is_known_from_the_slider_on(client: TestClient, kind: str) -> None:
    """Who makes a card is led to it; before the slider nobody knows of it, and its name is taken from then on."""
    form = {"kind": kind, "name": "Corin Vale", "description": "Nobody met before.", "aliases": "Corry, the Vale"}
    seen = send(client, "cards/add?as_of=3:1", **form)
    assert ENGLISH["did_confirm_card"].format(name="Corin Vale") in seen.text
    (made,) = [each for each in _entities(client, as_of="3:1") if each["name"] == "Corin Vale"]
    assert (made["entity_type"], made["description"]) == (kind, form["description"])
    assert [each["alias"] for each in made["aliases"]] == ["Corry", "the Vale"]
    assert "Corin Vale" not in [each["name"] for each in _entities(client, as_of="2:1")]
    assert client.post(f"{HERE}/cards/add?as_of=3:1", data=form).status_code == 400
    take_back(client, seen)
    assert "Corin Vale" not in [each["name"] for each in _entities(client)]


def test_a_new_card_has_the_fields_of_its_kind(client: TestClient) -> None:
    """A person named as the holder means that person's card; a field of the author's own can be changed."""
    seen = read(client.get(f"{HERE}/cards/new?kind=item"))
    assert {"fields:holder", "fields:origin"} <= {each.get("name") for each in seen.all("input")}
    given = {"fields:holder": "Ines", "fields:hallmark": "a heron", "fields:origin": ""}
    send(client, "cards/add", kind="item", name="the torn glove", **given)
    card = _card(client, "the torn glove")
    assert card["entity"]["profile"] == {"hallmark": "a heron"}
    assert card["state"]["state_data"]["holder"] == "C0"
    entity_id = card["entity"]["entity_id"]
    shown = read(client.get(f"{HERE}/card", params={"entity": entity_id}))
    assert "fields:hallmark" in {each.get("name") for each in shown.all("input")}
    edited = {"entity_id": entity_id, "name": "the torn glove", "fields:hallmark": "a tern", "fields:origin": "a shop"}
    send(client, "card/edit", back=f"{HERE}/card?entity={entity_id}", **edited)
    assert _card(client, "the torn glove")["entity"]["profile"] == {"hallmark": "a tern", "origin": "a shop"}


def test_a_rename_is_looked_at_by_the_position_of_the_view(client: TestClient) -> None:
    """Lines of scenes from there on are not shown."""
    asked = {"entity": "C0", "new_name": "Zed"}
    whole = read(client.get(f"{HERE}/card/rename", params=asked))
    early = read(client.get(f"{HERE}/card/rename", params={**asked, "as_of": "2:1"}))
    first = read(client.get(f"{HERE}/card/rename", params={**asked, "as_of": "1:1"}))
    lines, of_early, of_first = (len(seen.all("li")) for seen in (whole, early, first))
    assert lines > of_early > of_first


def test_a_rename_is_looked_at_done_and_taken_back(client: TestClient) -> None:
    """The preview counts and changes nothing; the notice takes all of it back."""

    def memories() -> list[str]:
        told = client.get(f"{API}/memories", params={"limit": 300}).json()["memories"]
        return sorted(each["chunk"]["content"] for each in told if each["chunk"]["content_type"] == "memory")

    before = memories()
    preview = read(client.get(f"{HERE}/card/rename", params={"entity": "C5", "new_name": "Swallow"}))
    assert ENGLISH["rename_question"].format(old="Sparrow", new="Swallow") in preview.text
    assert memories() == before
    seen = send(client, "card/rename", on=preview)
    assert ENGLISH["did_rename"].format(name="Swallow") in seen.text
    assert not any("Sparrow" in each for each in memories())
    take_back(client, seen)
    assert memories() == before


def test_two_become_one_and_one_becomes_two(client: TestClient) -> None:
    """The preview of a merge changes nothing; a merge and a split are told, listed, and taken back whole."""
    before = _entities(client)
    preview = read(client.get(f"{HERE}/card/merge", params={"keep": "C6", "gone": "Captain Dorn"}))
    assert "Captain Dorn" in preview.text
    assert _entities(client) == before
    seen = send(client, "card/merge", on=preview)
    assert "C7" not in {each["entity_id"] for each in _entities(client)}
    listed = read(client.get(f"{HERE}/who-is-who"))
    assert ENGLISH["decision_merge"].format(other="Bram Dorn", name="Ysolde Varga") in listed.text
    take_back(client, seen)
    assert _entities(client) == before
    assert ENGLISH["undone"] in read(client.get(f"{HERE}/who-is-who")).text
    seen = send(client, "card/merge", on=preview, start="4:1")
    known = [{each["entity_id"] for each in _entities(client, as_of=place)} for place in ("4:1", "3:1")]
    assert ["C7" in ids for ids in known] == [False, True]
    take_back(client, seen)
    assert _entities(client) == before

    card = read(client.get(f"{HERE}/card?entity=C3"))
    (tick,) = [each["name"] or "" for each in card.ticks if each["value"] == "Lind"]
    new = {"new_name": "Aurel Lind", "scenes": "2:1 2:2，2:3、3:1", tick: "Lind"}
    seen = send(client, "card/split", on=card, **new)
    assert ENGLISH["did_split"].format(name="Aurel Lind") in seen.text
    assert "Aurel Lind" in seen.fields("name")
    new = next(each for each in _entities(client) if each["name"] == "Aurel Lind")
    assert [each["alias"] for each in new["aliases"]] == ["Lind"]
    take_back(client, read(client.get(f"{HERE}/who-is-who")))
    assert _entities(client) == before


@pytest.mark.parametrize(
    ("language", "words", "content"), [("en", ENGLISH, "Bram Dorn is dead."), ("zh", CHINESE, "Bram Dorn死了。")]
)
def test_a_merge_tells_which_deaths_are_over(
    client: TestClient, language: str, words: dict[str, str], content: str
) -> None:
    """A death of one name, where a later scene has the other on stage; none where they were one from the start."""
    client.cookies.set("novelgen_language", language)
    start = words["merge_refuted"].split("{deaths}")[0]
    note = client.post(f"{API}/memories", json={"content": content, "start": "1:4"})
    assert note.status_code == 201, note.text
    preview = read(client.get(f"{HERE}/card/merge", params={"keep": "C6", "gone": "Bram Dorn"}))
    seen = send(client, "card/merge", on=preview, start="4:1")
    listed = client.get(f"{API}/memories", params={"content_types": "note", "as_of": "4:1"}).json()["memories"]
    (scene,) = [one["chunk"]["superseded_by"].removeprefix("scene:") for one in listed if one["chunk"]["slot_type"]]
    assert f"{start}“{content}” ({scene})" in seen.text
    take_back(client, seen)
    assert start not in send(client, "card/merge", on=preview).text


def test_a_name_without_a_card_is_decided_on(client: TestClient) -> None:
    """A name becomes a card, a name of one, or is offered no more; taken back, it is offered again."""
    back = f"{HERE}/who-is-who"
    before = _entities(client)
    for decision, form, told in (
        ("confirm", {"name": "Saltmouth", "kind": "location"}, "did_confirm_card"),
        ("name", {"other": "Saltmouth", "keep": "the Salt House"}, "did_name"),
        ("drop", {"name": "Saltmouth"}, "did_drop"),
    ):
        seen = send(client, f"who-is-who/{decision}", back=back, **form)
        assert ENGLISH[told].format(name="Saltmouth") in seen.text
        assert "Saltmouth" not in seen.fields("name")
        assert "Saltmouth" in take_back(client, seen).fields("name")
        assert _entities(client) == before
    offered = read(client.get(back))
    form = {each["name"] or "": each["value"] or "" for each in offered.ticks[:2]}
    names = [*form.values()]
    seen = send(client, "who-is-who/confirm-several", on=offered, **form)
    assert ENGLISH["did_confirm_card"].format(name=", ".join(names)) in seen.text
    assert not {*names} & {*seen.fields("name")}
    # Each is a change of its own in the list; the latest is taken back.
    assert {*names} & {*take_back(client, seen).fields("name")} == {names[1]}
    early = read(client.get(f"{back}?as_of=1:3"))
    assert "Saltmouth" not in early.text
    assert ENGLISH["changes_at_end"] in early.text


def test_a_cell_is_corrected_and_taken_back(client: TestClient) -> None:
    """The author's word stands in the picture with its mark, from where it was said on, and goes again."""

    def how() -> str:
        known = client.get(f"{API}/knowledge/C3").json()["known"]
        return str(next(each for each in known if each["source_id"] == "M001")["how"])

    cell = {"memory_id": "M001", "character_id": "C3"}
    before = client.get(f"{API}/knowledge/C3").json()
    back = read(client.get(f"{HERE}/knowledge?cell=M001%3AC3")).fields("back")[0]
    seen = send(client, "knowledge/say", back=back, kind="knows", how="told", learned_from="Ines", **cell)
    assert ENGLISH["did_say"].format(name="M001") in seen.text
    assert ENGLISH["say_as_told"] in seen.text
    assert how() == "told"
    second = send(client, "knowledge/say", back=back, kind="deceived", **cell)
    assert ENGLISH["deceived"] in second.text
    take_back(client, second)
    assert how() == "told"
    take_back(client, seen)
    assert client.get(f"{API}/knowledge/C3").json() == before

    # What is said to hold from a point of the story on is no secret before it; the rules can be let speak again.
    send(client, "knowledge/say?as_of=3:1", back=f"{HERE}/knowledge?as_of=3:1", kind="hidden", since="here", **cell)
    secret, fact = {"only": "secret", "of": "C3"}, "it fits no lock in the shop"
    assert fact in read(client.get(f"{HERE}/knowledge", params={**secret, "as_of": "3:1"})).text
    assert fact not in read(client.get(f"{HERE}/knowledge", params={**secret, "as_of": "2:1"})).text
    send(client, "knowledge/say", back=f"{HERE}/knowledge", kind="as_told", **cell)
    assert fact not in read(client.get(f"{HERE}/knowledge", params=secret)).text


def test_the_picture_says_every_cell_in_words(reader: TestClient) -> None:
    """Each cell is a button that says who knows or not, how and since when; of one person it stands in words."""
    seen = read(reader.get(f"{HERE}/knowledge"))
    told = [each["aria-label"] or "" for each in seen.all("button") if each.get("name") == "cell"]
    assert len(told) == 30 * 11
    assert all("knows: " in each or "does not know: " in each for each in told)
    assert ENGLISH["mark_might"] in seen.text
    alone = read(reader.get(f"{HERE}/knowledge", params={"of": "C5", "alone": "1", "only": "known"}))
    assert len([each for each in alone.all("button") if each.get("name") == "cell"]) <= 30
    assert "Sparrow knows: " in alone.text
    assert ENGLISH["none_such"] in read(reader.get(f"{HERE}/knowledge", params={"about": "zeppelin"})).text


def test_a_card_says_how_it_came_to_stand_so(client: TestClient) -> None:
    """An attribute has its scene, its words and what was before; names have the scene that they are known from."""
    words = "Ines counted the coins twice and owed nobody"
    change = {"entity_id": "C0", "changes": {"status": "owes nobody"}, "evidence": words}
    record = {"chapter_index": 7, "scene_index": 1, "characters_present": ["C0"], "state_changes": [change]}
    body = {"text": f"It rained. {words}. Then she slept.", "record": record}
    assert client.put(f"{API}/scenes/7/1", json=body).status_code == 200
    seen = read(client.get(f"{HERE}/card?entity=C0"))
    assert len(seen.all("blockquote")) == 1
    told = [ENGLISH[key] for key in ("knows_latest", "threads_of", "to_the_picture")]
    for each in ("before: free of debt", words, "since 2:3", *told):
        assert each in seen.text
    early = read(client.get(f"{HERE}/card?entity=C0&as_of=2:1"))
    assert "locksmith's daughter" not in early.text
    assert words not in early.text


def test_what_cannot_be_is_refused_in_words(reader: TestClient) -> None:
    """Nobody, itself, another kind, nothing, and what is no decision change nothing; the answer is a page."""
    same = {"entity_id": "C0", "attribute": "status", "value": "free of debt; takes her room by the week"}
    assert_refused(
        reader,
        [f"{API}/entities", f"{API}/knowledge/C0"],
        ("card/edit", {"entity_id": "Nobody At All", "role": "x"}, 404),
        ("card/edit", {"role": "x"}, 400),
        ("card/edit", {"entity_id": "C0", "name": " "}, 400),
        ("card/edit", {"entity_id": "C0", "name": "Ines Marrow"}, 400),
        ("card/alias", {"entity_id": "C0", "alias": "  "}, 400),
        ("card/alias", {"entity_id": "C0", "gone": "Nobody At All"}, 400),
        ("card/alias", {"entity_id": "C0", "alias": "Nessie", "since": "soon"}, 422),
        ("card/state", {"entity_id": "C0", "attribute": "", "value": "x"}, 400),
        ("card/state", same, 400),
        ("card/merge", {"keep": "C0", "gone": "Ines"}, 400),
        ("card/merge", {"keep": "C0", "gone": ""}, 400),
        ("card/merge", {"keep": "C0", "gone": "Nobody At All"}, 404),
        ("card/split", {"entity_id": "C0", "new_name": ""}, 400),
        ("card/split", {"entity_id": "C0", "new_name": "Ines", "scenes": "soon"}, 400),
        ("who-is-who/drop", {"name": ""}, 400),
        ("who-is-who/confirm", {"name": "Nobody At All"}, 404),
        ("knowledge/say", {"memory_id": "M001", "kind": "knows"}, 400),
        ("knowledge/say", {"memory_id": "M001", "character_id": "C0", "kind": "guesses"}, 400),
        ("knowledge/say", {"memory_id": "M001", "character_id": "C0", "kind": "as_told"}, 400),
        ("knowledge/say", {"memory_id": "M999", "character_id": "C0", "kind": "knows"}, 404),
        *(("undo", {"undo": number}, 400) for number in ("", "x" * 5000, "OL999")),
        ("undo", {"undo": "999"}, 404),
    )


STALE = {
    "card/edit": (
        {"entity_id": "C4", "description": "One."},
        {"entity_id": "C4", "description": "Two."},
        "description",
    ),
    "threads/edit": (
        {"loop_id": "OL1", "description": "One."},
        {"loop_id": "OL1", "description": "Two."},
        "description",
    ),
    "story/text": ({"position": "1:1", "text": "One."}, {"position": "1:1", "text": "Two."}, "text"),
}


@pytest.mark.parametrize("address", STALE)
def test_the_second_of_two_tabs_meets_what_the_first_wrote(client: TestClient, address: str) -> None:
    """Nothing is stored, both texts stand side by side, and what was put together from them is stored from there."""
    page = {
        "card/edit": "card?entity=C4",
        "threads/edit": "threads?thread=OL1",
        "story/text": "story/text?chapter=1&scene=1",
    }[address]
    tab = read(client.get(f"{HERE}/{page}"))
    first, second, field = STALE[address]
    version = {"version": tab.filled(f"{HERE}/{address}")["version"]}
    send(client, address, **first, **version)
    late = client.post(f"{HERE}/{address}", data={**second, **version, "back": f"{HERE}/{page}"})
    assert late.status_code == 412
    seen = read(late)
    assert ENGLISH["changed_meanwhile"] in seen.text
    assert all(text in seen.text for text in ("One.", "Two."))
    merged = seen.filled(f"{HERE}/{address}") | {field: "One. Two."}
    assert merged["version"] != version["version"]
    assert "One. Two." in send(client, address, **merged).text


@pytest.mark.parametrize(
    ("language", "words", "kept", "gone", "deleted"),
    [("en", ENGLISH, "Ivo Marchetti", "Ivo", "Captain"), ("zh", CHINESE, "白玫", "小玫", "老乞丐")],
)
def test_decisions_name_those_whose_cards_are_gone(
    empty: TestClient, language: str, words: dict[str, str], kept: str, gone: str, deleted: str
) -> None:
    """Who was merged or deleted has a name in the latest decisions, never an id."""
    empty.headers["Accept-Language"] = language
    empty.post("/v1/projects", json={"project_id": "new", "language": language})
    for name in (kept, gone, deleted):
        empty.post("/v1/projects/new/entities", json={"name": name})
    assert empty.post("/v1/projects/new/entities/merge", json={"keep": kept, "gone": gone}).status_code == 200
    assert empty.delete(f"/v1/projects/new/entities/{deleted}").status_code == 200
    seen = read(empty.get("/page/projects/new/who-is-who"))
    for kind, name, other in (("merge", kept, gone), ("add", gone, ""), ("add", deleted, ""), ("delete", "", deleted)):
        assert filled(words[f"decision_{kind}"], name=name, other=other) in seen.text
    assert not re.findall(r"\bC\d+\b", seen.text)


@pytest.mark.parametrize(
    ("language", "words", "appearance"), [("en", ENGLISH, {"appearance"}), ("zh", CHINESE, {"外貌", "外观"})]
)
def test_lists_and_fields_are_in_the_words_of_the_page(
    empty: TestClient, language: str, words: dict[str, str], appearance: set[str]
) -> None:
    """Names are joined with the comma of the language, and a thing has 外观 where a person has 外貌."""
    empty.headers["Accept-Language"] = language
    empty.post("/v1/projects", json={"project_id": "new", "language": language})
    text = (
        "“走吧，”林晚说。林晚笑了。陈默说：“好。”陈默点头。"
        if language == "zh"
        else '"Go," said Wren. "No," said Mack.'
    )
    empty.post("/page/projects/new/write/store", data={"text": text})
    here = "/page/projects/new"
    names = [each["name"] for each in empty.get("/v1/projects/new/candidates").json()["candidates"]][:2]
    form = {f"names:{index}": name for index, name in enumerate(names)}
    seen = read(empty.post(f"{here}/who-is-who/confirm-several", data=form, follow_redirects=True))
    assert filled(words["did_confirm_card"], name=words["between_names"].join(names)) in seen.text
    shown: set[str] = set()
    for name, kind in (("铜钥匙", "item"), ("周默", "character")):
        empty.post("/v1/projects/new/entities", json={"name": name, "kind": kind, "fields": {"appearance": "rust"}})
        card = empty.get("/v1/projects/new/entities/" + name).json()["entity"]
        page = empty.get(f"{here}/card?entity={card['entity_id']}").text
        shown |= {*re.findall(r'<dt dir="auto">(\w+)</dt><dd dir="auto">rust', page)}
    assert shown == appearance


@pytest.mark.parametrize(("language", "words"), [("en", ENGLISH), ("zh", CHINESE)])
def test_a_repeated_note_is_said_and_kept_once(empty: TestClient, language: str, words: dict[str, str]) -> None:
    """In the words of the page, and with nothing to take back."""
    empty.headers["Accept-Language"] = language
    empty.post("/v1/projects", json={"project_id": "new"})
    sent = {"content": "The bridge is gone.", "start": "2:1"}
    first, again = (read(empty.post("/page/projects/new/lore/add", data=sent, follow_redirects=True)) for _ in range(2))
    already = filled(words["did_noted_already"], name="“The bridge is gone.”")
    assert (already in first.text, already in again.text) == (False, True)
    assert [words["take_back"] in seen.text for seen in (first, again)] == [True, False]
    assert len(empty.get("/v1/projects/new/memories").json()["memories"]) == 1


@pytest.mark.parametrize(
    ("language", "words", "who", "note"),
    [
        ("en", ENGLISH, "Nell", "Gus has promised not to tell Nell that the mill is sold."),
        ("zh", CHINESE, "顾晚", "白玫瞒着顾晚把电报局卖了。"),
    ],
)
def test_a_note_says_from_whom_its_words_keep_it(
    empty: TestClient, language: str, words: dict[str, str], who: str, note: str
) -> None:
    """In the preview and in the notice; with its knowers said, it is kept from nobody by words."""
    empty.headers["Accept-Language"] = language
    empty.post("/v1/projects", json={"project_id": "new", "language": language})
    empty.post("/v1/projects/new/entities", json={"name": who})
    address = "/page/projects/new/lore/add"
    preview = read(empty.post(f"{address}/preview", data={"content": note}))
    assert filled(words["note_kept_from"], names=who) in preview.text
    seen = read(empty.post(address, data={"content": note}, follow_redirects=True))
    assert f"{words['did_add']} {filled(words['note_kept_told'], names=who)}" in seen.text
    sent = {"content": f"{note} ", "start": "2:1", "known_by": [who]}
    assert "kept_from" not in empty.post("/v1/projects/new/memories", json=sent).json()


@pytest.mark.parametrize(
    ("language", "words", "who", "note"),
    [
        ("en", ENGLISH, "Nell", "The strongbox lies under the coal; only Nell knows it."),
        ("zh", CHINESE, "顾晚", "钱箱埋在煤堆下，只有顾晚知道。"),
    ],
)
def test_a_note_says_who_alone_knows_it_by_its_words(
    empty: TestClient, language: str, words: dict[str, str], who: str, note: str
) -> None:
    """In the preview, in the notice and in JSON."""
    empty.headers["Accept-Language"] = language
    empty.post("/v1/projects", json={"project_id": "new", "language": language})
    empty.post("/v1/projects/new/entities", json={"name": who})
    address = "/page/projects/new/lore/add"
    preview = read(empty.post(f"{address}/preview", data={"content": note}))
    assert filled(words["note_known_by"], names=who) in preview.text
    seen = read(empty.post(address, data={"content": note}, follow_redirects=True))
    assert f"{words['did_add']} {filled(words['note_known_by'], names=who)}" in seen.text
    sent = {"content": note, "start": "2:1"}
    assert empty.post("/v1/projects/new/memories", json=sent).json()["known_only_by"] == [who]
    assert "known_only_by" not in empty.post("/v1/projects/new/memories", json={**sent, "known_by": [who]}).json()


@pytest.mark.parametrize(
    ("language", "words", "people", "text", "listed", "apart", "guess"),
    [
        (
            "en",
            ENGLISH,
            ("Kit", "Ada", "Nell"),
            "Kit sat with Ada and Nell.",
            "Only Ada knows that Kit drinks.",
            "Ada whispered to Kit that the well is dry.",
            "Nell (guess)",
        ),
        (
            "zh",
            CHINESE,
            ("沈青", "陆行舟", "顾晚"),
            "沈青和陆行舟、顾晚坐着。",
            "只有陆行舟知道沈青酗酒。",
            "陆行舟悄悄告诉沈青井干了。",
            "顾晚（推测）",
        ),
    ],
)
def test_the_notice_of_a_note_says_who_of_its_scene_knows_it(
    empty: TestClient,
    language: str,
    words: dict[str, str],
    people: tuple[str, str, str],
    text: str,
    listed: str,
    apart: str,
    guess: str,
) -> None:
    """And who does not; nothing of them where the note stands already."""
    empty.headers["Accept-Language"] = language
    empty.post("/v1/projects", json={"project_id": "new", "language": language})
    for name in people:
        empty.post("/v1/projects/new/entities", json={"name": name, "start": "1:1"})
    empty.post("/page/projects/new/write/store", data={"text": text})
    assert empty.put("/v1/projects/new/scenes/1/1/staging", json={"cast": people}).status_code == 200
    knowers = filled(words["note_known_to"], names=words["between_names"].join(people[:2]))
    for note, unaware in ((listed, people[2]), (apart, guess)):
        sent = {"content": note, "start": "1:1"}
        told = f"{knowers} {filled(words['note_not_known_to'], names=unaware)}"
        first, again = (
            read(empty.post("/page/projects/new/lore/add", data=sent, follow_redirects=True)) for _ in range(2)
        )
        assert (told in first.text, knowers in again.text) == (True, False)


@pytest.mark.parametrize(
    ("language", "words", "people", "thing", "given", "used"),
    [
        (
            "en",
            ENGLISH,
            ("Gus", "Hobb", "Nell"),
            "the brass key",
            "Gus gave the brass key to Hobb, but Nell does not know it.",
            "Hobb took the brass key for a toy, and Nell does not know it.",
        ),
        (
            "zh",
            CHINESE,
            ("周伯", "砚之", "顾明川"),
            "铜钥匙",
            "周伯把铜钥匙给了砚之，顾明川不知道钥匙的事。",
            "砚之见过铜钥匙放在哪里，瞒着顾明川。",
        ),
    ],
)
def test_the_notice_of_a_note_says_its_state_and_from_whom_it_is_kept(
    empty: TestClient,
    language: str,
    words: dict[str, str],
    people: tuple[str, str, str],
    thing: str,
    given: str,
    used: str,
) -> None:
    """What it sets, or what stands as before where it sets nothing."""
    empty.headers["Accept-Language"] = language
    empty.post("/v1/projects", json={"project_id": "new", "language": language})
    for name in people:
        empty.post("/v1/projects/new/entities", json={"name": name})
    empty.post("/v1/projects/new/entities", json={"name": thing, "kind": "item", "holder": people[0]})
    address = "/page/projects/new/lore/add"
    for note, done, holder in ((used, "did_note_changes_nothing", people[0]), (given, "did_note_states", people[1])):
        seen = read(empty.post(address, data={"content": note, "start": "2:1"}, follow_redirects=True))
        told = filled(words[done], name=f"{thing} → {holder}")
        assert f"{told} {filled(words['note_kept_told'], names=people[2])}" in seen.text


def test_what_begins_in_a_scene_that_is_not_written_has_no_link(client: TestClient) -> None:
    """A note, a name, a state, a thread and their changes: every link to a scene that the views have leads to one."""
    last = client.get(f"{API}/scenes").json()["scenes"][-1]["scene"]
    start = f"{last['chapter_index']}:{last['scene_index'] + 1}"
    who = last["participants"][0]
    client.post(f"{API}/memories", json={"content": "The tide turns at nine.", "start": start})
    client.post(f"{API}/entities/{who}/aliases", json={"alias": "Nine Tides", "start": start})
    client.patch(f"{API}/entities/{who}", json={"changes": {"mood": "calm"}, "start": start})
    client.post(f"{API}/threads", json={"description": "Who rang the bell at nine?", "start": start})
    links = set()
    for view in (f"card?entity={who}", "threads", "story?show=changes"):
        seen = read(client.get(f"{HERE}/{view}"))
        links |= {anchor["href"] or "" for anchor in seen.all("a") if "/story?chapter=" in (anchor["href"] or "")}
    assert f"{start} " in f"{read(client.get(f'{HERE}/card?entity={who}')).text} "
    assert links
    assert {link: client.get(link).status_code for link in links if client.get(link).status_code != 200} == {}
