"""The server process of `butfor serve`: its port, its token and its address."""

import asyncio
import ipaddress
import logging
import re
import signal
import socket
import sys
import threading
import webbrowser
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import replace
from functools import partial
from types import FrameType
from typing import Any

import uvicorn
from starlette.types import ASGIApp

from butfor._web.app import create_app
from butfor._web.connections import BACKLOG, QUEUE, Connection, QuietHandler, possible_connections
from butfor._web.limits import Limits
from butfor._web.logs import log_event
from butfor._web.metrics import Metrics, published
from butfor._web.proxies import Proxies
from butfor._web.reloading import Reloader
from butfor._web.traffic import Drain, Traffic
from butfor._web.workspace import Workspace
from butfor.errors import ButforError, InputError

SHORTEST_TOKEN = 16
SECONDS_TO_END = 1
"""How long running requests may take once the server is told to end."""
MAKE_ONE = """python -c 'import secrets; print(secrets.token_urlsafe())'"""


def serve(
    workspaces: Sequence[Workspace],
    *,
    host: str = "127.0.0.1",
    port: int = 8000,
    token: str | None = None,
    hosts: Sequence[str] = (),
    open_browser: bool = False,
    limits: Limits | None = None,
    jobs: int | None = None,
    reserve: int | None = None,
    open_health: bool = False,
    proxies: Sequence[str] = (),
    metrics_at: tuple[str, int] | None = None,
    reloader: Reloader | None = None,
    shows_token: bool = True,
    ready: Callable[[str], None] | None = None,
) -> None:
    """Serve workspaces until the process is told to end; call `ready` with the address once it listens.

    Parameters
    ----------
    workspaces, host, port, token, open_browser, limits, jobs, open_health
        What is served, where, to whom, and how.
    hosts
        Names under which browsers reach the server.
    reserve
        How many processes there are for others, once one client keeps `jobs` of them busy. By default one,
        or none if all clients are on this machine, where they cannot be told apart.
    proxies
        Addresses whose X-Forwarded headers are believed.
    metrics_at
        The host and port at which metrics are published; None: they are not.
    reloader
        Replaces the workspaces; without one they stay.
    shows_token
        Whether the address that `ready` gets holds the token.
    """
    require_token(host, token)
    listener = listening(host, port)
    address = address_of(host, listener.getsockname()[1], token)

    def announce() -> None:
        log_event(logging.INFO, "listening", host=host, port=listener.getsockname()[1])
        if ready is not None:
            ready(address if shows_token else address.partition("?")[0])
        if open_browser:
            threading.Thread(target=webbrowser.open, args=(address,), daemon=True).start()

    limits = limits or Limits()
    limits = replace(limits, connections=possible_connections(limits))
    metrics, traffic, reloader = Metrics(), Traffic(), reloader or Reloader()
    app = create_app(
        workspaces,
        limits=limits,
        token=token,
        hosts=[host, *hosts],
        jobs=jobs,
        reserve=usual_reserve(host, proxies) if reserve is None else reserve,
        open_health=open_health,
        metrics=metrics,
        traffic=traffic,
        reloader=reloader,
    )
    config = configured(Proxies(app, proxies), limits)
    server = _Server(config, announce, Drain(traffic, limits.drain_seconds), reloader.reload_soon)
    with listener, nullcontext() if metrics_at is None else published(metrics, *metrics_at):
        server.run(sockets=[listener])
    if not server.started:
        raise ButforError("the server could not start; what was printed above says why.")


def configured(app: ASGIApp, limits: Limits) -> uvicorn.Config:
    """Return the configuration of a server: quiet, and with limits for each connection."""
    connection: Any = partial(Connection, limits=limits)
    return uvicorn.Config(
        app,
        access_log=False,
        backlog=BACKLOG,
        date_header=False,
        h11_max_incomplete_event_size=limits.head,
        http=connection,
        lifespan="on",
        log_config=None,
        log_level="error",  # uvicorn warns of each bad request, of which anybody may send millions
        proxy_headers=False,
        server_header=False,
        timeout_graceful_shutdown=SECONDS_TO_END,
        ws="none",
    )


