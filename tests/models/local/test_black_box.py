import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from butfor import Budget, Explainer
from butfor.models import OutOfTime
from butfor.models.local.black_box import MAX_VALUES


def local_of(score, row, threshold=0.0):
    return Explainer(score, threshold=threshold).local_model(row)


def test_it_agrees_with_the_model_on_the_real_rows(moviegoers, club_model):
    rng = np.random.default_rng(0)
    for i in range(20):
        row = moviegoers.X[[i]]
        local = Explainer(lambda X: club_model.predict_proba(X)[:, 1], threshold=0.5).local_model(row)
        sign = 1 if club_model.predict_proba(row)[0, 1] >= 0.5 else -1
        removed = rng.random((30, row.nnz)) < 0.3
        for scored, gone in zip(local.scores(removed), removed, strict=True):
            changed = row.copy()
            changed.data[gone] = 0
            assert sign * scored == pytest.approx(club_model.predict_proba(changed)[0, 1], rel=1e-12)


def test_one_call_for_a_batch_and_everything_is_counted():
    calls = []

    def score(X):
        calls.append(X.shape)
        return np.asarray(X.sum(axis=1)).ravel()

    local = local_of(score, np.ones(50))
    local.scores(np.eye(50, dtype=bool))
    local.scores_with_each((3, 4), np.array([0, 1]))
    assert calls == [(1, 50), (50, 50), (2, 50)]
    assert local.n_scored == 52


def test_set_plus_one_is_the_same_as_writing_the_sets_out():
    weights = np.arange(1.0, 7.0)
    local = local_of(lambda X: X @ weights, np.ones(6))
    np.testing.assert_allclose(
        local.scores_with_each((1, 4), np.array([0, 5])), [21 - 2 - 5 - 1, 21 - 2 - 5 - 6]
    )


def test_a_long_row_never_needs_gigabytes():
    sizes = []

    def score(X):
        sizes.append(X.nnz)
        return np.asarray(X.sum(axis=1)).ravel()

    local = local_of(score, np.ones(2_000))
    scores = local.scores_with_each((), np.arange(2_000))
    np.testing.assert_array_equal(scores, 1_999)
    assert len(sizes) == 3  # the row, then two thousand sets in two calls
    assert max(sizes) <= MAX_VALUES


def test_a_model_that_wants_dense_rows_gets_few_at_a_time():
    from sklearn.naive_bayes import GaussianNB

    rng = np.random.default_rng(0)
    X = (rng.random((50, 30_000)) < 0.01).astype(float)
    model = GaussianNB().fit(X, np.arange(50) % 2)
    calls = []
    predict_proba = model.predict_proba
    model.predict_proba = lambda X: calls.append(X.size) or predict_proba(X)
    why = Explainer(model, budget=Budget(max_seconds=2)).explain(X[0])
    assert why.n_active > 250
    assert max(calls) <= MAX_VALUES


def test_scores_of_a_negative_row_are_turned():
    local = local_of(lambda X: X @ np.array([1.0, -2.0]), np.ones(2))
    assert local.score == 1.0  # the model says -1, which is negative
    np.testing.assert_array_equal(
        local.flips(local.scores(np.array([[True, False], [False, True]]))), [False, True]
    )


def test_past_the_deadline_nothing_is_scored(clock):
    local = local_of(lambda X: np.ones(X.shape[0]), np.ones(4))
    with local.limited_to(1.0):
        local.scores(np.eye(4, dtype=bool))
        clock.seconds = 1.5
        with pytest.raises(OutOfTime):
            local.scores(np.eye(4, dtype=bool))
    assert local.n_scored == 4


def test_a_slow_model_is_asked_for_no_more_than_fits_the_time(clock):
    calls = []

    def score(X):
        calls.append(X.shape[0])
        clock.seconds += X.shape[0]  # a second a row
        return np.ones(X.shape[0])

    local = local_of(score, np.ones(100))
    with local.limited_to(12):
        local.scores(np.eye(100, dtype=bool)[:2])
        with pytest.raises(OutOfTime):
            local.scores(np.eye(100, dtype=bool))
    assert calls == [1, 2, 10, 1]  # the last call begins at the very deadline


def test_even_the_first_batch_is_cut_to_the_time(clock):
    calls = []

    def score(X):
        calls.append(X.shape[0])
        clock.seconds += X.shape[0]
        return np.ones(X.shape[0])

    local = local_of(score, np.ones(100))
    with local.limited_to(30), pytest.raises(OutOfTime):
        local.scores(np.eye(100, dtype=bool))
    assert calls == [1, 30, 1]
    local = local_of(score, np.ones(100))
    with local.limited_to(3), pytest.raises(OutOfTime):
        local.scores(np.eye(100, dtype=bool))
    assert calls[3:] == [1, 10]  # a batch may cost no more than a row


def test_a_model_that_is_only_slow_to_answer_gets_its_batches(clock):
    calls = []

    def score(X):
        calls.append(X.shape[0])
        clock.seconds += 1  # whatever the batch
        return np.ones(X.shape[0])

    local = local_of(score, np.ones(100))
    with local.limited_to(5):
        local.scores(np.eye(100, dtype=bool))
    assert calls == [1, 10, 40, 50]


@pytest.mark.parametrize("shape", [(3, 5), (4,), (2, 2, 4)])
def test_removal_sets_of_the_wrong_shape(shape):
    local = local_of(lambda X: np.ones(X.shape[0]), np.ones(4))
    with pytest.raises(ValueError, match=r"removed must have shape \(sets, 4\), got"):
        local.scores(np.zeros(shape, dtype=bool))


def test_values_of_any_sign_and_float32():
    rng = np.random.default_rng(1)
    X = (rng.normal(size=(80, 6)) * (rng.random((80, 6)) < 0.5)).astype(np.float32)
    model = LogisticRegression().fit(X, (X.sum(axis=1) > 0).astype(int))
    row = X[np.flatnonzero(model.predict_proba(X)[:, 1] > 0.5)[0]]
    why = Explainer(model).explain(row)
    assert why
    assert why.score == model.predict_proba(row.reshape(1, -1))[0, 1]
