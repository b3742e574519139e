"""The checks before the app: host, origin, token and size of a request; security headers of every answer."""

import hmac
import re
import time
from collections.abc import Collection
from ipaddress import ip_address
from urllib.parse import parse_qsl, quote, urlencode, urlsplit

from starlette.datastructures import Headers
from starlette.responses import HTMLResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from butfor._web.problems import Problem
from butfor._web.proxies import prefix_of

LOOPBACK = ("localhost", "127.0.0.1", "::1")
ANY_ADDRESS = ("0.0.0.0", "::")
CSP = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
HEADERS = [
    (b"content-security-policy", CSP.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
]
"""Headers of every answer."""
MOST_READ = 2**24
"""Bytes of a too large body that are still read: many clients read no answer while they send."""
SECONDS_LET_IN = 7 * 24 * 60 * 60
"""How long a browser that had the token once needs it no more."""
PLACE = re.compile(r"(?:\[([0-9A-Fa-f:.]+)\]|([A-Za-z0-9._-]+))(?::[0-9]{0,5})?")
"""An address in brackets or a name, perhaps with a port: what may be in a Host header."""
NO_STORE = (b"cache-control", b"no-store")
NO_TOKEN = (
    '<!doctype html><html lang="en"><meta charset="utf-8"><title>butfor: token needed</title>'
    "<h1>Token needed</h1><p>Open the address that <code>butfor serve</code> printed, with its "
    "<code>?token=…</code>.</p></html>\n"
)


class Guard:
    """Passes requests on to an app if host, origin, token and size are right; otherwise answers itself."""

    def __init__(
        self,
        app: ASGIApp,
        *,
        hosts: Collection[str] = (),
        token: str | None = None,
        most_bytes: int = 2**20,
        open_paths: Collection[str] = (),
    ) -> None:
        self._app = app
        self._hosts = {host.lower().strip("[]") for host in hosts}
        self._token = token
        self._most_bytes = most_bytes
        self._open_paths = open_paths

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer the request, or have the app answer it; add the headers to either answer."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        send = _with_headers(send)
        if scope["method"] == "HEAD":  # handled as GET; uvicorn leaves the body out
            scope = {**scope, "method": "GET"}
        try:
            answer = self._answer(scope)
            if answer is None and scope["method"] == "POST":
                receive = await self._body(Headers(scope=scope), receive)
        except Problem as problem:
            answer = problem.response()
        await (answer or self._app)(scope, receive, send)

    def _answer(self, scope: Scope) -> Response | None:
        """Return an answer that replaces the app's, or None; raise a problem if the request is refused."""
        headers = Headers(scope=scope)
        self._check_host(headers)
        self._check_origin(headers, scope["method"])
        if scope["path"] in self._open_paths and scope["method"] == "GET":
            return None
        if self._token is not None and not _has_token(scope, headers, self._token):
            return self._welcome(scope, headers, self._token)
        query = dict(parse_qsl(scope["query_string"].decode("latin-1")))
        return _without_token(scope) if "token" in query and scope["method"] == "GET" else None

    def _check_host(self, headers: Headers) -> None:
        """Refuse foreign host names: another site may point its name at this server (DNS rebinding)."""
        hosts = headers.getlist("host")
        name = _name(hosts[0]) if len(hosts) == 1 else None
        if name is None:
            raise Problem(400, "a request must have one Host header: a name or an address, perhaps a port.")
        if name in LOOPBACK or name in self._hosts:
            return
        if self._hosts & set(ANY_ADDRESS) and _is_address(name):  # no other site can own a bare address
            return
        raise Problem(403, f"this server is not known as {name!r}: start it with --allow-host {name}.")

    def _check_origin(self, headers: Headers, method: str) -> None:
        """Refuse requests of another site's pages; links from there may be followed."""
        origin = headers.get("origin")
        if origin is not None and not self._is_own(origin, headers.get("host", "")):
            raise Problem(403, "this came from a page of another site.")
        site = headers.get("sec-fetch-site", "none")
        if site not in ("same-origin", "none") and not (method == "GET" and _is_link(headers)):
            raise Problem(403, "this came from a page of another site.")

    def _is_own(self, origin: str, host: str) -> bool:
        try:
            place = urlsplit(origin).netloc.lower()
        except ValueError:  # the header is no address
            return False
        if not place:
            return False
        # Behind a proxy the Host header may differ; then the page must be on an allowed host, default port.
        known = self._hosts - {*LOOPBACK, *ANY_ADDRESS}
        return (
            _without_default_port(place) == _without_default_port(host.lower())
            or _without_default_port(place) in known
        )

    def _welcome(self, scope: Scope, headers: Headers, token: str) -> Response:
        """Exchange the token in the printed address for a cookie, or answer 401."""
        sent = dict(parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True)).get("token")
        if scope["method"] == "GET" and sent is not None and _is_same(sent, token):
            answer = _without_token(scope)
            answer.set_cookie(
                cookie_name(scope),
                cookie_value(token, int(time.time()) + SECONDS_LET_IN),
                max_age=SECONDS_LET_IN,
                path=f"{prefix_of(scope)}/",
                httponly=True,
                samesite="lax",
                secure=scope.get("scheme") == "https",
            )
            return answer
        if "text/html" in headers.get("accept", ""):
            return HTMLResponse(NO_TOKEN, 401)
        detail = "send the server's token as Authorization: Bearer …, or open the address that it printed."
        raise Problem(401, detail, {"WWW-Authenticate": "Bearer"})

    async def _body(self, headers: Headers, receive: Receive) -> Receive:
        """Read the body, unless it is too large; return a `receive` that passes it on as one message."""
        if headers.get("content-type", "").split(";")[0].strip().lower() != "application/json":
            raise Problem(415, "a body must be JSON: send Content-Type: application/json.")
        body, n_bytes, more = bytearray(), 0, True
        while more and n_bytes <= MOST_READ:
            message = await receive()
            received = message.get("body", b"")
            n_bytes += len(received)
            more = message.get("more_body", False)
            if n_bytes <= self._most_bytes:
                body += received
            if message["type"] == "http.disconnect":
                raise Problem(400, "the body ended early.")
        if n_bytes > self._most_bytes:
            raise Problem(
                413, f"a body may have {self._most_bytes:,} bytes at most.", {"Connection": "close"}
            )
        return _replayed(bytes(body), receive)


