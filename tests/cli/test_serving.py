import json
import os
import shutil
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from contextlib import contextmanager
from pathlib import Path

import joblib
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import skops.io
from scipy import sparse
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from typer.testing import CliRunner

from butfor import Explainer
from butfor._cli import app
from butfor.batch import run_batch

SECONDS = 60
EVENTS = {"worker started", "listening", "request", "model reloaded", "ended"}
TOKEN = "a-token-of-some-length"
rng = np.random.default_rng(0)
X = sparse.csr_matrix((rng.random((30, 8)) < 0.5).astype(float))
MODEL = LogisticRegression(C=10).fit(X, X @ np.array([3, 2, 1, 1, 0, 0, -1, -1]) > 3)
MAILS = ["free prize now", "call mum", "free call", "mum and dad", "a prize for dad"]
TEXT_MODEL = make_pipeline(CountVectorizer(), LogisticRegression()).fit(MAILS, [1, 0, 1, 0, 1])


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("serve")
    skops.io.dump(MODEL, folder / "model.skops")
    skops.io.dump(TEXT_MODEL, folder / "text.skops")
    joblib.dump(MODEL, folder / "model.joblib")
    sparse.save_npz(folder / "X.npz", X)
    sparse.save_npz(folder / "wide.npz", sparse.csr_matrix((2, 9)))
    (folder / "mails.csv").write_text("text\nfree prize\ncall mum\n")
    return folder


