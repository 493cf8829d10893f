"""Every route once over real stores, and what each kind of wrong request is told."""

import json
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient

from runtime.context_chain import context_json
from runtime.doors.http.problems import PROBLEM_TYPE
from runtime.story.projects import ProjectStores
from runtime.story.story import Story
from tests.regenerate import HOW
from tests.runtime.doors.http.serving import client_of, project_stores, walk
from tests.runtime.doors.http.write_openapi_paths import PATHS_FILE, described_paths

PLAN = {"location": "the lock shop", "characters": ["Ines", "Sparrow"], "purpose": "the key"}
HERE = "/v1/projects/demo"
JSON = {"Content-Type": "application/json"}


@pytest.mark.slow
def test_every_route_answers(client: TestClient) -> None:
    """One walk over a real story calls every route that the OpenAPI document names, and all go well."""
    exchanges = walk(client)
    assert len(exchanges) >= 80


@pytest.mark.slow
def test_every_route_has_examples(empty: TestClient) -> None:
    """The document has an example of each body that a route takes and of each answer that it gives."""
    document = empty.get("/openapi.json").json()
    without = []
    for path, operations in document["paths"].items():
        for operation in operations.values():
            bodies = list(operation.get("requestBody", {}).get("content", {}).values())
            answers = [
                content
                for status, answer in operation["responses"].items()
                if status.startswith("2")
                for kind, content in answer.get("content", {}).items()
                if kind != "text/plain"
            ]
            if (bodies and not any("example" in each for each in bodies)) or not all(
                "example" in each for each in answers
            ):
                without.append(f"{operation['operationId']} {path}")
    assert without == []


@pytest.mark.slow
def test_a_context_is_that_of_the_file(client: TestClient, demo_folder: Path) -> None:
    """The JSON of a context is word for word that of the context file, apart from its moment and its timings."""
    asked = {"chapter_index": 3, "scene_index": 1, "scene_plan": PLAN}
    answer = client.post(f"{HERE}/context", json=asked)
    stores: ProjectStores = client.app.state.novelgen.stores  # type: ignore[attr-defined]
    context = Story(stores.of("demo"), "demo").context(3, 1, PLAN)
    told, known = answer.json(), json.loads(context_json(context))
    for each in (told, known):
        each.pop("generated_at", None)
        each.get("report", {}).pop("timings_ms", None)
        each.get("report", {}).pop("elapsed_ms", None)
    assert list(told) == list(known)
    assert told["relevant_memories"] == known["relevant_memories"]
    assert told["entity_states"] == known["entity_states"]
    assert answer.headers["etag"].strip('"') == told["report"]["story_version"]


@pytest.mark.slow
def test_a_prompt_is_given_to_who_accepts_text(client: TestClient) -> None:
    """A missing field is named alone, and a wrong method is told which there are."""
    asked = {"chapter_index": 3, "scene_index": 1, "scene_plan": PLAN}
    answer = client.post(f"{HERE}/context", json=asked, headers={"Accept": "text/plain"})
    assert answer.headers["content-type"] == "text/plain; charset=utf-8"
    assert answer.text.startswith("# What the story has established")
    recall = client.post(f"{HERE}/characters/Ines/recall", json={"said": "the key"}, headers={"Accept": "text/plain"})
    assert recall.headers["content-type"] == "text/plain; charset=utf-8"
    detail = client.post("/v1/projects", json={"project": "x"}).json()["detail"]
    assert detail == "body.project_id is missing; see /openapi.json"
    assert client.put(f"{HERE}/entities/Ines").headers["allow"] == "DELETE, GET, PATCH"
    assert client.put("/v1/projects").headers["allow"] == "GET, POST"


