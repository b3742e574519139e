"""What all who use workers promise: a row that kills, hangs or raises costs itself, and nothing runs on."""

import logging
import threading
from typing import ClassVar

import pyarrow.parquet as pq
import pytest
from misbehaving_model import HANGS, KILLS, RAISES, MisbehavingModel
from scipy import sparse

from butfor import Budget, Explainer, Explanation
from butfor._engine import many_rows, parallel
from butfor._processes import harness
from butfor._processes.harness import Harness
from butfor._processes.sharing import share
from butfor._processes.worker import SECONDS_TO_END, Stopped
from butfor._web import filling
from butfor._web.overview import Overview
from butfor._web.served_rows import ServedItems
from butfor.batch import local_engine, run_batch

SECONDS = 0.5
"""The time limit of a row."""
SHORT, LONG = 1.5, 120.0
"""Patience beyond that limit: for rows that hang, and for rows that nobody may wait for."""


def explainer(model):
    return Explainer(model, threshold=1.5, search="sedc", budget=Budget(max_seconds=SECONDS))


class ExplainMany:
    """`Explainer.explain_many` with two workers."""

    def __init__(self, monkeypatch, tmp_path):
        self.monkeypatch = monkeypatch

    def outcomes(self, model, rows, patience):
        self.monkeypatch.setattr(parallel, "PATIENCE", patience)
        outcomes = list(explainer(model).explain_many(rows, jobs=2, errors="keep"))
        return [(each.status, each.size) if isinstance(each, Explanation) else str(each) for each in outcomes]

    def stop(self, model, rows):
        self.monkeypatch.setattr(parallel, "PATIENCE", LONG)
        self.monkeypatch.setattr(many_rows, "ROWS_AT_ONCE", 1)
        before = set(threading.enumerate())
        outcomes = explainer(model).explain_many(rows, jobs=2)
        next(outcomes)
        model.wait_until_it_hangs()
        outcomes.close()
        started = set(threading.enumerate()) - before
        assert not [thread for thread in started if thread.name.startswith("ThreadPoolExecutor")]


class LocalBatch:
    """`run_batch` with workers on this machine."""

    options: ClassVar = {"engine": "local", "jobs": 1}

    def __init__(self, monkeypatch, tmp_path):
        self.data, self.out = tmp_path / "rows.npz", tmp_path / "out"

    def outcomes(self, model, rows, patience):
        sparse.save_npz(self.data, rows)
        told = []
        options = {"patience": patience, "progress": lambda *counts: told.append(counts), **self.options}
        summary = run_batch(explainer(model), self.data, self.out, **options)
        assert (summary.n_rows, summary.failed) == (rows.shape[0], ())
        assert told[-1] == (rows.shape[0], rows.shape[0])
        (part,) = self.out.glob("part-*")
        lines = pq.read_table(part).to_pylist()
        return [line["error"] or (line["status"], line["size"]) for line in lines]

    def stop(self, model, rows):
        sparse.save_npz(self.data, rows)

        def interrupt(n_done, n_rows):
            if n_done:
                model.wait_until_it_hangs()
                raise KeyboardInterrupt

        options = {**self.options, "jobs": 2, "chunk_rows": 1, "patience": LONG, "progress": interrupt}
        with pytest.raises(KeyboardInterrupt):
            run_batch(explainer(model), self.data, self.out, **options)
        assert not (self.out / "part-00001.parquet").exists()
        for thread in threading.enumerate():
            if isinstance(thread, local_engine._ChunkThread):
                thread.join(SECONDS_TO_END)
                assert not thread.is_alive()


class DaskBatch(LocalBatch):
    """`run_batch` on a Dask cluster whose workers are threads of this process."""

    def __init__(self, monkeypatch, tmp_path):
        super().__init__(monkeypatch, tmp_path)
        distributed = pytest.importorskip("distributed")
        self.cluster = distributed.LocalCluster(
            n_workers=1,
            threads_per_worker=2,
            processes=False,
            protocol="tcp",
            dashboard_address="127.0.0.1:0",  # any free port: other tests have clusters at the same time
            scheduler_kwargs={"dashboard": False},
            silence_logs=logging.CRITICAL,
        )
        self.options = {"engine": "dask", "scheduler": self.cluster.scheduler_address}

    def close(self):
        self.cluster.close()


class PageFilling:
    """The table of a page, which is filled in the background."""

    def __init__(self, monkeypatch, tmp_path):
        self.monkeypatch, self.folder = monkeypatch, tmp_path

    def started(self, model, rows, patience):
        self.monkeypatch.setattr(filling, "PATIENCE", patience)
        self.table = Overview(ServedItems(rows), ("no", "yes"))
        path = share(explainer(model), self.folder / "explainer")
        started = filling.Filling(path, ServedItems(rows), self.table, SECONDS)
        started.start()
        return started

    def outcomes(self, model, rows, patience):
        started = self.started(model, rows, patience)
        started._thread.join()
        states = [self.table.state(number) for number in range(rows.shape[0])]
        return [
            self.table.error(number) or (state["status"], state["size"] or 0)
            for number, state in enumerate(states)
        ]

    def stop(self, model, rows):
        started = self.started(model, rows, LONG)
        model.wait_until_it_hangs()
        started.close()
        assert not started._thread.is_alive()


@pytest.fixture(params=[ExplainMany, LocalBatch, DaskBatch, PageFilling], ids=lambda user: user.__name__)
def user(request, monkeypatch, tmp_path):
    user = request.param(monkeypatch, tmp_path)
    yield user
    if hasattr(user, "close"):
        user.close()


@pytest.fixture
def workers(monkeypatch):
    """List all workers that are made."""
    made = []
    begin = Harness.__init__

    def remember(self, *arguments, **options):
        begin(self, *arguments, **options)
        made.append(self)

    monkeypatch.setattr(Harness, "__init__", remember)
    return made


def rows_marked(*marks):
    return sparse.csr_matrix([[mark, 1.0, 1.0] for mark in marks])


def assert_all_are_closed(workers):
    assert workers
    for worker in workers:
        assert worker.pid is None
        with pytest.raises(Stopped):
            worker.load()


FOUND = ("found", 2)


def test_rows_that_raise_hang_or_kill_cost_themselves(user, workers, tmp_path, monkeypatch):
    monkeypatch.setattr(harness, "TRIES", 1)  # the second try has a test of its own
    rows = rows_marked(1, RAISES, 1, HANGS, KILLS)
    first, raised, third, hung, killed = user.outcomes(MisbehavingModel(tmp_path / "flag"), rows, SHORT)
    assert (first, third) == (FOUND, FOUND)
    assert "a row that it does not like" in raised
    assert "process" in hung
    assert f"said nothing for {SECONDS + SHORT:g} seconds and was stopped" in hung
    assert "was killed by SIGKILL" in killed
    assert_all_are_closed(workers)


def test_a_process_that_somebody_kills_costs_nothing(user, workers, tmp_path):
    model = MisbehavingModel(tmp_path / "flag", is_killed_once=True)
    assert user.outcomes(model, rows_marked(1, 1, 1), LONG) == [FOUND] * 3
    assert model.flag.exists()
    assert_all_are_closed(workers)


def test_stopping_ends_all_workers_in_the_middle_of_a_call(user, workers, tmp_path):
    user.stop(MisbehavingModel(tmp_path / "flag"), rows_marked(1, HANGS))
    assert_all_are_closed(workers)
