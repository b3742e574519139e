"""The memory of rows that killed or hung a process."""

import pytest

from butfor._processes.worker import WorkerLost
from butfor._web.bad_rows import BadRows, cause_of
from butfor._web.problems import Problem

HUNG = WorkerLost("said nothing for 20 seconds and was stopped", silent=True)
CRASHED = WorkerLost("was killed by SIGSEGV")
KILLED = WorkerLost("was killed by SIGKILL")


class Clock:
    now = 0.0

    def __call__(self):
        return self.now


@pytest.fixture
def clock():
    return Clock()


def is_refused(rows, row):
    try:
        rows.require_good(row)
    except Problem:
        return True
    return False


@pytest.mark.parametrize(("lost", "status", "cause"), [(HUNG, 504, "hang"), (CRASHED, 502, "SIGSEGV")])
def test_it_is_refused_with_the_earlier_reason_for_some_time(clock, lost, status, cause):
    assert cause_of(lost) == cause
    rows = BadRows(60, clock=clock)
    rows.require_good("a")
    rows.note("a", lost)
    clock.now = 12
    with pytest.raises(Problem) as refused:
        rows.require_good("a")
    assert refused.value.status == status
    assert refused.value.headers == {"Retry-After": "48"}
    assert refused.value.detail == (
        f"this row was asked for 12 seconds ago. Then the process that asked the model {lost}. "
        "Other requests are not affected. It is not tried again for 48 seconds."
    )
    rows.require_good("b")
    rows.require_good(None)
    clock.now = 60
    assert not is_refused(rows, "a")


def test_a_row_is_blamed_for_a_kill_only_the_second_time(clock):
    rows = BadRows(60, clock=clock)
    rows.note("a", KILLED)
    assert not is_refused(rows, "a")
    clock.now = 61
    rows.note("a", KILLED)  # the first time is forgotten
    assert not is_refused(rows, "a")
    rows.note("a", KILLED)
    assert is_refused(rows, "a")


def test_memory_is_bounded_and_the_oldest_goes_first(clock):
    rows = BadRows(60, most=3, clock=clock)
    for row in "abacd":
        rows.note(row, CRASHED)
    assert [row for row in "abcd" if is_refused(rows, row)] == ["a", "c", "d"]


def test_without_any_time_nothing_is_refused(clock):
    rows = BadRows(0, clock=clock)
    rows.note("a", HUNG)
    assert not is_refused(rows, "a")