class _Server(uvicorn.Server):
    """A uvicorn server that calls a function once it is ready, and ends connections of slow clients.

    On SIGTERM it drains; on a second one, and on SIGINT, it ends. On SIGHUP it reloads.
    """

    def __init__(
        self,
        config: uvicorn.Config,
        ready: Callable[[], None],
        drain: Drain | None = None,
        reload: Callable[[], None] | None = None,
    ) -> None:
        super().__init__(config)
        self._ready = ready
        self._drain = drain or Drain(Traffic(), 0)
        self._reload = reload

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """End at once, or drain first."""
        if sig == signal.SIGTERM and self._drain.begin():
            self._captured_signals.append(sig)  # which is raised again at the end
        else:
            super().handle_exit(sig, frame)

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        asyncio.get_running_loop().set_exception_handler(QuietHandler())
        await super().startup(sockets)
        for listener in sockets or ():
            listener.listen(QUEUE)  # uvicorn takes one number for this and for how many it accepts at a time
        if self._reload is not None and is_service():
            asyncio.get_running_loop().add_signal_handler(signal.SIGHUP, self._reload)
        if self.started:
            self._ready()

    async def on_tick(self, counter: int) -> bool:
        for connection in list(self.server_state.connections):
            if isinstance(connection, Connection):
                connection.end_if_late()
        if self._drain.is_over:
            self.should_exit = True
        return await super().on_tick(counter)


def is_service() -> bool:
    """Return whether SIGHUP means to reload: in a terminal it means that the terminal was closed."""
    is_main = threading.current_thread() is threading.main_thread()
    return is_main and hasattr(signal, "SIGHUP") and not (sys.stdin and sys.stdin.isatty())


def require_token(host: str, token: str | None) -> None:
    """Raise if other machines could reach the server without a token, or if the token is too weak.

    >>> require_token("127.0.0.1", None)
    >>> require_token("0.0.0.0", None)
    Traceback (most recent call last):
    ...
    butfor.errors.InputError: --token must be given where --host is not this machine alone, got none for ...
    """
    if token is None:
        if not is_loopback(host):
            raise InputError(
                f"--token must be given where --host is not this machine alone, got none for {host}: make "
                f"one with {MAKE_ONE} and put it into the environment variable BUTFOR_TOKEN."
            )
    elif not re.fullmatch(rf"[A-Za-z0-9._~-]{{{SHORTEST_TOKEN},}}", token):
        raise InputError(
            f"--token must have at least {SHORTEST_TOKEN} letters, digits or any of . _ ~ -, got another "
            f"of {len(token)} characters: make one with {MAKE_ONE}"
        )


def require_name(host: str) -> None:
    """Raise unless `host` is a bare host name.

    >>> require_name("https://why.example.org/")
    Traceback (most recent call last):
    ...
    butfor.errors.InputError: --allow-host must be a name such as why.example.org, without scheme, port or ...
    """
    if not re.fullmatch(r"[A-Za-z0-9._-]+|\[?[0-9A-Fa-f:.]+\]?", host):
        raise InputError(
            "--allow-host must be a name such as why.example.org, without scheme, port or path, got "
            f"{host!r}."
        )


def usual_reserve(host: str, proxies: Sequence[str]) -> int:
    """Return how many processes are kept for others: none if all clients come from this machine's address.

    >>> usual_reserve("127.0.0.1", []), usual_reserve("::1", ["127.0.0.1"]), usual_reserve("0.0.0.0", [])
    (0, 1, 1)
    """
    return 0 if is_loopback(host) and not proxies else 1


def is_loopback(host: str) -> bool:
    """Return whether only this machine can reach an address.

    >>> is_loopback("localhost"), is_loopback("::1"), is_loopback("0.0.0.0"), is_loopback("example.org")
    (True, True, False, False)
    """
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def listening(host: str, port: int, option: str = "-") -> socket.socket:
    """Return a socket that listens on a port; port 0 is any free port.

    Errors name the options after `option`: with "--metrics" these are --metrics-host and --metrics-port.
    """
    if not 0 <= port <= 65535:
        raise InputError(f"{option}-port must be from 0 to 65535, got {port}.")
    try:
        family, kind, _, _, place = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    except (OSError, UnicodeError) as error:
        raise InputError(
            f"{option}-host must be an address of this machine, got {host!r}: {error}"
        ) from error
    # Only with the protocol named does asyncio set TCP_NODELAY; without it answers are delayed by 40 ms.
    listener = socket.socket(family, kind, socket.IPPROTO_TCP)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(place)
        listener.listen()
    except OSError as error:
        listener.close()
        raise InputError(
            f"{option}-port must be one that is free, got {port} on {host}: {error.strerror or error}. Give "
            f"another, such as {option}-port {port % 65535 + 1}, or {option}-port 0 for any that is free."
        ) from error
    return listener


def address_of(host: str, port: int, token: str | None) -> str:
    """Return the address to open in a browser on this machine, with the token.

    >>> address_of("0.0.0.0", 8000, None), address_of("::1", 8000, "secret")
    ('http://127.0.0.1:8000/', 'http://[::1]:8000/?token=secret')
    """
    own = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)
    named = f"[{own}]" if ":" in own else own
    return f"http://{named}:{port}/" + ("" if token is None else f"?token={token}")
