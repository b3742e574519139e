"""The gate before the whole app: who may ask, from which page, how much; headers that keep browsers safe."""

import hmac
from collections.abc import Collection
from hashlib import sha256
from ipaddress import ip_address
from urllib.parse import parse_qsl, quote, urlencode, urlsplit

from starlette.datastructures import Headers
from starlette.responses import HTMLResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from butfor.web.problems import Problem

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
"""On every answer."""
MOST_READ = 2**24
"""Bytes of a body that are read even if it is too large: many clients hear nothing while they send."""
NOT_KEPT = (b"cache-control", b"no-store")
NO_TOKEN = (
    '<!doctype html><html lang="en"><meta charset="utf-8"><title>butfor: token needed</title>'
    "<h1>Token needed</h1><p>Open the address that <code>butfor serve</code> printed, with its "
    "<code>?token=…</code>.</p></html>\n"
)


class Guard:
    """Lets requests through to an app: from known hosts and its own pages, with the token, not too large."""

    def __init__(
        self, app: ASGIApp, *, hosts: Collection[str] = (), token: str | None = None, most_bytes: int = 2**20
    ) -> None:
        self._app = app
        self._hosts = {host.lower().strip("[]") for host in hosts}
        self._token = token
        self._most_bytes = most_bytes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer, or let the app answer; either way with the headers."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        send = _with_headers(send)
        if scope["method"] == "HEAD":  # as GET; the server itself leaves the body out
            scope = {**scope, "method": "GET"}
        try:
            answer = self._answer(scope)
            if answer is None and scope["method"] == "POST":
                receive = await self._body(Headers(scope=scope), receive)
        except Problem as problem:
            answer = problem.response()
        await (answer or self._app)(scope, receive, send)

    def _answer(self, scope: Scope) -> Response | None:
        """Give what is to be said instead of the app's answer, if anything."""
        headers = Headers(scope=scope)
        self._check_host(headers)
        self._check_origin(headers, scope["method"])
        if self._token is not None and not _has_token(headers, self._token):
            return self._welcome(scope, headers, self._token)
        asked = dict(parse_qsl(scope["query_string"].decode("latin-1")))
        return _clean(scope) if "token" in asked and scope["method"] == "GET" else None

    def _check_host(self, headers: Headers) -> None:
        """Refuse a name that is not this server's: another site may have it point here (DNS rebinding)."""
        host = headers.get("host", "")
        name = _name(host)
        if name in LOOPBACK or name in self._hosts:
            return
        if self._hosts & set(ANY_ADDRESS) and _is_address(name):  # which no other site can have
            return
        raise Problem(403, f"this server is not known as {host!r}: start it with --allow-host {name}.")

    def _check_origin(self, headers: Headers, method: str) -> None:
        """Refuse what a page of another site sends; a link from there may be followed."""
        origin = headers.get("origin")
        if origin is not None and not self._is_own(origin, headers.get("host", "")):
            raise Problem(403, "this came from a page of another site.")
        site = headers.get("sec-fetch-site", "none")
        if site not in ("same-origin", "none") and not (method == "GET" and _is_link(headers)):
            raise Problem(403, "this came from a page of another site.")

    def _is_own(self, origin: str, host: str) -> bool:
        try:
            place = urlsplit(origin).netloc.lower()
        except ValueError:  # no address at all
            return False
        if not place:
            return False
        # A proxy may ask by another name; then the page's own is one that is allowed, on no odd port.
        known = self._hosts - {*LOOPBACK, *ANY_ADDRESS}
        return _short(place) == _short(host.lower()) or _short(place) in known

    def _welcome(self, scope: Scope, headers: Headers, token: str) -> Response:
        """Let a browser in by the printed address, once: a cookie is its key from then on."""
        given = dict(parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True)).get("token")
        if scope["method"] == "GET" and given is not None and _same(given, token):
            answer = _clean(scope)
            answer.set_cookie(
                cookie_name(token),
                _key(token),
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
        """Read the whole body, unless it is too large; give it to the app as one message."""
        if headers.get("content-type", "").split(";")[0].strip().lower() != "application/json":
            raise Problem(415, "a body must be JSON: send Content-Type: application/json.")
        body, n_bytes, more = bytearray(), 0, True
        while more and n_bytes <= MOST_READ:
            message = await receive()
            part = message.get("body", b"")
            n_bytes += len(part)
            more = message.get("more_body", False)
            if n_bytes <= self._most_bytes:
                body += part
            if message["type"] == "http.disconnect":
                raise Problem(400, "the body ended early.")
        if n_bytes > self._most_bytes:
            raise Problem(
                413, f"a body may have {self._most_bytes:,} bytes at most.", {"Connection": "close"}
            )
        return _replayed(bytes(body), receive)


def cookie_name(token: str) -> str:
    """Name the cookie after the token: two servers on one machine, on two ports, share their cookies."""
    return f"butfor-{sha256(token.encode()).hexdigest()[:8]}"


def _key(token: str) -> str:
    return sha256(b"butfor cookie " + token.encode()).hexdigest()


def _is_link(headers: Headers) -> bool:
    """Tell whether somebody goes to a page, and not another page loads it."""
    to = headers.get("sec-fetch-dest", "document")
    return headers.get("sec-fetch-mode") == "navigate" and to == "document"


def _has_token(headers: Headers, token: str) -> bool:
    kind, _, given = headers.get("authorization", "").partition(" ")
    if kind.lower() == "bearer" and _same(given.strip(), token):
        return True
    cookies = (part.partition("=") for part in headers.get("cookie", "").split(";"))
    return any(
        name.strip() == cookie_name(token) and _same(value.strip(), _key(token)) for name, _, value in cookies
    )


def _same(given: str, expected: str) -> bool:
    """Compare in a time that does not tell how much is right."""
    return hmac.compare_digest(given.encode("utf-8", "replace"), expected.encode())


def _clean(scope: Scope) -> Response:
    """Send a browser to the same page without the token in its address."""
    last = scope["path"].rpartition("/")[2]
    pairs = parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True)
    rest = urlencode([(name, value) for name, value in pairs if name != "token"])
    return Response(None, 303, {"Location": f"./{quote(last)}{'?' if rest else ''}{rest}"})


def _replayed(body: bytes, receive: Receive) -> Receive:
    given = False

    async def again() -> Message:
        nonlocal given
        if given:
            return await receive()
        given = True
        return {"type": "http.request", "body": body, "more_body": False}

    return again


def _with_headers(send: Send) -> Send:
    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            own = list(message.get("headers", ()))
            caching = [] if any(name == b"cache-control" for name, _ in own) else [NOT_KEPT]
            message = {**message, "headers": [*own, *HEADERS, *caching]}
        await send(message)

    return sending


def _short(place: str) -> str:
    """Leave out a port that goes without saying."""
    return place.removesuffix(":80").removesuffix(":443")


def _name(place: str) -> str:
    """Give the name in host:port.

    >>> _name("LocalHost:8000"), _name("[::1]:8000")
    ('localhost', '::1')
    """
    if place.startswith("["):
        return place[1:].partition("]")[0].lower()
    return place.partition(":")[0].lower()


def _is_address(name: str) -> bool:
    try:
        ip_address(name)
    except ValueError:
        return False
    return True
