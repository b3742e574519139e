"""What probes are told: whether the server lives, and whether it could answer."""

import os
import shutil
import signal
import tempfile
import time

import pytest
from web_client import Client
from web_toys import moviegoers_workspace, trap_workspace

from butfor import Explainer
from butfor._web import health
from butfor._web.app import create_app
from butfor._web.limits import Limits
from butfor._web.problems import Problem
from butfor._web.worker_pool import WorkerPool
from butfor._web.workspace import Workspace

TOKEN = "s3cret-token-of-the-day"


@pytest.fixture(scope="module")
def scratch(tmp_path_factory):
    """The folder of temporary files, for this module."""
    folder = tmp_path_factory.mktemp("scratch")
    before, tempfile.tempdir = tempfile.tempdir, str(folder)
    yield folder
    tempfile.tempdir = before


@pytest.fixture(scope="module")
def client(scratch):
    workspaces = [trap_workspace(), moviegoers_workspace()]
    with pytest.MonkeyPatch.context() as patch:
        pool = WorkerPool(jobs=1, limits=Limits())
        patch.setattr("butfor._web.app.WorkerPool", lambda **_: pool)
        app = create_app(workspaces, token=TOKEN, jobs=1, open_health=True)
    with Client(app) as client:
        client.pool = pool
        yield client


def until_ready(client):
    """Wait until the server is ready; return what it said before."""
    said, end = [], time.monotonic() + 100
    while (answer := client.get("/health/ready")).status_code != 200:
        assert (answer.status_code, answer.headers["retry-after"]) == (503, "2")
        assert time.monotonic() < end, said
        said.append(answer.json()["detail"])
        time.sleep(0.05)
    assert answer.json() == {"status": "ready", "detail": None}
    return said


def test_probes_need_no_token_and_others_do(client):
    assert client.get("/health/live").json() == {"status": "live"}
    assert set(until_ready(client)) <= {"no process has loaded the model yet."}
    assert client.get("/moviegoers/health/ready").status_code == 401
    for path in (
        "/health",
        "/moviegoers/api/rows",
        "/health/live/",
        "/health/ready/../../moviegoers/api/rows",
    ):
        assert client.get(path).status_code == 401
    assert client.post("/health/ready").status_code in (401, 415)
    known = client.get("/health", headers={"Authorization": f"Bearer {TOKEN}"}).json()
    assert (known["status"], known["workers"]) == ("ok", 2)


def test_lost_workers_and_scratch_are_replaced(client, scratch):
    """A tidy machine removes temporary files, then all processes die: the server recovers by itself."""
    until_ready(client)
    shutil.rmtree(scratch)
    scratch.mkdir()
    pool = client.pool
    dead = [worker.pid for lane in pool.lanes for worker in lane._workers]
    for pid in dead:
        os.kill(pid, signal.SIGKILL)
    assert client.get("/health/live").status_code == 200
    until_ready(client)
    alive = [worker.pid for lane in pool.lanes for worker in lane._workers]
    assert not set(dead) & set(alive)
    headers = {"Authorization": f"Bearer {TOKEN}"}
    assert client.post("/moviegoers/api/explain", json={"row": 1}, headers=headers).status_code == 200


class Unloadable:
    """A model that no process can load."""

    def __call__(self, X):
        return X.sum(axis=1)

    def __reduce__(self):
        return os._exit, (3,)


def test_a_model_that_cannot_be_loaded_is_never_ready(caplog):
    workspace = Workspace.of("broken", "Broken", Explainer(Unloadable(), threshold=2.0))
    with Client(create_app([workspace], jobs=1)) as client:
        for _ in range(3):
            answer = client.get("/health/ready")
            assert answer.status_code == 503
            assert answer.json()["detail"].startswith("no process has loaded the model yet.")
        assert client.get("/health").json()["status"] == "ok"


def test_results_have_no_workers_and_are_ready_unless_they_changed():
    class Stored:
        changed = False

        def require_unchanged(self):
            if self.changed:
                raise Problem(409, "the results have changed.")

    stored = Stored()
    results = Workspace(
        name="r", title="R", kind="texts", classes=("a", "b"), threshold=None, unit=("", ""), stored=stored
    )
    with Client(create_app([results], jobs=3)) as client:
        assert client.get("/health/ready").status_code == 200
        assert client.get("/health").json()["workers"] == 0
        stored.changed = True
        answer = client.get("/health/ready")
        assert (answer.status_code, answer.json()["detail"]) == (503, "the results have changed.")
        assert client.get("/health/live").status_code == 200


def test_only_these_paths_are_open():
    assert health.PATHS == ("/health/live", "/health/ready")
