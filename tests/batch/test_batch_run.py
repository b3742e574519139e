import errno
import json
import os
import re
import shutil
import subprocess
import warnings
from importlib.metadata import version
from pathlib import Path

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from batches import BAD, THRESHOLD, X, explainer, names, output, save, score, slow, whole
from lightgbm import LGBMClassifier
from scipy import sparse
from sklearn.linear_model import LogisticRegression
from sklearn.neural_network import MLPClassifier

from butfor import Explainer, InputError
from butfor._files.inputs import Chunk
from butfor.batch import Statistics, Summary, run_batch, shipping
from butfor.batch.chunks import Failed
from butfor.batch.folder import Folder
from butfor.batch.parts import FirstRows, Origin, write_part
from butfor.batch.run import _plan, _scratch


@pytest.fixture
def data(tmp_path):
    return save(tmp_path / "X.npz")


def run(data, out, made=None, **options):
    return run_batch(made or explainer(), data, str(out), **{"engine": "here", "chunk_rows": 25, **options})


def fail_to_write(monkeypatch, is_failing):
    replace = os.replace

    def sometimes(source, target):
        if is_failing(Path(target).name):
            raise OSError(errno.ENOSPC, "No space left on device")
        replace(source, target)

    monkeypatch.setattr(os, "replace", sometimes)


def test_events(data, tmp_path, monkeypatch):
    told = []
    fail_to_write(monkeypatch, lambda name: name == "part-00001.parquet")
    run(data, tmp_path / "out", on_event=told.append)
    assert [each.kind for each in told if each.kind != "rows"] == [
        "begun",
        "written",
        "failed",
        *["written"] * 3,
        "ended",
    ]
    (failed,) = [each for each in told if each.kind == "failed"]
    assert (failed.chunk, "No space left" in failed.reason) == (1, True)
    assert (told[0].n_done, told[-1].n_done, told[-1].n_rows) == (0, 95, 120)
    assert [each.seconds for each in told] == sorted(each.seconds for each in told)


def test_every_row_has_its_explanation(data, tmp_path):
    told = []
    summary = run(data, tmp_path / "out", progress=lambda *counts: told.append(counts))
    whys = list(explainer().explain_many(X))
    out = output(tmp_path / "out")
    assert list(out) == list(range(120))
    assert [tuple(line["features"]) for line in out.values()] == [why.features for why in whys]
    assert names(tmp_path / "out") == whole(5)
    assert summary.is_clean
    assert (summary.n_rows, summary.n_chunks, summary.n_earlier) == (120, 5, 0)
    assert summary.statistics.n_found == sum(map(bool, whys))
    assert told[-1] == (120, 120)
    assert [done for done, _ in told] == sorted(done for done, _ in told)
    written = json.loads((tmp_path / "out" / "_summary.json").read_text())
    assert (written["n_done"], written["statuses"]) == (120, summary.statistics.statuses)
    assert written["slowest"][0]["seconds"] == max(
        pd.read_parquet(tmp_path / "out", columns=["seconds"])["seconds"]
    )


class CutRows:
    """Rows of which nothing is known but their number."""

    def __init__(self, n_rows):
        self.n_rows = n_rows

    def chunks(self, chunk_rows):
        for number, start in enumerate(range(0, self.n_rows, chunk_rows)):
            yield Chunk(number, min(chunk_rows, self.n_rows - start), (start,))


@pytest.mark.parametrize(
    ("n_rows", "n_chunks", "of_each"),
    [(90, 1, 100), (250, 3, 100), (12_800, 64, 200), (12_801, 64, 201), (1_000_000, 200, 5_000)],
)
def test_chunks_are_of_a_size_that_keeps_all_processes_busy(n_rows, n_chunks, of_each):
    plan, chunk_rows = _plan(CutRows(n_rows), None)
    assert (len(plan), chunk_rows) == (n_chunks, of_each)
    assert sum(chunk.n_rows for chunk in plan) == n_rows


def test_a_run_goes_on_with_the_chunks_that_it_began_with(data, tmp_path, monkeypatch):
    monkeypatch.setattr("butfor.batch.run.LEAST_ROWS", 50)
    assert run(data, tmp_path / "out", chunk_rows=None).n_chunks == 3
    (tmp_path / "out" / "part-00001.parquet").unlink()
    monkeypatch.setattr("butfor.batch.run.LEAST_ROWS", 10)
    again = run(data, tmp_path / "out", chunk_rows=None)
    assert (again.is_clean, again.n_chunks, again.n_earlier) == (True, 3, 70)


