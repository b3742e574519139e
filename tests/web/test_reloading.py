"""Models that change: a new one takes over once it answers; a broken one changes nothing."""

import asyncio
import logging
import os
import time

import numpy as np
import pytest
from web_client import Client

from butfor import Budget, Explainer
from butfor._web.app import create_app
from butfor._web.limits import Limits
from butfor._web.metrics import Metrics
from butfor._web.reloading import Reloader
from butfor._web.workspace import Workspace
from butfor.errors import InputError

TOKEN = "s3cret-token-of-the-day"
HEADERS = {"Authorization": f"Bearer {TOKEN}", "Content-Type": "application/json"}
LIMITS = Limits(max_seconds=5, grace=600, waiting_seconds=600)


class Weighted:
    """A model that waits for a file where a row has its last feature."""

    def __init__(self, weights, begun, go_on):
        self.weights, self.begun, self.go_on = np.array(weights), str(begun), str(go_on)

    def __call__(self, X):
        if X[:, [-1]].sum():
            open(self.begun, "w").close()
            while not os.path.exists(self.go_on):
                time.sleep(0.01)
        return X @ self.weights


class Files:
    """What a server loads: a model that can be replaced, or be broken."""

    def __init__(self, folder):
        self.folder, self.weights, self.error = folder, [3.0, 1.0, 1.0], None

    def load(self):
        if self.error:
            raise self.error
        model = Weighted(self.weights, self.folder / "begun", self.folder / "go on")
        names = ["a", "b", "wait"]
        explainer = Explainer(model, threshold=2.0, feature_names=names, budget=Budget(max_seconds=5))
        return [Workspace.of("model", "Model", explainer)]


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    files, metrics = Files(tmp_path_factory.mktemp("reload")), Metrics()
    reloader = Reloader(files.load)
    app = create_app(
        files.load(), limits=LIMITS, jobs=1, token=TOKEN, metrics=metrics, reloader=reloader, open_health=True
    )
    with Client(app) as client:
        client.files, client.metrics = files, metrics
        yield client


def explained(server, items):
    answer = server.post("/api/explain", json={"items": items}, headers=HEADERS)
    assert answer.status_code == 200, answer.text
    return answer


def test_a_new_model_answers_and_requests_that_run_are_answered_by_the_old_one(server):
    files = server.files
    before = explained(server, ["a"])
    old = before.headers["butfor-model"]
    assert (before.json()["score"], server.get("/health", headers=HEADERS).json()["model"]) == (3.0, old)

    async def ask():
        return await server._http.post("/api/explain", json={"items": ["a", "wait"]}, headers=HEADERS)

    running = asyncio.run_coroutine_threadsafe(ask(), server._loop)
    while not (files.folder / "begun").exists():
        time.sleep(0.01)
    files.weights = [5.0, 1.0, 1.0]
    reloaded = server.post("/reload", headers=HEADERS)
    new = reloaded.json()["models"]["model"]
    assert (reloaded.status_code, new == old) == (200, False)
    after = explained(server, ["a"])
    assert (after.json()["score"], after.headers["butfor-model"]) == (5.0, new)
    assert server.get("/health", headers=HEADERS).json()["model"] == new
    assert not running.done()
    (files.folder / "go on").touch()
    answer = running.result(120)
    assert (answer.status_code, answer.json()["score"]) == (200, 4.0)
    assert answer.headers["butfor-model"] == old
    value = server.metrics.registry.get_sample_value
    assert value("butfor_model_info", {"workspace": "model", "version": new}) == 1
    assert value("butfor_model_info", {"workspace": "model", "version": old}) is None
    assert value("butfor_searches_total", {"outcome": "found", "proof": "proven"}) >= 2  # those of one item


def test_a_broken_file_changes_nothing_and_is_told(server, caplog):
    version = explained(server, ["a"]).headers["butfor-model"]  # once it answers, it is ready
    server.files.error = InputError("MODEL must be a file, got 'secret'.")
    refused = server.post("/reload", headers=HEADERS)
    assert refused.status_code == 409
    assert refused.json()["detail"].endswith("the one of before answers: MODEL must be a file, got 'secret'.")
    health = server.get("/health", headers=HEADERS).json()
    assert (health["model"], health["reload_error"]) == (version, refused.json()["detail"])
    ready = server.get("/health/ready")
    assert ready.status_code == 200
    assert ready.json()["detail"].endswith("and the one of before answers (InputError).")
    assert server.metrics.registry.get_sample_value("butfor_model_reload_failed") == 1
    (record,) = (each for each in caplog.records if each.message == "model not reloaded")
    assert (record.levelno, record.fields) == (logging.ERROR, {"error": "InputError"})
    assert explained(server, ["a"]).headers["butfor-model"] == version
    server.files.error = None


def test_reloads_need_the_token(server):
    assert server.post("/reload", headers={"Content-Type": "application/json"}).status_code == 401
    assert server.get("/reload", headers=HEADERS).status_code == 404


class Made:
    """A generation without processes; `error` is why they cannot load."""

    def __init__(self, error=None):
        self.workspaces, self.error, self.is_closed = [], error, False

    def share(self):
        pass

    start = stop_filling = share

    async def until_loaded(self):
        if self.error:
            raise self.error

    async def until_idle(self):
        pass

    def close(self):
        self.is_closed = True


class Holder:
    """Holds the generation that is served."""

    def __init__(self):
        self.metrics, self.generation = Metrics(), Made()

    def replace(self, generation):
        old, self.generation = self.generation, generation
        return old


async def until(condition):
    for _ in range(6000):
        if condition():
            return
        await asyncio.sleep(0.01)
    raise AssertionError("it took too long")


def test_a_model_that_processes_cannot_load_is_closed_again():
    async def work():
        reloader, holder, broken = Reloader(list), Holder(), Made(OSError("no"))
        first = holder.generation
        reloader.open(holder, lambda _: broken)
        reloader.reload_soon()
        await until(lambda: reloader.failure)
        assert broken.is_closed
        assert holder.generation is first
        assert not first.is_closed
        reloader.open(holder, lambda _: Made())
        await reloader.reload()
        assert reloader.failure is None
        await until(lambda: first.is_closed)
        reloader.close()

    asyncio.run(work())


def test_changed_files_are_loaded_once_they_rest(tmp_path):
    path, loads = tmp_path / "model", []

    async def work():
        path.write_text("one")
        reloader, holder = (
            Reloader(lambda: loads.append(path.read_text()), files=[path], every=0.02),
            Holder(),
        )
        reloader.open(holder, lambda _: Made())
        await asyncio.sleep(0.2)
        assert loads == []
        path.unlink()
        await asyncio.sleep(0.2)
        assert loads == []  # it is not there
        path.write_text("another")
        await until(lambda: loads)
        await asyncio.sleep(0.2)
        assert loads == ["another"]
        reloader.close()

    asyncio.run(work())


def test_what_comes_from_no_file_cannot_be_reloaded(caplog):
    async def work():
        reloader = Reloader()
        reloader.open(Holder(), lambda _: Made())
        reloader.reload_soon()
        await until(lambda: "model not reloaded" in caplog.text)
        assert reloader.failure is None
        reloader.close()

    asyncio.run(work())
