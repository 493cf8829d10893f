"""Observability: access log, Prometheus metrics and OpenTelemetry spans.

None of them tells of a story: they know a request by its method, its route as the documentation writes it, and its
status: no ids, names, queries, texts or messages of errors.
"""

from __future__ import annotations

import contextlib
import importlib
import importlib.util
import logging
import os
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Protocol, get_args

from opentelemetry import trace
from opentelemetry.trace import ProxyTracerProvider, Span, SpanKind, StatusCode, Tracer, TracerProvider
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator
from starlette.datastructures import Headers
from starlette.types import Scope

from novelgen import __version__
from novelgen.errors import ConfigurationError
from runtime.doors.http.jobs import JobState

NOT_FASTAPIS: dict[str, Any] = {
    "telemetry": {"tracing": False, "metrics": False, "logs": False, "auto_configure": False}
}
"""Options of an application: FastAPI's own spans would tell whole addresses, with names and queries in them."""

_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
_PARENT = TraceContextTextMapPropagator()

access_log = logging.getLogger("runtime.doors.http.access")


class Answered(Protocol):
    """An answer with its status, 0 before it begins."""

    status: int


_DURATIONS_S = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0)


class Metrics:
    """Counts of one server as Prometheus reads them, apart from those of any other in the same program."""

    def __init__(self, job_states: Callable[[], Iterable[JobState]]) -> None:
        # Late, as `novelgen[server]` does not bring it.
        self._prometheus: Any = importlib.import_module("prometheus_client")
        self._job_states = job_states
        self._registry = self._prometheus.CollectorRegistry()
        self._requests = self._prometheus.Counter(
            "novelgen_http_requests",
            "Requests that were answered.",
            ["method", "route", "status"],
            registry=self._registry,
        )
        self._durations = self._prometheus.Histogram(
            "novelgen_http_request_duration_seconds",
            "From a request to the end of its answer; of a stream to its end.",
            ["method", "route"],
            buckets=_DURATIONS_S,
            registry=self._registry,
        )
        self.in_progress = self._prometheus.Gauge(
            "novelgen_http_requests_in_progress",
            "Requests that are not answered yet, those that wait for their turn among them.",
            registry=self._registry,
        )
        info = self._prometheus.Gauge("novelgen_info", "The version.", ["version"], registry=self._registry)
        info.labels(__version__).set(1)
        self._jobs = self._prometheus.Gauge("novelgen_jobs", "Jobs by state.", ["state"], registry=self._registry)
        self._prometheus.ProcessCollector(registry=self._registry)
        self._prometheus.PlatformCollector(registry=self._registry)

    def answered(self, method: str, route: str, status: int, *, took_s: float) -> None:
        """Count a request that is answered."""
        self._requests.labels(method, route, str(status)).inc()
        self._durations.labels(method, route).observe(took_s)

    def text(self) -> bytes:
        """Return all of it as Prometheus reads it."""
        counts = Counter(self._job_states())
        for state in get_args(JobState):
            self._jobs.labels(state).set(counts[state])
        text: bytes = self._prometheus.generate_latest(self._registry)
        return text


