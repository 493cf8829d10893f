"""Planning on the page: what a form gives, what a change does, drafts checked by a model, and what is refused."""

import json
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from fastapi.testclient import TestClient

from novelgen.models.context import SceneMemoryContext
from runtime.doors.http.uploads import KeptForms
from runtime.page.frame import CHINESE, ENGLISH
from tests.runtime.doors.http.serving import client_of
from tests.runtime.page.reading import HERE, Seen, assert_refused, awaited, read, take_back
from tests.support.scripted_chat_model import ScriptedChatModel

pytestmark = pytest.mark.slow

PLAN = {
    "chapter": "3",
    "scene": "1",
    "purpose": "They open the box under the bell.",
    "characters": "Ines, Sparrow",
    "location": "St Orla's tower",
}
CONTEXT = f"{HERE}/context"
CHECK = f"{HERE}/check"
DEAD = "Elias Marrow came in and shook her hand. Ines smiled."


def _built(client: TestClient, **changes: str) -> tuple[str, Seen]:
    """Return the address to which a form leads, and what stands there."""
    answer = client.post(CONTEXT, data={**PLAN, **changes}, follow_redirects=False)
    assert answer.status_code == 303, answer.text
    address = answer.headers["location"]
    return address, read(client.get(address))


def test_the_address_holds_the_plan(reader: TestClient) -> None:
    """It gives the same block again, in either language; moved on, plan and draft are the same."""
    address, seen = _built(reader, memory_budget="150", pov="Ines", key_actions="Ines lifts the lid.")
    told = parse_qs(urlsplit(address).query)
    assert told["purpose"] == [PLAN["purpose"]]
    assert told["memory_budget"] == ["150"]
    assert "scene" in told
    assert "state_budget" not in told
    assert seen.fields("memory_budget")[0] == "150"
    again = read(reader.get(address, headers={"Accept-Language": "zh"}))
    assert CHINESE["prompt_block"] in again.text
    assert CHINESE["need_memories"] in again.text
    blocks = [each.text.split("# What the story has established", 1)[1][:400] for each in (seen, again)]
    assert blocks[0] == blocks[1]
    _, seen = _built(reader)
    moved = read(reader.get(f"/page/projects/demo/at/context?known=4&kept={seen.fields('kept')[0]}&built=yes"))
    assert moved.fields("characters")[0] == PLAN["characters"]
    assert ENGLISH["prompt_block"] in moved.text
    draft = read(reader.post(CHECK, data={"chapter": "3", "scene": "1", "text": DEAD}))
    moved = read(reader.get(f"/page/projects/demo/at/check?known=4&kept={draft.fields('kept')[0]}"))
    assert DEAD in moved.text
    assert ENGLISH["looked_at"] in moved.text


def test_the_receipts_say_why_in_the_language_of_the_page(reader: TestClient) -> None:
    """By their codes; a long plan is kept by a key, and a scene after the slider is planned at it."""
    address, seen = _built(reader, memory_budget="60")
    assert ENGLISH["left_no_room"] in seen.text
    assert ENGLISH["part_relevance"] in seen.text
    assert ENGLISH["retriever_semantic"] in seen.text
    chinese = read(reader.get(address, headers={"Accept-Language": "zh"}))
    assert CHINESE["left_no_room"] in chinese.text
    assert CHINESE["part_relevance"] in chinese.text
    assert "no room in the budget" not in chinese.text
    long = "They speak of the bell and of the key. " * 300
    address, seen = _built(reader, purpose=long)
    assert len(address) < 200
    assert long.strip() in seen.text
    assert ENGLISH["no_longer_kept"] in read(reader.get(f"{CONTEXT}?kept=gone-long-ago")).text
    later, _ = _built(reader, chapter="6", scene="2")
    seen = read(reader.get(later.replace("?", "?as_of=3:1&")))
    assert "lies after the point where the slider stands" in seen.text
    assert seen.text.count("6:2") == 1
    shown = read(reader.get(later)).fields("before")[0]
    compared = read(reader.get(f"{CONTEXT}?as_of=3:1&before={shown}&built=yes&purpose=Bell"))
    assert ENGLISH["difference"] not in compared.text
    assert ENGLISH["no_longer_kept"] in compared.text


@pytest.mark.parametrize(("file", "kind"), [("text", "text/plain"), ("json", "application/json")])
def test_a_context_is_taken_along_as_a_file(reader: TestClient, file: str, kind: str) -> None:
    """The file holds what the page shows, also when nothing of it is kept any more."""
    address, seen = _built(reader)
    link = next(each for each in seen.addresses if f"file={file}" in each)
    shown = reader.get(link)
    anew = reader.get(f"{CONTEXT}/download?file={file}&{urlsplit(address).query}")
    for answer in (shown, anew):
        assert answer.headers["content-type"] == f"{kind}; charset=utf-8"
        assert answer.headers["content-disposition"].startswith('attachment; filename="scene_3_1_')
    if file == "text":
        assert shown.text == anew.text
        assert shown.text in seen.text
    else:
        contexts = [SceneMemoryContext.model_validate_json(each.text) for each in (shown, anew)]
        assert contexts[0].as_prompt() == contexts[1].as_prompt()


