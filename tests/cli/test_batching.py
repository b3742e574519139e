import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import joblib
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import skops.io
from scipy import sparse
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from typer.testing import CliRunner

from butfor import Explainer
from butfor._cli import app

rng = np.random.default_rng(0)
X = sparse.csr_matrix((rng.random((200, 10)) < 0.5).astype(float))
WEIGHTS = np.array([3.0, 2.0, 1.0, 1.0, 0.0, 0.0, -1.0, -1.0, 0.3, 0.2])
MODEL = LogisticRegression(C=10).fit(X, X @ WEIGHTS > 3)
TEXTS = ["free prize now", "call mum", "free call", "mum and dad", "a prize for dad"]
TEXT_MODEL = make_pipeline(TfidfVectorizer(), LogisticRegression()).fit(TEXTS, [1, 0, 1, 0, 1])
SECONDS = 120


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    skops.io.dump(MODEL, "model.skops")
    skops.io.dump(TEXT_MODEL, "text.skops")
    joblib.dump(MODEL, "model.joblib")
    sparse.save_npz("X.npz", X)
    return tmp_path


def butfor_batch(*arguments):
    return CliRunner().invoke(app, ["batch", *map(str, arguments)])


def here(*arguments):
    """Do it all in this process, which is faster for a few rows."""
    return butfor_batch(*arguments, "--engine", "here")


def output(out):
    lines = [line for part in sorted(Path(out).glob("*.parquet")) for line in pq.read_table(part).to_pylist()]
    by_id = {line["id"]: {**line, "seconds": None} for line in lines}
    assert len(by_id) == len(lines)
    return by_id


def test_a_run_and_what_it_says_of_itself(folder):
    result = here("model.skops", "X.npz", "--out", "out", "--chunk-rows", 60, "--progress", "none")
    assert result.exit_code == 0
    out = output("out")
    whys = list(Explainer(MODEL).explain_many(X))
    assert [tuple(line["columns"]) for line in out.values()] == [why.columns for why in whys]
    for said in ("200 of 200 rows done", "size of the answers: median", "slowest rows", "output: out"):
        assert said in result.stdout
    assert result.stderr == ""
    again = here("model.skops", "X.npz", "--out", "out", "--chunk-rows", 60)
    assert (again.exit_code, "nothing was left to do" in again.stdout) == (0, True)


def test_progress_as_json_lines(folder):
    result = here("model.skops", "X.npz", "--out", "out", "--chunk-rows", 60, "--progress", "json")
    told = [json.loads(line) for line in result.stderr.splitlines()]
    assert [each["kind"] for each in told] == ["begun", "written", "written", "written", "written", "ended"]
    assert [each["chunk"] for each in told] == [None, 0, 1, 2, 3, None]
    assert (told[-1]["n_done"], told[-1]["n_rows"]) == (200, 200)
    refused = here("model.skops", "X.npz", "--out", "other", "--progress", "loud")
    assert (refused.exit_code, "--progress must be one of" in refused.stderr) == (2, True)


def test_options_reach_the_explainer_and_the_run(folder):
    (folder / "names.txt").write_text("\n".join("abcdefghij"))
    of_explainer = ("--threshold", 0.2, "--max-size", 2, "--search", "sedc", "--set", "max_iterations=9")
    of_features = ("--names", "names.txt", "--protect", "a", "--protect", 1, "--seed", 5)
    result = here(
        *("model.joblib", "X.npz", "--out", "out", "--trust-pickle", "--only-positive"),
        *(*of_explainer, *of_features, "--class-names", "no,yes"),
    )
    assert result.exit_code == 0
    positive = np.flatnonzero(MODEL.predict_proba(X)[:, 1] >= 0.2)
    lines = output("out")
    assert list(lines) == positive.tolist()
    assert {(line["threshold"], line["max_size"], line["decision"]) for line in lines.values()} == {
        (0.2, 2, "yes")
    }
    features = {name for line in lines.values() for name in line["features"]}
    assert features <= set("cdefghij")
    about = json.loads(Path("out/_manifest.json").read_text())["about"]
    assert (about["seed"], about["search"], about["only_positive"]) == (5, "SEDC(max_iterations=9)", True)


