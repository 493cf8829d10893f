"""The story on the page: changing facts, texts and places by forms, and what is refused."""

import queue
from itertools import product
from typing import Any, get_args

import pytest
from fastapi.testclient import TestClient
from httpx import Response

from novelgen.models.memory import EVENT_TYPES
from novelgen.words import filled
from runtime.page.forms import FORMS
from runtime.page.frame import CATALOGUES, CHINESE, ENGLISH
from runtime.page.projects import MENDED_BY
from runtime.storage.change import AuthorChangeKind
from runtime.story.who_is_who import StoryNameCandidates
from tests.runtime.page.reading import HERE, Seen, assert_refused, read, send, take_back

STORY = f"{HERE}/story"
SCENE = f"{STORY}?chapter=1&scene=1"
THERE = {"position": "1:1", "back": SCENE}
API = "/v1/projects/demo"
WORDS = "Rain had found its old way through the roof"


def _memory(client: TestClient) -> dict[str, Any]:
    answer: dict[str, Any] = client.get(f"{API}/memories/M001").json()
    return answer


def _fact_form(**fields: str) -> dict[str, str]:
    """The edit form of M001 as a browser sends it unchanged, with some fields otherwise."""
    form = {
        **THERE,
        "at": "fact-memory-M001",
        "memory_id": "M001",
        "content": "Ines Marrow found, behind a brick in the lock shop, a brass key with a heron on the bow that her "
        "father Elias had hidden; it fits no lock in the shop.",
        "importance": "8",
        "event_type": "discovery",
        "about": "Ines Marrow, Elias Marrow, the heron key, the lock shop",
        "evidence": "",
    }
    return {**form, **fields}


def _sent(client: TestClient, way: str, form: dict[str, str], query: str = "") -> Response:
    return client.post(f"{HERE}/{way}{query}", data=form, follow_redirects=False)


def _story_of(client: TestClient, place: str = "chapter=1&scene=1", query: str = "") -> Seen:
    return read(client.get(f"{STORY}?{place}{query}"))


@pytest.mark.slow
def test_a_fact_is_edited_in_place_and_taken_back(client: TestClient) -> None:
    """Text, weight, kind, people and words change together, the answer leads back to the fact, undo restores all."""
    before = _memory(client)
    seen = _story_of(client, query="&edit=M001")
    assert {each.get("id") for each in seen.all("textarea")} >= {"edit-text", "edit-evidence"}
    form = _fact_form(
        content="Ines found the heron key.",
        importance="6",
        event_type="secret_learned",
        about="Ines Marrow、Sparrow",
        evidence=WORDS,
    )
    location = _sent(client, "story/fact", form).headers["location"]
    assert location.startswith(f"{SCENE}&done=change&told=")
    assert location.endswith("#fact-memory-M001")
    after = _memory(client)["chunk"]
    told = [after[name] for name in ("content", "importance", "event_type", "origin")]
    assert told == ["Ines found the heron key.", 6, "secret_learned", "author"]
    assert set(after["entities_mentioned"]) == {"C0", "C5"}
    seen = read(client.get(location))
    assert ENGLISH["checked_by_you"] in seen.text
    assert "fact-memory-M001" in seen.ids
    assert len(seen.all("mark")) == 1
    assert ENGLISH["did_undo"] in take_back(client, seen).text
    assert _memory(client) == before


@pytest.mark.slow
def test_a_form_that_says_the_same_changes_nothing(client: TestClient) -> None:
    """Saving without a change leaves the memory whose it was; a rejected fact is listed apart until it is back."""
    before = _memory(client)
    assert ENGLISH["did_same"] in send(client, "story/fact", **_fact_form()).text
    assert _memory(client) == before
    seen = send(client, "memory/delete", memory_id="M001", back=SCENE)
    assert ENGLISH["left_out_here"] in seen.text
    assert ENGLISH["left_out_here"] not in take_back(client, seen).text