def test_rows_are_reported_one_by_one_while_they_are_explained(data, tmp_path):
    told = []
    network = MLPClassifier((3, 3), max_iter=5, random_state=0)
    with warnings.catch_warnings(action="ignore"):
        network.fit(X, np.arange(X.shape[0]) % 2)
    run(data, tmp_path / "out", Explainer(network), progress=lambda done, total: told.append(done))
    assert set(told) == set(range(121))


def test_worker_processes_write_the_same(data, tmp_path):
    run(data, tmp_path / "here")
    summary = run(data, tmp_path / "local", engine="local", jobs=2)
    assert summary.is_clean
    assert output(tmp_path / "local") == output(tmp_path / "here")
    assert names(tmp_path / "local") == whole(5)


def test_what_is_there_is_not_done_again(data, tmp_path):
    out = tmp_path / "out"
    run(data, out)
    expected = output(out)
    kept = (out / "part-00001.parquet").stat().st_mtime_ns
    (out / "part-00002.parquet").unlink()
    torn = out / "part-00003.parquet"
    torn.write_bytes(torn.read_bytes()[:-9])
    (out / "_unfinished-of-a-killed-run").write_text("half")
    summary = run(data, out)
    assert (summary.n_earlier, summary.is_clean) == (70, True)
    assert summary.statistics.n_rows == 120
    assert "50 rows in" in str(summary)
    assert "70 are from earlier runs" in str(summary)
    assert (out / "part-00001.parquet").stat().st_mtime_ns == kept
    assert output(out) == expected
    assert names(out) == whole(5)
    assert "nothing was left to do" in str(run(data, out))


def test_what_has_changed_is_named_and_refused(data, tmp_path):
    out = tmp_path / "out"
    run(data, out)
    before = {path.name: path.read_bytes() for path in out.iterdir()}
    changed = X.copy()
    changed.data[0] = 2
    changes = {
        "data was ": ({}, {"data": save(tmp_path / "other.npz", changed)}),
        "chunk_rows was 25, is 30": ({}, {"chunk_rows": 30}),
        "only_positive was false, is true": ({}, {"only_positive": True}),
        "seed was 0, is 4": ({"seed": 4}, {}),
        "protected was [], is [2, 3]": ({"protected": [2, 3]}, {}),
        "model was ": ({"model": slow}, {}),
    }
    for message, (of_explainer, of_run) in changes.items():
        with pytest.raises(InputError, match=re.escape(message)) as refused:
            run(**{"data": data, "out": out, "made": explainer(**of_explainer), **of_run})
        assert "out must be a folder of the same run" in str(refused.value)
    (out / "_manifest.json").write_text(
        (out / "_manifest.json").read_text().replace('"numpy": "', '"numpy": "0')
    )
    with pytest.raises(InputError, match=rf"numpy was 0{np.__version__}, is {np.__version__}"):
        run(data, out)
    (out / "_manifest.json").write_text("{")
    with pytest.raises(InputError, match=r"out must have a _manifest\.json that can be read"):
        run(data, out)
    (out / "_manifest.json").write_bytes(before["_manifest.json"])
    assert {path.name: path.read_bytes() for path in out.iterdir()} == before


def test_folders_of_others_are_left_alone(data, tmp_path):
    out = tmp_path / "out"
    out.mkdir()
    (out / "letters.txt").write_text("mine")
    with pytest.raises(InputError, match=r"got .* with 'letters\.txt' in it and no _manifest\.json"):
        run(data, out)
    with pytest.raises(InputError, match="out must be a folder that can be written to"):
        run(data, out / "letters.txt")


def test_a_folder_inside_the_data_is_refused(data, tmp_path):
    with pytest.raises(InputError, match="out must not be inside DATA"):
        run(tmp_path, tmp_path / "why" / "monday")
    assert not (tmp_path / "why").exists()


def test_parts_that_are_not_of_this_run(data, tmp_path):
    out = tmp_path / "out"
    run(data, out)
    expected = output(out)
    shutil.copy(out / "part-00000.parquet", out / "part-00009.parquet")
    with pytest.raises(InputError, match=r"no others, got part-00009\.parquet"):
        run(data, out)
    (out / "part-00009.parquet").unlink()
    shutil.copy(out / "part-00004.parquet", out / "part-00002.parquet")  # of 20 rows, where 25 belong
    summary = run(data, out)
    assert (summary.n_earlier, summary.is_complete) == (95, True)
    assert output(out) == expected