def test_texts_and_tables_with_columns_of_other_names(folder):
    pq.write_table(
        pa.table({"who": ["u1", "u2"], "said": ["free prize", "mum"], "x": ["a", "b"]}), "t.parquet"
    )
    result = here("text.skops", "t.parquet", "--out", "o", "--id-column", "who", "--text-column", "said")
    assert result.exit_code == 0, result.output
    assert list(output("o")) == ["u1", "u2"]
    rows, columns = X.nonzero()
    pq.write_table(pa.table({"u": rows, "f": columns, "v": X[rows, columns].A1}), "long.parquet")
    named = ("--id-column", "u", "--feature-column", "f", "--value-column", "v")
    assert here("model.skops", "long.parquet", "--out", "long", *named).exit_code == 0
    here("model.skops", "X.npz", "--out", "matrix")
    in_matrix = output("matrix")
    assert output("long") == {row: in_matrix[row] for row in sorted(set(rows.tolist()))}


def test_rows_with_errors_end_with_1(folder):
    broken = X.toarray()
    broken[3, 0] = np.nan
    sparse.save_npz("broken.npz", sparse.csr_matrix(broken))
    result = here("model.skops", "broken.npz", "--out", "out")
    assert result.exit_code == 1
    assert "1 error" in result.stdout
    assert "must be finite" in output("out")[3]["error"]
    again = here("model.skops", "broken.npz", "--out", "out", "--retry", "errors=finite")
    assert (again.exit_code, "tried again: 1 rows that had an error" in again.stdout) == (1, True)
    assert (
        "tried again" not in here("model.skops", "broken.npz", "--out", "out", "--retry", "errors=x").stdout
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("nowhere.skops", "X.npz"), "MODEL must be a file"),
        (("model.joblib", "X.npz"), "add --trust-pickle"),
        (("model.skops", "nowhere.npz"), "DATA must be"),
        (("model.skops", "X.npz", "--search", "best"), "search must be one of auto"),
        (("model.skops", "X.npz", "--engine", "cloud"), "engine must be one of local, dask"),
        (("model.skops", "X.npz", "--jobs", 0), "jobs must be a whole number"),
        (("model.skops", "X.npz", "--out", "model.skops"), "out must be a folder"),
        (("text.skops", "X.npz"), "DATA must"),
        (("model.skops", "X.npz", "--out", "memory://x"), "--out must be on a disk or in a store"),
        (("model.skops", "X.npz", "--retry", "all"), "--retry must be errors, or errors=TEXT"),
        (("model.skops", "X.npz", "--retry", "errors="), "--retry must be errors, or errors=TEXT"),
        (("--check", "nowhere"), "out must be a folder that butfor batch wrote to, got nowhere"),
    ],
)
def test_bad_input_ends_with_2_and_no_traceback(folder, arguments, message):
    result = butfor_batch("--out", "out", "--engine", "here", *arguments)  # of two the last counts
    assert result.exit_code == 2
    assert message in result.stderr
    assert "Traceback" not in result.output
    assert not list(folder.glob("out/part*"))


def test_a_changed_setting_is_refused(folder):
    here("model.skops", "X.npz", "--out", "out")
    result = here("model.skops", "X.npz", "--out", "out", "--max-size", 3)
    assert result.exit_code == 2
    assert "max_size was 30, is 3" in result.stderr


def test_an_interruption_ends_with_130_and_says_how_to_go_on(folder, monkeypatch):
    def interrupted(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("butfor.batch.chunks.write_part", interrupted)
        result = here("model.skops", "X.npz", "--out", "out")
    assert result.exit_code == 130
    assert "the same command goes on from there" in result.stderr
    assert here("model.skops", "X.npz", "--out", "out").exit_code == 0


@pytest.fixture
def slow_model(folder, monkeypatch):
    """Save a model that takes its time in commands that run as processes, of a class that they can import."""
    (folder / "slow_model.py").write_text(
        "import os\nimport time\nfrom dataclasses import dataclass\nfrom typing import Any\n"
        "@dataclass\nclass Slow:\n    model: Any\n"
        "    def __call__(self, X):\n"
        f"        time.sleep(0 if os.getpid() == {os.getpid()} else 0.002)\n"
        "        return self.model.predict_proba(X)[:, 1]\n"
    )
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(folder), os.environ.get("PYTHONPATH", "")]))
    monkeypatch.syspath_prepend(str(folder))
    from slow_model import Slow

    joblib.dump(Slow(MODEL), "slow.joblib")
    yield
    del sys.modules["slow_model"]


OPTIONS = ["--trust-pickle", "--threshold", "0.5", "--chunk-rows", "5"]


def started(out, *options, data="X.npz"):
    command = [sys.executable, "-m", "butfor", "batch", "slow.joblib", data, "--out", str(out)]
    command += [*OPTIONS, "--jobs", "2", *options]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def n_parts(out):
    return len(list(out.glob("part-*.parquet")))