@pytest.mark.slow
def test_a_fact_is_noted_from_words(client: TestClient) -> None:
    """A noted fact stands beside its words, known from the next scene on, and can be taken back."""
    form = {**THERE, "content": "It rained that night.", "evidence": WORDS, "about": "Ines", "importance": "7"}
    seen = send(client, "story/add", **form, event_type="")
    note = client.get(f"{API}/memories/note-N0").json()["chunk"]
    assert (note["content"], note["chapter_index"], note["scene_index"]) == ("It rained that night.", 1, 1)
    assert ENGLISH["noted_by_you"] in seen.text
    assert seen.all("mark")[0]["data-notes"] == "1"
    context = {"chapter_index": 1, "scene_index": 1, "scene_plan": {"purpose": "rain that night"}}
    assert "It rained that night." not in client.post(f"{API}/context", json=context).text
    assert take_back(client, seen).all("mark") == []


@pytest.mark.slow
def test_a_fact_of_the_record_goes_and_comes_back(client: TestClient) -> None:
    """A state is taken out of the record and a thread said otherwise; each is told, and undone."""
    seen = send(client, "story/recorded", **THERE, kind="state", source_id="C0.status", action="remove")
    assert "keeps the lock shop" not in seen.text
    assert ENGLISH["state_author"] in seen.text
    take_back(client, seen)
    value = {"kind": "state", "source_id": "I0.holder", "action": "edit", "text": "Sparrow"}
    seen = send(client, "story/recorded", **THERE, **value)
    state = client.get(f"{API}/states/I0", params={"as_of": "1:2"}).json()["state"]["state_data"]
    assert (ENGLISH["did_record"] in seen.text, state["holder"]) == (True, "C5")
    take_back(client, seen)
    thread = {"kind": "thread_planted", "source_id": "OL1", "action": "edit", "text": "Whose key is it?"}
    seen = send(client, "story/recorded", **THERE, **thread)
    assert "Whose key is it?" in seen.text
    seen = take_back(client, seen)
    for told in ("keeps the lock shop", "What does the heron key open?", ENGLISH["state_record"]):
        assert told in seen.text


@pytest.mark.slow
def test_a_scenes_text_is_edited_after_a_look_at_what_follows(client: TestClient) -> None:
    """The preview stores nothing and names the facts that lose their words; saving does it, and can be undone."""
    _sent(client, "story/fact", _fact_form(evidence=WORDS))

    def scene() -> dict[str, Any]:
        stored: dict[str, Any] = client.get(f"{API}/scenes/1/1").json()["scene"]
        return stored

    text = scene()["text"]
    form = {"position": "1:1", "back": SCENE, "title": "The brick", "text": text.replace("Rain had", "Water had")}
    seen = read(client.post(f"{STORY}/text/preview", data={**form, "record": "keep"}))
    assert filled(ENGLISH["words_lost_of"], count=1, lost=1) in seen.text
    assert "Water had found" in seen.text
    assert scene()["text"] == text
    seen = send(client, "story/text", **form, record="keep")
    assert (scene()["title"], scene()["text"].startswith("Water had")) == ("The brick", True)
    assert filled(ENGLISH["words_lost"], count=1) in seen.text
    take_back(client, seen)
    assert scene()["text"] == text


