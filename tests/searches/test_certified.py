"""Certified against brute force, on models made to be hard."""

import sys
import tracemalloc
from contextlib import contextmanager
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from handmade import logistic_regression, mlp
from hypothesis import given
from hypothesis import strategies as st
from loops import loops
from profiles import n_examples
from scipy.special import expit, logit
from sklearn.naive_bayes import BernoulliNB, MultinomialNB
from sklearn.svm import SVC

from butfor import Auto, Budget, Explainer
from butfor.models import as_scorer, kernels
from butfor.models.bounds import deep, hidden_layer, lines, region
from butfor.models.local import deadline
from butfor.searches.shared import proving
from butfor.verify import brute_force_minimum


@pytest.fixture(scope="module", autouse=True)
def _few_sets():
    """Have even small regions narrowed and split, not only scored set by set."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(proving, "FEW_SETS", 60)
        patch.setattr(proving, "MAX_ENUMERATED", 0)
        yield


NASTY = [0.0, 1.0, -1.0, 1.0, 0.5, 2.0, -2.0, 1e-6, -1e-6, 1e6, -1e6, 1 / 3]


@st.composite
def matrices(draw, n, m):
    """n × m numbers: nasty ones with ties, or any; now and then with a feature twice."""
    number = draw(
        st.sampled_from([st.sampled_from(NASTY[:7]), st.sampled_from(NASTY), st.floats(-3, 3, width=32)])
    )
    values = draw(st.lists(number, min_size=n * m, max_size=n * m))
    matrix = np.array(values).reshape(n, m)
    if draw(st.booleans()):
        matrix[-1] = matrix[0]
    return matrix


@st.composite
def rows(draw, m):
    value = st.sampled_from([1.0]) if draw(st.booleans()) else st.sampled_from([1.0, 2.0, -1.0, 0.25, 0.0])
    return np.array(draw(st.lists(value, min_size=m, max_size=m)))


@st.composite
def thresholds(draw, model, row, *, exact=True):
    """A threshold that some removal set meets exactly, an extreme one, or any.

    Not exactly where the model itself is not exact: numpy's tanh, exp and matrix products may differ in the
    last bit with the number of rows that are scored at once, and with it the decision.
    """
    scorer = as_scorer(model)
    kind = draw(st.sampled_from(["met", "met", "near", "any", "extreme"]))
    if kind == "extreme":
        return draw(st.sampled_from([0.0, 1.0, -1.0, 2.0, 1e-300, 1 - 1e-16, 0.5]))
    kept = np.array(draw(st.lists(st.booleans(), min_size=len(row), max_size=len(row))))
    score = float(scorer.scores(sparse_row(row * kept))[0])
    if kind == "any":
        return draw(st.floats(-0.2, 1.2))
    if not exact:
        return score + draw(st.sampled_from([1e-11, -1e-11, 1e-9]))
    return score + (draw(st.sampled_from([1e-15, -1e-15, 1e-9])) if kind == "near" else 0.0)


def sparse_row(row):
    from scipy.sparse import csr_matrix

    return csr_matrix(np.atleast_2d(row))


@st.composite
def linear_cases(draw):
    m = draw(st.integers(1, 12))
    model = logistic_regression(draw(matrices(1, m))[0], draw(st.sampled_from(NASTY)))
    row = draw(rows(m))
    return model, row, draw(thresholds(model, row))


@st.composite
def network_cases(draw, activation, depth):
    m, hidden = draw(st.integers(1, 12 if depth == 1 else 8)), draw(st.integers(1, 4))
    sizes = [m, *[hidden] * depth, 1]
    layers = [(draw(matrices(n, k)), draw(matrices(1, k))[0]) for n, k in pairwise(sizes)]
    model = mlp(*layers, activation=activation)
    row = draw(rows(m))
    halves = [2 * weights for layer in layers for weights in layer]  # whole numbers add up without rounding
    exact = activation in ("relu", "identity") and all(
        (np.abs(each) <= 4).all() and (each == each.round()).all() for each in halves
    )
    return model, row, draw(thresholds(model, row, exact=exact))


@st.composite
def fitted_cases(draw, make):
    m = draw(st.integers(1, 10))
    seed = draw(st.integers(0, 2**16))
    rng = np.random.default_rng(seed)
    X = np.where(rng.random((12, m)) < 0.7, rng.choice([1.0, 2.0, 0.5], (12, m)), 0.0)
    y = np.arange(12) % 2
    model = make(draw).fit(sparse_row(X), y)
    row = np.abs(draw(rows(m)))
    return model, row, draw(thresholds(model, row))


def svm(kernel):
    def make(draw):
        return SVC(
            kernel=kernel,
            C=draw(st.sampled_from([0.1, 1.0, 100.0])),
            gamma=draw(st.sampled_from([0.05, 0.5, 3.0])),
            coef0=draw(st.sampled_from([0.0, 1.0, -0.5])),
            degree=draw(st.sampled_from([1, 2, 3, 4])),
        )

    return make


def judge(case, search="certified", max_size=12):
    model, row, threshold = case
    if hasattr(model, "predict_proba"):
        threshold = min(max(threshold, 0.0), 1.0)
    explainer = Explainer(model, threshold=threshold, search=search, budget=Budget(max_size=max_size))
    why = explainer.explain(row)
    minimum = brute_force_minimum(model, row, threshold=threshold, max_size=max_size)
    if minimum:
        assert (why.status, why.size, why.lower_bound) == ("found", len(minimum[0]), len(minimum[0]))
        assert tuple(sorted(why.columns)) in minimum
    else:
        assert why.status == "none"
    if np.any(row):
        assert why.local_model != "black box"
    return why


@n_examples(200)
@given(case=linear_cases())
def test_linear(case):
    judge(case)


@pytest.mark.parametrize("depth", [1, 2, 3])
@pytest.mark.parametrize("activation", ["relu", "tanh", "logistic", "identity"])
@n_examples(100)
@given(data=st.data())
def test_networks(activation, depth, data):
    judge(data.draw(network_cases(activation, depth)))


@pytest.mark.parametrize("kernel", ["rbf", "poly", "sigmoid", "linear"])
@n_examples(120)
@given(data=st.data())
def test_kernels(kernel, data):
    judge(data.draw(fitted_cases(svm(kernel))))


@pytest.mark.parametrize("model", [MultinomialNB, BernoulliNB])
@n_examples(100)
@given(data=st.data())
def test_naive_bayes(model, data):
    judge(data.draw(fitted_cases(lambda draw: model())))


@n_examples(150)
@given(case=network_cases("relu", 1), max_size=st.integers(1, 4))
def test_the_size_limit_is_part_of_the_proof(case, max_size):
    judge(case, max_size=max_size)


def test_where_sedc_is_not_minimum_certified_is():
    """Log-odds 1 with both of a pair, 1.3 with one, 0 with none; 0.35 for each of three others."""
    pair, other = [1.0, 1.0, 0.0], [0.0, 0.0, 1.0]
    inner = np.array([pair, pair, other, other, other])
    model = mlp((inner, [0.0, -1.0, 0.0]), ([[1.3], [-1.6], [0.35]], [-1.1]))
    sedc = Explainer(model, search="sedc").explain(np.ones(5))
    assert set(sedc.columns) == {2, 3, 4}  # each of them lowers the score at once
    why = judge((model, np.ones(5), 0.5))
    assert why.columns == (0, 1)


def test_among_fitted_models_too_sedc_is_sometimes_not_minimum():
    rng = np.random.default_rng(0)
    beaten = 0
    for _ in range(300):
        m = 9
        inner, outer = rng.normal(size=(m, 4)), 2 * rng.normal(size=(4, 1))
        model = mlp((inner, rng.normal(size=4)), (outer, [0.0]), activation="tanh")
        row = np.ones(m)
        scores = as_scorer(model).scores(sparse_row(np.array([row, np.zeros(m)])))
        case = model, row, float(scores.mean())
        sedc = Explainer(model, threshold=min(max(case[2], 0.0), 1.0), search="sedc").explain(row)
        why = judge(case)
        assert not sedc or sedc.size >= why.size
        beaten += sedc.size > why.size > 0
    assert beaten >= 3


def test_a_constant_model_has_no_explanation():
    model = mlp((np.zeros((4, 2)), [1.0, 1.0]), ([[1.0], [1.0]], [0.0]))
    why = judge((model, np.ones(4), 0.5))
    assert (why.status, why.lower_bound) == ("none", 5)


def plateau(m):
    """Return a network that says the same whatever is removed, and the row's own score as the threshold."""
    rng = np.random.default_rng(0)
    dead = -np.abs(rng.normal(size=(m, 6))), -np.ones(6)
    model = mlp(dead, (rng.normal(size=(6, 1)), [0.3]))
    return model, np.ones(m), float(as_scorer(model).scores(sparse_row(np.ones(m)))[0])


