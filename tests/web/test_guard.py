"""Who is let through to the app, and who is not."""

import asyncio
import time
from functools import partialmethod

import httpx
import pytest
from starlette.responses import PlainTextResponse

from butfor._web.guard import Guard, cookie_value

JSON = {"Content-Type": "application/json"}
TOKEN = "s3cret-token-of-the-day"


async def inner(scope, receive, send):
    body = b""
    if scope["method"] == "POST":
        body = (await receive())["body"]
    await PlainTextResponse(f"let in {len(body)}")(scope, receive, send)


class Browser:
    """Asks a guarded app, and keeps its cookies."""

    def __init__(self, **options):
        self._guard = Guard(inner, most_bytes=100, **options)
        self._cookies = httpx.Cookies()

    def ask(self, method, path, **options):
        return asyncio.run(self._ask(method, path, **options))

    async def _ask(self, method, path, **options):
        transport = httpx.ASGITransport(self._guard)
        base = "http://localhost:8000"
        async with httpx.AsyncClient(transport=transport, base_url=base, cookies=self._cookies) as client:
            answer = await client.request(method, path, **options)
            self._cookies = client.cookies
            return answer

    get = partialmethod(ask, "GET")
    post = partialmethod(ask, "POST")


async def pieces():
    for _ in range(4):
        yield b"x" * 30


@pytest.mark.parametrize(
    ("host", "hosts", "status"),
    [
        ("localhost", (), 200),
        ("127.0.0.1:1", (), 200),
        ("[::1]:8000", (), 200),
        ("LOCALHOST:8000", (), 200),
        ("evil.example", (), 403),
        ("localhost.evil.example", (), 403),
        ("127.0.0.1.evil.example:8000", (), 403),
        ("", (), 400),
        ("127.0.0.1:80@evil.example", (), 400),
        ("evil.example@127.0.0.1", (), 400),
        ("localhost:8000/evil.example", (), 400),
        ("[::1", (), 400),
        ("[::1]evil.example", (), 400),
        ("localhost:99999999", (), 400),
        ("why.example", ("why.example",), 200),
        ("192.168.0.7:8000", (), 403),
        ("192.168.0.7:8000", ("0.0.0.0",), 200),
        ("evil.example", ("0.0.0.0",), 403),
    ],
)
def test_only_known_hosts(host, hosts, status):
    assert Browser(hosts=hosts).get("/", headers={"Host": host}).status_code == status


def test_one_host_alone():
    assert Browser().get("/", headers=[("Host", "localhost"), ("Host", "localhost")]).status_code == 400


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Origin": "http://localhost:8000"}, 200),
        ({"Origin": "http://localhost:3000"}, 403),
        ({"Origin": "http://evil.example"}, 403),
        ({"Origin": "null"}, 403),
        ({"Origin": "http://[bad"}, 403),
        ({"Origin": "https://why.example"}, 200),
        ({"Origin": "https://why.example:3000"}, 403),
        ({"Origin": "http://0.0.0.0:3000"}, 403),
        ({"Origin": "http://0.0.0.0"}, 403),
        ({"Sec-Fetch-Site": "same-origin"}, 200),
        ({"Sec-Fetch-Site": "none", "Sec-Fetch-Mode": "navigate"}, 200),
        ({"Sec-Fetch-Site": "cross-site"}, 403),
        ({"Sec-Fetch-Site": "same-site"}, 403),
        ({"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"}, 200),
        ({"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "iframe"}, 403),
    ],
)
def test_only_own_pages(headers, status):
    assert Browser(hosts=["why.example", "0.0.0.0"]).get("/api/rows", headers=headers).status_code == status


def test_a_form_of_another_site_is_refused():
    headers = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", **JSON}
    assert Browser().post("/", headers=headers, content="{}").status_code == 403


def test_the_token_opens_by_header_or_cookie():
    guarded = Browser(token=TOKEN)
    assert guarded.get("/api/rows").status_code == 401
    assert guarded.get("/api/rows").headers["content-type"] == "application/problem+json"
    assert guarded.get("/api/rows", headers={"Authorization": "Bearer wrong"}).status_code == 401
    assert guarded.get("/api/rows", headers={"Authorization": TOKEN}).status_code == 401
    assert guarded.get("/api/rows", headers={"Authorization": f"Bearer {TOKEN}"}).status_code == 200
    assert guarded.get("/?token=wrong").status_code == 401
    browser = guarded.get("/", headers={"Accept": "text/html"})
    assert browser.status_code == 401
    assert browser.headers["content-type"].startswith("text/html")


def test_the_printed_address_sets_a_cookie_and_leaves_no_token_behind():
    guarded = Browser(token=TOKEN)
    answer = guarded.get(f"/inbox/?token={TOKEN}&a=b")
    assert answer.status_code == 303
    assert answer.headers["location"] == "./?a=b"
    cookie = answer.headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=lax" in cookie
    assert TOKEN not in cookie
    assert "Max-Age=604800" in cookie
    assert "Path=/;" in cookie
    assert "Secure" not in cookie
    assert guarded.get("/inbox/").status_code == 200
    again = guarded.get(f"/inbox/?token={TOKEN}")
    assert (again.status_code, again.headers["location"]) == (303, "./")


def test_cookies_end_and_cannot_be_forged():
    now = int(time.time())
    for value, status in [
        (cookie_value(TOKEN, now + 100), 200),
        (cookie_value(TOKEN, now - 1), 401),
        (cookie_value("another-token-of-the-day", now + 100), 401),
        (cookie_value(TOKEN, now - 1).replace(str(now - 1), str(now + 100)), 401),
        (f"{now + 100}.", 401),
        ("9" * 5000 + ".x", 401),
        ("x", 401),
    ]:
        answer = Browser(token=TOKEN).get("/", headers={"Cookie": f"butfor-8000={value}"})
        assert answer.status_code == status, value


def test_bodies_are_json_and_not_too_large():
    guarded = Browser()
    assert guarded.post("/", content="{}", headers=JSON).text == "let in 2"
    charset = {"Content-Type": "application/json; charset=utf-8"}
    assert guarded.post("/", content="{}", headers=charset).status_code == 200
    assert guarded.post("/", content="{}", headers={"Content-Type": "text/plain"}).status_code == 415
    assert guarded.post("/", data={"a": "b"}).status_code == 415
    assert guarded.post("/", content="x" * 101, headers=JSON).status_code == 413
    assert guarded.post("/", content="x" * 100, headers=JSON).text == "let in 100"
    assert guarded.post("/", content="x" * (2**24 + 2**20), headers=JSON).status_code == 413
    streamed = guarded.post("/", content=pieces(), headers=JSON)
    assert streamed.status_code == 413


def test_every_answer_carries_the_headers():
    for answer in (Browser().get("/"), Browser().get("/", headers={"Host": "evil.example"})):
        assert "default-src 'none'" in answer.headers["content-security-policy"]
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["referrer-policy"] == "no-referrer"
        assert answer.headers["cache-control"] == "no-store"
        assert not any(name.startswith("access-control") for name in answer.headers)


def test_head_is_answered_as_get():
    assert Browser().ask("HEAD", "/").status_code == 200
