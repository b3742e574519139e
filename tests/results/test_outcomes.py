"""Outcomes of a block: objects are made on request, and until then nothing is lost."""

import pickle

import numpy as np
import pytest
from scipy import sparse

from butfor import Explainer, Explanation, InputError, Outcomes

ROWS = (np.random.default_rng(0).random((12, 6)) < 0.6).astype(float)


@pytest.fixture(scope="module")
def explainer(linear_model):
    return Explainer(linear_model)


@pytest.fixture(scope="module")
def linear_model():
    from sklearn.linear_model import LogisticRegression

    model = LogisticRegression()
    model.classes_, model.n_features_in_ = np.array([0, 1]), 6
    model.coef_, model.intercept_ = np.array([[2.0, 1.0, 0.7, -0.5, -1.0, -2.1]]), np.array([-0.3])
    return model


@pytest.fixture
def outcomes(explainer):
    explainer.explain(ROWS[0])
    return explainer.explain_block(sparse.csr_matrix(ROWS))


def test_no_object_is_made_before_somebody_asks(outcomes, monkeypatch):
    def made(*_):
        raise AssertionError("an object was made")

    with monkeypatch.context() as patched:
        patched.setattr("butfor.results.columns.filled", made)
        whole = Outcomes.joined([outcomes, outcomes]).replaced({3: None})
        assert len(whole) == 24
        with pytest.raises(AssertionError, match="was made"):
            whole[0]
    assert isinstance(whole[0], Explanation)
    assert whole[0] is whole[0]


def test_a_sequence_that_is_equal_to_the_list(outcomes):
    whys = list(outcomes)
    assert outcomes == whys
    assert outcomes == pickle.loads(pickle.dumps(outcomes))
    assert outcomes != whys[:-1]
    assert outcomes != "twelve"
    assert outcomes[-2:] == whys[-2:]
    assert outcomes[1] in outcomes
    assert repr(outcomes) == repr(whys)


def test_blocks_one_after_the_other(outcomes):
    error = InputError("row must be finite.")
    joined = Outcomes.joined([outcomes, Outcomes.of({1: None, 0: error}), outcomes])
    assert joined == [*outcomes, error, None, *outcomes]
    assert Outcomes.joined([]) == []


def test_rows_between_others(outcomes):
    error = InputError("row must be finite.")
    numbers = np.array([0, 1, 2, 3, 4, 6, 7, 8, 9, 10, 11, 12])
    assert outcomes.at(numbers, {5: error}) == [*outcomes[:5], error, *outcomes[5:]]


def test_others_in_the_place_of_some(outcomes):
    error = InputError("row must be finite.")
    whys = list(outcomes)
    changed = outcomes.replaced({0: error, 7: None})
    assert changed == [error, *whys[1:7], None, *whys[8:]]
    assert changed.replaced({0: whys[0], 7: whys[7]}) == outcomes
    assert list(outcomes) == whys
