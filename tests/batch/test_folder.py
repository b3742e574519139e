import errno
import os
import subprocess
import sys
from pathlib import Path

import pytest

from butfor import InputError
from butfor.batch.folder import UNFINISHED, Folder


def test_files_appear_whole_under_their_name(tmp_path, monkeypatch):
    seen = []
    replace = os.replace

    def watched(source, target):
        seen.append((os.listdir(tmp_path), Path(source).read_bytes()))
        replace(source, target)

    monkeypatch.setattr(os, "replace", watched)
    Folder(str(tmp_path)).write("a", b"whole")
    (((name,), content),) = seen
    assert name.startswith(UNFINISHED)
    assert content == b"whole"
    assert os.listdir(tmp_path) == ["a"]


def test_a_full_disk_leaves_nothing_behind(tmp_path, monkeypatch):
    def full(descriptor):
        raise OSError(errno.ENOSPC, "No space left on device")

    folder = Folder(str(tmp_path))
    folder.write("a", b"old")
    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left"):
        folder.write("a", b"new")
    assert os.listdir(tmp_path) == ["a"]
    assert folder.read("a") == b"old"


@pytest.mark.parametrize("address", ["memory://butfor-folder", "file://{tmp_path}/new"])
def test_any_address_that_fsspec_knows(address, tmp_path):
    folder = Folder(address.format(tmp_path=tmp_path))
    assert folder.names() == []
    folder.make()
    folder.write("a", b"first")
    folder.write("a", b"second")
    folder.write(f"{UNFINISHED}x", b"")
    folder.remove_all(UNFINISHED)
    assert (folder.names(), folder.read("a")) == (["a"], b"second")
    with folder.opened("a") as file:
        file.seek(3)
        assert file.read() == b"ond"


def test_a_lock_keeps_others_out_and_goes_with_its_process(tmp_path):
    code = (
        "import sys, time; from butfor.batch.folder import Folder\n"
        "with Folder(sys.argv[1]).locked(): print('locked', flush=True); time.sleep(60)"
    )
    folder = Folder(str(tmp_path))
    with subprocess.Popen([sys.executable, "-c", code, str(tmp_path)], stdout=subprocess.PIPE) as process:
        assert process.stdout.readline() == b"locked\n"
        with pytest.raises(InputError, match="out must not be in use by another run, got"), folder.locked():
            pass
        process.kill()
    with folder.locked():
        pass


def test_what_cannot_be_written_to(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="out must be a folder that can be written to, got"):
        Folder(str(tmp_path / "file" / "out")).make()
    with pytest.raises(InputError, match="out must be a folder or an address that fsspec knows"):
        Folder("nowhere://x").make()
