"""What metrics and spans tell of a server, and that they tell nothing of its stories."""

import importlib.util
import logging
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from novelgen.errors import ConfigurationError
from runtime.doors.http.app import build_app
from runtime.doors.http.settings import ServerSettings
from runtime.doors.http.telemetry import exporting_provider
from tests.runtime.doors.http.serving import READ_TOKEN, TOKEN, project_stores

OF_THE_STORY = ("demo", "Ines", "heron", "zither", "atlantis")


@pytest.fixture
def spans() -> InMemorySpanExporter:
    """What was traced."""
    return InMemorySpanExporter()


@pytest.fixture
def watched(demo_folder: Path, spans: InMemorySpanExporter) -> Iterator[TestClient]:
    """A client of a server that is traced."""
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(spans))
    app = build_app(project_stores(demo_folder), tracer_provider=provider)
    with TestClient(app, base_url="http://localhost", raise_server_exceptions=False) as client:
        yield client


def _ask_much(client: TestClient) -> None:
    """Ask for what there is and what there is not, with words of a story wherever words can stand."""
    here = "/v1/projects/demo"
    trace = {"traceparent": f"00-{'a' * 32}-{'b' * 16}-01", "X-Request-Id": "r-1"}
    assert client.get(f"{here}/entities/Ines", headers=trace).status_code == 200
    assert client.post(f"{here}/search", json={"query": "the heron key"}).status_code == 200
    assert client.get(f"{here}/entities/zither").status_code == 404
    assert client.get("/v1/projects/atlantis").status_code == 404
    assert client.get("/atlantis/zither?query=heron").status_code == 404
    assert client.request("ZITHER", f"{here}/entities").status_code == 405
    assert client.get("/page/projects/demo/card?entity=Ines").status_code == 200


@pytest.mark.slow
def test_metrics_count_requests_by_route(watched: TestClient) -> None:
    """Each request is counted under its route, method and status; no label tells an id, a name or a query."""
    _ask_much(watched)
    told = watched.get("/metrics")
    assert told.headers["content-type"].startswith("text/plain")
    counted = 'novelgen_http_requests_total{method="GET",route="/v1/projects/{project_id}/entities/{entity_id}",status='
    assert f'{counted}"200"}} 1.0' in told.text
    assert f'{counted}"404"}} 1.0' in told.text
    assert 'novelgen_http_requests_total{method="GET",route="-",status="404"} 1.0' in told.text
    assert 'method="OTHER"' in told.text
    assert 'novelgen_jobs{state="running"} 0.0' in told.text
    assert "novelgen_http_requests_in_progress 1.0" in told.text
    assert "process_resident_memory_bytes" in told.text
    _require_nothing_of_a_story(told.text)


@pytest.mark.slow
def test_spans_tell_routes_and_use_cases(watched: TestClient, spans: InMemorySpanExporter) -> None:
    """A request is a span with its use case within, part of its caller's trace; none tells of the story."""
    _ask_much(watched)
    found = spans.get_finished_spans()
    request = _named(found, "GET /v1/projects/{project_id}/entities/{entity_id}")[0]
    assert request.context.trace_id == int("a" * 32, 16)
    assert request.attributes is not None
    assert dict(request.attributes) == {
        "http.request.method": "GET",
        "http.route": "/v1/projects/{project_id}/entities/{entity_id}",
        "http.response.status_code": 200,
    }
    known, unknown = _named(found, "get_entity")
    assert known.parent is not None
    assert known.parent.span_id == request.context.span_id
    assert dict(unknown.attributes or {}) == {"error.type": "UnknownEntityError"}
    for span in found:
        _require_nothing_of_a_story(span.to_json())


@pytest.mark.slow
def test_metrics_need_a_token_where_there_is_one(tmp_path: Path) -> None:
    """Who may read may read metrics; a server needs nothing that its extra does not bring."""
    settings = ServerSettings(token=TOKEN, read_token=READ_TOKEN)
    with TestClient(build_app(project_stores(tmp_path), settings), base_url="http://localhost") as client:
        assert client.get("/metrics").status_code == 401
        for token in (TOKEN, READ_TOKEN):
            headers = {"Authorization": f"Bearer {token.get_secret_value()}"}
            assert client.get("/metrics", headers=headers).status_code == 200
        told = client.get("/metrics", headers=headers).text
        assert 'status="401"' in told
    absent = "import sys; sys.modules.update(dict.fromkeys(('prometheus_client', 'opentelemetry.sdk'))); "
    told = [sys.executable, "-c", f"{absent}import runtime.doors.http.app"]
    finished = subprocess.run(told, capture_output=True, text=True)
    assert finished.returncode == 0, finished.stderr


def test_without_the_extra_metrics_name_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where prometheus-client is not installed the server works, and tells what to install."""
    find = importlib.util.find_spec

    def found(name: str, *rest: Any) -> Any:
        return None if name == "prometheus_client" else find(name, *rest)

    monkeypatch.setattr(importlib.util, "find_spec", found)
    with TestClient(build_app(project_stores(tmp_path)), base_url="http://localhost") as client:
        assert client.get("/health").status_code == 200
        refused = client.get("/metrics")
        assert refused.status_code == 404
        assert "novelgen[telemetry]" in refused.json()["detail"]


def test_spans_are_sent_where_opentelemetrys_variables_say(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without an address, or switched off, nothing is sent; a missing package is named with the fix."""
    for name in ("OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_TRACES_EXPORTER"):
        monkeypatch.delenv(name, raising=False)
    assert exporting_provider() is None
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:9")
    provider = exporting_provider()
    assert isinstance(provider, TracerProvider)
    assert provider.resource.attributes["service.name"] == "novelgen"
    provider.shutdown()
    monkeypatch.setenv("OTEL_SDK_DISABLED", "true")
    assert exporting_provider() is None
    monkeypatch.delenv("OTEL_SDK_DISABLED")
    monkeypatch.setitem(__import__("sys").modules, "opentelemetry.sdk.trace", None)
    with pytest.raises(ConfigurationError, match=r"novelgen\[telemetry\]"):
        exporting_provider()


@pytest.mark.slow
def test_the_access_log_tells_nothing_of_a_story(watched: TestClient, caplog: pytest.LogCaptureFixture) -> None:
    """Each request has its line with route, status and its own id, and no line a name, a query or a text."""
    with caplog.at_level(logging.INFO, logger="runtime.doors.http.access"):
        _ask_much(watched)
    lines = [each.getMessage() for each in caplog.records if each.name == "runtime.doors.http.access"]
    assert len(lines) == 7
    assert lines[0].startswith("GET /v1/projects/{project_id}/entities/{entity_id} 200 ")
    assert lines[0].endswith(" r-1")
    _require_nothing_of_a_story("\n".join(lines))


def _named(found: tuple[ReadableSpan, ...], name: str) -> list[ReadableSpan]:
    return [each for each in found if each.name == name]


def _require_nothing_of_a_story(text: str) -> None:
    assert [word for word in OF_THE_STORY if word.casefold() in text.casefold()] == []
