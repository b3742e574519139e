import numpy as np

from butfor import Explainer
from butfor.models import removal_sets
from butfor.searches.shared.evidence_model import EvidenceModel


def evidence_of(score, threshold, m):
    local = Explainer(score, threshold=threshold).local_model(np.ones(m))
    units = np.arange(m)
    return local, EvidenceModel(local, units, local.scores_with_each((), units))


def test_probabilities_are_taken_in_log_odds():
    weights = np.array([3.0, 2.0, 1.0, 0.5])
    _, evidence = evidence_of(lambda X: 1 / (1 + np.exp(3 - X @ weights)), 0.5, 4)
    np.testing.assert_allclose(evidence.drops, weights)
    _, evidence = evidence_of(lambda X: X @ weights, 0.5, 4)
    np.testing.assert_allclose(evidence.drops, weights)


def test_negative_rows_are_turned():
    weights = np.array([-3.0, -2.0, 1.0])
    _, evidence = evidence_of(lambda X: 1 / (1 + np.exp(-X @ weights)), 0.5, 3)
    np.testing.assert_allclose(evidence.drops, -weights)


def test_what_was_scored_changes_what_is_proposed():
    """Two units do the same: together they are worth no more than one of them."""

    def score(X):
        bits = X.toarray()
        return 10.0 - 3.0 * ((bits[:, 0] == 0) | (bits[:, 1] == 0)) - 2.0 * (bits[:, 2] == 0)

    local, evidence = evidence_of(score, 5.5, 3)
    rng = np.random.default_rng(0)
    assert set(evidence.proposals((0, 1), 2, 1, rng)[0]) == {0, 1}
    evidence.learn([(0, 1)], local.scores(removal_sets([(0, 1)], 3)))
    assert 2 in evidence.proposals((0, 1), 2, 1, rng)[0]
    # that may also mean that all units do less in company: another score tells
    evidence.learn([(0, 2)], local.scores(removal_sets([(0, 2)], 3)))
    assert evidence.next_best((0,), 1) == [2]


def test_a_set_is_proposed_once():
    local, evidence = evidence_of(lambda X: X @ np.ones(5), 2.5, 5)
    seen, rng = set(), np.random.default_rng(0)
    while sets := evidence.proposals((0, 1, 2), 2, 4, rng):
        keys = {tuple(sorted(each)) for each in sets}
        assert len(keys) == len(sets)
        assert not keys & seen
        seen |= keys
        evidence.learn(sets, local.scores(removal_sets(sets, 5)))
    assert len(seen) <= 10


def test_flat_scores_do_no_harm():
    _, evidence = evidence_of(lambda X: np.ones(X.shape[0]), 0.5, 6)
    evidence.learn([(0, 1)], np.array([1.0]))
    assert evidence.is_hopeless((0, 1), 3)
    assert evidence.proposals((0, 1), 3, 4, np.random.default_rng(0)) == []
    assert len(evidence.next_best((0, 1), 3)) == 3


def test_a_group_with_a_unit_that_matters_in_company_is_a_surprise():
    """Unit 7 does nothing but beside unit 0; the group it is in, and it alone, are surprising."""

    def score(X):
        gone = X.toarray() == 0
        return 20.0 - gone @ np.linspace(1.0, 0.3, 10) - 2.0 * gone[:, 0] * gone[:, 7]

    local, evidence = evidence_of(score, 15.0, 10)
    groups = [(0, 1, 2), (0, 3, 4), (0, 5, 6), (0, 7, 8)]
    evidence.learn(groups, local.scores(removal_sets(groups, 10)))
    np.testing.assert_array_equal(evidence.surprises(groups) > 1.0, [False, False, False, True])
    halves = [(0, 7), (0, 8)]
    evidence.learn(halves, local.scores(removal_sets(halves, 10)))
    np.testing.assert_array_equal(evidence.surprises(halves) > 1.0, [True, False])
