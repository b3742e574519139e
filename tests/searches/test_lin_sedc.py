import numpy as np
import pytest
from toys import constant, needle

from butfor import Budget, Explainer, LinSEDC
from butfor.verify import brute_force_minimum


def test_it_removes_from_the_top_of_the_ranking():
    why = Explainer(lambda X: X @ np.array([1.0, 3.0, 2.0, -4.0]), threshold=-1.5, search="lin-sedc").explain(
        [1, 1, 1, 1]
    )
    assert why.columns == (1, 2)


def test_two_calls_whatever_the_size():
    calls = []

    def score(X):
        calls.append(X.shape[0])
        return X @ np.arange(1.0, 21.0)

    why = Explainer(score, threshold=10.5, search="lin-sedc").explain(np.ones(20))
    assert why.size > 10
    assert calls == [1, 20, 19, 2]  # the row, the ranking, its new prefixes, the confirmation


def test_only_positive_weights_are_evidence():
    why = Explainer(constant, threshold=0.5, search="lin-sedc").explain(np.ones(6))
    assert (why.status, why.reason) == ("budget", "no feature has a positive weight")
    why = Explainer(needle, threshold=0.5, search="lin-sedc").explain(np.ones(6))
    assert why.status == "budget"


def test_another_ranking():
    last_first = LinSEDC(weights=lambda local, seed: np.arange(1.0, local.n_features + 1))
    explainer = Explainer(lambda X: np.asarray(X.sum(axis=1)).ravel(), threshold=2.5, search=last_first)
    assert explainer.explain(np.ones(4)).columns == (3, 2)


def test_the_ranking_is_cut_at_the_largest_size():
    explainer = Explainer(
        lambda X: X.sum(axis=1), threshold=1.5, search="lin-sedc", budget=Budget(max_size=2)
    )
    why = explainer.explain(np.ones(6))
    assert why.reason == "removing the 2 top-ranked features does not flip the decision"


@pytest.fixture(scope="module")
def linear_rows():
    """250 random rows of a fitted linear model, of up to nine active features, on both sides."""
    from scipy import sparse
    from sklearn.linear_model import LogisticRegression

    rng = np.random.default_rng(0)
    X = sparse.random(500, 60, density=0.1, format="csr", random_state=0, data_rvs=rng.standard_normal)
    y = X @ rng.normal(size=60) + rng.normal(scale=0.3, size=500) > 0.2
    X = X[np.diff(X.indptr) < 10]
    model = LogisticRegression().fit(X, y[: X.shape[0]])
    rows = rng.integers(X.shape[0], size=250)
    return model, X[rows]


def test_on_linear_models_three_searches_are_minimum(linear_rows):
    model, X = linear_rows
    explainers = [Explainer(model, search=search) for search in ("sedc", "lin-sedc", "complete")]
    found = 0
    for i in range(X.shape[0]):
        minimum = brute_force_minimum(model, X[[i]])
        sizes = {explainer.explain(X[[i]]).size for explainer in explainers}
        assert sizes == {len(minimum[0]) if minimum else 0}
        found += bool(minimum)
    assert found > 125
