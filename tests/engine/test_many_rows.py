"""Rows that are explained together have the answers that each has alone."""

import warnings
from dataclasses import replace

import numpy as np
import pytest
from handmade import mlp
from hypothesis import given
from hypothesis import strategies as st
from loops import loops
from model_catalogue import (
    AROUND_TREES,
    BENT,
    BLACK_BOX,
    CALIBRATED,
    DENSE,
    FOR_POSITIVE_VALUES,
    LINEAR,
    MIXED,
    TREES,
    WRAPPED,
    data,
)
from profiles import n_examples
from same_explanations import assert_same
from scipy import sparse
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.neural_network import MLPClassifier
from toys import TOYS

from butfor import (
    Budget,
    ButforError,
    Explainer,
    Explanation,
    Finding,
    InputError,
    ModelError,
)
from butfor._engine import many_rows, solved_rows
from butfor._engine.steadiness import ROWS_AGAIN
from butfor.models import as_table

SOME = {
    name: (BENT | MIXED | BLACK_BOX | TREES | AROUND_TREES)[name]
    for name in (
        "MLP relu",
        "MLP deep tanh",
        "SVC rbf",
        "SVC poly",
        "RandomForest of an even number",
        "GradientBoosting",
        "soft votes",
        "KNeighbors",
        "Normalizer",
    )
}
TOGETHER = LINEAR | WRAPPED | SOME | {name: CALIBRATED[name] for name in list(CALIBRATED)[:2]}


def fit(model, known):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return clone(model).fit(known.X, known.y)


@pytest.mark.parametrize("name", TOGETHER)
def test_every_kind_of_model(name):
    known = data("positive")
    explainer = Explainer(fit(TOGETHER[name], known), budget=Budget(max_size=4, max_seconds=60))
    X = known.X[:25]
    assert_same(explainer.explain_block(X), [explainer.explain(X[[i]]) for i in range(25)])


@pytest.mark.parametrize("name", [*FOR_POSITIVE_VALUES, *DENSE])
def test_models_of_counts_and_of_dense_rows(name):
    known = data("counts", dense=name in DENSE)
    explainer = Explainer(fit((FOR_POSITIVE_VALUES | DENSE)[name], known))
    X = known.X[:12]
    assert_same(explainer.explain_block(X), [explainer.explain(X[[i]]) for i in range(12)])


@given(st.data())
def test_linear_models_by_sorting(draw):
    n_rows, n_columns = 12, 8
    whole = st.integers(-3, 3)
    dtype = draw.draw(st.sampled_from([np.float64, np.float32, np.int64]))
    values = draw.draw(st.lists(whole, min_size=n_rows * n_columns, max_size=n_rows * n_columns))
    X = np.array(values, dtype=dtype).reshape(n_rows, n_columns)
    weights = draw.draw(st.lists(whole, min_size=n_columns, max_size=n_columns))
    model = LogisticRegression()
    model.classes_, model.coef_, model.n_features_in_ = (
        np.array([0, 1]),
        np.array([weights], float),
        n_columns,
    )
    model.intercept_ = np.array([draw.draw(st.sampled_from([0.0, 0.5, -1.0]))])
    explainer = Explainer(
        model,
        threshold=draw.draw(st.sampled_from([0.5, 0.2, 1.0, 0.0])),
        budget=Budget(max_size=draw.draw(st.integers(1, 9))),
        protected=draw.draw(st.sets(st.integers(0, n_columns - 1), max_size=3)),
        class_names=["no", "yes"],
    )
    assert_same(explainer.explain_block(sparse.csr_matrix(X)), [explainer.explain(row) for row in X])


def test_sorting_does_the_work_where_the_model_is_linear(monkeypatch, moviegoers, club_model):
    explainer = Explainer(club_model, feature_names=moviegoers.feature_names)
    alone = [explainer.explain(moviegoers.X[[i]]) for i in range(50)]
    monkeypatch.setattr(
        many_rows._BlockExplainer, "_together", lambda self, rows: {} if not rows else pytest.fail("asked")
    )
    assert_same(explainer.explain_block(moviegoers.X[:50]), alone)


@pytest.mark.parametrize("change", ["groups", "costs", "search", "target"])
def test_what_sorting_does_not_know_goes_another_way(change, moviegoers, club_model):
    options = {
        "groups": {"groups": lambda name: name[:1]},
        "costs": {"costs": np.arange(1, moviegoers.X.shape[1] + 1)},
        "search": {"search": "sedc"},
        "target": {"target": moviegoers.y[0]},
    }[change]
    explainer = Explainer(club_model, feature_names=moviegoers.feature_names, **options)
    assert not solved_rows.solver_of(explainer._engine)
    X = moviegoers.X[:10]
    assert_same(explainer.explain_block(X), [explainer.explain(X[[i]]) for i in range(10)])


