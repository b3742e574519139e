import math

import pytest

from butfor import Budget, InputError


def test_the_paper_s_limits_are_the_default():
    assert Budget() == Budget(max_size=30, max_seconds=120)


@pytest.mark.parametrize("max_size", [0, -3, 1.5, "30", None, True, math.nan])
def test_nonsense_sizes(max_size):
    with pytest.raises(InputError, match="max_size must be a whole number of at least 1, got"):
        Budget(max_size=max_size)


@pytest.mark.parametrize("max_seconds", [0, -1, math.nan, "2", None, False])
def test_nonsense_times(max_seconds):
    with pytest.raises(InputError, match="max_seconds must be a positive number of seconds, got"):
        Budget(max_seconds=max_seconds)


def test_no_time_limit():
    assert Budget(max_seconds=math.inf).max_seconds == math.inf
