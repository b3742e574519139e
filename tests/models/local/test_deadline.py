"""One deadline for all local models of a row."""

import math

import pytest

from butfor.models import Deadline, OutOfTime


def test_a_deadline_passes(clock):
    deadline = Deadline(2.0)
    deadline.check()
    assert deadline.seconds_left == 2.0
    clock.seconds = 2.5
    assert deadline.seconds_left == -0.5
    with pytest.raises(OutOfTime):
        deadline.check()


def test_it_is_brought_forward_and_put_back_whatever_happens(clock):
    deadline = Deadline(10.0)
    with deadline.limited_to(3.0):
        assert deadline.seconds_left == 3.0
        with deadline.limited_to(60.0):  # never later
            assert deadline.seconds_left == 3.0
    with pytest.raises(KeyError), deadline.limited_to(3.0):
        raise KeyError
    assert deadline.seconds_left == 10.0


def test_it_is_suspended_for_a_while(clock):
    deadline = Deadline(1.0)
    clock.seconds = 5.0
    with deadline.suspended():
        deadline.check()
        assert deadline.seconds_left == math.inf
    with pytest.raises(OutOfTime):
        deadline.check()
