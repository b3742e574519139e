"""Limits of the memory of workers, and when they are replaced."""

import os
import sys

import pytest

from butfor._processes.worker import Worker
from butfor._web import upkeep
from butfor._web.upkeep import MIB, Upkeep, own_memory
from butfor.errors import InputError

on_linux = pytest.mark.skipif(not upkeep.STATUS.exists(), reason="there is no /proc")


def test_a_worker_is_due_by_calls_or_by_memory(monkeypatch):
    assert Upkeep().due(os.getpid(), 10**9) is None
    assert Upkeep(max_calls=3).due(os.getpid(), 2) is None
    assert Upkeep(max_calls=3).due(os.getpid(), 3) == "calls"
    monkeypatch.setattr(upkeep, "STATUS", upkeep.Path(__file__))
    monkeypatch.setattr(upkeep, "own_memory", lambda pid: 80 * MIB)
    assert Upkeep(max_memory=101).due(1, 0) is None
    assert Upkeep(max_memory=100).due(1, 0) == "memory"


def limited(mib, note):
    """Limit this process to so many MiB more than it has; return whether it can have as many."""
    Upkeep(max_memory=5 * (own_memory() // MIB + mib)).limit_memory()
    before = own_memory()
    kept = bytearray(b"x") * (mib * MIB)
    assert own_memory() - before >= len(kept) * 0.9
    try:
        bytearray(b"x") * (6 * (own_memory() + mib * MIB))
    except MemoryError:
        return "out of memory"
    return "fine"


@on_linux
def test_a_process_gets_no_more_memory_than_it_may_have():
    with Worker() as worker:
        assert worker.call(limited, 20) == "out of memory"
        pid = worker.pid
        with pytest.raises(upkeep.TooLittleMemoryError, match="--worker-memory must be more than"):
            worker.call(limit, Upkeep(max_memory=1))
        assert worker.pid == pid
    assert own_memory(pid) == 0


def limit(rule, note):
    rule.limit_memory()


@pytest.mark.parametrize(
    ("name", "option"), [("max_calls", "--worker-calls"), ("max_memory", "--worker-memory")]
)
def test_what_is_wrong_is_said(name, option, monkeypatch):
    with pytest.raises(InputError, match=f"{option} must be a whole number of at least 1, got 0"):
        Upkeep(**{name: 0})
    monkeypatch.setattr(upkeep, "STATUS", upkeep.Path("/nowhere"))
    if name == "max_memory":
        with pytest.raises(InputError, match="--worker-memory must be left out on this system"):
            Upkeep(max_memory=100)


def test_nothing_is_limited_by_default(monkeypatch):
    monkeypatch.setitem(sys.modules, "resource", None)
    Upkeep().limit_memory()