@pytest.mark.parametrize("search", ["certified", "auto"])
def test_on_a_plateau_every_set_is_scored_about_once(monkeypatch, search):
    """No bound rules out a set whose score is exactly at the threshold."""
    m = 13
    monkeypatch.setattr(proving, "MAX_ENUMERATED", 2**m)
    monkeypatch.setattr(proving, "FEW_SETS", 500)
    model, row, threshold = plateau(m)
    why = Explainer(model, threshold=threshold, search=search).explain(row)
    assert (why.status, why.lower_bound) == ("none", m + 1)
    assert why.n_scored < 1.5 * 2**m


def test_no_set_is_scored_again_for_the_next_size():
    m = 9
    model, row, threshold = plateau(m)
    explainer = Explainer(model, threshold=threshold, search="certified")
    why = explainer.explain(row)
    assert why.status == "none"
    assert why.n_scored < 3 * 2**m  # though the regions of every size are split anew


@pytest.mark.parametrize("wrong", ["compiled lines", "compiled ranges", "lines", "ranges", "fixing"])
def test_a_wrong_bound_would_be_noticed(monkeypatch, wrong):
    """The judge above is no rubber stamp: plant a bug in a bound, and it fails."""
    if wrong.startswith("compiled"):
        which = "compiled"
        networks = kernels("networks")
        check, narrowed = networks.check, networks.narrowed
        if wrong == "compiled lines":
            monkeypatch.setattr(networks, "check", lambda kind, c, *rest: check(kind, c + 1.0, *rest))
        else:
            monkeypatch.setattr(networks, "narrowed", lambda *given: narrowed(*given[:5], 0, *given[6:]))
    else:
        which = "plain"
    if wrong == "lines":

        def too_high(*arguments):
            def lines_below(slopes):
                offsets, touching = lines.lines_below(*arguments)(slopes)
                return offsets + 0.3, touching

            return lines_below

        monkeypatch.setattr(hidden_layer, "lines_below", too_high)
    elif wrong == "ranges":
        monkeypatch.setattr(hidden_layer, "largest_sums", lambda terms, k: 0.2 * lines.largest_sums(terms, k))
    elif wrong == "fixing":
        by_count = region._fixed_by_count
        monkeypatch.setattr(
            region,
            "_fixed_by_count",
            lambda minimum, k: by_count(replace(minimum, bound=minimum.bound + 1), k),
        )
    rng = np.random.default_rng(1)
    with loops(which), pytest.raises(AssertionError):
        judge_many(300, rng)


