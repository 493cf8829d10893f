"""Who may come in: addresses, hosts, origins and tokens; and what the log tells of it."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from fastapi.routing import APIRoute
from fastapi.testclient import TestClient
from pydantic import SecretStr

from novelgen.errors import ConfigurationError
from runtime.doors.http.app_state import require_access
from runtime.doors.http.settings import Limits, ServerSettings
from tests.runtime.doors.http.serving import READ_TOKEN, TOKEN, client_of

ALL = {"Authorization": f"Bearer {TOKEN.get_secret_value()}"}
READ = {"Authorization": f"Bearer {READ_TOKEN.get_secret_value()}"}


@pytest.fixture
def guarded(demo_folder: Path) -> Iterator[TestClient]:
    """A client of a server that others can reach, with both tokens set."""
    settings = ServerSettings(host="0.0.0.0", token=TOKEN, read_token=READ_TOKEN)
    with client_of(demo_folder, settings) as opened:
        yield opened


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"host": "0.0.0.0"}, "NOVELGEN_SERVER_TOKEN"),
        ({"host": "192.168.0.7"}, "NOVELGEN_SERVER_TOKEN"),
        ({"host": "example.org"}, "NOVELGEN_SERVER_TOKEN"),
        ({"token": SecretStr("short")}, "shorter"),
        ({"read_token": READ_TOKEN}, "NOVELGEN_SERVER_TOKEN"),
        ({"token": TOKEN, "read_token": TOKEN}, "the same"),
    ],
)
def test_an_open_door_is_refused(given: dict[str, object], told: str) -> None:
    """Nobody serves other machines without a token, or with one that is short or opens both."""
    with pytest.raises(ConfigurationError, match=told) as refusal:
        ServerSettings(**given)  # type: ignore[arg-type]
    assert TOKEN.get_secret_value() not in str(refusal.value)


def test_loopback_needs_no_token(tmp_path: Path) -> None:
    """This machine's own addresses are open, and a name that was allowed at the start is the server's own."""
    assert all(ServerSettings(host=each).is_loopback for each in ("127.0.0.1", "localhost", "::1", "127.3.2.1"))
    settings = ServerSettings(allowed_hosts=frozenset({"novels.example"}))
    with client_of(tmp_path, settings) as client:
        assert client.get("/health", headers={"Host": "Novels.example:443"}).status_code == 200


def test_a_foreign_name_is_refused(empty: TestClient) -> None:
    """A name that another site lets point here (DNS rebinding) gets nothing, not even of /health."""
    for host in ("evil.example", "localhost.evil.example", "", "127.0.0.1.evil.example"):
        for path in ("/v1/projects", "/health"):
            answer = empty.get(path, headers={"Host": host})
            assert (answer.status_code, answer.json()["type"]) == (421, "urn:novelgen:unknown-host")


def test_pages_of_other_sites_are_refused(empty: TestClient) -> None:
    """A browser that sends a request for a page of another site is turned away before anything is done."""
    cases: list[dict[str, str]] = [
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
        {"Origin": "http://localhost:9"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
    ]
    for headers in cases:
        answer = empty.post("/v1/projects", json={"project_id": "theirs"}, headers=headers)
        assert (answer.status_code, answer.json()["type"]) == (403, "urn:novelgen:cross-site")
        assert empty.get("/v1/projects").json()["projects"] == []


def test_own_names_and_pages_are_let_in(empty: TestClient) -> None:
    """The machine's own names with any port, and the server's own pages; a forged request id is replaced."""
    for host in ("localhost:8000", "127.0.0.1", "[::1]:9000"):
        assert empty.get("/v1/projects", headers={"Host": host}).status_code == 200
    headers = {"Origin": "http://localhost", "Sec-Fetch-Site": "same-origin"}
    assert empty.get("/v1/projects", headers=headers).status_code == 200
    answer = empty.get("/health", headers={"X-Request-Id": "a b"})
    assert answer.headers["x-request-id"].isalnum()


def test_without_the_token_nothing_is_told(tmp_path: Path) -> None:
    """No token or a wrong one is turned away, from the OpenAPI document, too; whether the server lives is told."""
    token = TOKEN.get_secret_value()
    with client_of(tmp_path, ServerSettings(token=TOKEN, read_token=READ_TOKEN)) as client:
        for authorization in (None, "Bearer", "Bearer wrong", "Basic YTpi", f"Bearer {token}x", "Bearer \xff"):
            headers = {} if authorization is None else {"Authorization": authorization.encode("latin-1")}
            for path in ("/v1/projects", "/openapi.json", "/v1/projects/demo/memories"):
                answer = client.get(path, headers=headers)
                assert (answer.status_code, answer.headers["www-authenticate"]) == (401, "Bearer")
                assert token not in answer.text
        assert client.get("/health").status_code == 200


def test_the_token_opens_everything(guarded: TestClient) -> None:
    """With the token one reads and writes."""
    assert guarded.get("/v1/projects", headers=ALL).status_code == 200
    assert guarded.post("/v1/projects", headers=ALL, json={"project_id": "mine"}).status_code == 201


@pytest.mark.slow
def test_a_reader_does_not_note_what_was_read(guarded: TestClient) -> None:
    """Whoever may only read cannot touch; with the other token what is asked for again brings others."""
    asked = {"text": "Ines rang.", "limit": 2, "priority": "least_recently_read", "touch": True}
    refused = guarded.post("/v1/projects/demo/chunk-context", json=asked, headers=READ)
    assert (refused.status_code, refused.json()["type"]) == (403, "urn:novelgen:read-only")
    assert "leave touch out" in refused.json()["detail"]

    def shown(headers: dict[str, str], **more: bool) -> set[str]:
        answer = guarded.post("/v1/projects/demo/chunk-context", json=asked | more, headers=headers)
        return {each["chunk"]["chunk_id"] for each in answer.json()["memories"]}

    first = shown(READ, touch=False)
    assert first == shown(READ, touch=False) == shown(ALL)
    assert first.isdisjoint(shown(ALL))


@pytest.mark.slow
def test_the_read_token_opens_what_changes_nothing(guarded: TestClient) -> None:
    """With the read token one reads, also by POST where a body asks; every write is refused."""
    assert guarded.get("/v1/projects/demo/memories", headers=READ).status_code == 200
    assert guarded.post("/v1/projects/demo/search", headers=READ, json={"query": "key"}).status_code == 200
    document = guarded.get("/openapi.json", headers=READ).json()
    refused = 0
    for path, operations in document["paths"].items():
        for method, operation in operations.items():
            if method == "get" or operation.get("x-novelgen-reads"):
                continue
            answer = guarded.request(method.upper(), path.replace("{project_id}", "demo"), headers=READ, json={})
            assert answer.status_code in (403, 422), (path, answer.text)
            refused += answer.status_code == 403
    assert refused > 0
    assert guarded.get("/v1/projects", headers=READ).json()["projects"][0]["project_id"] == "demo"


def test_every_route_asks_for_access_first(guarded: TestClient) -> None:
    """Routes of the page as well as of programs; an application takes them from routers that each must say so."""
    routes = [route for route in guarded.app.routes if isinstance(route, APIRoute)]
    open_paths = [route.path for route in routes if route.dependant.dependencies[0].call is not require_access]
    assert open_paths == []
    assert any(route.path.startswith("/page/") for route in routes)


@pytest.mark.slow
def test_a_kept_answer_is_for_who_may_write(guarded: TestClient) -> None:
    """A read token is refused a write under a key whose answer is kept, and its refusal is not the writer's answer."""
    note, path = {"content": "The mill stands still."}, "/v1/projects/demo/memories"
    for key, first, then in (("k1", ALL, READ), ("k2", READ, ALL)):
        answers = [guarded.post(path, json=note, headers={**who, "Idempotency-Key": key}) for who in (first, then)]
        assert [each.status_code for each in answers] == [201 if who is ALL else 403 for who in (first, then)]


def test_a_long_body_is_refused(tmp_path: Path) -> None:
    """A body beyond the limit is refused, whether it tells its length or not."""
    with client_of(tmp_path, limits=Limits(body_bytes=1000)) as client:
        told = client.post("/v1/projects", content=b"x" * 1001)
        untold = client.post("/v1/projects", content=iter([b"x" * 600, b"x" * 600]))
    assert (told.status_code, untold.status_code) == (413, 413)
    assert told.json()["type"] == "urn:novelgen:too-large"