def wait_for(process, condition):
    until = time.monotonic() + SECONDS
    while not condition():
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < until
        time.sleep(0.01)


def wait_for_parts(process, out, n_more):
    goal = n_parts(out) + n_more
    wait_for(process, lambda: n_parts(out) >= goal)


def workers(pid):
    """Return the processes that were forked from the template of a process."""
    return {worker for template in children(pid) for worker in children(template)}


def children(pid):
    """Return the processes that any thread of a process has begun."""
    of_threads = Path(f"/proc/{pid}/task").glob("*/children")
    return {int(child) for path in of_threads for child in path.read_text().split()}


def is_running(pid):
    """Return whether a process runs; one that has ended may still be listed until its parent reads how."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


@pytest.mark.usefixtures("slow_model")
def test_data_that_is_replaced_during_a_run_ends_it(folder):
    lists = [row.indices.tolist() for row in X]
    pq.write_table(pa.table({"id": range(200), "features": lists}), "live.parquet", row_group_size=20)
    pq.write_table(pa.table({"id": range(1000, 1200), "features": lists}), "new.parquet", row_group_size=20)
    (folder / "names.txt").write_text("\n".join("abcdefghij"))
    with started(folder / "out", "--names", "names.txt", data="live.parquet") as process:
        wait_for_parts(process, folder / "out", 3)
        os.replace("new.parquet", "live.parquet")
        told, errors = process.communicate(timeout=SECONDS)
    assert (process.returncode, told) == (2, "")
    assert "live.parquet, which was replaced, written to or removed since the run began" in errors
    assert "Traceback" not in errors
    lines = output("out")
    assert 0 < len(lines) < 200
    assert max(lines) < 200  # nothing of the new file


@pytest.mark.usefixtures("slow_model")
def test_what_is_lost_during_a_run_is_not_said_to_be_done(folder):
    out = folder / "out"
    with started(out, "--progress", "none") as process:
        wait_for_parts(process, out, 3)
        (out / "_manifest.json").unlink()
        lost = min(out.glob("part-*"))
        lost.unlink()
        told, errors = process.communicate(timeout=SECONDS)
    assert (process.returncode, errors) == (1, "")
    assert "195 of 200 rows done" in told
    assert f"lost: {lost.name}: it is not there" in told
    assert len(output(out)) == 195
    checked = butfor_batch("--check", out)
    assert (checked.exit_code, f"{lost.name}: it is not there" in checked.stdout) == (1, True)
    again = here("slow.joblib", "X.npz", "--out", out, *OPTIONS)
    assert (again.exit_code, "195 are from earlier runs" in again.stdout) == (0, True)
    checked = butfor_batch("--check", out)
    assert checked.exit_code == 0
    assert "40 of 40 parts are there and whole, with 200 of 200 rows; run " in checked.stdout


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="needs /proc to find the worker processes")
@pytest.mark.usefixtures("slow_model")
def test_the_command_survives_its_end_and_kills_of_itself_and_of_its_workers(folder, monkeypatch):
    out, scratch = folder / "out", folder / "scratch"
    scratch.mkdir()
    monkeypatch.setenv("TMPDIR", str(scratch))
    with started(out) as process:
        wait_for_parts(process, out, 1)
        begun = workers(process.pid)
        process.terminate()
        _, errors = process.communicate(timeout=SECONDS)
    assert (process.returncode, "the same command goes on" in errors) == (130, True)
    assert list(scratch.iterdir()) == []
    with started(out) as process:
        wait_for_parts(process, out, 1)
        first = workers(process.pid)
        os.kill(min(first), signal.SIGKILL)
        wait_for(process, lambda: workers(process.pid) - first)
        wait_for_parts(process, out, 1)
        begun |= first | workers(process.pid)
        process.send_signal(signal.SIGKILL)
    assert 0 < len(output(out)) < 200
    finished = here("slow.joblib", "X.npz", "--out", out, *OPTIONS)
    assert (finished.exit_code, "are from earlier runs" in finished.stdout) == (0, True)
    undisturbed = here("slow.joblib", "X.npz", "--out", "undisturbed", *OPTIONS[:3])
    assert undisturbed.exit_code == 0
    assert output(out) == output("undisturbed")
    files = {"_manifest.json", "_summary.json", *(f"part-{i:05d}.parquet" for i in range(40))}
    assert {path.name for path in out.iterdir()} - {"_lock"} == files
    assert len(begun) >= 5
    for _ in range(100):  # a worker ends soon after the command that began it
        if not any(map(is_running, begun)):
            break
        time.sleep(0.1)
    assert not any(map(is_running, begun))
