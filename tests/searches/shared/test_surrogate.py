import re

import numpy as np
import pytest
from handmade import logistic_regression
from toys import constant

from butfor import Budget, Explainer, InputError, LimeC, LimeSEDC, LinSEDC, ShapC
from butfor.rankings import kernel_shap_weights, lime_weights


def additive(X):
    return X @ np.array([1.0, 3.0, 2.0, -4.0])


@pytest.mark.parametrize("search", [LimeC(), ShapC()], ids=["lime-c", "shap-c"])
def test_the_ranking_s_features_go_from_the_top(search):
    why = Explainer(additive, threshold=-1.5, search=search).explain([1, 1, 1, 1])
    assert why.columns == (1, 2)
    assert why.search == search.name


@pytest.mark.parametrize(("search", "weights"), [(LimeC, lime_weights), (ShapC, kernel_shap_weights)])
def test_it_is_lin_sedc_on_those_weights_and_tells_them(search, weights):
    rng = np.random.default_rng(0)
    inner, outer = rng.normal(size=(30, 5)), np.abs(rng.normal(size=5))

    def score(X):
        return np.tanh(np.abs(X @ inner) / 3) @ outer

    options = {"threshold": 0.7 * score(np.ones((1, 30)))[0], "seed": 3}
    why = Explainer(score, search=search(n_samples=400), **options).explain(np.ones(30))

    def ranking(local, seed):
        return weights(local, n_samples=400, seed=seed)

    same = Explainer(score, search=LinSEDC(weights=ranking), **options).explain(np.ones(30))
    assert why.columns == same.columns
    assert why.size > 1
    local = Explainer(score, **options).local_model(np.ones(30))
    assert why.to_dict()["weights"] == weights(local, 400, 3)[list(why.columns)].tolist()


def test_only_searches_that_rank_tell_weights():
    for search, n_weights in (("lin-sedc", 1), ("lime-sedc", 1), ("sedc", 0), ("auto", 0), ("random", 0)):
        why = Explainer(lambda X: X @ np.ones(3), threshold=2.5, search=search).explain([1, 1, 1])
        assert (search, len(why.weights)) == (search, n_weights)
        assert why.from_dict(why.to_dict()) == why


def test_what_it_costs():
    explainer = Explainer(lambda X: X @ np.ones(40), threshold=37.5, search=LimeC(n_samples=100))
    # The samples and the prefixes, of which the first was one of the samples.
    assert explainer.explain(np.ones(40)).n_scored == 99 + 30 - 1


def test_tiny_scores_leave_shap_c_without_weights_but_not_its_hybrid():
    weights = np.random.default_rng(0).random(20)
    model = logistic_regression(weights, intercept=-15 - weights.sum())
    row = np.ones(20)
    threshold = float(model.predict_proba([row])[0, 1]) / 4

    def explain(search):
        return Explainer(model, threshold=threshold, search=search).explain(row)

    why = explain("shap-c")
    assert why.status == "budget"
    assert why.reason == "all weights are zero: n_samples=5000 do not tell features apart"
    smallest = explain("certified")
    assert smallest.proven_minimum
    assert smallest.size > 1
    for search in ("shap-sedc", "lime-c", "lime-sedc"):
        assert explain(search).size == smallest.size
    hybrid = explain("shap-sedc")
    assert all(weight > 0 for weight in hybrid.weights)
    assert hybrid.n_scored < 2 * why.n_scored  # the samples are not scored again


def test_a_constant_model_has_its_own_reason():
    for search in ("lime-c", "shap-c"):
        why = Explainer(constant, threshold=0.5, search=search).explain(np.ones(6))
        assert why.status == "budget"
        assert why.reason.startswith("all weights are zero")


def test_a_model_that_is_constant_near_the_row():
    def score(X):  # nothing happens until 25 of 30 are gone
        return (np.asarray(X.sum(axis=1)).ravel() > 5).astype(float)

    for search in ("lime-c", "shap-c", "lime-sedc", "shap-sedc"):
        why = Explainer(score, threshold=0.5, search=search).explain(np.ones(30))
        assert (search, why.status, why.size) == (search, "found", 25)
        limited = Explainer(score, threshold=0.5, search=search, budget=Budget(max_size=10))
        why = limited.explain(np.ones(30))
        assert why.status == "budget"
        assert why.reason


@pytest.mark.parametrize("search", [LimeC, ShapC])
@pytest.mark.parametrize("n_samples", [1, -5, 2.5, None, (100, 200)])
def test_bad_numbers_of_samples(search, n_samples):
    with pytest.raises(InputError, match="n_samples must be a whole number of at least 2, got"):
        search(n_samples=n_samples)


@pytest.mark.parametrize(
    "n_samples", [1, (), (100, 1), (100, 100), (1000, 100), (100, 2.5), "100", b"ab", None, {100, 200}]
)
def test_bad_schedules(n_samples):
    message = (
        "n_samples must be a whole number of at least 2, or several that increase, "
        f"such as (100, 1000, 5000), got {n_samples!r}."
    )
    with pytest.raises(InputError, match=re.escape(message)):
        LimeSEDC(n_samples=n_samples)


def test_a_search_keeps_its_schedule():
    schedule = [100, 1_000]
    search = LimeSEDC(n_samples=schedule)
    schedule.append(5)
    assert search == LimeSEDC(n_samples=(100, 1_000))
    assert hash(search) == hash(LimeSEDC(n_samples=(100, 1_000)))


@pytest.mark.parametrize("search", ["lime-c", "shap-c", "lime-sedc", "shap-sedc"])
def test_a_slow_model_is_stopped_in_time(search, clock):
    def score(X):
        clock.seconds += 0.002 * X.shape[0]
        return X @ np.ones(20)

    explainer = Explainer(score, threshold=15.5, search=search, budget=Budget(max_seconds=1))
    why = explainer.explain(np.ones(20))
    assert (why.status, why.reason) == ("budget", "max_seconds=1 reached")
    assert clock.seconds < 1.1
