"""Limits that hold before anybody is asked for a token, on real connections from this machine."""

import asyncio
import logging
import re
import socket
import threading
from contextlib import contextmanager

import pytest
import uvicorn
from starlette.responses import PlainTextResponse

from butfor._web import serving
from butfor._web.connections import QuietHandler, possible_connections
from butfor._web.limits import Limits

HEAD = b"GET / HTTP/1.1\r\nHost: localhost\r\n"
POST = b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n"
SHORT = {"head_seconds": 0.3, "body_seconds": 0.3, "read_seconds": 0.3}
LARGE = 2**26
"""Bytes of an answer that no buffer between server and client holds."""


async def app(scope, receive, send):
    """Read the body, then answer."""
    message = {"more_body": True}
    while message.get("more_body"):
        message = await receive()
    await PlainTextResponse("x" * LARGE if scope["path"] == "/large" else "hello")(scope, receive, send)


class Limited:
    """A server in a thread, with limits, and its clients."""

    def __init__(self, limits):
        self.listener = serving.listening("127.0.0.1", 0)
        config = serving.configured(app, limits)
        config.lifespan = "off"
        ready = threading.Event()
        self.server = serving._Server(config, ready.set)
        self._thread = threading.Thread(target=self.server.run, args=([self.listener],))
        self._thread.start()
        assert ready.wait(10)
        self._clients = []

    def client(self, sent=b"", address="127.0.0.1"):
        """Connect from an address of this machine and send something."""
        client = socket.create_connection(self.listener.getsockname(), 10, (address, 0))
        self._clients.append(client)
        client.sendall(sent)
        return client

    def ask(self, sent=HEAD + b"\r\n", address="127.0.0.1"):
        """Send a request on a connection of its own, and return the status."""
        return status(self.client(sent, address))

    @property
    def n_connections(self):
        return len(self.server.server_state.connections)

    def close(self):
        for client in self._clients:
            client.close()
        self.server.should_exit = True
        self._thread.join(30)
        self.listener.close()


def status(client):
    """Return the status of an answer, or None if the connection ends without one."""
    try:
        found = re.match(rb"HTTP/1.1 (\d+) ", client.recv(2**16))
    except ConnectionError:
        return None
    return int(found[1]) if found else None


@contextmanager
def limited(**limits):
    running = Limited(Limits(**limits))
    try:
        yield running
    finally:
        running.close()


@pytest.fixture(scope="module")
def usual():
    with limited() as running:
        yield running


def test_clients_that_send_nothing_keep_out_nobody():
    with limited(connections=200, connections_per_address=150) as server:
        half = [server.client(HEAD, f"127.0.0.{number % 3 + 2}") for number in range(300)]
        assert [server.ask() for _ in range(20)] == [200] * 20
        assert server.ask(address="127.0.0.2") == 200
        assert server.n_connections <= 201  # that of a client may be accepted, and not have been counted yet
        half[-1].sendall(b"\r\n")  # the last to come are still served
        assert status(half[-1]) == 200


def test_one_address_ends_only_connections_of_its_own():
    with limited(connections_per_address=5) as server:
        early = server.client(HEAD, "127.0.0.2")
        many = [server.client(HEAD, "127.0.0.3") for _ in range(20)]
        assert server.ask(address="127.0.0.3") == 200
        assert status(many[0]) is None
        early.sendall(b"\r\n")
        assert status(early) == 200


def test_silence_counts_from_the_first_moment():
    with limited(connections=2) as server:
        first = server.client(HEAD)
        wait_for(lambda: server.n_connections == 1)
        second = server.client(HEAD)
        wait_for(lambda: server.n_connections == 2)
        third = server.client(HEAD)  # the first, which nobody has looked at since, makes room
        assert status(first) is None
        for client in (second, third):
            client.sendall(b"\r\n")
            assert status(client) == 200