def judge_many(n, rng):
    for _ in range(n):
        inner, outer = (rng.normal(size=(8, 4)), rng.normal(size=4)), (rng.normal(size=(4, 1)), [0.0])
        model = mlp(inner, outer, activation="tanh")
        scores = as_scorer(model).scores(sparse_row(np.array([np.ones(8), np.zeros(8)])))
        judge((model, np.ones(8), float(scores.mean())))


@pytest.mark.parametrize("which", ["compiled", "plain"])
def test_without_such_a_bug_the_judge_is_content(which):
    with loops(which):
        judge_many(300, np.random.default_rng(1))


def judge_many_deep_ones(n, rng):
    for i in range(n):
        first, second = (rng.normal(size=(8, 5)), rng.normal(size=5)), (rng.normal(size=(5, 4)), np.zeros(4))
        activation = ("relu", "tanh", "logistic")[i % 3]
        model = mlp(first, second, (rng.normal(size=(4, 1)), [0.0]), activation=activation)
        scores = as_scorer(model).scores(sparse_row(np.array([np.ones(8), np.zeros(8)])))
        judge((model, np.ones(8), float(scores.mean())))


@pytest.mark.parametrize("which", ["compiled", "plain"])
def test_networks_of_two_hidden_layers(which):
    with loops(which):
        judge_many_deep_ones(150, np.random.default_rng(2))


@pytest.mark.parametrize("which", ["compiled", "plain"])
@pytest.mark.parametrize("wrong", ["lines", "ranges"])
def test_a_wrong_bound_of_a_deep_network_would_be_noticed(monkeypatch, wrong, which):
    if wrong == "lines":
        below_sums = deep.LayerLines.below_sums

        def too_high(lines, weights):
            constants, slopes = below_sums(lines, weights)
            return constants + 0.3, slopes

        monkeypatch.setattr(deep.LayerLines, "below_sums", too_high)
    else:
        sums = lines.largest_sums_under
        monkeypatch.setattr(deep, "largest_sums_under", lambda *arguments: 0.2 * sums(*arguments))
    with loops(which), pytest.raises(AssertionError):
        judge_many_deep_ones(300, np.random.default_rng(2))


