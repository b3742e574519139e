"""Runs into an object store: a real S3 server, with errors, kills and two runs at a time."""

import io
import os
import subprocess
import sys
import time
from pathlib import Path
from uuid import uuid4

import pyarrow.parquet as pq
import pytest
from batches import X, explainer, save, whole
from s3_server import s3_server
from typer.testing import CliRunner

from butfor import InputError
from butfor._cli import app
from butfor._files.inputs.locations import find_files
from butfor.batch import check_batch, run_batch
from butfor.batch.folder import Folder, OutLostError
from butfor.batch.lease import LEASE
from butfor.batch.parts import FirstRows, Origin

pytestmark = pytest.mark.xdist_group("s3")  # one server for all of them


@pytest.fixture(scope="module")
def server():
    with s3_server() as variables, pytest.MonkeyPatch.context() as patch:
        for name, value in variables.items():
            patch.setenv(name, value)
        yield variables


@pytest.fixture(scope="module")
def s3(server):
    import fsspec

    fs = fsspec.filesystem("s3")
    fs.mkdir("lake")
    return fs


@pytest.fixture
def out(s3):
    return f"s3://lake/{uuid4().hex}"


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    return save(tmp_path_factory.mktemp("data") / "X.npz")


def run(data, out, **options):
    return run_batch(explainer(search="sedc"), data, out, **{"engine": "here", "chunk_rows": 25, **options})


def output(out):
    folder, lines = Folder(out), []
    for name in folder.names():
        if name.startswith("part-"):
            lines += pq.read_table(io.BytesIO(folder.read(name))).to_pylist()
    by_id = {line["id"]: {**line, "seconds": None} for line in lines}
    assert len(by_id) == len(lines)
    return by_id


def test_a_run_from_and_into_a_store(s3, data, out, tmp_path):
    s3.put_file(data, "lake/rows/X.npz")
    summary = run("s3://lake/rows/", out, engine="local", jobs=1)
    assert summary.is_clean
    assert set(Folder(out).names()) == whole(5)
    run(data, str(tmp_path / "here"))
    assert output(out) == output(str(tmp_path / "here"))
    assert check_batch(out).is_complete
    assert run("s3://lake/rows/X.npz", out).n_earlier == 120


def test_no_bucket_is_created(s3, data):
    with pytest.raises(InputError, match=r"out must be a folder that can .* bucket does not exist"):
        run(data, "s3://laek/why")
    with pytest.raises(
        InputError, match=r"DATA must be a file or a folder, got s3://laek/rows, which is not"
    ):
        find_files(["s3://laek/rows"])
    assert s3.ls("", refresh=True) == ["lake"]


def test_listings_are_fresh(s3, out, server):
    folder = Folder(out)
    folder.write("a", b"one")
    assert folder.names() == ["a"]
    code = "import fsspec, sys\nfor path in sys.argv[1:]: fsspec.filesystem('s3').pipe_file(path, b'longer')"
    # By another process, of which the cache here knows nothing.
    subprocess.run([sys.executable, "-c", code, f"{out}/a", f"{out}/b"], check=True)
    assert (folder.names(), folder.read("a")) == (["a", "b"], b"longer")
    with folder.opened("a") as file:
        assert file.read() == b"longer"
    folder.write("b", b"two")
    assert [path.rpartition("/")[2] for path in s3.ls(out)] == ["a", "b"]


def test_two_runs_at_a_time_are_kept_apart(data, out, monkeypatch):
    monkeypatch.setattr("butfor.batch.lease.SECONDS", 0.6)
    with Folder(out).locked(), pytest.raises(InputError, match="out must not be in use by another run"):
        run(data, out)
    assert Folder(out).names() == []
    Folder(out).create("once", b"")
    with pytest.raises(FileExistsError):
        Folder(out).create("once", b"")


def test_a_run_that_another_took_over_stops(data, out):
    def take(n_done, total):
        if n_done == 25 and f"{LEASE}00000007" not in Folder(out).names():
            Folder(out).write(f"{LEASE}00000007", b"{}")
            time.sleep(0.3)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("butfor.batch.lease.SECONDS", 0.3)
        with pytest.raises(OutLostError, match="which another run took over"):
            run(data, out, progress=take)
    assert 0 < len(output(out)) < 120


