"""Runs that are killed at any moment lose nothing and do nothing twice."""

import os
import random
import signal
import time
from pathlib import Path

import pytest
from batches import THRESHOLD, X, names, output, save, score, whole
from killing import Killer, forked
from profiles import is_nightly
from sklearn.linear_model import LogisticRegression

from butfor import Explainer
from butfor.batch import run_batch

pytestmark = [
    pytest.mark.skipif(not hasattr(os, "fork"), reason="processes cannot be forked here"),
    pytest.mark.filterwarnings("ignore:This process .* is multi-threaded, use of fork"),
]
CHUNK_ROWS, N_CHUNKS = 10, 12
N_KILLS = 52 if is_nightly() else 26
MODEL = LogisticRegression().fit(X, score(X) > THRESHOLD)


def run(data, out):
    return run_batch(Explainer(MODEL), data, str(out), engine="here", chunk_rows=CHUNK_ROWS)


def killed_after(seconds, data, out):
    """Kill a run after a while; tell whether it was still at it."""
    pid = forked(run, data, out)
    time.sleep(seconds)
    os.kill(pid, signal.SIGKILL)
    _, status = os.waitpid(pid, 0)
    assert os.WIFSIGNALED(status) or os.WEXITSTATUS(status) == 0
    return os.WIFSIGNALED(status)


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    return save(tmp_path_factory.mktemp("data") / "X.npz")


@pytest.fixture(scope="module")
def undisturbed(data, tmp_path_factory):
    """Give the output of a run that was never killed, and how long it took in a process of its own."""
    folder = tmp_path_factory.mktemp("undisturbed")
    run(data, folder / "here")  # whatever is imported late is imported now, once for all
    began = time.monotonic()
    _, status = os.waitpid(forked(run, data, folder / "forked"), 0)
    seconds = time.monotonic() - began
    assert status == 0
    assert len(output(folder / "here")) == 120
    assert output(folder / "forked") == output(folder / "here")
    return output(folder / "here"), seconds


def assert_nothing_is_lost(out, undisturbed):
    assert output(out) == undisturbed  # which also finds rows that are there twice
    assert names(out) == whole(N_CHUNKS)


def test_kills_at_random_moments(data, undisturbed, tmp_path):
    expected, seconds = undisturbed
    rng = random.Random(7)
    n_kills, folders, seen = 0, [tmp_path / "0"], set()
    while n_kills < N_KILLS:
        if killed_after(rng.uniform(0, seconds), data, folders[-1]):
            n_kills += 1
            seen.add(len(names(folders[-1])) if folders[-1].exists() else 0)
        else:  # it was through: the next kills are for another
            folders.append(tmp_path / str(len(folders)))
    assert len(seen) > N_CHUNKS / 2  # early and late in a run
    for out in folders:
        assert run(data, out).is_clean
        assert_nothing_is_lost(out, expected)


@pytest.mark.parametrize("is_named", [False, True], ids=["before the name", "after the name"])
def test_kills_at_every_file(data, undisturbed, tmp_path, is_named):
    expected, _ = undisturbed
    out = tmp_path / "out"
    files = ["_manifest.json", *(f"part-{i:05d}.parquet" for i in range(N_CHUNKS)), "_summary.json"]
    for n_written, name in enumerate(files):
        # Each run is killed at its first file; before the next one, somebody finishes that file.
        _, status = os.waitpid(forked(Killer(0, is_named).call, run, data, out), 0)
        assert os.WTERMSIG(status) == signal.SIGKILL
        there = names(out)
        unfinished = {each for each in there if each.startswith("_unfinished-")}
        assert len(unfinished) == (0 if is_named else 1)
        assert there - unfinished == set(files[: n_written + is_named])
        if not is_named and name != "_summary.json":
            _, status = os.waitpid(forked(Killer(1, is_named=False).call, run, data, out), 0)
            assert name in names(out)
    assert run(data, out).is_clean
    assert_nothing_is_lost(out, expected)


def test_what_a_killed_run_left_in_the_temporary_folder_is_removed(data, tmp_path, monkeypatch):
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(scratch))
    os.waitpid(forked(Killer(3, is_named=True).call, run, data, tmp_path / "out"), 0)
    assert len(list(Path(scratch).iterdir())) == 1
    run(data, tmp_path / "out")
    assert list(Path(scratch).iterdir()) == []
