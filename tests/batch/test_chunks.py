import errno
import os
from dataclasses import replace

import numpy as np
import pytest
from batches import BAD, X, explainer, has, marked, output, raises, save, score
from scipy import sparse

from butfor._files.inputs import ColumnNames, open_input
from butfor._files.inputs.base import InputRows
from butfor._processes.worker import WorkerLost
from butfor.batch import chunks
from butfor.batch.chunks import (
    Done,
    Failed,
    Job,
    explain_chunk,
    explain_chunk_safely,
    explain_rows,
    worker_for,
)
from butfor.batch.folder import Folder
from butfor.batch.parts import FirstRows, Origin, begun_name, part_name, read_begun
from butfor.batch.shipping import pack


def a_job(tmp_path, model=None, matrix=X, patience=60.0, **options):
    made = explainer(**options) if model is None else explainer(model, **options)
    (tmp_path / "out").mkdir()
    pack(made, str(tmp_path / "scratch"))
    rows = open_input([save(tmp_path / "X.npz", matrix)], ColumnNames(), takes_texts=False, n_features=None)
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


class Killed:
    """A worker that is killed at some of its calls, and works in this process otherwise."""

    at = ()

    def __init__(self):
        self.calls = []
        self.pid = None

    def call(self, function, *arguments, patience, note=None):
        self.pid = 1
        self.calls.append(function.__name__)
        if len(self.calls) in self.at:
            self.pid = None
            raise WorkerLost("was killed by SIGKILL")
        return function(*arguments, note=note)


@pytest.fixture
def killed(monkeypatch):
    """Make workers that are killed at these calls."""
    monkeypatch.setattr("gc.set_threshold", lambda *_: None)  # for processes that explain rows only
    monkeypatch.setattr("butfor._processes.harness.Worker", Killed)
    return lambda *at: monkeypatch.setattr(Killed, "at", at)


def test_a_chunk_that_is_explained_row_by_row_is_written_all_the_same(tmp_path, killed, monkeypatch):
    job = a_job(tmp_path)
    (chunk,) = job.input.chunks(1000)
    rows = job.input.read(chunk)
    rows.errors[3] = "row 3 cannot be read."
    monkeypatch.setattr(type(job.input), "read", lambda *_: rows)
    killed(2, 4, 6 + BAD, 8 + BAD)
    worker, noted = worker_for(job), []
    assert explain_chunk_safely(worker, job, chunk, noted.append).statistics.n_rows == 120
    calls = [name for name in worker._worker.calls if name != "load"]
    assert calls == ["explain_chunk"] * 2 + ["explain_row"] * 121
    assert noted[-121:] == list(range(121))
    out = output(tmp_path / "out")
    assert out[3]["error"] == "row 3 cannot be read."
    assert out[BAD]["error"] == (
        "the worker process was killed by SIGKILL while the model was asked about this row."
    )
    assert found(out, but=(3, BAD)) == expected(but=(3, BAD))


def test_a_process_that_dies_before_it_comes_to_a_row_fails_the_chunk(tmp_path, killed):
    job = a_job(tmp_path)
    (chunk,) = job.input.chunks(1000)
    killed(1, 2, 3)
    failed = explain_chunk_safely(worker_for(job), job, chunk, nobody)
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


@pytest.fixture
def in_small_steps(monkeypatch):
    """Have rows kept after every few of them, as where they take long."""
    monkeypatch.setattr(chunks, "FIRST_ROWS", 7)
    monkeypatch.setattr(chunks, "SECONDS_UNKEPT", 0.0)


class EndsAfter:
    """A process that ends after so many rows were reported, as if it was killed."""

    def __init__(self, n_rows):
        self.n_rows = n_rows

    def __call__(self, n_rows):
        if n_rows >= self.n_rows:
            raise KeyboardInterrupt


@pytest.mark.usefixtures("in_small_steps")
def test_a_chunk_goes_on_where_it_ended(tmp_path):
    job = a_job(tmp_path)
    (chunk,) = job.input.chunks(1000)
    with pytest.raises(KeyboardInterrupt):
        explain_chunk(job, chunk, EndsAfter(50))
    kept = read_begun(job.out, Origin(job.run, 0))
    assert kept.n_rows == 49
    assert job.out.names() == [begun_name(0)]
    noted = []
    done = explain_chunk(job, chunk, noted.append)
    assert noted[0] == 49
    assert done.statistics.n_rows == 120
    assert found(output(tmp_path / "out")) == expected()
    assert job.out.names() == [part_name(0)]


@pytest.mark.usefixtures("in_small_steps")
def test_rows_that_were_left_out_are_not_explained_again(tmp_path):
    job = replace(a_job(tmp_path), only_positive=True)
    (chunk,) = job.input.chunks(1000)
    with pytest.raises(KeyboardInterrupt):
        explain_chunk(job, chunk, EndsAfter(30))
    kept = read_begun(job.out, Origin(job.run, 0))
    assert kept.n_rows == 28
    assert 0 < kept.statistics.n_left_out < 28
    statistics = explain_chunk(job, chunk, nobody).statistics
    positive = [why for why in explainer().explain_many(X) if why.score >= why.threshold]
    assert statistics.n_left_out == 120 - len(positive)
    assert len(output(tmp_path / "out")) == len(positive)


