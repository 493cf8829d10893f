"""Projects on the page: made, imported with a look first, read by a model, taken out, deleted."""

import io
import json
import re
import threading
import zipfile
from pathlib import Path

import pytest
from fastapi.testclient import TestClient
from langchain_core.messages import BaseMessage

from runtime.doors.http.settings import Limits
from runtime.page.frame import CHINESE, ENGLISH
from tests.runtime.doors.http.serving import SpeakingModel, await_job, client_of
from tests.runtime.page.reading import read

BOOK = (
    "The Low Weir\n\n# Chapter 1: Low water\n\nThe weir was low. Ada Penrose counted the stones.\n\n***\n\n"
    "At night Tom Reave came for the ledger.\n\n# Chapter 2: High water\n\nIt rose. Ada hid the ledger.\n"
)

PROJECTS = "/page/projects"
WEIR = {"project": "", "project_id": "weir", "title": "The Weir", "language": "en"}


def _zip(contents: dict[str, str | bytes]) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for name, content in contents.items():
            archive.writestr(name, content)
    return packed.getvalue()


def _send(client: TestClient, files: dict[str, bytes], project: str = "") -> str:
    """Send files and return the address of their preview."""
    answer = client.post(
        "/page/imports",
        files=[("files", (name, content)) for name, content in files.items()],
        data={"project": project},
        follow_redirects=False,
    )
    assert answer.status_code == 303, answer.text
    return str(answer.headers["location"])


def _job_of(client: TestClient, address: str, form: dict[str, str]) -> str:
    """Send a form that starts a job and return the address of its page."""
    answer = client.post(address, data=form, follow_redirects=False)
    assert answer.status_code == 303, answer.text
    return str(answer.headers["location"])


def _ended(client: TestClient, address: str) -> str:
    """Wait for the end of a job and return its state."""
    return str(await_job(client, address.rpartition("/")[2])["state"])


@pytest.mark.slow
def test_a_book_is_looked_at_and_taken_in(empty: TestClient) -> None:
    """The preview tells chapters, scenes and what is left out and stores nothing; taken in, it leads to the story."""
    address = _send(empty, {"The Weir (draft).md": BOOK.encode()})
    seen = read(empty.get(address))
    for told in ("Chapter 1: Low water", "At night Tom Reave", "The Low Weir", "UTF-8"):
        assert told in seen.text, told
    assert seen.fields("project_id") == ["The Weir draft"]
    assert empty.get("/v1/projects").json()["projects"] == []
    job = _job_of(empty, address, WEIR)
    assert _ended(empty, job) == "done"
    assert {f"{PROJECTS}/weir/story", f"{PROJECTS}/weir/context"} <= set(read(empty.get(job)).addresses)
    overview = empty.get("/v1/projects/weir").json()
    assert (overview["name"], overview["language"], overview["scenes"]) == ("The Weir", "en", 3)
    assert empty.get(address).status_code == 404

    again = _send(empty, {"other.txt": b"Chapter 9\n\nA lamp was lit."}, project="weir")
    assert "weir" in again
    assert ENGLISH["other_story"].format(project="weir") in read(empty.get(again)).text
    same = read(empty.get(_send(empty, {"w.md": BOOK.encode()}, project="weir"))).text
    assert ENGLISH["same_scenes"].format(count=3) in same
    taken = read(empty.get(again.partition("?")[0], params={"project_id": "weir"})).text
    assert ENGLISH["id_taken"].format(project="weir") in taken
    assert empty.post(again.partition("?")[0], data=WEIR).status_code == 409
    assert empty.get("/v1/projects/weir").json()["scenes"] == 3


