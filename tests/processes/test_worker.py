"""A second process, and what is left when it dies."""

import os
import signal
import subprocess
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path

import pytest

from butfor import InputError
from butfor._processes import template
from butfor._processes import worker as workers
from butfor._processes.worker import Stopped, Worker, WorkerLost, added


@pytest.fixture(scope="module", params=["forked", "started anew"])
def worker(request):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(template, "IS_POSSIBLE", template.IS_POSSIBLE and request.param == "forked")
        with Worker() as worker:
            yield worker


def what_happens(kind, *details, note):
    """Do in the worker what a model may do; its first note says that it has begun."""
    note("begun")
    if kind == "raise":
        raise InputError("rows must be rows")
    if kind == "raise something odd":
        raise _OddError(1, 2)
    if kind == "print":
        print("words of a model")  # noqa: T201
        os.write(1, b"and of its C code")
    if kind == "kill":
        os.kill(os.getpid(), signal.SIGKILL)
    if kind == "exit":
        os._exit(3)
    if kind == "leave":
        sys.exit(4)
    if kind == "interrupt":
        raise KeyboardInterrupt
    if kind == "hang":
        time.sleep(60)
    if kind == "notes":
        for i in range(*details):
            time.sleep(0.01)
            note(i)
    if kind == "work":
        while True:
            sum(range(1000))
    if kind == "deaf":
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGUSR1})
        details[0].touch()
        time.sleep(60)
    if kind == "threads":
        return os.environ["OMP_NUM_THREADS"]
    return "done"


class _OddError(Exception):
    def __init__(self, a, b):
        super().__init__(f"{a} and {b}")


def test_it_answers(worker):
    assert worker.call(added, 2, 3) == 5
    assert worker.call(what_happens, "threads") == "1"


def test_what_is_raised_there_is_raised_here(worker):
    with pytest.raises(InputError, match="rows must be rows"):
        worker.call(what_happens, "raise")
    with pytest.raises(Exception, match="_OddError: 1 and 2"):
        worker.call(what_happens, "raise something odd")
    assert worker.call(added, 2, 3) == 5


def test_what_a_model_prints_does_no_harm(worker):
    assert worker.call(what_happens, "print") == "done"


def test_notes_come_as_they_are_made_and_keep_it_alive(worker, monkeypatch):
    worker.call(added, 1, 1)
    notes, waits = [], []
    wait = worker._next
    monkeypatch.setattr(worker, "_next", lambda patience: waits.append(patience) or wait(patience))
    assert worker.call(what_happens, "notes", 3, patience=50.0, note=notes.append) == "done"
    assert notes == ["begun", 0, 1, 2]
    assert waits == [50.0] * 5  # after every note the whole patience is there again


@pytest.mark.parametrize(
    ("kind", "reason"),
    [
        ("kill", "was killed by SIGKILL"),
        ("exit", "ended with exit code 3"),
        ("leave", "ended with exit code 4"),
        ("interrupt", "ended with exit code 1"),
        ("hang", "said nothing for 0.2 seconds and was stopped"),
    ],
)
def test_a_lost_worker_says_how_and_the_next_call_has_a_new_one(worker, kind, reason):
    worker.call(added, 1, 1)
    before = worker.pid
    with pytest.raises(WorkerLost, match=reason):
        worker.call(what_happens, kind, patience=0.2 if kind == "hang" else 60)
    assert worker.pid is None
    assert worker.call(added, 1, 1) == 2
    assert worker.pid != before


def test_what_stands_in_the_working_folder_is_not_imported(tmp_path, monkeypatch):
    (tmp_path / "json.py").write_text("raise SystemError('another json')")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path, tmp_path])  # no string, which Python passes over
    with Worker() as worker:
        assert worker.call(added, 2, 3) == 5


def test_it_ends_with_the_one_who_asked():
    script = (
        "import time; from butfor._processes.worker import Worker, added\n"
        "worker = Worker(); worker.call(added, 1, 1); print(worker.pid, flush=True); time.sleep(60)"
    )
    asking = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True)
    with asking:
        pid = int(asking.stdout.readline())
        asking.kill()
    for _ in range(100):
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return
        if Path(f"/proc/{pid}/stat").is_file() and " Z " in Path(f"/proc/{pid}/stat").read_text():
            return  # dead, and not yet buried by whoever inherited it
        time.sleep(0.1)
    pytest.fail(f"process {pid} goes on without anybody to ask it")


def in_another_thread(function):
    """Return a note that calls a function at the first note, in another thread."""
    calls = []

    def note(_):
        if not calls:
            calls.append(threading.Thread(target=function))
            calls[0].start()

    return note


@pytest.mark.parametrize("kind", ["hang", "notes", "work"])
def test_a_call_can_be_stopped_and_the_process_lives_on(worker, kind):
    worker.call(added, 1, 1)
    pid = worker.pid
    with pytest.raises(Stopped):
        worker.call(what_happens, kind, 0, 60_000, note=in_another_thread(worker.stop))
    assert (worker.call(added, 2, 3), worker.pid) == (5, pid)


def test_a_call_that_does_not_hear_is_ended_with_its_process(worker, monkeypatch, tmp_path):
    def stop_once_deaf():
        while not (tmp_path / "deaf").exists():
            time.sleep(0.01)
        worker.stop()

    monkeypatch.setattr(workers, "SECONDS_TO_STOP", 0.2)
    worker.call(added, 1, 1)
    pid = worker.pid
    with pytest.raises(Stopped, match="its process"):
        worker.call(what_happens, "deaf", tmp_path / "deaf", note=in_another_thread(stop_once_deaf))
    assert worker.call(added, 2, 3) == 5
    assert worker.pid != pid


def test_a_worker_that_is_closed_in_the_middle_of_a_call_stays_closed():
    worker = Worker()
    with pytest.raises(Stopped, match="closed"):
        worker.call(what_happens, "hang", note=in_another_thread(worker.close))
    assert worker.pid is None
    with pytest.raises(Stopped, match="closed"):
        worker.call(added, 2, 3)
    assert worker.pid is None


def test_a_worker_that_is_closed_while_it_starts_leaves_no_process(monkeypatch):
    started = []
    start = workers.new_process
    monkeypatch.setattr(workers, "new_process", lambda: started.append(start()) or started[-1])
    for _ in range(20):
        worker = Worker()
        closing = threading.Thread(target=worker.close)
        closing.start()
        with pytest.raises(Stopped, match="closed"):
            worker.call(what_happens, "hang")
        closing.join()
    assert all(process.poll() is not None for process in started)


def test_a_stop_that_comes_late_stops_nothing_else(worker):
    worker.stop()
    for i in range(200):
        timer = threading.Thread(target=worker.stop)
        timer.start()
        with suppress(Stopped):
            assert worker.call(added, i, 1) == i + 1
        timer.join()
    assert [worker.call(added, i, i) for i in range(20)] == list(range(0, 40, 2))