KILLED = """
import os, signal, sys
sys.path.insert(0, sys.argv[1])
from batches import explainer
from butfor.batch import run_batch

def stop(event):
    if event.kind == "written" and event.chunk == 1:
        os.kill(os.getpid(), signal.SIGKILL)

made = explainer(search="sedc")
run_batch(made, sys.argv[2], sys.argv[3], engine="here", chunk_rows=25, on_event=stop)
"""


def test_a_run_that_is_killed_leaves_nothing_for_the_next_to_trip_over(data, out, tmp_path, monkeypatch):
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    monkeypatch.setenv("TMPDIR", str(scratch))
    monkeypatch.setattr("tempfile.tempdir", str(scratch))
    arguments = [sys.executable, "-c", KILLED, str(Path(__file__).parent), data, out]
    assert subprocess.run(arguments, check=False).returncode == -9
    assert len(list(scratch.iterdir())) == 1
    left = Folder(out).names()
    assert left == [f"{LEASE}00000000", "_manifest.json", "part-00000.parquet", "part-00001.parquet"]
    # As if it had been killed before the rows that it had kept of a chunk were removed.
    FirstRows().followed_by([0], [None], "int").keep(Folder(out), Origin("", 1))
    summary = run(data, out)
    assert (summary.is_clean, summary.n_earlier) == (True, 50)
    assert set(Folder(out).names()) == whole(5)
    assert list(scratch.iterdir()) == []
    run(data, str(tmp_path / "undisturbed"))
    assert output(out) == output(str(tmp_path / "undisturbed"))


@pytest.fixture
def nobody_there(monkeypatch):
    """A store that cannot be reached; whoever asks does so once."""
    import s3fs

    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9")
    monkeypatch.setattr(s3fs.S3FileSystem, "retries", 1)
    s3fs.S3FileSystem.clear_instance_cache()
    yield
    s3fs.S3FileSystem.clear_instance_cache()


@pytest.mark.usefixtures("server", "nobody_there")
def test_a_store_that_cannot_be_reached(data, tmp_path):
    import joblib
    from batches import score
    from sklearn.linear_model import LogisticRegression

    joblib.dump(LogisticRegression().fit(X, score(X) > 2), tmp_path / "model.joblib")
    command = ["batch", str(tmp_path / "model.joblib"), "--trust-pickle", "--engine", "here"]
    for arguments in (
        [data, "--out", "s3://lake/why"],
        ["s3://lake/rows.npz", "--out", str(tmp_path / "out")],
        ["--check", "s3://lake/why"],
    ):
        done = CliRunner().invoke(app, [*command, *arguments])
        assert (done.exit_code, done.stdout) == (2, "")
        (line,) = done.stderr.strip().splitlines()
        assert "Could not connect to the endpoint URL" in line


def test_a_store_that_is_lost_in_the_middle(s3, data, out, tmp_path, monkeypatch):
    import s3fs
    from botocore.exceptions import EndpointConnectionError

    call, is_down = s3fs.S3FileSystem._call_s3, []

    async def sometimes(self, *arguments, **options):
        if is_down:
            raise EndpointConnectionError(endpoint_url="s3.example")
        return await call(self, *arguments, **options)

    def lost(event):
        if event.kind == "written" and event.chunk == 1:
            is_down.append(True)

    monkeypatch.setattr(s3fs.S3FileSystem, "_call_s3", sometimes)
    monkeypatch.setattr("butfor.batch.lease.SECONDS", 0.6)
    with pytest.raises(OutLostError, match=r"What was written is kept.*") as raised:
        run(data, out, on_event=lost)
    assert 'Could not connect to the endpoint URL: "s3.example"' in str(raised.value)
    is_down.clear()
    assert set(Folder(out).names()) > {"part-00000.parquet", "part-00001.parquet"}
    assert run(data, out).n_earlier == 50


def test_a_command_that_loses_its_store_ends_with_1(data, tmp_path, monkeypatch):
    def lost(*arguments, **options):
        raise OutLostError("out must stay a folder that can be read and written, got s3://x: gone.")

    import joblib
    from batches import score
    from sklearn.linear_model import LogisticRegression

    joblib.dump(LogisticRegression().fit(X, score(X) > 2), tmp_path / "model.joblib")
    monkeypatch.setattr("butfor.batch.run_batch", lost)
    command = [
        "batch",
        str(tmp_path / "model.joblib"),
        "--trust-pickle",
        data,
        "--out",
        str(tmp_path / "out"),
    ]
    done = CliRunner().invoke(app, command)
    assert (done.exit_code, len(done.stderr.strip().splitlines())) == (1, 1)
    assert os.listdir(tmp_path) == ["model.joblib"]
