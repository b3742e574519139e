"""The end of a server: it finishes what it has begun, refuses what is new, and ends."""

import asyncio
import re
import signal
import socket
import threading

from starlette.responses import PlainTextResponse

from butfor._web import serving
from butfor._web.access import Access
from butfor._web.limits import Limits
from butfor._web.metrics import Metrics
from butfor._web.traffic import Drain, Traffic

SECONDS = 60


class Ending:
    """A server in a thread whose answers wait until somebody lets them go."""

    def __init__(self, drain_seconds):
        self.begun, self.go_on = threading.Event(), threading.Event()
        traffic, ready = Traffic(), threading.Event()
        self.listener = serving.listening("127.0.0.1", 0)
        config = serving.configured(Access(self._answer, traffic, Metrics()), Limits())
        config.lifespan = "off"
        self.server = serving._Server(config, ready.set, Drain(traffic, drain_seconds))
        self.thread = threading.Thread(target=self.server.run, args=([self.listener],))
        self.thread.start()
        assert ready.wait(SECONDS)

    async def _answer(self, scope, receive, send):
        if scope["path"] == "/slow":
            self.begun.set()
            while not self.go_on.is_set():
                await asyncio.sleep(0.01)
        await PlainTextResponse("hello")(scope, receive, send)

    def ask(self, path):
        client = socket.create_connection(self.listener.getsockname(), SECONDS)
        client.sendall(f"GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
        return client

    def tell_to_end(self):
        self.server.handle_exit(signal.SIGTERM, None)


def answer(client):
    with client:
        received = client.recv(2**16)
    found = re.match(rb"HTTP/1.1 (\d+) ", received)
    return (int(found[1]) if found else None), received.lower()


def test_running_requests_are_answered_and_new_ones_refused():
    server = Ending(drain_seconds=SECONDS)
    running = server.ask("/slow")
    assert server.begun.wait(SECONDS)
    server.tell_to_end()
    status, said = answer(server.ask("/"))
    assert status == 503
    assert b"retry-after: 2" in said
    assert b"connection: close" in said
    assert answer(server.ask("/health/live"))[0] == 200
    server.go_on.set()
    assert answer(running)[0] == 200
    server.thread.join(SECONDS)
    assert not server.thread.is_alive()


def test_the_time_is_limited_and_a_second_signal_ends_it():
    for drain_seconds, n_signals in ((0.01, 1), (0, 1), (SECONDS, 2)):
        server = Ending(drain_seconds)
        running = server.ask("/slow")
        assert server.begun.wait(SECONDS)
        for _ in range(n_signals):
            server.tell_to_end()
        server.thread.join(SECONDS)
        assert not server.thread.is_alive()
        running.close()


def test_a_drain_is_over_once_nothing_runs():
    traffic = Traffic()
    drain = Drain(traffic, SECONDS)
    assert not drain.is_over
    with traffic.running():
        assert drain.begin()
        assert not drain.begin()
        assert not drain.is_over
    assert drain.is_over
