"""Kernel SHAP's weights, held against the shap package and against exact Shapley values."""

from itertools import combinations, product
from math import comb, factorial

import numpy as np
import pytest
from handmade import logistic_regression
from hypothesis import given
from hypothesis import strategies as st
from profiles import n_examples
from scipy.sparse import csr_matrix
from scipy.stats import spearmanr
from toys import set_function

from butfor import Explainer, InputError
from butfor.rankings import kernel_shap_weights
from butfor.rankings.kernel_shap import design, n_subsets, solve

THRESHOLD = -100.0  # every row is positive


def network(m, seed=0):
    rng = np.random.default_rng(seed)
    inner, outer = rng.normal(size=(m, 6)), rng.normal(size=6)
    return lambda X: np.tanh(X @ inner / 2) @ outer


def local_model(score, m):
    return Explainer(score, threshold=THRESHOLD).local_model(np.ones(m))


def shapley_values(score, m):
    """Sum what every feature adds to every subset of the others."""
    subsets = np.arange(2**m)
    present = (subsets[:, None] >> np.arange(m)) & 1
    scores = score(csr_matrix(present.astype(float)))
    size = present.sum(axis=1)
    values = []
    for feature in range(m):
        without = subsets[present[:, feature] == 0]
        weights = [factorial(k) * factorial(m - k - 1) / factorial(m) for k in size[without]]
        values.append(weights @ (scores[without | 1 << feature] - scores[without]))
    return np.array(values)


def package(score, m, seed, n_samples=5_000):
    """Run the package, with AIC where it samples; give its weights, and the explainer with the samples."""
    import shap

    np.random.seed(seed)  # noqa: NPY002 - the package's own generator
    explainer = shap.KernelExplainer(score, np.zeros((1, m)))
    selects = n_samples < 0.2 * n_subsets(m)
    weights = explainer.shap_values(
        np.ones((1, m)), nsamples=n_samples, l1_reg="aic" if selects else False, silent=True
    )
    return weights[0], explainer


@pytest.mark.parametrize("m", range(1, 13))
def test_exact_where_all_subsets_can_be_scored(m):
    score = network(m)
    local = local_model(score, m)
    np.testing.assert_allclose(kernel_shap_weights(local), shapley_values(score, m), atol=1e-8)
    assert local.n_scored == max(1, n_subsets(m) + 1)  # and the empty row


@n_examples(60)
@given(table=st.integers(2, 6).flatmap(lambda m: st.lists(st.floats(-5, 5), min_size=2**m, max_size=2**m)))
def test_exact_for_any_function_of_bits(table):
    m = len(table).bit_length() - 1
    score = set_function(np.array(table))
    weights = kernel_shap_weights(local_model(score, m))
    np.testing.assert_allclose(weights, shapley_values(score, m), atol=1e-8)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("m", [2, 3, 8, 13, 14, 15, 20, 31, 60])
def test_fed_the_same_samples_the_weights_are_the_package_s(m):
    score = network(m)
    weights, explainer = package(score, m, seed=1)
    n = explainer.nsamplesAdded
    empty, whole = score(np.zeros((1, m)))[0], score(np.ones((1, m)))[0]
    own = solve(
        explainer.maskMatrix[:n].astype(bool),
        explainer.kernelWeights[:n],
        explainer.ey[:n, 0] - empty,
        whole - empty,
        select=explainer.nsamples < 0.2 * n_subsets(m),
    )
    np.testing.assert_allclose(own, weights, atol=1e-8)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("m", [3, 4, 13, 14, 15, 16, 40, 120])
def test_the_samples_are_chosen_as_the_package_chooses_them(m):
    _, explainer = package(network(m), m, seed=0, n_samples=3_000)
    theirs = explainer.maskMatrix[: explainer.nsamplesAdded].astype(bool)
    present, kernel = design(m, 3_000, np.random.default_rng(0))
    assert len(present) == len(theirs) == len(np.unique(present, axis=0))
    np.testing.assert_allclose(kernel.sum(), explainer.kernelWeights.sum())

    def weight_by_size(sets, weights):
        return np.bincount(sets.sum(axis=1), weights=weights, minlength=m)

    def enumerated(sets):
        counts = np.bincount(sets.sum(axis=1), minlength=m)
        return [size for size in range(1, m) if counts[size] == comb(m, size)]

    assert enumerated(present) == enumerated(theirs)
    np.testing.assert_allclose(
        weight_by_size(present, kernel), weight_by_size(theirs, explainer.kernelWeights), atol=0.02
    )


@pytest.mark.filterwarnings("ignore")
def test_a_subset_that_is_drawn_again_counts_again():
    m, n_samples = 13, 5_000  # of 8,190 subsets: many are drawn more than once
    _, explainer = package(network(m), m, 0, n_samples)
    present, kernel = design(m, n_samples, np.random.default_rng(0))

    def times_drawn(sets, weights):
        middle = weights[np.isin(sets.sum(axis=1), [5, 6, 7, 8])]  # sizes that are not enumerated
        return np.bincount(np.round(middle / middle.min()).astype(int), minlength=4)[1:4] / len(middle)

    theirs = times_drawn(explainer.maskMatrix.astype(bool), explainer.kernelWeights)
    assert theirs[1] > 0.1
    np.testing.assert_allclose(times_drawn(present, kernel), theirs, atol=0.03)


@pytest.mark.filterwarnings("ignore")
def test_the_ranks_agree_with_the_package_as_two_runs_of_it_agree():
    m = 50
    score = network(m)
    theirs = [package(score, m, seed, 1_000)[0] for seed in range(6)]
    own = [kernel_shap_weights(local_model(score, m), 1_000, seed) for seed in range(6)]

    def agreement(pairs):
        return np.mean([spearmanr(one, other).statistic for one, other in pairs])

    among_theirs = agreement(combinations(theirs, 2))
    with_theirs = agreement(product(own, theirs))
    assert 0.5 < among_theirs < 0.99
    assert with_theirs > among_theirs - 0.02