def test_folders_of_the_same_name_in_different_places(data, tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    prefixes = []
    for place in ("a", "b"):
        (tmp_path / place).mkdir()
        monkeypatch.chdir(tmp_path / place)
        with _scratch(Folder("out")) as scratch:
            prefixes.append(scratch[:-8])
        with _scratch(Folder(f"{tmp_path}/{place}/out/")) as scratch:
            assert scratch[:-8] == prefixes[-1]  # so that what a killed run left is found
    assert prefixes[0] != prefixes[1]


def test_a_model_that_changes_the_working_folder(data, tmp_path, monkeypatch):
    def moves(X):
        os.chdir("/")
        return score(X)

    monkeypatch.chdir(tmp_path)
    summary = run(data, "out", explainer(moves), engine="local", jobs=1)
    assert summary.is_clean
    assert len(list((tmp_path / "out").glob("part-*.parquet"))) == summary.n_chunks


def test_names_that_are_no_text(data, tmp_path):
    out = f"{tmp_path}/\udcff"
    made = explainer(class_names=["\udcff", "b"])
    assert run(data, out, made).is_clean
    assert run(data, out, made).n_earlier == 120


def test_two_runs_at_a_time_are_refused(data, tmp_path):
    out = tmp_path / "out"
    with Folder(str(out)).locked(), pytest.raises(InputError, match="in use by another run"):
        run(data, out)


def test_only_positive_rows(data, tmp_path):
    summary = run(data, tmp_path / "out", only_positive=True)
    positive = np.flatnonzero(score(X) >= THRESHOLD)
    assert list(output(tmp_path / "out")) == positive.tolist()
    assert summary.statistics.n_left_out == 120 - len(positive)
    assert f"{120 - len(positive)} negative and left out" in str(summary)
    assert summary.is_clean
    many = Explainer(LogisticRegression().fit(X, np.arange(120) % 3))
    with pytest.raises(
        InputError, match="only_positive must not be set for a model of more than two classes"
    ):
        run(data, tmp_path / "many", many, only_positive=True)
    assert not (tmp_path / "many").exists()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"engine": "cloud"}, "engine must be one of local, dask, here, got 'cloud'"),
        ({"scheduler": "tcp://x"}, "scheduler must be left out unless engine is"),
        ({"jobs": 0}, "jobs must be a whole number of at least 1, got 0"),
        ({"chunk_rows": 0}, "chunk_rows must be a whole number"),
        ({"patience": 0}, "patience must be a positive number of seconds"),
    ],
)
def test_bad_arguments_are_refused_before_anything_is_made(data, tmp_path, options, message):
    with pytest.raises(InputError, match=message):
        run(data, tmp_path / "out", **options)
    assert not (tmp_path / "out").exists()


def test_a_chunk_that_cannot_be_written_is_told_and_done_by_the_next_run(data, tmp_path, monkeypatch):
    out = tmp_path / "out"
    with monkeypatch.context() as patch:
        fail_to_write(patch, lambda name: name == "part-00001.parquet")
        summary = run(data, out)
    assert (summary.is_complete, summary.is_clean, summary.cannot_write) == (False, False, False)
    assert summary.statistics.n_rows == 95
    assert "failed: chunk 1 of 25 rows could not be written: OSError: [Errno 28] No space left" in str(
        summary
    )
    assert "The same command does what is missing" in str(summary)
    (failed,) = json.loads((out / "_summary.json").read_text())["failed"]
    assert (failed["chunk"], failed["stage"]) == (1, "write")
    assert run(data, out).is_clean
    assert names(out) == whole(5)


@pytest.mark.parametrize("engine", ["here", "local"])
def test_a_full_disk_ends_the_run(data, tmp_path, monkeypatch, engine):
    out = tmp_path / "out"
    with monkeypatch.context() as patch:
        if engine == "here":
            fail_to_write(patch, lambda name: name > "part-00001.parquet" or name.startswith("_summary"))
        else:  # worker processes know nothing of what is patched here: a folder in the place of parts does it
            run(data, out)
            for number in range(2, 5):
                (out / f"part-{number:05d}.parquet").unlink()
                (out / f"part-{number:05d}.parquet").mkdir()
        summary = run(data, out, engine=engine, jobs=1)
    assert len(summary.failed) == 3
    assert summary.cannot_write
    assert "stopped: one chunk after the other could not be written" in str(summary)


def test_ids_and_reasons_forge_no_lines_of_the_summary():
    slow = Statistics(n_rows=1, statuses={"found": 1}, slowest=((1.0, "a\noutput: elsewhere\x1b[2K"),))
    failed = Failed(Chunk(0, 5, ()), "read", "torn\n0 rows failed")
    lines = str(Summary("out", 6, 2, slow, 0, failed=(failed,))).splitlines()
    assert [line for line in lines if line.startswith(("output:", "0 rows"))] == ["output: out"]
    assert r"slowest rows: a\noutput: elsewhere\x1b[2K (1 s)" in lines


def test_no_room_for_the_model_in_the_temporary_folder(data, tmp_path, monkeypatch):
    def share(thing, path):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(shipping, "share", share)
    with pytest.raises(
        InputError, match=r"TMPDIR must be a folder with room for a copy of MODEL, got .*: No space"
    ):
        run(data, tmp_path / "out")


