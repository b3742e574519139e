"""Rows with errors are tried again; all others stay, whatever happens in between."""

import os
import signal
from pathlib import Path

import numpy as np
import pytest
from batches import X, explainer, output, save, score
from killing import Killer, forked

from butfor import InputError
from butfor.batch import run_batch
from butfor.batch.folder import Folder
from butfor.batch.parts import FirstRows, Origin, begun_name
from butfor.batch.retrying import Retry, forget_begun_errors, stored_rows


class Service:
    """A model that some rows are refused by, as long as a file is there."""

    def __init__(self, folder: Path, **refused: str):
        self.folder, self.refused = folder, refused

    def __call__(self, X):
        for row, reason in self.refused.items():
            if (self.folder / row).exists() and (X[:, [12]].toarray() == int(row[1:])).any():
                raise ConnectionError(reason)
        return score(X[:, :12])


@pytest.fixture
def service(tmp_path):
    made = Service(tmp_path, r3="refused", r4="refused", r30="timed out", r119="refused")
    for row in made.refused:
        (tmp_path / row).touch()
    return made


@pytest.fixture
def data(tmp_path):
    from scipy import sparse

    return save(tmp_path / "rows.npz", sparse.hstack([X, np.arange(len(X.toarray()))[:, None]], format="csr"))


def run(service, data, out, **options):
    made = explainer(service, protected=[12], search="sedc")
    return run_batch(made, data, str(out), **{"engine": "here", "chunk_rows": 25, **options})


def errors(out):
    return {row for row, line in output(out).items() if line["status"] == "error"}


def test_errors_are_tried_again_and_nothing_else(service, data, tmp_path):
    out = tmp_path / "out"
    assert run(service, data, out).n_errors == 4
    before, times = output(out), {path.name: path.stat().st_mtime_ns for path in out.glob("part-*")}
    assert run(service, data, out).n_errors == 4  # as long as nobody asks for more
    for row in ("r3", "r4", "r30"):
        (tmp_path / row).unlink()
    asked = []
    call = Service.__call__
    Service.__call__ = lambda self, X: asked.extend(X[:, [12]].toarray().ravel().tolist()) or call(self, X)
    try:
        some = run(service, data, out, retry_errors="timed out")
        assert (some.n_retried, some.n_errors, some.n_earlier) == (1, 3, 119)
        assert set(asked) == {30}
        assert errors(out) == {3, 4, 119}
        told = []
        summary = run(service, data, out, retry_errors=True, progress=lambda *counts: told.append(counts))
    finally:
        Service.__call__ = call
    assert set(asked) == {3, 4, 30, 119}
    assert (summary.n_retried, summary.n_errors, summary.n_earlier) == (3, 1, 117)
    assert told[-1] == (120, 120)
    assert "tried again: 3 rows that had an error" in str(summary)
    assert "errors: 1 rows, with the reasons in the column error; --retry errors" in str(summary)
    after = output(out)
    assert list(after) == list(range(120))
    assert {row: after[row] for row in after if row not in {3, 4, 30}} == {
        row: before[row] for row in before if row not in {3, 4, 30}
    }
    assert errors(out) == {119}
    assert {path.name for path in out.glob("part-*") if path.stat().st_mtime_ns == times[path.name]} == {
        "part-00002.parquet",
        "part-00003.parquet",
    }
    (tmp_path / "r119").unlink()
    assert run(service, data, out, retry_errors=True, engine="local", jobs=1).is_clean
    undisturbed = tmp_path / "undisturbed"
    expected = run(service, data, undisturbed)
    assert output(out) == output(undisturbed)
    found = run(service, data, out).statistics
    assert (found.statuses, found.sizes, found.n_proven) == (
        expected.statistics.statuses,
        expected.statistics.sizes,
        expected.statistics.n_proven,
    )
    assert len(found.slowest) == len(expected.statistics.slowest)


def test_rows_that_are_left_out(service, data, tmp_path):
    out = tmp_path / "out"
    assert run(service, data, out, only_positive=True).n_errors == 4
    for row in service.refused:
        (tmp_path / row).unlink()
    summary = run(service, data, out, only_positive=True, retry_errors=True)
    assert summary.is_clean
    assert list(output(out)) == np.flatnonzero(score(X) >= 2).tolist()
    assert summary.statistics.n_left_out == 120 - len(output(out))


def test_records_that_could_be_of_several_rows_are_not_guessed_at(tmp_path):
    folder, origin = Folder(str(tmp_path)), Origin("run", 0)
    rows = FirstRows().followed_by([7, 7, 8], [None, "refused", "refused"], "int")
    folder.write("part-00000.parquet", rows.sealed(origin))
    assert stored_rows(folder, origin, [7, 7, 8], Retry()) is None
    found = stored_rows(folder, origin, [6, 7, 8], Retry())
    assert (found.todo, found.n_rows) == ((1, 2), 1)
    assert found.followed_by([7, 8], [None, "again"], "int").records.column("error").to_pylist() == ["again"]
    assert stored_rows(folder, Origin("another", 0), [6, 7, 8], Retry()) is None


def test_rows_of_a_chunk_without_a_part(tmp_path):
    folder = Folder(str(tmp_path))
    FirstRows().followed_by([1], ["refused"], "int").keep(folder, Origin("run", 0))
    FirstRows().followed_by([2], [None], "int").keep(folder, Origin("run", 1))
    forget_begun_errors(folder)
    assert folder.names() == [begun_name(1)]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes cannot be forked here")
@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded, use of fork")
@pytest.mark.parametrize("is_named", [False, True], ids=["before the name", "after the name"])
def test_a_kill_in_between_loses_nothing(service, data, tmp_path, is_named):
    out = tmp_path / "out"
    run(service, data, out)
    for row in service.refused:
        (tmp_path / row).unlink()
    pid = forked(Killer(1, is_named).call, run, service, data, out, retry_errors=True)
    _, status = os.waitpid(pid, 0)
    assert os.WTERMSIG(status) == signal.SIGKILL
    assert list(output(out)) == list(range(120))
    assert len(errors(out)) == (1 if is_named else 2)
    assert run(service, data, out, retry_errors=True).is_clean
    run(service, data, tmp_path / "undisturbed")
    assert output(out) == output(tmp_path / "undisturbed")


def test_a_part_that_cannot_be_replaced_stays(service, data, tmp_path, monkeypatch):
    out = tmp_path / "out"
    run(service, data, out)
    for row in service.refused:
        (tmp_path / row).unlink()
    write = Folder.write

    def full(folder, name, content):
        if name == "part-00000.parquet":
            raise OSError(28, "No space left on device")
        write(folder, name, content)

    with monkeypatch.context() as patch:
        patch.setattr(Folder, "write", full)
        summary = run(service, data, out, retry_errors=True)
    assert (summary.n_errors, summary.n_retried, summary.is_complete) == (2, 2, True)
    assert "failed: chunk 0 of 25 rows could not be written" in str(summary)
    assert errors(out) == {3, 4}


@pytest.mark.parametrize("asked", ["", 3, None])
def test_what_cannot_be_asked_for(service, data, tmp_path, asked):
    with pytest.raises(InputError, match="retry_errors must be True, False, or a text"):
        run(service, data, tmp_path / "out", retry_errors=asked)
