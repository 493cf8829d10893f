"""Metrics of a server as Prometheus reads them; imported only where `novelgen[telemetry]` is installed."""

from collections import Counter as Counted
from collections.abc import Callable, Iterable, Iterator
from typing import get_args

import prometheus_client
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector

from novelgen import __version__
from runtime.doors.http.jobs import JobState

_DURATIONS_S = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0)


class Metrics:
    """Counts of one server, apart from those of any other in the same program."""

    def __init__(self, job_states: Callable[[], Iterable[JobState]]) -> None:
        self._registry = prometheus_client.CollectorRegistry()
        self._requests = prometheus_client.Counter(
            "novelgen_http_requests",
            "Requests that were answered.",
            ["method", "route", "status"],
            registry=self._registry,
        )
        self._durations = prometheus_client.Histogram(
            "novelgen_http_request_duration_seconds",
            "From a request to the end of its answer; of a stream to its end.",
            ["method", "route"],
            buckets=_DURATIONS_S,
            registry=self._registry,
        )
        self.in_progress = prometheus_client.Gauge(
            "novelgen_http_requests_in_progress",
            "Requests that are not answered yet, those that wait for their turn among them.",
            registry=self._registry,
        )
        prometheus_client.Gauge("novelgen_info", "The version.", ["version"], registry=self._registry).labels(
            __version__
        ).set(1)
        self._registry.register(_JobCollector(job_states))
        prometheus_client.ProcessCollector(registry=self._registry)
        prometheus_client.PlatformCollector(registry=self._registry)

    def answered(self, method: str, route: str, status: int, *, took_s: float) -> None:
        """Count a request that is answered."""
        self._requests.labels(method, route, str(status)).inc()
        self._durations.labels(method, route).observe(took_s)

    def text(self) -> bytes:
        """Return all of it as Prometheus reads it."""
        return prometheus_client.generate_latest(self._registry)


class _JobCollector(Collector):
    def __init__(self, job_states: Callable[[], Iterable[JobState]]) -> None:
        self._job_states = job_states

    def collect(self) -> Iterator[GaugeMetricFamily]:
        counts = Counted(self._job_states())
        family = GaugeMetricFamily("novelgen_jobs", "Jobs by state.", labels=["state"])
        for state in get_args(JobState):
            family.add_metric([state], counts[state])
        yield family