@pytest.mark.slow
@pytest.mark.parametrize(("words", "language"), [(ENGLISH, "en"), (CHINESE, "zh-CN")])
def test_what_was_edited_here_stays_unless_a_tick_says_otherwise(
    empty: TestClient, words: dict[str, str], language: str
) -> None:
    """The preview and the job tell edits here from those of the file; where both changed, a choice is offered."""
    empty.headers["Accept-Language"] = language
    files = {f"{number}.txt": f"Chapter {number}\n\n{number} lamps were lit. It rained." for number in (1, 2, 3)}
    _ended(empty, _job_of(empty, _send(empty, {name: text.encode() for name, text in files.items()}), WEIR))
    for number in (1, 2):
        edited = empty.patch(
            f"/v1/projects/weir/scenes/{number}/1", json={"text": f"{number} lamps were lit. It snowed."}
        )
        assert edited.status_code == 200
    files["2.txt"] += " Nobody came."
    files["3.txt"] += " Nobody came."
    for overwrite, shown in ({}, "kept"), ({"overwrite": "1"}, "taken"):
        address = _send(empty, {name: text.encode() for name, text in files.items()}, project="weir").partition("?")[0]
        form = {"project": "weir", "update": "1", **overwrite}
        seen = read(empty.get(address, params=form)).text
        assert re.search(rf"{re.escape(words['edited_here'])}\s*1:1", seen)
        assert words["overwrite_edits"] in seen
        in_both = words["edited_in_both_taken" if overwrite else "edited_in_both"]
        assert re.search(rf"{re.escape(in_both)}\s*2:1", seen)
        job = _job_of(empty, address, form)
        assert _ended(empty, job) == "done"
        assert re.search(rf"{re.escape(words[f'edited_in_both_{shown}'])}\s*2:1", read(empty.get(job)).text)
        texts = [empty.get(f"/v1/projects/weir/scenes/{number}/1").text for number in (1, 2, 3)]
        assert ["snowed" in text for text in texts] == [True, not overwrite, False]
        assert "Nobody came." in texts[2]


def test_a_project_that_is_not_there_is_named_in_the_readers_language(empty: TestClient) -> None:
    """On a Chinese page no English stands in the sentence."""
    empty.headers["Accept-Language"] = "zh-CN"
    address = _send(empty, {"1.txt": b"A lamp was lit."})
    answer = empty.get(address.partition("?")[0], params={"project": "nowhere"})
    assert answer.status_code == 404
    assert "没有项目“nowhere”；请先建立" in answer.text
    assert "create it first" not in answer.text


def test_chapters_come_as_files_and_as_an_archive(empty: TestClient) -> None:
    """Files chosen together are the chapters of one book, in any readable encoding; so are those of a zip."""
    chapters: dict[str, bytes] = {
        "第002章 破庙.txt": "庙里坐着一个老人，名叫陆鸣。他说灯不能灭，灭了就看不见山路。".encode("gb18030"),
        "第001章 雪夜.txt": "雪下了一夜。沈青提着灯上山，路上一个人也没有遇见。".encode("gb18030"),
    }
    empty.headers["Accept-Language"] = "zh-CN"
    for files in (chapters, {"book.zip": _zip({f"古灯/{name}": data for name, data in chapters.items()})}):
        seen = read(empty.get(_send(empty, files)))
        table = seen.text.partition(CHINESE["how_cut"])[2]
        assert 0 < table.index("第001章 雪夜") < table.index("第002章 破庙")
        assert "GB18030" in seen.text
    assert seen.fields("title") == ["古灯"]


def test_files_that_cannot_be_kept_are_refused(empty: TestClient) -> None:
    """No file, another kind, and an archive among others are each refused with a page."""
    for names, status in (([""], 400), (["cover.png"], 415), (["book.zip", "1.txt"], 415)):
        answer = empty.post("/page/imports", files=[("files", (name, b"x")) for name in names])
        read(answer)
        assert answer.status_code == status


