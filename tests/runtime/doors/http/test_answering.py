"""Answers tell nothing of where things lie on the machine, and leave the story's own words alone."""

import shutil
from pathlib import Path

import pytest
from fastapi.testclient import TestClient
from pydantic import BaseModel

from novelgen.models.context import ReportIssue
from runtime.care.checks import Finding
from runtime.doors.http.problems import told
from tests.runtime.doors.http.serving import client_of

PLAN = {"location": "the lock shop", "characters": ["Ines", "Sparrow"], "purpose": "the key"}
LOST = "cannot open '/srv/books/demo/vectors/chroma.sqlite3'; run doctor"


class Answered(BaseModel):
    """An answer as routes give them."""

    text: str
    issues: list[ReportIssue]
    findings: dict[str, Finding]
    warnings: list[str]


def test_messages_tell_no_paths_and_texts_stay() -> None:
    """Issues, findings and warnings keep of a path its last part; what a story says of a path stays word for word."""
    answer = Answered(
        text="She typed /etc/hosts/allow and waited.",
        issues=[ReportIssue(stage="index", kind="unavailable", message=LOST)],
        findings={"index": Finding(level="broken", what="index", message=LOST, fix=LOST)},
        warnings=[LOST, "all is well"],
    )
    said = told(answer)
    clean = "cannot open '…/chroma.sqlite3'; run doctor"
    assert said.text == answer.text
    assert said.issues[0].message == clean
    assert (said.findings["index"].message, said.findings["index"].fix) == (clean, clean)
    assert said.warnings == [clean, "all is well"]
    assert answer.issues[0].message == LOST


def test_an_answer_without_messages_is_given_as_it_is() -> None:
    """Where there is nothing to leave out, nothing is copied."""
    issue = ReportIssue(stage="index", kind="stale", message="3 memories wait")
    assert told(issue) is issue
    assert told("/srv/books/demo") == "/srv/books/demo"


@pytest.fixture
def damaged(demo_folder: Path) -> Path:
    """The demos, of one of which the index cannot be opened: a file stands where its folder should."""
    vectors = demo_folder / "demo" / "data" / "vectors"
    shutil.rmtree(vectors, ignore_errors=True)
    vectors.parent.mkdir(parents=True, exist_ok=True)
    vectors.write_text("no folder")
    return demo_folder


@pytest.mark.slow
def test_a_context_over_http_names_no_folder(damaged: Path) -> None:
    """What a context and the doctor say of a broken index does not name the folder of the projects."""
    with client_of(damaged) as client:
        assert "issues" in _context(client)
        for answer in (
            _context(client),
            client.get("/v1/projects/demo/doctor").text,
            client.post("/v1/projects/demo/search", json={"query": "the key"}).text,
            client.put("/v1/projects/demo/scenes/9/1", json={"text": "Ines locked the shop."}).text,
            client.get("/page/demo/health").text,
        ):
            assert str(damaged) not in answer


def _context(client: TestClient) -> str:
    asked = {"chapter_index": 3, "scene_index": 1, "scene_plan": PLAN}
    answer = client.post("/v1/projects/demo/context", json=asked)
    assert answer.status_code == 200
    assert answer.json()["report"]["issues"] != []
    return answer.text
