import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from profiles import n_examples
from toys import set_function

from butfor import Budget, Explainer, LimeC, LimeSEDC, ShapC, ShapSEDC
from butfor.searches.shared import hybrid as hybrid_module
from butfor.verify import brute_force_minimum, is_counterfactual

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
@n_examples(60)
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
@pytest.mark.parametrize("max_iterations", [1, 50])
def test_no_feature_of_an_answer_can_be_spared(hybrid, max_iterations):
    sizes = []
    for seed in range(40, 60):
        inner = np.random.default_rng(seed).normal(size=(40, 6))

        def score(X, inner=inner):
            return np.tanh(X @ inner / 3).sum(axis=1)

        row = np.ones(40)
        threshold = float(score(row[np.newaxis])[0]) - 4
        search = hybrid(n_samples=100, max_iterations=max_iterations)
        why = Explainer(score, threshold=threshold, search=search).explain(row)
        for spared in why.columns:
            rest = [column for column in why.columns if column != spared]
            assert not rest or not is_counterfactual(score, row, rest, threshold=threshold)
        sizes.append(why.size)
    assert np.median(sizes) > 5


@pytest.mark.parametrize("hybrid", HYBRIDS)
@pytest.mark.parametrize("width", [1, 2, 50])
@n_examples(60)
@given(table=tables)
def test_with_time_every_set_is_tried(hybrid, width, table):
    m = len(table).bit_length() - 1
    score, row = set_function(np.array(table, dtype=float)), np.ones(m)
    explainer = Explainer(score, threshold=2.0, search=hybrid(n_samples=50, max_iterations=2_000))
    usual, hybrid_module.WIDTH = hybrid_module.WIDTH, width
    try:
        why = explainer.explain(row)
    finally:
        hybrid_module.WIDTH = usual
    minimum = brute_force_minimum(score, row, threshold=2.0)
    assert why.size == (len(minimum[0]) if minimum else 0)
    assert why.proven_minimum == bool(minimum)
    assert why.status == ("found" if minimum else "none")
    assert why.reason == ""


def test_high_ranked_features_are_tried_first():
    from butfor.rankings import lime_weights

    score, threshold = network(200, seed=1)
    local = Explainer(score, threshold=threshold).local_model(np.ones(200))
    ranking = np.argsort(-lime_weights(local, 300, 0), kind="stable")
    tried, ask = [], local.scores_with_each
    local.scores_with_each = lambda removed, candidates: (
        tried.append((removed, candidates)) or ask(removed, candidates)
    )
    list(LimeSEDC(n_samples=300, max_iterations=2)(local, Budget(), 0))
    (_, singles), *grown = tried
    assert len(singles) == 200
    for removed, candidates in grown:
        expected = [feature for feature in ranking if feature not in removed][: hybrid_module.WIDTH]
        assert set(candidates) == set(expected)
    assert len(grown) == 2


def all_of_four(X):
    """It takes four features to flip, and all of them look alike."""
    return (X @ np.ones(20)) ** 3


def test_the_iterations_are_limited():
    explainer = Explainer(all_of_four, threshold=16.5**3, search=LimeSEDC(n_samples=50, max_iterations=3))
    why = explainer.explain(np.ones(20))
    assert (why.size, why.lower_bound, why.reason) == (4, 2, "max_iterations=3 reached")


def test_what_is_proven_is_told_at_once():
    steps, _ = findings(LimeSEDC(n_samples=50), all_of_four, 16.5**3, 20)
    assert [step.lower_bound for step in steps[:3]] == [
        1,
        1,
        2,
    ]  # its answer, a subset, the singles


def test_the_last_iteration_may_prove_it():
    def score(X):
        return np.ones(X.shape[0])

    why = Explainer(score, threshold=0.5, search=LimeSEDC(n_samples=10, max_iterations=2)).explain([1, 1])
    assert (why.status, why.reason) == ("none", "")
    pair = set_function(np.array([174.0, 524.0, 524.0, 984.0]))
    why = Explainer(pair, threshold=524.0, search=LimeSEDC(max_iterations=1)).explain([1, 1])
    assert (why.size, why.proven_minimum, why.reason) == (2, True, "")


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
    assert both <= first + second - 20  # single removals are scored once
    assert three == both


def test_with_a_schedule_it_goes_on_while_nothing_is_found():
    def score(X):  # the first sixteen of thirty
        return (np.asarray(X[:, :16].sum(axis=1)).ravel() > 0).astype(float)

    search = LimeSEDC(n_samples=(2, 3, 2_000), max_iterations=1)
    steps, local = findings(search, score, 0.5, 30)
    assert sorted(steps[-1].removed) == list(range(16))
    assert local.n_scored > 1_900  # some of the random sets were drawn twice


def test_the_weights_are_those_of_the_answer_s_features():
    from butfor.rankings import lime_weights

    score, threshold = network(25, seed=3)
    explainer = Explainer(score, threshold=threshold, search=LimeSEDC(n_samples=200), seed=5)
    why = explainer.explain(np.ones(25))
    expected = lime_weights(explainer.local_model(np.ones(25)), 200, 5)[list(why.columns)]
    assert why.weights == tuple(expected)
    assert why.size > 1