def test_a_black_box_has_no_bounds():
    why = Explainer(lambda X: X.sum(axis=1), threshold=2.5, search="certified").explain([1, 1, 1, 1])
    assert why.size == 2
    assert "black box" in why.reason


def hard_network(n_active, n_hidden):
    """A network of random weights, far from linear: little can be proven of it in short time."""
    rng = np.random.default_rng(0)
    inner = 2 * rng.normal(size=(n_active, n_hidden)) / np.sqrt(n_active)
    return mlp((inner, np.zeros(n_hidden)), (rng.normal(size=(n_hidden, 1)), [0.0]), activation="tanh")


def deep_threshold(model, row, *, below):
    """Return a threshold so far below the row in log-odds."""
    score = as_scorer(model).scores(sparse_row(row))[0]
    return float(expit(logit(score) - below))


@pytest.mark.parametrize("search", ["certified", Auto(max_proof_seconds=0.3)])
def test_at_the_limit_the_best_set_stands_with_what_is_proven(search):
    model, row = hard_network(200, 50), np.ones(200)
    budget = Budget(max_size=40, max_seconds=0.5 if search == "certified" else 60)
    why = Explainer(
        model, threshold=deep_threshold(model, row, below=20), search=search, budget=budget
    ).explain(row)
    assert why.status == "found"
    assert 1 < why.lower_bound < why.size
    assert why.reason == (
        "max_seconds=0.5 reached"
        if search == "certified"
        else 'max_proof_seconds=0.3 reached; search="certified" goes on to max_seconds'
    )


class WatchedClock:
    """A clock that stands still for some looks at it, and records what was done between two of them."""

    def __init__(self, n_looks):
        self.n_looks, self.calls, self.bytes = n_looks, [], []
        self._n_calls = 0

    def monotonic(self):
        held, most = tracemalloc.get_traced_memory()
        self.calls.append(self._n_calls)
        self.bytes.append(most - self._held)
        tracemalloc.reset_peak()
        self._n_calls, self._held = 0, held
        return 0.0 if len(self.calls) < self.n_looks else np.inf

    def count(self, frame, event, arg):
        self._n_calls += event in ("call", "c_call")

    @contextmanager
    def watching(self):
        tracemalloc.start()
        self._held = tracemalloc.get_traced_memory()[0]
        before = sys.getprofile()
        sys.setprofile(self.count)
        try:
            yield
        finally:
            sys.setprofile(before)
            tracemalloc.stop()


def wide_model(family, m):
    rng = np.random.default_rng(0)
    if family == "network":
        return hard_network(m, 100)
    if family == "deep network":
        sizes = ((m, 60), (60, 30), (30, 1))
        layers = [(rng.normal(size=(n, k)) / np.sqrt(n), np.zeros(k)) for n, k in sizes]
        return mlp(*layers, activation="tanh")
    if family == "rbf kernel":
        X = (rng.random((400, m)) < 0.5).astype(float)
        return SVC(gamma=1 / m).fit(sparse_row(X), rng.integers(0, 2, 400))
    return logistic_regression(rng.normal(size=m) / np.sqrt(m))


@pytest.mark.parametrize("family", ["network", "deep network", "rbf kernel", "linear"])
def test_rows_of_thousands_of_active_features_look_at_the_clock_often(monkeypatch, family):
    """Time limits hold: whatever is done between two looks is short, and makes no square of the row."""
    m = 2_000
    model, row = wide_model(family, m), np.ones(m)
    score = float(as_scorer(model).scores(sparse_row(row))[0])
    threshold = score - 0.3 * abs(score) if family == "rbf kernel" else deep_threshold(model, row, below=15)
    budget = Budget(max_size=m, max_seconds=60)
    explainer = Explainer(model, threshold=threshold, search="certified", budget=budget)
    clock = WatchedClock(n_looks=300)
    monkeypatch.setattr(deadline, "time", clock)
    with clock.watching():
        why = explainer.explain(row)
    assert why.reason == "max_seconds=60 reached" or why.proven_minimum
    assert len(clock.calls) > 100
    _, *calls = clock.calls  # before the first look, modules may be imported
    assert max(calls) < 5_000
    assert sorted(calls)[-3] < 1_500  # all but what is made once for the row
    assert max(clock.bytes[1:]) < 8 * m * m


def test_regions_that_are_narrowed_to_one_set_in_their_last_round(monkeypatch):
    monkeypatch.setattr(proving, "ROUNDS", 1)
    monkeypatch.setattr(proving, "FEW_SETS", 1)
    judge_many(100, np.random.default_rng(3))