@pytest.mark.slow
def test_scenes_are_inserted_moved_and_deleted(client: TestClient) -> None:
    """Each needs a tick, the others make room or close up, and the list says what there is."""

    def titles() -> list[str]:
        scenes = client.get(f"{API}/scenes").json()["scenes"]
        return [each["scene"]["title"] for each in scenes if each["scene"]["chapter_index"] == 1]

    before = titles()
    second = read(client.get(f"{STORY}/place?chapter=1&scene=2"))
    between = {"title": "Between", "text": "A pause."}
    assert _sent(client, "story/insert", second.filled(f"{STORY}/insert", **between)).status_code == 400
    assert titles() == before
    send(client, "story/insert", on=second, **between, sure="yes")
    assert titles() == [before[0], "Between", *before[1:]]
    move = {"to_chapter": "1", "to_scene": "1", "sure": "yes"}
    moved = send(client, "story/move", on=second, **move)
    assert ENGLISH["did_scene_move"] in moved.text
    assert titles() == ["Between", *before]
    assert ENGLISH["by_hand_move"] in read(client.get(f"{STORY}?show=changes")).text
    take_back(client, moved)
    assert titles() == [before[0], "Between", *before[1:]]
    send(client, "story/move", on=second, **move)
    deleted = send(client, "story/delete", on=read(client.get(f"{STORY}/place?chapter=1&scene=1")), sure="yes")
    assert ENGLISH["did_scene_delete"] in deleted.text
    assert "Between" not in titles()
    listed = read(client.get(f"{STORY}?show=changes"))
    assert ENGLISH["by_hand_delete_scene"] in listed.text
    assert not [each for each in listed.addresses if "chapter=1&scene=1" in each]
    take_back(client, deleted)
    assert titles() == ["Between", *before]


@pytest.mark.slow
def test_a_model_reads_a_scene_as_a_job(client: TestClient) -> None:
    """A scene with text alone offers a reading with its estimate; the job reads it, and its cost is told."""
    client.put(f"{API}/scenes/9/1", json={"text": "Nothing stirred in the shop that night."})
    seen = read(client.get(f"{STORY}?chapter=9&scene=1"))
    assert ENGLISH["no_record"] in seen.text
    assert f"{HERE}/reading?chapter=9&scene=1" in [each.get("href") for each in seen.all("a")]
    asked = read(client.get(f"{HERE}/reading?chapter=9&scene=1"))
    assert ENGLISH["tokens_sent"] in asked.text
    assert {"type": "hidden", "name": "scene", "value": "1"} in asked.all("input")
    answer = _sent(client, "reading", {"chapter": "9", "scene": "1"})
    assert answer.headers["location"] == f"{STORY}?chapter=9&scene=1&done=read"
    job_id = client.get("/v1/jobs").json()["jobs"][0]["job_id"]
    assert '"state":"done"' in client.get(f"/v1/jobs/{job_id}/events").text
    assert ENGLISH["state_model"] in read(client.get(f"{STORY}?chapter=9&scene=1")).text
    # Who asks for the scene once more has it read again.
    _sent(client, "reading", {"chapter": "9", "scene": "1"})
    again = client.get("/v1/jobs").json()["jobs"][0]["job_id"]
    assert '"state":"done"' in client.get(f"/v1/jobs/{again}/events").text
    assert len(client.get(f"/v1/jobs/{again}").json()["result"]["scenes"]) == 1


@pytest.mark.slow
def test_a_record_that_was_supplied_is_no_models(reader: TestClient) -> None:
    """No reading of it is offered, one asked for is refused; summaries by scene end at the slider."""
    assert not [each for each in _story_of(reader).all("a") if "/reading" in (each.get("href") or "")]
    answer = reader.get(f"{HERE}/reading?chapter=1&scene=1")
    assert answer.status_code == 400
    read(answer)
    whole = read(reader.get(f"{STORY}?show=summaries&chapter=2")).text
    then = read(reader.get(f"{STORY}?show=summaries&chapter=2&as_of=2:3")).text
    last = reader.get(f"{API}/scenes/2/3/record").json()["record"]["summary"]
    assert all(each in whole for each in last)
    assert not any(each in then for each in last)