@pytest.mark.slow
def test_what_cannot_be_read_is_told_before_anything_is_stored(empty: TestClient, tmp_path: Path) -> None:
    """A broken or empty file, and a name that leads elsewhere, end at the preview, without a path of the machine."""
    for files in ({"a.epub": b"PK no book"}, {"b.zip": _zip({"../../out.txt": "x"})}, {"c.txt": b" \n"}):
        answer = empty.get(_send(empty, files))
        assert (answer.status_code, ENGLISH["cannot_read"] in read(answer).text) == (422, True)
        assert str(tmp_path) not in answer.text
    assert empty.get("/v1/jobs").json()["jobs"] == []
    assert empty.post("/page/imports", data={"project": "x"}).status_code == 415
    assert empty.get("/page/imports/..%2F..%2Fx").status_code == 404
    assert empty.get("/page/imports/" + "0" * 32).status_code == 404
    assert {each.name for each in tmp_path.iterdir()} == {"projects"}


def test_uploads_have_bounds(tmp_path: Path) -> None:
    """An upload may be longer than other bodies, and has its own end."""
    with client_of(tmp_path, limits=Limits(body_bytes=1_000, upload_bytes=20_000)) as client:
        assert "imports" in _send(client, {"a.txt": b"She woke. " * 1_000})
        answer = client.post("/page/imports", files=[("files", ("a.txt", b"x" * 30_000))])
        assert answer.status_code == 413


@pytest.mark.slow
def test_a_project_is_made_taken_out_and_deleted(empty: TestClient) -> None:
    """An empty project asks for its story; its export comes back as another; deleting wants its name typed."""
    made = empty.post(PROJECTS, data={"title": "古灯"}, follow_redirects=False)
    assert made.headers["location"] == "/page/import?project=%E5%8F%A4%E7%81%AF"
    assert empty.post(PROJECTS, data={"title": " "}).status_code == 400
    job = _job_of(empty, _send(empty, {"w.md": BOOK.encode()}, project="古灯").partition("?")[0], {"project": "古灯"})
    assert _ended(empty, job) == "done"

    packed = empty.get(f"{PROJECTS}/古灯/export.zip")
    assert packed.headers["content-type"] == "application/zip"
    address = _send(empty, {"export.zip": packed.content})
    assert read(empty.get(address)).fields("title") == []
    assert _ended(empty, _job_of(empty, address, {"project": "", "project_id": "again"})) == "done"
    documents = [empty.get(f"/v1/projects/{name}/export").json()["files"] for name in ("古灯", "again")]
    assert documents[0]["scenes/S001.json"]["text"] == documents[1]["scenes/S001.json"]["text"]
    text = empty.get(f"{PROJECTS}/again/story.md").text
    assert text.startswith("# Chapter 1: Low water\n\nThe weir was low.")
    assert text.count("***") == 1
    assert empty.get(f"{PROJECTS}/again/story.docx").content.startswith(b"PK")
    assert empty.get(f"{PROJECTS}/again/story.pdf").status_code == 400

    assert empty.post(f"{PROJECTS}/again/delete", data={"confirm": "agai"}).status_code == 400
    answer = empty.post(f"{PROJECTS}/again/delete", data={"confirm": "again"}, follow_redirects=False)
    assert (answer.status_code, answer.headers["location"]) == (303, "/")
    assert [each["project_id"] for each in empty.get("/v1/projects").json()["projects"]] == ["古灯"]
    assert [each["project_id"] for each in empty.get("/v1/jobs").json()["jobs"]] == ["古灯"]
    assert empty.delete("/v1/projects/古灯", params={"confirm": "x"}).status_code == 400
    assert empty.delete("/v1/projects/古灯", params={"confirm": "古灯"}).json()["scenes"] == 3
    assert empty.delete("/v1/projects/古灯", params={"confirm": "古灯"}).status_code == 404


