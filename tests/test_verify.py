import numpy as np
import pytest
from scipy.sparse import csr_matrix
from toys import TOYS, disjunction, xor

from butfor import InputError
from butfor.verify import brute_force_minimum, is_counterfactual, is_irreducible

ROW = np.ones(6)


@pytest.mark.parametrize("toy", TOYS, ids=lambda toy: toy.name)
def test_brute_force_knows_the_toys(toy):
    minimum = brute_force_minimum(toy.score, toy.row, threshold=toy.threshold)
    assert {len(columns) for columns in minimum} == ({toy.minimum} if toy.minimum else set())


def test_all_minimum_sets_are_given():
    assert brute_force_minimum(disjunction, ROW, threshold=0.5) == [(0, 1, 2)]
    assert brute_force_minimum(xor, ROW, threshold=0.5) == [(0,), (1,)]
    assert brute_force_minimum(disjunction, ROW, threshold=0.5, max_size=2) == []


def test_counterfactual_and_irreducible():
    assert is_counterfactual(disjunction, ROW, [2, 1, 0], threshold=0.5)
    assert not is_counterfactual(disjunction, ROW, [0, 1], threshold=0.5)
    assert is_irreducible(disjunction, ROW, [0, 1, 2], threshold=0.5)
    assert not is_irreducible(disjunction, ROW, [0, 1, 2, 3], threshold=0.5)  # one too many
    assert not is_irreducible(disjunction, ROW, [0, 1], threshold=0.5)  # not an answer


def test_irreducible_looks_at_every_subset():
    def score(X):  # removing 0 flips, removing 0 and 1 does not, removing all three does
        return {(0,): 0.0, (0, 1, 2): 0.0}.get(tuple(np.flatnonzero(X.toarray()[0] == 0)), 1.0) * np.ones(1)

    def scores(X):
        return np.concatenate([score(X[[i]]) for i in range(X.shape[0])])

    assert is_counterfactual(scores, np.ones(3), [0, 1, 2], threshold=0.5)
    assert not is_irreducible(scores, np.ones(3), [0, 1, 2], threshold=0.5)


def test_only_active_columns_can_be_removed():
    for columns in ([1], [2], [-1]):
        with pytest.raises(InputError, match="columns must be active features of the row, got column"):
            is_counterfactual(lambda X: X.sum(axis=1), csr_matrix([[1.0, 0.0]]), columns, threshold=0.5)


def test_too_many_subsets():
    with pytest.raises(InputError, match="columns must be at most 20"):
        is_irreducible(lambda X: X.sum(axis=1), np.ones(40), range(30), threshold=0.5)


def test_more_than_two_classes():
    from sklearn.linear_model import LogisticRegression

    X = np.eye(3).repeat(4, axis=0)
    model = LogisticRegression(C=100).fit(X, np.arange(3).repeat(4))
    row = [2.0, 1.0, 0.0]
    assert model.predict([row])[0] == 0
    assert is_counterfactual(model, row, [0])
    assert not is_counterfactual(model, row, [1])
    assert brute_force_minimum(model, row) == [(0,)]
