import numpy as np

from butfor import Explainer
from butfor.searches import swaps


def test_equally_small_sets_that_flip_strongest_first():
    explainer = Explainer(lambda X: X @ np.array([4.0, 3.0, 2.0, 1.0, -1.0]), threshold=5)
    local = explainer.local_model(np.ones(5))  # nine together
    assert set(swaps(local, (0, 1), 10)[0]) == {0, 2}
    for removed in swaps(local, (0, 1), 10):
        assert len(set(removed) & {0, 1}) == 1
        assert len(removed) == 2
        sets = np.zeros((1, 5), dtype=bool)
        sets[0, list(removed)] = True
        assert local.flips(local.scores(sets))[0]
    assert {frozenset(each) for each in swaps(local, (0, 1), 10)} == {
        frozenset(each) for each in ((0, 2), (0, 3), (1, 2))
    }
    assert len(swaps(local, (0, 1), 2)) == 2


def test_what_costs_more_is_no_swap():
    explainer = Explainer(lambda X: X.sum(axis=1), threshold=4, costs=[1, 1, 2, 1])
    local = explainer.local_model(np.ones(4))
    assert swaps(local, (0,), 10) == [(1,), (3,)]
