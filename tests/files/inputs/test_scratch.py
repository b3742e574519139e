import os
import subprocess
import sys

import pytest

from butfor._files.inputs import scratch as scratches
from butfor._files.inputs.scratch import HELD, PREFIX, remove_left, scratch

fcntl = pytest.importorskip("fcntl", reason="needs locks of files")
CODE = """
import os, signal
from butfor._files.inputs.scratch import scratch
(scratch() / "matrix").write_text("rows")
print(scratch(), flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("atexit.register", lambda *call, **options: None)
    scratch.cache_clear()
    yield tmp_path
    scratch.cache_clear()


def test_what_a_killed_process_leaves_is_removed_by_the_next(folder, monkeypatch):
    assert (
        subprocess.run([sys.executable, "-c", CODE], stdout=subprocess.DEVNULL, check=False).returncode == -9
    )
    (left,) = folder.iterdir()
    remove_left()
    assert left.exists()  # it may just have been made
    monkeypatch.setattr(scratches, "SECONDS_TO_HOLD", -1)
    mine = scratch()
    assert list(folder.iterdir()) == [mine]
    assert scratch() == mine


def test_what_is_held_stays(folder, monkeypatch):
    monkeypatch.setattr(scratches, "SECONDS_TO_HOLD", -1)
    mine = scratch()
    remove_left()
    assert (mine / HELD).exists()


def test_folders_of_others_stay(folder, monkeypatch):
    monkeypatch.setattr(scratches, "SECONDS_TO_HOLD", -1)
    (folder / "butfor-else").mkdir()
    (folder / f"{PREFIX}x").mkdir()
    remove_left()
    assert os.listdir(folder) == ["butfor-else"]