def test_the_manifest_holds_the_versions_of_the_models_libraries(data, tmp_path):
    model = LGBMClassifier(n_estimators=2, verbose=-1).fit(X, score(X) > THRESHOLD)
    for number, made in enumerate(
        [Explainer(model), Explainer(lambda X: model.predict_proba(X)[:, 1], threshold=0.5)]
    ):
        run(data, tmp_path / str(number), made)
        known = json.loads((tmp_path / str(number) / "_manifest.json").read_text())["versions"]
        assert known["lightgbm"] == version("lightgbm")
    run(data, tmp_path / "plain")
    assert "lightgbm" not in json.loads((tmp_path / "plain" / "_manifest.json").read_text())["versions"]


def test_a_disk_that_is_really_full(data, tmp_path):
    out = tmp_path / "disk"
    out.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=40k", "none", out], capture_output=True)
    if mounted.returncode:
        pytest.skip("a small disk cannot be mounted here")
    try:
        summary = run(data, out / "out", chunk_rows=10)
        assert summary.cannot_write
        assert summary.statistics.n_rows == len(output(out / "out")) > 0
        assert "No space left" in summary.failed[0].reason
        assert not any(name.startswith("_unfinished") for name in names(out / "out"))
        subprocess.run(["mount", "-o", "remount,size=1m", out], check=True)
        assert run(data, out / "out", chunk_rows=10).is_clean
        assert len(output(out / "out")) == 120
    finally:
        subprocess.run(["umount", out], check=True)


def test_nothing_can_begin_on_a_full_disk(data, tmp_path, monkeypatch):
    fail_to_write(monkeypatch, lambda name: True)
    with pytest.raises(
        InputError, match=r"out must be a folder that can be written to, got .* No space left"
    ):
        run(data, tmp_path / "out")


def test_a_row_with_an_error_is_counted(tmp_path):
    broken = X.toarray()
    broken[BAD, 0] = np.nan
    summary = run(save(tmp_path / "X.npz", sparse.csr_matrix(broken)), tmp_path / "out")
    assert (summary.n_errors, summary.is_complete, summary.is_clean) == (1, True, False)


def test_other_stores_than_a_disk(data):
    out = "memory://butfor-run"
    assert run(data, out).is_clean
    folder = Folder(out)
    assert set(folder.names()) == whole(5)
    assert run(data, out).n_earlier == 120


def test_pandas_polars_and_duckdb_read_the_folder(data, tmp_path):
    out = tmp_path / "out"
    run(data, out)
    rows = FirstRows().followed_by([120], ["row must be finite."], "int")
    write_part(Folder(str(out)), Origin("", 5), rows)
    n_found = sum(line["status"] == "found" for line in output(out).values())
    in_pandas = pd.read_parquet(out)
    assert (len(in_pandas), in_pandas["id"].dtype) == (121, "int64")
    assert (in_pandas["status"] == "found").sum() == n_found
    in_polars = pl.read_parquet(out / "*.parquet")
    assert in_polars.height == 121
    assert in_polars.schema["features"] == pl.List(pl.String)
    assert in_polars.schema["columns"] == pl.List(pl.Int32)
    assert in_polars.filter(pl.col("status") == "found").height == n_found
    asked = f"""select count(*), sum(len(columns)), max(error) from '{out}/*.parquet'
        where status in ('found', 'error')"""
    ((count, n_columns, error),) = duckdb.sql(asked).fetchall()
    assert (count, error) == (n_found + 1, "row must be finite.")
    assert n_columns == in_pandas["size"].sum()


class OnlyHere:
    """A model that other processes cannot load."""

    def __call__(self, X):
        return score(X)

    def __setstate__(self, state):
        raise RuntimeError("not here")

    def __getstate__(self):
        return {"a": 1}


def test_a_model_that_other_processes_cannot_load(data, tmp_path):
    with pytest.raises(InputError, match=r"other processes can load, .* RuntimeError: not here"):
        run(data, tmp_path / "out", explainer(OnlyHere()), engine="local", jobs=1)


def test_ids_that_come_again_are_reported(tmp_path, caplog):
    table = pa.table({"id": ["a", "b\n", "a"], "features": [[0], [1], [2]]})
    pq.write_table(table, tmp_path / "rows.parquet")
    made = explainer(feature_names=[f"f{i}" for i in range(12)])
    assert run(tmp_path / "rows.parquet", tmp_path / "out", made).is_clean
    assert "1 ids of DATA come more than once, such as 'a': each row has its own answer" in caplog.text
    assert [line["id"] for line in pq.read_table(tmp_path / "out" / "part-00000.parquet").to_pylist()] == [
        "a",
        "b\n",
        "a",
    ]