@pytest.mark.parametrize(
    ("sent", "answer"),
    [(b"", 408), (HEAD, 408), (POST, 408), (POST + b"x", 408), (HEAD + b"\r\n" + HEAD, 200)],
)
def test_late_clients_are_let_go(sent, answer):
    with limited(**SHORT) as server:
        late = server.client(sent)
        assert status(late) == answer
        while answer == 200 and late.recv(2**16):
            pass  # the second request is late
        wait_for(lambda: not server.n_connections)


def test_a_client_that_does_not_read_is_let_go():
    with limited(**SHORT) as server:
        server.client(b"GET /large HTTP/1.1\r\nHost: localhost\r\n\r\n")
        wait_for(lambda: server.n_connections)
        wait_for(lambda: not server.n_connections)


def test_a_connection_in_steady_use_is_not_late():
    with limited(head_seconds=1) as server:
        stream = server.client().makefile("rwb")
        for _ in range(15):
            stream.write(HEAD + b"\r\n")
            stream.flush()
            lines = [stream.readline() for _ in range(4)]
            assert lines[0].startswith(b"HTTP/1.1 200"), lines
            assert (lines[3], stream.read(5)) == (b"\r\n", b"hello")
            threading.Event().wait(0.1)


@pytest.mark.parametrize(
    ("more", "answer"),
    [
        (b"A: " + b"x" * 30_000 + b"\r\n\r\n", 200),
        (b"A: " + b"x" * 40_000 + b"\r\n\r\n", 431),
        (b"A: b\r\n" * 98 + b"\r\n", 200),
        (b"A: b\r\n" * 101 + b"\r\n", 431),
        (b"Host: evil.example\r\n\r\n", 400),
        (b"no header\r\n\r\n", 400),
    ],
)
def test_heads_of_requests_have_limits(usual, more, answer):
    assert usual.ask(HEAD + more) == answer


def test_a_head_without_end_is_refused_as_it_comes(usual):
    client = usual.client(HEAD + b"A: ")

    def send_for_ever():
        for _ in range(1000):
            client.sendall(b"x" * 2**16)
            threading.Event().wait(0.001)

    with pytest.raises(ConnectionError):
        send_for_ever()


def test_a_body_may_begin_anywhere_and_hold_many_lines(usual):
    sent = POST.replace(b"100", b"%d" % 2**17) + b"\n" * 2**17
    for cut in range(len(POST) - 5, len(POST) + 5):
        client = usual.client(sent[:cut])
        threading.Event().wait(0.01)
        client.sendall(sent[cut:])
        assert status(client) == 200


def test_what_is_no_http_after_an_answer_has_begun_is_not_logged(usual, caplog):
    chunked = b"GET /large HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n"
    client = usual.client(chunked + b"0\r\n\r\n")
    client.recv(10)
    client.sendall(b"\0\0\r\n\r\n")
    client.close()
    assert usual.ask() == 200
    assert not caplog.records


def test_running_out_of_files_is_logged_once(caplog):
    loop = asyncio.new_event_loop()
    loop.set_exception_handler(QuietHandler())
    for _ in range(1000):
        loop.call_exception_handler({"message": "socket.accept() out of system resource"})
    assert [record.levelno for record in caplog.records] == [logging.WARNING]
    loop.call_exception_handler({"message": "something else"})
    assert "something else" in caplog.text
    loop.close()


def test_fewer_connections_where_few_files_may_be_open(monkeypatch):
    resource = pytest.importorskip("resource")
    for most, expected in [(2**20, 512), (resource.RLIM_INFINITY, 512), (600, 344), (128, 32)]:
        monkeypatch.setattr(resource, "getrlimit", lambda _, most=most: (most, most))
        assert possible_connections(Limits()) == expected


def wait_for(done):
    for _ in range(1000):
        if done():
            return
        threading.Event().wait(0.01)
    raise AssertionError("it took too long")


def test_the_protocol_is_what_uvicorn_makes(usual):
    assert isinstance(usual.server, uvicorn.Server)
    client = usual.client(HEAD)
    wait_for(lambda: usual.n_connections)
    assert {type(each).__name__ for each in usual.server.server_state.connections} == {"Connection"}
    client.close()
