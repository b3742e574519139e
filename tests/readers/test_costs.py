"""Costs: the cheapest set, against brute force."""

import numpy as np
import pytest
from brute_force import minimum
from fitted_models import N_FEATURES, fitted
from hypothesis import given
from hypothesis import strategies as st
from profiles import n_examples
from scipy import sparse
from sklearn.linear_model import LogisticRegression

from butfor import SEARCHES, Budget, Explainer, Finding, InputError

COSTS = st.lists(st.sampled_from([0.1, 0.5, 1.0, 1.5, 3.0, 10.0]), min_size=N_FEATURES, max_size=N_FEATURES)


def flips(model, row):
    own = model.predict(row)[0]

    def judge(sets):
        copies = np.repeat(row.toarray(), len(sets), axis=0)
        for copy, units in zip(copies, sets, strict=True):
            copy[row.indices[list(units)]] = 0
        return model.predict(sparse.csr_matrix(copies)) != own

    return judge


@pytest.mark.parametrize("name", ["linear", "neural network", "deep network", "rbf kernel"])
@pytest.mark.parametrize("search", ["auto", "certified"])
@n_examples(20)
@given(costs=COSTS, number=st.integers(0, 149))
def test_the_cheapest_set(name, search, costs, number):
    model, X = fitted(name)
    row = X[[number]]
    of_active = [costs[column] for column in row.indices]
    least, _ = minimum(flips(model, row), row.nnz, of_active)
    why = Explainer(model, costs=costs, search=search).explain(row)
    if least is None:
        assert (why.status, why.lower_bound) == ("none", pytest.approx(sum(of_active)))
        return
    assert why.cost == pytest.approx(least)
    assert why.cost == pytest.approx(sum(costs[column] for column in why.columns))
    assert why.proven_minimum
    assert why.costs


@n_examples(30)
@given(costs=COSTS, number=st.integers(0, 149))
def test_the_cheapest_set_of_a_black_box(costs, number):
    model, X = fitted("neural network")
    row = X[[number]]
    least, _ = minimum(flips(model, row), row.nnz, [costs[column] for column in row.indices])
    why = Explainer(lambda X: model.predict_proba(X)[:, 1], threshold=0.5, costs=costs).explain(row)
    if least is None:
        assert why.status in ("none", "budget")
        return
    assert why.lower_bound <= least + 1e-9
    assert why.cost >= least - 1e-9
    if why.proven_minimum:
        assert why.cost == pytest.approx(least)


def test_costs_change_the_answer():
    def score(X):
        return X @ np.array([3.0, 2.0, 2.0])

    names = ["film", "short", "trailer"]
    assert Explainer(score, threshold=4.5, feature_names=names).explain([1, 1, 1]).features == ("film",)
    dear = Explainer(score, threshold=4.5, feature_names=names, costs={"film": 5.0}).explain([1, 1, 1])
    assert set(dear.features) == {"short", "trailer"}
    assert (dear.cost, dear.size, dear.proven_minimum) == (2.0, 2, True)
    same = Explainer(score, threshold=4.5, costs=[5.0, 1.0, 1.0]).explain([1, 1, 1])
    assert same.columns == dear.columns
    by_column = Explainer(score, threshold=4.5, costs={0: 5.0}).explain([1, 1, 1])
    assert by_column.columns == dear.columns


def test_costs_of_groups_and_limits():
    def score(X):
        return X @ np.array([3.0, 2.0, 2.0, 2.0])

    groups = ["a", "b", "b", "c"]
    why = Explainer(score, threshold=5.5, groups=groups, costs={"b": 9.0}).explain([1, 1, 1, 1])
    assert set(why.features) == {"a", "c"}
    # Two are cheaper, but only one may go.
    one = Explainer(score, threshold=5.5, groups=groups, costs={"b": 9.0}, budget=Budget(max_size=1))
    assert one.explain([1, 1, 1, 1]).features == ("b",)


def test_a_search_of_one_s_own_may_use_costs():
    def dearest(local, budget, seed):
        feature = int(np.argmax(local.costs))
        if local.flips(local.scores_with_each((), np.array([feature])))[0]:
            yield Finding((feature,))

    dearest.minimises_cost = True
    why = Explainer(lambda X: X.sum(axis=1), threshold=3, search=dearest, costs=[1, 2, 1]).explain([1, 1, 1])
    assert (why.columns, why.cost, why.lower_bound) == ((1,), 2.0, 0.0)
    assert not why.proven_minimum


