"""The service over PostgreSQL: the main ways work as over SQLite."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from fastapi.testclient import TestClient

from runtime.doors.http.app import build_app
from tests.runtime.doors.http.serving import await_job, project_stores, village_model
from tests.support.databases import postgres_database

pytestmark = pytest.mark.postgres

WEIR = "/v1/projects/the-weir"
BOOK = "\n\n".join(f"Chapter {n}\n\nThe weir was low on day {n}. Ada Penrose counted the stones." for n in (1, 2))


@pytest.fixture
def client(postgres_url: str, tmp_path: Path) -> Iterator[TestClient]:
    """A client of a server whose projects are all in one database."""
    with postgres_database(postgres_url) as url:
        app = build_app(project_stores(tmp_path, database_url=url), chat_model=village_model())
        with TestClient(app, base_url="http://localhost", raise_server_exceptions=False) as opened:
            yield opened


def test_the_main_ways_work_over_postgresql(client: TestClient) -> None:
    """A manuscript comes in, is searched, edited and read as of a position; a character remembers and speaks."""
    assert client.get("/ready").status_code == 200
    sent = client.post(f"{WEIR}/manuscript", content=BOOK, headers={"Content-Type": "text/plain"}).json()
    assert await_job(client, sent["job_id"])["state"] == "done"
    assert [each["project_id"] for each in client.get("/v1/projects").json()["projects"]] == ["the-weir"]
    record = {
        "chapter_index": 3,
        "scene_index": 1,
        "summary": ["Ada gives Bo the key."],
        "memories": [{"memory_id": "M1", "content": "Ada gave Bo the iron key.", "importance": 7}],
    }
    scene = {"text": "Ada gave Bo the iron key at the weir.", "record": record}
    assert client.put(f"{WEIR}/scenes/3/1", json=scene).status_code == 200
    found = client.post(f"{WEIR}/search", json={"query": "who has the iron key"}).json()["memories"]
    assert "Ada gave Bo the iron key." in {each["content"] for each in found}
    before = client.post(f"{WEIR}/search", json={"query": "who has the iron key", "as_of": "3:1"}).json()
    assert all(each["chapter_index"] < 3 for each in before["memories"])
    plan = {"location": "the weir", "characters": ["Ada"], "purpose": "the iron key"}
    asked = {"chapter_index": 4, "scene_index": 1, "scene_plan": plan}
    context = client.post(f"{WEIR}/context", json=asked).json()
    # The scripted model speaks for characters and plans nothing, which the context says.
    assert {each["stage"] for each in context["report"]["issues"]} <= {"plan"}
    # A fact that the end of the last scene tells is not told again among the memories.
    assert context["left_off"]["text"] == scene["text"]
    assert not any("iron key" in each["content"] for each in context["relevant_memories"])
    assert len(context["relevant_memories"]) == 2
    here = f"{WEIR}/characters/Nell"
    remembered = client.post(f"{here}/memories", json={"text": "The player fed my goat.", "create": True})
    assert remembered.status_code == 201
    assert "goat" in client.post(f"{here}/recall", json={"said": "my goat"}).text
    assert "event: reply" in client.post(f"{here}/reply", json={"said": "Good day."}).text
    assert client.delete(f"{WEIR}/scenes/3/1").status_code == 200
    assert client.get(f"{WEIR}/scenes/3/1").status_code == 404
    health = client.get(f"{WEIR}/doctor").json()
    stores = [each for each in health["findings"] if each["what"] in ("database", "vector index")]
    assert {(each["what"], each["level"]) for each in stores} == {("database", "ok"), ("vector index", "ok")}
