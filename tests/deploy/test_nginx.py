"""The configuration of nginx, that of deploy/ and the docs, in a real nginx before a real server."""

import re
from textwrap import indent
from urllib.parse import urljoin, urlsplit

import pytest
import skops.io
from deployed import DEPLOY
from nginx_site import NAME, PREFIX, TOKEN, site, why_not
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

from butfor import Explainer
from butfor._web.limits import Limits

pytestmark = pytest.mark.xdist_group("nginx")
MAILS = ["free prize now", "call mum", "free call", "mum and dad", "a prize for dad"]
MODEL = make_pipeline(CountVectorizer(), LogisticRegression()).fit(MAILS, [1, 0, 1, 0, 1])
ROOT = f"https://{NAME}{PREFIX}/"
BEARER = {"Authorization": f"Bearer {TOKEN}"}


@pytest.fixture(scope="module")
def why(tmp_path_factory):
    """The site, with a model of mails."""
    if why_not() is not None:
        pytest.skip(why_not())
    folder = tmp_path_factory.mktemp("nginx")
    skops.io.dump(MODEL, folder / "model.skops")
    with site(folder, "model.skops") as served:
        yield served


@pytest.fixture(scope="module")
def cookie(why):
    """What a browser keeps that was let in."""
    return why.get(f"{PREFIX}/?token={TOKEN}").headers["Set-Cookie"]


def test_the_docs_show_a_part_of_the_file():
    page = (DEPLOY.parent / "docs" / "how-to" / "serve.md").read_text("utf-8")
    (shown,) = re.findall(r"```nginx\n(.*?)```", page, re.DOTALL)
    whole = (DEPLOY / "nginx.conf").read_text("utf-8")
    assert indent(shown, "    ") in whole
    assert "deploy/nginx.conf" in page


def test_http_goes_to_https(why):
    path = f"{PREFIX}/api/rows?sort=-size"
    answer = why.client.post(why.http + path, headers={"Host": NAME})
    assert (answer.status_code, answer.headers["Location"]) == (308, f"https://{NAME}{path}")
    assert answer.headers["Server"] == "nginx"  # and not which version


def test_paths_outside_of_the_prefix(why):
    answer = why.get(PREFIX)
    assert (answer.status_code, answer.headers["Location"]) == (308, f"{PREFIX}/")
    for path in ("/", "/api/rows", "/health/live", f"{PREFIX}mer/"):
        assert why.get(path, headers=BEARER).status_code == 404


def test_the_token_becomes_a_cookie_for_https_and_the_prefix(why):
    answer = why.get(
        f"{PREFIX}/?token={TOKEN}", headers={"X-Forwarded-Prefix": "/evil", "X-Forwarded-Proto": "http"}
    )
    assert answer.status_code == 303
    assert urljoin(f"{ROOT}?token={TOKEN}", answer.headers["Location"]) == ROOT
    _, *attributes = answer.headers["Set-Cookie"].split("; ")
    assert {"Secure", f"Path={PREFIX}/", "HttpOnly", "SameSite=lax"} <= set(attributes)


def test_the_page_and_its_files(why, cookie):
    assert why.get(f"{PREFIX}/").status_code == 401
    browser = {"Cookie": cookie.partition(";")[0]}
    page = why.get(f"{PREFIX}/", headers=browser)
    assert (page.status_code, page.headers["Content-Type"]) == (200, "text/html; charset=utf-8")
    files = [urljoin(ROOT, each) for each in re.findall(r'(?:src|href)="([^"#]+)"', page.text)]
    assert len(files) > 3
    for file in files:
        assert file.startswith(ROOT)
        path = urlsplit(file).path
        through = why.get(path, headers=browser)
        direct = why.client.get(why.butfor + path.removeprefix(f"{PREFIX}/"), headers=BEARER)
        assert (through.status_code, through.headers["Content-Type"]) == (200, direct.headers["Content-Type"])
        assert through.content == direct.content or path.endswith("/docs")  # it shows addresses


def test_the_api(why):
    mail = "a free prize for mum"
    answer = why.ask("POST", f"{PREFIX}/api/explain", json={"text": mail}, headers=BEARER)
    assert answer.status_code == 200
    assert answer.json()["features"] == list(Explainer(MODEL).explain(mail).features)
    found = why.get(f"{PREFIX}/api/features?q=pri", headers=BEARER).json()
    assert found == why.client.get(f"{why.butfor}api/features?q=pri", headers=BEARER).json()


def test_the_docs_of_the_api_have_the_right_addresses(why):
    page = why.get(f"{PREFIX}/docs", headers=BEARER).text
    addresses = re.findall(r"https?://[^\s/<&]+/[^\s<&]*api/", page)
    assert set(addresses) == {f"{ROOT}api/"}
    assert why.get(f"{PREFIX}/openapi.json", headers=BEARER).json()["servers"] == [{"url": "."}]


def test_probes_need_no_token(why):
    assert why.get(f"{PREFIX}/health/live").json() == {"status": "live"}
    assert why.get(f"{PREFIX}/health/ready").status_code == 200


def test_other_names_and_pages_of_other_sites_are_refused(why):
    assert why.get(f"{PREFIX}/", host="evil.example", headers=BEARER).status_code == 403
    explain = f"{PREFIX}/api/explain"
    for origin, status in ((f"https://{NAME}", 200), ("https://evil.example", 403)):
        headers = {**BEARER, "Origin": origin}
        assert why.ask("POST", explain, json={"text": "free"}, headers=headers).status_code == status


def test_butfor_itself_refuses_large_bodies_unless_they_are_huge(why):
    explain, most = f"{PREFIX}/api/explain", Limits().body
    large, huge = (
        why.ask("POST", explain, json={"text": "x" * n}, headers=BEARER) for n in (most + 1, 3 * most)
    )
    assert (large.status_code, large.headers["Content-Type"]) == (413, "application/problem+json")
    assert (huge.status_code, huge.headers["Content-Type"]) == (413, "text/html")


def test_browsers_are_told_to_stay_with_https(why):
    for path in ("/", f"{PREFIX}/", f"{PREFIX}/health/live"):
        headers = why.get(path).headers
        assert headers["Strict-Transport-Security"].startswith("max-age=")
        assert headers["Server"] == "nginx"


def test_logs_hold_no_token_and_nothing_that_was_typed(why):
    why.get(f"{PREFIX}/?token={TOKEN}")
    why.get(f"{PREFIX}/api/features?q=heartbroken", headers=BEARER)
    why.ask("POST", f"{PREFIX}/api/explain?q=heartbroken", json={"text": "heartbroken"}, headers=BEARER)
    logs = {path.name: path.read_text("utf-8") for path in why.folder.glob("*.log")}
    assert f'"GET {PREFIX}/api/features" 200' in logs["access.log"]
    for log in logs.values():
        assert TOKEN not in log
        assert "heartbroken" not in log