@n_examples(60)
@given(m=st.integers(1, 40), n_samples=st.integers(2, 600), seed=st.integers(0, 1_000))
def test_the_weights_sum_to_what_the_row_has_over_the_empty_row(m, n_samples, seed):
    score = network(m, seed)
    weights = kernel_shap_weights(local_model(score, m), n_samples, seed)
    whole = score(np.ones((1, m)))[0] - score(np.zeros((1, m)))[0]
    assert weights.any()
    assert weights.sum() == pytest.approx(whole, abs=1e-8)


def test_a_negative_row_is_turned():
    score = network(8)
    negative = Explainer(score, threshold=100).local_model(np.ones(8))
    np.testing.assert_allclose(kernel_shap_weights(negative), -shapley_values(score, 8), atol=1e-8)


def test_features_without_effect_have_no_weight():
    def score(X):
        return np.asarray(X[:, :3].sum(axis=1)).ravel()

    for m in (8, 14, 25):
        weights = kernel_shap_weights(local_model(score, m))
        np.testing.assert_allclose(weights, [1.0] * 3 + [0.0] * (m - 3), atol=1e-8)
        assert not weights[3:].any()


@pytest.mark.parametrize("m", [1, 2, 12, 14, 20, 300])
def test_a_constant_model_gives_no_weight(m):
    weights = kernel_shap_weights(local_model(lambda X: np.full(X.shape[0], 3.0), m), 500)
    assert weights.shape == (m,)
    assert not weights.any()


def tiny_scores(m):
    """A rare class: the model's scores are far below a millionth, as on very unbalanced data."""
    weights = np.random.default_rng(0).random(m)
    return logistic_regression(weights, intercept=-15 - weights.sum())


@pytest.mark.filterwarnings("ignore")
def test_tiny_scores_get_no_weight_at_all_as_in_the_package():
    m = 20
    model = tiny_scores(m)
    weights, _ = package(lambda X: model.predict_proba(X)[:, 1], m, seed=0)
    assert not weights.any()
    local = Explainer(model, threshold=1e-7).local_model(np.ones(m))
    assert local.positive
    assert not kernel_shap_weights(local).any()
    mended = kernel_shap_weights(local, any_scale=True)
    assert np.count_nonzero(mended) > 15
    whole, empty = model.predict_proba(np.vstack([np.ones(m), np.zeros(m)]))[:, 1]
    assert mended.sum() == pytest.approx(whole - empty, rel=1e-8)
    assert spearmanr(mended, model.coef_[0]).statistic > 0.9


def test_any_scale_changes_nothing_where_weights_are_found():
    score = network(20)
    first, second = (kernel_shap_weights(local_model(score, 20), any_scale=mend) for mend in (False, True))
    np.testing.assert_array_equal(first, second)
    for m in (3, 20):  # only the row itself differs from nothing

        def only_all(X, m=m):
            return (np.asarray(X.sum(axis=1)).ravel() == m) * 1e-9

        weights = kernel_shap_weights(local_model(only_all, m), any_scale=True)
        assert weights.sum() == pytest.approx(1e-9)


def test_about_as_many_samples_as_features():
    # The path of the lasso fails on some of these (scikit-learn 1.9 loses count of its features).
    coefficients = np.random.default_rng(697575).normal(size=46)
    local = local_model(lambda X: X @ coefficients, 46)
    for n_samples in (45, 46, 47, 91, 92, 93):
        weights = kernel_shap_weights(local, n_samples, seed=469339)
        assert weights.sum() == pytest.approx(coefficients.sum())
        assert spearmanr(weights, coefficients).statistic > 0.5


def test_where_the_path_of_the_lasso_fails_every_feature_is_kept(monkeypatch):
    import sklearn.linear_model

    def fail(*arguments, **options):
        raise ValueError("operands could not be broadcast together with shapes (34,) (33,)")

    monkeypatch.setattr(sklearn.linear_model, "lars_path_gram", fail)
    coefficients = np.arange(1.0, 31.0)
    weights = kernel_shap_weights(local_model(lambda X: X @ coefficients, 30))
    np.testing.assert_allclose(weights, coefficients, atol=1e-8)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("m", "weighed"), [(14, (True, True)), (15, (False, True)), (16, (False, False))])
def test_tiny_scores_are_weighed_where_a_fifth_of_all_subsets_is_scored_as_in_the_package(m, weighed):
    model = tiny_scores(m)
    local = Explainer(model, threshold=1e-7).local_model(np.ones(m))
    for n_samples, some in zip((5_000, 7_000), weighed, strict=True):
        assert kernel_shap_weights(local, n_samples).any() == some
        theirs, _ = package(lambda X: model.predict_proba(X)[:, 1], m, 0, n_samples)
        assert theirs.any() == some


def test_the_same_seed_gives_the_same_weights():
    local = local_model(network(30), 30)
    first, again, other = (kernel_shap_weights(local, 500, seed) for seed in (1, 1, 2))
    np.testing.assert_array_equal(first, again)
    assert not np.array_equal(first, other)


def test_a_row_without_features_has_no_weights():
    local = Explainer(network(3), threshold=THRESHOLD).local_model(np.zeros(3))
    assert kernel_shap_weights(local).shape == (0,)


def test_too_few_samples():
    with pytest.raises(InputError, match="n_samples must be a whole number of at least 2, got 1"):
        kernel_shap_weights(local_model(network(3), 3), 1)
