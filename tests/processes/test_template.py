"""The process from which workers are forked: they are as if they had been started anew, only sooner."""

import os
import random
import signal
import socket
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import numpy as np
import pytest

from butfor._processes import template
from butfor._processes.environment import ONE_THREAD
from butfor._processes.template import (
    ForkedProcess,
    NotForked,
    begin_imports,
    end_template,
    end_when_idle,
    forked,
)
from butfor._processes.worker import Worker, WorkerLost, added

pytestmark = pytest.mark.skipif(not template.IS_POSSIBLE, reason="workers are forked on Linux alone")


@pytest.fixture(autouse=True)
def own_template(monkeypatch):
    """Start a template that imports next to nothing; that of other tests stays as it is."""
    monkeypatch.setattr(template, "_template", None)
    monkeypatch.setattr(template, "PACKAGES", set())
    yield
    end_template()


def about_itself(*names, note):
    return {
        "modules": [name in sys.modules for name in names],
        "folder": os.getcwd(),
        "environment": dict(os.environ),
        "path": sys.path,
        "random": (random.random(), np.random.random()),  # noqa: NPY002
        "handles": sorted(os.listdir("/proc/self/fd")),
        "sigchld": signal.getsignal(signal.SIGCHLD),
    }


def complain(note):
    print("words of a model")  # noqa: T201
    print("and its complaints", file=sys.stderr)  # noqa: T201


def end_the_way(how, note):
    os.kill(os.getpid(), how)


def test_a_worker_has_what_its_parent_has_at_that_time(tmp_path, monkeypatch):
    begin_imports("wave")
    with Worker() as before:
        before.call(added, 1, 1)
        monkeypatch.chdir(tmp_path)
        monkeypatch.setenv("BUTFOR_TESTED", "yes \udcff")
        monkeypatch.syspath_prepend(str(tmp_path))
        with Worker() as worker:
            found = worker.call(about_itself, "wave")
    assert found["folder"] == str(tmp_path)
    assert found["environment"] == {**os.environ, **dict.fromkeys(ONE_THREAD, "1")}
    assert found["environment"]["BUTFOR_TESTED"] == "yes \udcff"
    assert "JE_ARROW_MALLOC_CONF" not in found["environment"]
    assert found["path"][0] == str(tmp_path)
    assert found["modules"] == [True]
    assert found["sigchld"] == signal.SIG_DFL


def test_workers_share_no_random_numbers_and_no_handles():
    begin_imports("numpy.random")
    with Worker() as first, Worker() as second:
        one, other = first.call(about_itself), second.call(about_itself)
    assert one["random"][0] != other["random"][0]
    assert one["random"][1] != other["random"][1]
    assert len(one["handles"]) == len(other["handles"]) == 5  # three, that of the answers, and the listing


def test_modules_are_imported_once_for_all(tmp_path, monkeypatch):
    (tmp_path / "counted.py").write_text(f"open({str(tmp_path / 'imports')!r}, 'a').write('.')")
    monkeypatch.syspath_prepend(str(tmp_path))
    begin_imports("counted", "there_is_no_such_module")
    with Worker() as first, Worker() as second:
        assert [each.call(about_itself, "counted")["modules"] for each in (first, second)] == [[True]] * 2
    assert (tmp_path / "imports").read_text() == "."


def test_messages_go_where_those_of_the_parent_go(capfd):
    with Worker() as worker:
        worker.call(complain)
    assert capfd.readouterr() == ("", "words of a model\nand its complaints\n")


@pytest.mark.parametrize("how", [signal.SIGSEGV, signal.SIGKILL, signal.SIGTERM])
def test_the_template_tells_how_a_worker_ended(how):
    with Worker() as worker, pytest.raises(WorkerLost, match=f"was killed by {how.name}"):
        worker.call(end_the_way, how)


def test_a_template_that_is_killed_takes_its_workers_along_and_the_next_call_has_others():
    with Worker() as worker:
        worker.call(added, 1, 1)
        process = worker._process
        template._template._process.kill()
        template._template._process.wait()
        assert process.wait() == -signal.SIGKILL
        assert worker.pid is None
        assert worker.call(added, 2, 3) == 5
        assert isinstance(worker._process, ForkedProcess)


def test_a_template_with_a_thread_forks_nothing(tmp_path, monkeypatch):
    (tmp_path / "threading_module.py").write_text(
        "import threading, time; threading.Thread(target=time.sleep, args=(60,), daemon=True).start()"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    begin_imports("threading_module")
    with pytest.raises(NotForked):
        forked()
    with Worker() as worker:
        assert worker.call(added, 2, 3) == 5
        assert isinstance(worker._process, subprocess.Popen)


def test_a_process_that_was_forked_by_the_user_has_a_template_of_its_own(monkeypatch):
    with Worker() as worker:
        worker.call(added, 1, 1)
        first = template._template
        monkeypatch.setattr(first, "_owner", os.getpid() + 1)
        with Worker() as another:
            assert another.call(added, 2, 3) == 5
        assert template._template is not first
        assert first._process.wait(10) == 0  # nobody can ask it any more


def test_it_ends_with_its_last_worker_where_that_is_wanted():
    with Worker() as worker:
        worker.call(added, 1, 1)
        process = template._template._process
        end_when_idle()
        assert worker.call(added, 2, 3) == 5
        assert process.poll() is None
    assert process.wait(10) == 0
    end_when_idle()  # there is none


def test_it_leaves_no_zombie_where_nobody_asks_for_it_again():
    with Worker() as worker:
        worker.call(added, 1, 1)
        process = Path(f"/proc/{template._template._process.pid}")
        end_when_idle()
        end_when_idle()
        assert process.exists()
    until = time.monotonic() + 10
    while process.exists() and time.monotonic() < until:
        time.sleep(0.01)
    assert not process.exists()


def test_it_ends_when_nobody_needs_it():
    script = """
        import sys
        from butfor._processes import template_process
        template_process.IDLE_SECONDS = 0.05
        template_process.fork_workers(int(sys.argv[1]))
    """
    ours, theirs = socket.socketpair()
    with ours, theirs:
        command = [sys.executable, "-c", textwrap.dedent(script), str(theirs.fileno())]
        assert subprocess.run(command, pass_fds=[theirs.fileno()], timeout=60, check=False).returncode == 0