def test_rows_at_the_threshold_are_asked_about_one_by_one():
    """Sums that hit the threshold exactly are the model's to decide."""
    model = LogisticRegression()
    model.classes_, model.coef_, model.n_features_in_ = np.array([0, 1]), np.array([[0.1, 0.2, 0.3]]), 3
    model.intercept_ = np.array([-0.3])
    explainer = Explainer(model)
    X = sparse.csr_matrix(np.array([[1, 1, 0], [0, 0, 1], [1, 1, 1], [0, 1, 1]], dtype=float))
    assert_same(explainer.explain_block(X), [explainer.explain(X[[i]]) for i in range(4)])
    assert 1 in solved_rows.explain_solved(explainer._engine, as_table(X)).open(4)


@pytest.mark.parametrize("activation", ["relu", "tanh", "logistic"])
@n_examples(60)
@given(seed=st.integers(0, 2**32 - 1))
def test_networks_at_once_and_row_by_row(activation, seed):
    rng = np.random.default_rng(seed)
    n_columns, n_neurons = int(rng.integers(3, 25)), int(rng.integers(1, 9))
    inner = rng.normal(size=(n_columns, n_neurons)), rng.normal(size=n_neurons)
    model = mlp(inner, (rng.normal(size=(n_neurons, 1)), rng.normal(size=1)), activation=activation)
    X = sparse.csr_matrix((rng.random((6, n_columns)) < 0.8) * rng.choice([1.0, 0.5, 2.0], (6, n_columns)))
    options = {
        "budget": Budget(max_size=int(rng.integers(1, 9))),
        "protected": [0] if rng.random() < 0.3 else [],
        "threshold": float(rng.choice([0.5, 0.3])),
    }
    with loops("compiled"):
        explainer = Explainer(model, **options)
        assert solved_rows.solver_of(explainer._engine) is not None
        assert_same_but_for_scorings(explainer.explain_block(X), [explainer.explain(row) for row in X])


def assert_same_but_for_scorings(together, alone):
    """Compare answers of networks: the last bit of a sum may decide how many sets a proof scores."""
    assert_same(
        [replace(ours, n_scored=theirs.n_scored) for ours, theirs in zip(together, alone, strict=True)], alone
    )


def test_most_rows_of_a_network_are_answered_at_once(monkeypatch, moviegoers):
    network = MLPClassifier((20,), max_iter=40, random_state=0, tol=0.01)
    with warnings.catch_warnings(action="ignore"):
        network.fit(moviegoers.X, moviegoers.y)
    explainer, X = Explainer(network, budget=Budget(max_size=5)), moviegoers.X[:60]
    with loops("compiled"):
        at_once = solved_rows.explain_solved(explainer._engine, as_table(X))
        assert len(at_once.numbers) >= 55
        alone = [explainer.explain(X[[i]]) for i in at_once.numbers]
    assert_same_but_for_scorings(at_once.columns.explanations(), alone)
    assert all(why.proven_minimum for why in alone if why)


def test_toys_of_all_kinds_together():
    for toy in TOYS:
        explainer = Explainer(toy.score, threshold=toy.threshold)
        rows = np.array([toy.row, (1.0,) * 6, (0.0,) * 6])
        assert_same(explainer.explain_block(rows), [explainer.explain(row) for row in rows])


def test_only_positive_rows(moviegoers, club_model):
    X = moviegoers.X[:60]
    positive = club_model.predict_proba(X)[:, 1] >= 0.5
    for model in (club_model, lambda Z: club_model.predict_proba(Z)[:, 1]):
        explainer = Explainer(model, threshold=0.5, budget=Budget(max_size=2))
        outcomes = explainer.explain_block(X, only_positive=True)
        assert [outcome is not None for outcome in outcomes] == positive.tolist()
        assert all(outcome is None or outcome.score >= 0.5 for outcome in outcomes)


def test_only_positive_needs_two_classes():
    model = LogisticRegression().fit(np.eye(3), [0, 1, 2])
    with pytest.raises(InputError, match="more than two classes"):
        Explainer(model).explain_block(np.eye(3), only_positive=True)


@pytest.mark.parametrize("of_formula", [True, False])
def test_a_row_that_cannot_be_read_is_an_outcome(of_formula, moviegoers, club_model):
    X = moviegoers.X[:8].astype(float).toarray()
    X[3, 5] = np.nan
    X[6, 0] = np.inf
    model = club_model if of_formula else lambda Z: club_model.predict_proba(Z)[:, 1]
    explainer = Explainer(model, threshold=0.5, budget=Budget(max_size=1))
    for rows in (X, sparse.csr_array(X), sparse.csr_matrix(X)):
        outcomes = explainer.explain_block(rows)
        assert [isinstance(each, InputError) for each in outcomes] == [i in (3, 6) for i in range(8)]
        assert "nan in column 5" in str(outcomes[3])
        assert_same([outcomes[i] for i in (0, 1, 7)], [explainer.explain(X[i]) for i in (0, 1, 7)])


