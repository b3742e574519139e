from itertools import combinations, islice

import numpy as np
from toys import constant

from butfor import Budget, Explainer
from butfor.searches.shared.enumeration import MAX_CELLS, all_sets


def test_all_sets_are_streamed_once_each():
    for m, k in [(5, 1), (5, 3), (5, 5), (7, 2)]:
        sets = [tuple(np.flatnonzero(each)) for batch in all_sets(m, k) for each in batch]
        assert sets == list(combinations(range(m), k))


def test_batches_have_bounded_memory():
    for batch in islice(all_sets(151, 5), 3):
        assert batch.size <= MAX_CELLS
        assert (batch.sum(axis=1) == 5).all()


def test_the_strongest_flip_of_the_first_size_wins():
    def score(X):
        return X @ np.array([1.0, 1.2, 1.4, 0.1])

    why = Explainer(score, threshold=1.5, search="complete").explain(np.ones(4))
    assert why.columns == (1, 2)
    assert why.proven_minimum


def test_at_the_time_limit_it_says_what_is_proven(clock):
    def score(X):
        clock.seconds += 0 if X.shape[0] < 100 else 3  # the batch of pairs, then triples, takes its time
        return constant(X)

    explainer = Explainer(score, threshold=0.5, search="complete", budget=Budget(max_seconds=5))
    why = explainer.explain(np.ones(20))
    assert why.status == "budget"
    assert why.reason == "max_seconds=5 reached"
    assert why.lower_bound == 3  # the triples were begun in time, but not finished
    assert 20 + 190 < why.n_scored < 20 + 190 + 1_140


def test_a_size_limit_is_a_proof():
    why = Explainer(constant, threshold=0.5, search="complete", budget=Budget(max_size=2)).explain(
        np.ones(20)
    )
    assert (why.status, why.lower_bound, why.n_scored) == ("none", 3, 20 + 190)