@pytest.mark.parametrize("search", [name for name in SEARCHES if name not in ("auto", "certified")])
def test_other_searches_refuse_costs(search):
    with pytest.raises(InputError, match="search must be auto or certified where costs are given"):
        Explainer(lambda X: X.sum(axis=1), threshold=1, search=search, costs=[1.0])


@pytest.mark.parametrize(
    ("costs", "message"),
    [
        ({"a": -1}, r"costs\['a'\] must be a positive number, got -1"),
        ({"a": np.nan}, r"costs\['a'\] must be a positive number, got nan"),
        ({"a": "x"}, r"costs\['a'\] must be a positive number, got 'x'"),
        ([1.0, 2.0], "costs must be a mapping from names to costs, or 3 numbers"),
        ([1.0, 0.0, 1.0], "costs must be positive, finite numbers"),
        ("abc", "costs must be a mapping"),
    ],
)
def test_bad_costs(costs, message):
    with pytest.raises(InputError, match=message):
        Explainer(lambda X: X.sum(axis=1), threshold=1, feature_names=list("abc"), costs=costs)


def test_numbers_by_column_do_not_fit_groups():
    with pytest.raises(InputError, match="costs must be a mapping from names to costs where units are not"):
        Explainer(lambda X: X.sum(axis=1), threshold=1, groups=["g", "g"], costs=[1.0, 2.0])


def test_a_misspelt_name_is_noticed():
    def explainer(**options):
        return Explainer(lambda X: X.sum(axis=1), threshold=1, feature_names=["a", "b"], **options)

    with pytest.raises(
        InputError, match="costs must hold names or columns of features, got 'c': no feature has"
    ):
        explainer(costs={"c": 2.0})
    for groups in (["g", "g"], {"a": "g", "b": ["g", "h"]}):
        assert explainer(groups=groups, costs={"g": 2.0}, protected=["g"])
        with pytest.raises(InputError, match="costs must hold names or columns of features, got 'G'"):
            explainer(groups=groups, costs={"G": 2.0})
        with pytest.raises(InputError, match="protected must hold names or columns of features, got 'G'"):
            explainer(groups=groups, protected=["G"])
    assert explainer(groups=lambda name: "any", costs={"G": 2.0}, protected=["G"])  # nobody knows all of them


def test_a_limit_on_the_size_is_no_proof_about_larger_sets():
    X = (np.random.default_rng(0).random((200, 4)) < 0.5) * 1.0
    model = LogisticRegression(C=100).fit(X, (X @ [2, 1, 1, 0] > 1.5) * 1)
    options = {"costs": {0: 100.0}, "threshold": 0.999}
    one = Explainer(model, **options, budget=Budget(max_size=1)).explain([1, 1, 1, 1.0])
    two = Explainer(model, **options, budget=Budget(max_size=2)).explain([1, 1, 1, 1.0])
    assert (one.cost, one.lower_bound, one.proven_minimum) == (100.0, 2.0, False)
    assert (two.cost, two.proven_minimum) == (2.0, True)
    none = Explainer(model, costs={0: 100.0}, budget=Budget(max_size=1)).explain([1, 1, 1, 1.0])
    assert (none.status, none.lower_bound) == ("none", 2.0)


def test_costs_of_groups_are_those_of_their_names():
    model = LogisticRegression(C=100).fit(
        [[1, 1, 0, 0], [0, 0, 1, 1], [0, 0, 0, 0], [1, 1, 1, 1]], [1, 1, 0, 1]
    )
    row = [1, 1, 1, 1]
    for groups, costs in (([1, 1, 2, 2], {1: 5.0, 2: 50.0}), (["A", "A", "B", "B"], {"A": 5.0, "B": 50.0})):
        assert Explainer(model, groups=groups, costs=costs).explain(row).cost == 55.0
    with pytest.raises(InputError, match="costs must name groups, got 0, which is part of 'A'"):
        Explainer(model, groups=["A", "A", "B", "B"], costs={0: 5.0})