def cookie_name(scope: Scope) -> str:
    """Return the cookie's name, which holds the port: servers on two ports share their cookies.

    >>> cookie_name({"server": ("127.0.0.1", 8000)})
    'butfor-8000'
    """
    _, port = scope.get("server") or ("", None)
    return f"butfor-{port or 0}"


def cookie_value(token: str, end: int) -> str:
    """Return when a cookie ends, in seconds since 1970, signed with the token: nobody else can make it."""
    signature = hmac.new(token.encode(), b"butfor cookie until %d" % end, "sha256").hexdigest()
    return f"{end}.{signature}"


def _is_valid(cookie: str, token: str) -> bool:
    """Return whether a cookie was made with the token, and has not ended."""
    end = cookie.partition(".")[0]
    if not re.fullmatch("[0-9]{1,12}", end):
        return False
    return _is_same(cookie, cookie_value(token, int(end))) and int(end) > time.time()


def _is_link(headers: Headers) -> bool:
    """Return whether a user opens the page itself, rather than another page loading it."""
    to = headers.get("sec-fetch-dest", "document")
    return headers.get("sec-fetch-mode") == "navigate" and to == "document"


def _has_token(scope: Scope, headers: Headers, token: str) -> bool:
    kind, _, sent = headers.get("authorization", "").partition(" ")
    if kind.lower() == "bearer" and _is_same(sent.strip(), token):
        return True
    cookies = (cookie.partition("=") for cookie in headers.get("cookie", "").split(";"))
    return any(
        name.strip() == cookie_name(scope) and _is_valid(value.strip(), token) for name, _, value in cookies
    )


def _is_same(sent: str, expected: str) -> bool:
    """Compare in constant time, so that the time reveals nothing about the token."""
    return hmac.compare_digest(sent.encode("utf-8", "replace"), expected.encode())


def _without_token(scope: Scope) -> Response:
    """Redirect to the same page without the token in its address."""
    last = scope["path"].rpartition("/")[2]
    query = parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True)
    rest = urlencode([(name, value) for name, value in query if name != "token"])
    return Response(None, 303, {"Location": f"./{quote(last)}{'?' if rest else ''}{rest}"})


def _replayed(body: bytes, receive: Receive) -> Receive:
    is_sent = False

    async def again() -> Message:
        nonlocal is_sent
        if is_sent:
            return await receive()
        is_sent = True
        return {"type": "http.request", "body": body, "more_body": False}

    return again


def _with_headers(send: Send) -> Send:
    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            own = list(message.get("headers", ()))
            caching = [] if any(name == b"cache-control" for name, _ in own) else [NO_STORE]
            message = {**message, "headers": [*own, *HEADERS, *caching]}
        await send(message)

    return sending


def _without_default_port(place: str) -> str:
    """Drop the port if it is a default one."""
    return place.removesuffix(":80").removesuffix(":443")


def _name(place: str) -> str | None:
    """Return the name in host:port, or None if it is no such place.

    >>> _name("LocalHost:8000"), _name("[::1]:8000"), _name("127.0.0.1:80@evil.example")
    ('localhost', '::1', None)
    """
    found = PLACE.fullmatch(place)
    return found and (found[1] or found[2]).lower()


def _is_address(name: str) -> bool:
    try:
        ip_address(name)
    except ValueError:
        return False
    return True
