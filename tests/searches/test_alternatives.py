"""All irreducible explanations, against brute force."""

from itertools import combinations

import numpy as np
import pytest
from handmade import logistic_regression, mlp
from hypothesis import given
from hypothesis import strategies as st
from profiles import n_examples
from toys import TOYS, set_function

from butfor import Explainer, InputError
from butfor.verify import is_counterfactual


def irreducible(model, row, threshold, max_size):
    """Try all sets, smallest first, and keep those that contain none of the others."""
    active = np.flatnonzero(row)
    found = []
    for size in range(1, min(max_size, len(active)) + 1):
        for columns in combinations(map(int, active), size):
            smaller = any(set(other) <= set(columns) for other in found)
            if not smaller and is_counterfactual(model, row, columns, threshold=threshold):
                found.append(columns)
    return found


def judge(model, row, threshold, max_size=30):
    alternatives = Explainer(model, threshold=threshold).alternatives(row, max_size=max_size)
    given_sets = [tuple(sorted(why.columns)) for why in alternatives]
    expected = irreducible(model, row, threshold, max_size)
    assert sorted(given_sets) == sorted(expected)
    assert [len(each) for each in given_sets] == sorted(len(each) for each in expected)
    assert (alternatives.complete_up_to, alternatives.reason) == (max_size, "")


@pytest.mark.parametrize("toy", TOYS, ids=lambda toy: toy.name)
def test_toys(toy):
    judge(toy.score, toy.row, toy.threshold)
    judge(toy.score, toy.row, toy.threshold, max_size=2)


@n_examples(40)
@given(
    table=st.integers(1, 5).flatmap(lambda m: st.lists(st.integers(0, 3), min_size=2**m, max_size=2**m)),
    threshold=st.sampled_from([1.0, 2.0, 2.5]),
)
def test_any_set_function(table, threshold):
    row = np.ones(int(np.log2(len(table))))
    judge(set_function(np.array(table, dtype=float)), row, threshold)


@n_examples(60)
@given(seed=st.integers(0, 10_000), m=st.integers(1, 8), linear=st.booleans())
def test_models_with_bounds(seed, m, linear):
    rng = np.random.default_rng(seed)
    if linear:
        model = logistic_regression(rng.choice([1.0, 2.0, -1.0, 0.5], m), rng.choice([-1.0, 0.25]))
    else:
        model = mlp(
            (rng.normal(size=(m, 3)), rng.normal(size=3)), (rng.normal(size=(3, 1)), [0.1]), activation="tanh"
        )
    judge(model, rng.choice([1.0, 2.0], m), float(rng.choice([0.5, 0.3, 0.7])))


def test_they_come_one_after_the_other_with_what_is_proven():
    alternatives = Explainer(logistic_regression([3.0, 2.0, 2.0, 1.0, 1.0], -5.0)).alternatives(np.ones(5))
    first = next(alternatives)
    assert first.search == "alternatives"
    assert first.proven_minimum
    rest = list(alternatives)
    assert all(why.lower_bound == first.size for why in rest)
    assert any(why.size > first.size and not why.proven_minimum for why in rest)
    assert all(why.score_without <= 0.5 for why in rest)  # predict is positive above 0.5


def test_limits():
    explainer = Explainer(logistic_regression(np.ones(12), -8.5))
    assert len(list(explainer.alternatives(np.ones(12), limit=7))) == 7
    none = explainer.alternatives(np.ones(12), max_size=3)
    assert (list(none), none.complete_up_to) == ([], 3)
    for bad in ({"limit": 0}, {"max_size": 0}, {"max_seconds": -1}):
        with pytest.raises(InputError, match=f"{next(iter(bad))} must be"):
            explainer.alternatives(np.ones(12), **bad)


def test_time(clock):
    def score(X):
        clock.seconds += 1
        return X.sum(axis=1)

    alternatives = Explainer(score, threshold=9.5).alternatives(np.ones(12), max_seconds=3.5)
    assert [why.size for why in alternatives] == []
    assert alternatives.complete_up_to == 1  # 66 pairs would take more than is left
    assert alternatives.reason == "max_seconds=3.5 reached"


def test_a_row_of_hundreds_of_features_has_all_of_its_smallest_ones():
    rng = np.random.default_rng(0)
    weights = rng.normal(size=300)
    model = logistic_regression(weights, 6.5 - weights.sum())
    first = Explainer(model).explain(np.ones(300))
    alternatives = Explainer(model).alternatives(np.ones(300), max_size=first.size)
    columns = [frozenset(why.columns) for why in alternatives]
    lost = weights[:, None, None] + weights[:, None] + weights if first.size == 3 else None
    assert first.size == 3
    i, j, k = np.nonzero(lost > 6.5)
    assert set(columns) == {frozenset(each) for each in zip(i, j, k, strict=True) if len(set(each)) == 3}