@pytest.mark.usefixtures("in_small_steps")
@pytest.mark.parametrize("wrong", ["torn", "of another run", "of another chunk"])
def test_what_was_kept_counts_only_if_it_is_whole_and_of_this_chunk(tmp_path, wrong):
    job = a_job(tmp_path)
    (chunk,) = job.input.chunks(1000)
    of = replace(job, run="another") if wrong == "of another run" else job
    with pytest.raises(KeyboardInterrupt):
        explain_chunk(of, chunk, EndsAfter(50))
    content = job.out.read(begun_name(0))
    if wrong == "torn":
        job.out.write(begun_name(0), content[:-30])
    number = 1 if wrong == "of another chunk" else 0
    job.out.write(begun_name(number), job.out.read(begun_name(0)))
    assert read_begun(job.out, Origin(job.run, number)).n_rows == 0
    assert explain_chunk(job, replace(chunk, number=number), nobody).statistics.n_rows == 120


@pytest.mark.usefixtures("in_small_steps")
def test_where_nothing_can_be_kept_the_chunk_is_done_all_the_same(tmp_path, monkeypatch):
    rename, job = os.replace, a_job(tmp_path)

    def full(source, target):
        if "_begun" in target:
            raise OSError(errno.ENOSPC, "No space left on device")
        rename(source, target)

    monkeypatch.setattr(os, "replace", full)
    (chunk,) = job.input.chunks(1000)
    assert explain_chunk(job, chunk, nobody).statistics.n_rows == 120
    assert job.out.names() == [part_name(0)]


def test_rows_one_by_one_follow_those_that_were_kept(tmp_path):
    """The worker kept some rows before a row killed it; only the others are explained one by one."""
    job = a_job(tmp_path)
    (chunk,) = job.input.chunks(1000)
    rows = job.input.read(chunk)
    first = explain_rows(explainer(), InputRows(rows.ids[:100], rows.content[:100]), only_positive=False)
    FirstRows().followed_by(rows.ids[:100], first, "int").keep(job.out, Origin(job.run, 0))
    worker, noted = Dying(job), []
    assert explain_chunk_safely(worker, job, chunk, noted.append).statistics.n_rows == 120
    assert worker.n_alone == 20
    assert (noted[0], noted[-1]) == (100, 120)
    assert found(output(tmp_path / "out")) == expected()


class Dying:
    """A worker whose process dies of every block, and of no single row."""

    def __init__(self, job):
        self.job, self.n_alone = job, 0

    def results(self, block, note):
        for row in block.one_by_one():
            self.n_alone += 1
            function, *arguments = row.call()
            yield row, function(*arguments, nobody)


SHORT = {"n_processes": 0}
"""How many processes, from now on, have too little memory for a row."""


class ShortOfMemory(Killed):
    """A worker that has a new process whenever it is renewed."""

    def end(self):
        self.calls.append("end")
        self.pid = None
        SHORT["n_processes"] -= 1


def greedy(X):
    if has(X, BAD) and SHORT["n_processes"]:
        raise MemoryError("no 8 GiB")
    return score(X[:, :-1])


@pytest.mark.parametrize(("n_processes", "is_lost"), [(1, False), (4, True)])
def test_a_process_without_memory_is_replaced(tmp_path, monkeypatch, n_processes, is_lost):
    monkeypatch.setattr("gc.set_threshold", lambda *_: None)
    monkeypatch.setattr("butfor._processes.harness.Worker", ShortOfMemory)
    monkeypatch.setitem(SHORT, "n_processes", n_processes)
    monkeypatch.setattr(chunks, "unpacked", lambda _: explainer(greedy, protected=[12], search="sedc"))
    job = a_job(tmp_path, matrix=marked(BAD))
    (chunk,) = job.input.chunks(1000)
    worker = worker_for(job)
    assert explain_chunk_safely(worker, job, chunk, nobody).statistics.n_rows == 120
    calls = worker._worker.calls
    assert calls[:5] == ["load", "explain_chunk", "end", "load", "explain_chunk"]
    assert calls.count("end") == n_processes
    out = output(tmp_path / "out")
    assert list(out) == list(range(120))
    lost = [line["error"] for line in out.values() if line["status"] == "error"]
    said = "two processes, one after the other, ran out of memory over this row: "
    assert [error.startswith(said) and "no 8 GiB" in error for error in lost] == [True] * is_lost


def test_in_this_process_there_is_no_other_to_try(tmp_path, monkeypatch):
    monkeypatch.setitem(SHORT, "n_processes", 1)
    monkeypatch.setattr(chunks, "unpacked", lambda _: explainer(greedy, protected=[12]))
    job = replace(a_job(tmp_path, matrix=marked(BAD)), is_here=True)
    (chunk,) = job.input.chunks(1000)
    explain_chunk(job, chunk, nobody)
    assert "raised MemoryError" in output(tmp_path / "out")[BAD]["error"]
