"""Around requests: ids, lines of the log, metrics, and what happens while the server drains."""

import logging

import pytest
from prometheus_client import generate_latest
from web_client import Client

from butfor._web.access import client_of
from butfor._web.app import create_app
from butfor._web.metrics import Metrics
from butfor._web.traffic import Traffic
from butfor._web.workspace import Workspace

TOKEN = "s3cret-token-of-the-day"
KNOWN = {"Authorization": f"Bearer {TOKEN}"}


class Unchanged:
    """Results that are as they were."""

    def require_unchanged(self):
        pass


@pytest.fixture(scope="module")
def client():
    """A server without any model, so without processes."""
    stored = Workspace(
        name="r",
        title="R",
        kind="texts",
        classes=("a", "b"),
        threshold=None,
        unit=("", ""),
        stored=Unchanged(),
        model_version="abc123",
    )
    metrics, traffic = Metrics(), Traffic()
    app = create_app([stored], token=TOKEN, metrics=metrics, traffic=traffic, open_health=True)
    with Client(app) as client:
        client.metrics, client.traffic = metrics, traffic
        yield client


@pytest.fixture
def lines(caplog):
    """The fields of lines about requests."""
    caplog.set_level(logging.INFO, "butfor._web")
    return lambda: [each.fields for each in caplog.records if each.message == "request"]


def test_a_line_says_what_came_of_a_request_and_not_what_was_asked(client, lines, caplog):
    paths = ["/api/rows/secret", "/api/rows?q=secret", "/secret/path", "/api/rows/7"]
    for path in paths:
        client.get(path, headers={**KNOWN, "X-Request-ID": "id-1", "User-Agent": "secret"})
    told = [(line["route"], line["status"]) for line in lines()]
    assert told == [("/api/rows/{number}", 422), ("/api/rows", 409), ("-", 404), ("/api/rows/{number}", 409)]
    assert all((line["request_id"], line["method"]) == ("id-1", "GET") for line in lines())
    assert all(0 < line["seconds"] < 60 for line in lines())
    assert "secret" not in caplog.text + str([vars(record) for record in caplog.records])


@pytest.mark.parametrize(
    ("sent", "is_taken_over"),
    [("a-1", True), ("x" * 128, True), ("x" * 129, False), ("two words", False), ("a=b", False), ("", False)],
)
def test_ids_are_taken_over_if_they_are_well_formed(client, lines, sent, is_taken_over):
    answer = client.get("/health", headers={**KNOWN, "X-Request-ID": sent})
    given = answer.headers["x-request-id"]
    assert (given == sent) == is_taken_over
    assert lines()[0]["request_id"] == given


def test_refused_requests_and_odd_methods_are_logged_and_counted_alike(client, lines):
    assert client.get("/api/rows").status_code == 401
    assert client.ask("BREW", "/secret", headers=KNOWN).status_code == 404
    assert client.ask("HEAD", "/api/rows", headers=KNOWN).status_code == 409
    assert [(line["method"], line["route"], line["status"]) for line in lines()] == [
        ("GET", "-", 401),
        ("other", "-", 404),
        ("HEAD", "/api/rows", 409),
    ]
    labels = {"route": "/api/rows", "method": "HEAD", "status": "409"}
    assert client.metrics.registry.get_sample_value("butfor_requests_total", labels) == 1
    published = generate_latest(client.metrics.registry).decode()
    assert 'butfor_request_seconds_count{route="/api/rows"}' in published
    assert "secret" not in published


def test_probes_are_logged_only_where_something_is_wrong(client, lines):
    assert client.get("/health/live").status_code == client.get("/health/ready").status_code == 200
    assert lines() == []
    assert client.post("/health/ready", headers=KNOWN).status_code == 415
    assert [line["status"] for line in lines()] == [415]


def test_answers_name_the_version_of_the_model(client):
    assert client.get("/api/rows", headers=KNOWN).headers["butfor-model"] == "abc123"
    assert client.get("/health", headers=KNOWN).json()["model"] == "abc123"
    assert "butfor-model" not in client.get("/health/live").headers


def test_while_the_server_drains_only_probes_are_answered(client, monkeypatch):
    monkeypatch.setattr(client.traffic, "is_draining", True)
    for path in ("/api/rows", "/health", "/"):
        refused = client.get(path, headers=KNOWN)
        assert (refused.status_code, refused.headers["retry-after"]) == (503, "2")
        assert refused.headers["connection"] == "close"
        assert "the server ends" in refused.json()["detail"]
    ready = client.get("/health/ready")
    assert (ready.status_code, ready.json()["detail"]) == (503, "the server ends and takes no more requests.")
    assert client.get("/health/live").status_code == 200
    assert (
        client.metrics.registry.get_sample_value("butfor_requests_refused_total", {"reason": "draining"}) == 3
    )


def test_clients_are_told_apart_by_address_or_network():
    assert client_of({"client": ("::ffff:192.0.2.7", 1)}) == client_of({"client": ("192.0.2.7", 2)})
    assert client_of({"client": ("2001:db8::1", 1)}) == client_of({"client": ("2001:db8::2", 1)})
    assert client_of({"client": ("2001:db8:0:1::1", 1)}) != client_of({"client": ("2001:db8::1", 1)})
    assert client_of({"client": ("testclient", 1)}) == "testclient"
    assert client_of({}) == ""
