"""Around every request: its id, its line in the log, its metrics; and no new ones once the server drains."""

import logging
import re
import time
import uuid
from dataclasses import dataclass
from ipaddress import IPv6Address, ip_address

from starlette.datastructures import Headers
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from butfor._web.health import PATHS
from butfor._web.logs import log_event
from butfor._web.metrics import Metrics
from butfor._web.problems import RETRY_SECONDS, Problem
from butfor._web.traffic import Traffic

RECORD = "butfor.request"
"""Where the scope of a request has its record."""
REQUEST_ID = re.compile(r"[A-Za-z0-9._:-]{1,128}")
"""Ids of requests that are taken over; others are replaced."""
METHODS = ("GET", "HEAD", "POST")
UNROUTED = "-"
"""The route of requests that the guard refused, or for which there is none: their paths may say anything."""


@dataclass(eq=False)
class RequestRecord:
    """What is known of one request: who asks, and what came of it."""

    id: str = ""
    client: str = ""
    """Who asks; see `client_of`."""
    route: str = UNROUTED
    status: int = 500
    worker: int | None = None
    """The process that was asked."""
    model: str = ""
    """The version of the model that the answer is about; empty if it is about none."""


class Access:
    """Passes each request on with an id, logs one line about it, and counts it.

    Once the server drains, only probes are answered; all others are refused.
    """

    def __init__(self, app: ASGIApp, traffic: Traffic, metrics: Metrics) -> None:
        self._app = app
        self._traffic = traffic
        self._metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Have the app answer a request, and note how that went."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        record = RequestRecord(request_id(scope), client_of(scope))
        began = time.perf_counter()
        is_probe = scope["path"].endswith(PATHS)
        inner, noting = {**scope, RECORD: record}, _noting(record, send)
        try:
            if is_probe:
                await self._app(inner, receive, noting)
            elif self._traffic.is_draining:
                self._metrics.refused.labels("draining").inc()
                await draining().response()(inner, receive, noting)
            else:
                with self._traffic.running():
                    await self._app(inner, receive, noting)
        finally:
            method = scope["method"] if scope["method"] in METHODS else "other"
            self._note(record, method, time.perf_counter() - began, is_probe)

    def _note(self, record: RequestRecord, method: str, seconds: float, is_probe: bool) -> None:
        self._metrics.requests.labels(record.route, method, str(record.status)).inc()
        self._metrics.seconds.labels(record.route).observe(seconds)
        if not is_probe or record.status != 200:  # probes come all the time
            log_event(
                logging.INFO,
                "request",
                request_id=record.id,
                method=method,
                route=record.route,
                status=record.status,
                seconds=round(seconds, 6),
                worker=record.worker,
            )


class Routed:
    """Notes in a request's record which route the app inside has found."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on; note its route, before the answer is complete."""
        try:
            await self._app(scope, receive, send)
        finally:
            if scope["type"] == "http":
                record_of(scope).route = route_of(scope)


def record_of(scope: Scope) -> RequestRecord:
    """Return the record of a request; an app without `Access` around it has none, and gets a new one."""
    record: RequestRecord = scope.setdefault(RECORD, RequestRecord())
    return record


def request_id(scope: Scope) -> str:
    """Return the id that the client, or a proxy, has given the request; otherwise a new one.

    >>> request_id({"headers": [(b"x-request-id", b"a-1")]})
    'a-1'
    >>> len(request_id({"headers": [(b"x-request-id", b"two words")]}))
    32
    """
    sent = Headers(scope=scope).get("x-request-id", "")
    return sent if REQUEST_ID.fullmatch(sent) else uuid.uuid4().hex


def client_of(scope: Scope) -> str:
    """Return who asks: an address, or the network of one, as one client may have all addresses of it.

    All clients of a server have the same token, so only addresses tell them apart.

    >>> client_of({"client": ("192.0.2.7", 1234)}), client_of({"client": ("2001:db8::1:2:3:4", 1234)})
    ('192.0.2.7', '2001:db8::/64')
    """
    name = (scope.get("client") or ("",))[0]
    try:
        address = ip_address(name)
    except ValueError:
        return str(name)
    if not isinstance(address, IPv6Address):
        return str(address)
    if address.ipv4_mapped:
        return str(address.ipv4_mapped)
    return f"{IPv6Address(int(address) >> 64 << 64)}/64"


def route_of(scope: Scope) -> str:
    """Return the template of the route that was found, such as /inbox/api/rows/{number}."""
    route = scope.get("route")
    if not isinstance(route, Route):
        return UNROUTED
    return f"{scope.get('root_path', '')}{route.path_format}"


def draining() -> Problem:
    """Return the answer to those who come while the server drains."""
    headers = {"Retry-After": str(RETRY_SECONDS), "Connection": "close"}
    return Problem(503, "the server ends and takes no more requests: ask again, or ask another.", headers)


def _noting(record: RequestRecord, send: Send) -> Send:
    """Return a `send` that notes the status, and adds headers: the request's id, the model's version."""

    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            record.status = message["status"]
            own = [(b"x-request-id", record.id), (b"butfor-model", record.model)]
            added = [(name, value.encode()) for name, value in own if value]
            message = {**message, "headers": [*message.get("headers", ()), *added]}
        await send(message)

    return sending