@pytest.mark.slow
def test_a_summary_is_written_and_taken_away(client: TestClient) -> None:
    """Empty words let the made one hold again; chapters without one are folded into a line that opens."""
    form = {"level": "chapter", "number": "1", "back": f"{STORY}?show=summaries", "at": "chapter-1"}
    answer = _sent(client, "story/summary", {**form, "text": "Ines finds a key."})
    assert answer.headers["location"].endswith("#chapter-1")
    seen = read(client.get(f"{STORY}?show=summaries"))
    assert "Ines finds a key." in seen.text
    assert ENGLISH["told_by_author"] in seen.text
    _sent(client, "story/summary", {**form, "text": ""})
    assert ENGLISH["told_by_author"] not in read(client.get(f"{STORY}?show=summaries")).text
    for chapter in range(11, 17):
        client.post(f"{API}/scenes/{chapter}/1/insert", json={"text": "It rained all day."})
    seen = read(client.get(f"{STORY}?show=summaries"))
    assert ENGLISH["chapters_without"].format(first=11, last=16, count=6) in seen.text
    opened = read(client.get(f"{STORY}?show=summaries&chapter=16"))
    assert ENGLISH["chapters_without"].format(first=11, last=15, count=5) in opened.text


def test_the_lists_of_the_story_answer(reader: TestClient) -> None:
    """Each has a heading and words in the reader's language, at the end and on entering a scene."""
    asked = product(("demo", "demo-zh"), ("scenes", "summaries", "changes"), ("", "2:2", "1:1"))
    for project, show, as_of in asked:
        address = f"/page/projects/{project}/story?show={show}{as_of and f'&as_of={as_of}'}"
        answer = reader.get(address, headers={"Accept-Language": "zh"})
        seen = read(answer)
        assert (answer.status_code, len(seen.all("h1"))) == (200, 1)
        assert CHINESE["story"] in seen.text


REFUSED: list[tuple[str, dict[str, str], int]] = [
    ("story/fact", _fact_form(content=" "), 400),
    ("story/fact", _fact_form(importance="11"), 400),
    ("story/fact", _fact_form(event_type="weather"), 400),
    ("story/fact", _fact_form(about="Nobody Known"), 404),
    ("story/fact", _fact_form(evidence="Nobody wrote these words."), 400),
    ("story/fact", _fact_form(memory_id="M999"), 400),
    ("story/fact", _fact_form(position="77:1"), 404),
    ("story/add", {**THERE, "content": " "}, 400),
    ("story/add", {**THERE, "content": "It rained.", "evidence": "It snowed heavily."}, 400),
    ("story/add", {"content": "It rained."}, 400),
    ("story/recorded", {**THERE, "kind": "memory", "source_id": "M001"}, 400),
    ("story/recorded", {**THERE, "kind": "state", "source_id": "C99.mood"}, 400),
    ("story/recorded", {**THERE, "kind": "state", "source_id": "I0.holder", "action": "edit"}, 400),
    ("story/text", {"position": "1:1", "text": ""}, 400),
    ("story/insert", {**THERE, "text": "", "sure": "yes"}, 400),
    ("story/move", {**THERE, "sure": "yes"}, 400),
    ("reading", {"chapter": "one"}, 422),
    ("story/summary", {"level": "book", "number": "1", "text": "All."}, 400),
]


@pytest.mark.slow
def test_a_wrong_change_is_refused(reader: TestClient) -> None:
    """What is unknown, empty or not in the text changes nothing; the answer is a page that says so."""
    assert_refused(reader, [API, f"{API}/memories"], *REFUSED)


def test_nothing_later_is_changed_from_an_earlier_point(reader: TestClient) -> None:
    """At the slider's position neither a later scene nor a name that is known later can be used."""
    later = {**THERE, "position": "3:1", "content": "It rained."}
    assert _sent(reader, "story/add", later, "?as_of=2:1").status_code == 404
    # Sorrel comes into the story later than the second scene.
    early = _sent(reader, "story/fact", _fact_form(about="Sorrel"), "?as_of=1:2")
    assert early.status_code == 404
    assert "Dr." not in read(early).text
    seen = read(reader.get(f"{SCENE}&as_of=1:2"))
    assert ENGLISH["edited_here_counts"] in seen.text


