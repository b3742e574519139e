"""Connections with limits: how many there are, how much a request's head holds, how long clients may take.

All of this is checked before anybody is asked for a token.
"""

import asyncio
import logging
import re
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from butfor._web.limits import Limits

BACKLOG = 16
"""Connections accepted at a time; if they were many, the last could end the first before it is read."""
QUEUE = 1024
"""Connections that the system holds until they are accepted."""
RESERVED_FILES = 256
"""Open files that are kept free, `BACKLOG` of them for connections that are not counted yet."""
SECONDS_BETWEEN_LOGS = 60.0
END_OF_HEAD = re.compile(rb"\n\r?\n")
AWAITED = {h11.IDLE: "head", h11.SEND_BODY: "body"}
"""What a client has yet to send, by the state in which the parser sees it."""
TOO_LARGE = b"431 Request Header Fields Too Large"
TOO_SLOW = b"408 Request Timeout"
FULL = b"503 Service Unavailable"
log = logging.getLogger("butfor._web")


class Connection(H11Protocol):
    """A connection of uvicorn's that ends where its client breaks a limit.

    Where there are too many connections, the one that has been silent the longest makes room for a new
    one. So clients that send nothing keep out nobody who does.
    """

    def __init__(self, *arguments: Any, limits: Limits, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._limits = limits
        self._phase: tuple[str | None, object] = ("head", None)
        self._since = self.loop.time()

    @property
    def address(self) -> str:
        """The address of the client."""
        return self.client[0] if self.client else ""

    @property
    def awaited(self) -> str | None:
        """What the client must do next: send a "head" or a "body", "read" an answer; None: nothing."""
        if self.transport.is_closing() or self.flow.write_paused:
            return "read"
        return AWAITED.get(self.conn.their_state)

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Make room for the connection, or refuse it."""
        super().connection_made(transport)
        others = [each for each in self.connections if each is not self and isinstance(each, Connection)]
        of_address = [each for each in others if each.address == self.address]
        if len(of_address) >= self._limits.connections_per_address:
            self._replace_one(of_address)
        elif len(others) >= self._limits.connections:
            self._replace_one(others)

    def data_received(self, data: bytes) -> None:
        """Parse what came, unless the head of the request is too large."""
        if self.transport.is_closing():
            return
        if self._is_head_too_large(data):
            self.refuse(TOO_LARGE)
            return
        try:
            super().data_received(data)
        except h11.LocalProtocolError:  # what came is no HTTP, and the answer to it has begun already
            self.transport.abort()

    def silence(self) -> float:
        """Return for how many seconds we have waited for the client; -1 if it is our turn."""
        phase, now = (self.awaited, self.cycle), self.loop.time()
        if phase != self._phase:
            self._phase, self._since = phase, now
        return -1.0 if phase[0] is None else now - self._since

    def end_if_late(self) -> None:
        """End the connection if the client takes too long."""
        silence, awaited = self.silence(), self._phase[0]
        if awaited is None or silence <= getattr(self._limits, f"{awaited}_seconds"):
            return
        if awaited == "read":
            self.transport.abort()
        else:
            self.refuse(TOO_SLOW)

    def refuse(self, status: bytes) -> None:
        """Answer with a bare status, if no answer has begun, and end the connection."""
        if self.conn.our_state in (h11.IDLE, h11.SEND_RESPONSE):
            self.transport.write(b"HTTP/1.1 %s\r\nconnection: close\r\ncontent-length: 0\r\n\r\n" % status)
        self.transport.close()

    def _replace_one(self, others: "list[Connection]") -> None:
        """End the connection whose client has been silent the longest, or this one if none is."""
        most_silent = max(others, key=Connection.silence)
        if most_silent.awaited is None:
            self.refuse(FULL)
        else:
            most_silent.transport.abort()

    def _is_head_too_large(self, data: bytes) -> bool:
        """Return whether a request's first line and headers break a limit, as far as they have come.

        The parser has no limit of headers, and reads those of any size that come at once.
        """
        if self.conn.their_state is not h11.IDLE:
            return False
        head = END_OF_HEAD.split(self.conn.trailing_data[0] + data, maxsplit=1)[0]
        return len(head) > self._limits.head or head.count(b"\n") > self._limits.headers


def possible_connections(limits: Limits) -> int:
    """Return how many connections there may be, given how many files this process may open."""
    try:
        import resource
    except ImportError:  # Windows, which has no such limit
        return limits.connections
    most, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if most == resource.RLIM_INFINITY:
        return limits.connections
    return min(limits.connections, max(most - RESERVED_FILES, most // 4))


class QuietHandler:
    """Handles exceptions of an event loop; running out of files is logged once a minute at most."""

    def __init__(self) -> None:
        self._next = 0.0

    def __call__(self, loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        """Handle an exception that nobody else has handled."""
        if "socket.accept() out of system resource" not in context.get("message", ""):
            loop.default_exception_handler(context)
        elif loop.time() >= self._next:
            self._next = loop.time() + SECONDS_BETWEEN_LOGS
            log.warning("no connection can be accepted: this process may open no more files (ulimit -n)")