@pytest.mark.slow
def test_a_wrong_request_is_told_what_is_wrong(client: TestClient) -> None:
    """Each wrong request ends in a problem of a stable type and status, which names no path of the machine."""
    cases: list[tuple[str, str, Any, int, str]] = [
        ("GET", "/v1/projects/nobody", None, 404, "unknown-project"),
        ("GET", "/v1/projects/..%5Cetc", None, 400, "invalid-project-id"),
        ("POST", "/v1/projects", {"project_id": "../x"}, 400, "invalid-project-id"),
        ("POST", "/v1/projects", {"project_id": "demo"}, 409, "project-exists"),
        ("POST", "/v1/projects", {"project": "x"}, 422, "invalid-request"),
        ("GET", f"{HERE}/memories/none", None, 404, "unknown-memory"),
        ("GET", f"{HERE}/scenes/x/1", None, 422, "invalid-request"),
        ("GET", f"{HERE}/memories?as_of=9999999", None, 422, "invalid-request"),
        ("GET", f"{HERE}/threads/OL999", None, 404, "unknown-id"),
        ("POST", f"{HERE}/context", {"chapter_index": -1, "scene_index": 1}, 422, "invalid-request"),
        ("POST", f"{HERE}/conflicts/none/waive", {}, 404, "unknown-id"),
        ("POST", f"{HERE}/changes/999/undo", None, 404, "unknown-id"),
        ("DELETE", f"{HERE}/check/waivers/K0123456789ab", None, 404, "unknown-id"),
        ("DELETE", f"{HERE}/characters/Ines/secrets/none", None, 404, "unknown-id"),
        ("POST", f"{HERE}/characters/Nobody/reply", {"said": "Hello"}, 404, "unknown-entity"),
        ("POST", f"{HERE}/characters/Ines/recall", {"as_of": "soon"}, 422, "invalid-request"),
        ("GET", "/v1/jobs/none", None, 404, "unknown-job"),
        ("POST", f"{HERE}/manuscript", None, 400, "user-input"),
        ("GET", "/v1/nothing", None, 404, "unknown-route"),
        ("DELETE", "/v1/projects", None, 405, "wrong-method"),
    ]
    for method, path, body, status, kind in cases:
        answer = client.request(method, path, json=body)
        assert answer.headers["content-type"] == PROBLEM_TYPE
        problem = answer.json()
        assert (problem["status"], problem["type"]) == (status, f"urn:novelgen:{kind}"), problem
        assert answer.status_code == status
        assert problem["request_id"] == answer.headers["x-request-id"]
        assert "/tmp" not in answer.text
        assert "--" not in problem["detail"]
        assert problem["detail"]


@pytest.mark.slow
def test_a_server_without_a_model_says_which_setting_names_one(demo_folder: Path) -> None:
    """Before anything is streamed or queued; a project whose config is wrong is told and hides no other."""
    with client_of(demo_folder) as client:
        reply = client.post(f"{HERE}/characters/Ines/reply", json={"said": "Hello"})
        extract = client.post(f"{HERE}/extract", json={})
        jobs = client.get("/v1/jobs").json()["jobs"]
    assert (reply.status_code, extract.status_code) == (409, 409)
    assert "NOVELGEN_MODEL" in reply.json()["detail"]
    assert jobs == []
    (demo_folder / "demo-zh" / "config.yaml").write_text("memory:\n  memory_budgt: 3\n")
    with client_of(demo_folder) as client:
        listed = {each["project_id"]: each for each in client.get("/v1/projects").json()["projects"]}
    assert listed["demo"]["scenes"] > 0
    assert "memory_budgt" in listed["demo-zh"]["problem"]
    assert str(demo_folder) not in listed["demo-zh"]["problem"]


@pytest.mark.slow
def test_a_hostile_body_is_refused(client: TestClient) -> None:
    """Broken, endlessly deep, and unreadable JSON is the caller's fault and no bug, half of a character neither."""
    cases: list[bytes] = [
        b"{",
        b"[" * 100_000,
        b'{"query": "' + b"9" * 5000 + b'", "top_k": ' + b"9" * 5000 + b"}",
        b'{"query": "\\ud800", "top_k": NaN}',
        b'{"query": "\xff"}',
        b"null",
    ]
    for body in cases:
        answer = client.post(f"{HERE}/search", content=body, headers=JSON)
        assert answer.status_code in (400, 422), answer.text
        assert answer.headers["content-type"] == PROBLEM_TYPE
    halves: dict[str, bytes] = {
        f"{HERE}/search": b'{"query": "the \\ud800 key"}',
        f"{HERE}/memories": b'{"content": "a \\ud83d note"}',
        f"{HERE}/characters/Ines/memories": b'{"content": "a \\ud83d memory", "details": {"x": "\\ud83d"}}',
        "/v1/projects": b'{"project_id": "\\ud83d"}',
    }
    for path, body in halves.items():
        assert client.post(path, content=body, headers=JSON).status_code < 500, path


def test_a_changed_config_holds_from_the_next_request_on(demo_folder: Path) -> None:
    """A project's config.yaml is read again once it has changed."""
    stores = project_stores(demo_folder)
    before = stores.of("demo")
    assert stores.of("demo") is before
    (demo_folder / "demo" / "config.yaml").write_text("model: fake:nothing\n")
    assert stores.of("demo").settings.model == "fake:nothing"
    stores.close()


@pytest.mark.slow
def test_paths_methods_and_parameters_are_those_of_the_file(empty: TestClient) -> None:
    """What is added, renamed or gone stands in the file, so that a change of it is a decision."""
    document = empty.get("/openapi.json").json()
    assert described_paths(document) == json.loads(PATHS_FILE.read_text(encoding="utf-8")), HOW
