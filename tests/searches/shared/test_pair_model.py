from itertools import combinations

import numpy as np
import pytest

from butfor.searches.shared.pair_model import (
    BEND,
    COMMON,
    DOUBT,
    LEAST_DROP,
    PAIRS,
    PRIOR_WEIGHT,
    ROUGHNESS,
    PairModel,
    as_matrix,
)

M, SIZE = 6, 3


class Judge:
    """Bayesian linear regression with columns for units, pairs, their sum and its square: the same belief."""

    def __init__(self, alone, sets, drops):
        largest = np.abs(alone).max()
        squares = (np.abs(alone) + LEAST_DROP * largest) ** 2
        scale = PAIRS**2 / np.sort(squares)[::-1][:SIZE].sum()
        pairs = [scale * squares[i] * squares[j] for i, j in combinations(range(M), 2)]
        self.helps = np.maximum(alone, 0)
        reach = np.sort(self.helps)[::-1][:SIZE].sum()
        prior = np.diag([*(DOUBT**2 * squares), *pairs, COMMON**2, (BEND / reach) ** 2])
        noise = (ROUGHNESS * largest) ** 2
        columns = self.columns(sets)
        among = columns @ prior @ columns.T + noise * np.eye(len(sets))
        surprise = drops - sets @ alone
        gain = prior @ columns.T @ np.linalg.inv(among)
        self.mean = np.concatenate([alone, np.zeros(len(pairs) + 2)]) + gain @ surprise
        right = (PRIOR_WEIGHT + surprise @ np.linalg.inv(among) @ surprise) / (PRIOR_WEIGHT + len(drops))
        self.covariance = right * (prior - gain @ columns @ prior)
        self.noise = right * noise

    def columns(self, sets):
        both = [sets[:, i] * sets[:, j] for i, j in combinations(range(M), 2)]
        sums = sets @ self.helps
        return np.column_stack([sets, *both, sums, sums**2])


@pytest.mark.parametrize("seed", range(5))
def test_the_belief_is_that_of_a_regression_on_units_and_pairs(seed):
    rng = np.random.default_rng(seed)
    alone = rng.normal(size=M)
    known = (rng.random((7, M)) < 0.5).astype(float)
    drops = known @ alone + rng.normal(size=7)
    model, judge = PairModel(alone, known, drops, SIZE), Judge(alone, known, drops)
    asked = (rng.random((9, M)) < 0.5).astype(float)
    columns = judge.columns(asked)
    means, deviations = model.predict(asked)
    np.testing.assert_allclose(means, columns @ judge.mean)
    expected = (columns @ judge.covariance * columns).sum(axis=1) + judge.noise
    np.testing.assert_allclose(deviations**2, expected, rtol=1e-6)
    near = (rng.random(M) < 0.5).astype(float)
    added = judge.columns(np.maximum(near, np.eye(M))) - judge.columns(np.minimum(near, 1 - np.eye(M)))
    mean, variances = model.marginals(near)
    np.testing.assert_allclose(mean, added @ judge.mean)
    expected = added @ judge.covariance @ added.T
    np.testing.assert_allclose(variances, expected.diagonal(), atol=1e-10)
    some = np.array([0, 2, 5])
    np.testing.assert_allclose(model.covariance(near, some), expected[np.ix_(some, some)], atol=1e-10)


def test_without_any_known_set_units_are_as_they_are_alone():
    alone = np.array([1.0, 0.5, -0.25])
    model = PairModel(alone, np.zeros((0, 3)), np.zeros(0), 2)
    means, _ = model.predict(np.array([[1.0, 0.0, 1.0]]))
    np.testing.assert_allclose(means, [0.75])
    near = np.array([1.0, 1.0, 0.0])
    mean, variances = model.marginals(near)
    np.testing.assert_allclose(mean, alone)
    covariance = model.covariance(near, np.arange(3))
    np.testing.assert_allclose(variances, covariance.diagonal())
    assert (np.linalg.eigvalsh(covariance) > 0).all()


def test_sets_as_a_matrix():
    units = np.array([2, 5, 9])
    np.testing.assert_array_equal(as_matrix([(5,), (9, 2), ()], units), [[0, 1, 0], [1, 0, 1], [0, 0, 0]])