def test_a_plan_file_fills_the_form(reader: TestClient) -> None:
    """A scene's plan and a chapter's plan are both taken; a plan that the page gave comes back the same."""
    _, seen = _built(reader)
    given = reader.get(next(each for each in seen.addresses if "file=plan" in each)).text
    taken = read(reader.post(CONTEXT, data={"chapter": "3", "scene": "1", "plan_text": given}))
    assert taken.fields("characters")[0] == PLAN["characters"]
    assert taken.fields("location")[0] == PLAN["location"]
    chapter = {
        "chapter_number": 4,
        "scenes": [
            {"scene_number": 1, "purpose": "One", "characters": ["Ines"]},
            {"scene_number": 2, "purpose": "Two", "characters": ["Sparrow"]},
        ],
    }
    form = {"chapter": "4", "scene": "2", "plan_text": json.dumps(chapter)}
    assert read(reader.post(CONTEXT, data=form)).fields("characters") == ["Sparrow"]
    assert read(reader.post(CONTEXT, data={**form, "chapter": "2"})).fields("characters") == ["Ines"]


def test_a_wrong_plan_or_draft_is_refused(reader: TestClient) -> None:
    """What is none is said to be none, as a page, and a draft stands in the form again; nothing is built or kept."""
    plans: list[tuple[dict[str, str], int]] = [
        ({"plan_text": "{not json"}, 422),
        ({"plan_text": '{"purpose": 5}'}, 422),
        ({"plan_text": '{"chapter_number": 3, "scenes": []}'}, 400),
        ({"purpose": " ", "characters": "", "location": ""}, 400),
        *(({"memory_budget": budget}, 400) for budget in ("many", "2000000")),
        *(({"top_k": count}, 400) for count in ("-1", "10001")),
        ({"knowledge": "guess"}, 400),
        ({"chapter": "three"}, 422),
    ]
    drafts = [{"chapter": "3", "scene": "1", "text": DEAD, **each} for each in ({"chapter": "three"}, {"text": "\n "})]
    assert_refused(
        reader,
        ["/v1/projects/demo/check/waivers"],
        *(("context", {**PLAN, **form}, status) for form, status in plans),
        *(("check", form, status) for form, status in zip(drafts, (422, 400), strict=True)),
        ("check/waive", {"finding_id": "X1"}, 400),
        ("check/unwaive", {"finding_id": "K0123456789ab"}, 404),
    )
    for form in drafts:
        seen = read(reader.post(CHECK, data=form))
        assert ENGLISH["something_wrong"] in seen.text
        assert form["text"].strip() in seen.text


def test_a_change_is_told_against_what_was_shown(reader: TestClient) -> None:
    """A smaller budget shows what went and the tokens of both; the same plan again changes nothing."""
    address, seen = _built(reader)
    shown = seen.fields("before")[0]
    smaller = read(reader.get(f"{address.partition('#')[0]}&memory_budget=60&before={shown}"))
    assert ENGLISH["went_out"] in smaller.text
    assert smaller.all("del")
    same = read(reader.get(f"{address.partition('#')[0]}&before={shown}"))
    assert ENGLISH["nothing_changed"] in same.text
    other = read(reader.get(f"/page/projects/demo-zh/context?built=yes&purpose=钟&before={shown}"))
    assert ENGLISH["difference"] not in other.text


def test_a_memory_is_left_out_from_here(client: TestClient) -> None:
    """The way back from a decision leads to the same plan, compared with what was shown before it."""
    _, seen = _built(client)
    button = next(each for each in seen.all("button") if (each.get("formaction") or "").endswith("memory/ban"))
    form = {"memory_id": button["value"] or "", "back": seen.fields("back")[0]}
    after = read(client.post(button["formaction"] or "", data=form))
    assert ENGLISH["went_out"] in after.text
    assert ENGLISH["take_back"] in after.text
    assert ENGLISH["nothing_changed"] in take_back(client, after).text


def test_a_plan_is_kept_with_the_project(client: TestClient, demo_folder: Path) -> None:
    """A context that is kept is a file of the project, and its plan is offered from then on."""
    seen = read(client.post(f"{CONTEXT}/keep", data={**PLAN, "chapter": "9", "scene": "4"}))
    assert "context of 9:4" in seen.text
    assert "memory.json" not in seen.text
    kept = json.loads((demo_folder / "demo" / "scene_9_4_memory.json").read_text(encoding="utf-8"))
    assert kept["report"]["scene_plan"]["purpose"] == PLAN["purpose"]
    form = read(client.get(f"{CONTEXT}?as_of=9:4"))
    assert [each for each in form.addresses if "chapter=9&scene=4" in each]
    assert not [each for each in read(client.get(f"{CONTEXT}?as_of=3:1")).addresses if "chapter=9" in each]


