from itertools import combinations

import numpy as np
import pytest
from scipy.stats import multivariate_t

from butfor.searches.shared import pair_model
from butfor.searches.shared.pair_model import (
    BEND,
    COMMON,
    CROWD,
    DOUBT,
    LEAST_DROP,
    LOCAL,
    NEARBY,
    PAIRS,
    PRIOR_WEIGHT,
    ROUGHNESSES,
    PairModel,
    as_matrix,
)

M, SIZE, IN_ROW = 6, 3, 9
ALL_SETS = np.array(np.meshgrid(*[[0.0, 1.0]] * M)).reshape(M, -1).T


class Judge:
    """A normal distribution over the drops of all sets, written set by set, given those that are known."""

    def __init__(self, alone, known, drops):
        self.helps = np.maximum(alone, 0)
        self.strength = (np.abs(alone) + LEAST_DROP * np.abs(alone).max()) ** 2
        self.reach = np.sort(self.helps)[::-1][:SIZE].sum()
        prior = np.array([[self.prior(one, other) for other in ALL_SETS] for one in ALL_SETS])
        which = self.positions(known)
        surprise = drops - known @ alone
        noise = max(
            ((roughness * np.abs(alone).max()) ** 2 for roughness in ROUGHNESSES),
            key=lambda each: multivariate_t(
                shape=prior[np.ix_(which, which)] + each * np.eye(len(which)), df=PRIOR_WEIGHT
            ).logpdf(surprise),
        )
        among = np.linalg.inv(prior[np.ix_(which, which)] + noise * np.eye(len(which)))
        self.mean = ALL_SETS @ alone + prior[:, which] @ among @ surprise
        right = (PRIOR_WEIGHT + surprise @ among @ surprise) / (PRIOR_WEIGHT + len(drops))
        self.covariance = right * (prior - prior[:, which] @ among @ prior[which])
        self.noise = right * noise

    def prior(self, one, other):
        both = np.flatnonzero(one * other)
        scale = PAIRS**2 / np.sort(self.strength)[::-1][:SIZE].sum()
        units = DOUBT**2 * self.strength[both].sum()
        pairs = scale * sum(self.strength[i] * self.strength[j] for i, j in combinations(both, 2))
        local = LOCAL**2 / SIZE * np.exp(-np.abs(one - other).sum() / (NEARBY * SIZE))
        sums = (one @ self.helps) * (other @ self.helps)
        return units + pairs + local * sums + self.common(one) @ self.common(other)

    def common(self, one):
        total, n = one @ self.helps, max(1, one.sum())
        crowd = np.sqrt(IN_ROW / (IN_ROW + 1 - n)) - 1
        return np.array([COMMON * total, BEND * total**2 / self.reach, CROWD * total * crowd])

    def positions(self, sets):
        return [int(np.flatnonzero((each == ALL_SETS).all(axis=1))[0]) for each in sets]


@pytest.mark.parametrize("seed", range(5))
def test_the_belief_is_that_of_a_normal_distribution_over_all_sets(seed):
    rng = np.random.default_rng(seed)
    alone = rng.normal(size=M)
    known = ALL_SETS[rng.permutation(len(ALL_SETS))[:7]]
    drops = known @ alone + rng.normal(size=7)
    model, judge = PairModel(alone, known, drops, SIZE, IN_ROW), Judge(alone, known, drops)
    asked = ALL_SETS[rng.permutation(len(ALL_SETS))[:9]]
    which = judge.positions(asked)
    means, deviations = model.predict(asked)
    np.testing.assert_allclose(means, judge.mean[which])
    np.testing.assert_allclose(deviations**2, judge.covariance[which, which] + judge.noise, rtol=1e-6)
    near = (rng.random(M) < 0.5).astype(float)
    more = judge.positions(np.maximum(near, np.eye(M)))
    less = judge.positions(np.minimum(near, 1 - np.eye(M)))
    mean, variances = model.marginals(near)
    np.testing.assert_allclose(mean, judge.mean[more] - judge.mean[less])
    rows = judge.covariance[more] - judge.covariance[less]
    expected = rows[:, more] - rows[:, less]
    np.testing.assert_allclose(variances, expected.diagonal(), atol=1e-10)
    some = np.array([0, 2, 5])
    np.testing.assert_allclose(model.covariance(near, some), expected[np.ix_(some, some)], atol=1e-10)


def test_what_is_unforeseen_is_what_the_other_sets_do_not_say(monkeypatch):
    monkeypatch.setattr(pair_model, "ROUGHNESSES", (0.03,))  # fewer scores may speak for another one
    rng = np.random.default_rng(0)
    alone = rng.normal(size=M)
    known = ALL_SETS[rng.permutation(len(ALL_SETS))[:8]]
    drops = known @ alone + rng.normal(size=8)
    which, others = np.array([2, 5]), np.array([0, 1, 3, 4, 6, 7])
    found = PairModel(alone, known, drops, SIZE, IN_ROW).unforeseen(which)
    means, _ = PairModel(alone, known[others], drops[others], SIZE, IN_ROW).predict(known[which])
    np.testing.assert_allclose(found, drops[which] - means)


@pytest.mark.parametrize(("deviation", "among"), [(0.0, (0.01,)), (0.5, (0.1, 0.2))])
def test_how_rough_scores_are_is_seen_from_them(deviation, among):
    rng = np.random.default_rng(0)
    alone = np.linspace(1, 0.3, M)
    drops = ALL_SETS @ alone + deviation * rng.normal(size=len(ALL_SETS))
    model = PairModel(alone, ALL_SETS, drops, SIZE, IN_ROW)
    assert model._noise in [roughness**2 for roughness in among]


def test_without_any_known_set_units_are_as_they_are_alone():
    alone = np.array([1.0, 0.5, -0.25])
    model = PairModel(alone, np.zeros((0, 3)), np.zeros(0), 2, 3)
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
