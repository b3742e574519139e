"""The rule of the harness, step by step, with a worker whose fate is written down."""

import threading
import time

import pytest

from butfor import InputError, ModelError
from butfor._processes import harness as harnesses
from butfor._processes.harness import TRIES, TRIES_TO_LOAD, Harness, NotLoaded, failure
from butfor._processes.worker import Stopped, WorkerLost

DIES, HANGS, STARVES, FAILS, WORKS = "dies", "hangs", "starves", "fails", "works"


class ScriptedWorker:
    """Makes calls in this process; at each it does what its script says next, and works after that."""

    def __init__(self):
        self.script = []
        self.calls = []
        self.pid = None
        self.n_started = 0

    def call(self, function, *arguments, patience, note=None, unless=None):
        if self.pid is None:
            self.n_started += 1
            self.pid = self.n_started
        self.calls.append(function(*arguments, note=None))
        fate = self.script.pop(0) if self.script else WORKS
        if fate in (DIES, HANGS):
            self.pid = None
            raise WorkerLost("was killed" if fate == DIES else "said nothing", silent=fate == HANGS)
        if fate == FAILS:
            raise InputError("no such thing")
        if fate == STARVES:
            raise MemoryError("no memory")
        if fate is Stopped:
            raise Stopped
        return self.calls[-1]

    def end(self):
        self.pid = None


@pytest.fixture
def harness(monkeypatch):
    monkeypatch.setattr(harnesses, "Worker", ScriptedWorker)
    return Harness(loaded, "model", patience=1.0)


def loaded(name, note):
    return f"load {name}"


def explained(rows, note):
    return rows


class Letters:
    """Rows that are letters."""

    def __init__(self, letters):
        self.letters = letters

    def call(self):
        return explained, self.letters

    def one_by_one(self):
        return map(Letters, self.letters)

    def lost(self, error):
        return f"lost: {error}"


def told(harness, *script):
    """Return the results of a block of two rows where the worker is loaded, and the calls they took."""
    harness.load()
    harness._worker.script[:] = script
    harness._worker.calls.clear()
    results = [(rows.letters, result) for rows, result in harness.results(Letters("ab"))]
    return results, harness._worker.calls


LOAD, BLOCK = "load model", "ab"


@pytest.mark.parametrize(
    ("script", "results", "calls"),
    [
        pytest.param([], ["ab"], [BLOCK], id="nothing happens"),
        pytest.param([DIES], ["ab"], [BLOCK, LOAD, BLOCK], id="killed once"),
        pytest.param(
            [DIES, WORKS, DIES],
            ["a", "b"],
            [BLOCK, LOAD, BLOCK, LOAD, "a", "b"],
            id="dies of all rows",
        ),
        pytest.param([HANGS], ["a", "b"], [BLOCK, LOAD, "a", "b"], id="hangs over all rows"),
        pytest.param([STARVES], ["ab"], [BLOCK, LOAD, BLOCK], id="no memory once"),
        pytest.param(
            [STARVES, WORKS, STARVES, WORKS, STARVES, WORKS, STARVES],
            ["lost: no memory", "b"],
            [BLOCK, LOAD, BLOCK, LOAD, "a", LOAD, "a", LOAD, "b"],
            id="no memory for a row",
        ),
        pytest.param([FAILS], ["a", "b"], [BLOCK, "a", "b"], id="raises"),
        pytest.param([FAILS, DIES], ["a", "b"], [BLOCK, "a", LOAD, "a", "b"], id="killed at a row"),
        pytest.param(
            [FAILS, DIES, WORKS, DIES],
            ["lost: was killed", "b"],
            [BLOCK, "a", LOAD, "a", LOAD, "b"],
            id="dies of a row",
        ),
        pytest.param(
            [FAILS, HANGS], ["lost: said nothing", "b"], [BLOCK, "a", LOAD, "b"], id="hangs over a row"
        ),
        pytest.param([FAILS, FAILS], ["lost: no such thing", "b"], [BLOCK, "a", "b"], id="raises for a row"),
        pytest.param(
            [FAILS, WORKS, HANGS],
            ["a", "lost: said nothing"],
            [BLOCK, "a", "b"],
            id="hangs at the end",
        ),
        pytest.param(
            [DIES, DIES, DIES, WORKS], ["ab"], [BLOCK, LOAD, LOAD, LOAD, BLOCK], id="killed while it loads"
        ),
    ],
)
def test_what_becomes_of_a_block(harness, script, results, calls):
    found, made = told(harness, *script)
    assert [result for _, result in found] == results
    assert made == calls
    assert "".join(letters for letters, _ in found) == "ab"


@pytest.mark.parametrize(("fate", "n_tries"), [(DIES, TRIES_TO_LOAD), (HANGS, 1)])
def test_where_nothing_can_be_loaded_all_rows_are_lost_at_once(harness, fate, n_tries):
    found, calls = told(harness, DIES, *[fate] * n_tries)
    assert calls == [BLOCK, *[LOAD] * n_tries]
    reason = f"{'was killed' if fate == DIES else 'said nothing'} before it came to any row"
    assert found == [("a", f"lost: {reason}"), ("b", f"lost: {reason}")]
    found, _ = told(harness)  # but the next block is tried again
    assert found == [("ab", "ab")]


def test_rows_that_were_explained_before_nothing_could_be_loaded_are_not_lost(harness):
    found, _ = told(harness, FAILS, WORKS, DIES, *[DIES] * TRIES_TO_LOAD)
    assert found == [("a", "a"), ("b", "lost: was killed before it came to any row")]


def test_what_loading_raises_is_raised(harness):
    harness._worker.script[:] = [FAILS]
    with pytest.raises(InputError, match="no such thing"):
        list(harness.results(Letters("ab")))
    harness._worker.script[:] = [DIES] * TRIES_TO_LOAD
    with pytest.raises(NotLoaded, match="was killed before it came to any row"):
        harness.load()


@pytest.mark.parametrize("script", [[Stopped], [FAILS, Stopped], [DIES, Stopped]])
def test_what_is_stopped_is_not_tried_again(harness, script):
    with pytest.raises(Stopped):
        told(harness, *script)
    assert harness._worker.script == []


def test_a_row_that_is_lost_costs_so_many_processes(harness):
    told(harness, *[DIES, WORKS] * (2 * TRIES))
    assert harness._worker.n_started == 1 + 2 * TRIES


def test_failures():
    assert failure(known := InputError("row must be finite.")) is known
    assert isinstance(failure(NotLoaded("was killed")), ModelError)


def slow_to_load(flag, note):
    if not flag.exists():
        flag.touch()
        time.sleep(600)
    return flag.write_text("loaded")


def content(flag, note):
    return flag.read_text()


def test_a_process_that_was_stopped_while_it_loaded_loads_before_the_next_call(tmp_path):
    harness = Harness(slow_to_load, tmp_path / "flag")
    stopping = threading.Thread(target=stop_once, args=(harness, tmp_path / "flag"))
    stopping.start()
    with pytest.raises(Stopped):
        harness.load()
    stopping.join()
    pid = harness.pid
    assert harness.call(content, tmp_path / "flag", patience=60) == "loaded"
    assert harness.pid == pid is not None
    harness.close()
    assert harness.pid is None
    with pytest.raises(Stopped):
        harness.load()


def stop_once(harness, flag):
    while not flag.exists():
        time.sleep(0.01)
    harness.stop()