def test_a_stored_scene_is_checked(reader: TestClient) -> None:
    """Its own text stands beside what it contradicts; a scene after the slider is refused."""
    seen = read(reader.get(f"{CHECK}?stored=3:1"))
    assert ENGLISH["looked_at"] in seen.text
    assert seen.fields("chapter")[0] == "3"
    for address, status in (
        ("?stored=99:1", 404),
        ("?as_of=3:1&stored=3:1", 404),
        ("?stored=x", 422),
        ("?stored=3", 400),
    ):
        answer = reader.get(CHECK + address)
        assert answer.status_code == status, address
        read(answer)


def test_work_that_is_none_has_no_page(client: TestClient) -> None:
    """Neither another kind of job nor one that is nowhere."""
    job_id = client.post("/v1/projects/demo/ingest", json={}).json()["job_id"]
    for address in (f"{CHECK}/job?job={job_id}", f"{CHECK}/job?job=none"):
        answer = client.get(address)
        assert answer.status_code == 404
        read(answer)


def _scripted(answers: dict[str, Any]) -> ScriptedChatModel:
    """Return a model that answers what its prompt asks for, by a word of the answer's schema."""

    def answer(messages: list[Any]) -> str:
        asked = " ".join(str(each.text) for each in messages)
        return json.dumps(next((given for word, given in answers.items() if word in asked), {}))

    return ScriptedChatModel(answer=answer)


def test_a_model_checks_as_a_job_and_proposes_a_repair(demo_folder: Path) -> None:
    """What takes a model's time has a page of its own, where waiving works and a repair is a proposal alone."""
    mended = "Bram Dorn came in and shook her hand."
    wrong = DEAD.partition(" Ines")[0]

    def answer_of(messages: list[Any]) -> str:
        asked = "\n".join(str(each.text) for each in messages)
        if '"passages"' in asked:
            return json.dumps({"passages": [{"id": ["K1"], "old": wrong, "new": mended}]})
        if '"verdicts"' in asked:
            return json.dumps({"verdicts": [{"id": "K1", "stands": True, "confidence": 0.9}]})
        if mended in asked:
            return json.dumps({"contradictions": []})
        line = next(each for each in asked.splitlines() if each.startswith("F") and "Elias Marrow" in each)
        proof = line.split(" | ")[-1].split(" / ")[0].split(" ", 1)[1]
        found = {"quote": wrong, "evidence": [{"id": line.split(" | ")[0], "quote": proof}], "why": "He is dead."}
        return json.dumps({"contradictions": [found | {"kind": "dead_or_absent", "confidence": 0.9}]})

    with client_of(demo_folder, chat_model=ScriptedChatModel(answer=answer_of)) as client:
        form = {"chapter": "3", "scene": "1", "text": DEAD, "with_model": "yes"}
        answer = client.post(CHECK, data=form, follow_redirects=False)
        assert answer.headers["location"].startswith(f"{CHECK}/job?job=")
        seen = awaited(client, answer.headers["location"])
        assert "He is dead." in seen.text
        assert seen.all("mark")
        assert seen.fields("chapter")[0] == "3"
        early = read(client.get(f"{answer.headers['location']}&as_of=2:1"))
        assert "lies after the point" in early.text
        assert not early.all("mark")
        direct = read(client.post(CHECK, data={**form, "with_model": ""}))
        assert ENGLISH["compared_unjudged"] in direct.text
        job = answer.headers["location"].partition("job=")[2]
        started = client.post(f"{CHECK}/repair", data={"job": job}, follow_redirects=False)
        proposed = awaited(client, started.headers["location"])
        assert mended in proposed.text
        assert proposed.all("ins")
        assert proposed.all("del")
        waived = {**{name: proposed.fields(name)[0] for name in ("finding_id", "back")}, "note": "a dream"}
        after = read(client.post(f"{CHECK}/waive", data=waived))
        assert "a dream" in after.text
        assert not after.all("mark")
        assert client.post(f"{CHECK}/repair", data={"kept": "gone"}).status_code == 400


def test_what_is_kept_is_bounded() -> None:
    """What was used longest ago goes first, a project never sees another's, and what is too long is not kept."""
    kept = KeptForms(most_characters=10)
    first, second = kept.keep("a", {"text": "12345"}), kept.keep("a", {"text": "1234"})
    assert kept.find("b", first) is None
    found = kept.find("a", first)
    assert found is not None
    assert found.context() is None
    third = kept.keep("a", {"text": "12345"})
    assert kept.find("a", second) is None
    assert kept.find("a", third) is not None
    assert kept.find("a", kept.keep("a", {"text": "1" * 11})) is None
