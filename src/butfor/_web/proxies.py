"""What reverse proxies say of a request: scheme, client and prefix; believed if the user trusts them."""

import re
from collections.abc import Sequence
from ipaddress import ip_address, ip_network

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send
from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware

from butfor.errors import InputError

PREFIX = "butfor.prefix"
"""Where a request's scope has the path under which a proxy serves all of this."""
A_PREFIX = re.compile(r"(/[A-Za-z0-9._~-]+)*")


class Proxies:
    """Reads `X-Forwarded-Proto`, `-For` and `-Prefix` of requests that come from trusted addresses."""

    def __init__(self, app: ASGIApp, trusted: Sequence[str]) -> None:
        self._networks = [ip_network(each, strict=False) for each in trusted]
        hosts = [str(network) for network in self._networks]
        self._app: ASGIApp = ProxyHeadersMiddleware(app, hosts)  # type: ignore[arg-type, assignment]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, with what its proxy says of it."""
        if scope["type"] == "http" and self._is_trusted(scope):
            prefix = Headers(scope=scope).get("x-forwarded-prefix", "").rstrip("/")
            if A_PREFIX.fullmatch(prefix):
                scope = {**scope, PREFIX: prefix}
        await self._app(scope, receive, send)

    def _is_trusted(self, scope: Scope) -> bool:
        try:
            address = ip_address((scope.get("client") or ("",))[0])
        except ValueError:
            return False
        return any(address in network for network in self._networks)


def prefix_of(scope: Scope) -> str:
    """Return the path under which a proxy serves all of this; without a trusted proxy, "".

    >>> prefix_of({PREFIX: "/spam"}), prefix_of({})
    ('/spam', '')
    """
    return str(scope.get(PREFIX, ""))


def require_proxy(address: str) -> None:
    """Raise unless this is an address, or a network of addresses.

    >>> require_proxy("10.0.0.0/8")
    >>> require_proxy("proxy.example.org")
    Traceback (most recent call last):
    ...
    butfor.errors.InputError: --trust-proxy must be an address or a network such as 10.0.0.0/8, got ...
    """
    try:
        ip_network(address, strict=False)
    except ValueError as error:
        raise InputError(
            f"--trust-proxy must be an address or a network such as 10.0.0.0/8, got {address!r}."
        ) from error
