import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from toys import set_function

from butfor import Budget, Explainer, LimeC, LimeSEDC, ShapC, ShapSEDC
from butfor.searches import hybrids
from butfor.verify import brute_force_minimum, is_irreducible

PAIRS = [(LimeC, LimeSEDC), (ShapC, ShapSEDC)]
HYBRIDS = [LimeSEDC, ShapSEDC]


def network(m, seed):
    rng = np.random.default_rng(seed)
    inner, outer = rng.normal(size=(m, 6)), np.abs(rng.normal(size=6))

    def score(X):
        return np.maximum(0, X @ inner) @ outer

    return score, 0.3 * score(np.ones((1, m)))[0]


def findings(search, score, threshold, m, seed=0):
    local = Explainer(score, threshold=threshold).local_model(np.ones(m))
    return list(search(local, Budget(), seed)), local


@pytest.mark.parametrize(("ranked", "hybrid"), PAIRS)
@settings(max_examples=60)
@given(m=st.integers(1, 25), seed=st.integers(0, 10_000))
def test_never_larger_than_the_ranking_s_own_answer(ranked, hybrid, m, seed):
    score, threshold = network(m, seed)
    (own,), _ = findings(ranked(n_samples=200), score, threshold, m)
    better, _ = findings(hybrid(n_samples=200), score, threshold, m)
    sizes = [len(finding.removed) for finding in better if finding.removed]
    assert sizes == sorted(sizes, reverse=True)
    if own.removed:
        assert better[0].removed == own.removed  # at once, should time run out
        assert better[-1].removed
    assert [finding.lower_bound for finding in better] == sorted(finding.lower_bound for finding in better)


@pytest.mark.parametrize(("ranked", "hybrid"), PAIRS)
def test_often_smaller(ranked, hybrid):
    smaller = 0
    for seed in range(40):
        score, threshold = network(25, seed)
        own, better = (
            Explainer(score, threshold=threshold, search=search(n_samples=200)).explain(np.ones(25))
            for search in (ranked, hybrid)
        )
        smaller += better.size < own.size
    assert smaller > 10


# Functions of up to six bits in which few sets flip, so that answers are not small by chance.
tables = st.integers(1, 6).flatmap(
    lambda m: st.lists(st.sampled_from([2, 3, 2, 3, 2, 3, 2, 0]), min_size=2**m, max_size=2**m)
)


@pytest.mark.parametrize("hybrid", HYBRIDS)
@settings(max_examples=60)
@given(table=tables)
def test_answers_are_irreducible(hybrid, table):
    m = len(table).bit_length() - 1
    score, row = set_function(np.array(table, dtype=float)), np.ones(m)
    why = Explainer(score, threshold=2.0, search=hybrid(n_samples=20, max_iterations=2)).explain(row)
    assert not why or is_irreducible(score, row, why.columns, threshold=2.0)


@pytest.mark.parametrize("hybrid", HYBRIDS)
@pytest.mark.parametrize("width", [1, 2, 50])
@settings(max_examples=60)
@given(table=tables)
def test_with_time_every_set_is_tried(hybrid, width, table):
    m = len(table).bit_length() - 1
    score, row = set_function(np.array(table, dtype=float)), np.ones(m)
    explainer = Explainer(score, threshold=2.0, search=hybrid(n_samples=50, max_iterations=2_000))
    usual, hybrids.WIDTH = hybrids.WIDTH, width
    try:
        why = explainer.explain(row)
    finally:
        hybrids.WIDTH = usual
    minimum = brute_force_minimum(score, row, threshold=2.0)
    assert why.size == (len(minimum[0]) if minimum else 0)
    assert why.proven_minimum == bool(minimum)
    assert why.status == ("found" if minimum else "none")
    assert why.reason == ""


def all_of_four(X):
    """It takes four features to flip, and all of them look alike."""
    return (X @ np.ones(20)) ** 3


def test_the_iterations_are_limited():
    explainer = Explainer(all_of_four, threshold=16.5**3, search=LimeSEDC(n_samples=50, max_iterations=3))
    why = explainer.explain(np.ones(20))
    assert (why.size, why.lower_bound, why.reason) == (4, 2, "max_iterations=3 reached")


def test_with_a_schedule_it_stops_when_the_answer_is_proven():
    def score(X):
        return X @ np.arange(1.0, 21.0)

    _, short = findings(LimeSEDC(n_samples=(100, 5_000)), score, 180.0, 20)
    steps, local = findings(LimeSEDC(n_samples=100), score, 180.0, 20)
    assert (len(steps[-1].removed), steps[-1].lower_bound) == (2, 2)
    assert short.n_scored == local.n_scored


def test_with_a_schedule_it_stops_when_a_round_finds_nothing_smaller():
    limits = {"max_iterations": 3}
    costs = []
    for schedule in ((50,), (60,), (50, 60), (50, 60, 5_000)):
        steps, local = findings(LimeSEDC(n_samples=schedule, **limits), all_of_four, 16.5**3, 20)
        assert (len(steps[-1].removed), steps[-1].lower_bound) == (4, 2)
        costs.append(local.n_scored)
    first, second, both, three = costs
    assert both <= first + second
    assert three == both


def test_with_a_schedule_it_goes_on_while_nothing_is_found():
    def score(X):  # the first sixteen of thirty
        return (np.asarray(X[:, :16].sum(axis=1)).ravel() > 0).astype(float)

    search = LimeSEDC(n_samples=(2, 3, 2_000), max_iterations=1)
    steps, local = findings(search, score, 0.5, 30)
    assert sorted(steps[-1].removed) == list(range(16))
    assert local.n_scored > 2_000


def test_the_weights_are_those_of_the_answer_s_features():
    from butfor.rankings import lime_weights

    score, threshold = network(25, seed=3)
    explainer = Explainer(score, threshold=threshold, search=LimeSEDC(n_samples=200), seed=5)
    why = explainer.explain(np.ones(25))
    expected = lime_weights(explainer.local_model(np.ones(25)), 200, 5)[list(why.columns)]
    assert why.weights == tuple(expected)
    assert why.size > 1