def test_rows_of_another_width_are_all_wrong(club_model):
    outcomes = Explainer(club_model).explain_block(np.ones((3, 2)))
    assert all(isinstance(each, InputError) and "features" in str(each) for each in outcomes)


def test_a_model_that_fails_on_one_row_costs_that_row():
    def score(X):
        dense = X.toarray()
        if (dense[:, 0] == 7).any():
            raise RuntimeError("no sevens")
        return np.where(dense[:, 1] == 7, np.nan, dense.sum(axis=1))

    explainer = Explainer(score, threshold=1.5)
    rows = np.array([[1, 1, 0], [7, 1, 0], [1, 0, 1], [1, 7, 1]])
    outcomes = explainer.explain_block(rows)
    assert [type(each) for each in outcomes] == [Explanation, ModelError, Explanation, ModelError]
    assert "no sevens" in str(outcomes[1])
    assert "finite" in str(outcomes[3])


def test_a_search_that_fails_on_one_row_costs_that_row():
    def search(local, budget, seed):
        if local.n_features == 3:
            raise ZeroDivisionError("three")
        yield from ()

    rows = np.array([[1, 1, 0], [1, 1, 1]])
    outcomes = Explainer(lambda X: X.sum(axis=1), threshold=1.5, search=search).explain_block(rows)
    assert isinstance(outcomes[0], Explanation)
    assert isinstance(outcomes[1], ButforError)
    assert "ZeroDivisionError: three" in str(outcomes[1])


@pytest.mark.parametrize("factor", [-1, 1.01])
def test_a_model_that_does_not_act_on_its_formula_is_asked(moviegoers, club_model, factor):
    """Weights that were changed behind the explainer's back."""
    model = clone(club_model).fit(moviegoers.X, moviegoers.y)
    explainer = Explainer(model, budget=Budget(max_size=2))  # so that all sets of a row can be scored
    explainer.explain_block(moviegoers.X[:2])
    model.coef_ = factor * model.coef_
    X = moviegoers.X[:10]
    together = explainer.explain_block(X)
    assert "black box" in {why.local_model for why in together}  # a few say the same all the same
    assert_same(together, [explainer.explain(X[[i]]) for i in range(10)])


def test_two_calls_for_all_rows(moviegoers):
    """However many rows there are, the model is asked before the searches and after them."""
    model = MLPClassifier((5,), max_iter=20, random_state=0, early_stopping=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(moviegoers.X, moviegoers.y)
    calls = []
    explainer = Explainer(model)
    explainer._engine.model.network
    outputs = explainer._engine.model.scorer.function

    def counted(X):
        calls.append(X.shape[0])
        return outputs(X)

    explainer._engine.model.scorer = replace(explainer._engine.model.scorer, function=counted)
    explained = explainer.explain_block(moviegoers.X[:40])
    # and once at the door, for the first row of its kind
    assert calls == [1, 40, ROWS_AGAIN + sum(map(bool, explained))]


def test_progress_counts_every_row_once(moviegoers, club_model):
    X = moviegoers.X[:30].astype(float).toarray()
    X[4, 4] = np.nan
    for model in (club_model, lambda Z: club_model.predict_proba(Z)[:, 1]):
        told = []
        Explainer(model, threshold=0.5, budget=Budget(max_size=1)).explain_block(X, progress=told.append)
        assert sum(told) == 30


def test_the_time_limit_is_each_rows_own(clock):
    def score(X):
        clock.seconds += 0.001 * X.shape[0]
        return X.sum(axis=1)

    rows = np.ones((5, 12))
    explainer = Explainer(score, threshold=0.5, budget=Budget(max_seconds=0.1), search="complete")
    outcomes = explainer.explain_block(rows)
    assert {why.reason for why in outcomes} == {"max_seconds=0.1 reached"}
    assert all(0.1 <= why.seconds <= 0.2 for why in outcomes)


def test_nothing_to_explain():
    explainer = Explainer(lambda X: X.sum(axis=1), threshold=1)
    assert explainer.explain_block(np.ones((0, 3))) == []
    assert explainer.explain_block([]) == []


def test_the_time_for_which_others_are_localised_is_not_a_rows_own(monkeypatch, clock):
    """The model is seen from all rows of a block before the first is searched."""
    localise, left = many_rows.localise, []

    def slowly(*arguments, **options):
        clock.seconds += 1.0
        return localise(*arguments, **options)

    def search(local, budget, seed):
        left.append(local.deadline.seconds_left)
        clock.seconds += 0.5
        yield Finding((0,))

    monkeypatch.setattr(many_rows, "localise", slowly)
    network = mlp((np.ones((4, 2)), np.zeros(2)), (np.ones((2, 1)), [-7.0]))
    explainer = Explainer(network, search=search, budget=Budget(max_seconds=5))
    answers = explainer.explain_block(sparse.csr_matrix(np.ones((20, 4))))
    assert left == [4.0] * 20
    assert [why.seconds for why in answers] == [1.5] * 20
