"""What proxies say of a request is believed of those that are trusted."""

import asyncio

import httpx
import pytest
from starlette.responses import PlainTextResponse
from web_toys import moviegoers_workspace

from butfor._web.app import create_app
from butfor._web.guard import Guard
from butfor._web.proxies import Proxies, prefix_of

TOKEN = "s3cret-token-of-the-day"
SAID = {"X-Forwarded-Proto": "https", "X-Forwarded-For": "203.0.113.9", "X-Forwarded-Prefix": "/spam/"}


async def app(scope, receive, send):
    told = f"{scope['scheme']} {scope['client'][0]} {prefix_of(scope)}"
    await PlainTextResponse(told)(scope, receive, send)


def asked(app, path="/", client="10.1.2.3", headers=SAID):
    async def ask():
        transport = httpx.ASGITransport(app, client=(client, 1))
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost:8000") as http:
            return await http.get(path, headers=headers)

    return asyncio.run(ask())


@pytest.mark.parametrize("trusted", [["10.1.2.3"], ["10.0.0.0/8"], ["::1", "10.0.0.1/8"]])
def test_trusted_proxies_are_believed(trusted):
    assert asked(Proxies(app, trusted)).text == "https 203.0.113.9 /spam"


@pytest.mark.parametrize("trusted", [[], ["10.1.2.4"], ["::1"]])
def test_others_are_not(trusted):
    assert asked(Proxies(app, trusted)).text == "http 10.1.2.3 "


@pytest.mark.parametrize("prefix", ["spam", "//evil.example", "/a b", "/a;Secure", "/<b>", "/%2e"])
def test_a_prefix_is_a_path(prefix):
    said = asked(Proxies(app, ["10.1.2.3"]), headers={"X-Forwarded-Prefix": prefix})
    assert said.text == "http 10.1.2.3 "


def test_cookies_are_for_https_and_the_prefix():
    guarded = Proxies(Guard(app, token=TOKEN), ["10.1.2.3"])
    cookie = asked(guarded, f"/?token={TOKEN}").headers["set-cookie"]
    assert "Path=/spam/;" in cookie
    assert "Secure" in cookie
    cookie = asked(guarded, f"/?token={TOKEN}", client="10.1.2.4").headers["set-cookie"]
    assert "Path=/;" in cookie
    assert "Secure" not in cookie


def test_the_manual_shows_addresses_as_browsers_see_them():
    served = Proxies(create_app([moviegoers_workspace()]), ["10.1.2.3"])
    assert "https://localhost:8000/spam/api/explain" in asked(served, "/docs").text
    direct = asked(served, "/docs", client="10.1.2.4").text
    assert "http://localhost:8000/api/explain" in direct
    assert "/spam/" not in direct