@contextmanager
def serving(folder, *arguments, token=None):
    """Start a server; give its process and its address. The token is in the environment."""
    command = [sys.executable, "-m", "butfor", "serve", *map(str, arguments), "--port", "0", "--jobs", "1"]
    command += ["--max-wait", "600"]  # where the machine is busy, processes take long to start
    environment = {name: value for name, value in os.environ.items() if name != "BUTFOR_TOKEN"}
    environment.update({} if token is None else {"BUTFOR_TOKEN": token})
    process = subprocess.Popen(
        command,
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        address = process.stdout.readline().split(" ")[0]
        assert address.startswith("http://127.0.0.1:"), process.communicate()
        yield process, address
    finally:
        process.kill()
        process.communicate()


def asked(address, path, body=None, headers=None):
    data = None if body is None else json.dumps(body).encode()
    headers = {"Content-Type": "application/json", **(headers or {})}
    request = urllib.request.Request(address + path, data, headers)
    with urllib.request.urlopen(request, timeout=SECONDS) as answer:
        return json.load(answer)


def children(pid):
    """Return the processes that a process has begun, and those that these have."""
    tasks = Path(f"/proc/{pid}/task").glob("*/children")
    begun = [int(child) for task in tasks for child in task.read_text().split()]
    return begun + [each for child in begun for each in children(child)]


def runs(pid):
    status = Path(f"/proc/{pid}/status")
    return status.exists() and "State:\tZ" not in status.read_text()


def wait_for(done):
    until = time.monotonic() + SECONDS
    while not done():
        assert time.monotonic() < until, "it took too long"
        time.sleep(0.2)


def test_a_server_from_its_start_to_its_end(folder):
    names = ("--class-names", "stays,joins")
    skops.io.dump(MODEL, folder / "changing.skops")
    with serving(folder, "changing.skops", "X.npz", *names, "--log-format", "json") as (process, address):
        assert asked(address, "health")["status"] == "ok"
        why = Explainer(MODEL, class_names=["stays", "joins"]).explain(X[[3]])
        answer = asked(address, "api/explain", {"row": 3})
        assert (answer["features"], answer["decision"]) == (list(why.features), why.decision)
        wait_for(lambda: asked(address, "api/rows")["progress"]["explained"] == 30)
        with urllib.request.urlopen(address, timeout=SECONDS) as page:
            assert not {"Server", "server"} & set(page.headers)

        port = address.rsplit(":", 1)[1].strip("/")
        second = command_line("model.skops", "--port", port, cwd=folder)
        assert second.exit_code == 2
        assert f"--port must be one that is free, got {port} on 127.0.0.1" in second.stderr

        version, workers = asked(address, "health")["model"], children(process.pid)
        assert workers
        skops.io.dump(LogisticRegression(C=0.1).fit(X, MODEL.predict(X)), folder / "changing.skops")
        process.send_signal(signal.SIGHUP)
        wait_for(lambda: asked(address, "health")["model"] != version)
        assert asked(address, "api/explain", {"row": 3})["score"] != answer["score"]
        workers += children(process.pid)
        process.send_signal(signal.SIGINT)
        out, errors = process.communicate(timeout=SECONDS)
        assert (process.returncode, out) == (0, "")
        lines = [json.loads(line) for line in errors.splitlines()]
        assert {line["level"] for line in lines} == {"info"}
        assert {line["event"] for line in lines} == EVENTS
        explained = [line for line in lines if line.get("route") == "/api/explain"]
        assert [(line["status"], line["worker"] in workers) for line in explained] == [(200, True)] * 2
        wait_for(lambda: not any(map(runs, workers)))


def test_results_with_a_token_until_sigterm(folder):
    run_batch(Explainer(MODEL), folder / "X.npz", folder / "why", engine="here")
    with serving(folder, "--results", "why", "--quiet", token=TOKEN) as (process, root):
        assert TOKEN not in root
        with pytest.raises(urllib.error.HTTPError, match="401"):
            asked(root, "api/rows/3")
        answer = asked(root, "api/rows/3", headers={"Authorization": f"Bearer {TOKEN}"})
        assert answer["explanation"]["sentence"] == str(Explainer(MODEL).explain(X[[3]]))
        assert not children(process.pid)  # there is no model to run
        process.terminate()
        assert process.communicate(timeout=SECONDS) == ("", "")
        assert process.returncode == 0


@pytest.mark.parametrize("by_option", [True, False])
def test_a_token_of_the_environment_is_not_printed(monkeypatch, by_option):
    def serve(workspaces, *, shows_token, ready, **options):
        assert options["proxies"] == ["10.0.0.0/8"]
        ready("http://here/" + f"?token={TOKEN}" * shows_token)

    monkeypatch.setattr("butfor._web.serving.serve", serve)
    monkeypatch.setattr("butfor._cli.serving_workspaces.workspaces_of", lambda _: [])
    options = ["serve", "--results", "why", "--port", "0", "--trust-proxy", "10.0.0.0/8"]
    options += ["--token", TOKEN] if by_option else []
    done = CliRunner().invoke(app, options, env={"BUTFOR_TOKEN": None if by_option else TOKEN})
    assert done.exit_code == 0, done.output
    assert (TOKEN in done.output) == by_option
    assert ("open it with ?token=$BUTFOR_TOKEN" in done.output) != by_option


def batch(folder, day, ids):
    """Run a batch over people of these ids into the folder `day`."""
    features = [X[[id]].indices.tolist() for id in ids]
    pq.write_table(pa.table({"id": list(ids), "features": features}), folder / "people.parquet")
    paths = [str(folder / name) for name in ("model.skops", "people.parquet")]
    done = CliRunner().invoke(app, ["batch", *paths, "--out", str(folder / day), "--engine", "here"])
    assert done.exit_code == 0, done.output


def test_a_new_run_in_the_place_of_the_one_that_is_served(folder):
    batch(folder, "day", range(30))
    with serving(folder, "--results", "day") as (_, address):
        assert asked(address, "api/rows/1")["id"] == 1
        shutil.rmtree(folder / "day")
        batch(folder, "day", range(1, 30))
        for path in ("api/rows/1", "api/rows", "api/rows/summary"):
            with pytest.raises(urllib.error.HTTPError, match="409") as refused:
                asked(address, path)
            told = json.load(refused.value)
            assert told["detail"].startswith("the results in day have changed since this server loaded them")
    with serving(folder, "--results", "day") as (_, address):
        answer = asked(address, "api/rows/1")
        assert answer["id"] == 2
        assert answer["explanation"]["sentence"] == str(Explainer(MODEL).explain(X[[2]]))


def command_line(*arguments, cwd=None):
    before = os.getcwd()
    os.chdir(cwd or before)
    try:
        return CliRunner().invoke(app, ["serve", *map(str, arguments)], env={"BUTFOR_TOKEN": None})
    finally:
        os.chdir(before)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "one of MODEL, --demo and --results DIR must be given, got none"),
        (["model.skops", "--demo"], "got MODEL and --demo"),
        (["--results", "why", "--demo"], "got --demo and --results"),
        (["--demo", "--threshold", "0.9"], "--threshold must be left out with --demo"),
        (["--results", "why", "--max-size", "3"], "--max-size must be left out with --results"),
        (["text.skops", "--allow-host", "https://why.example.org"], "--allow-host must be a name"),
        (["text.skops", "--trust-proxy", "proxy.example"], "--trust-proxy must be an address"),
        (["nowhere.skops"], "MODEL must be a file"),
        (["model.joblib"], "--trust-pickle"),
        (["--results", "."], "--results must be a folder that butfor batch wrote to"),
        (
            ["model.skops", "wide.npz"],
            "DATA must have 8 columns, as the model was fitted on, got wide.npz with 9.",
        ),
        (["model.skops", "mails.csv"], "MODEL must read texts"),
        (["text.skops", "X.npz"], "DATA must hold texts"),
        (["text.skops", "mails.csv", "--text-column", "subject"], "--text-column must name one column"),
        (["text.skops", "--text-column", "text"], "--text-column must be left out where there is no DATA"),
        (
            ["model.skops", "--host", "0.0.0.0"],
            "--token must be given where --host is not this machine alone",
        ),
        (["model.skops", "--token", "short"], "--token must have at least 16"),
        (["model.skops", "--port", "70000"], "--port must be from 0 to 65535"),
        (
            ["model.skops", "--host", "no such host", "--token", TOKEN],
            "--host must be an address of this machine",
        ),
        (["model.skops", "--max-seconds", "0"], "max_seconds must be a positive number"),
        (["model.skops", "--jobs", "0"], "--jobs must be a whole number"),
        (["model.skops", "--reserve", "-1"], "--reserve must be a whole number of at least 0"),
        (["model.skops", "--max-wait", "0"], "--max-wait must be a positive number of seconds"),
        (["model.skops", "--drain-seconds", "-1"], "--drain-seconds must be a positive number of seconds"),
        (["model.skops", "--refuse-seconds", "nan"], "--refuse-seconds must be a positive number"),
        (["model.skops", "--reload-seconds", "0"], "--reload-seconds must be a positive number of seconds"),
        (["model.skops", "--worker-calls", "0"], "--worker-calls must be a whole number of at least 1"),
        (["model.skops", "--log-format", "xml"], "--log-format must be one of text, json, got 'xml'"),
        (["model.skops", "--metrics-port", "70000"], "--metrics-port must be from 0 to 65535"),
    ],
)
def test_what_is_wrong_is_said(folder, arguments, said):
    arguments = arguments if "--port" in arguments else [*arguments, "--port", "0"]
    result = command_line(*arguments, cwd=folder)
    assert result.exit_code == 2
    assert said in result.stderr
    assert result.stdout == ""
