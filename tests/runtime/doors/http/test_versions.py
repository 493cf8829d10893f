"""`ETag` and `If-Match`: over HTTP no change takes away what somebody else wrote meanwhile."""

from typing import Any

import pytest
from fastapi.testclient import TestClient

pytestmark = pytest.mark.slow

API = "/v1/projects/demo"

CHANGES: dict[str, tuple[str, dict[str, Any], dict[str, Any]]] = {
    "card": ("entities/C4", {"changes": {"description": "One."}}, {"changes": {"description": "Two."}}),
    "memory": ("memories/M001", {"content": "One."}, {"content": "Two."}),
    "thread": ("threads/OL1", {"description": "One."}, {"description": "Two."}),
    "scene": ("scenes/1/1", {"title": "One."}, {"title": "Two."}),
}


def _tag(client: TestClient, path: str) -> str:
    return str(client.get(f"{API}/{path}").headers["ETag"])


@pytest.mark.parametrize("kind", CHANGES)
def test_a_stale_change_is_answered_with_both_texts(client: TestClient, kind: str) -> None:
    """The tag of a read, and of the answer to a change, is what the next change may name."""
    path, first, second = CHANGES[kind]
    seen = _tag(client, path)
    stored = client.patch(f"{API}/{path}", json=first, headers={"If-Match": seen})
    assert stored.status_code == 200, stored.text
    late = client.patch(f"{API}/{path}", json=second, headers={"If-Match": seen})
    assert late.status_code == 412, late.text
    problem = late.json()
    assert (problem["type"], problem["is_retryable"]) == ("urn:novelgen:stale-version", False)
    (stands,), (sent,) = problem["stored"].values(), problem["sent"].values()
    assert (stands, sent) == ("One.", "Two.")
    assert stored.headers["ETag"] == f'"{problem["version"]}"'
    assert _tag(client, path).startswith(f'"{problem["version"]}-'), "the tag of a read begins with the version"
    for tag in (stored.headers["ETag"], "*"):
        assert client.patch(f"{API}/{path}", json=second, headers={"If-Match": tag}).status_code == 200, tag


def test_a_read_is_not_modified_by_its_whole_tag(client: TestClient) -> None:
    """A version alone is no tag of an answer, which holds more than what can be edited."""
    tag = _tag(client, "entities/C4")
    version = tag.partition("-")[0].strip('"')
    assert client.get(f"{API}/entities/C4", headers={"If-None-Match": tag}).status_code == 304
    assert client.get(f"{API}/entities/C4", headers={"If-None-Match": f'"{version}"'}).status_code == 200


@pytest.mark.parametrize(
    ("call", "told"),
    [
        (("PUT", "memories/M001/pin", None), "not compared here"),
        (("PATCH", "threads/OL1", {"description": "One."}), "no one ETag"),
    ],
)
def test_a_condition_that_cannot_hold_is_refused(
    client: TestClient, call: tuple[str, str, dict[str, Any] | None], told: str
) -> None:
    """Where no version is compared, and of a tag that is none, nothing is stored."""
    verb, path, body = call
    before = client.get(f"{API}/{path.removesuffix('/pin')}").json()
    answer = client.request(verb, f"{API}/{path}", json=body, headers={"If-Match": 'one, "two"'})
    assert (answer.status_code, told in answer.json()["detail"]) == (400, True), answer.text
    assert client.get(f"{API}/{path.removesuffix('/pin')}").json() == before