@pytest.mark.slow
def test_reading_is_estimated_cancelled_and_resumed(tmp_path: Path) -> None:
    """What a model would read is told first; the job ends at its step, keeps the project, and goes on later."""
    at_work, go = threading.Event(), threading.Event()

    def answer(messages: list[BaseMessage]) -> str:
        at_work.set()
        assert go.wait(60)
        return json.dumps({"summary": ["Nothing is told."], "memories": []})

    with client_of(tmp_path, chat_model=SpeakingModel(answer=answer)) as client:
        assert _ended(client, _job_of(client, _send(client, {"w.md": BOOK.encode()}), WEIR)) == "done"
        seen = read(client.get(f"{PROJECTS}/weir/reading"))
        assert ENGLISH["what_it_takes"] in seen.text
        assert ENGLISH["no_model"] not in seen.text
        job = _job_of(client, f"{PROJECTS}/weir/reading", {"chapter": "", "retry": "1"})
        assert at_work.wait(60)
        page = client.get(job)
        assert ('http-equiv="refresh"' in page.text, len(read(page).all("progress"))) == (True, 1)
        assert client.delete("/v1/projects/weir", params={"confirm": "weir"}).status_code == 409
        assert ENGLISH["at_work"] in read(client.get("/")).text
        client.post(f"{job}/cancel")
        go.set()
        assert _ended(client, job) == "cancelled"
        client.post(f"{job}/cancel")
        assert ENGLISH["job_cancelled"] in read(client.get(job)).text
        client.post(f"{job}/resume")
        assert _ended(client, job) == "done"
        done = read(client.get(job))
        assert ENGLISH["outcome_done"] in done.text
        assert 'http-equiv="refresh"' not in client.get(job).text
        read(client.get("/page/jobs"))
        client.post(f"{job}/forget")
        assert client.get(job).status_code == 404


@pytest.mark.slow
def test_without_a_model_the_page_says_how_to_set_one(empty: TestClient) -> None:
    """Nothing is offered that could not work, and health does not complain of scenes that nobody can read."""
    assert _ended(empty, _job_of(empty, _send(empty, {"w.md": BOOK.encode()}), WEIR)) == "done"
    seen = read(empty.get(f"{PROJECTS}/weir/reading"))
    assert ENGLISH["no_model"] in seen.text
    assert ENGLISH["start_reading"] not in seen.text
    assert empty.post(f"{PROJECTS}/weir/reading", data={"chapter": ""}).status_code == 409
    health = read(empty.get(f"{PROJECTS}/weir/health", headers={"Accept-Language": "zh-CN"}))
    assert "没有读过" not in health.text
    mended = read(empty.post(f"{PROJECTS}/weir/health", data={"do": "reindex"}))
    assert ENGLISH["findings"] in mended.text


@pytest.mark.slow
def test_the_preview_shows_what_looks_like_a_heading_and_takes_an_example(empty: TestClient) -> None:
    """The lines are listed; one of them, looked at again and taken in, cuts the book."""
    snow = "林海点灯。外面的雪下了一夜。\n\n" * 40
    book = "".join(f"夜·{number} 雪\n\n{snow}" for number in "一二三")
    address = _send(empty, {"夜.txt": book.encode("gbk")})
    assert "夜·三 雪" in empty.get(address).text
    cut = read(empty.get(address, params={"project_id": "night", "heading": "夜·一 雪"}))
    assert "夜·二 雪" in cut.text
    form = {**WEIR, "project_id": "night", "heading": "夜·一 雪"}
    assert _ended(empty, _job_of(empty, address.partition("?")[0], form)) == "done"
    scenes = empty.get("/v1/projects/night/scenes").json()
    assert [each["scene"]["chapter_index"] for each in scenes["scenes"]] == [1, 2, 3]


def test_a_file_for_a_box_is_read_as_an_import_reads_it(empty: TestClient) -> None:
    """GBK is read, noise is refused in words that name the file and no command."""
    draft = "沈青推开门，雪落在她的肩上。"
    answer = empty.post("/page/text", files=[("files", ("draft.txt", draft.encode("gbk")))])
    assert (answer.status_code, answer.text) == (200, draft)
    answer = empty.post("/page/text", files=[("files", ("noise.txt", bytes(range(256)) * 9))])
    assert answer.status_code == 422
    assert "noise.txt" in answer.text
    assert "iconv" not in answer.text