class Telemetry:
    """Metrics and spans of one server."""

    def __init__(
        self, job_states: Callable[[], Iterable[JobState]], *, tracer_provider: TracerProvider | None = None
    ) -> None:
        self.metrics: Metrics | None = None
        if importlib.util.find_spec("prometheus_client") is not None:
            self.metrics = Metrics(job_states)
        provider = tracer_provider or trace.get_tracer_provider()
        is_traced = not isinstance(provider, ProxyTracerProvider)
        self._tracer: Tracer | None = provider.get_tracer("novelgen.server", __version__) if is_traced else None

    @contextlib.contextmanager
    def use_case(self, name: str) -> Iterator[None]:
        """Trace a use case within its request."""
        if self._tracer is None:
            yield
            return
        with self._tracer.start_as_current_span(name, record_exception=False, set_status_on_exception=False) as span:
            try:
                yield
            except Exception as error:
                # The class alone: messages name what a story holds.
                span.set_attribute("error.type", type(error).__name__)
                raise

    @contextlib.contextmanager
    def request(self, scope: Scope, answer: Answered) -> Iterator[None]:
        """Record a request in log, metrics and trace."""
        started_s = time.perf_counter()
        counting = contextlib.nullcontext() if self.metrics is None else self.metrics.in_progress.track_inprogress()
        with counting, self._span(scope) as span:
            try:
                yield
            finally:
                # Neither texts nor query strings: a query is part of a story.
                method, route, took_s = known_method(scope), path_without_names(scope), time.perf_counter() - started_s
                access_log.info("%s %s %d %.1f ms %s", method, route, answer.status, took_s * 1000, scope["request_id"])
                if self.metrics is not None:
                    self.metrics.answered(method, route, answer.status, took_s=took_s)
                if span is not None:
                    span.update_name(f"{method} {route}")
                    span.set_attribute("http.request.method", method)
                    span.set_attribute("http.route", route)
                    span.set_attribute("http.response.status_code", answer.status)
                    if answer.status >= 500 or not answer.status:
                        span.set_attribute("error.type", str(answer.status))
                        span.set_status(StatusCode.ERROR)

    @contextlib.contextmanager
    def _span(self, scope: Scope) -> Iterator[Span | None]:
        if self._tracer is None:
            yield None
            return
        headers = Headers(scope=scope)
        carrier = {name: headers[name] for name in ("traceparent", "tracestate") if name in headers}
        span = self._tracer.start_span(known_method(scope), context=_PARENT.extract(carrier), kind=SpanKind.SERVER)
        with trace.use_span(span, end_on_exit=True, record_exception=False, set_status_on_exception=False):
            yield span


def path_without_names(scope: Scope) -> str:
    """Return the route of a request, such as `/v1/projects/{project_id}`: ids and names of a story are for nobody."""
    route = scope.get("route")
    path: str = getattr(route, "path", "") or "-"
    return path


def known_method(scope: Scope) -> str:
    """Return the method of a request, or `OTHER`: a caller may send any word."""
    return scope["method"] if scope["method"] in _METHODS else "OTHER"


def exporting_provider() -> TracerProvider | None:
    """Return an exporting tracer provider by OpenTelemetry's variables, or None.

    It is not made the whole program's, so that no library sends spans of its own through it.
    """
    text = os.environ.get("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT") or os.environ.get("OTEL_EXPORTER_OTLP_ENDPOINT")
    is_wanted = os.environ.get("OTEL_TRACES_EXPORTER", "otlp").strip().lower() == "otlp"
    if not text or not is_wanted or os.environ.get("OTEL_SDK_DISABLED", "").strip().lower() == "true":
        return None
    try:
        sdk: Any = importlib.import_module("opentelemetry.sdk.trace")
        export: Any = importlib.import_module("opentelemetry.sdk.trace.export")
        resources: Any = importlib.import_module("opentelemetry.sdk.resources")
        otlp: Any = importlib.import_module("opentelemetry.exporter.otlp.proto.grpc.trace_exporter")
    except ModuleNotFoundError as error:
        raise ConfigurationError(
            f"spans need {error.name!r}, which is not installed; run pip install 'novelgen[telemetry]', or unset "
            "OTEL_EXPORTER_OTLP_ENDPOINT"
        ) from error
    name = os.environ.get("OTEL_SERVICE_NAME", "novelgen")
    resource = resources.Resource.create({"service.name": name, "service.version": __version__})
    provider: TracerProvider = sdk.TracerProvider(resource=resource, shutdown_on_exit=False)
    provider.add_span_processor(export.BatchSpanProcessor(otlp.OTLPSpanExporter()))  # type: ignore[attr-defined]
    return provider
