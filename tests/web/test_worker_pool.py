"""Two lanes, and when one helps the other."""

import pytest

from butfor._web.limits import Limits
from butfor._web.worker_pool import WorkerPool


class Running:
    """A worker whose process runs."""

    pid = 1


@pytest.mark.parametrize("reserve", [0, 1])
def test_a_scoring_goes_to_the_reserve_where_another_client_keeps_its_worker_busy(reserve):
    pool = WorkerPool(jobs=1, limits=Limits(), reserve=reserve)
    first, second, third = Running(), Running(), Running()
    pool.scorings._free[:], pool.searches._free[:] = [first], [second, third]
    assert pool.lane_for_scoring("b") is pool.scorings
    pool.scorings._free.clear()
    pool.scorings._queue._at_work[first] = "a"
    assert pool.lane_for_scoring("a") is pool.scorings  # it waits for itself
    assert pool.lane_for_scoring("b") is (pool.searches if reserve else pool.scorings)
    pool.searches._queue._at_work[second] = "b"
    assert pool.lane_for_scoring("b") is pool.scorings  # it has its share
    pool.searches._free.clear()
    assert pool.lane_for_scoring("c") is pool.scorings
    pool.close()


def test_a_pool_that_was_not_opened_has_no_workers():
    pool = WorkerPool(jobs=3, limits=Limits())
    assert (pool.is_open, pool.n_calls, pool.has_loaded) == (False, 0, True)
    assert pool.health() == {"workers": 0, "busy": 0, "waiting": 0}
    pool.close()
