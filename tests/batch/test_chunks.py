import errno
import os

import numpy as np
from batches import BAD, HANGS, X, explainer, hangs_and_crashes, marked, output, raises, save
from scipy import sparse

from butfor.batch.chunks import Done, Failed, Job, explain_chunk, explain_chunk_safely
from butfor.batch.folder import Folder
from butfor.batch.inputs import Columns, open_input
from butfor.batch.shipping import pack
from butfor.workers import Worker, WorkerLost


def a_job(tmp_path, model=None, matrix=X, patience=60.0, **options):
    made = explainer(**options) if model is None else explainer(model, **options)
    (tmp_path / "out").mkdir()
    pack(made, str(tmp_path / "scratch"))
    rows = open_input([save(tmp_path / "X.npz", matrix)], Columns(), takes_texts=False, n_features=None)
    return Job(
        str(tmp_path / "scratch"),
        rows.prepared(str(tmp_path / "scratch")),
        Folder(str(tmp_path / "out")),
        run="of a test",
        patience=patience,
    )


def nobody(n_rows):
    pass


def expected(n_rows=120, but=()):
    """Give what is found out about rows where nothing goes wrong."""
    whys = enumerate(explainer().explain_many(X[:n_rows]))
    return [(why.status, list(why.columns)) for row, why in whys if row not in but]


def found(out, but=()):
    return [(line["status"], line["columns"]) for row, line in sorted(out.items()) if row not in but]


def test_a_chunk_is_read_explained_and_written(tmp_path):
    job = a_job(tmp_path)
    noted = []
    outcomes = [explain_chunk(job, chunk, noted.append) for chunk in job.input.chunks(50)]
    assert [outcome.statistics.n_rows for outcome in outcomes] == [50, 50, 20]
    assert max(noted) == 50
    assert found(output(tmp_path / "out")) == expected()


def test_a_row_on_which_the_model_raises_is_the_only_one_lost(tmp_path):
    job = a_job(tmp_path, raises, marked(BAD), protected=[12])
    (chunk,) = job.input.chunks(1000)
    assert isinstance(explain_chunk(job, chunk, nobody), Done)
    out = output(tmp_path / "out")
    assert out[BAD]["status"] == "error"
    assert "a row that it does not like" in out[BAD]["error"]
    assert found(out, but=(BAD,)) == expected(but=(BAD,))


def test_a_row_that_is_not_finite_is_the_only_one_lost(tmp_path):
    broken = X.toarray()
    broken[BAD, 0] = np.nan
    job = a_job(tmp_path, matrix=sparse.csr_matrix(broken))
    (chunk,) = job.input.chunks(1000)
    explain_chunk(job, chunk, nobody)
    out = output(tmp_path / "out")
    assert "must be finite" in out[BAD]["error"]
    assert found(out, but=(BAD,)) == expected(but=(BAD,))


def test_rows_that_lose_their_process_are_the_only_ones_lost(tmp_path):
    job = a_job(tmp_path, hangs_and_crashes, marked(HANGS, BAD), patience=1.0, protected=[12])
    first, *_ = job.input.chunks(20)
    noted = []
    with Worker() as worker:
        done = explain_chunk_safely(worker, job, first, noted.append)
    assert done.statistics.n_rows == noted[-1] == 20
    out = output(tmp_path / "out")
    asked = "while the model was asked about this row."
    assert out[HANGS]["error"] == f"the worker process said nothing for 1 seconds and was stopped {asked}"
    assert out[BAD]["error"] == f"the worker process was killed by SIGKILL {asked}"
    assert found(out, but=(HANGS, BAD)) == expected(20, but=(HANGS, BAD))


class Killed:
    """A worker that is killed at some of its calls, and works in this process otherwise."""

    pid = 1  # as if it had the model loaded

    def __init__(self, *at):
        self.at = at
        self.calls = []

    def call(self, function, *arguments, patience, note=None):
        self.calls.append(function.__name__)
        if len(self.calls) in self.at:
            raise WorkerLost("was killed by SIGKILL")
        return function(*arguments, note=note)


def test_a_kill_from_outside_costs_no_row(tmp_path):
    job = a_job(tmp_path)
    (chunk,) = job.input.chunks(1000)
    worker = Killed(1)
    assert explain_chunk_safely(worker, job, chunk, nobody).statistics.n_rows == 120
    assert worker.calls == ["explain_chunk"] * 2
    assert found(output(tmp_path / "out")) == expected()


def test_kills_while_the_model_is_loaded_are_no_fault_of_the_chunk(tmp_path, monkeypatch):
    monkeypatch.setattr("gc.set_threshold", lambda *_: None)  # for processes that are there for nothing else
    job = a_job(tmp_path)
    (chunk,) = job.input.chunks(1000)
    worker = Killed(1, 2)
    worker.pid = None
    assert explain_chunk_safely(worker, job, chunk, nobody).statistics.n_rows == 120
    assert worker.calls == ["load", "load", "load", "explain_chunk"]


def test_a_process_that_dies_before_it_comes_to_a_row_fails_the_chunk(tmp_path):
    job = a_job(tmp_path)
    (chunk,) = job.input.chunks(1000)
    failed = explain_chunk_safely(Killed(1, 2, 3), job, chunk, nobody)
    assert isinstance(failed, Failed)
    assert (failed.stage, failed.reason) == (
        "explain",
        "the worker process was killed by SIGKILL before it came to any row",
    )
    assert os.listdir(tmp_path / "out") == []


def test_what_cannot_be_read_or_written_fails_the_chunk(tmp_path, monkeypatch):
    job = a_job(tmp_path)
    (chunk,) = job.input.chunks(1000)

    def full(descriptor):
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", full)
        failed = explain_chunk(job, chunk, nobody)
    assert (failed.stage, failed.chunk) == ("write", chunk)
    assert "No space left on device" in failed.reason
    with monkeypatch.context() as patch:
        patch.setattr(type(job.input), "read", lambda *_: 1 / 0)
        failed = explain_chunk(job, chunk, nobody)
    assert (failed.stage, failed.reason) == ("read", "ZeroDivisionError: division by zero")
    assert os.listdir(tmp_path / "out") == []