def test_every_kind_and_change_has_its_words() -> None:
    """What the page may tell of kinds of facts and of changes is in the catalogue."""
    keys = {f"kind_{each}" for each in EVENT_TYPES} | {
        f"did_{form.done}" for form in FORMS.values() if isinstance(form.done, str)
    }
    keys |= {"did_same", "did_undo", "did_read"} | set(MENDED_BY.values())
    keys |= {f"state_{each}" for each in ("model", "record", "author", "text", "failed", "waiting")}
    keys |= {f"by_hand_{each}" for each in get_args(AuthorChangeKind)}
    keys |= {f"learnt_{each}" for each in ("knows", "hidden", "deceived", "doubts")}
    assert keys <= ENGLISH.keys()


@pytest.mark.slow
def test_the_first_page_makes_ready_what_the_next_need(client: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where many visits are to come, a project's names and index are got ready beside it, once; else nothing is."""
    ready: queue.Queue[str] = queue.Queue()
    monkeypatch.setattr(StoryNameCandidates, "list", lambda part: ready.put(f"names of {part.project_id}"))
    monkeypatch.setattr(
        "runtime.doors.http.app_state.await_index", lambda stores, project_id: ready.put(f"index of {project_id}")
    )
    client.get(STORY)
    assert ready.empty()
    client.app.state.novelgen.is_early = True  # type: ignore[attr-defined]
    client.get(STORY)
    client.get(STORY)
    assert {ready.get(timeout=60), ready.get(timeout=60)} == {"names of demo", "index of demo"}
    assert ready.empty()


@pytest.mark.slow
def test_a_guessed_place_and_cast_are_corrected_at_once(client: TestClient) -> None:
    """Place and cast are said in one form, an empty one says nobody; it is taken back whole."""
    before = client.get(f"{API}/scenes/1/1").json()["scene"]
    seen = send(client, "story/staging", position="1:1", location="", cast="Sparrow, Ines Marrow", back=SCENE)
    after = client.get(f"{API}/scenes/1/1").json()["scene"]
    people = {each["name"]: each["entity_id"] for each in client.get(f"{API}/entities").json()["entities"]}
    assert set(after["participants"]) == {people["Sparrow"], people["Ines Marrow"]}
    assert not after["location_id"]
    take_back(client, seen)
    stands = client.get(f"{API}/scenes/1/1").json()["scene"]
    assert (stands["participants"], stands["location_id"]) == (before["participants"], before["location_id"])


@pytest.mark.slow
def test_a_card_of_the_wrong_kind_is_set_right(client: TestClient) -> None:
    """A person who was taken for a place becomes one without JSON."""
    made = client.post(f"{API}/entities", json={"name": "Old Harbour Joe", "kind": "location"}).json()["entity"]
    send(client, "card/kind", entity_id=made["entity_id"], kind="character", back=f"{HERE}/cards")
    assert client.get(f"{API}/entities/Old Harbour Joe").json()["entity"]["entity_type"] == "character"


@pytest.mark.slow
@pytest.mark.parametrize(("language", "place", "who"), [("en", "Nan's kitchen", "Nan"), ("zh", "奶奶的厨房", "奶奶")])
def test_a_new_place_and_person_of_a_scene_get_their_cards_where_that_is_ticked(
    client: TestClient, language: str, place: str, who: str
) -> None:
    """Nothing is stored before; what was typed stands in the form again, and names that are known are not offered."""
    client.headers["Accept-Language"] = language
    names = "Ines=Ines Marrow"
    typed = {"position": "2:1", "location": place, "cast": f"{who}, Ines Marrow", "names": names, "back": SCENE}
    refused = client.post(f"{HERE}/story/staging", data=typed)
    seen = read(refused)
    assert refused.status_code == 404
    assert (seen.fields("location"), seen.fields("cast")) == ([place], [typed["cast"]])
    assert names in seen.text
    assert [each["name"] for each in seen.ticks] == [f"card:location:{place}", f"card:character:{who}"]
    assert CATALOGUES[language]["make_card_too"].format(name=place) in seen.text  # type: ignore[index]
    ticks = {f"card:location:{place}": "yes"}
    seen = read(client.post(f"{HERE}/story/staging", data=typed | ticks))
    assert ["checked" in each for each in seen.ticks] == [True, False]
    ticks[f"card:character:{who}"] = "yes"
    sent = seen.filled(f"{HERE}/story/staging", location=place, cast=typed["cast"], **ticks)
    read(client.post(f"{HERE}/story/staging", data=sent, follow_redirects=True))
    cards = {each["entity_id"]: each for each in client.get(f"{API}/entities").json()["entities"]}
    scene = client.get(f"{API}/scenes/2/1").json()["scene"]
    assert cards[scene["location_id"]]["name"] == place
    assert [cards[each]["name"] for each in scene["participants"]] == [who, "Ines Marrow"]
    assert (cards[scene["location_id"]]["first_chapter"], cards[scene["location_id"]]["first_scene"]) == (1, 4)


@pytest.mark.parametrize(
    ("address", "fields", "typed"),
    [
        ("card/rename", {"entity_id": "C0", "new_name": ""}, {}),
        ("threads/add", {"description": "Who has the key?", "characters": "Nobody"}, {"characters": "Nobody"}),
        ("cards/add", {"name": "A long name", "start": "one"}, {"name": "A long name", "start": "one"}),
        ("story/insert", {"position": "1:1", "title": "Rain", "text": "It rained."}, {"title": "Rain"}),
        ("context", {"purpose": "Rain", "location": "the mill", "top_k": "many"}, {"location": "the mill"}),
    ],
)
def test_what_was_typed_stays_in_a_form_that_is_refused(
    client: TestClient, address: str, fields: dict[str, str], typed: dict[str, str]
) -> None:
    """It is shown with what is wrong, and leads to the same address; where nothing was typed there is no form."""
    refused = client.post(f"{HERE}/{address}", data=fields)
    assert refused.status_code in (400, 404, 422)
    seen = read(refused)
    assert {name: seen.fields(name) for name in typed} == {name: [value] for name, value in typed.items()}
    assert (f"{HERE}/{address}" in [form.get("action") for form, _ in seen.forms]) == bool(typed)


@pytest.mark.slow
def test_a_note_marks_earlier_notes_as_over(client: TestClient) -> None:
    """What it surely ends is told; what it may end has a box, and is over once ticked and saved."""
    first, second = ("Ines Marrow is in irons.", "Ines Marrow is in command.")
    ids = [
        client.post(f"{API}/memories", json={"content": text}).json()["note"]["chunk_id"] for text in (first, second)
    ]
    form = {**THERE, "content": "Ines Marrow was let out of the irons.", "about": "", "importance": "8"}
    seen = _sent(client, "story/add/preview", form).text
    over, may_be_over = seen.split(ENGLISH["note_may_end"])
    assert ENGLISH["note_ends"] in over
    assert first in over
    assert second in may_be_over
    assert f'value="{ids[1]}"' in may_be_over
    send(client, "story/add", **form, **{"ends:1": ids[1]})
    notes = client.get(f"{API}/memories", params={"content_types": "note"}).json()["memories"]
    [noted] = [memory["chunk"] for memory in notes if memory["chunk"]["content"] == form["content"]]
    assert (noted["supersedes"], noted["also_supersedes"]) == (ids[0], [ids[1]])


@pytest.mark.slow
@pytest.mark.parametrize(("language", "words"), [("en", ENGLISH), ("zh", CHINESE)])
def test_a_note_from_the_start_of_a_chapter_is_changed_beside_its_first_scene(
    client: TestClient, language: str, words: dict[str, str]
) -> None:
    """It is edited and rejected there, without words that prove it, which only a note of the scene has."""
    for scene, has_evidence in (("2:1", False), ("1:1", True)):
        statement = (
            {"content": "Sparrow waits.", "start": scene}
            if scene == "2:1"
            else {"content": "Sparrow sings.", "scene_id": scene}
        )
        note_id = client.post(f"{API}/memories", json=statement).json()["note"]["chunk_id"]
        chapter, number = scene.split(":")
        place = f"{STORY}?chapter={chapter}&scene={number}"
        headers = {"accept-language": language}
        seen = read(client.get(f"{place}&edit={note_id}", headers=headers))
        assert words["noted_by_you"] in seen.text
        assert ("edit-evidence" in seen.ids) is has_evidence
        form = {"position": scene, "back": place, "memory_id": note_id}
        seen = send(client, "story/fact", **form, content="Sparrow waits outside.")
        assert "Sparrow waits outside." in seen.text
        seen = send(client, "memory/delete", memory_id=note_id, back=place)
        assert ENGLISH["left_out_here"] in seen.text


@pytest.mark.slow
@pytest.mark.parametrize(("language", "words"), [("en", ENGLISH), ("zh", CHINESE)])
def test_a_note_is_ended_where_it_stands(client: TestClient, language: str, words: dict[str, str]) -> None:
    """A sentence on what holds instead ends it after the last scene; a note that is over is not offered it."""
    # Of the first scene, where it is shown.
    note = client.post(f"{API}/memories", json={"content": "Ines Marrow is in command.", "scene_id": "1:1"}).json()[
        "note"
    ]
    scene = f"{HERE}/story?chapter=1&scene=1"
    seen = read(client.get(scene, headers={"accept-language": language}))
    assert words["it_is_over"] in seen.text
    assert seen.fields("ends:1") == [note["chunk_id"]]
    [position] = {place for place in seen.fields("position") if place != "1:1"}
    send(
        client,
        "story/add",
        position=position,
        back=scene,
        content="Sparrow commands now.",
        **{"ends:1": note["chunk_id"]},
    )
    notes = client.get(f"{API}/memories", params={"content_types": "note"}).json()["memories"]
    [ending] = [memory["chunk"] for memory in notes if memory["chunk"]["content"] == "Sparrow commands now."]
    assert ending["also_supersedes"] == [note["chunk_id"]] or ending["supersedes"] == note["chunk_id"]
    assert read(client.get(scene, headers={"accept-language": language})).fields("ends:1") == []


@pytest.mark.slow
@pytest.mark.parametrize(("language", "words"), [("en", ENGLISH), ("zh", CHINESE)])
@pytest.mark.parametrize("where", ["story?chapter=1&scene=1", "card?entity=C0&shown=200"])
def test_a_memory_is_ended_with_one_click(client: TestClient, language: str, words: dict[str, str], where: str) -> None:
    """Beside a note, and on a card, a button ends it from the next scene or another on."""
    note = {"content": "Ines Marrow is in command.", "scene_id": "1:1", "importance": 10}
    note_id = client.post(f"{API}/memories", json=note).json()["note"]["chunk_id"]
    place = f"{HERE}/{where}"
    headers = {"accept-language": language}
    seen = read(client.get(place, headers=headers))
    assert words["over_from"] in seen.text
    scenes = client.get(f"{API}/scenes").json()["scenes"]
    last = scenes[-1]["scene"]
    assert set(seen.fields("start")) >= {f"{last['chapter_index']}:{last['scene_index'] + 1}"}
    send(client, "memory/end", memory_id=note_id, start="2:1", back=place)
    assert client.get(f"{API}/memories/{note_id}").json()["over_at"] == [2, 0]
    seen = read(client.get(place, headers=headers))
    assert words["over_since"].format(place="2:1") in seen.text
    refused = client.post(
        f"{HERE}/memory/end", data={"memory_id": note_id, "start": "1:1", "back": place}, headers=headers
    )
    assert refused.status_code == 400
    assert client.get(f"{API}/memories/{note_id}").json()["over_at"] == [2, 0]
