"""What the server counts and measures, in Prometheus' form, at an address of its own."""

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    ProcessCollector,
    start_http_server,
)

from butfor._web.logs import log_event
from butfor.errors import InputError

SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 20.0, 30.0, 60.0)
"""Upper limits of the classes into which durations are counted."""
GAUGES = {
    "workers": "Processes.",
    "workers_busy": "Processes that are at work, or being started.",
    "queue_length": "Requests that wait for a process.",
}


class Metrics:
    """The metrics of one server. No label holds anything that a client sent."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        ProcessCollector(registry=self.registry)
        self.requests = self._made(
            Counter, "requests", "Requests by route and status.", "route", "method", "status"
        )
        self.seconds = self._made(
            Histogram, "request_seconds", "Seconds until the answer was sent.", "route", buckets=SECONDS
        )
        self.refused = self._made(Counter, "requests_refused", "Requests refused, by reason.", "reason")
        self.waited = self._made(
            Histogram, "queue_wait_seconds", "Seconds for which requests waited.", "lane", buckets=SECONDS
        )
        self.restarts = self._made(
            Counter, "worker_restarts", "Processes that were replaced, by cause.", "lane", "cause"
        )
        self.searches = self._made(
            Counter, "searches", "Searches for requests, by outcome and proof.", "outcome", "proof"
        )
        self.models = self._made(
            Gauge, "model_info", "The version of each model that is served.", "workspace", "version"
        )
        self._reloads = self._made(Counter, "model_reloads", "Reloads of the model, by result.", "result")
        self._reload_failed = self._made(Gauge, "model_reload_failed", "Whether the last reload failed.")
        self._gauges = {name: self._made(Gauge, name, about, "lane") for name, about in GAUGES.items()}

    def watch(self, lane: str, **numbers: Callable[[], float]) -> None:
        """Read numbers of a lane whenever somebody asks for the metrics; their names are in `GAUGES`."""
        for name, number in numbers.items():
            self._gauges[name].labels(lane).set_function(number)

    def note_reload(self, *, is_good: bool) -> None:
        """Count a reload."""
        self._reloads.labels("done" if is_good else "failed").inc()
        self._reload_failed.set(not is_good)

    def _made(self, kind: Any, name: str, about: str, *labels: str, **options: Any) -> Any:
        return kind(f"butfor_{name}", about, labels, registry=self.registry, **options)


@contextmanager
def published(metrics: Metrics, host: str, port: int) -> Iterator[int]:
    """Answer GET /metrics at an address for as long as the context lasts; yield the port."""
    try:
        server, thread = start_http_server(port, host, metrics.registry)
    except (OSError, OverflowError) as error:
        raise InputError(
            f"--metrics-port must be one that is free, got {port} on {host}: "
            f"{getattr(error, 'strerror', None) or error}."
        ) from error
    log_event(logging.INFO, "metrics published", host=host, port=server.server_port)
    try:
        yield server.server_port
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
